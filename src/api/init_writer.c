#include "api/api_int.h"

/* The list of tables is for access control alone. */
enum err_code init_writer(struct api_call *call, struct err *err)
{
    struct wire_init_writer_response *resp = call->response;
    return meta_writer_id(call->api->config.meta, &resp->writer_id, err);
}
