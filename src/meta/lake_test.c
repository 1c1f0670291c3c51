#include "lib/meta_bed.h"
#include "meta/meta_int.h"

#include <jansson.h>

static struct meta_bed bed;
static struct err err;
static int64_t table_id;

static int set_up(void **state)
{
    (void)state;
    meta_bed_init(&bed, 1);
    err = (struct err){0};
    table_id = meta_bed_create(&bed, "t", 3);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    meta_bed_deinit(&bed);
    return 0;
}

#define FLUSS SLICE("fluss")
#define NAME SLICE("t")
#define DIR META_BED_REMOTE "/lake/fluss/t-0/metadata"

/* Offsets of buckets 0, 1, 2; -1 leaves one out. */
static struct lake_offsets offsets_of(int64_t a, int64_t b, int64_t c)
{
    const int64_t ends[] = {a, b, c};
    struct lake_offset *items = ARENA_NEW_ARRAY(&bed.arena, struct lake_offset, 3);
    size_t count = 0;
    for (int32_t i = 0; i < 3; i++)
        if (ends[i] >= 0)
            items[count++] = (struct lake_offset){-1, i, ends[i]};
    return (struct lake_offsets){items, count};
}

static struct slice prepare(int64_t a, int64_t b, int64_t c)
{
    struct slice path;
    struct lake_offsets offsets = offsets_of(a, b, c);
    MUST(meta_lake_prepare(bed.meta, table_id, FLUSS, NAME, &offsets, false, &bed.arena, &path, &err));
    return path;
}

/* Registers as a stock worker without deletion vectors does: readable at once, nothing to keep. */
static void commit(int64_t snapshot_id, struct slice path)
{
    struct lake_commit commit = {
        .table_id = table_id, .snapshot_id = snapshot_id, .tiered_path = path, .readable_path = path};
    MUST(meta_lake_commit(bed.meta, &commit, &err));
}

/* As a worker does that has found a snapshot of a worker that died: no readable path, all earlier ones stay. */
static void commit_found(int64_t snapshot_id, struct slice path)
{
    struct lake_commit commit = {.table_id = table_id,
                                 .snapshot_id = snapshot_id,
                                 .tiered_path = path,
                                 .has_earliest = true,
                                 .earliest_snapshot_id = -1};
    MUST(meta_lake_commit(bed.meta, &commit, &err));
}

static void assert_snapshot(enum lake_which which, int64_t asked, int64_t snapshot_id, struct lake_offsets want)
{
    struct lake_snapshot_info info;
    MUST(meta_lake_snapshot(bed.meta, table_id, which, asked, &bed.arena, &info, &err));
    assert_int_equal(info.snapshot_id, snapshot_id);
    assert_true(lake_offsets_equal(info.offsets, want));
}

static bool is_there(struct slice path)
{
    struct os_stat stat;
    return os_stat(bed.os, arena_cstr(&bed.arena, path), &stat, NULL) == OK;
}

static enum err_code count_one(void *arg, const char *name, bool is_dir, struct err *e)
{
    (void)name, (void)is_dir, (void)e;
    ++*(size_t *)arg;
    return OK;
}

static size_t file_count(void)
{
    size_t count = 0;
    MUST(os_dir_list(bed.os, DIR, count_one, &count, &err));
    return count;
}

/* ---- the JSON ---- */

static void golden_line(void *arg, struct slice line)
{
    json_t *root = json_loadb((const char *)line.ptr, line.len, 0, NULL);
    const char *kind = json_string_value(json_object_get(root, "kind"));
    if (kind && strcmp(kind, "table_bucket_offsets") == 0) {
        struct slice text = slice_str(json_string_value(json_object_get(root, "text")));
        struct lake_offsets offsets;
        struct buf out = {0};
        MUST(lake_offsets_from_json(&bed.arena, 7, text, &offsets, &err));
        lake_offsets_to_json(7, offsets, &out);
        assert_slice_equal(buf_view(&out), text);
        for (size_t cut = 0; cut < text.len; cut++)
            MUST_FAIL(ERR_CORRUPT, lake_offsets_from_json(&bed.arena, 7, slice_of(text.ptr, cut), &offsets, &err));
        MUST_FAIL(ERR_CORRUPT, lake_offsets_from_json(&bed.arena, 8, text, &offsets, &err));
        buf_deinit(&out);
        ++*(int *)arg;
    }
    json_decref(root);
}

static void golden_offsets_are_written_as_they_were_read(void **state)
{
    (void)state;
    int seen = 0;
    test_each_line("schemas", golden_line, &seen);
    assert_int_equal(seen, 3);
}

/* The file that the real Fluss left beside a Paimon table. */
static void an_offsets_file_of_fluss_is_read(void **state)
{
    (void)state;
    struct buf bytes = {0};
    MUST(os_read_whole(os_real(),
                       "test/golden/paimon-by-fluss/pk-compacted/remote/lake/golden/pk_compacted-1/metadata/"
                       "61a201d6-ce35-4354-9f11-7d78e720a232.offsets",
                       1000, &bytes, &err));
    struct lake_offsets offsets;
    MUST(lake_offsets_from_json(&bed.arena, 1, buf_view(&bytes), &offsets, &err));
    assert_true(lake_offsets_equal(offsets, offsets_of(69, -1, -1)));
    buf_deinit(&bytes);
}

static void offsets_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "[]",
        "{\"table_id\":7}",
        "{\"version\":2,\"table_id\":7}",
        "{\"version\":1,\"table_id\":\"7\"}",
        "{\"version\":1,\"table_id\":7,\"bucket_offsets\":{}}",
        "{\"version\":1,\"table_id\":7,\"bucket_offsets\":[1.5]}",
        "{\"version\":1,\"table_id\":7,\"bucket_offsets\":[-2]}",
        "{\"version\":1,\"table_id\":7,\"bucket_offsets\":[9223372036854775808]}",
        "{\"version\":1,\"table_id\":7,\"bucket_offsets\":[null]}",
        "{\"version\":1,\"table_id\":7,\"bucket_offsets\":[1],\"partition_offsets\":[]}",
        "{\"version\":1,\"table_id\":7,\"partition_offsets\":[{\"bucket_offsets\":[1]}]}",
        "{\"version\":1,\"table_id\":7,\"partition_offsets\":[{\"partition_id\":-1,\"bucket_offsets\":[1]}]}",
        "{\"version\":1,\"table_id\":7,\"partition_offsets\":[{\"partition_id\":1}]}",
        ("{\"version\":1,\"table_id\":7,\"partition_offsets\":[{\"partition_id\":1,\"bucket_offsets\":[1]},"
         "{\"partition_id\":1,\"bucket_offsets\":[1]}]}"),
        "{\"version\":1,\"table_id\":7,\"table_id\":7}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct lake_offsets offsets;
        if (lake_offsets_from_json(&bed.arena, 7, slice_str(bad[i]), &offsets, &err) != ERR_CORRUPT)
            fail_msg("taken: %s", bad[i]);
    }
}

/* ---- PREPARE ---- */

static void prepare_merges_with_the_latest_and_registers_nothing(void **state)
{
    (void)state;
    commit(1, prepare(10, 20, -1));
    struct slice path = prepare(15, -1, 7);
    assert_snapshot(LAKE_LATEST, 0, 1, offsets_of(10, 20, -1));
    assert_true(slice_starts_with(path, SLICE(DIR "/")));
    struct buf bytes = {0};
    MUST(os_read_whole(bed.os, arena_cstr(&bed.arena, path), 1000, &bytes, &err));
    assert_slice_equal(buf_view(&bytes), SLICE("{\"version\":1,\"table_id\":0,\"bucket_offsets\":[15,20,7]}"));
    buf_deinit(&bytes);
    commit(2, path);
    assert_snapshot(LAKE_LATEST, 0, 2, offsets_of(15, 20, 7));
}

static void prepare_can_ignore_what_is_registered(void **state)
{
    (void)state;
    commit(1, prepare(10, 20, 30));
    struct slice path;
    struct lake_offsets offsets = offsets_of(12, -1, -1);
    MUST(meta_lake_prepare(bed.meta, table_id, FLUSS, NAME, &offsets, true, &bed.arena, &path, &err));
    struct buf bytes = {0};
    MUST(os_read_whole(bed.os, arena_cstr(&bed.arena, path), 1000, &bytes, &err));
    assert_slice_equal(buf_view(&bytes), SLICE("{\"version\":1,\"table_id\":0,\"bucket_offsets\":[12]}"));
    buf_deinit(&bytes);
}

/* A worker that was believed lost is stopped before it commits rows that another one has tiered meanwhile. */
static void prepare_of_a_round_that_was_overtaken_is_refused(void **state)
{
    (void)state;
    struct slice path;
    struct lake_offsets behind = offsets_of(30, 19, -1), same = offsets_of(10, 20, -1);
    commit(1, prepare(10, 20, -1));
    MUST_FAIL(ERR_FENCED_TIERING_EPOCH_EXCEPTION,
              meta_lake_prepare(bed.meta, table_id, FLUSS, NAME, &behind, false, &bed.arena, &path, &err));
    assert_non_null(strstr(err.text, "bucket 1: the lake holds its log up to 20 already, the round ends at 19"));
    MUST(meta_lake_prepare(bed.meta, table_id, FLUSS, NAME, &behind, true, &bed.arena, &path, &err));
    MUST(meta_lake_prepare(bed.meta, table_id, FLUSS, NAME, &same, false, &bed.arena, &path, &err));
}

/* With deletion vectors stock prepares what readers may see by now, which is behind what was tiered. */
static void prepare_may_go_back_with_deletion_vectors(void **state)
{
    (void)state;
    struct table_descriptor descriptor = meta_bed_table(&bed, 3, true);
    properties_set(&bed.arena, &descriptor.custom_properties, SLICE("paimon.deletion-vectors.enabled"), SLICE("true"));
    meta_bed_drop(&bed, "t");
    table_id = meta_bed_create_as(&bed, "t", &descriptor);
    commit(2, prepare(10, 20, 30));
    commit_found(1, prepare(10, 19, 30));
    assert_snapshot(LAKE_LATEST, 0, 2, offsets_of(10, 20, 30));
}

static void prepare_of_a_table_made_anew_is_refused(void **state)
{
    (void)state;
    struct slice path;
    struct lake_offsets offsets = offsets_of(1, -1, -1);
    meta_bed_drop(&bed, "t");
    meta_bed_create(&bed, "t", 3);
    MUST_FAIL(ERR_TABLE_NOT_EXIST,
              meta_lake_prepare(bed.meta, 0, FLUSS, NAME, &offsets, false, &bed.arena, &path, &err));
    MUST_FAIL(ERR_TABLE_NOT_EXIST,
              meta_lake_prepare(bed.meta, 1, FLUSS, SLICE("u"), &offsets, false, &bed.arena, &path, &err));
    MUST(meta_lake_prepare(bed.meta, 1, FLUSS, NAME, &offsets, false, &bed.arena, &path, &err));
}

static void prepare_checks_its_buckets(void **state)
{
    (void)state;
    struct slice path;
    const struct {
        struct lake_offset offsets[2];
        enum err_code want;
    } bad[] = {
        {{{-1, 3, 1}, {-1, 0, 1}}, ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION}, /* there are 0, 1, 2 */
        {{{0, 0, 1}, {0, 1, 1}}, ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION},   /* of a partition */
        {{{-1, -1, 1}, {-1, 0, 1}}, ERR_INVALID_ARGUMENT},
        {{{-1, 0, -2}, {-1, 1, 1}}, ERR_INVALID_ARGUMENT},
        {{{-1, 0, 1}, {-1, 0, 2}}, ERR_INVALID_ARGUMENT}, /* twice */
        {{{-1, 0, 1}, {5, 1, 2}}, ERR_INVALID_ARGUMENT},  /* partitioned and not */
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct lake_offsets offsets = {(struct lake_offset *)(uintptr_t)bad[i].offsets, 2};
        MUST_FAIL(bad[i].want,
                  meta_lake_prepare(bed.meta, table_id, FLUSS, NAME, &offsets, false, &bed.arena, &path, &err));
    }
    struct lake_offsets many = {NULL, META_LAKE_BUCKETS_MAX + 1};
    MUST_FAIL(ERR_INVALID_ARGUMENT,
              meta_lake_prepare(bed.meta, table_id, FLUSS, NAME, &many, false, &bed.arena, &path, &err));
}

/* ---- COMMIT and reading ---- */

static void a_table_without_snapshots_says_so(void **state)
{
    (void)state;
    struct lake_snapshot_info info;
    MUST_FAIL(ERR_LAKE_SNAPSHOT_NOT_EXIST,
              meta_lake_snapshot(bed.meta, table_id, LAKE_LATEST, 0, &bed.arena, &info, &err));
    MUST_FAIL(ERR_LAKE_SNAPSHOT_NOT_EXIST,
              meta_lake_snapshot(bed.meta, table_id, LAKE_READABLE, 0, &bed.arena, &info, &err));
    MUST_FAIL(ERR_TABLE_NOT_EXIST, meta_lake_snapshot(bed.meta, 9, LAKE_LATEST, 0, &bed.arena, &info, &err));
    commit(5, prepare(1, 1, 1));
    MUST_FAIL(ERR_LAKE_SNAPSHOT_NOT_EXIST,
              meta_lake_snapshot(bed.meta, table_id, LAKE_BY_ID, 4, &bed.arena, &info, &err));
    assert_snapshot(LAKE_BY_ID, 5, 5, offsets_of(1, 1, 1));
}

static void a_regular_commit_replaces_what_was_before(void **state)
{
    (void)state;
    struct slice first = prepare(1, -1, -1);
    commit(1, first);
    struct slice second = prepare(2, -1, -1);
    commit(2, second);
    assert_false(is_there(first));
    assert_true(is_there(second));
    struct lake_snapshot_info info;
    MUST_FAIL(ERR_LAKE_SNAPSHOT_NOT_EXIST,
              meta_lake_snapshot(bed.meta, table_id, LAKE_BY_ID, 1, &bed.arena, &info, &err));
    for (int round = 0; round < 2; round++) {
        assert_snapshot(LAKE_LATEST, 0, 2, offsets_of(2, -1, -1));
        assert_snapshot(LAKE_READABLE, 0, 2, offsets_of(2, -1, -1));
        meta_bed_again(&bed, BED_CRASH);
    }
}

static void a_found_snapshot_is_latest_but_not_readable(void **state)
{
    (void)state;
    struct slice first = prepare(1, 1, -1), second = prepare(2, 2, -1);
    commit(1, first);
    commit_found(2, second);
    for (int round = 0; round < 2; round++) {
        assert_snapshot(LAKE_LATEST, 0, 2, offsets_of(2, 2, -1));
        assert_snapshot(LAKE_READABLE, 0, 1, offsets_of(1, 1, -1));
        meta_bed_again(&bed, BED_KILL);
    }
    assert_true(is_there(first));
    commit(3, prepare(3, 3, 3));
    assert_false(is_there(first));
    assert_false(is_there(second));
    assert_int_equal(file_count(), 1);
}

static void the_readable_snapshot_stays_until_a_newer_one_is_readable(void **state)
{
    (void)state;
    commit(1, prepare(1, 1, 1));
    struct lake_commit unread = {.table_id = table_id, .snapshot_id = 2, .tiered_path = prepare(2, 2, 2)};
    MUST(meta_lake_commit(bed.meta, &unread, &err)); /* says that nothing earlier is needed */
    assert_snapshot(LAKE_READABLE, 0, 1, offsets_of(1, 1, 1));
    assert_snapshot(LAKE_LATEST, 0, 2, offsets_of(2, 2, 2));
}

static void the_earliest_to_keep_is_kept_with_what_follows(void **state)
{
    (void)state;
    for (int64_t id = 1; id <= 4; id++)
        commit_found(id, prepare(id, id, id));
    struct slice path = prepare(9, 9, 9);
    struct lake_commit fifth = {.table_id = table_id,
                                .snapshot_id = 5,
                                .tiered_path = path,
                                .readable_path = path,
                                .has_earliest = true,
                                .earliest_snapshot_id = 3};
    MUST(meta_lake_commit(bed.meta, &fifth, &err));
    struct lake_snapshot_info info;
    MUST_FAIL(ERR_LAKE_SNAPSHOT_NOT_EXIST,
              meta_lake_snapshot(bed.meta, table_id, LAKE_BY_ID, 2, &bed.arena, &info, &err));
    assert_snapshot(LAKE_BY_ID, 3, 3, offsets_of(3, 3, 3));
    assert_snapshot(LAKE_BY_ID, 4, 4, offsets_of(4, 4, 4));
    assert_int_equal(file_count(), 3);
}

static void a_repeated_commit_changes_nothing_and_deletes_nothing(void **state)
{
    (void)state;
    struct slice path = prepare(1, 2, 3);
    for (int i = 0; i < 3; i++) {
        commit(7, path);
        assert_true(is_there(path));
        assert_snapshot(LAKE_LATEST, 0, 7, offsets_of(1, 2, 3));
        meta_bed_again(&bed, i ? BED_CLOSE : BED_KILL);
    }
    commit(7, prepare(1, 2, 3)); /* another file with the same offsets */
    assert_true(is_there(path));
}

static void a_found_snapshot_becomes_readable_when_told_again(void **state)
{
    (void)state;
    struct slice path = prepare(1, 2, 3);
    struct lake_snapshot_info info;
    commit_found(7, path);
    MUST_FAIL(ERR_LAKE_SNAPSHOT_NOT_EXIST,
              meta_lake_snapshot(bed.meta, table_id, LAKE_READABLE, 0, &bed.arena, &info, &err));
    commit(7, path);
    assert_snapshot(LAKE_READABLE, 0, 7, offsets_of(1, 2, 3));
    meta_bed_again(&bed, BED_CRASH);
    assert_snapshot(LAKE_READABLE, 0, 7, offsets_of(1, 2, 3));
}

static void one_snapshot_with_two_offset_vectors_is_refused(void **state)
{
    (void)state;
    commit(7, prepare(1, 2, 3));
    struct lake_commit other = {.table_id = table_id, .snapshot_id = 7, .tiered_path = prepare(2, 2, 3)};
    MUST_FAIL(ERR_INVALID_ARGUMENT, meta_lake_commit(bed.meta, &other, &err));
    assert_snapshot(LAKE_LATEST, 0, 7, offsets_of(1, 2, 3));
}

/* A worker that was believed lost comes back with an older snapshot: the latest must not go back. */
static void older_offsets_never_become_the_latest(void **state)
{
    (void)state;
    struct slice older = prepare(5, 5, 5);
    commit(2, prepare(9, 9, 9));
    commit_found(1, older);
    for (int round = 0; round < 2; round++) {
        assert_snapshot(LAKE_LATEST, 0, 2, offsets_of(9, 9, 9));
        assert_snapshot(LAKE_READABLE, 0, 2, offsets_of(9, 9, 9));
        assert_snapshot(LAKE_BY_ID, 1, 1, offsets_of(5, 5, 5));
        meta_bed_again(&bed, BED_CRASH);
    }
    commit(3, prepare(10, 9, 9));
    assert_snapshot(LAKE_LATEST, 0, 3, offsets_of(10, 9, 9));
    assert_int_equal(file_count(), 1);
}

static void a_lower_id_can_not_hold_more(void **state)
{
    (void)state;
    commit(5, prepare(1, 1, 1));
    struct lake_commit early = {.table_id = table_id, .snapshot_id = 4, .tiered_path = prepare(2, 1, 1)};
    MUST_FAIL(ERR_INVALID_ARGUMENT, meta_lake_commit(bed.meta, &early, &err));
    assert_snapshot(LAKE_LATEST, 0, 5, offsets_of(1, 1, 1));
}

static void a_file_that_two_snapshots_name_stays_with_the_second(void **state)
{
    (void)state;
    struct slice path = prepare(1, 1, 1); /* a compaction carries the offsets of what it compacted */
    commit(1, path);
    commit(2, path);
    assert_true(is_there(path));
    assert_snapshot(LAKE_LATEST, 0, 2, offsets_of(1, 1, 1));
}

/* The compaction of a round's snapshot is told before the round itself is. */
static void of_equal_offsets_the_higher_id_is_the_latest(void **state)
{
    (void)state;
    struct slice path = prepare(1, 1, 1);
    commit(2, path);
    commit(1, path);
    for (int round = 0; round < 2; round++) {
        assert_snapshot(LAKE_LATEST, 0, 2, offsets_of(1, 1, 1));
        assert_snapshot(LAKE_READABLE, 0, 2, offsets_of(1, 1, 1));
        meta_bed_again(&bed, BED_CRASH);
    }
    assert_true(is_there(path));
}

static void only_paths_of_the_table_are_believed(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "/etc/passwd",
        "x.offsets",
        DIR "/../metadata/61a201d6-ce35-4354-9f11-7d78e720a232.offset",
        "/lake/fluss/t-1/metadata/61a201d6-ce35-4354-9f11-7d78e720a232.offsets",
        "/lake/fluss/u-0/metadata/61a201d6-ce35-4354-9f11-7d78e720a232.offsets",
        "/lake/other/t-0/metadata/61a201d6-ce35-4354-9f11-7d78e720a232.offsets",
        "/fluss/t-0/metadata/61a201d6-ce35-4354-9f11-7d78e720a232.offsets",
        "/lake/fluss/t-0/metadata/61A201d6-ce35-4354-9f11-7d78e720a232.offsets",
        "/lake/fluss/t-0/metadata/61a201d6xce35-4354-9f11-7d78e720a232.offsets",
        "61a201d6-ce35-4354-9f11-7d78e720a232.offsets",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct lake_commit commit = {.table_id = table_id, .snapshot_id = 1, .tiered_path = slice_str(bad[i])};
        if (meta_lake_commit(bed.meta, &commit, &err) != ERR_INVALID_ARGUMENT)
            fail_msg("'%s' is believed", bad[i]);
    }
    struct lake_commit gone = {.table_id = table_id,
                               .snapshot_id = 1,
                               .tiered_path = SLICE(DIR "/61a201d6-ce35-4354-9f11-7d78e720a232.offsets")};
    MUST_FAIL(ERR_NOT_FOUND, meta_lake_commit(bed.meta, &gone, &err));
}

/* The property of a lake snapshot names the place where the data directory was when it was written. */
static void a_path_from_before_the_directory_moved_is_understood(void **state)
{
    (void)state;
    struct slice path = prepare(1, 1, 1);
    struct slice file = slice_of(path.ptr + path.len - OFFSETS_NAME_BYTES, OFFSETS_NAME_BYTES);
    commit(1, arena_printf(&bed.arena, "file:///old/place/lake/fluss/t-0/metadata/%.*s", SLICE_ARGS(file)));
    assert_snapshot(LAKE_LATEST, 0, 1, offsets_of(1, 1, 1));
}

static void a_commit_after_the_drop_is_refused_and_leaves_nothing(void **state)
{
    (void)state;
    struct slice path = prepare(1, 1, 1);
    commit(1, path);
    meta_bed_drop(&bed, "t");
    struct lake_commit late = {.table_id = table_id, .snapshot_id = 2, .tiered_path = path};
    MUST_FAIL(ERR_TABLE_NOT_EXIST, meta_lake_commit(bed.meta, &late, &err));
    MUST(meta_delete_done(bed.meta, table_id, &err));
    table_id = meta_bed_create(&bed, "t", 3);
    struct lake_snapshot_info info;
    MUST_FAIL(ERR_LAKE_SNAPSHOT_NOT_EXIST,
              meta_lake_snapshot(bed.meta, table_id, LAKE_LATEST, 0, &bed.arena, &info, &err));
}

static void the_old_form_brings_offsets_in_the_request(void **state)
{
    (void)state;
    commit(1, prepare(1, 1, -1));
    struct lake_bucket_progress told[] = {{-1, 2, 8, 500}, {-1, 0, 5, 600}};
    struct lake_commit old = {.table_id = table_id, .snapshot_id = 2, .progress = told, .progress_count = 2};
    MUST(meta_lake_commit(bed.meta, &old, &err));
    assert_snapshot(LAKE_READABLE, 0, 2, offsets_of(5, 1, 8));
    assert_int_equal(file_count(), 1);
}

static void progress_only_grows(void **state)
{
    (void)state;
    struct lake_bucket_progress told = {-1, 1, 5, 700}, *buckets;
    struct lake_commit first = {.table_id = table_id,
                                .snapshot_id = 1,
                                .tiered_path = prepare(3, 5, -1),
                                .progress = &told,
                                .progress_count = 1};
    MUST(meta_lake_commit(bed.meta, &first, &err));
    told.max_timestamp = 600;
    struct lake_commit second = first;
    second.snapshot_id = 2;
    second.tiered_path = prepare(4, -1, 1);
    MUST(meta_lake_commit(bed.meta, &second, &err));
    static const struct lake_bucket_progress want[] = {{-1, 0, 4, -1}, {-1, 1, 5, 700}, {-1, 2, 1, -1}};
    for (int round = 0; round < 2; round++) {
        size_t count;
        meta_lake_progress(bed.meta, table_id, &bed.arena, &buckets, &count);
        assert_int_equal(count, 3);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(buckets[i].bucket, want[i].bucket);
            assert_int_equal(buckets[i].end_offset, want[i].end_offset);
            assert_int_equal(buckets[i].max_timestamp, want[i].max_timestamp);
        }
        meta_bed_again(&bed, BED_CRASH);
    }
    told.bucket = 3;
    second.snapshot_id = 3;
    MUST_FAIL(ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION, meta_lake_commit(bed.meta, &second, &err));
}

static void of_files_that_no_snapshot_took_the_oldest_go(void **state)
{
    (void)state;
    struct slice oldest = prepare(1, 1, 1);
    for (int i = 1; i < META_LAKE_ORPHANS_MAX; i++) {
        sim_advance(bed.disk, 1000000);
        prepare(1, 1, 1);
    }
    commit(1, prepare(2, 2, 2));
    assert_true(is_there(oldest)); /* its worker may still come */
    struct slice newest = prepare(9, 9, 9);
    commit(2, prepare(3, 3, 3));
    assert_false(is_there(oldest));
    assert_true(is_there(newest));
    assert_int_equal(file_count(), META_LAKE_ORPHANS_MAX + 1);
}

static void the_list_of_snapshots_is_bounded(void **state)
{
    (void)state;
    commit(0, prepare(0, 0, 0));
    for (int64_t id = 1; id < META_LAKE_SNAPSHOTS_MAX + 5; id++) {
        commit_found(id, prepare(id, id, id));
        if (id % 100 == 0)
            arena_reset(&bed.arena);
    }
    struct lake_snapshot_info info;
    assert_snapshot(LAKE_READABLE, 0, 0, offsets_of(0, 0, 0)); /* readers are at it */
    MUST_FAIL(ERR_LAKE_SNAPSHOT_NOT_EXIST,
              meta_lake_snapshot(bed.meta, table_id, LAKE_BY_ID, 4, &bed.arena, &info, &err));
    assert_snapshot(LAKE_BY_ID, 6, 6, offsets_of(6, 6, 6));
    assert_in_range(file_count(), META_LAKE_SNAPSHOTS_MAX, META_LAKE_SNAPSHOTS_MAX + 1);
}

TESTS("meta.lake", TEST_BED(golden_offsets_are_written_as_they_were_read), TEST_BED(an_offsets_file_of_fluss_is_read),
      TEST_BED(offsets_that_are_none_are_refused), TEST_BED(prepare_merges_with_the_latest_and_registers_nothing),
      TEST_BED(prepare_can_ignore_what_is_registered), TEST_BED(prepare_of_a_table_made_anew_is_refused),
      TEST_BED(prepare_of_a_round_that_was_overtaken_is_refused), TEST_BED(prepare_may_go_back_with_deletion_vectors),
      TEST_BED(a_lower_id_can_not_hold_more), TEST_BED(prepare_checks_its_buckets),
      TEST_BED(a_table_without_snapshots_says_so), TEST_BED(a_regular_commit_replaces_what_was_before),
      TEST_BED(a_found_snapshot_is_latest_but_not_readable),
      TEST_BED(the_readable_snapshot_stays_until_a_newer_one_is_readable),
      TEST_BED(the_earliest_to_keep_is_kept_with_what_follows),
      TEST_BED(a_repeated_commit_changes_nothing_and_deletes_nothing),
      TEST_BED(a_found_snapshot_becomes_readable_when_told_again),
      TEST_BED(one_snapshot_with_two_offset_vectors_is_refused), TEST_BED(older_offsets_never_become_the_latest),
      TEST_BED(of_equal_offsets_the_higher_id_is_the_latest),
      TEST_BED(a_file_that_two_snapshots_name_stays_with_the_second), TEST_BED(only_paths_of_the_table_are_believed),
      TEST_BED(a_path_from_before_the_directory_moved_is_understood),
      TEST_BED(a_commit_after_the_drop_is_refused_and_leaves_nothing),
      TEST_BED(the_old_form_brings_offsets_in_the_request), TEST_BED(progress_only_grows),
      TEST_BED(of_files_that_no_snapshot_took_the_oldest_go), TEST_BED(the_list_of_snapshots_is_bounded))
