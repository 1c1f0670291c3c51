#include "api/api_int.h"

enum err_code get_database_info(struct api_call *call, struct err *err)
{
    const struct wire_get_database_info_request *req = call->request;
    struct wire_get_database_info_response *resp = call->response;
    struct database_info info;
    TRY(meta_database_info(call->api->config.meta, &call->arena, req->database_name, &info, err));
    *resp = (struct wire_get_database_info_response){
        .database_json = info.json, .created_time = info.created_ms, .modified_time = info.modified_ms};
    return OK;
}
