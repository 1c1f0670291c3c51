#include "bucket/bucket.h"

#include "format/row/row.h"
#include "lib/meta_bed.h"

/* One bucket on a simulated disk. Flushes that it asks for are noted and made when the test says so. */
struct bed {
    struct meta_bed meta;
    struct bucket_env env;
    struct kv_env *kv;
    const struct table_info *table;
    struct bucket *bucket;
    bool flush_wanted, state_flush_wanted;
    struct arena arena;
    struct err err;
};

static void note_flush(void *arg, struct bucket *bucket)
{
    (void)bucket;
    ((struct bed *)arg)->flush_wanted = true;
}

static void note_state_flush(void *arg, struct bucket *bucket)
{
    (void)bucket;
    ((struct bed *)arg)->state_flush_wanted = true;
}

static void bed_open(struct bed *bed)
{
    struct err err = {0};
    bed->kv = kv_env_memory(bed->meta.os);
    bed->env = (struct bucket_env){.os = bed->meta.os,
                                   .data_dir = META_BED_DATA,
                                   .segment_bytes = 1024,
                                   .delta_bytes_max = 1 << 20,
                                   .replay_bytes_max = 1 << 20,
                                   .delta_age_ms_max = 600000,
                                   .writer_expiry_ms = 600000,
                                   .kv = bed->kv,
                                   .flush_wanted = note_flush,
                                   .state_flush_wanted = note_state_flush,
                                   .arg = bed};
    MUST(meta_table_get(bed->meta.meta, SLICE("fluss"), SLICE("t"), &bed->table, &err));
    struct bucket_home *home;
    MUST(bucket_home_create(&bed->env, bed->table, NULL, &home, &err));
    MUST(bucket_open(&bed->env, bed->table, home, 0, NULL, &bed->bucket, &err));
    bucket_home_unref(home);
}

static void bed_close(struct bed *bed)
{
    bucket_unref(bed->bucket);
    bed->bucket = NULL;
    table_unref(bed->table);
    kv_env_destroy(bed->kv);
}

static void bed_init(struct bed *bed, uint64_t seed, bool has_key)
{
    struct err err = {0};
    *bed = (struct bed){0};
    meta_bed_init(&bed->meta, seed);
    struct table_descriptor descriptor = meta_bed_table(&bed->meta, 1, has_key);
    const struct table_info *table;
    MUST(meta_table_create(bed->meta.meta, SLICE("fluss"), SLICE("t"), &descriptor, &table, &err));
    table_unref(table);
    bed_open(bed);
}

static void bed_deinit(struct bed *bed)
{
    bucket_close(bed->bucket, BUCKET_KEEP);
    bed_close(bed);
    meta_bed_deinit(&bed->meta);
    arena_deinit(&bed->arena);
}

/* Ends the machine, or only the bucket, and opens on what is left. */
static void bed_again(struct bed *bed, enum meta_bed_end how)
{
    if (how == BED_CLOSE)
        bucket_close(bed->bucket, BUCKET_SETTLE);
    bed_close(bed);
    meta_bed_again(&bed->meta, how);
    bed_open(bed);
}

/* ---- what clients send ---- */

static const struct type *row_of(struct bed *bed)
{
    return row_type(&bed->arena, &bed->table->descriptor->schema);
}

static struct slice log_records(struct bed *bed, int64_t from, int count, int64_t writer_id, int32_t sequence)
{
    struct err err = {0};
    struct log_batch_builder builder;
    struct arrow_codec codec = {0};
    struct log_batch_options options = {.append_only = true, .schema_id = 1};
    struct buf out = {0};
    log_batch_builder_init(&builder, &options, row_of(bed));
    for (int i = 0; i < count; i++) {
        struct datum row[2] = {{.i64 = from + i}, {.bytes = SLICE("value")}};
        MUST(log_batch_builder_append(&builder, CHANGE_APPEND, row, &err));
    }
    log_batch_builder_finish(&builder, &codec, writer_id, sequence, &out);
    log_batch_builder_deinit(&builder);
    arrow_codec_deinit(&codec);
    struct slice bytes = arena_dup(&bed->arena, buf_view(&out));
    buf_deinit(&out);
    return bytes;
}

static struct slice key_of(struct bed *bed, int64_t id)
{
    struct err err = {0};
    struct table_keys keys;
    struct buf key = {0};
    struct datum row[2] = {{.i64 = id}, {.is_null = true}};
    MUST(table_keys_init(&keys, &bed->arena, bed->table->descriptor, &err));
    MUST(key_encode(keys.primary_encoder, keys.primary_type, row, keys.primary, &key, &err));
    struct slice bytes = arena_dup(&bed->arena, buf_view(&key));
    buf_deinit(&key);
    return bytes;
}

struct change {
    int64_t id;
    const char *value; /* NULL: delete */
};

static struct slice kv_records(struct bed *bed, const struct change *changes, size_t count, int64_t writer_id,
                               int32_t sequence)
{
    struct err err = {0};
    struct kv_batch_builder builder;
    struct buf out = {0}, row = {0};
    kv_batch_builder_init(&builder, 1);
    for (size_t i = 0; i < count; i++) {
        struct slice key = key_of(bed, changes[i].id);
        if (!changes[i].value) {
            MUST(kv_batch_builder_delete(&builder, key, &err));
            continue;
        }
        struct datum values[2] = {{.i64 = changes[i].id}, {.bytes = slice_str(changes[i].value)}};
        buf_reset(&row);
        MUST(row_encode(ROW_COMPACTED, row_of(bed), values, &row, &err));
        MUST(kv_batch_builder_put(&builder, key, buf_view(&row), &err));
    }
    kv_batch_builder_finish(&builder, writer_id, sequence, &out);
    kv_batch_builder_deinit(&builder);
    struct slice bytes = arena_dup(&bed->arena, buf_view(&out));
    buf_deinit(&out);
    buf_deinit(&row);
    return bytes;
}

static enum err_code put(struct bed *bed, const struct change *changes, size_t count, int64_t writer_id,
                         int32_t sequence, struct bucket_append *append)
{
    struct bucket_put what = {.records = kv_records(bed, changes, count, writer_id, sequence)};
    return bucket_put(bed->bucket, &what, append, &bed->err);
}

/* The durable value, or NULL. */
static const char *value_at(struct bed *bed, int64_t id)
{
    struct err err = {0};
    struct slice value, bytes;
    struct datum row[2];
    int16_t schema_id;
    MUST(bucket_lookup(bed->bucket, key_of(bed, id), true, &bed->arena, &value, &err));
    if (!value.ptr)
        return NULL;
    MUST(kv_value_split(value, &schema_id, &bytes, &err));
    MUST(row_decode(ROW_COMPACTED, row_of(bed), bytes, &bed->arena, row, &err));
    assert_int_equal(row[0].i64, id);
    return arena_cstr(&bed->arena, row[1].bytes);
}

/* The change types of the whole log, as "+I -U +U -D". */
static const char *changes_of(struct bed *bed)
{
    static const char *const names[] = {"+A", "+I", "-U", "+U", "-D"};
    struct err err = {0};
    struct bucket_range range;
    struct buf bytes = {0}, text = {0};
    struct arrow_codec codec = {0};
    for (int64_t at = 0;;) {
        MUST(bucket_fetch(bed->bucket, at, 1 << 20, true, &range, &err));
        if (range.view.length == 0)
            break;
        buf_reset(&bytes);
        MUST(log_view_read(&range.view, &bytes, &err));
        log_view_release(&range.view);
        at = range.next_offset;
        struct slice rest = buf_view(&bytes), one;
        for (;;) {
            struct log_batch batch;
            struct log_batch_rows rows;
            MUST(log_batch_next(&rest, &one, &err));
            if (one.len == 0)
                break;
            MUST(log_batch_check(one, &batch, &err));
            MUST(log_batch_decode(&codec, &batch, LOG_FORMAT_ARROW, row_of(bed), &bed->arena, &rows, &err));
            for (uint32_t i = 0; i < rows.count; i++)
                buf_printf(&text, "%s%s", text.len ? " " : "", names[log_batch_change(&rows, i)]);
            if (rows.count == 0)
                buf_printf(&text, "%s()", text.len ? " " : "");
        }
    }
    const char *copy = arena_cstr(&bed->arena, buf_view(&text));
    arrow_codec_deinit(&codec);
    buf_deinit(&bytes);
    buf_deinit(&text);
    return copy;
}

/* ---- tests ---- */

static void count_call(struct bucket_waiter *waiter)
{
    waiter->offset = -1;
}

static void readers_see_what_is_durable_and_waiters_are_called(void **state)
{
    (void)state;
    struct bed bed;
    struct bucket_append append;
    struct bucket_range range;
    struct bucket_waiter near = {.fn = count_call}, far = {.fn = count_call};
    bed_init(&bed, 1, false);
    struct err err = {0};
    MUST(bucket_append(bed.bucket, log_records(&bed, 0, 3, -1, -1), &append, &err));
    assert_int_equal(append.base_offset, 0);
    assert_int_equal(append.end_offset, 3);
    assert_true(bed.flush_wanted);
    MUST(bucket_fetch(bed.bucket, 0, 1 << 20, true, &range, &err));
    assert_int_equal(range.view.length, 0);
    assert_true(bucket_wait(bed.bucket, &near, 3));
    assert_true(bucket_wait(bed.bucket, &far, 4));
    bucket_flush(bed.bucket);
    assert_int_equal(near.offset, -1);
    assert_true(bucket_unwait(bed.bucket, &far));
    assert_false(bucket_unwait(bed.bucket, &near));
    assert_false(bucket_wait(bed.bucket, &near, 3));
    assert_string_equal(changes_of(&bed), "+A +A +A");
    MUST_FAIL(ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION, bucket_fetch(bed.bucket, 4, 1, true, &range, &err));
    bed_deinit(&bed);
}

/* How much of the log an opening reads after a bucket ended so. */
static uint64_t scanned_after(enum bucket_end how)
{
    struct bed bed;
    struct bucket_append append;
    struct log_recovery recovery;
    struct log_options options = log_options_default();
    struct log *log;
    struct err err = {0};
    bed_init(&bed, 1, false);
    bed.env.segment_bytes = 1 << 20; /* with more than one there are checkpoints on the way */
    for (int i = 0; i < 20; i++)
        MUST(bucket_append(bed.bucket, log_records(&bed, i * 10, 10, 7, i), &append, &err));
    bucket_close(bed.bucket, how);
    bed_close(&bed);
    MUST(log_open(bed.meta.os, META_BED_DATA "/fluss/t-0/log-0", &options, 0, &log, &recovery, &err));
    assert_int_equal(log_end_offset(log), 200);
    assert_int_equal(log_writer_count(log), 1);
    assert_int_equal(recovery.cut_bytes + (uint64_t)recovery.lost_offsets, 0);
    MUST(log_close(log, &err));
    meta_bed_deinit(&bed.meta);
    arena_deinit(&bed.arena);
    return recovery.scanned_bytes;
}

static void a_settled_log_is_not_read_again(void **state)
{
    (void)state;
    assert_true(scanned_after(BUCKET_KEEP) > 0);
    assert_int_equal(scanned_after(BUCKET_SETTLE), 0);
}

static void a_repeated_batch_is_stored_once(void **state)
{
    (void)state;
    struct bed bed;
    struct bucket_append first, again;
    struct err err = {0};
    bed_init(&bed, 2, false);
    MUST(bucket_append(bed.bucket, log_records(&bed, 0, 2, 7, 0), &first, &err));
    MUST(bucket_append(bed.bucket, log_records(&bed, 0, 2, 7, 0), &again, &err));
    assert_int_equal(again.base_offset, first.base_offset);
    assert_int_equal(again.end_offset, first.end_offset);
    MUST_FAIL(ERR_OUT_OF_ORDER_SEQUENCE_EXCEPTION,
              bucket_append(bed.bucket, log_records(&bed, 0, 2, 7, 2), &again, &err));
    bucket_flush(bed.bucket);
    bed_again(&bed, BED_CRASH);
    MUST(bucket_append(bed.bucket, log_records(&bed, 0, 2, 7, 0), &again, &err));
    assert_int_equal(again.base_offset, first.base_offset);
    bucket_flush(bed.bucket);
    assert_string_equal(changes_of(&bed), "+A +A");
    bed_deinit(&bed);
}

static void a_sealed_bucket_takes_no_writes_and_can_be_opened_again(void **state)
{
    (void)state;
    struct err err = {0};
    struct bucket_append append;
    for (int has_key = 0; has_key < 2; has_key++) {
        struct bed bed;
        struct bucket_put what;
        bed_init(&bed, 1, has_key);
        what = (struct bucket_put){.records = kv_records(&bed, &(struct change){1, "x"}, 1, -1, -1)};
        struct slice batch = log_records(&bed, 0, 1, -1, -1);
#define WRITE() \
    (has_key ? bucket_put(bed.bucket, &what, &append, &err) : bucket_append(bed.bucket, batch, &append, &err))
        MUST(WRITE());
        assert_false(bucket_seal(bed.bucket, 0)); /* a row is missing elsewhere */
        MUST(WRITE());
        int64_t end = append.end_offset;
        assert_true(bucket_seal(bed.bucket, end));
        MUST_FAIL(ERR_NOT_LEADER_OR_FOLLOWER, WRITE());
        bucket_unseal(bed.bucket);
        MUST(WRITE());
#undef WRITE
        bed_deinit(&bed);
    }
}

static void wrong_batches_are_refused_whole(void **state)
{
    (void)state;
    struct bed bed;
    struct bucket_append append;
    struct err err = {0};
    bed_init(&bed, 3, false);
    struct slice good = log_records(&bed, 0, 2, -1, -1);
    struct buf two = {0};
    buf_put_slice(&two, good);
    buf_put_slice(&two, good);
    two.ptr[two.len - 1] ^= 1;
    MUST_FAIL(ERR_CORRUPT_RECORD_EXCEPTION, bucket_append(bed.bucket, buf_view(&two), &append, &err));
    MUST_FAIL(ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION, put(&bed, NULL, 0, -1, -1, &append));
    MUST_FAIL(ERR_CORRUPT_MESSAGE, bucket_append(bed.bucket, slice_of(two.ptr, two.len - 1), &append, &err));
    MUST_FAIL(ERR_CORRUPT_MESSAGE, bucket_append(bed.bucket, slice_of(good.ptr, good.len - 1), &append, &err));
    MUST(bucket_append(bed.bucket, (struct slice){0}, &append, &err));
    assert_int_equal(append.base_offset, -1);
    buf_deinit(&two);
    bed_deinit(&bed);
}

static void puts_make_the_documented_changelog(void **state)
{
    (void)state;
    static const struct change first[] = {{1, "a"}, {2, "b"}, {1, "c"}, {3, NULL}};
    static const struct change second[] = {{2, NULL}, {2, "d"}, {4, "e"}, {4, NULL}, {1, "c"}};
    struct bed bed;
    struct bucket_append append;
    bed_init(&bed, 4, true);
    struct err err = {0};
    MUST(put(&bed, first, ARRAY_LEN(first), 9, 0, &append));
    assert_null(value_at(&bed, 1)); /* not durable yet */
    bucket_flush(bed.bucket);
    assert_string_equal(value_at(&bed, 1), "c");
    MUST(put(&bed, second, ARRAY_LEN(second), 9, 1, &append));
    assert_string_equal(value_at(&bed, 2), "b"); /* the acknowledged one, until the next is durable */
    bucket_flush(bed.bucket);
    assert_string_equal(value_at(&bed, 2), "d");
    assert_null(value_at(&bed, 4));
    assert_string_equal(changes_of(&bed), "+I +I -U +U -D +I +I -D -U +U");
    MUST(put(&bed, &(struct change){77, NULL}, 1, 9, 2, &append)); /* no change: an empty batch keeps the sequence */
    bucket_flush(bed.bucket);
    assert_string_equal(changes_of(&bed), "+I +I -U +U -D +I +I -D -U +U ()");
    MUST(put(&bed, second, ARRAY_LEN(second), 9, 1, &append)); /* repeated: not applied again */
    MUST_FAIL(ERR_INVALID_TABLE_EXCEPTION, bucket_append(bed.bucket, log_records(&bed, 0, 1, -1, -1), &append, &err));
    bed_deinit(&bed);
}

static void a_put_that_fails_changes_nothing(void **state)
{
    (void)state;
    static const struct change changes[] = {{1, "a"}, {2, "b"}};
    struct bed bed;
    struct bucket_append append;
    struct err err = {0};
    bed_init(&bed, 5, true);
    MUST(put(&bed, changes, 1, -1, -1, &append));
    bucket_flush(bed.bucket);
    sim_set_capacity(bed.meta.disk, sim_used_bytes(bed.meta.disk));
    char *large = mem_zalloc(100001);
    memset(large, 'x', 100000);
    /* Random letters, since the changelog is compressed. */
    for (int i = 0; i < 100000; i++)
        large[i] = (char)('a' + sim_random_below(bed.meta.disk, 26));
    struct change much[] = {{1, large}, {3, large}};
    MUST_FAIL(ERR_DISK_FULL, put(&bed, much, 2, -1, -1, &append));
    sim_set_capacity(bed.meta.disk, UINT64_MAX);
    assert_string_equal(value_at(&bed, 1), "a");
    MUST(put(&bed, changes + 1, 1, -1, -1, &append));
    bucket_flush(bed.bucket);
    assert_string_equal(changes_of(&bed), "+I +I");
    assert_null(value_at(&bed, 3));
    mem_free(large);
    bed_deinit(&bed);
}

static void a_null_in_a_column_that_is_not_null_is_refused(void **state)
{
    (void)state;
    struct bed bed;
    struct bucket_append append;
    struct err err = {0};
    struct kv_batch_builder builder;
    struct buf out = {0};
    static const uint8_t row[] = {1, 1, 'v'}; /* id is null */
    bed_init(&bed, 5, true);
    kv_batch_builder_init(&builder, 1);
    MUST(kv_batch_builder_put(&builder, key_of(&bed, 0), slice_of(row, sizeof row), &err));
    kv_batch_builder_finish(&builder, -1, -1, &out);
    kv_batch_builder_deinit(&builder);
    struct bucket_put what = {.records = buf_view(&out)};
    MUST_FAIL(ERR_INVALID_ARGUMENT, bucket_put(bed.bucket, &what, &append, &bed.err));
    assert_string_equal(bed.err.text, "a null in the column 'id', which is NOT NULL");
    buf_deinit(&out);
    bed_deinit(&bed);
}

/* The rows of ids, each under the key of another id. */
static enum err_code put_under(struct bed *bed, const int64_t *keys, const int64_t *ids, size_t count)
{
    struct err err = {0};
    struct kv_batch_builder builder;
    struct buf out = {0}, row = {0};
    struct bucket_append append;
    kv_batch_builder_init(&builder, 1);
    for (size_t i = 0; i < count; i++) {
        struct datum values[2] = {{.i64 = ids[i]}, {.bytes = SLICE("v")}};
        buf_reset(&row);
        MUST(row_encode(ROW_COMPACTED, row_of(bed), values, &row, &err));
        MUST(kv_batch_builder_put(&builder, key_of(bed, keys[i]), buf_view(&row), &err));
    }
    kv_batch_builder_finish(&builder, -1, -1, &out);
    kv_batch_builder_deinit(&builder);
    struct bucket_put what = {.records = buf_view(&out)};
    enum err_code code = bucket_put(bed->bucket, &what, &append, &bed->err);
    buf_deinit(&out);
    buf_deinit(&row);
    return code;
}

static void a_row_under_another_key_than_its_own_is_refused(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 5, true);
    MUST_FAIL(ERR_INVALID_ARGUMENT, put_under(&bed, (const int64_t[]){1, 2}, (const int64_t[]){1, 3}, 2));
    bucket_flush(bed.bucket);
    assert_null(value_at(&bed, 1)); /* the whole batch */
    assert_string_equal(changes_of(&bed), "");
    struct err err = {0};
    MUST(put_under(&bed, (const int64_t[]){1, 2}, (const int64_t[]){1, 2}, 2));
    bucket_flush(bed.bucket);
    assert_string_equal(value_at(&bed, 2), "v");
    bed_deinit(&bed);
}

static void the_state_survives_in_engine_and_log(void **state)
{
    (void)state;
    static const struct change first[] = {{1, "a"}, {2, "b"}, {3, "c"}};
    static const struct change second[] = {{1, "A"}, {2, NULL}, {4, "D"}};
    struct bed bed;
    struct bucket_append append;
    struct err err = {0};
    struct bucket_offsets offsets;
    bed_init(&bed, 6, true);
    MUST(put(&bed, first, ARRAY_LEN(first), -1, -1, &append));
    bucket_flush(bed.bucket);
    assert_true(bucket_in_memory(bed.bucket));
    bucket_state_flush(bed.bucket);
    assert_false(bucket_in_memory(bed.bucket));
    MUST(put(&bed, second, ARRAY_LEN(second), -1, -1, &append));
    bucket_flush(bed.bucket);
    for (int round = 0; round < 3; round++) {
        assert_string_equal(value_at(&bed, 1), "A");
        assert_null(value_at(&bed, 2));
        assert_string_equal(value_at(&bed, 3), "c");
        assert_string_equal(value_at(&bed, 4), "D");
        bucket_offsets(bed.bucket, &offsets);
        assert_int_equal(offsets.row_count, 3);
        bed_again(&bed, (enum meta_bed_end)round);
        if (round == 1)
            bucket_state_flush(bed.bucket);
    }
    bed_deinit(&bed);
}

static void a_failed_sync_ends_writing_until_the_next_start(void **state)
{
    (void)state;
    struct bed bed;
    struct bucket_append append;
    struct err err = {0};
    bed_init(&bed, 7, true);
    MUST(put(&bed, &(struct change){1, "a"}, 1, -1, -1, &append));
    bucket_flush(bed.bucket);
    MUST(put(&bed, &(struct change){2, "b"}, 1, -1, -1, &append));
    sim_fail_sync(bed.meta.disk, 0);
    bucket_flush(bed.bucket);
    MUST_FAIL(ERR_FAILED_STORAGE, bucket_wait_result(bed.bucket, append.end_offset, &err));
    MUST_FAIL(ERR_FAILED_STORAGE, put(&bed, &(struct change){3, "c"}, 1, -1, -1, &append));
    assert_string_equal(value_at(&bed, 1), "a");
    assert_null(value_at(&bed, 2));
    bed_again(&bed, BED_CRASH);
    assert_string_equal(value_at(&bed, 1), "a");
    MUST(put(&bed, &(struct change){3, "c"}, 1, -1, -1, &append));
    bed_deinit(&bed);
}

/* ---- random programs against a model ---- */

#define KEYS 12
#define STATES_MAX 400

/* Every state that the puts so far have made, oldest first; those below `durable` were acknowledged. */
struct model {
    int values[STATES_MAX][KEYS]; /* -1: no row */
    int count;
    int durable;
};

static void expect_state(struct bed *bed, const int *values)
{
    char text[16];
    for (int id = 0; id < KEYS; id++) {
        const char *got = value_at(bed, id);
        snprintf(text, sizeof text, "%d", values[id]);
        if (values[id] < 0)
            assert_null(got);
        else
            assert_string_equal(got ? got : "no row", text);
    }
}

static void expect_scan(struct bed *bed, const int *values)
{
    struct err err = {0};
    struct bucket_scan *scan;
    struct slice key, value, last = {0};
    int64_t log_offset;
    int rows = 0, want = 0;
    bool more;
    MUST(bucket_scan_open(bed->bucket, (struct slice){0}, true, &scan, &log_offset, &err));
    for (;;) {
        MUST(bucket_scan_next(scan, &more, &key, &value, &err));
        if (!more)
            break;
        assert_true(rows == 0 || slice_compare(last, key) < 0);
        last = arena_dup(&bed->arena, key);
        rows++;
    }
    bucket_scan_close(scan);
    for (int id = 0; id < KEYS; id++)
        want += values[id] >= 0;
    assert_int_equal(rows, want);
}

static void random_put(struct bed *bed, struct model *model)
{
    struct err err = {0};
    struct bucket_append append;
    struct change changes[4];
    int count = 1 + (int)sim_random_below(bed->meta.disk, ARRAY_LEN(changes));
    int *values = model->values[model->count];
    memcpy(values, model->values[model->count - 1], sizeof model->values[0]);
    for (int i = 0; i < count; i++) {
        int id = (int)sim_random_below(bed->meta.disk, KEYS);
        int value = sim_random_below(bed->meta.disk, 3) ? (int)sim_random_below(bed->meta.disk, 1000) : -1;
        values[id] = value;
        changes[i] = (struct change){id, NULL};
        if (value >= 0)
            changes[i].value = (const char *)arena_printf(&bed->arena, "%d", value).ptr;
    }
    MUST(put(bed, changes, (size_t)count, -1, -1, &append));
    model->count++;
}

/* What a crash left must be one of the states that were not acknowledged, or the last that was. */
static void adopt_state(struct bed *bed, struct model *model)
{
    int values[KEYS];
    for (int id = 0; id < KEYS; id++) {
        const char *got = value_at(bed, id);
        values[id] = got ? atoi(got) : -1;
    }
    int at = model->count - 1;
    while (at >= model->durable && memcmp(values, model->values[at], sizeof values) != 0)
        at--;
    assert_true(at >= model->durable);
    model->count = at + 1;
    model->durable = at;
}

static void random_step(struct bed *bed, struct model *model)
{
    switch (sim_random_below(bed->meta.disk, 12)) {
    case 0:
        bucket_state_flush(bed->bucket);
        model->durable = model->count - 1;
        break;
    case 1:
        bed_again(bed, BED_CLOSE);
        model->durable = model->count - 1;
        break;
    case 2:
        bed_again(bed, BED_KILL);
        adopt_state(bed, model);
        break;
    case 3:
        bed_again(bed, BED_CRASH);
        adopt_state(bed, model);
        break;
    case 4:
    case 5:
    case 6:
        bucket_flush(bed->bucket);
        model->durable = model->count - 1;
        break;
    default:
        random_put(bed, model);
    }
    expect_state(bed, model->values[model->durable]);
    expect_scan(bed, model->values[model->durable]);
    arena_reset(&bed->arena);
}

static void random_programs_agree_with_a_model(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct bed bed;
        static struct model model;
        bed_init(&bed, seed, true);
        model.count = 1;
        model.durable = 0;
        for (int id = 0; id < KEYS; id++)
            model.values[0][id] = -1;
        for (int step = 0; step < 100; step++)
            random_step(&bed, &model);
        bed_deinit(&bed);
    }
}

TESTS("bucket", TEST(readers_see_what_is_durable_and_waiters_are_called), TEST(a_settled_log_is_not_read_again),
      TEST(a_repeated_batch_is_stored_once), TEST(a_sealed_bucket_takes_no_writes_and_can_be_opened_again),
      TEST(wrong_batches_are_refused_whole), TEST(puts_make_the_documented_changelog),
      TEST(a_put_that_fails_changes_nothing), TEST(a_row_under_another_key_than_its_own_is_refused),
      TEST(a_null_in_a_column_that_is_not_null_is_refused), TEST(the_state_survives_in_engine_and_log),
      TEST(a_failed_sync_ends_writing_until_the_next_start), TEST(random_programs_agree_with_a_model))
