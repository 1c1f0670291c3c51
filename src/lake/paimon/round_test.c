/* Rounds and compactions beside each other, and on a disk that stops, loses and fills up at every step. */
#include "lake/paimon/live_int.h"
#include "lib/paimon_bed.h"

static struct err err;

/* ---- what is on the disk and named by nothing ---- */

struct names {
    struct paimon_table *table;
    struct map known;
    unsigned dangling;
    const char *dir;
};

static enum err_code know_entry(void *arg, const struct entry *entry, struct err *e)
{
    (void)e;
    map_put(&((struct names *)arg)->known, entry->name, arg);
    return OK;
}

static enum err_code know_manifest(void *arg, const struct manifest *manifest, struct err *e)
{
    struct names *n = arg;
    if (map_put(&n->known, manifest->name, n))
        return OK;
    return paimon_manifest_file_each(n->table, manifest->name, know_entry, n, e);
}

static void know_list(struct names *n, struct slice list)
{
    if (!list.ptr || map_put(&n->known, list, n))
        return;
    MUST(paimon_list_file_each(n->table, list, know_manifest, n, &err));
}

static enum err_code see_name(void *arg, const char *name, bool is_dir, struct err *e)
{
    (void)e;
    struct names *n = arg;
    if (!is_dir && !map_get(&n->known, slice_str(name))) {
        print_message("nothing names %s/%s\n", n->dir, name);
        n->dangling++;
    }
    return OK;
}

static void assert_nothing_dangles(struct paimon_bed *bed, struct paimon_table *table)
{
    static const char *const dirs[] = {"manifest", "bucket-0", "bucket-1"};
    struct arena arena = {0};
    struct names n = {.table = table};
    int64_t earliest, latest;
    MUST(paimon_snapshot_range(table, &earliest, &latest, &err));
    for (int64_t id = earliest; id && id <= latest; id++) {
        struct paimon_snapshot s;
        MUST(paimon_snapshot_read(table, id, &arena, &s, &err));
        know_list(&n, s.base_list);
        know_list(&n, s.delta_list);
        know_list(&n, s.changelog_list);
    }
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        struct path path;
        n.dir = dirs[i];
        MUST(paimon_path_set(&path, &err, "%s/%s", TABLE_DIR(table), dirs[i]));
        enum err_code code = os_dir_list(bed->os, path.text, see_name, &n, &err);
        assert_true(code == OK || code == ERR_NOT_FOUND);
    }
    assert_int_equal(n.dangling, 0);
    map_deinit(&n.known);
    arena_deinit(&arena);
}

static enum err_code count_data_file(void *arg, const char *name, bool is_dir, struct err *e)
{
    (void)is_dir, (void)e;
    *(size_t *)arg += slice_starts_with(slice_str(name), SLICE("data-"));
    return OK;
}

/* ---- compaction and expiry ---- */

static void compactions_destroy(paimon_compactions *list)
{
    for (size_t i = 0; i < list->len; i++)
        paimon_compaction_destroy(list->ptr[i]);
    vec_deinit(list);
}

static enum err_code compact(struct paimon_table *table, bool full, int64_t *id, struct err *e)
{
    struct paimon_compaction_options options = {.policy = {.full = full}, .rounds_dir = SLICE(BED_ROUNDS)};
    struct paimon_compaction *c;
    struct paimon_committed committed;
    *id = 0;
    TRY(paimon_compaction_pick(table, &options, &c, e));
    if (!c)
        return OK;
    enum err_code code = paimon_compaction_run(c, e);
    if (code == OK)
        code = paimon_compaction_commit(c, &committed, e);
    if (code == OK)
        *id = committed.snapshot_id;
    paimon_compaction_destroy(c);
    return code;
}

static enum err_code expire(struct paimon_table *table, uint32_t keep, struct err *e)
{
    struct paimon_expire_policy policy = {.retain_ms = INT64_MAX / 2, .retain_min = keep, .retain_max = keep};
    uint32_t expired;
    return paimon_expire(table, &policy, &expired, e);
}

static void assert_all_null(struct paimon_table *table, int64_t snapshot_id, const struct schema_column *column)
{
    struct paimon_scan *scan;
    struct column values;
    struct paimon_scan_options options = {
        .snapshot_id = snapshot_id, .bucket = -1, .columns = column, .column_count = 1};
    uint32_t count = 1, rows = 0;
    MUST(paimon_scan_open(table, &options, &scan, &err));
    for (; count; rows += count) {
        MUST(paimon_scan_next(scan, &values, &count, &err));
        if (count)
            assert_int_equal(values.null_count, count);
    }
    assert_true(rows > 0);
    paimon_scan_close(scan);
}

/* ---- beside each other ---- */

static void rounds_follow_each_other(void **state)
{
    (void)state;
    for (int keyed = 0; keyed < 2; keyed++) {
        struct paimon_bed bed;
        struct paimon_table *table;
        struct bed_rows at[8];
        int64_t id;
        paimon_bed_init(&bed, 1, keyed, 2);
        MUST(bed_create(&bed, &err));
        bed_open(&bed, &table);
        for (int i = 1; i < 8; i++) {
            MUST(bed_round(&bed, table, i, 10 + 2 * i, &id, &err));
            assert_int_equal(id, i);
            at[i] = bed.rows;
        }
        for (int i = 1; i < 8; i++)
            bed_assert_rows(&bed, table, i, &at[i]);
        assert_nothing_dangles(&bed, table);
        paimon_table_close(table);
        paimon_bed_deinit(&bed);
    }
}

/* The lake has a column more than the table, as between the two steps of ALTER TABLE, or behind a crash there. */
static void a_round_of_a_narrower_table_writes_nulls(void **state)
{
    (void)state;
    for (int keyed = 0; keyed < 2; keyed++) {
        struct paimon_bed bed;
        struct paimon_table *table;
        struct schema_column more = {.name = SLICE("n"), .type = type_simple(TYPE_INTEGER)};
        int64_t id;
        paimon_bed_init(&bed, 1, keyed, 2);
        MUST(bed_create(&bed, &err));
        bed_open(&bed, &table);
        MUST(bed_round(&bed, table, 0, 20, &id, &err)); /* before the lake knows of it */
        struct table_descriptor narrow = bed.descriptor;
        MUST(schema_add_column(&bed.arena, &bed.descriptor.schema, &more, &err));
        MUST(paimon_table_alter(bed.os, &bed.place, &bed.descriptor, &err));
        bed.descriptor = narrow;
        MUST(bed_round(&bed, table, 5, 30, &id, &err));
        bed_assert_rows(&bed, table, id, &bed.rows);
        assert_all_null(table, id, &more);
        assert_nothing_dangles(&bed, table);
        paimon_table_close(table);
        paimon_bed_deinit(&bed);
    }
}

static void a_round_that_another_overtook_is_a_conflict_and_leaves_nothing(void **state)
{
    (void)state;
    struct paimon_bed bed;
    struct paimon_table *a, *b;
    struct paimon_round *round;
    struct bed_rows lost;
    int64_t id;
    paimon_bed_init(&bed, 2, true, 2);
    MUST(bed_create(&bed, &err));
    bed_open(&bed, &a);
    bed_open(&bed, &b);
    MUST(bed_begin(&bed, a, &round, &err));
    MUST(bed_change(&bed, round, 0, 9, &lost, &err));
    MUST(bed_round(&bed, b, 3, 12, &id, &err));
    MUST_FAIL(ERR_LAKE_CONFLICT, bed_commit(round, "lost", &id, &err));
    paimon_round_destroy(round);
    bed_assert_rows(&bed, a, 1, &bed.rows);
    assert_nothing_dangles(&bed, a);
    MUST(bed_round(&bed, a, 3, 12, &id, &err));
    bed_assert_rows(&bed, b, 2, &bed.rows);
    paimon_table_close(a);
    paimon_table_close(b);
    paimon_bed_deinit(&bed);
}

static struct slice offsets_of(struct paimon_table *table, int64_t id, struct arena *arena)
{
    struct paimon_snapshot s;
    MUST(paimon_snapshot_read(table, id, arena, &s, &err));
    const struct slice *offsets = properties_get(&s.properties, PAIMON_OFFSETS_PROPERTY);
    return offsets ? *offsets : (struct slice){0};
}

/* A compaction is prepared aside while rounds go on, and the other way round. */
static void compactions_and_rounds_pass_each_other(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct paimon_bed bed;
    struct paimon_table *a, *b;
    struct paimon_compaction *c;
    struct paimon_compaction_options options = {.policy = {.full = true}, .rounds_dir = SLICE(BED_ROUNDS)};
    struct paimon_committed committed;
    struct paimon_round *round;
    struct bed_rows rows;
    int64_t id;
    paimon_bed_init(&bed, 3, true, 1);
    MUST(bed_create(&bed, &err));
    bed_open(&bed, &a);
    bed_open(&bed, &b);
    MUST(bed_round(&bed, a, 0, 20, &id, &err));
    MUST(bed_round(&bed, a, 5, 25, &id, &err));
    MUST(paimon_compaction_pick(b, &options, &c, &err));
    MUST(paimon_compaction_run(c, &err));
    rows = bed.rows;
    MUST(bed_begin(&bed, a, &round, &err));
    MUST(bed_change(&bed, round, 2, 30, &rows, &err));
    MUST(bed_commit(round, "third", &id, &err));
    paimon_round_destroy(round);
    MUST(paimon_compaction_commit(c, &committed, &err));
    paimon_compaction_destroy(c);
    assert_int_equal(committed.snapshot_id, 4);
    assert_int_equal(committed.followed_id, 3);
    assert_slice_equal(offsets_of(b, 4, &arena), SLICE("third")); /* V of the round before it */
    bed_assert_rows(&bed, a, 3, &rows);
    bed_assert_rows(&bed, a, 4, &rows);
    MUST(bed_begin(&bed, a, &round, &err));
    MUST(bed_change(&bed, round, 1, 9, &rows, &err));
    MUST(compact(b, true, &id, &err));
    assert_int_equal(id, 5);
    MUST(bed_commit(round, "fourth", &id, &err));
    paimon_round_destroy(round);
    bed_assert_rows(&bed, b, 6, &rows);
    assert_nothing_dangles(&bed, a);
    paimon_table_close(a);
    paimon_table_close(b);
    paimon_bed_deinit(&bed);
    arena_deinit(&arena);
}

/* Each bucket is compacted by itself; one snapshot holds them all. */
static void many_buckets_are_compacted_in_one_commit(void **state)
{
    (void)state;
    struct paimon_bed bed;
    struct paimon_table *table;
    struct paimon_compaction_options options = {.policy = {.full = true}, .rounds_dir = SLICE(BED_ROUNDS)};
    paimon_compactions list = {0};
    struct paimon_committed committed;
    int64_t id;
    paimon_bed_init(&bed, 5, true, 3);
    MUST(bed_create(&bed, &err));
    bed_open(&bed, &table);
    MUST(bed_round(&bed, table, 0, 30, &id, &err));
    MUST(bed_round(&bed, table, 5, 32, &id, &err));
    MUST(paimon_compactions_pick(table, &options, 2, UINT64_MAX, &list, &err));
    assert_int_equal(list.len, 2); /* of three */
    compactions_destroy(&list);
    MUST(paimon_compactions_pick(table, &options, 8, 1, &list, &err));
    assert_int_equal(list.len, 1); /* it reads more than one byte */
    compactions_destroy(&list);
    MUST(paimon_compactions_pick(table, &options, 8, UINT64_MAX, &list, &err));
    assert_int_equal(list.len, 3);
    for (size_t i = 0; i < list.len; i++)
        MUST(paimon_compaction_run(list.ptr[i], &err));
    MUST(paimon_compactions_commit(list.ptr, list.len, &committed, &err));
    assert_int_equal(committed.snapshot_id, id + 1);
    compactions_destroy(&list);
    bed_assert_rows(&bed, table, committed.snapshot_id, &bed.rows);
    assert_nothing_dangles(&bed, table);
    MUST(compact(table, true, &id, &err));
    assert_int_equal(id, 0);
    paimon_table_close(table);
    paimon_bed_deinit(&bed);
}

static void a_compaction_whose_files_are_gone_is_a_conflict(void **state)
{
    (void)state;
    struct paimon_bed bed;
    struct paimon_table *a, *b;
    struct paimon_compaction *c;
    struct paimon_compaction_options options = {.policy = {.full = true}, .rounds_dir = SLICE(BED_ROUNDS)};
    struct paimon_committed committed;
    int64_t id;
    paimon_bed_init(&bed, 4, true, 1);
    MUST(bed_create(&bed, &err));
    bed_open(&bed, &a);
    bed_open(&bed, &b);
    MUST(bed_round(&bed, a, 0, 20, &id, &err));
    MUST(bed_round(&bed, a, 5, 25, &id, &err));
    MUST(paimon_compaction_pick(b, &options, &c, &err));
    MUST(paimon_compaction_run(c, &err));
    MUST(compact(a, true, &id, &err));
    MUST_FAIL(ERR_LAKE_CONFLICT, paimon_compaction_commit(c, &committed, &err));
    paimon_compaction_destroy(c);
    bed_assert_rows(&bed, a, 3, &bed.rows);
    assert_nothing_dangles(&bed, a);
    paimon_table_close(a);
    paimon_table_close(b);
    paimon_bed_deinit(&bed);
}

static void a_round_can_be_taken_back(void **state)
{
    (void)state;
    struct paimon_bed bed;
    struct paimon_table *table;
    struct paimon_round *round;
    struct bed_rows rows;
    uint32_t swept;
    paimon_bed_init(&bed, 5, true, 2);
    MUST(bed_create(&bed, &err));
    bed_open(&bed, &table);
    MUST(bed_begin(&bed, table, &round, &err));
    MUST(bed_change(&bed, round, 0, 20, &rows, &err));
    paimon_round_destroy(round);
    assert_nothing_dangles(&bed, table);
    MUST(paimon_sweep(bed.os, SLICE(BED_ROUNDS), &swept, &err));
    assert_int_equal(swept, 0);
    paimon_table_close(table);
    paimon_bed_deinit(&bed);
}

/* The server creates no such table yet, but the files of one are as Paimon wants them. */
/* Tables partitioned by a date, with one bucket each. */
static void partitioned_bed_init(struct paimon_bed *bed, struct paimon_table **table)
{
    static const char json[] =
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[{\"name\":\"id\",\"data_type\":{\"type\":"
        "\"INTEGER\",\"nullable\":false}},{\"name\":\"d\",\"data_type\":{\"type\":\"DATE\",\"nullable\":false}}],"
        "\"primary_key\":[\"id\",\"d\"]},\"partition_key\":[\"d\"],\"bucket_key\":[\"id\"],\"bucket_count\":1,"
        "\"properties\":{},\"custom_properties\":{}}";
    paimon_bed_init(bed, 9, true, 1);
    MUST(table_descriptor_from_json(&bed->arena, slice_str(json), &bed->descriptor, &err));
    MUST(table_descriptor_normalize(&bed->arena, &bed->descriptor, &err));
    MUST(bed_create(bed, &err));
    bed_open(bed, table);
}

/* The keys 0..count-1, into the partition of that day. */
static void put_keys(struct paimon_bed *bed, struct paimon_round *round, int32_t day, int32_t count)
{
    struct datum partition = {.i64 = day};
    struct paimon_bucket *bucket;
    MUST(paimon_round_bucket(round, &partition, 0, &bucket, &err));
    for (int32_t id = 0; id < count; id++) {
        struct column columns[2];
        struct paimon_change change = {PAIMON_INSERT, id, 0, id, 1};
        for (int c = 0; c < 2; c++)
            columns[c] = (struct column){.type = bed->descriptor.schema.columns[c].type,
                                         .length = 1,
                                         .data = (uint8_t *)(c ? &day : &id),
                                         .data_len = 4};
        MUST(paimon_bucket_change(bucket, &change, columns, 0, &err));
    }
    MUST(paimon_bucket_end(bucket, &err));
    MUST(paimon_bucket_end(bucket, &err));
}

static bool has_partition(const struct paimon_bed *bed, struct paimon_table *table, const char *name)
{
    struct path dir;
    struct os_stat found;
    MUST(paimon_path_set(&dir, &err, "%s/%s/bucket-0", TABLE_DIR(table), name));
    return os_stat(bed->os, dir.text, &found, NULL) == OK;
}

static void partitions_have_directories_and_sequences_of_their_own(void **state)
{
    (void)state;
    struct paimon_bed bed;
    struct paimon_table *table;
    struct paimon_round *round;
    struct paimon_committed committed;
    struct paimon_stat stat;
    partitioned_bed_init(&bed, &table);
    MUST(bed_begin(&bed, table, &round, &err));
    for (int32_t day = 0; day < 3; day++)
        put_keys(&bed, round, day, day + 1);
    MUST(paimon_round_commit(round, NULL, &committed, &err));
    paimon_round_destroy(round);
    assert_int_equal(committed.file_count, 6);
    MUST(paimon_snapshot_stat(table, 1, &bed.arena, &stat, &err));
    assert_int_equal(stat.bucket_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(stat.buckets[i].sequence_max, stat.buckets[i].row_count - 1);
    assert_true(has_partition(&bed, table, "d=1970-01-03"));
    paimon_table_close(table);
    paimon_bed_deinit(&bed);
}

static size_t data_file_count(const struct paimon_bed *bed, struct paimon_table *table, const char *partition)
{
    struct path dir;
    size_t count = 0;
    MUST(paimon_path_set(&dir, &err, "%s/%s/bucket-0", TABLE_DIR(table), partition));
    MUST(os_dir_list(bed->os, dir.text, count_data_file, &count, &err));
    return count;
}

/* What a compaction replaced in one partition goes with its snapshots, the files of the others stay. */
static void expiry_takes_the_files_of_each_partition_that_nobody_needs(void **state)
{
    (void)state;
    struct paimon_bed bed;
    struct paimon_table *table;
    struct paimon_committed committed;
    struct paimon_stat stat;
    int64_t id, earliest, latest;
    partitioned_bed_init(&bed, &table);
    for (int32_t round_count = 0; round_count < 6; round_count++) {
        struct paimon_round *round;
        MUST(bed_begin(&bed, table, &round, &err));
        put_keys(&bed, round, 0, round_count + 1); /* each round */
        if (round_count == 0)
            put_keys(&bed, round, 1, 4); /* once, never merged */
        MUST(paimon_round_commit(round, NULL, &committed, &err));
        paimon_round_destroy(round);
    }
    assert_int_equal(data_file_count(&bed, table, "d=1970-01-01"), 6);
    do
        MUST(compact(table, true, &id, &err));
    while (id);
    assert_int_equal(data_file_count(&bed, table, "d=1970-01-01"), 7); /* the old ones are others' still */
    MUST(expire(table, 1, &err));
    MUST(paimon_snapshot_range(table, &earliest, &latest, &err));
    assert_int_equal(earliest, latest);
    assert_int_equal(data_file_count(&bed, table, "d=1970-01-01"), 1);
    assert_int_equal(data_file_count(&bed, table, "d=1970-01-02"), 1);
    MUST(paimon_snapshot_stat(table, latest, &bed.arena, &stat, &err));
    assert_int_equal(stat.bucket_count, 2);
    assert_int_equal(stat.buckets[0].row_count, 6);
    assert_int_equal(stat.buckets[1].row_count, 4);
    paimon_table_close(table);
    paimon_bed_deinit(&bed);
}

static void refuses_what_does_not_belong_to_the_table(void **state)
{
    (void)state;
    struct paimon_bed bed;
    struct paimon_table *table;
    struct paimon_round *round;
    struct paimon_bucket *bucket;
    struct column columns[2];
    int32_t id = 5;
    int64_t v = 1;
    paimon_bed_init(&bed, 6, true, 2);
    MUST(bed_create(&bed, &err));
    bed_open(&bed, &table);
    struct schema_column more[3] = {bed.descriptor.schema.columns[0],
                                    bed.descriptor.schema.columns[1],
                                    {.name = SLICE("n"), .type = type_simple(TYPE_INTEGER)}};
    struct paimon_round_options options = {.columns = more, .column_count = 3};
    MUST_FAIL(ERR_LAKE, paimon_round_begin(table, &options, &round, &err));
    options.column_count = 0; /* the first one may not be null */
    MUST_FAIL(ERR_LAKE, paimon_round_begin(table, &options, &round, &err));
    struct schema_column swapped[2] = {bed.descriptor.schema.columns[1], bed.descriptor.schema.columns[0]};
    options = (struct paimon_round_options){.columns = swapped, .column_count = 2};
    MUST_FAIL(ERR_LAKE, paimon_round_begin(table, &options, &round, &err));
    MUST(bed_begin(&bed, table, &round, &err));
    MUST_FAIL(ERR_LAKE, paimon_round_bucket(round, NULL, 2, &bucket, &err));
    MUST(paimon_round_bucket(round, NULL, 1, &bucket, &err));
    bed_row(&id, &v, &bed, columns);
    struct paimon_change change = {PAIMON_INSERT, 3, 1, 1, 1};
    MUST(paimon_bucket_change(bucket, &change, columns, 0, &err));
    MUST_FAIL(ERR_INTERNAL, paimon_bucket_change(bucket, &change, columns, 0, &err)); /* the same position */
    id = 4;
    change.position = 4;
    MUST_FAIL(ERR_INTERNAL, paimon_bucket_change(bucket, &change, columns, 0, &err)); /* a lesser key */
    paimon_round_destroy(round);
    paimon_table_close(table);
    paimon_bed_deinit(&bed);
}

static void snapshots_go_by_age_and_number_and_stay_when_named(void **state)
{
    (void)state;
    static const int64_t fourth = 4;
    static const struct {
        const char *name;
        struct paimon_expire_policy policy;
        int64_t earliest; /* afterwards, of 10 snapshots of one second each */
    } cases[] = {
        {"young", {.retain_ms = 60000, .retain_min = 1}, 1},
        {"the next one is older than 3.5 s", {.retain_ms = 3500, .retain_min = 1}, 7},
        {"all are old, three stay", {.retain_ms = 0, .retain_min = 3}, 8},
        {"more than four go whatever their age", {.retain_ms = 60000, .retain_min = 1, .retain_max = 4}, 7},
        {"two in one call", {.retain_ms = 0, .retain_min = 1, .delete_max = 2}, 3},
        {"the fourth is registered", {.retain_ms = 0, .retain_min = 1, .keep = &fourth, .keep_count = 1}, 4},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct paimon_bed bed;
        struct paimon_table *table;
        int64_t id, earliest, latest;
        uint32_t expired;
        paimon_bed_init(&bed, 10, true, 1);
        MUST(bed_create(&bed, &err));
        bed_open(&bed, &table);
        for (int k = 0; k < 10; k++) {
            MUST(bed_round(&bed, table, k, k + 9, &id, &err));
            sim_advance(bed.disk, 1000000000);
        }
        MUST(paimon_expire(table, &cases[i].policy, &expired, &err));
        MUST(paimon_snapshot_range(table, &earliest, &latest, &err));
        if (earliest != cases[i].earliest || latest != 10 || expired != earliest - 1)
            fail_msg("%s: from %lld, not %lld", cases[i].name, (long long)earliest, (long long)cases[i].earliest);
        bed_assert_rows(&bed, table, 10, &bed.rows);
        assert_nothing_dangles(&bed, table);
        paimon_table_close(table);
        paimon_bed_deinit(&bed);
    }
}

/* ---- a disk that stops ---- */

#define SNAPSHOTS_MAX 16

struct program {
    struct paimon_bed bed;
    struct bed_rows at[SNAPSHOTS_MAX]; /* by snapshot id, as far as a snapshot can be */
};

/* Two rounds, a compaction, another round, expiry. */
static enum err_code run(struct program *p, struct err *e)
{
    struct paimon_table *table = NULL;
    struct paimon_bed *bed = &p->bed;
    struct paimon_round *round = NULL;
    enum err_code code;
    int64_t id = 0;
    TRY_OR_FAIL(bed_create(bed, e));
    TRY_OR_FAIL(paimon_table_open(bed->os, &bed->place, &table, e));
    for (int i = 1; i <= 3; i++) {
        struct bed_rows rows = bed->rows;
        TRY_OR_FAIL(bed_begin(bed, table, &round, e));
        TRY_OR_FAIL(bed_change(bed, round, i, 10 + 5 * i, &rows, e));
        p->at[paimon_round_base(round) + 1] = rows;
        TRY_OR_FAIL(bed_commit(round, "offsets", &id, e));
        paimon_round_destroy(round);
        round = NULL;
        bed->rows = rows;
        p->at[id + 1] = rows; /* a compaction changes nothing */
        if (i == 2)
            TRY_OR_FAIL(compact(table, true, &id, e));
    }
    TRY_OR_FAIL(expire(table, 2, e));
fail:
    paimon_round_destroy(round);
    paimon_table_close(table);
    return code;
}

/* After the restart: what is there is a snapshot whole, nothing else, and the table goes on. */
static void check_after(struct program *p)
{
    struct paimon_bed *bed = &p->bed;
    struct paimon_table *table;
    int64_t earliest, latest, id;
    uint32_t swept;
    MUST(paimon_sweep(bed->os, SLICE(BED_ROUNDS), &swept, &err));
    MUST(bed_create(bed, NULL) == ERR_LAKE_TABLE_ALREADY_EXIST ? OK : bed_create(bed, &err));
    bed_open(bed, &table);
    MUST(paimon_snapshot_range(table, &earliest, &latest, &err));
    assert_in_range(latest, 0, SNAPSHOTS_MAX - 1);
    MUST(expire(table, 2, &err));
    MUST(paimon_snapshot_range(table, &earliest, &latest, &err));
    for (int64_t i = MAX(earliest, 1); i <= latest; i++)
        bed_assert_rows(bed, table, i, &p->at[i]);
    assert_nothing_dangles(bed, table);
    bed->rows = p->at[latest];
    MUST(bed_round(bed, table, 0, 30, &id, &err));
    assert_int_equal(id, latest + 1);
    bed_assert_rows(bed, table, id, &bed->rows);
    MUST(compact(table, true, &id, &err));
    MUST(paimon_snapshot_range(table, &earliest, &latest, &err));
    bed_assert_rows(bed, table, latest, &bed->rows);
    assert_nothing_dangles(bed, table);
    paimon_table_close(table);
}

enum ending { KILLED, CRASHED };

static void stop_everywhere(bool keyed, enum ending ending, uint64_t stride)
{
    for (uint64_t step = 0;; step += stride) {
        struct program p = {0};
        paimon_bed_init(&p.bed, 100 + step, keyed, 2);
        sim_stop_after(p.bed.disk, step);
        enum err_code code = run(&p, &err);
        if (ending == KILLED)
            sim_kill(p.bed.os);
        else
            sim_crash(p.bed.os);
        sim_stop_after(p.bed.disk, UINT64_MAX);
        p.bed.os = sim_boot(p.bed.disk);
        check_after(&p);
        paimon_bed_deinit(&p.bed);
        if (code == OK) {
            assert_true(step > 100);
            break;
        }
    }
}

static void a_kill_at_any_step_leaves_a_whole_snapshot_and_nothing_else(void **state)
{
    (void)state;
    stop_everywhere(true, KILLED, 3);
    stop_everywhere(false, KILLED, 11);
}

static void a_power_cut_at_any_step_too(void **state)
{
    (void)state;
    stop_everywhere(true, CRASHED, 2);
}

static void a_failed_sync_fails_the_round_or_comes_after_it(void **state)
{
    (void)state;
    enum err_code code = ERR_IO;
    for (uint64_t nth = 0; code != OK; nth++) {
        struct program p = {0};
        paimon_bed_init(&p.bed, 7, true, 2);
        sim_fail_sync(p.bed.disk, nth);
        code = run(&p, &err);
        sim_fail_sync(p.bed.disk, UINT64_MAX);
        sim_kill(p.bed.os);
        p.bed.os = sim_boot(p.bed.disk);
        check_after(&p);
        paimon_bed_deinit(&p.bed);
    }
}

static void a_full_disk_fails_the_round_and_takes_it_back(void **state)
{
    (void)state;
    struct paimon_bed bed;
    struct paimon_table *table;
    int64_t id;
    bool failed = false;
    paimon_bed_init(&bed, 8, true, 2);
    MUST(bed_create(&bed, &err));
    bed_open(&bed, &table);
    MUST(bed_round(&bed, table, 0, 20, &id, &err));
    uint64_t used = sim_used_bytes(bed.disk);
    for (uint64_t room = 0; room < 40000; room += 500) {
        sim_set_capacity(bed.disk, used + room);
        enum err_code code = bed_round(&bed, table, 5, 25, &id, &err);
        if (code == OK)
            break;
        assert_int_equal(code, ERR_DISK_FULL);
        failed = true;
        sim_set_capacity(bed.disk, UINT64_MAX);
        assert_nothing_dangles(&bed, table);
        bed_assert_rows(&bed, table, 1, &bed.rows);
    }
    assert_true(failed);
    assert_int_equal(id, 2);
    bed_assert_rows(&bed, table, 2, &bed.rows);
    paimon_table_close(table);
    paimon_bed_deinit(&bed);
}

TESTS("paimon.round", TEST(rounds_follow_each_other), TEST(a_round_of_a_narrower_table_writes_nulls),
      TEST(a_round_that_another_overtook_is_a_conflict_and_leaves_nothing),
      TEST(compactions_and_rounds_pass_each_other), TEST(many_buckets_are_compacted_in_one_commit),
      TEST(a_compaction_whose_files_are_gone_is_a_conflict), TEST(a_round_can_be_taken_back),
      TEST(partitions_have_directories_and_sequences_of_their_own),
      TEST(expiry_takes_the_files_of_each_partition_that_nobody_needs),
      TEST(snapshots_go_by_age_and_number_and_stay_when_named), TEST(refuses_what_does_not_belong_to_the_table),
      TEST(a_kill_at_any_step_leaves_a_whole_snapshot_and_nothing_else), TEST(a_power_cut_at_any_step_too),
      TEST(a_failed_sync_fails_the_round_or_comes_after_it), TEST(a_full_disk_fails_the_round_and_takes_it_back))
