#include "api/api_int.h"

enum err_code drop_database(struct api_call *call, struct err *err)
{
    const struct wire_drop_database_request *req = call->request;
    struct meta_ids dropped = {0};
    os_mutex_lock(&call->api->ddl);
    enum err_code code = meta_database_drop(call->api->config.meta, req->database_name, req->ignore_if_not_exists,
                                            req->cascade, &dropped, err);
    for (size_t i = 0; code == OK && i < dropped.len; i++)
        api_table_remove(call->api, dropped.ptr[i]);
    os_mutex_unlock(&call->api->ddl);
    vec_deinit(&dropped);
    return code;
}
