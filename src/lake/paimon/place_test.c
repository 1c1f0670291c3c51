#include "format/row/row.h"
#include "lake/paimon/live_int.h"
#include "lib/golden_value.h"

static struct err err;

struct golden_place {
    struct arena arena;
    unsigned seen;
};

static bool is_refused(const struct schema *schema)
{
    for (uint32_t i = 0; i < schema->column_count; i++) {
        enum type_kind kind = schema->columns[i].type->kind;
        if (kind == TYPE_BINARY || kind == TYPE_BYTES || kind == TYPE_TIMESTAMP_LTZ)
            return true;
    }
    return false;
}

static bool any_null(json_t *values)
{
    size_t i;
    json_t *value;
    json_array_foreach(values, i, value) if (json_is_null(value)) return true;
    return false;
}

static void check_path(struct golden_place *g, json_t *line)
{
    struct schema columns;
    struct buf row = {0};
    struct path path;
    golden_schema(&g->arena, json_object_get(line, "types"), &columns);
    struct datum *values = golden_row(&g->arena, &columns, json_object_get(line, "values"));
    uint32_t keys[16] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct paimon_schema schema = {.columns = columns.columns,
                                   .column_count = columns.column_count,
                                   .partition_keys = keys,
                                   .partition_key_count = columns.column_count,
                                   .partition_row = row_type(&g->arena, &columns)};
    struct paimon_table table = {.dir = SLICE("T"), .newest = &schema};
    MUST(row_wrap(schema.partition_row, values, &row, &err));
    if (is_refused(&columns)) {
        if (!any_null(json_object_get(line, "values")))
            MUST_FAIL(ERR_NOT_SUPPORTED, bucket_dir(&table, buf_view(&row), 3, &path, &err));
    } else {
        MUST(bucket_dir(&table, buf_view(&row), 3, &path, &err));
        struct slice want = arena_printf(&g->arena, "T/%sbucket-3", golden_text(line, "plain_path"));
        assert_slice_equal(slice_str(path.text), want);
        g->seen++;
    }
    MUST_FAIL(ERR_CORRUPT, bucket_dir(&table, slice_of(row.ptr, 3), 3, &path, &err));
    buf_deinit(&row);
}

static void golden_path(void *arg, struct slice text)
{
    struct golden_place *g = arg;
    json_t *line = golden_parse(text);
    const char *id = golden_text(line, "id");
    if (strncmp(id, "partition/", 10) == 0 && json_object_get(line, "plain_path"))
        check_path(g, line);
    json_decref(line);
}

static void paths_of_partitions_are_javas(void **state)
{
    (void)state;
    struct golden_place g = {0};
    test_each_line("paimon_rows", golden_path, &g);
    assert_true(g.seen > 50);
    arena_deinit(&g.arena);
}

static void external_paths_replace_the_computed_one(void **state)
{
    (void)state;
    struct paimon_schema schema = {0};
    struct paimon_table table = {.dir = SLICE("T"), .newest = &schema};
    struct entry entry = {.partition = entry_empty_row, .external_path = SLICE("file:///else/where/data-1.parquet")};
    struct path path;
    MUST(entry_path(&table, &entry, SLICE("data-1.parquet"), &path, &err));
    assert_string_equal(path.text, "/else/where/data-1.parquet");
    entry.external_path = SLICE("s3://bucket/data-1.parquet");
    MUST_FAIL(ERR_NOT_SUPPORTED, entry_path(&table, &entry, SLICE("data-1.parquet"), &path, &err));
    entry.external_path = (struct slice){0};
    MUST(entry_path(&table, &entry, SLICE("data-1.parquet"), &path, &err));
    assert_string_equal(path.text, "T/bucket-0/data-1.parquet");
}

TESTS("paimon.place", TEST(paths_of_partitions_are_javas), TEST(external_paths_replace_the_computed_one))
