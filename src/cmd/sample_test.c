/* Rows to try a new table with. */
#include "cmd/cmd_int.h"
#include "lib/test.h"

static void assert_sample(const char *json, const char *want)
{
    struct arena arena = {0};
    struct schema schema;
    struct err err;
    struct buf row = {0};
    struct datum *values;
    MUST(schema_from_json(&arena, slice_str(json), &schema, &err));
    bool made = cmd_sample_row(&schema, &row);
    assert_int_equal(made, want != NULL);
    if (made) {
        assert_slice_equal(buf_view(&row), slice_str(want));
        values = ARENA_NEW_ARRAY(&arena, struct datum, schema.column_count);
        MUST(row_from_json(&arena, &schema, buf_view(&row), values, &err)); /* weir put takes it */
    }
    buf_deinit(&row);
    arena_deinit(&arena);
}

#define COLUMN(name, type) "{\"name\":\"" name "\",\"data_type\":{\"type\":\"" type "\"}}"
#define NEEDED(name, type) "{\"name\":\"" name "\",\"data_type\":{\"type\":\"" type "\",\"nullable\":false}}"
#define SCHEMA(columns) "{\"version\":1,\"columns\":[" columns "]}"

static void a_sample_has_what_a_row_must_have(void **state)
{
    (void)state;
    assert_sample(SCHEMA(NEEDED("id", "INTEGER") "," COLUMN("name", "STRING")), "{\"id\": 1, \"name\": \"a\"}");
    assert_sample(SCHEMA(COLUMN("a", "BOOLEAN") "," COLUMN("b", "DOUBLE") "," COLUMN("c", "DATE") "," COLUMN(
                      "d", "STRING") "," NEEDED("e", "BIGINT")),
                  "{\"a\": true, \"b\": 1, \"c\": \"2026-01-31\", \"e\": 1}");
    assert_sample(SCHEMA(COLUMN("raw", "BYTES") "," COLUMN("n", "INTEGER")), "{\"n\": 1}");
}

static void what_has_no_sample_gets_none(void **state)
{
    (void)state;
    assert_sample(SCHEMA(NEEDED("raw", "BYTES")), NULL);
    assert_sample(SCHEMA(NEEDED("it's", "INTEGER")), NULL);
    assert_sample(SCHEMA(COLUMN("raw", "BYTES")), NULL);
}

TESTS("cmd.sample", TEST(a_sample_has_what_a_row_must_have), TEST(what_has_no_sample_gets_none))
