#include "api/api_int.h"

struct drop {
    struct acl_set seen; /* each entry is answered at the first filter that it matches */
    VEC(struct acl) acls;
};

static enum err_code filter_answer(struct api_call *call, const struct wire_pb_acl_filter *in, struct drop *drop,
                                   struct wire_pb_drop_acls_filter_result *answer, struct err *err)
{
    struct acl_filter filter;
    struct acl *acls;
    size_t count;
    enum err_code code = api_acl_filter_of(in, &filter, err);
    if (code != OK) {
        API_BUCKET_ERROR(call, answer, code, err);
        return OK;
    }
    meta_acl_list(call->api->config.meta, &filter, &call->arena, &acls, &count);
    answer->matching_acls = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_drop_acls_matching_acl, count);
    for (size_t i = 0; i < count; i++) {
        if (acl_set_has(&drop->seen, &acls[i]))
            continue;
        TRY(api_acl_may_change(call, &acls[i], err));
        acl_set_add(&drop->seen, &acls[i]);
        vec_push(&drop->acls, acls[i]);
        answer->matching_acls[answer->matching_acls_count++].acl = api_acl_to(&acls[i]);
    }
    return OK;
}

/* Who may not change one of the entries that match drops none. */
enum err_code drop_acls(struct api_call *call, struct err *err)
{
    const struct wire_drop_acls_request *req = call->request;
    struct wire_drop_acls_response *resp = call->response;
    struct drop drop = {0};
    size_t count = req->acl_filter_count;
    TRY(api_acls_on(call, err));
    resp->filter_results = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_drop_acls_filter_result, count);
    resp->filter_results_count = count;
    enum err_code code = OK;
    for (size_t i = 0; i < count && code == OK; i++)
        code = filter_answer(call, &req->acl_filter[i], &drop, &resp->filter_results[i], err);
    if (code == OK)
        code = meta_acls_drop(call->api->config.meta, drop.acls.ptr, drop.acls.len, err);
    for (size_t i = 0; i < drop.acls.len && code == OK; i++)
        api_acl_trace(call, "dropped", &drop.acls.ptr[i]);
    vec_deinit(&drop.acls);
    acl_set_deinit(&drop.seen);
    return code;
}
