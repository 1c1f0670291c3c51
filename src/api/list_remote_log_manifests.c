#include "api/api_int.h"

/* The log is on the server's own disks, so no bucket has a manifest of remote segments. */
enum err_code list_remote_log_manifests(struct api_call *call, struct err *err)
{
    const struct wire_list_remote_log_manifests_request *req = call->request;
    return api_table_part_check(call, req->table_id, API_PARTITION(req), err);
}
