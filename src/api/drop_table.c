#include "api/api_int.h"

/* The metadata knows since before that the table's data has to go, so a failure here is made good at the next start;
 * the name is free and its buckets are gone all the same. */
void api_table_remove(struct api *api, int64_t table_id)
{
    struct err err;
    tiering_remove(api->config.tiering, table_id);
    enum err_code code = buckets_drop_table(api->config.buckets, table_id, &err);
    if (code == OK)
        code = meta_delete_done(api->config.meta, table_id, &err);
    if (code != OK)
        trace_warn(api->config.trace, "api", "drop_left_files", trace_i64("table_id", table_id), trace_err(&err));
}

enum err_code drop_table(struct api_call *call, struct err *err)
{
    const struct wire_drop_table_request *req = call->request;
    int64_t table_id = -1;
    os_mutex_lock(&call->api->ddl);
    enum err_code code = meta_table_drop(call->api->config.meta, req->table_path.database_name,
                                         req->table_path.table_name, req->ignore_if_not_exists, &table_id, err);
    if (code == OK && table_id >= 0)
        api_table_remove(call->api, table_id);
    os_mutex_unlock(&call->api->ddl);
    return code;
}
