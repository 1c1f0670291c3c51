#include "bucket/bucket.h"

#include "format/row/row.h"
#include "lib/meta_bed.h"

/* A partitioned log table of two buckets with all its partitions, on a simulated disk. Flushes are made at once. */
static struct meta_bed bed;
static struct bucket_env env;
static struct buckets *buckets;
static const struct table_info *table;
static struct err err;

static void flush_now(void *arg, struct bucket *bucket)
{
    (void)bucket;
    (*(int *)arg)++;
}

static int flushes_wanted;

static void open_all(void)
{
    struct partition_info *items;
    size_t count;
    env = (struct bucket_env){.os = bed.os,
                              .data_dir = META_BED_DATA,
                              .segment_bytes = 1 << 20,
                              .index_interval_bytes = 4096,
                              .delta_bytes_max = 1 << 20,
                              .replay_bytes_max = 1 << 20,
                              .delta_age_ms_max = 600000,
                              .writer_expiry_ms = 600000,
                              .kv = kv_env_memory(bed.os),
                              .flush_wanted = flush_now,
                              .state_flush_wanted = flush_now,
                              .arg = &flushes_wanted};
    buckets_create(&env, &buckets);
    MUST(meta_table_get(bed.meta, SLICE("fluss"), SLICE("t"), &table, &err));
    MUST(buckets_open_table(buckets, table, NULL, &err));
    meta_partition_list(bed.meta, table->table_id, &bed.arena, &items, &count);
    for (size_t i = 0; i < count; i++)
        MUST(buckets_open_partition(buckets, table, &items[i], NULL, &err));
}

static void close_all(void)
{
    buckets_destroy(buckets, INT64_MAX);
    table_unref(table);
    kv_env_destroy(env.kv);
}

static struct table_descriptor descriptor(void)
{
    struct table_descriptor made;
    MUST(table_descriptor_from_json(
        &bed.arena,
        SLICE("{\"version\":1,\"schema\":{\"version\":1,\"columns\":[{\"name\":\"id\",\"data_type\":{\"type\":"
              "\"BIGINT\"},"
              "\"id\":0},{\"name\":\"p\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}],\"highest_field_id\":1},"
              "\"partition_key\":[\"p\"],\"bucket_key\":[],\"bucket_count\":2,\"properties\":{},\"custom_properties\":{"
              "}}"),
        &made, &err));
    MUST(table_descriptor_normalize(&bed.arena, &made, &err));
    struct table_cluster cluster = table_cluster_default();
    table_defaults_apply(&bed.arena, &cluster, &made);
    MUST(table_validate(&cluster, &made, &err));
    return made;
}

static struct partition_info create(const char *name)
{
    struct partition_info info;
    bool created;
    MUST(meta_partition_create(bed.meta, table->table_id, slice_str(name), 100, false, &bed.arena, &info, &created,
                               &err));
    MUST(buckets_open_partition(buckets, table, &info, NULL, &err));
    return info;
}

static int set_up(void **state)
{
    (void)state;
    const struct table_info *made;
    meta_bed_init(&bed, 1);
    struct table_descriptor d = descriptor();
    MUST(meta_table_create(bed.meta, SLICE("fluss"), SLICE("t"), &d, &made, &err));
    table_unref(made);
    open_all();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_all();
    meta_bed_deinit(&bed);
    return 0;
}

static void append(int64_t partition_id, int32_t number, int64_t id)
{
    struct log_batch_builder builder;
    struct arrow_codec codec = {0};
    struct log_batch_options options = {.append_only = true, .schema_id = 1};
    struct buf out = {0};
    struct bucket_append appended;
    struct datum row[2] = {{.i64 = id}, {.bytes = SLICE("x")}};
    log_batch_builder_init(&builder, &options, row_type(&bed.arena, &table->descriptor->schema));
    MUST(log_batch_builder_append(&builder, CHANGE_APPEND, row, &err));
    log_batch_builder_finish(&builder, &codec, -1, -1, &out);
    struct bucket *bucket = buckets_find(buckets, table->table_id, partition_id, number);
    assert_non_null(bucket);
    MUST(bucket_append(bucket, buf_view(&out), &appended, &err));
    bucket_flush(bucket);
    bucket_unref(bucket);
    log_batch_builder_deinit(&builder);
    arrow_codec_deinit(&codec);
    buf_deinit(&out);
}

static int64_t watermark(int64_t partition_id, int32_t number)
{
    struct bucket_offsets offsets;
    struct bucket *bucket = buckets_find(buckets, table->table_id, partition_id, number);
    assert_non_null(bucket);
    bucket_offsets(bucket, &offsets);
    assert_int_equal(offsets.start, 0);
    bucket_unref(bucket);
    return offsets.high_watermark;
}

static bool is_there(struct partition_info partition, const char *rest)
{
    struct os_stat stat;
    char path[300];
    snprintf(path, sizeof path, "%s/fluss/t-0/%.*s-p%lld%s", META_BED_DATA, SLICE_ARGS(partition.name),
             (long long)partition.partition_id, rest);
    return os_stat(bed.os, path, &stat, NULL) == OK;
}

static void a_partition_has_buckets_of_its_own(void **state)
{
    (void)state;
    assert_null(buckets_find(buckets, table->table_id, -1, 0)); /* the table has none itself */
    struct partition_info a = create("a"), b = create("b");
    assert_int_equal(buckets_count(buckets), 4);
    append(a.partition_id, 1, 5);
    assert_int_equal(watermark(a.partition_id, 1), 1);
    assert_int_equal(watermark(a.partition_id, 0), 0);
    assert_int_equal(watermark(b.partition_id, 1), 0);
    assert_null(buckets_find(buckets, table->table_id, a.partition_id, 2));
    assert_null(buckets_find(buckets, table->table_id, 77, 0));
    assert_null(buckets_find(buckets, 77, a.partition_id, 0)); /* of another table */
}

static void files_come_with_the_first_write(void **state)
{
    (void)state;
    struct partition_info a = create("a");
    struct bucket *bucket = buckets_find(buckets, table->table_id, a.partition_id, 0);
    struct bucket_range range;
    int64_t offset = -1;
    assert_false(is_there(a, ""));
    MUST(bucket_fetch(bucket, 0, 100, true, &range, &err));
    assert_int_equal(range.view.length, 0);
    MUST(bucket_fetch(bucket, -2, 100, true, &range, &err));
    MUST_FAIL(ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION, bucket_fetch(bucket, 1, 100, true, &range, &err));
    MUST(bucket_list_offset(bucket, BUCKET_TIMESTAMP, 5, &offset, &err));
    assert_int_equal(offset, 0);
    MUST(bucket_make_durable(bucket, 0, &err));
    bucket_flush(bucket);
    assert_false(is_there(a, ""));
    append(a.partition_id, 0, 1);
    assert_true(is_there(a, "/log-0"));
    assert_false(is_there(a, "/log-1"));
    bucket_unref(bucket);
}

static void what_is_flushed_is_there_after_a_crash(void **state)
{
    (void)state;
    struct partition_info a = create("a"), b = create("b");
    append(a.partition_id, 1, 5);
    append(b.partition_id, 0, 6);
    append(b.partition_id, 1, 7);
    close_all(); /* writes nothing: all is durable */
    meta_bed_again(&bed, BED_CRASH);
    open_all();
    assert_int_equal(watermark(a.partition_id, 0), 0);
    assert_int_equal(watermark(a.partition_id, 1), 1);
    assert_int_equal(watermark(b.partition_id, 0), 1);
    assert_int_equal(watermark(b.partition_id, 1), 1);
    append(a.partition_id, 1, 8);
    assert_int_equal(watermark(a.partition_id, 1), 2);
}

static void a_dropped_partition_is_gone_with_its_files(void **state)
{
    (void)state;
    struct partition_info a = create("a"), b = create("b");
    append(a.partition_id, 0, 1);
    append(b.partition_id, 0, 1);
    struct bucket *held = buckets_find(buckets, table->table_id, a.partition_id, 0);
    struct bucket_range range;
    MUST(buckets_drop_partition(buckets, a.partition_id, &err));
    MUST(buckets_drop_partition(buckets, a.partition_id, &err));
    MUST_FAIL(ERR_NOT_LEADER_OR_FOLLOWER, bucket_fetch(held, 0, 100, true, &range, &err));
    bucket_unref(held);
    assert_null(buckets_find(buckets, table->table_id, a.partition_id, 0));
    assert_false(is_there(a, ""));
    assert_int_equal(watermark(b.partition_id, 0), 1);
    assert_int_equal(buckets_count(buckets), 2);
    MUST(buckets_drop_table(buckets, table->table_id, &err));
    assert_false(is_there(b, ""));
    assert_int_equal(buckets_count(buckets), 0);
    MUST_FAIL(ERR_TABLE_NOT_EXIST, buckets_open_partition(buckets, table, &b, NULL, &err));
}

static void leftovers_of_a_dropped_partition_can_be_removed(void **state)
{
    (void)state;
    struct partition_info a = create("a");
    append(a.partition_id, 0, 1);
    assert_true(is_there(a, ""));
    MUST(buckets_drop_partition(buckets, a.partition_id, &err));
    MUST(buckets_remove_partition_files(&env, table, &a, &err));
    assert_false(is_there(a, ""));
}

TESTS("bucket.buckets", TEST_BED(a_partition_has_buckets_of_its_own), TEST_BED(files_come_with_the_first_write),
      TEST_BED(what_is_flushed_is_there_after_a_crash), TEST_BED(a_dropped_partition_is_gone_with_its_files),
      TEST_BED(leftovers_of_a_dropped_partition_can_be_removed))
