/* The golden tables, written by Apache Fluss's tiering job with Java Paimon: every row, as expected.jsonl has it. */
#include "base/civil.h"
#include "base/number.h"
#include "lake/paimon/paimon_int.h"
#include "lib/golden_value.h"

#define GOLDEN "test/golden/paimon-by-fluss/"

static struct err err;

static const struct golden {
    const char *folder;
    const char *table;
    unsigned row_count;
} tables[] = {{"pk", "pk", 21},
              {"pk-compacted", "pk_compacted", 15},
              {"pk-partitioned", "pk_partitioned", 18},
              {"log-bucket-key", "log_bucket_key", 40},
              {"log-no-key", "log_no_key", 40}};

/* ---- values as expected.jsonl has them ---- */

static void put_clock(struct buf *out, int64_t millis, int32_t nanos)
{
    buf_printf(out, "%02d:%02d:%02d.%06d", (int)(millis / 3600000), (int)(millis / 60000 % 60),
               (int)(millis / 1000 % 60), (int)(millis % 1000 * 1000 + nanos / 1000));
}

static void put_text(struct buf *out, const struct type *type, const struct datum *value)
{
    int32_t millis;
    switch (type->kind) {
    case TYPE_DECIMAL:
        number_put_decimal(out, value->decimal, type->scale);
        break;
    case TYPE_DATE:
        civil_put_date(out, value->i64);
        break;
    case TYPE_TIME:
        put_clock(out, value->i64, 0);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        civil_put_date(out, civil_day_of_millis(value->ts.millis, &millis));
        buf_put_u8(out, 'T');
        put_clock(out, millis, value->ts.nanos);
        if (type->kind == TYPE_TIMESTAMP_LTZ)
            buf_put_u8(out, 'Z');
        break;
    case TYPE_BYTES:
        buf_put_hex(out, value->bytes);
        break;
    default:
        buf_put_slice(out, value->bytes);
    }
}

static json_t *json_of(const struct type *type, const struct datum *value)
{
    struct buf text = {0};
    if (value->is_null)
        return json_null();
    switch (type->kind) {
    case TYPE_BOOLEAN:
        return json_boolean(value->boolean);
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INTEGER:
    case TYPE_BIGINT:
        return json_integer(value->i64);
    case TYPE_FLOAT:
        return json_real((double)value->f32);
    case TYPE_DOUBLE:
        return json_real(value->f64);
    default:
        put_text(&text, type, value);
        json_t *json = json_stringn((const char *)text.ptr, text.len);
        buf_deinit(&text);
        return json;
    }
}

static int text_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- both sides as sorted texts ---- */

struct lines {
    char *items[64];
    unsigned count;
};

static void lines_add(struct lines *lines, json_t *row)
{
    assert_true(lines->count < ARRAY_LEN(lines->items));
    lines->items[lines->count++] = json_dumps(row, JSON_SORT_KEYS);
    json_decref(row);
}

static void add_expected(void *arg, struct slice line)
{
    lines_add(arg, golden_parse(line));
}

static void add_rows(struct lines *lines, const struct paimon_schema *schema, const struct column *columns,
                     uint32_t row_count)
{
    struct arena arena = {0};
    for (uint32_t r = 0; r < row_count; r++) {
        json_t *row = json_object();
        for (uint32_t c = 0; c + SYSTEM_COLUMN_COUNT < schema->column_count; c++) {
            struct datum value;
            column_get(&columns[c], r, &arena, &value);
            const char *name = arena_cstr(&arena, schema->columns[c].name);
            json_object_set_new(row, name, json_of(schema->columns[c].type, &value));
        }
        for (uint32_t c = schema->column_count - SYSTEM_COLUMN_COUNT; c < schema->column_count; c++)
            assert_false(column_is_null(&columns[c], r));
        lines_add(lines, row);
    }
    arena_deinit(&arena);
}

static struct paimon_table *open_golden(const struct golden *g)
{
    struct paimon_table *table;
    struct path dir;
    MUST(paimon_path_set(&dir, &err, GOLDEN "%s/warehouse/golden.db/%s", g->folder, g->table));
    MUST(paimon_table_open_dir(os_real(), slice_str(dir.text), &table, &err));
    return table;
}

static void scan_all(struct paimon_table *table, int32_t bucket, struct lines *lines)
{
    const struct paimon_schema *schema = paimon_table_schema(table);
    struct paimon_scan *scan;
    int64_t earliest, latest;
    uint32_t row_count = 1;
    struct column *columns = mem_alloc(schema->column_count * sizeof *columns);
    MUST(paimon_snapshot_range(table, &earliest, &latest, &err));
    struct paimon_scan_options options = {
        .snapshot_id = latest, .bucket = bucket, .columns = schema->columns, .column_count = schema->column_count};
    MUST(paimon_scan_open(table, &options, &scan, &err));
    while (row_count) {
        MUST(paimon_scan_next(scan, columns, &row_count, &err));
        add_rows(lines, schema, columns, row_count);
        assert_true(bucket < 0 || !row_count || paimon_scan_bucket(scan) == bucket);
    }
    paimon_scan_close(scan);
    mem_free(columns);
}

static void lines_deinit(struct lines *lines)
{
    for (unsigned i = 0; i < lines->count; i++)
        free(lines->items[i]);
}

static void check_golden(const struct golden *g, bool bucket_by_bucket)
{
    struct lines got = {0}, want = {0};
    struct paimon_table *table = open_golden(g);
    struct path name;
    MUST(paimon_path_set(&name, &err, "paimon-by-fluss/%s/expected", g->folder));
    test_each_line(name.text, add_expected, &want);
    if (!bucket_by_bucket)
        scan_all(table, -1, &got);
    for (int32_t b = 0; bucket_by_bucket && b < MAX(paimon_table_schema(table)->bucket_count, 1); b++)
        scan_all(table, b, &got);
    assert_int_equal(want.count, g->row_count);
    assert_int_equal(got.count, want.count);
    qsort(got.items, got.count, sizeof *got.items, text_order);
    qsort(want.items, want.count, sizeof *want.items, text_order);
    for (unsigned i = 0; i < got.count; i++)
        assert_string_equal(got.items[i], want.items[i]);
    lines_deinit(&got);
    lines_deinit(&want);
    paimon_table_close(table);
}

static void golden_tables_hold_the_expected_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        check_golden(&tables[i], false);
        check_golden(&tables[i], true);
    }
}

/* Only some columns, in another order, and one that the lake has not. */
static void columns_are_found_by_name(void **state)
{
    (void)state;
    struct paimon_table *table = open_golden(&tables[0]);
    struct paimon_scan *scan;
    struct arena arena = {0};
    struct column columns[3];
    uint32_t row_count = 1, rows = 0;
    int64_t last = -1;
    struct schema_column wanted[] = {{.name = SLICE("no such column"), .type = type_simple(TYPE_STRING)},
                                     {.name = SLICE("__offset"), .type = type_simple(TYPE_BIGINT)},
                                     {.name = SLICE("id"), .type = type_simple(TYPE_BIGINT)}};
    struct paimon_scan_options options = {.snapshot_id = 6, .bucket = 1, .columns = wanted, .column_count = 3};
    MUST(paimon_scan_open(table, &options, &scan, &err));
    while (row_count) {
        MUST(paimon_scan_next(scan, columns, &row_count, &err));
        for (uint32_t i = 0; i < row_count; i++, rows++) {
            struct datum id;
            assert_true(column_is_null(&columns[0], i));
            assert_false(column_is_null(&columns[1], i));
            column_get(&columns[2], i, &arena, &id);
            assert_true(id.i64 > last); /* in the order of the key */
            last = id.i64;
        }
    }
    assert_true(rows > 3);
    paimon_scan_close(scan);
    paimon_table_close(table);
    arena_deinit(&arena);
}

static void a_snapshot_that_is_gone_is_not_found(void **state)
{
    (void)state;
    struct paimon_table *table = open_golden(&tables[0]);
    struct paimon_scan *scan;
    struct paimon_scan_options options = {.snapshot_id = 99, .bucket = -1};
    MUST_FAIL(ERR_NOT_FOUND, paimon_scan_open(table, &options, &scan, &err));
    paimon_table_close(table);
}

TESTS("paimon.scan", TEST(golden_tables_hold_the_expected_rows), TEST(columns_are_found_by_name),
      TEST(a_snapshot_that_is_gone_is_not_found))
