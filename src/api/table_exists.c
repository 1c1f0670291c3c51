#include "api/api_int.h"

enum err_code table_exists(struct api_call *call, struct err *err)
{
    const struct wire_table_exists_request *req = call->request;
    struct wire_table_exists_response *resp = call->response;
    (void)err;
    resp->exists = meta_table_exists(call->api->config.meta, req->table_path.database_name, req->table_path.table_name);
    return OK;
}
