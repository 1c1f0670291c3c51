/* Files of Java Paimon, as Fluss's tiering left them: the rows are those of expected.jsonl, the schema is the one that
 * we would write. */
#include "format/parquet/parquet.h"
#include "lib/test.h"
#include "os/os.h"

#include <jansson.h>

#define KEYS_MAX 64
#define COLUMNS_MAX 32

struct table {
    const char *folder;
    const char *name;
    const char *key;  /* an integer: the primary key, or a column that no two rows share */
    const char *key2; /* a string, where the primary key has two columns */
    bool has_keys;    /* a primary key: rows have sequence numbers and kinds */
};

static const struct table tables[] = {{"log-bucket-key", "log_bucket_key", "id", NULL, false},
                                      {"log-no-key", "log_no_key", "id", NULL, false},
                                      {"pk", "pk", "id", NULL, true},
                                      {"pk-compacted", "pk_compacted", "id", NULL, true},
                                      {"pk-partitioned", "pk_partitioned", "order_id", "dt", true}};

/* What the newest row of a key was. */
struct newest {
    char key[64];
    json_t *expected; /* NULL: no such row at the end */
    int64_t sequence;
    int64_t kind;
    bool as_expected;
    bool seen;
};

struct fold {
    const struct table *table;
    size_t expected_count;
    struct newest newest[KEYS_MAX];
    size_t key_count;
    int files;
    int rows;
};

/* ---- values of expected.jsonl ---- */

static int64_t days_of(int y, int m, int d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year = y - era * 400, day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + year * 365 + year / 4 - year / 100 + day - 719468;
}

static bool is_time(const char *text, const struct type *type, const struct datum *v)
{
    int y = 1970, mo = 1, d = 1, h = 0, mi = 0, s = 0, us = 0;
    if (type->kind == TYPE_TIME)
        sscanf(text, "%d:%d:%d.%d", &h, &mi, &s, &us);
    else
        sscanf(text, "%d-%d-%dT%d:%d:%d.%d", &y, &mo, &d, &h, &mi, &s, &us);
    int64_t micros = ((h * 60 + mi) * 60 + s) * (int64_t)1000000 + us;
    if (type->kind == TYPE_DATE)
        return v->i64 == days_of(y, mo, d);
    if (type->kind == TYPE_TIME)
        return v->i64 * 1000 == micros;
    return v->ts.millis * 1000 + v->ts.nanos / 1000 == micros + days_of(y, mo, d) * 86400000000;
}

static bool is_decimal(const char *text, const struct datum *v)
{
    __int128 want = 0;
    for (const char *c = text; *c; c++)
        want = *c >= '0' && *c <= '9' ? want * 10 + (*c - '0') : want;
    return v->decimal == (*text == '-' ? -want : want);
}

static bool is_text(const char *text, const struct type *type, const struct datum *v)
{
    struct buf hex = {0};
    if (type->kind == TYPE_BYTES)
        buf_put_hex(&hex, v->bytes);
    else
        buf_put_slice(&hex, v->bytes);
    bool same = slice_is(buf_view(&hex), text);
    buf_deinit(&hex);
    return same;
}

static bool is_value(json_t *want, const struct type *type, const struct datum *v)
{
    if (json_is_null(want) || v->is_null)
        return json_is_null(want) && v->is_null;
    switch (type->kind) {
    case TYPE_BOOLEAN:
        return json_is_true(want) == v->boolean;
    case TYPE_FLOAT:
        return v->f32 == (float)json_number_value(want);
    case TYPE_DOUBLE:
        return v->f64 == json_number_value(want);
    case TYPE_DECIMAL:
        return is_decimal(json_string_value(want), v);
    case TYPE_STRING:
    case TYPE_BYTES:
        return is_text(json_string_value(want), type, v);
    case TYPE_DATE:
    case TYPE_TIME:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        return is_time(json_string_value(want), type, v);
    default:
        return v->i64 == json_integer_value(want);
    }
}

static struct newest *newest_of(struct fold *fold, int64_t key, struct slice key2)
{
    char text[64];
    snprintf(text, sizeof text, "%lld|%.*s", (long long)key, SLICE_ARGS(key2));
    for (size_t i = 0; i < fold->key_count; i++)
        if (strcmp(fold->newest[i].key, text) == 0)
            return &fold->newest[i];
    assert_true(fold->key_count < KEYS_MAX);
    memcpy(fold->newest[fold->key_count].key, text, sizeof text);
    return &fold->newest[fold->key_count++];
}

static void load_expected(struct fold *fold, struct slice text)
{
    while (text.len) {
        const uint8_t *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) : text.len;
        json_t *line = json_loadb((const char *)text.ptr, len, 0, NULL);
        assert_non_null(line);
        const char *key2 = fold->table->key2 ? json_string_value(json_object_get(line, fold->table->key2)) : "";
        struct newest *n =
            newest_of(fold, json_integer_value(json_object_get(line, fold->table->key)), slice_str(key2));
        assert_null(n->expected);
        n->expected = line;
        fold->expected_count++;
        text = slice_of(text.ptr + len + (end != NULL), text.len - len - (end != NULL));
    }
}

/* ---- files ---- */

static const struct datum *value_of(const struct schema_column *columns, const struct datum *row, uint32_t count,
                                    const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (slice_is(columns[i].name, name))
            return &row[i];
    return NULL;
}

static void take_row(struct fold *fold, const struct schema_column *columns, const struct datum *row, uint32_t count)
{
    struct slice key2 = fold->table->key2 ? value_of(columns, row, count, fold->table->key2)->bytes : SLICE("");
    struct newest *n = newest_of(fold, value_of(columns, row, count, fold->table->key)->i64, key2);
    int64_t sequence = fold->rows++;
    assert_true(fold->table->has_keys || !n->seen);
    if (fold->table->has_keys)
        sequence = value_of(columns, row, count, "_SEQUENCE_NUMBER")->i64;
    if (n->seen && sequence < n->sequence)
        return;
    n->seen = true;
    n->sequence = sequence;
    n->kind = fold->table->has_keys ? value_of(columns, row, count, "_VALUE_KIND")->i64 : 0;
    n->as_expected = n->expected != NULL;
    const char *name;
    json_t *want;
    json_object_foreach(n->expected, name, want)
    {
        for (uint32_t i = 0; i < count; i++)
            if (slice_is(columns[i].name, name))
                n->as_expected &= is_value(want, columns[i].type, &row[i]);
    }
}

static void read_file(struct fold *fold, struct slice file)
{
    struct err err = {0};
    struct arena arena = {0};
    struct parquet_reader *r;
    struct schema_column *columns;
    struct column slice[COLUMNS_MAX];
    uint32_t count, rows = 1;
    MUST(parquet_reader_open(parquet_source_memory, &file, file.len, &r, &err));
    MUST(parquet_schema_infer(&arena, parquet_reader_schema(r), &columns, &count, &err));
    assert_true(count <= COLUMNS_MAX);
    MUST(parquet_reader_select(r, columns, count, PARQUET_BY_NAME, &err));
    while (rows) {
        MUST(parquet_reader_next(r, 4, slice, &rows, &err));
        for (uint32_t i = 0; i < rows; i++) {
            struct datum row[COLUMNS_MAX];
            for (uint32_t c = 0; c < count; c++)
                column_get(&slice[c], i, &arena, &row[c]);
            take_row(fold, columns, row, count);
        }
    }
    parquet_reader_close(r);
    arena_deinit(&arena);
}

struct walk {
    const char *dir;
    void (*fn)(struct fold *fold, struct slice file);
    struct fold *fold;
};

static enum err_code walk(void *arg, const char *name, bool is_dir, struct err *err)
{
    const struct walk *w = arg;
    char path[OS_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", w->dir, name);
    struct walk below = {path, w->fn, w->fold};
    if (is_dir)
        return os_dir_list(os_real(), path, walk, &below, err);
    if (strncmp(name, "data-", 5) != 0)
        return OK;
    struct buf file = {0};
    TRY(os_read_whole(os_real(), path, 1 << 20, &file, err));
    w->fold->files++;
    w->fn(w->fold, buf_view(&file));
    buf_deinit(&file);
    return OK;
}

static void each_file(struct fold *fold, void (*fn)(struct fold *fold, struct slice file))
{
    struct err err = {0};
    char dir[OS_PATH_MAX];
    snprintf(dir, sizeof dir, "%s/test/golden/paimon-by-fluss/%s/warehouse/golden.db/%s", WEIR_SOURCE_DIR,
             fold->table->folder, fold->table->name);
    struct walk w = {dir, fn, fold};
    MUST(os_dir_list(os_real(), dir, walk, &w, &err));
    assert_true(fold->files > 0);
}

static void check_table(const struct table *table)
{
    struct err err = {0};
    struct fold fold = {.table = table};
    struct buf expected = {0};
    char path[OS_PATH_MAX];
    snprintf(path, sizeof path, "%s/test/golden/paimon-by-fluss/%s/expected.jsonl", WEIR_SOURCE_DIR, table->folder);
    MUST(os_read_whole(os_real(), path, 1 << 20, &expected, &err));
    load_expected(&fold, buf_view(&expected));
    each_file(&fold, read_file);
    size_t alive = 0;
    for (size_t i = 0; i < fold.key_count; i++) {
        const struct newest *n = &fold.newest[i];
        bool deleted = n->kind == 1 || n->kind == 3;
        if (n->seen && !deleted && !n->as_expected)
            fail_msg("%s: the row of key %s is not as expected", table->folder, n->key);
        alive += n->seen && !deleted;
        json_decref(n->expected);
    }
    assert_int_equal(alive, fold.expected_count);
    buf_deinit(&expected);
}

static void rows_of_java_paimon_are_those_expected(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        check_table(&tables[i]);
}

static void check_same_node(const struct parquet_node *a, const struct parquet_node *b)
{
    assert_slice_equal(a->name, b->name);
    assert_int_equal(a->repetition, b->repetition);
    assert_int_equal(a->physical, b->physical);
    assert_int_equal(a->type_length, b->type_length);
    assert_int_equal(a->logical, b->logical);
    assert_int_equal(a->unit, b->unit);
    assert_int_equal(a->utc, b->utc);
    assert_int_equal(a->precision, b->precision);
    assert_int_equal(a->scale, b->scale);
    assert_int_equal(a->bit_width, b->bit_width);
    assert_int_equal(a->field_id, b->field_id);
    assert_int_equal(a->child_count, b->child_count);
    for (uint32_t i = 0; i < a->child_count; i++)
        check_same_node(&a->children[i], &b->children[i]);
}

static void check_schema(struct fold *fold, struct slice file)
{
    (void)fold;
    struct err err = {0};
    struct arena arena = {0};
    struct parquet_reader *r;
    struct parquet_schema ours;
    struct schema_column *columns;
    uint32_t count;
    MUST(parquet_reader_open(parquet_source_memory, &file, file.len, &r, &err));
    MUST(parquet_schema_infer(&arena, parquet_reader_schema(r), &columns, &count, &err));
    MUST(parquet_schema_build(&arena, PARQUET_PAIMON, columns, count, &ours, &err));
    check_same_node(&ours.root, &parquet_reader_schema(r)->root);
    parquet_reader_close(r);
    arena_deinit(&arena);
}

static void our_schema_is_that_of_java_paimon(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct fold fold = {.table = &tables[i]};
        each_file(&fold, check_schema);
    }
}

TESTS("format.parquet.golden", TEST(rows_of_java_paimon_are_those_expected), TEST(our_schema_is_that_of_java_paimon))
