#include "api/api_int.h"

/* No snapshot that is asked for is there, so each is answered as unavailable and nothing is held. An empty list is how
 * a lease is renewed. */
enum err_code acquire_kv_snapshot_lease(struct api_call *call, struct err *err)
{
    const struct wire_acquire_kv_snapshot_lease_request *req = call->request;
    struct wire_acquire_kv_snapshot_lease_response *resp = call->response;
    for (size_t i = 0; i < req->snapshots_to_lease_count; i++) {
        TRY(api_check_table_id(call, ACL_READ, req->snapshots_to_lease[i].table_id, err));
        TRY(api_kv_table_check(call, req->snapshots_to_lease[i].table_id, err));
    }
    resp->unavailable_snapshots = req->snapshots_to_lease;
    resp->unavailable_snapshots_count = req->snapshots_to_lease_count;
    return OK;
}
