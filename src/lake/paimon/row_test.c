#include "lake/paimon/row_int.h"
#include "lib/golden_value.h"

static struct arena arena;
static struct buf bytes;

static void row_line(json_t *root)
{
    struct err err = {0};
    struct schema schema;
    golden_schema(&arena, json_object_get(root, "types"), &schema);
    const struct type *row = row_type(&arena, &schema);
    struct datum *values = golden_row(&arena, &schema, json_object_get(root, "values"));
    struct datum *got = ARENA_NEW_ARRAY(&arena, struct datum, schema.column_count);
    struct slice golden = golden_hex(&arena, root, "serialized_hex");
    buf_reset(&bytes);
    MUST(paimon_row_encode(row, values, &bytes, &err));
    assert_slice_equal(buf_view(&bytes), golden);
    MUST(paimon_row_decode(row, golden, &arena, got, &err));
    golden_assert_row(&schema, got, json_object_get(root, "values"));
    for (size_t len = 0; len < 12; len++)
        MUST_FAIL(ERR_CORRUPT, paimon_row_decode(row, slice_of(golden.ptr, len), &arena, got, NULL));
    bytes.ptr[3]++;
    MUST_FAIL(ERR_CORRUPT, paimon_row_decode(row, buf_view(&bytes), &arena, got, NULL));
}

static void partition_line(json_t *root)
{
    struct schema schema;
    golden_schema(&arena, json_object_get(root, "types"), &schema);
    struct datum *values = golden_row(&arena, &schema, json_object_get(root, "values"));
    buf_reset(&bytes);
    paimon_partition_path(row_type(&arena, &schema), values, &bytes);
    assert_string_equal(buf_cstr(&bytes), golden_text(root, "plain_path"));
}

static void bounds_part(json_t *root, const char *values, const char *hex)
{
    struct err err = {0};
    struct schema schema;
    json_t *none = json_array(), *given = json_object_get(root, values);
    golden_schema(&arena, json_object_get(root, "types"), &schema);
    struct datum *row = golden_row(&arena, &schema, given ? given : none);
    buf_reset(&bytes);
    MUST(paimon_row_encode(row_type(&arena, &schema), row, &bytes, &err));
    assert_slice_equal(buf_view(&bytes), golden_hex(&arena, root, hex));
    json_decref(none);
}

static void stats_line(json_t *root)
{
    bounds_part(root, "min", "min_values_hex");
    bounds_part(root, "max", "max_values_hex");
}

static void golden_line(void *arg, struct slice line)
{
    int *seen = arg;
    json_t *root = golden_parse(line);
    const char *id = golden_text(root, "id");
    if (strncmp(id, "binary_row/", 11) == 0)
        row_line(root), seen[0]++;
    if (strncmp(id, "partition/", 10) == 0)
        partition_line(root), seen[1]++;
    if (strncmp(id, "stats/", 6) == 0)
        stats_line(root), seen[2]++;
    json_decref(root);
    arena_reset(&arena);
}

static void golden_rows_partitions_and_statistics_agree(void **state)
{
    (void)state;
    int seen[3] = {0};
    test_each_line("paimon_rows", golden_line, seen);
    assert_int_equal(seen[0], 147);
    assert_int_equal(seen[1], 133);
    assert_int_equal(seen[2], 4);
    arena_deinit(&arena);
    buf_deinit(&bytes);
}

static void names_and_texts_of_partitions_are_escaped(void **state)
{
    (void)state;
    struct field field = {.name = SLICE("a b/c"), .type = type_simple(TYPE_STRING)};
    struct type row = {.kind = TYPE_ROW, .fields = &field, .field_count = 1};
    static const struct {
        const char *text;
        const char *path;
    } cases[] = {
        {"plain", "a b%2Fc=plain/"},
        {" \t", "a b%2Fc=__DEFAULT_PARTITION__/"},
        {"\x01\x7f\"#%'*/:=?\\{}[]^~", "a b%2Fc=%01%7F%22%23%25%27%2A%2F%3A%3D%3F%5C%7B%7D%5B%5D%5E~/"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct datum value = {.bytes = slice_str(cases[i].text)};
        paimon_partition_path(&row, &value, &bytes);
        assert_string_equal(buf_cstr(&bytes), cases[i].path);
        buf_reset(&bytes);
    }
    buf_deinit(&bytes);
}

TESTS("paimon.row", TEST(golden_rows_partitions_and_statistics_agree), TEST(names_and_texts_of_partitions_are_escaped))
