#include "api/api_int.h"

/* The list of tables is for access control alone: one of them is enough, for a writer may meet more later. */
static enum err_code may_write(struct api_call *call, struct err *err)
{
    const struct wire_init_writer_request *req = call->request;
    if (!call->api->config.access.enabled || call->listener->internal)
        return OK;
    if (req->table_path_count == 0)
        return err_set(err, ERR_AUTHORIZATION_EXCEPTION, "a writer names a table that it may WRITE");
    for (size_t i = 0; i < req->table_path_count; i++)
        if (api_may_table(call, ACL_WRITE, req->table_path[i].database_name, req->table_path[i].table_name))
            return OK;
    return api_check_table(call, ACL_WRITE, &req->table_path[0], err);
}

enum err_code init_writer(struct api_call *call, struct err *err)
{
    struct wire_init_writer_response *resp = call->response;
    TRY(may_write(call, err));
    return meta_writer_id(call->api->config.meta, &resp->writer_id, err);
}
