#include "api/api_int.h"

/* Those on resources that the user may DESCRIBE. */
enum err_code list_acls(struct api_call *call, struct err *err)
{
    const struct wire_list_acls_request *req = call->request;
    struct wire_list_acls_response *resp = call->response;
    struct acl_filter filter;
    struct acl *acls;
    size_t count;
    TRY(api_acls_on(call, err));
    TRY(api_acl_filter_of(&req->acl_filter, &filter, err));
    meta_acl_list(call->api->config.meta, &filter, &call->arena, &acls, &count);
    resp->acl = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_acl_info, count);
    for (size_t i = 0; i < count; i++) {
        struct acl_resource resource = acl_resource_of(&acls[i]);
        if (api_may(call, ACL_DESCRIBE, &resource))
            resp->acl[resp->acl_count++] = api_acl_to(&acls[i]);
    }
    return OK;
}
