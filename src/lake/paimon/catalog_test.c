/* Tables made as Fluss 0.9.1 makes them: compared with schema-0 of the golden tables; and taken, or refused, when they
 * are there. */
#include "lake/paimon/paimon_int.h"
#include "lib/test.h"

#define GOLDEN "test/golden/paimon-by-fluss/"

static struct err err;

#define WIDE_COLUMNS                                                                                                  \
    "{\"name\":\"id\",\"data_type\":{\"type\":\"BIGINT\"%s}},{\"name\":\"name\",\"data_type\":{\"type\":"             \
    "\"STRING\"}},{\"name\":\"flag\",\"data_type\":{\"type\":\"BOOLEAN\"}},{\"name\":\"tiny\",\"data_type\":{"        \
    "\"type\":\"TINYINT\"}},{\"name\":\"small\",\"data_type\":{\"type\":\"SMALLINT\"}},{\"name\":\"num\","            \
    "\"data_type\":{\"type\":\"INTEGER\"}},{\"name\":\"real\",\"data_type\":{\"type\":\"FLOAT\"}},{\"name\":\"dbl\"," \
    "\"data_type\":{\"type\":\"DOUBLE\"}},{\"name\":\"money\",\"data_type\":{\"type\":\"DECIMAL\",\"precision\":10,"  \
    "\"scale\":2}},{\"name\":\"wide\",\"data_type\":{\"type\":\"DECIMAL\",\"precision\":24,\"scale\":4}},{\"name\":"  \
    "\"day\",\"data_type\":{\"type\":\"DATE\"}},{\"name\":\"at\",\"data_type\":{\"type\":\"TIME_WITHOUT_TIME_ZONE\"," \
    "\"precision\":3}},{\"name\":\"ts3\",\"data_type\":{\"type\":\"TIMESTAMP_WITHOUT_TIME_ZONE\",\"precision\":3}},"  \
    "{\"name\":\"ts6\",\"data_type\":{\"type\":\"TIMESTAMP_WITHOUT_TIME_ZONE\",\"precision\":6}},{\"name\":\"ltz3\"," \
    "\"data_type\":{\"type\":\"TIMESTAMP_WITH_LOCAL_TIME_ZONE\",\"precision\":3}},{\"name\":\"ltz6\",\"data_type\":{" \
    "\"type\":\"TIMESTAMP_WITH_LOCAL_TIME_ZONE\",\"precision\":6}},{\"name\":\"raw\",\"data_type\":{\"type\":"        \
    "\"BYTES\"}}"
#define KEY ",\"nullable\":false"
#define PROPS                                                                                                      \
    "\"table.replication.factor\":\"1\",\"table.datalake.enabled\":\"true\",\"table.datalake.format\":\"paimon\"," \
    "\"table.datalake.freshness\":\"1s\""
#define KV_PROPS PROPS ",\"table.kv.format-version\":\"2\""

struct golden_table {
    const char *folder;
    const char *name;
    const char *columns;
    const char *keys; /* members of the schema */
    const char *rest; /* members of the descriptor */
};

static const struct golden_table tables[] = {
    {"pk", "pk", NULL, ",\"primary_key\":[\"id\"]",
     "\"partition_key\":[],\"bucket_key\":[\"id\"],\"bucket_count\":3,\"properties\":{" KV_PROPS "}"},
    {"pk-compacted", "pk_compacted", NULL, ",\"primary_key\":[\"id\"]",
     "\"partition_key\":[],\"bucket_key\":[],\"bucket_count\":1,\"properties\":{" KV_PROPS
     ",\"table.datalake.auto-compaction\":\"true\"}"},
    {"pk-partitioned", "pk_partitioned",
     "{\"name\":\"order_id\",\"data_type\":{\"type\":\"BIGINT\",\"nullable\":false}},{\"name\":\"dt\",\"data_type\":{"
     "\"type\":\"STRING\",\"nullable\":false}},{\"name\":\"customer\",\"data_type\":{\"type\":\"STRING\"}},{\"name\":"
     "\"amount\",\"data_type\":{\"type\":\"DECIMAL\",\"precision\":10,\"scale\":2}}",
     ",\"primary_key\":[\"order_id\",\"dt\"]",
     "\"partition_key\":[\"dt\"],\"bucket_key\":[\"order_id\"],\"bucket_count\":3,\"properties\":{" KV_PROPS "}"},
    {"log-bucket-key", "log_bucket_key",
     "{\"name\":\"id\",\"data_type\":{\"type\":\"BIGINT\"}},{\"name\":\"kind\",\"data_type\":{\"type\":\"STRING\"}},"
     "{\"name\":\"ts\",\"data_type\":{\"type\":\"TIMESTAMP_WITHOUT_TIME_ZONE\",\"precision\":6}}",
     "", "\"partition_key\":[],\"bucket_key\":[\"id\"],\"bucket_count\":3,\"properties\":{" PROPS "}"},
    {"log-no-key", "log_no_key",
     "{\"name\":\"id\",\"data_type\":{\"type\":\"BIGINT\"}},{\"name\":\"kind\",\"data_type\":{\"type\":\"STRING\"}},"
     "{\"name\":\"ts\",\"data_type\":{\"type\":\"TIMESTAMP_WITHOUT_TIME_ZONE\",\"precision\":6}}",
     "", "\"partition_key\":[],\"bucket_key\":[],\"bucket_count\":3,\"properties\":{" PROPS "}"},
};

static struct table_descriptor descriptor_of(struct arena *arena, const char *json)
{
    struct table_descriptor table;
    MUST(table_descriptor_from_json(arena, slice_str(json), &table, &err));
    MUST(table_descriptor_normalize(arena, &table, &err));
    return table;
}

static struct table_descriptor golden_descriptor(struct arena *arena, const struct golden_table *g)
{
    struct buf json = {0};
    buf_put_slice(&json, SLICE("{\"version\":1,\"schema\":{\"version\":1,\"columns\":["));
    if (g->columns)
        buf_put_slice(&json, slice_str(g->columns));
    else
        buf_printf(&json, WIDE_COLUMNS, KEY);
    buf_printf(&json, "]%s},%s,\"custom_properties\":{}}", g->keys, g->rest);
    struct table_descriptor table = descriptor_of(arena, (const char *)arena_cstr(arena, buf_view(&json)));
    buf_deinit(&json);
    return table;
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *json = json_load_file(path, 0, &error);
    if (!json)
        fail_msg("%s: %s", path, error.text);
    return json;
}

static void schemas_are_those_of_the_golden_tables(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct path got, want;
        const struct golden_table *g = &tables[i];
        struct paimon_place place = {slice_str(test_dir()), SLICE("golden"), slice_str(g->name)};
        struct table_descriptor table = golden_descriptor(&arena, g);
        MUST(paimon_table_create(os_real(), &place, &table, PAIMON_MUST_BE_EMPTY, &err));
        MUST(paimon_path_set(&got, &err, "%.*s/golden.db/%s/schema/schema-0", SLICE_ARGS(place.warehouse), g->name));
        MUST(paimon_path_set(&want, &err, GOLDEN "%s/warehouse/golden.db/%s/schema/schema-0", g->folder, g->name));
        json_t *a = load(got.text), *b = load(want.text);
        json_object_del(a, "timeMillis");
        json_object_del(b, "timeMillis");
        if (!json_equal(a, b))
            fail_msg("%s: another schema: %s", g->name, json_dumps(a, 0));
        json_decref(a);
        json_decref(b);
    }
    arena_deinit(&arena);
}

/* Fluss's own tables fit: so weir takes up what the stock server made. */
static void golden_tables_are_taken(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        const struct golden_table *g = &tables[i];
        struct slice warehouse = arena_printf(&arena, GOLDEN "%s/warehouse", g->folder);
        struct paimon_place place = {warehouse, SLICE("golden"), slice_str(g->name)};
        struct table_descriptor table = golden_descriptor(&arena, g);
        MUST(paimon_table_create(os_real(), &place, &table, PAIMON_MAY_HOLD_ROWS, &err));
        MUST_FAIL(ERR_LAKE_TABLE_ALREADY_EXIST,
                  paimon_table_create(os_real(), &place, &table, PAIMON_MUST_BE_EMPTY, &err));
        assert_non_null(strstr(err.text, "not empty"));
    }
    arena_deinit(&arena);
}

#define B2 "\"bucket_key\":[],\"bucket_count\":2"
#define TABLE(columns, keys, custom)                                                                 \
    "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[" columns "]" keys "},\"comment\":\"c\"," \
    "\"partition_key\":[]," B2 ",\"properties\":{" PROPS "},\"custom_properties\":{" custom "}}"
#define COLUMN(name, rest) "{\"name\":\"" name "\",\"data_type\":{" rest "}}"
#define INT_ID COLUMN("id", "\"type\":\"INTEGER\",\"nullable\":false")
#define STRING_V COLUMN("v", "\"type\":\"STRING\"")
#define PRIMARY ",\"primary_key\":[\"id\"]"
#define BASE TABLE(INT_ID "," STRING_V, PRIMARY, "\"a\":\"1\"")

static void an_equal_table_is_taken_and_another_refused(void **state)
{
    (void)state;
    static const char *const others[] = {
        TABLE(INT_ID, PRIMARY, "\"a\":\"1\""),
        TABLE(STRING_V "," INT_ID, PRIMARY, "\"a\":\"1\""),
        TABLE(INT_ID "," COLUMN("w", "\"type\":\"STRING\""), PRIMARY, "\"a\":\"1\""),
        TABLE(INT_ID "," COLUMN("v", "\"type\":\"BYTES\""), PRIMARY, "\"a\":\"1\""),
        TABLE(INT_ID "," COLUMN("v", "\"type\":\"STRING\",\"nullable\":false"), PRIMARY, "\"a\":\"1\""),
        TABLE(INT_ID "," STRING_V, "", "\"a\":\"1\""),
        TABLE(INT_ID "," STRING_V, PRIMARY, "\"a\":\"2\""),
        TABLE(INT_ID "," STRING_V, PRIMARY, "\"a\":\"1\",\"paimon.x\":\"y\""),
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[" INT_ID "," STRING_V "]" PRIMARY
        "},\"partition_key\":[]," B2 ",\"properties\":{" PROPS "},\"custom_properties\":{\"a\":\"1\"}}",
    };
    struct arena arena = {0};
    struct paimon_place place = {slice_str(test_dir()), SLICE("d"), SLICE("t")};
    struct table_descriptor table = descriptor_of(&arena, BASE);
    MUST(paimon_table_create(os_real(), &place, &table, PAIMON_MUST_BE_EMPTY, &err));
    MUST(paimon_table_create(os_real(), &place, &table, PAIMON_MUST_BE_EMPTY, &err));
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct table_descriptor other = descriptor_of(&arena, others[i]);
        MUST_FAIL(ERR_LAKE_TABLE_ALREADY_EXIST,
                  paimon_table_create(os_real(), &place, &other, PAIMON_MUST_BE_EMPTY, &err));
    }
    struct table_descriptor less = descriptor_of(&arena, TABLE(INT_ID "," STRING_V, PRIMARY, ""));
    MUST(paimon_table_create(os_real(), &place, &less, PAIMON_MUST_BE_EMPTY, &err)); /* it may have more options */
    arena_deinit(&arena);
}

static void refuses_what_fluss_sets_itself_and_what_it_cannot_write(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        enum err_code code;
    } cases[] = {
        {TABLE(INT_ID, PRIMARY, "\"bucket\":\"1\""), ERR_INVALID_CONFIG_EXCEPTION},
        {TABLE(INT_ID, PRIMARY, "\"paimon.bucket\":\"1\""), ERR_INVALID_CONFIG_EXCEPTION},
        {TABLE(INT_ID, PRIMARY, "\"paimon.bucket-key\":\"id\""), ERR_INVALID_CONFIG_EXCEPTION},
        {TABLE(INT_ID, PRIMARY, "\"partition.legacy-name\":\"true\""), ERR_INVALID_CONFIG_EXCEPTION},
        {TABLE(INT_ID, PRIMARY, "\"path\":\"/x\""), ERR_INVALID_CONFIG_EXCEPTION},
        {TABLE(INT_ID, PRIMARY, "\"paimon.file.format\":\"orc\""), ERR_INVALID_CONFIG_EXCEPTION},
        {TABLE(INT_ID, PRIMARY, "\"paimon.deletion-vectors.enabled\":\"true\""), ERR_INVALID_CONFIG_EXCEPTION},
        {TABLE(INT_ID, PRIMARY, "\"paimon.merge-engine\":\"first-row\""), ERR_INVALID_CONFIG_EXCEPTION},
        {TABLE(INT_ID, PRIMARY, "\"paimon.changelog-producer\":\"lookup\""), ERR_INVALID_CONFIG_EXCEPTION},
        {TABLE(INT_ID, PRIMARY, "\"paimon.file-index.bloom-filter.columns\":\"id\""), ERR_INVALID_CONFIG_EXCEPTION},
        {TABLE(INT_ID, PRIMARY, "\"paimon.target-file-size\":\"much\""), ERR_INVALID_CONFIG_EXCEPTION},
        {TABLE(INT_ID, PRIMARY, "\"paimon.target-file-size\":\"64 mb\""), OK},
        {TABLE(INT_ID, PRIMARY, "\"paimon.file.format\":\"parquet\",\"paimon.snapshot.time-retained\":\"2h\""), OK},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct table_descriptor table = descriptor_of(&arena, cases[i].json);
        if (paimon_table_check(&table, &err) != cases[i].code)
            fail_msg("%s", cases[i].json);
    }
    arena_deinit(&arena);
}

#define ROW_TYPE                                                                                                  \
    "\"type\":\"ROW\",\"fields\":[{\"name\":\"x\",\"field_type\":{\"type\":\"ARRAY\",\"element_type\":{\"type\":" \
    "\"ROW\",\"fields\":[{\"name\":\"y\",\"field_type\":{\"type\":\"TIME_WITHOUT_TIME_ZONE\",\"precision\":3},"   \
    "\"description\":\"deep\"}]}}},{\"name\":\"z\",\"field_type\":{\"type\":\"MAP\",\"key_type\":{\"type\":"      \
    "\"STRING\",\"nullable\":false},\"value_type\":{\"type\":\"INTEGER\",\"nullable\":false}}}]"

static void nested_fields_take_ids_depth_first(void **state)
{
    (void)state;
    static const char want[] =
        "[{\"id\":0,\"name\":\"id\",\"type\":\"INT NOT NULL\"},{\"id\":1,\"name\":\"r\",\"type\":{\"type\":\"ROW\","
        "\"fields\":[{\"id\":2,\"name\":\"x\",\"type\":{\"type\":\"ARRAY\",\"element\":{\"type\":\"ROW\",\"fields\":[{"
        "\"id\":3,\"name\":\"y\",\"type\":\"TIME(0)\",\"description\":\"deep\"}]}}},{\"id\":4,\"name\":\"z\",\"type\":{"
        "\"type\":\"MAP\",\"key\":\"STRING NOT NULL\",\"value\":\"INT NOT "
        "NULL\"}}]}},{\"id\":5,\"name\":\"v\",\"type\":"
        "\"STRING\"},{\"id\":6,\"name\":\"__bucket\",\"type\":\"INT\"},{\"id\":7,\"name\":\"__offset\",\"type\":"
        "\"BIGINT\"},{\"id\":8,\"name\":\"__timestamp\",\"type\":\"TIMESTAMP(3) WITH LOCAL TIME ZONE\"}]";
    struct arena arena = {0};
    struct path path;
    struct paimon_place place = {slice_str(test_dir()), SLICE("d"), SLICE("t")};
    struct table_descriptor table = descriptor_of(&arena, TABLE(INT_ID "," COLUMN("r", ROW_TYPE) "," STRING_V, "", ""));
    MUST(paimon_table_create(os_real(), &place, &table, PAIMON_MUST_BE_EMPTY, &err));
    MUST(paimon_path_set(&path, &err, "%.*s/d.db/t/schema/schema-0", SLICE_ARGS(place.warehouse)));
    json_t *got = load(path.text), *fields = json_loads(want, 0, NULL);
    if (!json_equal(json_object_get(got, "fields"), fields))
        fail_msg("%s", json_dumps(json_object_get(got, "fields"), JSON_COMPACT));
    json_decref(got);
    json_decref(fields);
    MUST(paimon_table_create(os_real(), &place, &table, PAIMON_MUST_BE_EMPTY, &err)); /* reads its own text */
    struct paimon_table *open;
    MUST(paimon_table_open(os_real(), &place, &open, &err));
    const struct paimon_schema *schema = paimon_table_schema(open);
    assert_int_equal(schema->column_count, 6);
    assert_true(schema->has_system_columns);
    assert_int_equal(schema->bucket_count, -1);
    assert_int_equal(schema->highest_field_id, 8);
    paimon_table_close(open);
    arena_deinit(&arena);
}

static void added_columns_stand_before_the_system_columns(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct paimon_place place = {slice_str(test_dir()), SLICE("d"), SLICE("t")};
    struct table_descriptor table = descriptor_of(&arena, BASE);
    struct table_descriptor wider = descriptor_of(
        &arena, TABLE(INT_ID "," STRING_V "," COLUMN("n", "\"type\":\"INTEGER\""), PRIMARY, "\"b\":\"2\""));
    struct table_descriptor strict = descriptor_of(
        &arena, TABLE(INT_ID "," STRING_V "," COLUMN("n", "\"type\":\"INTEGER\",\"nullable\":false"), PRIMARY, ""));
    MUST_FAIL(ERR_NOT_FOUND, paimon_table_alter(os_real(), &place, &wider, &err));
    MUST(paimon_table_create(os_real(), &place, &table, PAIMON_MUST_BE_EMPTY, &err));
    MUST_FAIL(ERR_LAKE_TABLE_ALREADY_EXIST, paimon_table_alter(os_real(), &place, &strict, &err));
    MUST(paimon_table_alter(os_real(), &place, &wider, &err));
    MUST(paimon_table_alter(os_real(), &place, &wider, &err)); /* again: it is there */
    struct paimon_table *open;
    MUST(paimon_table_open(os_real(), &place, &open, &err));
    const struct paimon_schema *schema = paimon_table_schema(open);
    static const char *const names[] = {"id", "v", "n", "__bucket", "__offset", "__timestamp"};
    static const int32_t ids[] = {0, 1, 5, 2, 3, 4};
    assert_int_equal(schema->id, 1);
    assert_int_equal(schema->column_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_slice_equal(schema->columns[i].name, slice_str(names[i]));
        assert_int_equal(schema->columns[i].id, ids[i]);
    }
    assert_null(properties_get(&schema->options, "fluss.a"));
    assert_non_null(properties_get(&schema->options, "fluss.b"));
    paimon_table_close(open);
    arena_deinit(&arena);
}

static uint32_t column_count(const struct paimon_place *place)
{
    struct paimon_table *open;
    MUST(paimon_table_open(os_real(), place, &open, &err));
    uint32_t count = paimon_table_schema(open)->column_count;
    paimon_table_close(open);
    return count;
}

/* The lake heard of a column, and the metadata did not. */
static void a_table_that_is_wider_keeps_its_columns(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct paimon_place place = {slice_str(test_dir()), SLICE("d"), SLICE("t")};
    struct table_descriptor table = descriptor_of(&arena, TABLE(INT_ID "," STRING_V, PRIMARY, "\"c\":\"1\""));
    struct table_descriptor wider =
        descriptor_of(&arena, TABLE(INT_ID "," STRING_V "," COLUMN("n", "\"type\":\"INTEGER\""), PRIMARY, ""));
    MUST(paimon_table_create(os_real(), &place, &wider, PAIMON_MUST_BE_EMPTY, &err));
    MUST(paimon_table_alter(os_real(), &place, &table, &err));
    assert_int_equal(column_count(&place), 6);
    MUST(paimon_table_alter(os_real(), &place, &wider, &err));
    assert_int_equal(column_count(&place), 6);
    arena_deinit(&arena);
}

static void a_table_that_lacks_the_last_columns_gets_them_when_the_lake_is_enabled(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct paimon_place place = {slice_str(test_dir()), SLICE("d"), SLICE("t")};
    struct table_descriptor table = descriptor_of(&arena, BASE);
    struct table_descriptor wider = descriptor_of(
        &arena, TABLE(INT_ID "," STRING_V "," COLUMN("n", "\"type\":\"INTEGER\""), PRIMARY, "\"a\":\"1\""));
    struct table_descriptor other = descriptor_of(
        &arena,
        TABLE(INT_ID "," COLUMN("w", "\"type\":\"STRING\"") "," COLUMN("n", "\"type\":\"INTEGER\""), PRIMARY, ""));
    MUST(paimon_table_create(os_real(), &place, &table, PAIMON_MUST_BE_EMPTY, &err));
    MUST_FAIL(ERR_LAKE_TABLE_ALREADY_EXIST, paimon_table_create(os_real(), &place, &wider, PAIMON_MUST_BE_EMPTY, &err));
    MUST_FAIL(ERR_LAKE_TABLE_ALREADY_EXIST, paimon_table_create(os_real(), &place, &other, PAIMON_MAY_HOLD_ROWS, &err));
    MUST(paimon_table_create(os_real(), &place, &wider, PAIMON_MAY_HOLD_ROWS, &err));
    assert_int_equal(column_count(&place), 6);
    arena_deinit(&arena);
}

static void a_table_that_is_not_there_is_not_found(void **state)
{
    (void)state;
    struct paimon_table *table;
    struct paimon_place place = {slice_str(test_dir()), SLICE("d"), SLICE("t")};
    MUST_FAIL(ERR_NOT_FOUND, paimon_table_open(os_real(), &place, &table, &err));
}

TESTS("paimon.catalog", TEST(schemas_are_those_of_the_golden_tables), TEST(golden_tables_are_taken),
      TEST(an_equal_table_is_taken_and_another_refused), TEST(refuses_what_fluss_sets_itself_and_what_it_cannot_write),
      TEST(nested_fields_take_ids_depth_first), TEST(added_columns_stand_before_the_system_columns),
      TEST(a_table_that_is_wider_keeps_its_columns),
      TEST(a_table_that_lacks_the_last_columns_gets_them_when_the_lake_is_enabled),
      TEST(a_table_that_is_not_there_is_not_found))
