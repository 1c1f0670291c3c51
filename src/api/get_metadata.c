#include "api/api_int.h"

static void node_fill(struct api_call *call, struct wire_pb_server_node *node)
{
    *node = (struct wire_pb_server_node){
        .node_id = call->api->config.server_id, .host = slice_str(call->listener->host), .port = call->listener->port};
}

static enum err_code buckets_of(struct api_call *call, const struct table_info *table,
                                struct wire_pb_bucket_metadata **out, size_t *out_count, struct err *err)
{
    size_t count = (size_t)table->descriptor->bucket_count;
    TRY(api_answer_list(call, count, sizeof **out, err));
    int32_t *replica = ARENA_NEW(&call->arena, int32_t);
    *replica = call->api->config.server_id;
    struct wire_pb_bucket_metadata *buckets = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_bucket_metadata, count);
    for (size_t i = 0; i < count; i++) {
        buckets[i] =
            (struct wire_pb_bucket_metadata){.bucket_id = (int32_t)i, .replica_id = replica, .replica_id_count = 1};
        WIRE_SET(&buckets[i], leader_id, call->api->config.server_id);
        WIRE_SET(&buckets[i], leader_epoch, 0);
    }
    *out = buckets;
    *out_count = count;
    return OK;
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
    enum err_code code = api_answer_grow(call, sizeof *out + out->table_json.len, err);
    if (code == OK && table->descriptor->partition_key_count == 0)
        code = buckets_of(call, table, &out->bucket_metadata, &out->bucket_metadata_count, err);
    table_unref(table);
    return code;
}

/* One missing partition fails the whole request, as Fluss has it. */
static enum err_code partition_fill(struct api_call *call, const struct table_info *table, int64_t partition_id,
                                    struct slice name, struct err *err)
{
    struct wire_metadata_response *resp = call->response;
    struct wire_pb_partition_metadata *out = &resp->partition_metadata[resp->partition_metadata_count++];
    *out = (struct wire_pb_partition_metadata){
        .table_id = table->table_id, .partition_name = name, .partition_id = partition_id};
    return buckets_of(call, table, &out->bucket_metadata, &out->bucket_metadata_count, err);
}

static enum err_code partition_of_path(struct api_call *call, const struct wire_pb_physical_table_path *path,
                                       struct err *err)
{
    struct meta *meta = call->api->config.meta;
    const struct table_info *table;
    int64_t partition_id;
    if (!api_may_table(call, ACL_DESCRIBE, path->database_name, path->table_name))
        return OK; /* left out, as a table is */
    TRY(meta_table_get(meta, path->database_name, path->table_name, &table, err));
    enum err_code code = meta_partition_find(meta, table->table_id, path->partition_name, &partition_id, err);
    if (code == OK)
        code = partition_fill(call, table, partition_id, path->partition_name, err);
    else if (code == ERR_PARTITION_NOT_EXISTS) /* in the words of Fluss: clients show them, some look for them */
        err_set(err, code, "Table partition '%.*s.%.*s(p=%.*s)' does not exist.", SLICE_ARGS(path->database_name),
                SLICE_ARGS(path->table_name), SLICE_ARGS(path->partition_name));
    table_unref(table);
    return code;
}

static enum err_code partition_of_id(struct api_call *call, int64_t partition_id, struct err *err)
{
    struct meta *meta = call->api->config.meta;
    struct partition_info info;
    const struct table_info *table;
    TRY(meta_partition_get(meta, partition_id, &call->arena, &info, err));
    TRY(meta_table_get_by_id(meta, info.table_id, &table, err));
    enum err_code code = OK;
    if (api_may_table(call, ACL_DESCRIBE, table->database, table->name))
        code = partition_fill(call, table, partition_id, info.name, err);
    else
        code = err_set(err, ERR_PARTITION_NOT_EXISTS, "there is no partition %lld", (long long)partition_id);
    table_unref(table);
    return code;
}

static enum err_code partitions_fill(struct api_call *call, struct err *err)
{
    const struct wire_metadata_request *req = call->request;
    struct wire_metadata_response *resp = call->response;
    enum err_code code = OK;
    size_t count = req->partitions_path_count + req->partitions_id_count;
    TRY(api_answer_list(call, count, sizeof *resp->partition_metadata, err));
    resp->partition_metadata = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_partition_metadata, count);
    for (size_t i = 0; i < req->partitions_path_count && code == OK; i++)
        code = partition_of_path(call, &req->partitions_path[i], err);
    for (size_t i = 0; i < req->partitions_id_count && code == OK; i++)
        code = partition_of_id(call, req->partitions_id[i], err);
    if (code == ERR_PARTITION_NOT_EXISTS)
        api_partition_missing(call->api, err);
    return code;
}

/* Coordinator and tablet server are one node behind one port. */
enum err_code get_metadata(struct api_call *call, struct err *err)
{
    const struct wire_metadata_request *req = call->request;
    struct wire_metadata_response *resp = call->response;
    resp->coordinator_server = ARENA_NEW(&call->arena, struct wire_pb_server_node);
    resp->tablet_servers = ARENA_NEW(&call->arena, struct wire_pb_server_node);
    resp->tablet_servers_count = 1;
    node_fill(call, resp->coordinator_server);
    node_fill(call, resp->tablet_servers);
    resp->table_metadata = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_table_metadata, req->table_path_count);
    for (size_t i = 0; i < req->table_path_count; i++) {
        if (!api_may_table(call, ACL_DESCRIBE, req->table_path[i].database_name, req->table_path[i].table_name))
            continue;
        TRY(table_fill(call, &req->table_path[i], &resp->table_metadata[resp->table_metadata_count], err));
        resp->table_metadata_count++;
    }
    return partitions_fill(call, err);
}
