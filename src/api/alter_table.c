/* ALTER TABLE: options set and removed, or columns added; never both at once. */
#include "api/alter_int.h"

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

static enum err_code options_apply(struct api_call *call, const struct table_info *table,
                                   struct table_descriptor *descriptor, struct err *err)
{
    const struct wire_alter_table_request *req = call->request;
    for (size_t i = 0; i < req->config_changes_count; i++) {
        struct slice key = req->config_changes[i].config_key;
        bool own = slice_starts_with(key, SLICE("table."));
        TRY(option_check(table, key, err));
        TRY(api_config_change(&call->arena, own ? &descriptor->properties : &descriptor->custom_properties,
                              &req->config_changes[i], err));
    }
    return OK;
}

static bool has_columns(const struct wire_alter_table_request *req)
{
    return req->add_columns_count || req->drop_columns_count || req->rename_columns_count || req->modify_columns_count;
}

static enum err_code request_check(const struct wire_alter_table_request *req, struct err *err)
{
    TRY(api_config_changes_check(req->config_changes_count, err));
    if (has_columns(req) && req->config_changes_count)
        return err_set(err, ERR_INVALID_ALTER_TABLE_EXCEPTION, "options and columns are altered one after the other");
    if (req->drop_columns_count || req->rename_columns_count || req->modify_columns_count)
        return err_set(err, ERR_NOT_SUPPORTED, "columns can be added to a table, not dropped, renamed or modified");
    if (req->modify_bucket_count)
        return err_set(err, ERR_NOT_SUPPORTED, "weir does not change the number of buckets of a table");
    return OK;
}

static enum err_code alter(struct api_call *call, const struct table_info *table, struct err *err)
{
    struct table_descriptor descriptor;
    table_descriptor_dup(&call->arena, table->descriptor, &descriptor);
    TRY(options_apply(call, table, &descriptor, err));
    TRY(alter_add_columns(call, &descriptor.schema, err));
    return alter_run(call->api, table, &descriptor, err);
}

/* An alteration that an earlier run could not finish comes first: this one stands on it. */
static enum err_code alter_in_order(struct api_call *call, struct err *err)
{
    const struct wire_alter_table_request *req = call->request;
    const struct table_info *table;
    TRY(api_table_of_path(call, &req->table_path, &table, err));
    enum err_code code = alter_finish(call->api, table->table_id, err);
    table_unref(table);
    TRY(code);
    TRY(api_table_of_path(call, &req->table_path, &table, err));
    if (has_columns(req) || req->config_changes_count)
        code = alter(call, table, err);
    table_unref(table);
    return code;
}

enum err_code alter_table(struct api_call *call, struct err *err)
{
    const struct wire_alter_table_request *req = call->request;
    TRY(request_check(req, err));
    os_mutex_lock(&call->api->ddl);
    enum err_code code = alter_in_order(call, err);
    os_mutex_unlock(&call->api->ddl);
    return code == ERR_TABLE_NOT_EXIST && req->ignore_if_not_exists ? OK : code;
}
