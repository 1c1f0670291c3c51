/* What several requests say of a table. */
#include "api/api_int.h"

/* Clients of a lake-enabled table find the lake's catalog in its properties, as `table.datalake.<format>.<option>`. */
struct slice api_table_json(struct api_call *call, const struct table_info *table)
{
    const struct properties *lake = call->api->config.lake_options;
    if (!table->settings.lake_enabled || !lake || lake->count == 0)
        return arena_dup(&call->arena, table->json);
    struct table_descriptor shown = *table->descriptor;
    struct properties merged = {0};
    for (uint32_t i = 0; i < shown.properties.count; i++)
        properties_set(&call->arena, &merged, shown.properties.items[i].key, shown.properties.items[i].value);
    for (uint32_t i = 0; i < lake->count; i++)
        properties_set(&call->arena, &merged, arena_printf(&call->arena, "table.%.*s", SLICE_ARGS(lake->items[i].key)),
                       lake->items[i].value);
    shown.properties = merged;
    struct buf json = {0};
    table_descriptor_to_json(&shown, &json);
    struct slice text = arena_dup(&call->arena, buf_view(&json));
    buf_deinit(&json);
    return text;
}

/* ---- buckets and schedule ---- */

static int64_t freshness_of(const struct api *api, const struct table_info *table)
{
    int64_t own = table->settings.lake_freshness_ms;
    return own >= 0 ? own : __atomic_load_n(&api->config.freshness_ms_default, __ATOMIC_RELAXED);
}

static struct tiering_table *tiering_enter(struct api *api, const struct table_info *table)
{
    if (!table->settings.lake_enabled)
        return NULL;
    return tiering_add(api->config.tiering, table->table_id, table->database, table->name,
                       table->descriptor->bucket_count, freshness_of(api, table));
}

/* The partitions enter the schedule all before the lake's offsets, and these before the log's. */
static void tiering_tell(struct api *api, const struct table_info *table, struct tiering_table *tiering,
                         const struct partition_info *partitions, size_t count)
{
    struct arena arena = {0};
    struct lake_snapshot_info snapshot;
    if (!tiering)
        return;
    for (size_t i = 0; i < count; i++)
        tiering_part_unref(tiering_part_add(tiering, partitions[i].partition_id));
    if (meta_lake_snapshot(api->config.meta, table->table_id, LAKE_LATEST, 0, &arena, &snapshot, NULL) == OK)
        for (size_t i = 0; i < snapshot.offsets.count; i++)
            tiering_note_lake(tiering, snapshot.offsets.items[i].partition_id, snapshot.offsets.items[i].bucket,
                              snapshot.offsets.items[i].end_offset);
    arena_deinit(&arena);
}

static enum err_code partitions_open(struct api *api, const struct table_info *table, struct tiering_table *tiering,
                                     const struct partition_info *partitions, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct tiering_part *part = tiering ? tiering_part_find(tiering, partitions[i].partition_id) : NULL;
        enum err_code code = buckets_open_partition(api->config.buckets, table, &partitions[i], part, err);
        tiering_part_unref(part);
        TRY(code);
    }
    return OK;
}

/* What a lake snapshot names was on disk before. A shorter log has lost rows, and what is written to it now would get
 * offsets that count as tiered: such a bucket is not served (docs/decisions/0031-a-damaged-bucket-is-refused.md). */
static void lake_check(struct api *api, const struct table_info *table)
{
    struct arena arena = {0};
    struct lake_snapshot_info snapshot = {0};
    if (meta_lake_snapshot(api->config.meta, table->table_id, LAKE_LATEST, 0, &arena, &snapshot, NULL) != OK)
        snapshot.offsets.count = 0;
    for (size_t i = 0; i < snapshot.offsets.count; i++) {
        const struct lake_offset *lake = &snapshot.offsets.items[i];
        struct bucket_offsets log;
        struct bucket *bucket = buckets_find(api->config.buckets, table->table_id, lake->partition_id, lake->bucket);
        if (!bucket)
            continue; /* of a partition that was dropped, or refused */
        bucket_offsets(bucket, &log);
        bucket_unref(bucket);
        if (lake->end_offset <= log.end)
            continue;
        struct err err;
        (void)!err_set(&err, ERR_CORRUPT,
                       "the log of table %.*s.%.*s, bucket %d, ends at %lld, and its lake snapshot at %lld",
                       SLICE_ARGS(table->database), SLICE_ARGS(table->name), lake->bucket, (long long)log.end,
                       (long long)lake->end_offset);
        buckets_refuse(api->config.buckets, table->table_id, lake->partition_id, lake->bucket, &err);
    }
    arena_deinit(&arena);
}

struct tiering_part *api_tiering_start(struct api *api, const struct table_info *table)
{
    struct arena arena = {0};
    struct partition_info *partitions;
    size_t count;
    meta_partition_list(api->config.meta, table->table_id, &arena, &partitions, &count);
    struct tiering_table *tiering = tiering_enter(api, table);
    tiering_tell(api, table, tiering, partitions, count);
    struct tiering_part *part = tiering_part_find(tiering, -1);
    tiering_table_unref(tiering);
    arena_deinit(&arena);
    return part;
}

struct tiering_part *api_tiering_freshen(struct api *api, const struct table_info *table)
{
    struct tiering_table *tiering = tiering_find(api->config.tiering, table->table_id);
    tiering_set_freshness(api->config.tiering, table->table_id, freshness_of(api, table));
    struct tiering_part *part = tiering ? tiering_part_find(tiering, -1) : NULL;
    tiering_table_unref(tiering);
    return part;
}

void api_set_freshness_default(struct api *api, int64_t freshness_ms)
{
    struct meta_tables tables = {0};
    if (__atomic_exchange_n(&api->config.freshness_ms_default, freshness_ms, __ATOMIC_RELAXED) == freshness_ms ||
        meta_table_list(api->config.meta, (struct slice){0}, &tables, NULL) != OK)
        return;
    for (size_t i = 0; i < tables.len; i++)
        if (tables.ptr[i]->settings.lake_enabled)
            tiering_set_freshness(api->config.tiering, tables.ptr[i]->table_id, freshness_of(api, tables.ptr[i]));
    meta_tables_deinit(&tables);
}

enum err_code api_table_open(struct api *api, const struct table_info *table, struct err *err)
{
    struct arena arena = {0};
    struct partition_info *partitions;
    size_t count;
    meta_partition_list(api->config.meta, table->table_id, &arena, &partitions, &count);
    struct tiering_table *tiering = tiering_enter(api, table);
    tiering_tell(api, table, tiering, partitions, count);
    struct tiering_part *whole = tiering ? tiering_part_find(tiering, -1) : NULL;
    enum err_code code = buckets_open_table(api->config.buckets, table, whole, err);
    tiering_part_unref(whole);
    if (code == OK)
        code = partitions_open(api, table, tiering, partitions, count, err);
    if (code == OK)
        lake_check(api, table);
    tiering_table_unref(tiering);
    arena_deinit(&arena);
    return code;
}
