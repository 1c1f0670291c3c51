#include "format/parquet/parquet.h"
#include "format/parquet/parquet_int.h"
#include "lib/test.h"

static enum err_code to_buf(void *arg, struct slice bytes, struct err *err)
{
    (void)err;
    buf_put_slice(arg, bytes);
    return OK;
}

/* A column of values that the caller names, with a type written in SQL. */
struct sheet {
    struct arena arena;
    struct schema_column columns[4];
    struct column_builder builders[4];
    uint32_t count;
    struct parquet_schema schema;
    struct buf file;
};

static const struct type *sql_type(struct sheet *s, const char *sql)
{
    struct err err = {0};
    const struct type *type;
    MUST(type_from_sql(&s->arena, slice_str(sql), &type, &err));
    return type;
}

static struct schema_column sheet_column(struct sheet *s, const char *name, const char *sql, int32_t id)
{
    return (struct schema_column){.name = slice_str(name), .type = sql_type(s, sql), .id = id};
}

static struct column_builder *add_column(struct sheet *s, const char *name, const char *sql)
{
    s->columns[s->count] = sheet_column(s, name, sql, (int32_t)s->count);
    column_builder_init(&s->builders[s->count], s->columns[s->count].type);
    return &s->builders[s->count++];
}

static void add(struct column_builder *b, struct datum value)
{
    struct err err = {0};
    MUST(column_builder_append(b, &value, &err));
}

static void drop_sheet(struct sheet *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        column_builder_deinit(&s->builders[i]);
    buf_deinit(&s->file);
    arena_deinit(&s->arena);
}

static enum err_code write_rows(struct sheet *s, struct parquet_writer *w, struct err *err)
{
    struct column views[4];
    for (uint32_t i = 0; i < s->count; i++)
        column_builder_view(&s->builders[i], &s->arena, &views[i]);
    return parquet_writer_write(w, views, views[0].length, err);
}

static struct parquet_writer *start(struct sheet *s, const struct parquet_writer_options *options)
{
    struct err err = {0};
    struct parquet_writer *w;
    MUST(parquet_schema_build(&s->arena, PARQUET_PAIMON, s->columns, s->count, &s->schema, &err));
    MUST(parquet_writer_create(s->columns, s->count, &s->schema, options, to_buf, &s->file, &w, &err));
    return w;
}

static void write_sheet(struct sheet *s, const struct parquet_writer_options *options)
{
    struct err err = {0};
    struct parquet_writer *w = start(s, options);
    MUST(write_rows(s, w, &err));
    MUST(parquet_writer_finish(w, &err));
    parquet_writer_destroy(w);
}

/* Reads all rows of one column of the file, at most 100; gives the code of the first call that fails. */
static enum err_code read_as(struct sheet *s, struct schema_column column, enum parquet_match match,
                             struct datum *values, uint32_t *count, struct err *err)
{
    struct parquet_reader *r = NULL;
    struct slice file = buf_view(&s->file);
    struct column slice;
    uint32_t rows = 1;
    enum err_code code = OK;
    *count = 0;
    TRY_OR_FAIL(parquet_reader_open(parquet_source_memory, &file, file.len, &r, err));
    TRY_OR_FAIL(parquet_reader_select(r, &column, 1, match, err));
    while (rows) {
        TRY_OR_FAIL(parquet_reader_next(r, 7, &slice, &rows, err));
        for (uint32_t i = 0; i < rows && *count < 100; i++) {
            struct datum v;
            column_get(&slice, i, &s->arena, &v);
            datum_dup(&s->arena, column.type, &v, &values[(*count)++]);
        }
    }
fail:
    parquet_reader_close(r);
    return code;
}

static void columns_that_the_file_does_not_have_are_null(void **state)
{
    (void)state;
    struct err err = {0};
    struct sheet s = {0};
    struct datum v[100];
    uint32_t count;
    add(add_column(&s, "a", "INT"), (struct datum){.i64 = 5});
    write_sheet(&s, NULL);
    MUST(read_as(&s, sheet_column(&s, "later", "ARRAY<STRING>", 9), PARQUET_BY_NAME, v, &count, &err));
    assert_true(count == 1 && v[0].is_null);
    MUST(read_as(&s, sheet_column(&s, "renamed", "INT", 0), PARQUET_BY_ID, v, &count, &err));
    assert_true(count == 1 && v[0].i64 == 5);
    MUST(read_as(&s, sheet_column(&s, "a", "INT", 1), PARQUET_BY_ID, v, &count, &err));
    assert_true(count == 1 && v[0].is_null);
    drop_sheet(&s);
}

static void fields_that_the_file_does_not_have_are_null(void **state)
{
    (void)state;
    struct err err = {0};
    struct sheet s = {0};
    struct datum v[100], fields[1] = {{.i64 = 3}};
    uint32_t count;
    struct column_builder *b = add_column(&s, "r", "ROW<x INT>");
    add(b, (struct datum){.list = {fields, 1}});
    add(b, (struct datum){.is_null = true});
    write_sheet(&s, NULL);
    MUST(read_as(&s, sheet_column(&s, "r", "ROW<y STRING, x BIGINT>", 0), PARQUET_BY_NAME, v, &count, &err));
    assert_true(count == 2 && v[0].list.items[0].is_null && v[0].list.items[1].i64 == 3 && v[1].is_null);
    /* Without any field of the file there are still rows that are there and rows that are not. */
    MUST(read_as(&s, sheet_column(&s, "r", "ROW<y STRING>", 0), PARQUET_BY_NAME, v, &count, &err));
    assert_true(count == 2 && !v[0].is_null && v[0].list.items[0].is_null && v[1].is_null);
    drop_sheet(&s);
}

static void types_of_the_file_become_those_wanted(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        struct datum value;
        const char *to;
        struct datum want;
        enum err_code code;
    } cases[] = {
        {"TINYINT", {.i64 = -5}, "BIGINT", {.i64 = -5}, OK},
        {"INT", {.i64 = -5}, "SMALLINT", {.i64 = -5}, OK},
        {"INT", {.i64 = 70000}, "SMALLINT", {.i64 = 0}, ERR_CORRUPT},
        {"BIGINT", {.i64 = 1}, "INT", {.i64 = 1}, ERR_NOT_SUPPORTED},
        {"FLOAT", {.f32 = 0.5}, "DOUBLE", {.f64 = 0.5}, OK},
        {"DOUBLE", {.f64 = 0.5}, "FLOAT", {.f32 = 0.5}, ERR_NOT_SUPPORTED},
        {"STRING", {.bytes = {(const uint8_t *)"ab", 2}}, "BYTES", {.bytes = {(const uint8_t *)"ab", 2}}, OK},
        {"BYTES", {.bytes = {(const uint8_t *)"ab", 2}}, "BINARY(2)", {.bytes = {(const uint8_t *)"ab", 2}}, OK},
        {"BYTES", {.bytes = {(const uint8_t *)"ab", 2}}, "BINARY(3)", {.i64 = 0}, ERR_CORRUPT},
        {"DECIMAL(9, 2)", {.decimal = -12345}, "DECIMAL(30, 2)", {.decimal = -12345}, OK},
        {"DECIMAL(30, 2)", {.decimal = -12345}, "DECIMAL(9, 2)", {.decimal = -12345}, OK},
        {"DECIMAL(30, 2)", {.decimal = 1234567890}, "DECIMAL(9, 2)", {.i64 = 0}, ERR_CORRUPT},
        {"DECIMAL(9, 2)", {.decimal = 1}, "DECIMAL(9, 3)", {.i64 = 0}, ERR_NOT_SUPPORTED},
        {"TIMESTAMP(3)", {.ts = {-1, 0}}, "TIMESTAMP(9)", {.ts = {-1, 0}}, OK},
        {"TIMESTAMP(9)", {.ts = {-1, 999999}}, "TIMESTAMP(6)", {.ts = {-1, 999000}}, OK},
        {"TIMESTAMP(9)", {.ts = {-1500, 1}}, "TIMESTAMP(0)", {.ts = {-2000, 0}}, OK},
        {"TIMESTAMP(6)", {.ts = {-1500, 1000}}, "TIMESTAMP(0)", {.ts = {-2000, 0}}, OK},
        {"TIMESTAMP(9)", {.ts = {-9223372036855, 224192}}, "TIMESTAMP(9)", {.ts = {-9223372036855, 224192}}, OK},
        {"TIMESTAMP(9)", {.ts = {9223372036854, 775807}}, "TIMESTAMP(9)", {.ts = {9223372036854, 775807}}, OK},
        {"TIMESTAMP(3)", {.ts = {253402300799000, 0}}, "TIMESTAMP(9)", {.i64 = 0}, ERR_CORRUPT},
        {"TIME(3)", {.i64 = 86399999}, "TIME(9)", {.i64 = 86399999}, OK},
        {"DATE", {.i64 = -719162}, "DATE", {.i64 = -719162}, OK},
        {"DATE", {.i64 = 1}, "TIMESTAMP(3)", {.i64 = 0}, ERR_NOT_SUPPORTED},
        {"STRING", {.bytes = {(const uint8_t *)"1", 1}}, "INT", {.i64 = 0}, ERR_NOT_SUPPORTED},
        {"INT", {.i64 = 1}, "ARRAY<INT>", {.i64 = 0}, ERR_NOT_SUPPORTED},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        struct sheet s = {0};
        struct datum v[100];
        uint32_t count;
        add(add_column(&s, "the column", cases[i].from), cases[i].value);
        write_sheet(&s, NULL);
        struct schema_column column = sheet_column(&s, "the column", cases[i].to, 0);
        enum err_code code = read_as(&s, column, PARQUET_BY_NAME, v, &count, &err);
        if (code != cases[i].code)
            fail_msg("%s as %s: %s: %s", cases[i].from, cases[i].to, err_name(code), err.text);
        if (code == OK)
            assert_true(datum_equal(column.type, &v[0], &cases[i].want));
        if (code == ERR_NOT_SUPPORTED)
            assert_non_null(strstr(err.text, "the column"));
        drop_sheet(&s);
    }
}

static void nulls_and_digits_that_the_type_forbids_are_refused(void **state)
{
    (void)state;
    struct err err = {0};
    struct sheet s = {0};
    struct column_builder *b = add_column(&s, "must", "INT NOT NULL");
    column_builder_append_null(b);
    struct parquet_writer *w = start(&s, NULL);
    MUST_FAIL(ERR_INVALID_ARGUMENT, write_rows(&s, w, &err));
    assert_non_null(strstr(err.text, "must"));
    parquet_writer_destroy(w);
    drop_sheet(&s);

    s = (struct sheet){0};
    __int128 value = 1000;
    struct column wide = {.type = sql_type(&s, "DECIMAL(3, 0)"), .length = 1, .data = (const uint8_t *)&value};
    s.columns[0] = (struct schema_column){.name = SLICE("digits"), .type = wide.type, .id = 0};
    s.count = 0;
    MUST(parquet_schema_build(&s.arena, PARQUET_PAIMON, s.columns, 1, &s.schema, &err));
    MUST(parquet_writer_create(s.columns, 1, &s.schema, NULL, to_buf, &s.file, &w, &err));
    MUST_FAIL(ERR_INVALID_ARGUMENT, parquet_writer_write(w, &wide, 1, &err));
    assert_non_null(strstr(err.text, "digits"));
    parquet_writer_destroy(w);
    drop_sheet(&s);
}

static void a_time_too_far_for_the_file_becomes_the_nearest(void **state)
{
    (void)state;
    struct err err = {0};
    struct sheet s = {0};
    static const int64_t seconds[] = {INT64_MAX, INT64_MIN, 5};
    struct datum v[100];
    uint32_t count;
    struct column column = {.type = sql_type(&s, "TIMESTAMP(0)"),
                            .length = 3,
                            .data = (const uint8_t *)seconds,
                            .data_len = sizeof seconds};
    s.columns[0] = (struct schema_column){.name = SLICE("t"), .type = column.type, .id = 0};
    struct parquet_writer *w;
    MUST(parquet_schema_build(&s.arena, PARQUET_PAIMON, s.columns, 1, &s.schema, &err));
    MUST(parquet_writer_create(s.columns, 1, &s.schema, NULL, to_buf, &s.file, &w, &err));
    MUST(parquet_writer_write(w, &column, 1 + 2, &err));
    MUST(parquet_writer_finish(w, &err));
    parquet_writer_destroy(w);
    MUST(read_as(&s, sheet_column(&s, "t", "TIMESTAMP(3)", 0), PARQUET_BY_NAME, v, &count, &err));
    assert_true(v[0].ts.millis == INT64_MAX && v[1].ts.millis == INT64_MIN && v[2].ts.millis == 5000);
    drop_sheet(&s);
}

static struct parquet_leaf_stats stats_of(struct sheet *s, uint32_t leaf, struct parquet_writer **w)
{
    struct err err = {0};
    struct parquet_leaf_stats stats;
    *w = start(s, NULL);
    MUST(write_rows(s, *w, &err));
    MUST(parquet_writer_finish(*w, &err));
    parquet_writer_leaf_stats(*w, leaf, &stats);
    return stats;
}

static void statistics_are_exact_or_not_there(void **state)
{
    (void)state;
    static const char long_text[PARQUET_STAT_BYTES_MAX + 1] = "long";
    static const struct {
        const char *type;
        struct datum low;
        struct datum high;
        bool bounds;
    } cases[] = {
        {"BOOLEAN", {.boolean = false}, {.boolean = true}, true},
        {"TINYINT", {.i64 = -128}, {.i64 = 127}, true},
        {"BIGINT", {.i64 = INT64_MIN}, {.i64 = INT64_MAX}, true},
        {"FLOAT", {.f32 = -1.5f}, {.f32 = 2}, true},
        {"DOUBLE", {.f64 = -1.5}, {.f64 = 2}, true},
        {"DOUBLE", {.f64 = 1}, {.f64 = __builtin_nan("")}, false},
        {"STRING", {.bytes = {(const uint8_t *)"", 0}}, {.bytes = {(const uint8_t *)"\xc3\xa4", 2}}, true},
        {"BYTES",
         {.bytes = {(const uint8_t *)"a", 1}},
         {.bytes = {(const uint8_t *)long_text, sizeof long_text}},
         false},
        {"DECIMAL(30, 2)", {.decimal = -7}, {.decimal = 300}, true},
        {"DATE", {.i64 = -3}, {.i64 = 3}, true},
        {"TIME(3)", {.i64 = 0}, {.i64 = 86399999}, true},
        {"TIMESTAMP(3)", {.ts = {-5, 0}}, {.ts = {5, 0}}, true},
        {"TIMESTAMP_LTZ(6)", {.ts = {-5, 7000}}, {.ts = {5, 9000}}, true},
        {"TIMESTAMP(9)", {.ts = {-5, 7}}, {.ts = {5, 9}}, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sheet s = {0};
        struct parquet_writer *w;
        struct column_builder *b = add_column(&s, "c", cases[i].type);
        add(b, cases[i].high);
        column_builder_append_null(b);
        add(b, cases[i].low);
        struct parquet_leaf_stats stats = stats_of(&s, 0, &w);
        assert_int_equal(stats.value_count, 3);
        assert_int_equal(stats.null_count, 1);
        assert_true(stats.packed_bytes > 0 && stats.packed_bytes < s.file.len);
        assert_int_equal(stats.has_bounds, cases[i].bounds);
        if (stats.has_bounds)
            assert_true(datum_equal(s.columns[0].type, &stats.min, &cases[i].low) &&
                        datum_equal(s.columns[0].type, &stats.max, &cases[i].high));
        parquet_writer_destroy(w);
        drop_sheet(&s);
    }
}

static void a_column_of_nulls_has_no_bounds(void **state)
{
    (void)state;
    struct sheet s = {0};
    struct parquet_writer *w;
    column_builder_append_null(add_column(&s, "c", "INT"));
    struct parquet_leaf_stats stats = stats_of(&s, 0, &w);
    assert_true(stats.null_count == 1 && !stats.has_bounds);
    parquet_writer_destroy(w);
    drop_sheet(&s);
}

static void few_distinct_values_make_a_small_file(void **state)
{
    (void)state;
    struct err err = {0};
    struct parquet_writer_options options = parquet_writer_options_usual();
    size_t bytes[2];
    options.codec = CODEC_NONE;
    for (int dictionary = 0; dictionary < 2; dictionary++) {
        struct sheet s = {0};
        struct column_builder *b = add_column(&s, "c", "STRING");
        options.dictionary = dictionary;
        for (int i = 0; i < 5000; i++)
            add(b, (struct datum){.bytes = i % 3 ? SLICE("one of two long values") : SLICE("the other long value")});
        write_sheet(&s, &options);
        bytes[dictionary] = s.file.len;
        struct datum v[100];
        uint32_t count;
        MUST(read_as(&s, s.columns[0], PARQUET_BY_NAME, v, &count, &err));
        assert_slice_equal(v[3].bytes, SLICE("the other long value"));
        drop_sheet(&s);
    }
    assert_true(bytes[1] < 2000 && bytes[0] > 100000);
}

static void memory_of_a_writer_is_bounded_by_its_row_group(void **state)
{
    (void)state;
    struct err err = {0};
    struct sheet s = {0};
    struct parquet_writer_options options = parquet_writer_options_usual();
    struct column_builder *b = add_column(&s, "c", "BIGINT");
    for (int64_t i = 0; i < 10000; i++)
        add(b, (struct datum){.i64 = i * 0x9e3779b97f4a7c15});
    options.row_group_bytes = 200000;
    options.page_bytes = 10000;
    struct parquet_writer *w = start(&s, &options);
    for (int i = 0; i < 50; i++) {
        MUST(write_rows(&s, w, &err));
        assert_true(parquet_writer_held_bytes(w) < options.row_group_bytes);
    }
    MUST(parquet_writer_finish(w, &err));
    assert_true(parquet_writer_file_bytes(w) > 3500000);
    parquet_writer_destroy(w);
    struct parquet_reader *r;
    struct slice file = buf_view(&s.file);
    MUST(parquet_reader_open(parquet_source_memory, &file, file.len, &r, &err));
    assert_int_equal(parquet_reader_row_count(r), 500000);
    parquet_reader_close(r);
    drop_sheet(&s);
}

static enum err_code full_disk(void *arg, struct slice bytes, struct err *err)
{
    size_t *room = arg;
    if (bytes.len > *room)
        return err_set(err, ERR_DISK_FULL, "no room");
    *room -= bytes.len;
    return OK;
}

static void what_the_sink_says_comes_back(void **state)
{
    (void)state;
    for (size_t room = 0; room < 300; room++) {
        struct err err = {0};
        struct sheet s = {0};
        size_t left = room;
        struct parquet_writer *w;
        add(add_column(&s, "c", "INT"), (struct datum){.i64 = 1});
        MUST(parquet_schema_build(&s.arena, PARQUET_PAIMON, s.columns, 1, &s.schema, &err));
        MUST(parquet_writer_create(s.columns, 1, &s.schema, NULL, full_disk, &left, &w, &err));
        enum err_code code = write_rows(&s, w, &err);
        if (code == OK)
            code = parquet_writer_finish(w, &err);
        assert_true(code == ERR_DISK_FULL || (code == OK && room > 100));
        parquet_writer_destroy(w);
        drop_sheet(&s);
    }
}

/* A file with a bit of everything, small. */
static void write_a_bit_of_everything(struct sheet *s)
{
    struct parquet_writer_options options = parquet_writer_options_usual();
    options.codec = CODEC_NONE; /* so that damage gets past the codec */
    struct datum numbers[] = {{.i64 = 1}, {.is_null = true}, {.i64 = 3}}, text = {.bytes = SLICE("text")};
    struct column_builder *a = add_column(s, "a", "ARRAY<INT>"), *b = add_column(s, "b", "STRING"),
                          *c = add_column(s, "c", "DECIMAL(20, 2)"), *d = add_column(s, "d", "BOOLEAN");
    for (uint32_t i = 0; i < 100; i++) {
        add(a, (struct datum){.is_null = i % 7 == 0, .list = {numbers, i % 4}});
        add(b, i % 5 ? text : (struct datum){.bytes = SLICE("more text")});
        add(c, (struct datum){.is_null = i % 3 == 0, .decimal = i});
        add(d, (struct datum){.boolean = i & 1});
    }
    write_sheet(s, &options);
}

/* Reads everything; any answer is right that is no crash. */
static enum err_code read_damaged(struct slice file, struct err *err)
{
    struct arena arena = {0};
    struct parquet_reader *r = NULL;
    struct schema_column *columns;
    uint32_t count, rows = 1;
    struct column *slice = NULL;
    enum err_code code = OK;
    TRY_OR_FAIL(parquet_reader_open(parquet_source_memory, &file, file.len, &r, err));
    TRY_OR_FAIL(parquet_schema_infer(&arena, parquet_reader_schema(r), &columns, &count, err));
    TRY_OR_FAIL(parquet_reader_select(r, columns, count, PARQUET_BY_NAME, err));
    slice = ARENA_NEW_ARRAY(&arena, struct column, count);
    while (rows)
        TRY_OR_FAIL(parquet_reader_next(r, 60, slice, &rows, err));
fail:
    parquet_reader_close(r);
    arena_deinit(&arena);
    return code;
}

static void every_cut_off_file_is_refused(void **state)
{
    (void)state;
    struct err err = {0};
    struct sheet s = {0};
    write_a_bit_of_everything(&s);
    MUST(read_damaged(buf_view(&s.file), &err));
    for (size_t cut = 0; cut < s.file.len; cut++)
        MUST_FAIL(ERR_CORRUPT, read_damaged(slice_of(s.file.ptr, cut), &err));
    drop_sheet(&s);
}

static void damage_of_any_byte_breaks_nothing(void **state)
{
    (void)state;
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    struct err err = {0};
    struct sheet s = {0};
    int refused = 0;
    write_a_bit_of_everything(&s);
    for (size_t at = 0; at < s.file.len; at++)
        for (size_t m = 0; m < ARRAY_LEN(masks); m++) {
            s.file.ptr[at] ^= masks[m];
            refused += read_damaged(buf_view(&s.file), &err) != OK;
            s.file.ptr[at] ^= masks[m];
        }
    assert_true(refused > 100);
    drop_sheet(&s);
}

/* The same file with a footer that gives the row group a size of its own. */
static void change_group_bytes(struct sheet *s, uint64_t plain_bytes)
{
    struct err err = {0};
    struct parquet_footer footer;
    struct parquet_writer_options options = parquet_writer_options_usual();
    uint32_t len = load_u32(s->file.ptr + s->file.len - 8);
    struct slice bytes = slice_of(s->file.ptr + s->file.len - 8 - len, len);
    MUST(parquet_footer_parse(&s->arena, bytes, s->file.len, &footer, &err));
    struct parquet_chunk *chunk = &footer.groups[0].chunks[0];
    struct parquet_chunk_meta meta = {.start = chunk->start,
                                      .data_start = chunk->start,
                                      .entries = chunk->entries,
                                      .packed_bytes = chunk->packed_bytes,
                                      .plain_bytes = plain_bytes};
    struct parquet_group_meta group = {footer.groups[0].rows, &meta};
    s->file.len -= 8 + len;
    parquet_footer_put(&s->file, &footer.schema, &group, 1, &options);
}

static void any_size_of_a_row_group_is_taken_for_a_hint(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 1 << 30, INT64_MAX, UINT64_MAX};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct err err = {0};
        struct sheet s = {0};
        struct datum v[100];
        uint32_t count;
        struct column_builder *b = add_column(&s, "c", "INT");
        add(b, (struct datum){.i64 = 7});
        write_sheet(&s, NULL);
        change_group_bytes(&s, sizes[i]);
        MUST(read_as(&s, s.columns[0], PARQUET_BY_NAME, v, &count, &err));
        assert_true(count == 1 && v[0].i64 == 7);
        drop_sheet(&s);
    }
}

static void other_formats_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        struct slice file;
        enum err_code want;
        const char *word;
    } cases[] = {
        {{(const uint8_t *)"ORC and then some bytes", 23}, ERR_NOT_SUPPORTED, "ORC"},
        {{(const uint8_t *)"PARE........\4\0\0\0PARE", 20}, ERR_NOT_SUPPORTED, "encrypted"},
        {{(const uint8_t *)"PAR1........\xff\xff\0\0PAR1", 20}, ERR_CORRUPT, "footer"},
        {{(const uint8_t *)"PAR1", 4}, ERR_CORRUPT, "PAR1"},
        {{(const uint8_t *)"", 0}, ERR_CORRUPT, "PAR1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        MUST_FAIL(cases[i].want, read_damaged(cases[i].file, &err));
        assert_non_null(strstr(err.text, cases[i].word));
    }
}

/* The list of old writers, without a group for its items, has the same levels as one with a group and items that are
 * there: so the pages are written for the one, and the footer for the other. */
static void lists_without_a_group_for_items_are_read(void **state)
{
    (void)state;
    struct err err = {0};
    struct sheet s = {0};
    struct datum v[100], items[] = {{.i64 = 4}, {.i64 = 5}};
    uint32_t count;
    struct column_builder *b = add_column(&s, "l", "ARRAY<INT NOT NULL>");
    add(b, (struct datum){.list = {items, 2}});
    add(b, (struct datum){.list = {items, 0}});
    column_builder_append_null(b);
    struct parquet_writer *w = start(&s, NULL);
    MUST(write_rows(&s, w, &err));
    struct parquet_node *list = &s.schema.root.children[0];
    list->children[0] = (struct parquet_node){
        .name = SLICE("array"), .repetition = PARQUET_REPEATED, .physical = PARQUET_INT32, .field_id = -1};
    MUST(parquet_schema_number(&s.arena, &s.schema, &err));
    MUST(parquet_writer_finish(w, &err));
    MUST(read_as(&s, sheet_column(&s, "l", "ARRAY<INT>", 0), PARQUET_BY_NAME, v, &count, &err));
    assert_true(count == 3 && v[0].list.count == 2 && v[0].list.items[1].i64 == 5);
    assert_true(!v[1].is_null && v[1].list.count == 0 && v[2].is_null);
    parquet_writer_destroy(w);
    drop_sheet(&s);
}

static void nested_fields_have_the_ids_that_readers_expect(void **state)
{
    (void)state;
    struct err err = {0};
    struct sheet s = {0};
    struct schema_column columns[] = {sheet_column(&s, "a", "ARRAY<ARRAY<INT>>", 14),
                                      sheet_column(&s, "m", "MAP<STRING NOT NULL, INT>", 3)};
    MUST(parquet_schema_build(&s.arena, PARQUET_PAIMON, columns, 2, &s.schema, &err));
    const struct parquet_node *outer = &s.schema.root.children[0].children[0].children[0];
    assert_int_equal(outer->field_id, 536870911 + 14 * 1024 + 1);
    assert_int_equal(outer->children[0].children[0].field_id, 536870911 + 14 * 1024 + 2);
    const struct parquet_node *kv = &s.schema.root.children[1].children[0];
    assert_int_equal(kv->children[0].field_id, 536870911 - 3 * 1024 - 1);
    assert_int_equal(kv->children[1].field_id, 536870911 + 3 * 1024 + 1);
    assert_int_equal(kv->children[0].repetition, PARQUET_REQUIRED);
    drop_sheet(&s);
}

static void properties_of_the_footer_come_back(void **state)
{
    (void)state;
    struct err err = {0};
    struct sheet s = {0};
    struct key_value property = {SLICE("iceberg.schema"), SLICE("{}")};
    struct parquet_writer_options options = parquet_writer_options_usual();
    struct parquet_reader *r;
    options.properties = &property;
    options.property_count = 1;
    add(add_column(&s, "c", "INT"), (struct datum){.i64 = 1});
    write_sheet(&s, &options);
    struct slice file = buf_view(&s.file);
    MUST(parquet_reader_open(parquet_source_memory, &file, file.len, &r, &err));
    assert_slice_equal(*parquet_reader_property(r, "iceberg.schema"), SLICE("{}"));
    assert_null(parquet_reader_property(r, "other"));
    parquet_reader_close(r);
    drop_sheet(&s);
}

TESTS("format.parquet", TEST(columns_that_the_file_does_not_have_are_null),
      TEST(fields_that_the_file_does_not_have_are_null), TEST(types_of_the_file_become_those_wanted),
      TEST(nulls_and_digits_that_the_type_forbids_are_refused), TEST(a_time_too_far_for_the_file_becomes_the_nearest),
      TEST(statistics_are_exact_or_not_there), TEST(a_column_of_nulls_has_no_bounds),
      TEST(few_distinct_values_make_a_small_file), TEST(memory_of_a_writer_is_bounded_by_its_row_group),
      TEST(what_the_sink_says_comes_back), TEST(every_cut_off_file_is_refused), TEST(damage_of_any_byte_breaks_nothing),
      TEST(any_size_of_a_row_group_is_taken_for_a_hint), TEST(other_formats_are_refused_by_name),
      TEST(lists_without_a_group_for_items_are_read), TEST(nested_fields_have_the_ids_that_readers_expect),
      TEST(properties_of_the_footer_come_back))
