#include "format/avro/avro.h"
#include "lib/test.h"

#include <dirent.h>

static const char every_kind[] =
    "{\"type\":\"record\",\"name\":\"r\",\"namespace\":\"weir.test\",\"fields\":["
    "{\"name\":\"b\",\"type\":\"boolean\",\"field-id\":7},{\"name\":\"i\",\"type\":\"int\"},"
    "{\"name\":\"l\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}},"
    "{\"name\":\"f\",\"type\":\"float\"},{\"name\":\"d\",\"type\":\"double\"},{\"name\":\"s\",\"type\":\"string\"},"
    "{\"name\":\"y\",\"type\":\"bytes\"},{\"name\":\"x\",\"type\":{\"type\":\"fixed\",\"name\":\"x4\",\"size\":4}},"
    "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"e3\",\"symbols\":[\"A\",\"B\",\"C\"]}},"
    "{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":[\"null\",\"long\"]}},"
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"x4\"}},"
    "{\"name\":\"u\",\"type\":[\"string\",\"null\",{\"type\":\"record\",\"name\":\"in\",\"fields\":"
    "[{\"name\":\"next\",\"type\":[\"null\",\"weir.test.in\"]}]}]}]}";

static void put_every_kind(struct avro_writer *w, int64_t i)
{
    avro_put_bool(w, i & 1);
    avro_put_int(w, (int32_t)-i);
    avro_put_long(w, i * 1000000007);
    avro_put_float(w, (float)i / 2);
    avro_put_double(w, (double)i / 3);
    avro_put_string(w, slice_of("longer than a letter", (size_t)(i % 20)));
    avro_put_bytes(w, slice_of("\0\1\2", (size_t)(i % 4)));
    avro_put_fixed(w, SLICE("four"));
    avro_put_int(w, (int32_t)(i % 3));
    avro_put_count(w, (uint32_t)(i % 3));
    for (int64_t k = 0; k < i % 3; k++) {
        avro_put_branch(w, k & 1);
        if (k & 1)
            avro_put_long(w, k);
    }
    avro_put_end(w);
    avro_put_count(w, 1);
    avro_put_string(w, SLICE("key"));
    avro_put_fixed(w, SLICE("FOUR"));
    avro_put_end(w);
    avro_put_branch(w, (uint32_t)(i % 3));
    if (i % 3 == 0)
        avro_put_string(w, SLICE("branch"));
    if (i % 3 == 2) {
        avro_put_branch(w, 1);
        avro_put_branch(w, 0);
    }
}

static void check_every_kind(const struct avro_value *v, int64_t i)
{
    int64_t i64 = 0;
    int32_t i32 = 0;
    struct slice bytes = {0};
    assert_int_equal(avro_field(v, "b")->boolean, i & 1);
    assert_ptr_equal(avro_field_id(v, 7), avro_field(v, "b"));
    assert_true(avro_get_i32(avro_field(v, "i"), &i32) && i32 == -i);
    assert_true(avro_get_i64(avro_field(v, "l"), &i64) && i64 == i * 1000000007);
    assert_true(avro_field(v, "f")->f32 == (float)i / 2);
    assert_true(avro_field(v, "d")->f64 == (double)i / 3);
    assert_true(avro_get_bytes(avro_field(v, "s"), &bytes));
    assert_slice_equal(bytes, slice_of("longer than a letter", (size_t)(i % 20)));
    assert_true(avro_get_bytes(avro_field(v, "y"), &bytes));
    assert_slice_equal(bytes, slice_of("\0\1\2", (size_t)(i % 4)));
    assert_slice_equal(avro_field(v, "x")->bytes, SLICE("four"));
    assert_int_equal(avro_field(v, "e")->i64, i % 3);
    assert_int_equal(avro_field(v, "a")->list.count, i % 3);
    for (int64_t k = 0; k < i % 3; k++)
        assert_int_equal(avro_is_null(&avro_field(v, "a")->list.items[k]), !(k & 1));
    assert_slice_equal(avro_field(v, "m")->list.keys[0], SLICE("key"));
    assert_slice_equal(avro_field(v, "m")->list.items[0].bytes, SLICE("FOUR"));
    const struct avro_value *u = avro_field(v, "u");
    static const enum avro_kind kinds[] = {AVRO_STRING, AVRO_NULL, AVRO_RECORD};
    assert_int_equal(u->type->kind, kinds[i % 3]);
    if (i % 3 == 2)
        assert_true(avro_is_null(avro_field(avro_field(u, "next"), "next")));
    assert_null(avro_field(v, "no such field"));
    assert_false(avro_get_i64(avro_field(v, "s"), &i64));
}

static void write_file(struct buf *out, enum codec codec, int64_t count)
{
    struct err err = {0};
    struct avro_writer w;
    struct avro_property props[] = {{SLICE("format-version"), SLICE("2")}};
    struct avro_writer_options options = {.schema = slice_str(every_kind),
                                          .codec = codec,
                                          .properties = props,
                                          .property_count = 1,
                                          .sync = "0123456789abcde"};
    MUST(avro_writer_init(&w, out, &options, &err));
    for (int64_t i = 0; i < count; i++) {
        put_every_kind(&w, i);
        MUST(avro_writer_end_record(&w, &err));
    }
    MUST(avro_writer_finish(&w, &err));
    assert_int_equal(w.record_count, count);
    avro_writer_deinit(&w);
}

static void what_was_put_comes_back_with_every_codec(void **state)
{
    (void)state;
    static const enum codec codecs[] = {CODEC_NONE, CODEC_DEFLATE, CODEC_ZSTD, CODEC_SNAPPY};
    static const int64_t counts[] = {0, 1, 7, 5000};
    struct err err = {0};
    for (size_t c = 0; c < ARRAY_LEN(codecs); c++)
        for (size_t n = 0; n < ARRAY_LEN(counts); n++) {
            struct buf file = {0};
            struct arena arena = {0};
            struct avro_reader r;
            struct avro_value *v = NULL;
            write_file(&file, codecs[c], counts[n]);
            MUST(avro_reader_init(&r, buf_view(&file), &err));
            assert_slice_equal(*avro_reader_property(&r, "avro.schema"), slice_str(every_kind));
            assert_slice_equal(*avro_reader_property(&r, "format-version"), SLICE("2"));
            assert_slice_equal(r.type->fields[2].type->logical_type, SLICE("timestamp-millis"));
            for (int64_t i = 0; i < counts[n]; i++) {
                MUST(avro_reader_next(&r, &arena, &v, &err));
                assert_non_null(v);
                check_every_kind(v, i);
                arena_reset(&arena);
            }
            MUST(avro_reader_next(&r, &arena, &v, &err));
            assert_null(v);
            avro_reader_deinit(&r);
            arena_deinit(&arena);
            buf_deinit(&file);
        }
}

static enum err_code read_all(struct slice file, int64_t *count)
{
    struct err err = {0};
    struct avro_reader r;
    struct arena arena = {0};
    struct avro_value *v = NULL;
    *count = 0;
    enum err_code code = avro_reader_init(&r, file, &err);
    if (code != OK)
        return code;
    while ((code = avro_reader_next(&r, &arena, &v, &err)) == OK && v)
        ++*count;
    avro_reader_deinit(&r);
    arena_deinit(&arena);
    return code;
}

static void a_cut_off_file_is_refused_except_between_blocks(void **state)
{
    (void)state;
    struct buf file = {0}, empty = {0};
    int64_t count = 0;
    write_file(&empty, CODEC_NONE, 0);
    write_file(&file, CODEC_NONE, 3);
    for (size_t cut = 0; cut < file.len; cut++) {
        enum err_code code = read_all(slice_of(file.ptr, cut), &count);
        assert_int_equal(code, cut == empty.len ? OK : ERR_CORRUPT);
    }
    assert_int_equal(read_all(buf_view(&file), &count), OK);
    assert_int_equal(count, 3);
    buf_deinit(&file);
    buf_deinit(&empty);
}

static void damage_is_refused(void **state)
{
    (void)state;
    struct buf file = {0};
    int64_t count = 0;
    write_file(&file, CODEC_SNAPPY, 3);
    file.ptr[file.len - 1] ^= 1; /* the sync marker */
    assert_int_equal(read_all(buf_view(&file), &count), ERR_CORRUPT);
    file.ptr[file.len - 1] ^= 1;
    file.ptr[file.len - AVRO_SYNC_BYTES - 1] ^= 1; /* the checksum */
    assert_int_equal(read_all(buf_view(&file), &count), ERR_CORRUPT);
    buf_deinit(&file);
}

static void schemas_that_mean_nothing_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum err_code want;
    } cases[] = {
        {"\"long\"", OK},
        {"{\"type\":{\"type\":\"long\"}}", OK},
        {"[\"null\",\"int\"]", OK},
        {"", ERR_CORRUPT},
        {"{", ERR_CORRUPT},
        {"7", ERR_CORRUPT},
        {"{}", ERR_CORRUPT},
        {"\"record\"", ERR_CORRUPT},
        {"\"unknown\"", ERR_CORRUPT},
        {"[[\"null\"]]", ERR_CORRUPT},
        {"{\"type\":\"record\",\"name\":\"a\"}", ERR_CORRUPT},
        {"{\"type\":\"record\",\"fields\":[]}", ERR_CORRUPT},
        {"{\"type\":\"record\",\"name\":\"a\",\"fields\":[{\"type\":\"int\"}]}", ERR_CORRUPT},
        {"{\"type\":\"array\"}", ERR_CORRUPT},
        {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":-1}", ERR_CORRUPT},
        {"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[1]}", ERR_CORRUPT},
        {"[{\"type\":\"fixed\",\"name\":\"f\",\"size\":1},{\"type\":\"fixed\",\"name\":\"f\",\"size\":1}]",
         ERR_CORRUPT},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena arena = {0};
        const struct avro_type *type;
        MUST_FAIL(cases[i].want, avro_type_parse(&arena, slice_str(cases[i].text), &type, NULL));
        arena_deinit(&arena);
    }
}

static void types_nested_without_end_are_refused(void **state)
{
    (void)state;
    struct buf deep = {0};
    struct arena arena = {0};
    const struct avro_type *type;
    for (int i = 0; i < 1000; i++)
        buf_printf(&deep, "{\"type\":\"array\",\"items\":");
    buf_printf(&deep, "\"int\"");
    for (int i = 0; i < 1000; i++)
        buf_printf(&deep, "}");
    MUST_FAIL(ERR_LIMIT, avro_type_parse(&arena, buf_view(&deep), &type, NULL));
    buf_deinit(&deep);
    arena_deinit(&arena);
}

static void hand_made(struct buf *file, const char *schema, const char *codec, struct slice block, int64_t records)
{
    buf_put(file, "Obj\1", 4);
    buf_put_zigzag(file, 2);
    struct slice parts[] = {SLICE("avro.schema"), slice_str(schema), SLICE("avro.codec"), slice_str(codec)};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        buf_put_zigzag(file, (int64_t)parts[i].len);
        buf_put_slice(file, parts[i]);
    }
    buf_put_zigzag(file, 0);
    buf_put(file, "0123456789abcdef", 16);
    buf_put_zigzag(file, records);
    buf_put_zigzag(file, (int64_t)block.len);
    buf_put_slice(file, block);
    buf_put(file, "0123456789abcdef", 16);
}

static void bytes_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *schema;
        const char *codec;
        struct slice block;
        int64_t records;
        enum err_code want;
    } cases[] = {
        {"\"int\"", "null", {(const uint8_t *)"\2", 1}, 1, OK},
        {"\"int\"", "bzip2", {(const uint8_t *)"\2", 1}, 1, ERR_NOT_SUPPORTED},
        {"\"int\"", "null", {(const uint8_t *)"\2\2", 2}, 1, ERR_CORRUPT}, /* a byte more */
        {"\"int\"", "null", {(const uint8_t *)"\2", 1}, 2, ERR_CORRUPT},   /* a record less */
        {"\"int\"", "null", {(const uint8_t *)"\2", 1}, -1, ERR_CORRUPT},
        {"[\"null\",\"int\"]", "null", {(const uint8_t *)"\4\2", 2}, 1, ERR_CORRUPT}, /* no such branch */
        {"[\"null\",\"int\"]", "null", {(const uint8_t *)"\1\2", 2}, 1, ERR_CORRUPT}, /* branch -1 */
        {"\"bytes\"", "null", {(const uint8_t *)"\1", 1}, 1, ERR_CORRUPT},            /* length -1 */
        {"\"bytes\"", "null", {(const uint8_t *)"\6ab", 3}, 1, ERR_CORRUPT},
        {"{\"type\":\"array\",\"items\":\"int\"}", "null", {(const uint8_t *)"\xfe\xff\xff\x07\0", 5}, 1, ERR_CORRUPT},
        {"{\"type\":\"array\",\"items\":\"null\"}", "null", {(const uint8_t *)"\x06\0", 2}, 1, OK},
        {"{\"type\":\"array\",\"items\":\"null\"}", "null", {(const uint8_t *)"\xfe\xff\xff\x7f\0", 5}, 1, ERR_LIMIT},
        {"{\"type\":\"array\",\"items\":\"int\"}",
         "null",
         {(const uint8_t *)"\1\2\4\0", 4},
         1,
         OK}, /* with its length */
        {"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\"]}", "null", {(const uint8_t *)"\2", 1}, 1, ERR_CORRUPT},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf file = {0};
        int64_t count;
        hand_made(&file, cases[i].schema, cases[i].codec, cases[i].block, cases[i].records);
        assert_int_equal(read_all(buf_view(&file), &count), cases[i].want);
        buf_deinit(&file);
    }
}

/* ---- what Java Paimon wrote ---- */

static void put_again(struct avro_writer *w, const struct avro_type *type, const struct avro_value *v)
{
    if (type->kind == AVRO_UNION) {
        uint32_t branch = 0;
        while (type->fields[branch].type != v->type)
            branch++;
        avro_put_branch(w, branch);
        type = v->type;
    }
    switch (type->kind) {
    case AVRO_NULL:
        break;
    case AVRO_INT:
    case AVRO_LONG:
        avro_put_long(w, v->i64);
        break;
    case AVRO_BYTES:
    case AVRO_STRING:
        avro_put_bytes(w, v->bytes);
        break;
    case AVRO_RECORD:
        for (uint32_t i = 0; i < v->list.count; i++)
            put_again(w, type->fields[i].type, &v->list.items[i]);
        break;
    case AVRO_ARRAY:
        avro_put_count(w, v->list.count);
        for (uint32_t i = 0; i < v->list.count; i++)
            put_again(w, type->fields[0].type, &v->list.items[i]);
        avro_put_end(w);
        break;
    default:
        fail_msg("kind %d is not in Paimon's manifests", type->kind);
    }
}

static void slurp(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    for (size_t got = 1; got; out->len += got) {
        buf_reserve(out, 65536);
        got = fread(out->ptr + out->len, 1, 65536, f);
    }
    fclose(f);
}

/* Reads the file, checks what every record holds, and puts the records into a new file with the same schema: the plain
 * bytes must be the ones that Java wrote. */
static void check_manifest(const char *path, int *records)
{
    struct err err = {0};
    struct buf file = {0}, copy = {0};
    struct arena arena = {0};
    struct avro_reader r, again;
    struct avro_writer w;
    struct avro_value *v = NULL;
    slurp(path, &file);
    MUST(avro_reader_init(&r, buf_view(&file), &err));
    struct avro_writer_options options = {.schema = *avro_reader_property(&r, "avro.schema"), .codec = CODEC_ZSTD};
    MUST(avro_writer_init(&w, &copy, &options, &err));
    MUST(avro_reader_next(&r, &arena, &v, &err));
    for (; v; ++*records) {
        int32_t version = 0;
        int64_t size = 0;
        struct slice name = {0};
        const struct avro_value *f = avro_field(v, "_FILE") ? avro_field(v, "_FILE") : v;
        assert_true(avro_get_i32(avro_field(v, "_VERSION"), &version) && version == 2);
        assert_true(avro_get_bytes(avro_field(f, "_FILE_NAME"), &name) && name.len > 36);
        assert_true(avro_get_i64(avro_field(f, "_FILE_SIZE"), &size) && size > 0);
        put_again(&w, r.type, v);
        MUST(avro_writer_end_record(&w, &err));
        MUST(avro_reader_next(&r, &arena, &v, &err));
    }
    MUST(avro_writer_finish(&w, &err));
    MUST(avro_reader_init(&again, buf_view(&copy), &err));
    MUST(avro_reader_next(&again, &arena, &v, &err));
    assert_slice_equal(buf_view(&again.block), buf_view(&r.block));
    avro_reader_deinit(&r);
    avro_reader_deinit(&again);
    avro_writer_deinit(&w);
    arena_deinit(&arena);
    buf_deinit(&file);
    buf_deinit(&copy);
}

static void manifests_of_java_paimon_are_read_and_written_alike(void **state)
{
    (void)state;
    static const char *const tables[] = {"log-bucket-key/warehouse/golden.db/log_bucket_key",
                                         "log-no-key/warehouse/golden.db/log_no_key", "pk/warehouse/golden.db/pk",
                                         "pk-compacted/warehouse/golden.db/pk_compacted",
                                         "pk-partitioned/warehouse/golden.db/pk_partitioned"};
    int records = 0, files = 0;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        char dir[512], path[1024];
        snprintf(dir, sizeof dir, "%s/test/golden/paimon-by-fluss/%s/manifest", WEIR_SOURCE_DIR, tables[i]);
        DIR *d = opendir(dir);
        assert_non_null(d);
        for (struct dirent *e; (e = readdir(d));)
            if (strncmp(e->d_name, "manifest-", 9) == 0) {
                snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
                check_manifest(path, &records);
                files++;
            }
        closedir(d);
    }
    assert_true(files > 100 && records > files);
}

TESTS("format.avro", TEST(what_was_put_comes_back_with_every_codec),
      TEST(a_cut_off_file_is_refused_except_between_blocks), TEST(damage_is_refused),
      TEST(schemas_that_mean_nothing_are_refused), TEST(types_nested_without_end_are_refused),
      TEST(bytes_that_lie_are_refused), TEST(manifests_of_java_paimon_are_read_and_written_alike))
