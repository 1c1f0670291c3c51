/* The steps of an alteration: lake, metadata, schedule and buckets. The lake hears of it first, so that its table is
 * never narrower than what is to be written to it; and the metadata notes before what the lake is about to hear, so
 * that a crash in between leaves an alteration that the next start finishes. */
#include "api/alter_int.h"

/* ---- the lake ---- */

static enum err_code lake_check(struct api *api, const struct table_info *table,
                                const struct table_descriptor *descriptor, bool *concerned, bool *just_enabled,
                                struct err *err)
{
    struct table_settings settings;
    TRY(table_settings_read(descriptor, &settings, err));
    /* Keys and buckets of the log are made for a format once and for all. */
    if (settings.lake_enabled && table->settings.lake_format == LAKE_NONE)
        return err_set(err, ERR_INVALID_ALTER_TABLE_EXCEPTION,
                       "table %.*s.%.*s was made without a lake format, so its keys are not those of a lake table",
                       SLICE_ARGS(table->database), SLICE_ARGS(table->name));
    *just_enabled = settings.lake_enabled && !table->settings.lake_enabled;
    *concerned = settings.lake_enabled || table->settings.lake_enabled;
    if (*concerned && !api->config.lake_alter)
        return err_set(err, ERR_INVALID_TABLE_EXCEPTION,
                       "table.datalake.enabled needs a lake: set datalake.format in the server's options");
    return OK;
}

/* ---- buckets ---- */

static void buckets_follow(struct api *api, const struct table_info *table, int64_t partition_id,
                           struct tiering_part *part)
{
    for (int32_t i = 0; i < table->descriptor->bucket_count; i++) {
        struct bucket *bucket = buckets_find(api->config.buckets, table->table_id, partition_id, i);
        if (!bucket)
            continue;
        bucket_set_table(bucket, table);
        bucket_set_tiering(bucket, part);
        bucket_unref(bucket);
    }
}

static void partitions_follow(struct api *api, const struct table_info *table)
{
    struct arena arena = {0};
    struct partition_info *partitions;
    size_t count;
    struct tiering_table *tiering = tiering_find(api->config.tiering, table->table_id);
    meta_partition_list(api->config.meta, table->table_id, &arena, &partitions, &count);
    for (size_t i = 0; i < count; i++) {
        struct tiering_part *part = tiering ? tiering_part_find(tiering, partitions[i].partition_id) : NULL;
        buckets_follow(api, table, partitions[i].partition_id, part);
        tiering_part_unref(part);
    }
    tiering_table_unref(tiering);
    arena_deinit(&arena);
}

/* Every bucket learns of the table's new version, and whether it is tiered. No partition is being made meanwhile. */
static void all_follow(struct api *api, const struct table_info *old, const struct table_info *table)
{
    struct tiering_part *part = NULL;
    if (table->settings.lake_enabled && !old->settings.lake_enabled)
        part = api_tiering_start(api, table);
    else if (table->settings.lake_enabled)
        part = api_tiering_freshen(api, table);
    else
        tiering_remove(api->config.tiering, table->table_id);
    if (table->descriptor->partition_key_count)
        partitions_follow(api, table);
    else
        buckets_follow(api, table, -1, part);
    tiering_part_unref(part);
}

/* ---- all of it ---- */

/* The lake table is made, one that is there already is taken if it fits, or brought to the new shape. */
static enum err_code lake_follow(struct api *api, const struct table_info *table,
                                 const struct table_descriptor *descriptor, bool just_enabled, struct err *err)
{
    const struct api_config *config = &api->config;
    TRY(config->lake_alter(config->lake_arg, table->database, table->name, descriptor, just_enabled, err));
    os_step(config->os, "alter.lake");
    return OK;
}

/* time: also partitions that the table's new options ask for; their tables are open then. */
static enum err_code store(struct api *api, const struct table_info *table, const struct table_descriptor *descriptor,
                           bool time, struct err *err)
{
    const struct table_info *altered = NULL;
    os_mutex_lock(&api->partition_mutex);
    enum err_code code = meta_table_alter(api->config.meta, table->table_id, descriptor, &altered, err);
    if (code == OK) {
        os_step(api->config.os, "alter.stored");
        all_follow(api, table, altered);
    }
    os_mutex_unlock(&api->partition_mutex);
    if (code == OK && time)
        api_time_partitions(api, altered, api_clock_is_steady(api));
    table_unref(altered);
    return code;
}

static void cancel(struct api *api, const struct table_info *table)
{
    struct err err;
    if (meta_alter_cancel(api->config.meta, table->table_id, &err) != OK)
        trace_warn(api->config.trace, "api", "alter_left_begun", trace_slice("database", table->database),
                   trace_slice("table", table->name), trace_err(&err));
}

enum err_code alter_run(struct api *api, const struct table_info *table, const struct table_descriptor *descriptor,
                        struct err *err)
{
    bool concerned, just_enabled;
    TRY(table_validate(&api->config.cluster, descriptor, err));
    TRY(lake_check(api, table, descriptor, &concerned, &just_enabled, err));
    if (!concerned)
        return store(api, table, descriptor, true, err);
    TRY(meta_alter_begin(api->config.meta, table->table_id, descriptor, err));
    os_step(api->config.os, "alter.begun");
    enum err_code code = lake_follow(api, table, descriptor, just_enabled, err);
    if (code == OK)
        return store(api, table, descriptor, true, err);
    /* What is half done in the lake harms nobody: rows of the table fit a wider lake table too, and the statement can
     * be repeated. */
    cancel(api, table);
    return code;
}

/* ---- what a crash cut off ---- */

/* The lake may be back at the next attempt; anything else would stay as it is, and keep every ALTER out. */
static bool lake_is_away(enum err_code code)
{
    return code == ERR_LAKE_DIR || code == ERR_IO || code == ERR_DISK_FULL;
}

static enum err_code finish_table(struct api *api, const struct table_info *table, struct slice json, bool time,
                                  struct arena *arena, struct err *err)
{
    struct table_descriptor descriptor;
    bool concerned, just_enabled;
    TRY(table_descriptor_from_json(arena, json, &descriptor, err));
    TRY(lake_check(api, table, &descriptor, &concerned, &just_enabled, err));
    if (concerned)
        TRY(lake_follow(api, table, &descriptor, just_enabled, err));
    return store(api, table, &descriptor, time, err);
}

static enum err_code finish(struct api *api, const struct pending_alter *pending, bool time, struct arena *arena,
                            struct err *err)
{
    const struct table_info *table;
    struct err why = {0};
    TRY(meta_table_get_by_id(api->config.meta, pending->table_id, &table, err));
    enum err_code code = finish_table(api, table, pending->json, time, arena, &why);
    if (code == OK)
        trace_info(api->config.trace, "api", "alter_finished", trace_slice("database", table->database),
                   trace_slice("table", table->name));
    else
        trace_warn(api->config.trace, "api", "alter_not_finished", trace_slice("database", table->database),
                   trace_slice("table", table->name), trace_i64("again", lake_is_away(code)), trace_err(&why));
    if (code != OK && !lake_is_away(code)) {
        cancel(api, table);
        code = OK;
    }
    table_unref(table);
    if (code != OK && err)
        *err = why;
    return code;
}

enum err_code alter_finish(struct api *api, int64_t table_id, struct err *err)
{
    struct arena arena = {0};
    struct pending_alter *pending = NULL;
    size_t count = 0;
    enum err_code code = meta_alters_pending(api->config.meta, table_id, &arena, &pending, &count, err);
    if (code == OK && count)
        code = finish(api, &pending[0], true, &arena, err);
    arena_deinit(&arena);
    return code;
}

enum err_code api_alters_finish(struct api *api, struct err *err)
{
    struct arena arena = {0};
    struct pending_alter *pending = NULL;
    size_t count = 0;
    enum err_code code = meta_alters_pending(api->config.meta, -1, &arena, &pending, &count, err);
    for (size_t i = 0; i < count && code == OK; i++)
        (void)!finish(api, &pending[i], false, &arena, NULL); /* told to the trace */
    arena_deinit(&arena);
    return code;
}
