/* Partitions that come and go by time: at CREATE TABLE, after ALTER TABLE, and at a check from time to time.
 *
 * Two things differ from Fluss, so that no row is lost by a clock. A partition of a lake table goes only when the lake
 * has all its rows: its buckets are sealed first, then compared, so that no write slips in between. And after the wall
 * clock has jumped neither a check nor an ALTER TABLE drops anything; the next check believes it. */
#include "api/api_int.h"

struct time_check {
    struct api *api;
    const struct table_info *table;
    struct zone *zone;
    int64_t now_s;
    struct arena arena;
    struct lake_bucket_progress *lake;
    size_t lake_count;
};

enum err_code api_time_zone(struct api *api, const struct time_partitions *time, struct zone **zone, struct err *err)
{
    struct err why = {0};
    if (!time->zone.ptr) {
        *zone = zone_open_system(api->config.os);
        return OK;
    }
    if (zone_open(api->config.os, time->zone, zone, &why) != OK)
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "Invalid value for '%s': %s",
                       table_option_info(TABLE_OPTION_AUTO_PARTITION_TIME_ZONE)->key, why.text);
    return OK;
}

static void tell(const struct time_check *check, const char *event, struct slice name, const struct err *err)
{
    const struct table_info *table = check->table;
    struct trace *trace = check->api->config.trace;
    if (err)
        trace_warn(trace, "api", event, trace_slice("database", table->database), trace_slice("table", table->name),
                   trace_slice("partition", name), trace_err(err));
    else
        trace_info(trace, "api", event, trace_slice("database", table->database), trace_slice("table", table->name),
                   trace_slice("partition", name));
}

/* ---- making ---- */

/* Only of tables with one partition key: of more keys the other values are not known. */
static void partitions_make(struct time_check *check)
{
    const struct time_partitions *time = &check->table->settings.time;
    struct meta *meta = check->api->config.meta;
    for (int32_t i = 0; i < time->precreate; i++) {
        struct slice value;
        int64_t there;
        struct err err;
        if (!time_partition_value(time, check->zone, check->now_s, i, &check->arena, &value))
            return;
        if (meta_partition_find(meta, check->table->table_id, value, &there, NULL) == OK)
            continue;
        if (api_partition_create(check->api, check->table, value, true, &err) != OK) {
            tell(check, "time_partition_not_made", value, &err);
            return; /* the next ones would meet the same limit */
        }
        tell(check, "time_partition_made", value, NULL);
    }
}

/* ---- dropping ---- */

static int64_t lake_end(const struct time_check *check, int64_t partition_id, int32_t number)
{
    for (size_t i = 0; i < check->lake_count; i++)
        if (check->lake[i].partition_id == partition_id && check->lake[i].bucket == number)
            return check->lake[i].end_offset;
    return 0;
}

static void unseal(const struct time_check *check, int64_t partition_id, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        struct bucket *bucket = buckets_find(check->api->config.buckets, check->table->table_id, partition_id, i);
        if (bucket)
            bucket_unseal(bucket);
        bucket_unref(bucket);
    }
}

/* True: the lake has every row, and no more will come. */
static bool seal(const struct time_check *check, int64_t partition_id)
{
    for (int32_t i = 0; i < check->table->descriptor->bucket_count; i++) {
        struct bucket *bucket = buckets_find(check->api->config.buckets, check->table->table_id, partition_id, i);
        bool all = bucket ? bucket_seal(bucket, MAX(lake_end(check, partition_id, i), 0))
                          : buckets_check_refused(check->api->config.buckets, check->table->table_id, partition_id, i,
                                                  NULL) == OK;
        bucket_unref(bucket);
        if (!all) {
            unseal(check, partition_id, i);
            return false;
        }
    }
    return true;
}

static void partition_drop(struct time_check *check, const struct partition_info *partition)
{
    struct err err;
    bool lake = check->table->settings.lake_enabled;
    if (lake && !seal(check, partition->partition_id)) {
        tell(check, "time_partition_waits_for_lake", partition->name, NULL);
        return;
    }
    if (api_partition_drop(check->api, check->table, partition->name, true, &err) == OK) {
        tell(check, "time_partition_dropped", partition->name, NULL);
        return;
    }
    tell(check, "time_partition_not_dropped", partition->name, &err);
    if (lake)
        unseal(check, partition->partition_id, check->table->descriptor->bucket_count);
}

static void partitions_drop(struct time_check *check)
{
    const struct time_partitions *time = &check->table->settings.time;
    struct meta *meta = check->api->config.meta;
    struct partition_info *partitions;
    size_t count;
    meta_partition_list(meta, check->table->table_id, &check->arena, &partitions, &count);
    if (check->table->settings.lake_enabled)
        meta_lake_progress(meta, check->table->table_id, &check->arena, &check->lake, &check->lake_count);
    for (size_t i = 0; i < count; i++) {
        struct properties values;
        if (table_partition_values(check->table->descriptor, partitions[i].name, &check->arena, &values, NULL) == OK &&
            time_partition_is_past(time, check->zone, check->now_s, values.items[time->key].value, &check->arena))
            partition_drop(check, &partitions[i]);
    }
}

void api_time_partitions(struct api *api, const struct table_info *table, bool may_drop)
{
    struct time_check check = {.api = api, .table = table, .now_s = os_wall_ms(api->config.os) / 1000};
    struct err err;
    if (!table->settings.time.enabled)
        return;
    if (api_time_zone(api, &table->settings.time, &check.zone, &err) != OK) {
        tell(&check, "time_partition_not_made", SLICE(""), &err);
        return;
    }
    if (may_drop)
        partitions_drop(&check); /* first, so that there is room for new ones */
    partitions_make(&check);
    zone_close(check.zone);
    arena_deinit(&check.arena);
}

/* ---- the check ---- */

bool api_clock_is_steady(struct api *api)
{
    os_mutex_lock(&api->mutex);
    bool steady = os_clock_jump_ms(api->config.os, &api->clock) == 0;
    os_mutex_unlock(&api->mutex);
    return steady;
}

/* The clock is believed from here on. */
static bool clock_check(struct api *api)
{
    os_mutex_lock(&api->mutex);
    int64_t jump_ms = os_clock_jump_ms(api->config.os, &api->clock);
    os_clock_believe(api->config.os, &api->clock);
    os_mutex_unlock(&api->mutex);
    if (jump_ms)
        trace_warn(api->config.trace, "api", "clock_jumped", trace_i64("ms", jump_ms),
                   trace_str("remedy", "partitions by time are dropped from the next check on; set the clock before it "
                                       "if it is wrong"));
    return !jump_ms;
}

void api_time_partitions_check(struct api *api)
{
    struct meta_tables tables = {0};
    bool may_drop = clock_check(api);
    if (meta_table_list(api->config.meta, (struct slice){0}, &tables, NULL) != OK)
        return;
    for (size_t i = 0; i < tables.len && !api_is_stopping(api); i++) {
        const struct table_info *table;
        if (!tables.ptr[i]->settings.time.enabled)
            continue;
        os_mutex_lock(&api->ddl);
        if (meta_table_get_by_id(api->config.meta, tables.ptr[i]->table_id, &table, NULL) == OK) {
            api_time_partitions(api, table, may_drop);
            table_unref(table);
        }
        os_mutex_unlock(&api->ddl);
    }
    meta_tables_deinit(&tables);
}
