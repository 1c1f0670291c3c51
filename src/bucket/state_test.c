#include "bucket/bucket.h"

#include "format/row/row.h"
#include "lib/meta_bed.h"

/* A primary-key table of three buckets on a simulated disk. Flushes are made when the test says so. */
enum { BUCKETS = 3, DELTA_BYTES_MAX = 64 << 10, AGE_MS = 600000, ROUND_ROWS = 100 };

static struct meta_bed bed;
static struct bucket_env env;
static struct buckets *buckets;
static const struct table_info *table;
static struct table_keys keys;
static struct err err;

static void ignore(void *arg, struct bucket *bucket)
{
    (void)arg;
    (void)bucket;
}

/* The metadata stays on the simulated disk wherever the buckets are. */
static void open_on(struct os *os, const char *data_dir)
{
    env = (struct bucket_env){.os = os,
                              .data_dir = data_dir,
                              .segment_bytes = 1 << 20,
                              .index_interval_bytes = 4096,
                              .delta_bytes_max = DELTA_BYTES_MAX,
                              .replay_bytes_max = 1 << 20,
                              .delta_age_ms_max = AGE_MS,
                              .writer_expiry_ms = 600000,
                              .kv = kv_env_memory(os),
                              .flush_wanted = ignore,
                              .state_flush_wanted = ignore};
    buckets_create(&env, &buckets);
    MUST(buckets_open_table(buckets, table, NULL, &err));
}

static void close_all(void)
{
    buckets_destroy(buckets, INT64_MAX);
    kv_env_destroy(env.kv);
}

static int set_up(void **state)
{
    (void)state;
    meta_bed_init(&bed, 1);
    (void)meta_bed_create(&bed, "t", BUCKETS);
    MUST(meta_table_get(bed.meta, SLICE("fluss"), SLICE("t"), &table, &err));
    MUST(table_keys_init(&keys, &bed.arena, table->descriptor, &err));
    open_on(bed.os, META_BED_DATA);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_all();
    table_unref(table);
    meta_bed_deinit(&bed);
    return 0;
}

static struct slice key_of(int64_t id)
{
    struct buf key = {0};
    struct datum row[2] = {{.i64 = id}, {.is_null = true}};
    MUST(key_encode(keys.primary_encoder, keys.primary_type, row, keys.primary, &key, &err));
    struct slice bytes = arena_dup(&bed.arena, buf_view(&key));
    buf_deinit(&key);
    return bytes;
}

/* A batch of rows 0 to ROUND_ROWS - 1 with the value; NULL deletes them. */
static struct slice rows_of(const char *value)
{
    struct kv_batch_builder builder;
    struct buf out = {0}, row = {0};
    kv_batch_builder_init(&builder, 1);
    for (int64_t id = 0; id < ROUND_ROWS; id++) {
        struct datum values[2] = {{.i64 = id}, {.bytes = slice_str(value ? value : "")}};
        buf_reset(&row);
        MUST(row_encode(ROW_COMPACTED, row_type(&bed.arena, &table->descriptor->schema), values, &row, &err));
        if (value)
            MUST(kv_batch_builder_put(&builder, key_of(id), buf_view(&row), &err));
        else
            MUST(kv_batch_builder_delete(&builder, key_of(id), &err));
    }
    kv_batch_builder_finish(&builder, -1, -1, &out);
    kv_batch_builder_deinit(&builder);
    struct slice records = arena_dup(&bed.arena, buf_view(&out));
    buf_deinit(&row);
    buf_deinit(&out);
    return records;
}

static void put(struct bucket *bucket, const char *value)
{
    struct bucket_append append;
    MUST(bucket_put(bucket, &(struct bucket_put){.records = rows_of(value)}, &append, &err));
    bucket_flush(bucket);
}

static void assert_value(struct bucket *bucket, const char *want)
{
    struct slice value, bytes;
    struct datum row[2];
    int16_t schema_id;
    MUST(bucket_lookup(bucket, key_of(7), true, &bed.arena, &value, &err));
    assert_int_equal(value.ptr != NULL, want != NULL);
    if (!want)
        return;
    MUST(kv_value_split(value, &schema_id, &bytes, &err));
    MUST(row_decode(ROW_COMPACTED, row_type(&bed.arena, &table->descriptor->schema), bytes, &bed.arena, row, &err));
    assert_true(slice_equal(row[1].bytes, slice_str(want)));
}

static void rows_that_the_engine_got_are_kept_until_the_next_ones(void **state)
{
    (void)state;
    struct bucket *bucket = buckets_find(buckets, table->table_id, -1, 0);
    assert_int_equal(env.written_bytes, 0);
    put(bucket, "a");
    size_t bytes = env.delta_bytes;
    bucket_state_flush(bucket);
    assert_true(env.written_bytes > 0 && env.written_bytes <= bytes);
    assert_value(bucket, "a");
    put(bucket, "b");
    assert_value(bucket, "b");
    bucket_state_flush(bucket);
    assert_true(env.written_bytes <= bytes);
    assert_value(bucket, "b");
    put(bucket, NULL);
    bucket_state_flush(bucket);
    assert_value(bucket, NULL);
    bucket_unref(bucket);
}

/* The limit counts all buckets; above it the rows go that were kept for the longest time, a bucket's a tick. */
static void what_is_kept_has_a_limit(void **state)
{
    (void)state;
    struct bucket *all[BUCKETS];
    for (int32_t i = 0; i < BUCKETS; i++) {
        all[i] = buckets_find(buckets, table->table_id, -1, i);
        put(all[i], "a");
        os_sleep_ns(bed.os, 1000000);
        bucket_state_flush(all[i]);
    }
    size_t bytes = env.written_bytes / BUCKETS;
    buckets_tick(buckets);
    assert_int_equal(env.written_bytes, BUCKETS * bytes);
    env.delta_bytes_max = bytes; /* and a quarter more, for one that is a little too large */
    for (size_t left = BUCKETS - 1; left > 0; left--) {
        buckets_tick(buckets);
        assert_int_equal(env.written_bytes, left * bytes);
    }
    buckets_tick(buckets);
    assert_int_equal(env.written_bytes, bytes);
    for (int32_t i = 0; i < BUCKETS; i++) {
        assert_value(all[i], "a");
        bucket_unref(all[i]);
    }
}

static void what_is_kept_goes_when_nothing_is_written(void **state)
{
    (void)state;
    struct bucket *bucket = buckets_find(buckets, table->table_id, -1, 0);
    put(bucket, "a");
    bucket_state_flush(bucket);
    os_sleep_ns(bed.os, (int64_t)AGE_MS * 1000000 / 2);
    buckets_tick(buckets);
    assert_true(env.written_bytes > 0);
    os_sleep_ns(bed.os, (int64_t)AGE_MS * 1000000);
    buckets_tick(buckets);
    assert_int_equal(env.written_bytes, 0);
    assert_value(bucket, "a");
    bucket_unref(bucket);
}

static void expect_scan(struct bucket *bucket, int rows)
{
    struct bucket_scan *scan;
    struct slice key, value;
    int64_t log_offset;
    bool more = true;
    int count = -1;
    MUST(bucket_scan_open(bucket, (struct slice){0}, true, &scan, &log_offset, &err));
    for (; more; count++)
        MUST(bucket_scan_next(scan, &more, &key, &value, &err));
    bucket_scan_close(scan);
    assert_int_equal(count, rows);
}

/* One engine at a time for three buckets: each is opened when it is asked, and closed for the next. */
static void engines_beyond_the_limit_are_closed_and_opened_again(void **state)
{
    (void)state;
    close_all();
    open_on(bed.os, META_BED_DATA);
    kv_env_limit(env.kv, 1);
    struct bucket *all[BUCKETS];
    for (int32_t i = 0; i < BUCKETS; i++) {
        all[i] = buckets_find(buckets, table->table_id, -1, i);
        put(all[i], "a");
        bucket_state_flush(all[i]);
    }
    assert_int_equal(kv_env_open_count(env.kv), 1);
    env.delta_bytes_max = 1;
    for (int round = 0; round < 2; round++) {
        for (int32_t i = 0; i < BUCKETS; i++) {
            buckets_tick(buckets); /* lets go of the rows in memory */
            assert_value(all[i], round ? "b" : "a");
            expect_scan(all[i], ROUND_ROWS);
            assert_int_equal(kv_env_open_count(env.kv), 1);
            put(all[i], "b");
            bucket_state_flush(all[i]);
        }
    }
    for (int32_t i = 0; i < BUCKETS; i++)
        bucket_unref(all[i]);
}

static void an_engine_is_not_opened_before_it_is_asked(void **state)
{
    (void)state;
    struct slice value;
    struct bucket *bucket = buckets_find(buckets, table->table_id, -1, 0);
    put(bucket, "a");
    bucket_state_flush(bucket);
    bucket_unref(bucket);
    close_all();
    open_on(bed.os, META_BED_DATA);
    bucket = buckets_find(buckets, table->table_id, -1, 0);
    assert_int_equal(kv_env_open_count(env.kv), 0);
    MUST_FAIL(ERR_WOULD_BLOCK, bucket_lookup(bucket, key_of(7), false, &bed.arena, &value, &err));
    assert_value(bucket, "a");
    assert_int_equal(kv_env_open_count(env.kv), 1);
    MUST(bucket_lookup(bucket, key_of(7), false, &bed.arena, &value, &err));
    bucket_unref(bucket);
}

static bool writing;

static void write_states(void *arg)
{
    while (__atomic_load_n(&writing, __ATOMIC_RELAXED)) {
        bucket_state_flush(arg);
        buckets_tick(buckets);
    }
}

/* A put borrows old values from the generation that is just being written, and outlives the end of that. */
static void puts_go_on_beside_the_writing(void **state)
{
    (void)state;
    struct os_thread *thread;
    struct bucket_append append;
    close_all();
    open_on(os_real(), test_dir()); /* the simulator has no threads */
    struct bucket *bucket = buckets_find(buckets, table->table_id, -1, 0);
    struct slice records[] = {rows_of("a"), rows_of("b")};
    env.delta_bytes_max = 1; /* nothing is kept for longer than a tick */
    writing = true;
    MUST(os_thread_start(env.os, "writer", write_states, bucket, &thread, &err));
    for (int i = 0; i < 100; i++)
        MUST(bucket_put(bucket, &(struct bucket_put){.records = records[i % 2]}, &append, &err));
    __atomic_store_n(&writing, false, __ATOMIC_RELAXED);
    os_thread_join(thread);
    bucket_flush(bucket);
    assert_value(bucket, "b");
    bucket_unref(bucket);
}

TESTS("bucket.state", TEST_BED(rows_that_the_engine_got_are_kept_until_the_next_ones),
      TEST_BED(what_is_kept_has_a_limit), TEST_BED(what_is_kept_goes_when_nothing_is_written),
      TEST_BED(engines_beyond_the_limit_are_closed_and_opened_again),
      TEST_BED(an_engine_is_not_opened_before_it_is_asked), TEST_BED(puts_go_on_beside_the_writing))
