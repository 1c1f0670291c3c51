#include "api/api_int.h"

enum err_code table_exists(struct api_call *call, struct err *err)
{
    const struct wire_table_exists_request *req = call->request;
    struct wire_table_exists_response *resp = call->response;
    (void)err;
    const struct wire_pb_table_path *path = &req->table_path;
    resp->exists = api_may_table(call, ACL_DESCRIBE, path->database_name, path->table_name) &&
                   meta_table_exists(call->api->config.meta, path->database_name, path->table_name);
    return OK;
}
