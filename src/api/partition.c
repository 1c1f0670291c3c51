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
    if (code != OK && meta_partition_drop(api->config.meta, table->table_id, name, true, &dropped, NULL) == OK)
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

enum err_code api_partition_drop(struct api *api, const struct table_info *table, struct slice name,
                                 bool ignore_if_not_exists, struct err *err)
{
    int64_t dropped = -1;
    os_mutex_lock(&api->partition_mutex);
    enum err_code code =
        meta_partition_drop(api->config.meta, table->table_id, name, ignore_if_not_exists, &dropped, err);
    if (code == OK && dropped >= 0)
        partition_remove(api, table->table_id, dropped);
    os_mutex_unlock(&api->partition_mutex);
    return code;
}
