/* What several requests do with partitions. */
#include "api/api_int.h"

#define MISSING_TRACE_NS 1000000000

struct properties api_partition_spec(struct api_call *call, const struct wire_pb_partition_spec *spec)
{
    struct properties out = {.count = (uint32_t)spec->partition_key_values_count};
    out.items = ARENA_NEW_ARRAY(&call->arena, struct key_value, out.count);
    for (uint32_t i = 0; i < out.count; i++)
        out.items[i] = (struct key_value){spec->partition_key_values[i].key, spec->partition_key_values[i].value};
    return out;
}

void api_partition_missing(struct api *api, const struct err *err)
{
    int64_t now = os_mono_ns(api->config.os);
    int64_t last = __atomic_load_n(&api->partition_missing_ns, __ATOMIC_RELAXED);
    if (last && now - last < MISSING_TRACE_NS)
        return;
    if (__atomic_compare_exchange_n(&api->partition_missing_ns, &last, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        trace_info(api->config.trace, "api", "partition_missing", trace_err(err));
}

/* Table and partition belong together, whatever the request says. */
static bool partition_is_missing(struct api_call *call, int64_t table_id, int64_t partition_id)
{
    struct partition_info info;
    const struct table_info *table;
    if (partition_id < 0 || meta_table_get_by_id(call->api->config.meta, table_id, &table, NULL) != OK)
        return false;
    bool partitioned = table->descriptor->partition_key_count > 0;
    table_unref(table);
    if (!partitioned)
        return false;
    return meta_partition_get(call->api->config.meta, partition_id, &call->arena, &info, NULL) != OK ||
           info.table_id != table_id;
}

enum err_code api_bucket_to_write(struct api_call *call, int64_t table_id, int64_t partition_id, int32_t number,
                                  struct bucket **bucket, struct err *err)
{
    struct err error = {0};
    enum err_code code = api_bucket_of(call, table_id, partition_id, number, bucket, &error);
    if (code != OK && partition_is_missing(call, table_id, partition_id)) {
        code = err_set(&error, ERR_PARTITION_NOT_EXISTS, "table %lld has no partition %lld", (long long)table_id,
                       (long long)partition_id);
        api_partition_missing(call->api, &error);
    }
    if (code != OK && err)
        *err = error;
    return code;
}

enum err_code api_partition_open(struct api *api, const struct table_info *table,
                                 const struct partition_info *partition, struct err *err)
{
    struct tiering_table *tiering = tiering_find(api->config.tiering, table->table_id);
    struct tiering_part *part = tiering ? tiering_part_add(tiering, partition->partition_id) : NULL;
    enum err_code code = buckets_open_partition(api->config.buckets, table, partition, part, err);
    tiering_part_unref(part);
    tiering_table_unref(tiering);
    return code;
}

/* The data of a partition that the metadata has dropped. A failure is made good at the next start. */
static void partition_remove(struct api *api, int64_t table_id, int64_t partition_id)
{
    struct err err;
    struct tiering_table *tiering = tiering_find(api->config.tiering, table_id);
    if (tiering)
        tiering_part_remove(tiering, partition_id);
    tiering_table_unref(tiering);
    enum err_code code = buckets_drop_partition(api->config.buckets, partition_id, &err);
    if (code == OK)
        code = meta_partition_delete_done(api->config.meta, partition_id, &err);
    if (code != OK)
        trace_warn(api->config.trace, "api", "drop_left_files", trace_i64("partition_id", partition_id),
                   trace_err(&err));
}

static enum err_code create_locked(struct api *api, const struct table_info *table, struct slice name,
                                   bool ignore_if_exists, struct arena *arena, struct err *err)
{
    struct partition_info info;
    const struct table_info *newest;
    bool created;
    TRY(meta_partition_create(api->config.meta, table->table_id, name, api->config.partition_max, ignore_if_exists,
                              arena, &info, &created, err));
    if (!created)
        return OK;
    /* The table as it is now: the caller's may be of before an ALTER. */
    TRY(meta_table_get_by_id(api->config.meta, table->table_id, &newest, err));
    enum err_code code = api_partition_open(api, newest, &info, err);
    table_unref(newest);
    int64_t dropped;
    if (code != OK && meta_partition_drop(api->config.meta, table->table_id, name, false, true, &dropped, NULL) == OK)
        partition_remove(api, table->table_id, info.partition_id);
    return code;
}

/* Under the mutex, so that who finds the partition there finds its buckets too. */
enum err_code api_partition_create(struct api *api, const struct table_info *table, struct slice name,
                                   bool ignore_if_exists, struct err *err)
{
    struct arena arena = {0};
    int32_t bucket_max = api->config.cluster.bucket_count_max;
    if (table->descriptor->bucket_count > bucket_max)
        return err_set(err, ERR_BUCKET_MAX_NUM_EXCEPTION,
                       "%d buckets are more than a partition may have: %d (max.bucket.num).",
                       table->descriptor->bucket_count, bucket_max);
    os_mutex_lock(&api->partition_mutex);
    enum err_code code = create_locked(api, table, name, ignore_if_exists, &arena, err);
    os_mutex_unlock(&api->partition_mutex);
    arena_deinit(&arena);
    return code;
}

/* What goes with a partition. */
struct farewell {
    bool lake_has_some;
    int64_t row_count; /* records of its logs */
    int64_t lost;      /* those that the lake has not */
};

static void look_at_bucket(struct api *api, const struct table_info *table, int64_t partition_id, int32_t number,
                           int64_t lake_end, struct farewell *farewell)
{
    struct bucket_offsets offsets;
    struct bucket *bucket = buckets_find(api->config.buckets, table->table_id, partition_id, number);
    farewell->lake_has_some |= lake_end > 0;
    if (!bucket)
        return;
    bucket_offsets(bucket, &offsets);
    farewell->row_count += offsets.high_watermark;
    farewell->lost += MAX(offsets.high_watermark - MAX(lake_end, 0), 0);
    bucket_unref(bucket);
}

static void look_at_partition(struct api *api, const struct table_info *table, struct slice name,
                              struct farewell *farewell)
{
    struct arena arena = {0};
    struct lake_bucket_progress *progress;
    int64_t partition_id;
    size_t count;
    if (meta_partition_find(api->config.meta, table->table_id, name, &partition_id, NULL) != OK)
        return;
    int64_t *ends = arena_zalloc(&arena, (size_t)table->descriptor->bucket_count * sizeof *ends);
    meta_lake_progress(api->config.meta, table->table_id, &arena, &progress, &count);
    for (size_t i = 0; i < count; i++)
        if (progress[i].partition_id == partition_id)
            ends[progress[i].bucket] = progress[i].end_offset;
    for (int32_t b = 0; b < table->descriptor->bucket_count; b++)
        look_at_bucket(api, table, partition_id, b, ends[b], farewell);
    arena_deinit(&arena);
}

static void tell_lost(struct api *api, const struct table_info *table, struct slice name,
                      const struct farewell *farewell)
{
    if (table->settings.lake_enabled && farewell->lost)
        trace_warn(api->config.trace, "api", "partition_dropped", trace_slice("database", table->database),
                   trace_slice("table", table->name), trace_slice("partition", name),
                   trace_i64("not_in_lake", farewell->lost));
}

enum err_code api_partition_drop(struct api *api, const struct table_info *table, struct slice name,
                                 bool ignore_if_not_exists, struct err *err)
{
    int64_t dropped = -1;
    struct farewell farewell = {0};
    os_mutex_lock(&api->partition_mutex);
    look_at_partition(api, table, name, &farewell);
    /* A round that is under way may bring some of it yet. */
    bool lake_keeps =
        farewell.lake_has_some || (farewell.row_count && tiering_is_running(api->config.tiering, table->table_id));
    enum err_code code =
        meta_partition_drop(api->config.meta, table->table_id, name, lake_keeps, ignore_if_not_exists, &dropped, err);
    if (code == OK && dropped >= 0) {
        tell_lost(api, table, name, &farewell);
        partition_remove(api, table->table_id, dropped);
    }
    os_mutex_unlock(&api->partition_mutex);
    return code;
}
