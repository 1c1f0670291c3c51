/* ALTER DATABASE: custom properties set and removed, the comment. */
#include "api/api_int.h"

static enum err_code change(struct api_call *call, struct database_descriptor *database, struct err *err)
{
    const struct wire_alter_database_request *req = call->request;
    for (size_t i = 0; i < req->config_changes_count; i++)
        TRY(api_config_change(&call->arena, &database->custom_properties, &req->config_changes[i], err));
    /* An empty one is none. */
    if (req->has_comment)
        database->comment = req->comment.len ? req->comment : (struct slice){0};
    return OK;
}

static enum err_code alter(struct api_call *call, struct err *err)
{
    const struct wire_alter_database_request *req = call->request;
    struct meta *meta = call->api->config.meta;
    struct database_info info;
    struct database_descriptor database;
    TRY(meta_database_info(meta, &call->arena, req->database_name, &info, err));
    TRY(database_descriptor_from_json(&call->arena, info.json, &database, err));
    TRY(change(call, &database, err));
    struct buf json = {0};
    database_descriptor_to_json(&database, &json);
    enum err_code code = OK;
    if (!slice_equal(buf_view(&json), info.json))
        code = meta_database_alter(meta, req->database_name, buf_view(&json), err);
    buf_deinit(&json);
    return code;
}

enum err_code alter_database(struct api_call *call, struct err *err)
{
    const struct wire_alter_database_request *req = call->request;
    TRY(api_config_changes_check(req->config_changes_count, err));
    os_mutex_lock(&call->api->ddl);
    enum err_code code = alter(call, err);
    os_mutex_unlock(&call->api->ddl);
    return code == ERR_DATABASE_NOT_EXIST && req->ignore_if_not_exists ? OK : code;
}
