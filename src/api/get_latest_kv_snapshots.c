#include "api/api_int.h"

/* The partition that is asked for must be named exactly where the table has partitions. */
static enum err_code partition_fill(struct api_call *call, const struct table_info *table, struct err *err)
{
    const struct wire_get_latest_kv_snapshots_request *req = call->request;
    struct wire_get_latest_kv_snapshots_response *resp = call->response;
    bool partitioned = table->descriptor->partition_key_count > 0;
    int64_t partition_id;
    if (!partitioned && !req->has_partition_name)
        return OK;
    if (!partitioned)
        return err_set(err, ERR_TABLE_NOT_PARTITIONED_EXCEPTION, "table %.*s.%.*s is not partitioned",
                       SLICE_ARGS(table->database), SLICE_ARGS(table->name));
    TRY(meta_partition_find(call->api->config.meta, table->table_id, req->partition_name, &partition_id, err));
    WIRE_SET(resp, partition_id, partition_id);
    return OK;
}

/* An entry for every bucket, none with a snapshot: readers then start from the earliest offset of the log, which is
 * right as long as nothing of it is trimmed. */
enum err_code get_latest_kv_snapshots(struct api_call *call, struct err *err)
{
    const struct wire_get_latest_kv_snapshots_request *req = call->request;
    struct wire_get_latest_kv_snapshots_response *resp = call->response;
    const struct table_info *table;
    TRY(api_table_of_path(call, &req->table_path, &table, err));
    enum err_code code = OK;
    if (table->descriptor->schema.primary_key_count == 0)
        code = err_set(err, ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION, "table %.*s.%.*s has no primary key",
                       SLICE_ARGS(table->database), SLICE_ARGS(table->name));
    if (code == OK)
        code = partition_fill(call, table, err);
    if (code == OK) {
        size_t count = (size_t)table->descriptor->bucket_count;
        resp->table_id = table->table_id;
        resp->latest_snapshots = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_kv_snapshot, count);
        resp->latest_snapshots_count = count;
        for (size_t i = 0; i < count; i++)
            resp->latest_snapshots[i].bucket_id = (int32_t)i;
    }
    table_unref(table);
    return code;
}
