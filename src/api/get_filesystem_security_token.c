#include "api/api_int.h"

/* Clients ask before their first fetch even where all data is local: scheme file and an empty token. */
enum err_code get_filesystem_security_token(struct api_call *call, struct err *err)
{
    struct wire_get_file_system_security_token_response *resp = call->response;
    (void)err;
    resp->schema = SLICE("file");
    resp->token = SLICE("");
    return OK;
}
