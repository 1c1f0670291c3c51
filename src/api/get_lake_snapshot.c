#include "api/api_int.h"

static enum err_code fill(struct api_call *call, const struct table_info *table, struct err *err)
{
    const struct wire_get_lake_snapshot_request *req = call->request;
    struct wire_get_lake_snapshot_response *resp = call->response;
    struct lake_snapshot_info snapshot;
    enum lake_which which = req->has_snapshot_id ? LAKE_BY_ID : req->readable ? LAKE_READABLE : LAKE_LATEST;
    TRY(meta_lake_snapshot(call->api->config.meta, table->table_id, which, req->snapshot_id, &call->arena, &snapshot,
                           err));
    size_t count = snapshot.offsets.count;
    resp->table_id = table->table_id;
    resp->snapshot_id = snapshot.snapshot_id;
    resp->bucket_snapshots = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_lake_snapshot_for_bucket, count);
    resp->bucket_snapshots_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct lake_offset *offset = &snapshot.offsets.items[i];
        struct wire_pb_lake_snapshot_for_bucket *answer = &resp->bucket_snapshots[i];
        answer->bucket_id = offset->bucket;
        WIRE_SET(answer, log_offset, offset->end_offset);
        if (offset->partition_id >= 0)
            WIRE_SET(answer, partition_id, offset->partition_id);
    }
    return OK;
}

enum err_code get_lake_snapshot(struct api_call *call, struct err *err)
{
    const struct wire_get_lake_snapshot_request *req = call->request;
    const struct table_info *table;
    if (req->has_snapshot_id && req->readable)
        return err_set(err, ERR_UNKNOWN_SERVER_ERROR, "a lake snapshot is asked for by id or as readable, not both");
    TRY(api_table_of_path(call, &req->table_path, &table, err));
    enum err_code code = fill(call, table, err);
    table_unref(table);
    return code;
}
