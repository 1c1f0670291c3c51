#include "api/api_int.h"

/* Those of one table, which begin at items. */
static size_t table_fill(struct api_call *call, const struct producer_offset *items, size_t left,
                         struct wire_pb_producer_table_offsets *table)
{
    size_t count = 1;
    while (count < left && items[count].table_id == items[0].table_id)
        count++;
    table->table_id = items[0].table_id;
    table->bucket_offsets = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_bucket_offset, count);
    table->bucket_offsets_count = count;
    for (size_t i = 0; i < count; i++) {
        struct wire_pb_bucket_offset *bucket = &table->bucket_offsets[i];
        bucket->bucket_id = items[i].bucket;
        if (items[i].partition_id >= 0)
            WIRE_SET(bucket, partition_id, items[i].partition_id);
        WIRE_SET(bucket, log_end_offset, items[i].end_offset);
    }
    return count;
}

/* An empty answer where there are none. Of tables that may not be read nothing is told. */
enum err_code get_producer_offsets(struct api_call *call, struct err *err)
{
    const struct wire_get_producer_offsets_request *req = call->request;
    struct wire_get_producer_offsets_response *resp = call->response;
    struct producer_offsets offsets;
    bool found;
    TRY(meta_producer_offsets(call->api->config.meta, req->producer_id, &call->arena, &found, &offsets, err));
    if (!found)
        return OK;
    WIRE_SET(resp, producer_id, req->producer_id);
    WIRE_SET(resp, expiration_time, offsets.expires_ms);
    resp->table_offsets = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_producer_table_offsets, offsets.count);
    for (size_t i = 0; i < offsets.count;) {
        struct wire_pb_producer_table_offsets *table = &resp->table_offsets[resp->table_offsets_count];
        i += table_fill(call, &offsets.items[i], offsets.count - i, table);
        if (api_check_table_id(call, ACL_READ, table->table_id, NULL) == OK)
            resp->table_offsets_count++;
    }
    return OK;
}
