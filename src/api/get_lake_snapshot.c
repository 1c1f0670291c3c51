#include "api/api_int.h"

static struct wire_pb_lake_snapshot_for_bucket answer_of(int64_t partition_id, int32_t bucket, int64_t offset)
{
    struct wire_pb_lake_snapshot_for_bucket answer = {.bucket_id = bucket};
    WIRE_SET(&answer, log_offset, offset);
    if (partition_id >= 0)
        WIRE_SET(&answer, partition_id, partition_id);
    return answer;
}

/* The buckets of one partition from number on, up to below, that the lake has nothing of: their rows are all in the
 * log, so they are answered with its start. Without it a bounded reader of Flink 0.9.1 waits for ever where the log is
 * empty. Those of a partition that was dropped have no log and stay away. */
static void fill_missing(struct api_call *call, int64_t table_id, int64_t partition_id, int32_t number, int32_t below)
{
    struct wire_get_lake_snapshot_response *resp = call->response;
    struct bucket_offsets offsets;
    for (; number < below; number++) {
        struct bucket *bucket = buckets_find(call->api->config.buckets, table_id, partition_id, number);
        if (!bucket)
            return;
        bucket_offsets(bucket, &offsets);
        bucket_unref(bucket);
        resp->bucket_snapshots[resp->bucket_snapshots_count++] = answer_of(partition_id, number, offsets.start);
    }
}

/* The offsets of one partition, count of them, with those of its other buckets between them. */
static void fill_partition(struct api_call *call, const struct table_info *table, int64_t partition_id,
                           const struct lake_offset *items, size_t count)
{
    struct wire_get_lake_snapshot_response *resp = call->response;
    int32_t number = 0;
    for (size_t i = 0; i < count; number = items[i++].bucket + 1) {
        fill_missing(call, table->table_id, partition_id, number, items[i].bucket);
        resp->bucket_snapshots[resp->bucket_snapshots_count++] =
            answer_of(partition_id, items[i].bucket, items[i].end_offset);
    }
    fill_missing(call, table->table_id, partition_id, number, table->descriptor->bucket_count);
}

static size_t partition_len(const struct lake_offsets *offsets, size_t from)
{
    size_t len = 1;
    while (from + len < offsets->count && offsets->items[from + len].partition_id == offsets->items[from].partition_id)
        len++;
    return len;
}

static enum err_code fill(struct api_call *call, const struct table_info *table, struct err *err)
{
    const struct wire_get_lake_snapshot_request *req = call->request;
    struct wire_get_lake_snapshot_response *resp = call->response;
    struct lake_snapshot_info snapshot;
    enum lake_which which = req->has_snapshot_id ? LAKE_BY_ID : req->readable ? LAKE_READABLE : LAKE_LATEST;
    TRY(meta_lake_snapshot(call->api->config.meta, table->table_id, which, req->snapshot_id, &call->arena, &snapshot,
                           err));
    const struct lake_offset *items = snapshot.offsets.items;
    size_t count = snapshot.offsets.count, partitions = 1, len;
    for (size_t i = 0; i < count; i += partition_len(&snapshot.offsets, i))
        partitions++;
    resp->table_id = table->table_id;
    resp->snapshot_id = snapshot.snapshot_id;
    resp->bucket_snapshots = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_lake_snapshot_for_bucket,
                                             count + partitions * (size_t)table->descriptor->bucket_count);
    if (table->descriptor->partition_key_count == 0) {
        fill_partition(call, table, -1, items, count);
        return OK;
    }
    for (size_t i = 0; i < count; i += len) {
        len = partition_len(&snapshot.offsets, i);
        fill_partition(call, table, items[i].partition_id, &items[i], len);
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
