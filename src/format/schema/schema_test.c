#include "format/schema/schema.h"
#include "lib/test.h"

#include <jansson.h>

static struct arena arena;

static const char *member(json_t *line, const char *name)
{
    const char *text = json_string_value(json_object_get(line, name));
    assert_non_null(text);
    return text;
}

/* Golden texts of one kind: read and written again they are the same, property maps aside in their order. */
static void round_trip(const char *kind, const char *text, struct buf *out)
{
    struct err err = {0};
    struct slice json = slice_str(text);
    if (strcmp(kind, "schema") == 0) {
        struct schema schema;
        MUST(schema_from_json(&arena, json, &schema, &err));
        schema_to_json(&schema, out);
    } else if (strcmp(kind, "table_descriptor") == 0) {
        struct table_descriptor table, copy;
        MUST(table_descriptor_from_json(&arena, json, &table, &err));
        MUST(table_descriptor_normalize(&arena, &table, &err));
        table_descriptor_dup(&arena, &table, &copy);
        table_descriptor_to_json(&copy, out);
    } else {
        struct database_descriptor database;
        MUST(database_descriptor_from_json(&arena, json, &database, &err));
        database_descriptor_to_json(&database, out);
    }
}

static void golden_line(void *arg, struct slice line)
{
    int *seen = arg;
    json_t *root = json_loadb((const char *)line.ptr, line.len, JSON_ALLOW_NUL, NULL);
    const char *kind = json_string_value(json_object_get(root, "kind"));
    if (kind && (strcmp(kind, "schema") == 0 || strcmp(kind, "table_descriptor") == 0 ||
                 strcmp(kind, "database_descriptor") == 0)) {
        struct buf out = {0};
        const char *text = member(root, "text");
        round_trip(kind, text, &out);
        assert_slice_equal(buf_view(&out), slice_str(text));
        buf_deinit(&out);
        (*seen)++;
    }
    json_decref(root);
}

static void golden_descriptors_are_written_as_they_were_read(void **state)
{
    (void)state;
    int seen = 0;
    test_each_line("schemas", golden_line, &seen);
    assert_int_equal(seen, 26);
    arena_deinit(&arena);
}

static void check_type(json_t *sql, json_t *json)
{
    struct err err = {0};
    struct buf out = {0};
    const struct type *from_json, *from_sql;
    char *text = json_dumps(json, JSON_COMPACT);
    MUST(type_from_json(&arena, slice_str(text), &from_json, &err));
    type_to_json(from_json, &out);
    json_t *again = json_loadb((const char *)out.ptr, out.len, 0, NULL);
    assert_true(json_equal(again, json));
    json_decref(again);
    free(text);
    buf_reset(&out);
    type_to_sql(from_json, &out);
    assert_slice_equal(buf_view(&out), slice_str(json_string_value(sql)));
    MUST(type_from_sql(&arena, buf_view(&out), &from_sql, &err));
    assert_true(type_equal(from_json, from_sql, true));
    buf_deinit(&out);
}

static void types_line(void *arg, struct slice line)
{
    int *seen = arg;
    json_t *root = json_loadb((const char *)line.ptr, line.len, JSON_ALLOW_NUL, NULL);
    json_t *types = json_object_get(root, "types"), *types_json = json_object_get(root, "types_json");
    for (size_t i = 0; i < json_array_size(types) && types_json; i++) {
        check_type(json_array_get(types, i), json_array_get(types_json, i));
        (*seen)++;
    }
    json_decref(root);
}

static void golden_types_agree_in_json_and_sql(void **state)
{
    (void)state;
    int seen = 0;
    test_each_line("rows", types_line, &seen);
    test_each_line("keys", types_line, &seen);
    assert_true(seen > 1000);
    arena_deinit(&arena);
}

/* ---- what is refused ---- */

#define COLUMNS "{\"version\":1,\"columns\":["
#define INT_COLUMN(name, id) "{\"name\":\"" name "\",\"data_type\":{\"type\":\"INTEGER\"},\"id\":" id "}"

static void schemas_that_break_a_rule_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *says;
    } cases[] = {
        {"", "not JSON"},
        {"[]", "not an object"},
        {"{\"version\":1}", "\"columns\" is missing"},
        {"{\"version\":2,\"columns\":[]}", "version 2"},
        {COLUMNS INT_COLUMN("a", "0") "," INT_COLUMN("a", "1") "]}", "\"a\" twice"},
        {COLUMNS INT_COLUMN("a", "0") "," INT_COLUMN("b", "0") "]}", "the id 0"},
        {COLUMNS INT_COLUMN("a", "0") "," INT_COLUMN("b", "-1") "]}", "some have none"},
        {COLUMNS INT_COLUMN("a", "-2") "]}", "negative"},
        {COLUMNS INT_COLUMN("a", "5") "],\"highest_field_id\":4}", "above"},
        {COLUMNS INT_COLUMN("__offset", "0") "]}", "reserved"},
        {COLUMNS INT_COLUMN("_change_type", "0") "]}", "reserved"},
        {COLUMNS INT_COLUMN("", "0") "]}", "no name"},
        {COLUMNS INT_COLUMN("a", "99999999999") "]}", "32 bits"},
        {COLUMNS INT_COLUMN("a", "0") "],\"primary_key\":[\"b\"]}", "does not have"},
        {COLUMNS INT_COLUMN("a", "0") "],\"primary_key\":[\"a\",\"a\"]}", "twice"},
        {COLUMNS INT_COLUMN("a", "0") "],\"auto_increment_column\":[\"a\"]}", "only primary-key"},
        {COLUMNS INT_COLUMN("a", "0") "],\"primary_key\":[\"a\"],\"auto_increment_column\":[\"a\"]}", "part of the"},
        {COLUMNS "{\"name\":\"a\",\"data_type\":{\"type\":\"ARRAY\",\"element_type\":{\"type\":\"DATE\"}}}],"
                 "\"primary_key\":[\"a\"]}",
         "nested type"},
        {COLUMNS "{\"name\":\"a\",\"data_type\":{\"type\":\"INT\"}}]}", "no type \"INT\""},
        {COLUMNS "{\"name\":\"a\",\"data_type\":{\"type\":\"CHAR\"}}]}", "\"length\" is missing"},
        {COLUMNS "{\"name\":\"a\",\"data_type\":{\"type\":\"CHAR\",\"length\":0}}]}", "the length"},
        {COLUMNS "{\"name\":\"a\",\"data_type\":{\"type\":\"CHAR\",\"length\":16777217}}]}", "16777216"},
        {COLUMNS "{\"name\":\"a\",\"data_type\":{\"type\":\"DECIMAL\",\"precision\":39,\"scale\":0}}]}", "1 to 38"},
        {COLUMNS "{\"name\":\"a\",\"data_type\":{\"type\":\"DECIMAL\",\"precision\":5,\"scale\":6}}]}", "scale"},
        {COLUMNS "{\"name\":\"a\",\"data_type\":{\"type\":\"TIME_WITHOUT_TIME_ZONE\",\"precision\":10}}]}", "0 to 9"},
        {COLUMNS "{\"name\":\"a\",\"data_type\":{\"type\":\"BYTES\",\"nullable\":1}}]}", "boolean"},
        {COLUMNS "{\"name\":\"a\",\"data_type\":{\"type\":\"BYTES\"},\"agg_function\":{\"type\":\"avg\"}}]}", "avg"},
    };
    struct err err = {0};
    struct schema schema;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        MUST_FAIL(ERR_INVALID_TABLE_EXCEPTION, schema_from_json(&arena, slice_str(cases[i].json), &schema, &err));
        if (!strstr(err.text, cases[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].json, err.text, cases[i].says);
    }
    arena_deinit(&arena);
}

static void missing_ids_are_given_by_position(void **state)
{
    (void)state;
    struct err err = {0};
    struct schema schema;
    MUST(schema_from_json(&arena,
                          SLICE("{\"version\":1,\"columns\":[{\"name\":\"a\",\"data_type\":{\"type\":\"DATE\"}},"
                                "{\"name\":\"b\",\"data_type\":{\"type\":\"DATE\"},\"comment\":null}],"
                                "\"primary_key\":[\"b\"]}"),
                          &schema, &err));
    assert_int_equal(schema.columns[1].id, 1);
    assert_int_equal(schema.highest_field_id, 1);
    assert_true(schema.columns[0].type->nullable);
    assert_false(schema.columns[1].type->nullable);
    assert_int_equal(schema_find(&schema, SLICE("b")), 1);
    assert_int_equal(schema_find(&schema, SLICE("c")), -1);
    assert_int_equal(schema_find_id(&schema, 1), 1);
    arena_deinit(&arena);
}

static void types_nested_beyond_the_limit_are_refused(void **state)
{
    (void)state;
    struct err err = {0};
    const struct type *type;
    for (int depth = SCHEMA_DEPTH_MAX - 1; depth <= SCHEMA_DEPTH_MAX; depth++) {
        struct buf json = {0}, sql = {0};
        for (int i = 0; i < depth; i++) {
            buf_printf(&json, "{\"type\":\"ARRAY\",\"element_type\":");
            buf_printf(&sql, "ARRAY<");
        }
        buf_printf(&json, "{\"type\":\"DATE\"}");
        buf_printf(&sql, "DATE");
        for (int i = 0; i < depth; i++) {
            buf_printf(&json, "}");
            buf_printf(&sql, ">");
        }
        if (depth < SCHEMA_DEPTH_MAX) {
            MUST(type_from_json(&arena, buf_view(&json), &type, &err));
            MUST(type_from_sql(&arena, buf_view(&sql), &type, &err));
        } else {
            MUST_FAIL(ERR_INVALID_TABLE_EXCEPTION, type_from_json(&arena, buf_view(&json), &type, &err));
            MUST_FAIL(ERR_INVALID_ARGUMENT, type_from_sql(&arena, buf_view(&sql), &type, &err));
        }
        buf_deinit(&json);
        buf_deinit(&sql);
    }
    arena_deinit(&arena);
}

static void too_many_columns_and_too_long_texts_are_refused(void **state)
{
    (void)state;
    struct err err = {0};
    struct schema schema;
    for (int count = SCHEMA_COLUMNS_MAX; count <= SCHEMA_COLUMNS_MAX + 1; count++) {
        struct buf json = {0};
        buf_printf(&json, "{\"version\":1,\"columns\":[");
        for (int i = 0; i < count; i++)
            buf_printf(&json, "%s{\"name\":\"c%d\",\"data_type\":{\"type\":\"DATE\"}}", i ? "," : "", i);
        buf_printf(&json, "]}");
        if (count == SCHEMA_COLUMNS_MAX)
            MUST(schema_from_json(&arena, buf_view(&json), &schema, &err));
        else
            MUST_FAIL(ERR_INVALID_TABLE_EXCEPTION, schema_from_json(&arena, buf_view(&json), &schema, &err));
        buf_put_zeros(&json, SCHEMA_JSON_BYTES_MAX);
        memset(json.ptr + json.len - SCHEMA_JSON_BYTES_MAX, ' ', SCHEMA_JSON_BYTES_MAX);
        MUST_FAIL(ERR_INVALID_TABLE_EXCEPTION, schema_from_json(&arena, buf_view(&json), &schema, &err));
        buf_deinit(&json);
    }
    arena_deinit(&arena);
}

static void sql_spellings_of_flink_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        const char *want; /* NULL: refused */
    } cases[] = {
        {"int", "INT"},
        {" Integer not  null ", "INT NOT NULL"},
        {"bigint null", "BIGINT"},
        {"DOUBLE PRECISION", "DOUBLE"},
        {"VARCHAR(2147483647)", "STRING"},
        {"VARBINARY (2147483647) NOT NULL", "BYTES NOT NULL"},
        {"VARCHAR(10)", NULL},
        {"VARCHAR", NULL},
        {"dec", "DECIMAL(10, 0)"},
        {"NUMERIC(5)", "DECIMAL(5, 0)"},
        {"decimal(38,38)", "DECIMAL(38, 38)"},
        {"decimal(39,0)", NULL},
        {"decimal(5,6)", NULL},
        {"char", "CHAR(1)"},
        {"char(0)", NULL},
        {"time", "TIME(0)"},
        {"time(3) without time zone", "TIME(3)"},
        {"timestamp", "TIMESTAMP(6)"},
        {"timestamp(9) without time zone not null", "TIMESTAMP(9) NOT NULL"},
        {"timestamp(3) with local time zone", "TIMESTAMP(3) WITH LOCAL TIME ZONE"},
        {"TIMESTAMP_LTZ(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE"},
        {"timestamp(10)", NULL},
        {"array<map<string,row<a int,`b c` bytes 'x''y'>>>",
         "ARRAY<MAP<STRING NOT NULL, ROW<`a` INT, `b c` BYTES 'x''y'>>>"},
        {"row(a int)", "ROW<`a` INT>"},
        {"ROW<>", "ROW<>"},
        {"row<a int, a int>", NULL},
        {"array<int", NULL},
        {"map<int>", NULL},
        {"int(5)", NULL},
        {"blob", NULL},
        {"", NULL},
        {"int int", NULL},
        {"row<`a int>", NULL},
    };
    struct err err = {0};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct type *type = NULL;
        struct buf out = {0};
        if (!cases[i].want) {
            MUST_FAIL(ERR_INVALID_ARGUMENT, type_from_sql(&arena, slice_str(cases[i].sql), &type, &err));
            continue;
        }
        MUST(type_from_sql(&arena, slice_str(cases[i].sql), &type, &err));
        type_to_sql(type, &out);
        assert_string_equal(buf_cstr(&out), cases[i].want);
        buf_deinit(&out);
    }
    struct slice list = SLICE("DECIMAL(5, 2) COMMENT 'x'");
    const struct type *type;
    MUST(type_from_sql_prefix(&arena, &list, &type, &err));
    assert_slice_equal(list, SLICE("COMMENT 'x'"));
    arena_deinit(&arena);
}

/* ---- tables ---- */

#define TABLE(pk, partition, bucket)                                                                               \
    "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[" INT_COLUMN("a", "0") "," INT_COLUMN(                  \
        "b", "1") "," INT_COLUMN("c", "2") ",{\"name\":\"d\",\"data_type\":{\"type\":\"DECIMAL\",\"precision\":5," \
                                           "\"scale\":0},\"id\":3}"                                                \
                                           "]" pk "},\"partition_key\":" partition bucket                          \
                                           ",\"properties\":{},\"custom_properties\":{}}"

static void keys_of_tables_are_normalized_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *bucket_keys; /* names; or what the refusal says */
        bool valid;
        bool is_default;
    } cases[] = {
        {TABLE("", "[]", ""), "", true, true},
        {TABLE("", "[]", ",\"bucket_key\":[\"b\"]"), "b", true, false},
        {TABLE(",\"primary_key\":[\"c\",\"a\"]", "[]", ""), "ca", true, true},
        {TABLE(",\"primary_key\":[\"c\",\"a\"]", "[\"a\"]", ",\"bucket_key\":[],\"bucket_count\":3"), "c", true, true},
        {TABLE(",\"primary_key\":[\"c\",\"a\"]", "[]", ",\"bucket_key\":[\"a\"]"), "a", true, false},
        {TABLE(",\"primary_key\":[\"c\",\"a\"]", "[]", ",\"bucket_key\":[\"a\",\"c\"]"), "ac", true, false},
        {TABLE(",\"primary_key\":[\"a\"]", "[\"a\"]", ""), "nothing is left", false, false},
        {TABLE(",\"primary_key\":[\"a\"]", "[\"b\"]", ""), "not part of the primary key", false, false},
        {TABLE(",\"primary_key\":[\"a\"]", "[]", ",\"bucket_key\":[\"b\"]"), "not part of the", false, false},
        {TABLE("", "[\"a\"]", ",\"bucket_key\":[\"a\"]"), "is a partition key", false, false},
        {TABLE("", "[\"d\"]", ""), "type", false, false},
    };
    struct err err = {0};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct table_descriptor table;
        MUST(table_descriptor_from_json(&arena, slice_str(cases[i].json), &table, &err));
        if (!cases[i].valid) {
            MUST_FAIL(ERR_INVALID_TABLE_EXCEPTION, table_descriptor_normalize(&arena, &table, &err));
            assert_non_null(strstr(err.text, cases[i].bucket_keys));
            continue;
        }
        MUST(table_descriptor_normalize(&arena, &table, &err));
        struct buf names = {0};
        for (uint32_t k = 0; k < table.bucket_key_count; k++)
            buf_put_slice(&names, table.schema.columns[table.bucket_keys[k]].name);
        assert_string_equal(buf_cstr(&names), cases[i].bucket_keys);
        assert_int_equal(table_default_bucket_key(&table), cases[i].is_default);
        buf_deinit(&names);
    }
    arena_deinit(&arena);
}

static void table_texts_that_break_a_rule_are_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        TABLE("", "[]", ",\"bucket_count\":3"),
        TABLE("", "[]", ",\"bucket_key\":[],\"bucket_count\":0"),
        TABLE("", "[\"x\"]", ""),
        TABLE("", "[]", ",\"partition_expressions\":[{}]"),
        TABLE("", "[]", ",\"comment\":5"),
        "{\"version\":1,\"partition_key\":[],\"properties\":{},\"custom_properties\":{}}",
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[]},\"partition_key\":[],\"properties\":{}}",
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[]},\"properties\":{},\"custom_properties\":{}}",
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[]},\"partition_key\":[],\"properties\":{\"a\":1},"
        "\"custom_properties\":{}}",
    };
    struct err err = {0};
    struct table_descriptor table;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        MUST_FAIL(ERR_INVALID_TABLE_EXCEPTION, table_descriptor_from_json(&arena, slice_str(cases[i]), &table, &err));
    struct database_descriptor database;
    MUST(database_descriptor_from_json(&arena, SLICE(""), &database, &err));
    assert_null(database.comment.ptr);
    MUST_FAIL(ERR_INVALID_DATABASE_EXCEPTION, database_descriptor_from_json(&arena, SLICE("{}"), &database, &err));
    arena_deinit(&arena);
}

static void properties_are_set_found_and_removed(void **state)
{
    (void)state;
    struct properties props = {0};
    properties_remove(&props, "a");
    properties_set(&arena, &props, SLICE("a"), SLICE("1"));
    properties_set(&arena, &props, SLICE("b"), SLICE("2"));
    properties_set(&arena, &props, SLICE("a"), SLICE("3"));
    assert_int_equal(props.count, 2);
    assert_slice_equal(*properties_get(&props, "a"), SLICE("3"));
    properties_remove(&props, "a");
    assert_null(properties_get(&props, "a"));
    assert_slice_equal(*properties_get(&props, "b"), SLICE("2"));
    arena_deinit(&arena);
}

static void as_many_properties_as_fit_take_little_memory(void **state)
{
    (void)state;
    struct properties props = {0};
    for (int i = 0; i < PROPERTIES_MAX; i++)
        properties_set(&arena, &props, arena_printf(&arena, "k%d", i), SLICE("v"));
    assert_int_equal(props.count, PROPERTIES_MAX);
    assert_slice_equal(*properties_get(&props, "k4095"), SLICE("v"));
    assert_true(arena.total_bytes < 1 << 20);
    arena_deinit(&arena);
}

static void added_columns_take_the_ids_that_come_next(void **state)
{
    (void)state;
    struct err err = {0};
    struct schema schema, again;
    struct buf json = {0};
    MUST(schema_from_json(
        &arena,
        SLICE("{\"version\":1,\"columns\":[{\"name\":\"a\",\"data_type\":{\"type\":\"STRING\"},\"id\":3}"
              "],\"highest_field_id\":7}"),
        &schema, &err));
    struct schema_column column = {.name = SLICE("r"), .comment = SLICE("c")};
    MUST(type_from_sql(&arena, SLICE("ROW<x INT, y ARRAY<ROW<z INT>>>"), &column.type, &err));
    MUST(schema_add_column(&arena, &schema, &column, &err));
    assert_int_equal(schema.columns[0].id, 3);
    assert_int_equal(schema.columns[1].id, 8);
    assert_int_equal(schema.columns[1].type->fields[0].id, 9);
    assert_int_equal(schema.columns[1].type->fields[1].id, 10);
    assert_int_equal(schema.columns[1].type->fields[1].type->fields[0].type->fields[0].id, 11);
    assert_int_equal(schema.highest_field_id, 11);
    schema_to_json(&schema, &json);
    MUST(schema_from_json(&arena, buf_view(&json), &again, &err));
    MUST_FAIL(ERR_INVALID_ALTER_TABLE_EXCEPTION, schema_add_column(&arena, &schema, &column, &err));
    column.name = SLICE("s");
    column.type = type_with_nullable(&arena, column.type, false);
    MUST_FAIL(ERR_INVALID_ARGUMENT, schema_add_column(&arena, &schema, &column, &err));
    assert_int_equal(schema.column_count, 2);
    buf_deinit(&json);
    arena_deinit(&arena);
}

static void no_column_is_added_beyond_the_limit(void **state)
{
    (void)state;
    struct err err = {0};
    struct schema schema = {.highest_field_id = -1, .auto_increment = -1};
    for (int i = 0; i < SCHEMA_COLUMNS_MAX; i++) {
        struct schema_column column = {.name = arena_printf(&arena, "c%d", i), .type = type_simple(TYPE_INTEGER)};
        MUST(schema_add_column(&arena, &schema, &column, &err));
    }
    struct schema_column more = {.name = SLICE("more"), .type = type_simple(TYPE_INTEGER)};
    MUST_FAIL(ERR_INVALID_TABLE_EXCEPTION, schema_add_column(&arena, &schema, &more, &err));
    arena_deinit(&arena);
}

static void names_follow_the_rules_of_the_protocol(void **state)
{
    (void)state;
    char longest[NAME_BYTES_MAX + 2];
    memset(longest, 'a', sizeof longest);
    assert_true(name_is_valid(slice_of(longest, NAME_BYTES_MAX)));
    assert_false(name_is_valid(slice_of(longest, NAME_BYTES_MAX + 1)));
    static const char *const valid[] = {"a", "A-b_9", "_x", "-"};
    static const char *const wrong[] = {"", ".", "..", "a.b", "a b", "__x", "a$b", "\xc3\xa9", "a@", "a[", "a`"};
    for (size_t i = 0; i < ARRAY_LEN(valid); i++)
        assert_true(name_is_valid(slice_str(valid[i])));
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(name_is_valid(slice_str(wrong[i])));
}

TESTS("format.schema", TEST(golden_descriptors_are_written_as_they_were_read), TEST(golden_types_agree_in_json_and_sql),
      TEST(schemas_that_break_a_rule_are_refused), TEST(missing_ids_are_given_by_position),
      TEST(types_nested_beyond_the_limit_are_refused), TEST(too_many_columns_and_too_long_texts_are_refused),
      TEST(sql_spellings_of_flink_are_understood), TEST(keys_of_tables_are_normalized_or_refused),
      TEST(table_texts_that_break_a_rule_are_refused), TEST(properties_are_set_found_and_removed),
      TEST(as_many_properties_as_fit_take_little_memory), TEST(added_columns_take_the_ids_that_come_next),
      TEST(no_column_is_added_beyond_the_limit), TEST(names_follow_the_rules_of_the_protocol))
