#include "lib/meta_fixture.h"

#define MANY 1000

static int64_t create(int64_t table_id, const char *name)
{
    struct partition_info info;
    bool created;
    MUST(meta_partition_create(bed.meta, table_id, slice_str(name), MANY, false, &bed.arena, &info, &created, &err));
    assert_true(created);
    assert_slice_equal(info.name, slice_str(name));
    assert_int_equal(info.table_id, table_id);
    return info.partition_id;
}

static size_t list(int64_t table_id, struct partition_info **items)
{
    size_t count;
    meta_partition_list(bed.meta, table_id, &bed.arena, items, &count);
    return count;
}

static size_t pending(struct partition_info **items)
{
    size_t count;
    meta_partition_deletes_pending(bed.meta, &bed.arena, items, &count);
    return count;
}

static void partitions_are_created_found_and_listed(void **state)
{
    (void)state;
    struct partition_info *items, info;
    int64_t a = meta_bed_create(&bed, "a", 1), b = meta_bed_create(&bed, "b", 1), id;
    assert_int_equal(create(a, "2"), 0);
    assert_int_equal(create(b, "2"), 1); /* ids are the server's, names the table's */
    assert_int_equal(create(a, "1"), 2);
    for (int round = 0; round < 2; round++) { /* the second time read from the file */
        assert_int_equal(list(a, &items), 2);
        assert_slice_equal(items[0].name, SLICE("2"));
        assert_int_equal(items[1].partition_id, 2);
        assert_true(items[1].created_ms > 0);
        MUST(meta_partition_find(bed.meta, b, SLICE("2"), &id, &err));
        assert_int_equal(id, 1);
        MUST(meta_partition_get(bed.meta, 2, &bed.arena, &info, &err));
        assert_int_equal(info.table_id, a);
        assert_slice_equal(info.name, SLICE("1"));
        MUST_FAIL(ERR_PARTITION_NOT_EXISTS, meta_partition_find(bed.meta, b, SLICE("1"), &id, &err));
        MUST_FAIL(ERR_PARTITION_NOT_EXISTS, meta_partition_find(bed.meta, 77, SLICE("1"), &id, &err));
        MUST_FAIL(ERR_PARTITION_NOT_EXISTS, meta_partition_get(bed.meta, 3, &bed.arena, &info, &err));
        assert_int_equal(list(77, &items), 0);
        meta_bed_again(&bed, BED_CLOSE);
    }
    assert_int_equal(create(b, "3"), 3);
}

static void a_name_is_taken_once(void **state)
{
    (void)state;
    struct partition_info info;
    bool created = true;
    int64_t table = meta_bed_create(&bed, "t", 1), id = create(table, "x");
    MUST_FAIL(ERR_PARTITION_ALREADY_EXISTS,
              meta_partition_create(bed.meta, table, SLICE("x"), MANY, false, &bed.arena, &info, &created, &err));
    MUST(meta_partition_create(bed.meta, table, SLICE("x"), 1, true, &bed.arena, &info, &created, &err));
    assert_false(created); /* nor does the limit count then */
    assert_int_equal(info.partition_id, id);
    MUST_FAIL(ERR_TABLE_NOT_EXIST,
              meta_partition_create(bed.meta, 77, SLICE("x"), MANY, true, &bed.arena, &info, &created, &err));
}

static void a_table_has_so_many_and_no_more(void **state)
{
    (void)state;
    struct partition_info info;
    bool created;
    int64_t table = meta_bed_create(&bed, "t", 1), other = meta_bed_create(&bed, "u", 1), dropped;
    create(table, "a");
    create(table, "b");
    create(other, "a");
    MUST_FAIL(ERR_PARTITION_MAX_NUM_EXCEPTION,
              meta_partition_create(bed.meta, table, SLICE("c"), 2, true, &bed.arena, &info, &created, &err));
    MUST(meta_partition_drop(bed.meta, table, SLICE("a"), false, false, &dropped, &err));
    MUST(meta_partition_create(bed.meta, table, SLICE("c"), 2, true, &bed.arena, &info, &created, &err));
}

static void a_dropped_partition_is_pending_until_its_files_are_gone(void **state)
{
    (void)state;
    struct partition_info *items;
    int64_t table = meta_bed_create(&bed, "t", 1), id = create(table, "x"), dropped;
    MUST(meta_partition_drop(bed.meta, table, SLICE("x"), false, false, &dropped, &err));
    assert_int_equal(dropped, id);
    MUST_FAIL(ERR_PARTITION_NOT_EXISTS, meta_partition_drop(bed.meta, table, SLICE("x"), false, false, &dropped, &err));
    MUST(meta_partition_drop(bed.meta, table, SLICE("x"), false, true, &dropped, &err));
    assert_int_equal(dropped, -1);
    assert_int_equal(create(table, "x"), id + 1); /* the name is free, the id is not */
    meta_bed_again(&bed, BED_CRASH);
    assert_int_equal(pending(&items), 1);
    assert_int_equal(items[0].partition_id, id);
    assert_int_equal(items[0].table_id, table);
    assert_slice_equal(items[0].name, SLICE("x"));
    MUST(meta_partition_delete_done(bed.meta, id, &err));
    MUST(meta_partition_delete_done(bed.meta, id, &err));
    assert_int_equal(pending(&items), 0);
    meta_bed_again(&bed, BED_CRASH);
    assert_int_equal(pending(&items), 0);
    assert_int_equal(list(table, &items), 1);
}

static void a_dropped_table_takes_its_partitions_along(void **state)
{
    (void)state;
    struct partition_info *items, info;
    int64_t table = meta_bed_create(&bed, "t", 1), other = meta_bed_create(&bed, "u", 1), dropped;
    create(table, "x");
    create(table, "y");
    create(other, "x");
    MUST(meta_partition_drop(bed.meta, table, SLICE("y"), false, false, &dropped, &err));
    meta_bed_drop(&bed, "t");
    for (int round = 0; round < 2; round++) {
        assert_int_equal(pending(&items), 0);
        assert_int_equal(list(table, &items), 0);
        assert_int_equal(list(other, &items), 1);
        MUST_FAIL(ERR_PARTITION_NOT_EXISTS, meta_partition_get(bed.meta, 0, &bed.arena, &info, &err));
        meta_bed_again(&bed, BED_CRASH);
    }
}

/* The lake keeps rows under the name, so whoever has it next has them too. */
static void a_name_that_the_lake_knows_is_remembered(void **state)
{
    (void)state;
    struct partition_info *items;
    int64_t table = meta_bed_create(&bed, "t", 1), dropped;
    create(table, "x");
    create(table, "y");
    MUST(meta_partition_drop(bed.meta, table, SLICE("x"), true, false, &dropped, &err));
    MUST(meta_partition_drop(bed.meta, table, SLICE("y"), false, false, &dropped, &err));
    meta_bed_again(&bed, BED_KILL);
    create(table, "x");
    create(table, "y");
    for (int round = 0; round < 2; round++) {
        assert_int_equal(list(table, &items), 2);
        assert_true(items[0].is_remade);
        assert_false(items[1].is_remade);
        meta_bed_again(&bed, BED_CRASH);
    }
    MUST(meta_partition_drop(bed.meta, table, SLICE("x"), false, false, &dropped, &err));
    create(table, "x");
    assert_int_equal(list(table, &items), 2);
    assert_true(items[1].is_remade);
}

static struct slice prepare(int64_t table, struct lake_offset a, struct lake_offset b)
{
    struct slice path;
    struct lake_offset items[] = {a, b};
    struct lake_offsets offsets = {items, 2};
    MUST(meta_lake_prepare(bed.meta, table, SLICE("fluss"), SLICE("t"), &offsets, false, &bed.arena, &path, &err));
    return path;
}

static void commit(int64_t table, int64_t snapshot_id, struct slice path)
{
    struct lake_commit commit = {
        .table_id = table, .snapshot_id = snapshot_id, .tiered_path = path, .readable_path = path};
    MUST(meta_lake_commit(bed.meta, &commit, &err));
}

static void assert_latest(int64_t table, int64_t snapshot_id, size_t count, size_t progress_count)
{
    struct lake_snapshot_info info;
    struct lake_bucket_progress *progress;
    size_t known;
    MUST(meta_lake_snapshot(bed.meta, table, LAKE_LATEST, 0, &bed.arena, &info, &err));
    assert_int_equal(info.snapshot_id, snapshot_id);
    assert_int_equal(info.offsets.count, count);
    meta_lake_progress(bed.meta, table, &bed.arena, &progress, &known);
    assert_int_equal(known, progress_count);
}

/* Else the offsets of a table with a new partition each hour would grow for ever. */
static void offsets_of_dropped_partitions_are_left_out(void **state)
{
    (void)state;
    int64_t table = meta_bed_create_partitioned(&bed, "t", 1), x = create(table, "x"), y = create(table, "y"), dropped;
    commit(table, 1, prepare(table, (struct lake_offset){x, 0, 10}, (struct lake_offset){y, 0, 20}));
    assert_latest(table, 1, 2, 2);
    struct slice under_way = prepare(table, (struct lake_offset){x, 0, 15}, (struct lake_offset){y, 0, 25});
    MUST(meta_partition_drop(bed.meta, table, SLICE("x"), true, false, &dropped, &err));
    assert_latest(table, 1, 2, 1);
    commit(table, 2, under_way); /* of a round that began before */
    assert_latest(table, 2, 2, 1);
    commit(table, 3, prepare(table, (struct lake_offset){x, 0, 16}, (struct lake_offset){y, 0, 30}));
    for (int round = 0; round < 2; round++) {
        assert_latest(table, 3, 1, 1); /* having less of x makes it no older */
        meta_bed_again(&bed, BED_KILL);
    }
}

static void offsets_of_partitions_that_the_table_never_had_are_refused(void **state)
{
    (void)state;
    int64_t table = meta_bed_create_partitioned(&bed, "t", 2), x = create(table, "x"), dropped;
    int64_t other = create(meta_bed_create_partitioned(&bed, "u", 2), "x"), gone = create(table, "y");
    MUST(meta_partition_drop(bed.meta, table, SLICE("y"), true, false, &dropped, &err));
    const struct {
        struct lake_offset offset;
        enum err_code want;
    } cases[] = {{{x, 1, 3}, OK},
                 {{gone, 1, 3}, OK}, /* its round began before the drop */
                 {{x, 2, 3}, ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION},
                 {{-1, 0, 3}, ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION},
                 {{other, 0, 3}, ERR_PARTITION_NOT_EXISTS},
                 {{gone + 1, 0, 3}, ERR_PARTITION_NOT_EXISTS}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice path;
        struct lake_offset item = cases[i].offset;
        struct lake_offsets offsets = {&item, 1};
        struct lake_bucket_progress told = {item.partition_id, item.bucket, item.end_offset, -1};
        struct lake_commit old = {
            .table_id = table, .snapshot_id = (int64_t)i + 1, .progress = &told, .progress_count = 1};
        assert_int_equal(
            meta_lake_prepare(bed.meta, table, SLICE("fluss"), SLICE("t"), &offsets, false, &bed.arena, &path, &err),
            cases[i].want);
        assert_int_equal(meta_lake_commit(bed.meta, &old, &err), cases[i].want);
    }
}

/* Whatever a crash leaves: each call's effect is there whole or not at all, and nothing acknowledged is lost. */
static void a_crash_at_any_write_leaves_all_or_nothing(void **state)
{
    (void)state;
    struct partition_info *items;
    int64_t table = meta_bed_create(&bed, "t", 1), dropped;
    int64_t last = -1;
    for (int i = 0; i < 40; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        int64_t id = create(table, name);
        assert_true(id > last);
        last = id;
        if (i % 3 == 0)
            MUST(meta_partition_drop(bed.meta, table, slice_str(name), false, false, &dropped, &err));
        meta_bed_again(&bed, i % 2 ? BED_CRASH : BED_KILL);
        size_t there = list(table, &items), gone = pending(&items);
        assert_int_equal(there + gone, (size_t)i + 1);
        assert_int_equal(gone, (size_t)i / 3 + 1);
    }
}

TESTS("meta.partition", TEST_BED(partitions_are_created_found_and_listed), TEST_BED(a_name_is_taken_once),
      TEST_BED(a_table_has_so_many_and_no_more), TEST_BED(a_dropped_partition_is_pending_until_its_files_are_gone),
      TEST_BED(offsets_of_partitions_that_the_table_never_had_are_refused),
      TEST_BED(a_dropped_table_takes_its_partitions_along), TEST_BED(a_name_that_the_lake_knows_is_remembered),
      TEST_BED(offsets_of_dropped_partitions_are_left_out), TEST_BED(a_crash_at_any_write_leaves_all_or_nothing))
