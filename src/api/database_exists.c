#include "api/api_int.h"

enum err_code database_exists(struct api_call *call, struct err *err)
{
    const struct wire_database_exists_request *req = call->request;
    struct wire_database_exists_response *resp = call->response;
    (void)err;
    /* Clients look for the default database when they start: that it is there is no secret. */
    bool seen =
        slice_is(req->database_name, META_DEFAULT_DATABASE) || api_may_database(call, ACL_DESCRIBE, req->database_name);
    resp->exists = seen && meta_database_exists(call->api->config.meta, req->database_name);
    return OK;
}
