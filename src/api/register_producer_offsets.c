#include "api/api_int.h"

enum { RESULT_CREATED = 0, RESULT_ALREADY_EXISTS = 1 };

static size_t bucket_count(const struct wire_register_producer_offsets_request *req)
{
    size_t count = 0;
    for (size_t i = 0; i < req->table_offsets_count; i++)
        count += req->table_offsets[i].bucket_offsets_count;
    return count;
}

/* Nobody asks whether the tables are there: the offsets of a dropped one do no harm, and clients skip them. */
enum err_code register_producer_offsets(struct api_call *call, struct err *err)
{
    const struct wire_register_producer_offsets_request *req = call->request;
    struct wire_register_producer_offsets_response *resp = call->response;
    size_t count = 0;
    struct producer_offset *items = ARENA_NEW_ARRAY(&call->arena, struct producer_offset, bucket_count(req));
    for (size_t i = 0; i < req->table_offsets_count; i++) {
        const struct wire_pb_producer_table_offsets *table = &req->table_offsets[i];
        TRY(api_check_table_id(call, ACL_WRITE, table->table_id, err));
        for (size_t k = 0; k < table->bucket_offsets_count; k++) {
            const struct wire_pb_bucket_offset *bucket = &table->bucket_offsets[k];
            if (!bucket->has_log_end_offset)
                return err_set(err, ERR_UNKNOWN_SERVER_ERROR, "bucket %d of table %lld comes without an offset",
                               bucket->bucket_id, (long long)table->table_id);
            items[count++] = (struct producer_offset){table->table_id, API_PARTITION(bucket), bucket->bucket_id,
                                                      bucket->log_end_offset};
        }
    }
    bool created;
    int64_t ttl_ms = req->has_ttl_ms ? req->ttl_ms : call->api->config.producer_ttl_ms;
    TRY(meta_producer_register(call->api->config.meta, req->producer_id, items, count, ttl_ms, &created, err));
    WIRE_SET(resp, result, created ? RESULT_CREATED : RESULT_ALREADY_EXISTS);
    return OK;
}
