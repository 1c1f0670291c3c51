#include "lib/meta_fixture.h"
#include "meta/meta_int.h"

static const struct acl ann_reads = {ACL_TABLE, SLICE("fluss.t"), SLICE("User"), SLICE("ann"), SLICE("*"), ACL_READ};
static const struct acl all_describe = {ACL_CLUSTER, SLICE("fluss-cluster"), SLICE("*"),
                                        SLICE("*"),  SLICE("127.0.0.1"),     ACL_DESCRIBE};

static const struct acl_filter any = {
    .type = ACL_TYPE_ANY, .operation = ACL_OPERATION_ANY, .permission = ACL_PERMISSION_ANY};

static size_t count_of(const struct acl_filter *filter)
{
    struct acl *items;
    size_t count;
    meta_acl_list(bed.meta, filter, &bed.arena, &items, &count);
    return count;
}

static bool ann_may(enum acl_operation operation)
{
    struct acl_user ann = {SLICE("ann"), SLICE("10.0.0.1")};
    struct acl_resource table = acl_table(SLICE("fluss"), SLICE("t"));
    return meta_acl_allows(bed.meta, &ann, false, operation, &table);
}

static void entries_survive_a_crash_and_go_when_dropped(void **state)
{
    (void)state;
    const struct acl both[] = {ann_reads, all_describe};
    assert_false(ann_may(ACL_READ));
    MUST(meta_acls_create(bed.meta, both, 2, &err));
    MUST(meta_acls_create(bed.meta, both, 2, &err));
    meta_bed_again(&bed, BED_CRASH);
    assert_int_equal(count_of(&any), 2);
    assert_true(ann_may(ACL_READ));
    assert_false(ann_may(ACL_WRITE));
    struct acl_filter clusters = any;
    clusters.type = ACL_CLUSTER;
    assert_int_equal(count_of(&clusters), 1);
    MUST(meta_acls_drop(bed.meta, &ann_reads, 1, &err));
    MUST(meta_acls_drop(bed.meta, &ann_reads, 1, &err));
    assert_false(ann_may(ACL_READ));
    meta_bed_again(&bed, BED_CRASH);
    assert_int_equal(count_of(&any), 1);
    assert_false(ann_may(ACL_READ));
}

static void an_entry_outlives_its_table(void **state)
{
    (void)state;
    int64_t dropped;
    meta_bed_create(&bed, "t", 1);
    MUST(meta_acls_create(bed.meta, &ann_reads, 1, &err));
    MUST(meta_table_drop(bed.meta, SLICE("fluss"), SLICE("t"), false, &dropped, &err));
    assert_int_equal(count_of(&any), 1);
}

static void too_many_entries_are_refused(void **state)
{
    (void)state;
    MUST(meta_acls_create(bed.meta, &ann_reads, 1, &err));
    struct acl *many = ARENA_NEW_ARRAY(&bed.arena, struct acl, META_ACLS_MAX);
    for (size_t i = 0; i < META_ACLS_MAX; i++)
        many[i] = all_describe;
    MUST_FAIL(ERR_LIMIT, meta_acls_create(bed.meta, many, META_ACLS_MAX, &err));
    assert_int_equal(count_of(&any), 1);
}

static void an_entry_that_means_nothing_is_damage(void **state)
{
    (void)state;
    MUST(db_run(&bed.meta->db, &err, "INSERT INTO acls VALUES (9, 'x', 'User', 'ann', '*', 3)", ""));
    meta_bed_end(&bed, BED_CLOSE);
    MUST_FAIL(ERR_CORRUPT, meta_open(bed.os, &meta_bed_config, &bed.meta, &err));
    assert_non_null(strstr(err.text, "access list"));
}

/* What version 2 did not have yet is taken away; then the file is one. */
static void make_version_2(void)
{
    MUST(db_run(&bed.meta->db, &err, "DROP TABLE acls", ""));
    MUST(db_run(&bed.meta->db, &err, "DROP TABLE pending_alters", ""));
    MUST(db_run(&bed.meta->db, &err, "DROP TABLE options", ""));
    MUST(db_run(&bed.meta->db, &err, "DROP TABLE kept_partitions", ""));
    MUST(db_run(&bed.meta->db, &err, "DROP TABLE producer_offsets", ""));
    MUST(db_run(&bed.meta->db, &err, "DROP TABLE producers", ""));
    MUST(db_run(&bed.meta->db, &err, "ALTER TABLE partitions DROP COLUMN is_remade", ""));
    MUST(db_run(&bed.meta->db, &err, "PRAGMA user_version = 2", ""));
}

static void options_survive_a_crash_until_others_are_set(void **state)
{
    (void)state;
    const struct meta_option two[] = {{SLICE("a"), SLICE("1")}, {SLICE("b"), SLICE("")}};
    struct meta_option *items;
    size_t count;
    MUST(meta_options_set(bed.meta, two, 2, &err));
    meta_bed_again(&bed, BED_CRASH);
    meta_options(bed.meta, &bed.arena, &items, &count);
    assert_int_equal(count, 2);
    assert_slice_equal(items[0].value, SLICE("1"));
    assert_slice_equal(items[1].name, SLICE("b"));
    MUST(meta_options_set(bed.meta, two, 1, &err));
    meta_options(bed.meta, &bed.arena, &items, &count);
    assert_int_equal(count, 1);
}

static void a_file_of_version_2_is_brought_up(void **state)
{
    (void)state;
    int64_t version = 0, id = meta_bed_create(&bed, "t", 3);
    make_version_2();
    meta_bed_again(&bed, BED_CRASH);
    MUST(db_number(&bed.meta->db, "PRAGMA user_version", &version, &err));
    assert_int_equal(version, LAYOUT_VERSION);
    const struct table_info *table;
    MUST(meta_table_get_by_id(bed.meta, id, &table, &err));
    assert_int_equal(table->descriptor->bucket_count, 3);
    table_unref(table);
    MUST(meta_acls_create(bed.meta, &ann_reads, 1, &err));
    meta_bed_again(&bed, BED_CLOSE);
    assert_true(ann_may(ACL_READ));
}

TESTS("meta.acl", TEST_BED(entries_survive_a_crash_and_go_when_dropped), TEST_BED(an_entry_outlives_its_table),
      TEST_BED(too_many_entries_are_refused), TEST_BED(an_entry_that_means_nothing_is_damage),
      TEST_BED(options_survive_a_crash_until_others_are_set), TEST_BED(a_file_of_version_2_is_brought_up))
