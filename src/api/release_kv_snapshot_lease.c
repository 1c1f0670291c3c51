#include "api/api_int.h"

/* Nothing is ever held, and what a lease does not hold is released without a word, of a table that was dropped too. */
enum err_code release_kv_snapshot_lease(struct api_call *call, struct err *err)
{
    const struct wire_release_kv_snapshot_lease_request *req = call->request;
    for (size_t i = 0; i < req->buckets_to_release_count; i++) {
        enum err_code code = api_kv_table_check(call, req->buckets_to_release[i].table_id, err);
        if (code != OK && code != ERR_TABLE_NOT_EXIST)
            return code;
    }
    return OK;
}
