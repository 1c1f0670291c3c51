#include "api/lookup_int.h"

enum err_code lookup_bucket(struct api_call *call, struct bucket *bucket,
                            const struct wire_pb_lookup_req_for_bucket *req,
                            struct wire_pb_lookup_resp_for_bucket *answer, struct err *err)
{
    TRY(api_key_version_check(call, bucket, err));
    metric_add(bucket_metrics(bucket)->lookups, 1);
    TRY(api_answer_list(call, req->keys_count, sizeof(struct wire_pb_value), err));
    struct wire_pb_value *values = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_value, req->keys_count);
    for (size_t i = 0; i < req->keys_count; i++) {
        TRY(bucket_lookup(bucket, req->keys[i], call->may_block, &call->arena, &values[i].values, err));
        values[i].has_values = values[i].values.ptr != NULL;
        TRY(api_answer_grow(call, values[i].values.len, err));
    }
    answer->values = values;
    answer->values_count = req->keys_count;
    return OK;
}

static size_t parts_of(const struct wire_lookup_request *req)
{
    size_t parts = req->buckets_req_count;
    for (size_t i = 0; i < req->buckets_req_count; i++)
        parts += req->buckets_req[i].keys_count;
    return parts;
}

enum err_code lookup(struct api_call *call, struct err *err)
{
    const struct wire_lookup_request *req = call->request;
    struct wire_lookup_response *resp = call->response;
    if (req->insert_if_not_exists)
        return lookup_insert(call, err);
    TRY(api_loop_check(call, parts_of(req), err));
    TRY(api_answer_list(call, req->buckets_req_count, sizeof *resp->buckets_resp, err));
    resp->buckets_resp = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_lookup_resp_for_bucket, req->buckets_req_count);
    resp->buckets_resp_count = req->buckets_req_count;
    for (size_t i = 0; i < req->buckets_req_count; i++) {
        const struct wire_pb_lookup_req_for_bucket *in = &req->buckets_req[i];
        struct wire_pb_lookup_resp_for_bucket *answer = &resp->buckets_resp[i];
        struct bucket *bucket;
        struct err part_err = {0};
        *answer = (struct wire_pb_lookup_resp_for_bucket){
            .partition_id = in->partition_id, .has_partition_id = in->has_partition_id, .bucket_id = in->bucket_id};
        enum err_code code =
            api_bucket_to_read(call, req->table_id, API_PARTITION(in), in->bucket_id, &bucket, &part_err);
        if (code == OK) {
            code = lookup_bucket(call, bucket, in, answer, &part_err);
            bucket_unref(bucket);
        }
        if (code == ERR_WOULD_BLOCK)
            return code;
        if (code != OK)
            API_BUCKET_ERROR(call, answer, code, &part_err);
    }
    return OK;
}
