#include "lib/golden_value.h"

static struct arena arena;
static struct buf out;

static void schema_of(const char *sql, struct schema *schema)
{
    json_t *types = json_pack("[s]", sql);
    golden_schema(&arena, types, schema);
    json_decref(types);
}

/* Every golden value printed as JSON reads back equal. */
static void golden_line(void *arg, struct slice line)
{
    int *seen = arg;
    struct err err = {0};
    json_t *root = golden_parse(line);
    struct schema schema;
    golden_schema(&arena, json_object_get(root, "types"), &schema);
    struct datum *row = golden_row(&arena, &schema, json_object_get(root, "values"));
    struct datum *got = ARENA_NEW_ARRAY(&arena, struct datum, schema.column_count);
    buf_reset(&out);
    row_to_json(&schema, row, &out);
    /* Other readers must take it for JSON too. */
    json_t *parsed = json_loadb((const char *)out.ptr, out.len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
    assert_non_null(parsed);
    json_decref(parsed);
    MUST(row_from_json(&arena, &schema, buf_view(&out), got, &err));
    for (uint32_t i = 0; i < schema.column_count; i++)
        if (!datum_equal(schema.columns[i].type, &row[i], &got[i]))
            fail_msg("%s, column %u", buf_cstr(&out), i);
    (*seen)++;
    json_decref(root);
    arena_reset(&arena);
}

static void golden_values_read_back_from_json(void **state)
{
    (void)state;
    int seen = 0;
    test_each_line("rows", golden_line, &seen);
    assert_int_equal(seen, 560);
    arena_deinit(&arena);
    buf_deinit(&out);
}

static void values_look_as_people_expect(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        const char *in;
        const char *out; /* NULL: as in */
    } cases[] = {
        {"BOOLEAN", "true", NULL},
        {"BOOLEAN", "\"false\"", "false"},
        {"TINYINT", "-128", NULL},
        {"BIGINT", "\"-9223372036854775808\"", "-9223372036854775808"},
        {"FLOAT", "0.1", NULL},
        {"DOUBLE", "1e400", ""},
        {"DOUBLE", "1", "1.0"},
        {"DOUBLE", "\"-Infinity\"", NULL},
        {"DOUBLE", "\"NaN\"", NULL},
        {"STRING", "\"a\\u00e9\\ud83d\\ude00\\n\\/\"", "\"a\xc3\xa9\xf0\x9f\x98\x80\\n/\""},
        {"CHAR(3)", "\"\"", NULL},
        {"CHAR(3)", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"", NULL}, /* three characters of nine bytes */
        {"CHAR(3)", "\"abcd\"", ""},
        {"MAP<CHAR(1), INT>", "{\"ab\":1}", ""},
        {"BYTES", "\"00FFa0\"", "\"00ffa0\""},
        {"BYTES", "\"0\"", ""},
        {"BYTES", "\"zz\"", ""},
        {"BINARY(2)", "\"0001\"", NULL},
        {"BINARY(2)", "\"00\"", ""},
        {"DECIMAL(38, 10)", "9999999999999999999999999999.9999999999", NULL},
        {"DECIMAL(38, 10)", "\"-0.0000000001\"", "-0.0000000001"},
        {"DECIMAL(5, 2)", "1e2", "100.00"},
        {"DECIMAL(5, 2)", "0.001", ""},
        {"DECIMAL(5, 2)", "1000", ""},
        {"DATE", "\"2024-02-29\"", NULL},
        {"DATE", "\"2023-02-29\"", ""},
        {"DATE", "\"+5881580-07-12\"", ""},
        {"TIME(3)", "\"12:34:56.789\"", NULL},
        {"TIME(0)", "\"12:34\"", "\"12:34:00\""},
        {"TIME(0)", "\"12:34:56.000\"", "\"12:34:56\""},
        {"TIME(0)", "\"12:34:56.5\"", ""},
        {"TIME(1)", "\"12:34:56.78\"", ""},
        {"TIME(9)", "\"12:34:56.7891\"", ""},
        {"TIMESTAMP(9)", "\"1969-12-31 23:59:59.999999999\"", NULL},
        {"TIMESTAMP(3)", "\"2024-01-02T03:04:05.5\"", "\"2024-01-02 03:04:05.500\""},
        {"TIMESTAMP(3)", "\"2024-01-02 03:04:05.0005\"", ""},
        {"TIMESTAMP(3)", "\"2024-01-02 03:04:05Z\"", ""},
        {"TIMESTAMP(3)", "\"+999999999-01-02 03:04:05\"", ""},
        {"TIMESTAMP(6) WITH LOCAL TIME ZONE", "\"2024-01-02 03:04:05Z\"", NULL},
        {"TIMESTAMP(6) WITH LOCAL TIME ZONE", "\"-0001-01-02 03:04:05\"", "\"-0001-01-02 03:04:05Z\""},
        {"ARRAY<INT>", "[1,null,-3]", NULL},
        {"ARRAY<INT>", "[]", NULL},
        {"ARRAY<INT>", "[1,]", ""},
        {"ARRAY<INT>", "[1 2]", ""},
        {"MAP<STRING, INT>", "{\"a\":1,\"b\":null}", NULL},
        {"MAP<STRING, INT>", "[[\"a\",1]]", "{\"a\":1}"},
        {"MAP<INT, STRING>", "[[1,\"a\"],[2,null]]", NULL},
        {"MAP<INT, STRING>", "[[null,\"a\"]]", ""},
        {"MAP<INT, STRING>", "{\"1\":\"a\"}", ""},
        {"ROW<a INT, b ROW<c STRING>>", "{\"b\":{\"c\":\"x\"}}", "{\"a\":null,\"b\":{\"c\":\"x\"}}"},
        {"ROW<a INT>", "{\"z\":1}", ""},
        {"INT", "null", NULL},
        {"INT", "2147483648", ""},
        {"INT", "1.5", ""},
        {"INT", "01", ""},
        {"INT", "true", ""},
        {"STRING", "5", ""},
        {"STRING", "\"\\ud83d\"", ""},
        {"STRING", "\"\xff\"", ""},
        {"STRING", "\"a\tb\"", ""},
        {"STRING", "\"\\x\"", ""},
    };
    struct err err = {0};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct schema schema;
        struct datum got;
        schema_of(cases[i].sql, &schema);
        struct slice row = arena_printf(&arena, " { \"f0\" : %s } ", cases[i].in);
        if (cases[i].out && !*cases[i].out) {
            if (row_from_json(&arena, &schema, row, &got, &err) != ERR_INVALID_ARGUMENT || !strstr(err.text, "\"f0\""))
                fail_msg("%s was taken for %s: %s", cases[i].in, cases[i].sql, err.text);
            continue;
        }
        MUST(row_from_json(&arena, &schema, row, &got, &err));
        buf_reset(&out);
        datum_to_json(schema.columns[0].type, &got, &out);
        assert_string_equal(buf_cstr(&out), cases[i].out ? cases[i].out : cases[i].in);
    }
    arena_deinit(&arena);
    buf_deinit(&out);
}

static void rows_with_wrong_columns_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *says;
    } cases[] = {
        {"", "not a JSON object"},          {"[]", "not a JSON object"},      {"{\"f0\":1", "comma"},
        {"{\"f0\":1} x", "behind the row"}, {"{\"f0\":1,\"f0\":2}", "twice"}, {"{\"fO\":1}", "did you mean \"f0\"?"},
        {"{f0:1}", "a string is expected"},
    };
    struct err err = {0};
    struct schema schema;
    struct datum got;
    schema_of("INT", &schema);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        MUST_FAIL(ERR_INVALID_ARGUMENT, row_from_json(&arena, &schema, slice_str(cases[i].json), &got, &err));
        if (!strstr(err.text, cases[i].says))
            fail_msg("%s: %s", cases[i].json, err.text);
    }
    MUST(row_from_json(&arena, &schema, SLICE("{}"), &got, &err));
    assert_true(got.is_null);
    arena_deinit(&arena);
}

TESTS("format.value.json", TEST(golden_values_read_back_from_json), TEST(values_look_as_people_expect),
      TEST(rows_with_wrong_columns_are_refused_by_name))
