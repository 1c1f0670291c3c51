#include "api/api_int.h"

enum err_code database_exists(struct api_call *call, struct err *err)
{
    const struct wire_database_exists_request *req = call->request;
    struct wire_database_exists_response *resp = call->response;
    (void)err;
    resp->exists = meta_database_exists(call->api->config.meta, req->database_name);
    return OK;
}
