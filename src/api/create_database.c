#include "api/api_int.h"

enum err_code create_database(struct api_call *call, struct err *err)
{
    const struct wire_create_database_request *req = call->request;
    if (req->has_database_json && req->database_json.len == 0)
        return err_set(err, ERR_UNKNOWN_SERVER_ERROR, "the descriptor of database %.*s is empty",
                       SLICE_ARGS(req->database_name));
    return meta_database_create(call->api->config.meta, req->database_name, req->database_json, req->ignore_if_exists,
                                err);
}
