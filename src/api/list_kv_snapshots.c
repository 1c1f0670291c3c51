#include "api/api_int.h"

enum err_code list_kv_snapshots(struct api_call *call, struct err *err)
{
    const struct wire_list_kv_snapshots_request *req = call->request;
    struct wire_list_kv_snapshots_response *resp = call->response;
    TRY(api_table_part_check(call, req->table_id, API_PARTITION(req), err));
    resp->table_id = req->table_id;
    if (req->has_partition_id)
        WIRE_SET(resp, partition_id, req->partition_id);
    return OK;
}
