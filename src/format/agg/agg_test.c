#include "format/agg/agg.h"
#include "lib/golden_value.h"

static struct arena arena;
static struct buf out;
static struct err err;

static struct schema_column column_of(const char *function, const char *type)
{
    struct schema_column column = {.name = SLICE("v"), .type = golden_type(&arena, type), .id = 0};
    if (function)
        column.agg_function = slice_str(function);
    return column;
}

static struct datum datum_of(struct schema_column *column, const char *json)
{
    struct schema schema = {.columns = column, .column_count = 1, .auto_increment = -1};
    struct datum value;
    MUST(row_from_json(&arena, &schema, arena_printf(&arena, "{\"v\":%s}", json), &value, &err));
    return value;
}

/* ---- what each function makes of two values ---- */

struct row {
    const char *function, *type, *old, *new, *want;
};

#define D38 "\"99999999999999999999999999999999999999\""

static const struct row rows[] = {
    {"sum", "TINYINT", "100", "27", "127"},
    {"sum", "TINYINT", "100", "28", "-128"},
    {"sum", "SMALLINT", "-32768", "-1", "32767"},
    {"sum", "INT", "2147483647", "1", "-2147483648"},
    {"sum", "BIGINT", "9223372036854775807", "1", "-9223372036854775808"},
    {"sum", "INT", "null", "5", "5"},
    {"sum", "INT", "5", "null", "5"},
    {"sum", "INT", "null", "null", "null"},
    {"sum", "FLOAT", "16777216", "1", "16777216.0"},
    {"sum", "FLOAT", "1.5", "2.25", "3.75"},
    {"sum", "DOUBLE", "0.1", "0.2", "0.30000000000000004"},
    {"sum", "DOUBLE", "1e308", "1e308", "\"Infinity\""},
    {"sum", "DECIMAL(5, 2)", "999.98", "0.01", "999.99"},
    {"sum", "DECIMAL(5, 2)", "999.99", "0.01", "null"},
    {"sum", "DECIMAL(5, 2)", "-999.99", "-0.01", "null"},
    {"sum", "DECIMAL(18, 0)", "999999999999999999", "1", "null"},
    {"sum", "DECIMAL(38, 0)", D38, "1", "null"},
    {"sum", "DECIMAL(38, 0)", D38, D38, "null"},
    {"sum", "DECIMAL(38, 0)", D38, "-1", "99999999999999999999999999999999999998"},
    {"product", "TINYINT", "16", "16", "0"},
    {"product", "TINYINT", "-128", "-1", "-128"},
    {"product", "SMALLINT", "300", "300", "24464"},
    {"product", "INT", "65536", "65536", "0"},
    {"product", "BIGINT", "-9223372036854775808", "-1", "-9223372036854775808"},
    {"product", "BIGINT", "3000000000", "3", "9000000000"},
    {"product", "FLOAT", "1.5", "-2", "-3.0"},
    {"product", "DOUBLE", "1.5", "2", "3.0"},
    {"product", "DOUBLE", "null", "2", "2.0"},
    {"product", "DECIMAL(5, 2)", "1.50", "2.50", "3.75"},
    {"product", "DECIMAL(5, 2)", "0.05", "0.10", "0.01"},   /* half away from zero */
    {"product", "DECIMAL(5, 2)", "-0.05", "0.10", "-0.01"}, /* likewise */
    {"product", "DECIMAL(5, 2)", "0.05", "0.09", "0.00"},
    {"product", "DECIMAL(5, 2)", "100.00", "10.00", "null"},
    {"product", "DECIMAL(5, 2)", "99.99", "10.00", "999.90"},
    {"product", "DECIMAL(38, 0)", D38, D38, "null"},
    {"product", "DECIMAL(38, 0)", D38, "-1", "-99999999999999999999999999999999999999"},
    {"product", "DECIMAL(38, 37)", "1.0000000000000000000000000000000000001", "1.0000000000000000000000000000000000001",
     "1.0000000000000000000000000000000000002"},
    {"product", "DECIMAL(38, 38)", "0.00000000000000000000000000000000000005", "0.1",
     "0.00000000000000000000000000000000000001"},
    {"product", "DECIMAL(38, 38)", "0.99999999999999999999999999999999999999",
     "0.99999999999999999999999999999999999999", "0.99999999999999999999999999999999999998"},
    {"max", "INT", "1", "2", "2"},
    {"max", "INT", "2", "-3", "2"},
    {"max", "INT", "null", "-3", "-3"},
    {"max", "DOUBLE", "-0.0", "0.0", "0.0"},
    {"max", "DOUBLE", "\"NaN\"", "\"Infinity\"", "\"NaN\""},
    {"max", "FLOAT", "1", "\"NaN\"", "\"NaN\""},
    {"max", "STRING", "\"b\"", "\"abc\"", "\"b\""},
    {"max", "STRING", "\"z\"", "\"\xc3\xa9\"", "\"\xc3\xa9\""},
    {"max", "CHAR(2)", "\"a\"", "\"b\"", "\"b\""},
    {"max", "DECIMAL(38, 2)", "1.00", "-2.00", "1.00"},
    {"max", "DATE", "\"2024-02-29\"", "\"1969-12-31\"", "\"2024-02-29\""},
    {"max", "TIME(3)", "\"12:34:56.789\"", "\"12:34:57\"", "\"12:34:57\""},
    {"max", "TIMESTAMP(9)", "\"2024-02-29 12:00:00.000000001\"", "\"2024-02-29 12:00:00\"",
     "\"2024-02-29 12:00:00.000000001\""},
    {"max", "TIMESTAMP_LTZ(3)", "\"1969-12-31 23:59:59Z\"", "\"1970-01-01 00:00:00Z\"", "\"1970-01-01 00:00:00Z\""},
    {"min", "INT", "1", "2", "1"},
    {"min", "INT", "null", "2", "2"},
    {"min", "DOUBLE", "0.0", "-0.0", "-0.0"},
    {"min", "DOUBLE", "\"NaN\"", "1", "1.0"},
    {"min", "STRING", "\"b\"", "\"\"", "\"\""},
    {"min", "TIMESTAMP(6)", "\"1900-01-01 00:00:00\"", "\"2024-02-29 12:00:00\"", "\"1900-01-01 00:00:00\""},
    {"last_value", "INT", "1", "2", "2"},
    {"last_value", "INT", "1", "null", "null"},
    {"last_value", "ARRAY<INT>", "[1]", "[2,null]", "[2,null]"},
    {"last_value_ignore_nulls", "INT", "1", "2", "2"},
    {"last_value_ignore_nulls", "INT", "1", "null", "1"},
    {NULL, "STRING", "\"a\"", "null", "\"a\""},
    {NULL, "STRING", "\"a\"", "\"b\"", "\"b\""},
    {"first_value", "INT", "1", "2", "1"},
    {"first_value", "INT", "null", "2", "2"}, /* as stock has it: a first null does not stay */
    {"first_value_ignore_nulls", "INT", "1", "2", "1"},
    {"first_value_ignore_nulls", "INT", "null", "2", "2"},
    {"first_value", "MAP<STRING, INT>", "{\"a\":1}", "{\"b\":2}", "{\"a\":1}"},
    {"listagg", "STRING", "\"a\"", "\"b\"", "\"a,b\""},
    {"listagg", "STRING", "\"\"", "\"\"", "\",\""},
    {"string_agg", "STRING", "\"a,b\"", "\"c\"", "\"a,b,c\""},
    {"string_agg", "STRING", "null", "\"c\"", "\"c\""},
    {"bool_and", "BOOLEAN", "true", "false", "false"},
    {"bool_and", "BOOLEAN", "true", "true", "true"},
    {"bool_and", "BOOLEAN", "null", "true", "true"},
    {"bool_or", "BOOLEAN", "false", "false", "false"},
    {"bool_or", "BOOLEAN", "false", "true", "true"},
    {"bool_or", "BOOLEAN", "true", "null", "true"},
    {"rbm64", "BYTES", "\"00\"", "\"00\"", "\"00\""},
    {"rbm32", "BYTES", "\"3a30000000000000\"", "null", "\"3a30000000000000\""},
};

static void functions_make_one_value_of_two(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        struct schema_column column = column_of(row->function, row->type);
        struct agg agg;
        struct datum old = datum_of(&column, row->old), new = datum_of(&column, row->new), got;
        MUST(agg_check(&column, &err));
        agg_init(&agg, &column, false);
        MUST(agg_fold(&agg, &old, &new, &arena, &got, &err));
        buf_reset(&out);
        datum_to_json(column.type, &got, &out);
        if (!slice_is(buf_view(&out), row->want))
            fail_msg("%s of %s: %s and %s give %s, not %s", row->function ? row->function : "no function", row->type,
                     row->old, row->new, buf_cstr(&out), row->want);
        arena_reset(&arena);
    }
    arena_deinit(&arena);
    buf_deinit(&out);
}

static void columns_of_the_key_keep_their_last_value(void **state)
{
    (void)state;
    struct schema_column column = column_of("sum", "INT");
    struct datum old = {.i64 = 1}, new = {.i64 = 1}, got;
    struct agg agg;
    agg_init(&agg, &column, true);
    MUST(agg_fold(&agg, &old, &new, &arena, &got, &err));
    assert_int_equal(got.i64, 1);
    arena_deinit(&arena);
}

/* ---- what CREATE TABLE refuses ---- */

static const char *const every_type[] = {"BOOLEAN",       "TINYINT",        "SMALLINT",      "INT",       "BIGINT",
                                         "FLOAT",         "DOUBLE",         "CHAR(3)",       "STRING",    "BINARY(3)",
                                         "BYTES",         "DECIMAL(10, 2)", "DATE",          "TIME",      "TIMESTAMP",
                                         "TIMESTAMP_LTZ", "ARRAY<INT>",     "MAP<INT, INT>", "ROW<a INT>"};
static const struct {
    const char *functions, *types;
} takes[] = {
    {"sum product", "TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL(10, 2)"},
    {"max min",
     "TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL(10, 2) CHAR(3) STRING DATE TIME TIMESTAMP TIMESTAMP_LTZ"},
    {"listagg string_agg", "STRING"},
    {"bool_and bool_or", "BOOLEAN"},
    {"rbm32 rbm64", "BYTES"},
};

static bool named(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || at[len] == 0))
            return true;
    return false;
}

static void functions_take_their_types_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(takes); i++) {
        char functions[64];
        snprintf(functions, sizeof functions, "%s", takes[i].functions);
        for (char *rest = NULL, *f = strtok_r(functions, " ", &rest); f; f = strtok_r(NULL, " ", &rest))
            for (size_t t = 0; t < ARRAY_LEN(every_type); t++) {
                struct schema_column column = column_of(f, every_type[t]);
                enum err_code want = named(takes[i].types, every_type[t]) ? OK : ERR_INVALID_CONFIG_EXCEPTION;
                if (agg_check(&column, &err) != want)
                    fail_msg("%s of %s: %s", f, every_type[t], want == OK ? err.text : "was taken");
            }
    }
    for (size_t t = 0; t < ARRAY_LEN(every_type); t++) {
        struct schema_column column = column_of("last_value", every_type[t]);
        MUST(agg_check(&column, &err));
    }
    arena_deinit(&arena);
}

static void only_lists_have_a_delimiter(void **state)
{
    (void)state;
    struct datum old = {.bytes = SLICE("a")}, new = {.bytes = SLICE("b")}, got;
    struct agg agg;
    struct schema_column column = column_of("string_agg", "STRING");
    properties_set(&arena, &column.agg_parameters, SLICE("delimiter"), SLICE("; "));
    MUST(agg_check(&column, &err));
    agg_init(&agg, &column, false);
    MUST(agg_fold(&agg, &old, &new, &arena, &got, &err));
    assert_slice_equal(got.bytes, SLICE("a; b"));
    properties_set(&arena, &column.agg_parameters, SLICE("delimiter"), SLICE(""));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, agg_check(&column, &err));
    properties_set(&arena, &column.agg_parameters, SLICE("delimiter"), SLICE(","));
    properties_set(&arena, &column.agg_parameters, SLICE("limit"), SLICE("3"));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, agg_check(&column, &err));
    column = column_of("max", "STRING");
    properties_set(&arena, &column.agg_parameters, SLICE("delimiter"), SLICE(","));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, agg_check(&column, &err));
    arena_deinit(&arena);
}

static void texts_end_at_a_limit(void **state)
{
    (void)state;
    struct schema_column column = column_of("listagg", "STRING");
    struct agg agg;
    struct datum got, half = {.bytes = {arena_zalloc(&arena, AGG_TEXT_BYTES_MAX / 2), AGG_TEXT_BYTES_MAX / 2}};
    struct datum rest = {.bytes = slice_of(half.bytes.ptr, AGG_TEXT_BYTES_MAX / 2 - 1)};
    agg_init(&agg, &column, false);
    MUST(agg_fold(&agg, &half, &rest, &arena, &got, &err));
    assert_int_equal(got.bytes.len, AGG_TEXT_BYTES_MAX);
    MUST_FAIL(ERR_RECORD_TOO_LARGE_EXCEPTION, agg_fold(&agg, &half, &half, &arena, &got, &err));
    arena_deinit(&arena);
}

TESTS("format.agg", TEST(functions_make_one_value_of_two), TEST(columns_of_the_key_keep_their_last_value),
      TEST(functions_take_their_types_only), TEST(only_lists_have_a_delimiter), TEST(texts_end_at_a_limit))
