#include "api/api_int.h"

/* Nothing is ever held, and what a lease does not hold is released without a word, of a table that was dropped too. */
enum err_code release_kv_snapshot_lease(struct api_call *call, struct err *err)
{
    const struct wire_release_kv_snapshot_lease_request *req = call->request;
    for (size_t i = 0; i < req->buckets_to_release_count; i++) {
        enum err_code code = api_check_table_id(call, ACL_READ, req->buckets_to_release[i].table_id, err);
        if (code == OK)
            code = api_kv_table_check(call, req->buckets_to_release[i].table_id, err);
        if (code != OK && code != ERR_TABLE_NOT_EXIST && code != ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION)
            return code;
    }
    return OK;
}
