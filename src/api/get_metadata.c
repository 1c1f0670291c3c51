#include "api/api_int.h"

static void node_fill(struct api_call *call, struct wire_pb_server_node *node)
{
    *node = (struct wire_pb_server_node){
        .node_id = call->api->config.server_id, .host = slice_str(call->listener->host), .port = call->listener->port};
}

static void buckets_fill(struct api_call *call, const struct table_info *table, struct wire_pb_table_metadata *out)
{
    size_t count = (size_t)table->descriptor->bucket_count;
    int32_t *replica = ARENA_NEW(&call->arena, int32_t);
    *replica = call->api->config.server_id;
    out->bucket_metadata = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_bucket_metadata, count);
    out->bucket_metadata_count = count;
    for (size_t i = 0; i < count; i++) {
        struct wire_pb_bucket_metadata *bucket = &out->bucket_metadata[i];
        *bucket =
            (struct wire_pb_bucket_metadata){.bucket_id = (int32_t)i, .replica_id = replica, .replica_id_count = 1};
        WIRE_SET(bucket, leader_id, call->api->config.server_id);
        WIRE_SET(bucket, leader_epoch, 0);
    }
}

static enum err_code table_fill(struct api_call *call, const struct wire_pb_table_path *path,
                                struct wire_pb_table_metadata *out, struct err *err)
{
    const struct table_info *table;
    TRY(api_table_of_path(call, path, &table, err));
    *out = (struct wire_pb_table_metadata){.table_path = *path,
                                           .table_id = table->table_id,
                                           .schema_id = table->schema_id,
                                           .table_json = api_table_json(call, table),
                                           .created_time = table->created_ms,
                                           .modified_time = table->modified_ms};
    buckets_fill(call, table, out);
    table_unref(table);
    return OK;
}

/* Coordinator and tablet server are one node behind one port. */
enum err_code get_metadata(struct api_call *call, struct err *err)
{
    const struct wire_metadata_request *req = call->request;
    struct wire_metadata_response *resp = call->response;
    if (req->partitions_path_count)
        return err_set(err, ERR_PARTITION_NOT_EXISTS,
                       "table %.*s.%.*s has no partition %.*s: weir does not serve "
                       "partitioned tables yet",
                       SLICE_ARGS(req->partitions_path[0].database_name),
                       SLICE_ARGS(req->partitions_path[0].table_name),
                       SLICE_ARGS(req->partitions_path[0].partition_name));
    if (req->partitions_id_count)
        return err_set(err, ERR_PARTITION_NOT_EXISTS,
                       "there is no partition with id %lld: weir does not serve "
                       "partitioned tables yet",
                       (long long)req->partitions_id[0]);
    resp->coordinator_server = ARENA_NEW(&call->arena, struct wire_pb_server_node);
    resp->tablet_servers = ARENA_NEW(&call->arena, struct wire_pb_server_node);
    resp->tablet_servers_count = 1;
    node_fill(call, resp->coordinator_server);
    node_fill(call, resp->tablet_servers);
    resp->table_metadata = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_table_metadata, req->table_path_count);
    for (size_t i = 0; i < req->table_path_count; i++) {
        TRY(table_fill(call, &req->table_path[i], &resp->table_metadata[i], err));
        resp->table_metadata_count++;
    }
    return OK;
}
