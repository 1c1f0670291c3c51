#include "api/api_int.h"

/* server_type stays away: one port plays both roles, and a client that learned the address under one of them would
 * close the connection on reading the other. */
enum err_code api_versions(struct api_call *call, struct err *err)
{
    struct wire_api_versions_response *resp = call->response;
    size_t count = 0;
    (void)err;
    while (api_served[count].fn)
        count++;
    resp->api_versions = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_api_version, count);
    resp->api_versions_count = count;
    for (size_t i = 0; i < count; i++)
        resp->api_versions[i] =
            (struct wire_pb_api_version){api_served[i].key, api_served[i].version_min, api_served[i].version_max};
    return OK;
}
