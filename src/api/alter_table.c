/* ALTER TABLE, as far as options go: SET and RESET of what may be altered. The lake hears of it first, so that a crash
 * in between leaves a lake table that the repeated statement finds in its new shape. */
#include "api/api_int.h"

enum { OP_SET = 0, OP_DELETE = 1 }; /* of PbAlterConfig */

static enum err_code option_check(const struct table_info *table, struct slice key, struct err *err)
{
    enum table_option option;
    if (slice_starts_with(key, SLICE("table."))) {
        if (!table_option_find(key, &option) || !table_option_info(option)->alterable)
            return err_set(err, ERR_INVALID_ALTER_TABLE_EXCEPTION, "the option %.*s of a table can't be altered",
                           (int)MIN(key.len, 100), (const char *)key.ptr);
        return OK;
    }
    const char *format = lake_format_name(table->settings.lake_format);
    if (table->settings.lake_enabled && format && key.len > strlen(format) && key.ptr[strlen(format)] == '.' &&
        slice_starts_with(key, slice_str(format)))
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION,
                       "the option %.*s belongs to the lake table and can't be altered while tiering is enabled",
                       (int)MIN(key.len, 100), (const char *)key.ptr);
    return OK;
}

static enum err_code change_apply(struct api_call *call, const struct table_info *table,
                                  struct table_descriptor *descriptor, const struct wire_pb_alter_config *change,
                                  struct err *err)
{
    TRY(option_check(table, change->config_key, err));
    bool own = slice_starts_with(change->config_key, SLICE("table."));
    struct properties *list = own ? &descriptor->properties : &descriptor->custom_properties;
    if (change->op_type == OP_DELETE) {
        properties_remove(list, arena_cstr(&call->arena, change->config_key));
        return OK;
    }
    if (change->op_type != OP_SET || !change->has_config_value)
        return err_set(err, ERR_UNKNOWN_SERVER_ERROR, "an option is set with a value or removed, nothing else (op %d)",
                       change->op_type);
    properties_set(&call->arena, list, change->config_key, change->config_value);
    return OK;
}

static enum err_code request_check(const struct wire_alter_table_request *req, struct err *err)
{
    bool columns =
        req->add_columns_count || req->drop_columns_count || req->rename_columns_count || req->modify_columns_count;
    if (columns && req->config_changes_count)
        return err_set(err, ERR_INVALID_ALTER_TABLE_EXCEPTION, "options and columns are altered one after the other");
    if (columns)
        return err_set(err, ERR_NOT_SUPPORTED, "weir does not change the columns of a table yet");
    if (req->modify_bucket_count)
        return err_set(err, ERR_NOT_SUPPORTED, "weir does not change the number of buckets of a table");
    return OK;
}

/* The lake table is made, one that is there already is taken if it fits, or brought to the new options. */
static enum err_code lake_follow(struct api *api, const struct table_info *table,
                                 const struct table_descriptor *descriptor, bool enabled, struct err *err)
{
    const struct api_config *config = &api->config;
    if (!enabled && !table->settings.lake_enabled)
        return OK;
    if (!config->lake_alter)
        return err_set(err, ERR_INVALID_TABLE_EXCEPTION,
                       "table.datalake.enabled needs a lake: set datalake.format in the server's options");
    return config->lake_alter(config->lake_arg, table->database, table->name, descriptor, !table->settings.lake_enabled,
                              err);
}

/* Every bucket learns of the table's new version, and whether it is tiered. */
static void buckets_follow(struct api *api, const struct table_info *old, const struct table_info *table)
{
    struct tiering_part *part = NULL;
    if (table->settings.lake_enabled && !old->settings.lake_enabled) {
        part = api_tiering_start(api, table);
    } else if (table->settings.lake_enabled) {
        part = api_tiering_freshen(api, table);
    } else {
        tiering_remove(api->config.tiering, table->table_id);
    }
    for (int32_t i = 0; i < table->descriptor->bucket_count; i++) {
        struct bucket *bucket = buckets_find(api->config.buckets, table->table_id, -1, i);
        if (!bucket)
            continue;
        bucket_set_table(bucket, table);
        bucket_set_tiering(bucket, part);
        bucket_unref(bucket);
    }
    tiering_part_unref(part);
}

static enum err_code alter(struct api_call *call, const struct table_info *table, struct err *err)
{
    const struct wire_alter_table_request *req = call->request;
    struct table_descriptor descriptor;
    struct table_settings settings;
    const struct table_info *altered;
    table_descriptor_dup(&call->arena, table->descriptor, &descriptor);
    for (size_t i = 0; i < req->config_changes_count; i++)
        TRY(change_apply(call, table, &descriptor, &req->config_changes[i], err));
    TRY(table_validate(&call->api->config.cluster, &descriptor, err));
    TRY(table_settings_read(&descriptor, &settings, err));
    /* Keys and buckets of the log are made for a format once and for all. */
    if (settings.lake_enabled && table->settings.lake_format == LAKE_NONE)
        return err_set(err, ERR_INVALID_ALTER_TABLE_EXCEPTION,
                       "table %.*s.%.*s was made without a lake format, so its keys are not those of a lake table",
                       SLICE_ARGS(table->database), SLICE_ARGS(table->name));
    TRY(lake_follow(call->api, table, &descriptor, settings.lake_enabled, err));
    TRY(meta_table_alter(call->api->config.meta, table->table_id, &descriptor, &altered, err));
    buckets_follow(call->api, table, altered);
    api_time_partitions(call->api, altered, true);
    table_unref(altered);
    return OK;
}

enum err_code alter_table(struct api_call *call, struct err *err)
{
    const struct wire_alter_table_request *req = call->request;
    const struct table_info *table;
    TRY(request_check(req, err));
    os_mutex_lock(&call->api->ddl);
    enum err_code code = api_table_of_path(call, &req->table_path, &table, err);
    if (code == OK) {
        code = req->config_changes_count ? alter(call, table, err) : OK;
        table_unref(table);
    } else if (code == ERR_TABLE_NOT_EXIST && req->ignore_if_not_exists) {
        code = OK;
    }
    os_mutex_unlock(&call->api->ddl);
    return code;
}
