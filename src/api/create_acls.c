#include "api/api_int.h"

/* Entries that can't be are answered one by one; who may not change one of the others changes none. */
enum err_code create_acls(struct api_call *call, struct err *err)
{
    const struct wire_create_acls_request *req = call->request;
    struct wire_create_acls_response *resp = call->response;
    struct acl *acls = ARENA_NEW_ARRAY(&call->arena, struct acl, req->acl_count);
    size_t count = 0;
    TRY(api_acls_on(call, err));
    resp->acl_res = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_create_acl_resp_info, req->acl_count);
    resp->acl_res_count = req->acl_count;
    for (size_t i = 0; i < req->acl_count; i++) {
        struct wire_pb_create_acl_resp_info *answer = &resp->acl_res[i];
        struct acl acl = api_acl_of(&req->acl[i]);
        *answer = (struct wire_pb_create_acl_resp_info){.acl = req->acl[i]};
        enum err_code code = acl_check(&acl, req->acl[i].permission_type, err);
        if (code != OK) {
            API_BUCKET_ERROR(call, answer, code, err);
            continue;
        }
        TRY(api_acl_may_change(call, &acl, err));
        acls[count++] = acl;
    }
    TRY(meta_acls_create(call->api->config.meta, acls, count, err));
    for (size_t i = 0; i < count; i++)
        api_acl_trace(call, "created", &acls[i]);
    return OK;
}
