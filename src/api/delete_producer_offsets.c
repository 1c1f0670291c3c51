#include "api/api_int.h"

/* All of its tables that are still there. */
static enum err_code may_delete(struct api_call *call, struct slice producer_id, struct err *err)
{
    struct producer_offsets offsets;
    bool found;
    TRY(meta_producer_offsets(call->api->config.meta, producer_id, &call->arena, &found, &offsets, err));
    for (size_t i = 0; found && i < offsets.count; i++) {
        if (i && offsets.items[i].table_id == offsets.items[i - 1].table_id)
            continue;
        enum err_code code = api_check_table_id(call, ACL_WRITE, offsets.items[i].table_id, err);
        if (code != OK && code != ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION)
            return code;
    }
    return OK;
}

enum err_code delete_producer_offsets(struct api_call *call, struct err *err)
{
    const struct wire_delete_producer_offsets_request *req = call->request;
    TRY(may_delete(call, req->producer_id, err));
    return meta_producer_delete(call->api->config.meta, req->producer_id, err);
}
