/* Altered tables and databases: what is new, what stays, and what a crash leaves begun. */
#include "lib/meta_fixture.h"
#include "meta/meta_int.h"

#define FLUSS SLICE("fluss")

/* The table's description, to be changed. */
static struct table_descriptor description_of(int64_t id)
{
    struct table_descriptor descriptor;
    const struct table_info *table;
    MUST(meta_table_get_by_id(bed.meta, id, &table, &err));
    table_descriptor_dup(&bed.arena, table->descriptor, &descriptor);
    table_unref(table);
    return descriptor;
}

static struct table_descriptor with_column(int64_t id, const char *name)
{
    struct table_descriptor descriptor = description_of(id);
    struct schema_column column = {.name = slice_str(name), .type = type_simple(TYPE_STRING)};
    MUST(schema_add_column(&bed.arena, &descriptor.schema, &column, &err));
    return descriptor;
}

static void add_column(int64_t id, const char *name)
{
    struct table_descriptor descriptor = with_column(id, name);
    const struct table_info *altered;
    MUST(meta_table_alter(bed.meta, id, &descriptor, &altered, &err));
    table_unref(altered);
}

static size_t pending_count(int64_t table_id)
{
    struct pending_alter *items;
    size_t count;
    MUST(meta_alters_pending(bed.meta, table_id, &bed.arena, &items, &count, &err));
    return count;
}

static void an_altered_table_is_a_new_version_that_stays(void **state)
{
    (void)state;
    const struct table_info *before, *after;
    int64_t id = meta_bed_create(&bed, "t", 2);
    MUST(meta_table_get_by_id(bed.meta, id, &before, &err));
    struct table_descriptor descriptor = description_of(id);
    properties_set(&bed.arena, &descriptor.custom_properties, SLICE("owner"), SLICE("ops"));
    MUST(meta_table_alter(bed.meta, id, &descriptor, &after, &err));
    assert_null(properties_get(&before->descriptor->custom_properties, "owner"));
    assert_slice_equal(*properties_get(&after->descriptor->custom_properties, "owner"), SLICE("ops"));
    assert_int_equal(after->schema_count, 1);
    table_unref(after);
    table_unref(before);
    meta_bed_again(&bed, BED_CRASH);
    MUST(meta_table_get(bed.meta, FLUSS, SLICE("t"), &after, &err));
    assert_int_equal(after->table_id, id);
    assert_slice_equal(*properties_get(&after->descriptor->custom_properties, "owner"), SLICE("ops"));
    MUST_FAIL(ERR_TABLE_NOT_EXIST, meta_table_alter(bed.meta, id + 1, &descriptor, &before, &err));
    table_unref(after);
}

static void assert_schemas(const struct table_info *table)
{
    assert_int_equal(table->schema_id, 3);
    assert_int_equal(table->schema_count, 3);
    for (int32_t i = 1; i <= 3; i++)
        assert_int_equal(table_schema(table, i)->schema->column_count, i + 1);
    assert_null(table_schema(table, 0));
    assert_null(table_schema(table, 4));
    assert_slice_equal(table_schema(table, 3)->schema->columns[3].name, SLICE("b"));
    assert_int_equal(table_schema(table, 3)->schema->columns[3].id, 3);
    assert_int_equal(table->descriptor->schema.column_count, 4);
}

static void every_schema_of_a_table_is_kept(void **state)
{
    (void)state;
    const struct table_info *table;
    int64_t id = meta_bed_create(&bed, "t", 1);
    add_column(id, "a");
    add_column(id, "b");
    for (int restarts = 0; restarts < 3; restarts++) {
        MUST(meta_table_get_by_id(bed.meta, id, &table, &err));
        assert_schemas(table);
        table_unref(table);
        meta_bed_again(&bed, restarts ? BED_CRASH : BED_CLOSE);
    }
}

static void there_are_as_many_schemas_as_batches_can_name(void **state)
{
    (void)state;
    const struct table_info *table;
    int64_t id = meta_bed_create(&bed, "t", 1);
    MUST(db_run(&bed.meta->db, &err, "UPDATE schemas SET schema_id = ?1", "i", (int64_t)META_SCHEMAS_MAX - 1));
    meta_bed_again(&bed, BED_CLOSE);
    add_column(id, "a");
    struct table_descriptor descriptor = with_column(id, "b");
    MUST_FAIL(ERR_LIMIT, meta_table_alter(bed.meta, id, &descriptor, &table, &err));
    MUST_FAIL(ERR_LIMIT, meta_alter_begin(bed.meta, id, &descriptor, &err));
    descriptor = description_of(id);
    properties_set(&bed.arena, &descriptor.custom_properties, SLICE("owner"), SLICE("ops"));
    MUST(meta_table_alter(bed.meta, id, &descriptor, &table, &err));
    assert_int_equal(table->schema_id, META_SCHEMAS_MAX);
    table_unref(table);
}

static void what_was_begun_is_known_after_a_crash_until_it_is_done(void **state)
{
    (void)state;
    int64_t other = meta_bed_create(&bed, "s", 1), id = meta_bed_create(&bed, "t", 1);
    struct table_descriptor descriptor = with_column(id, "a");
    MUST(meta_alter_begin(bed.meta, id, &descriptor, &err));
    meta_bed_again(&bed, BED_CRASH);
    assert_int_equal(pending_count(-1), 1);
    assert_int_equal(pending_count(other), 0);
    struct pending_alter *items;
    size_t count;
    const struct table_info *table;
    MUST(meta_alters_pending(bed.meta, id, &bed.arena, &items, &count, &err));
    assert_int_equal(items[0].table_id, id);
    MUST(table_descriptor_from_json(&bed.arena, items[0].json, &descriptor, &err));
    MUST(meta_table_alter(bed.meta, id, &descriptor, &table, &err));
    assert_int_equal(table->schema_id, 2);
    table_unref(table);
    assert_int_equal(pending_count(-1), 0);
}

static void what_was_cancelled_or_dropped_is_not_begun(void **state)
{
    (void)state;
    int64_t id = meta_bed_create(&bed, "t", 1);
    struct table_descriptor descriptor = with_column(id, "a");
    MUST(meta_alter_begin(bed.meta, id, &descriptor, &err));
    MUST(meta_alter_cancel(bed.meta, id, &err));
    assert_int_equal(pending_count(-1), 0);
    MUST(meta_alter_cancel(bed.meta, id, &err));
    MUST(meta_alter_begin(bed.meta, id, &descriptor, &err));
    meta_bed_drop(&bed, "t");
    assert_int_equal(pending_count(-1), 0);
    MUST_FAIL(ERR_TABLE_NOT_EXIST, meta_alter_begin(bed.meta, id, &descriptor, &err));
}

static void an_altered_database_keeps_its_tables_and_its_time(void **state)
{
    (void)state;
    struct database_info before, after;
    struct slice json = SLICE("{\"version\":1,\"comment\":\"c\",\"custom_properties\":{\"a\":\"1\"}}");
    meta_bed_create(&bed, "t", 1);
    MUST(meta_database_info(bed.meta, &bed.arena, FLUSS, &before, &err));
    MUST(meta_database_alter(bed.meta, FLUSS, json, &err));
    for (int restarts = 0; restarts < 2; restarts++) {
        MUST(meta_database_info(bed.meta, &bed.arena, FLUSS, &after, &err));
        assert_slice_equal(after.json, json);
        assert_int_equal(after.created_ms, before.created_ms);
        assert_int_equal(after.table_count, 1);
        meta_bed_again(&bed, BED_CRASH);
    }
    MUST_FAIL(ERR_DATABASE_NOT_EXIST, meta_database_alter(bed.meta, SLICE("none"), json, &err));
    MUST_FAIL(ERR_INVALID_DATABASE_EXCEPTION, meta_database_alter(bed.meta, FLUSS, SLICE("{"), &err));
    assert_true(meta_table_exists(bed.meta, FLUSS, SLICE("t")));
}

TESTS("meta.alter", TEST_BED(an_altered_table_is_a_new_version_that_stays), TEST_BED(every_schema_of_a_table_is_kept),
      TEST_BED(there_are_as_many_schemas_as_batches_can_name),
      TEST_BED(what_was_begun_is_known_after_a_crash_until_it_is_done),
      TEST_BED(what_was_cancelled_or_dropped_is_not_begun), TEST_BED(an_altered_database_keeps_its_tables_and_its_time))
