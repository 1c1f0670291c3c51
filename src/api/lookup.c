#include "api/api_int.h"

static enum err_code bucket_answer(struct api_call *call, struct bucket *bucket, bool may_block,
                                   const struct wire_pb_lookup_req_for_bucket *req,
                                   struct wire_pb_lookup_resp_for_bucket *answer, size_t *bytes, struct err *err)
{
    size_t bytes_max = call->api->config.fetch_bytes_max;
    metric_add(bucket_metrics(bucket)->lookups, 1);
    struct wire_pb_value *values = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_value, req->keys_count);
    for (size_t i = 0; i < req->keys_count; i++) {
        TRY(bucket_lookup(bucket, req->keys[i], may_block, &call->arena, &values[i].values, err));
        values[i].has_values = values[i].values.ptr != NULL;
        *bytes += values[i].values.len;
        if (*bytes > bytes_max)
            return err_set(err, ERR_RECORD_TOO_LARGE_EXCEPTION, "the values have more than %zu bytes: ask for fewer",
                           bytes_max);
    }
    answer->values = values;
    answer->values_count = req->keys_count;
    return OK;
}

/* False: a value is not in memory and may_block is not set; nothing is answered then. */
static bool answer_all(struct api_call *call, bool may_block)
{
    const struct wire_lookup_request *req = call->request;
    struct wire_lookup_response *resp = call->response;
    size_t bytes = 0; /* of all values; an answer is no larger than a request may be */
    for (size_t i = 0; i < req->buckets_req_count; i++) {
        const struct wire_pb_lookup_req_for_bucket *in = &req->buckets_req[i];
        struct wire_pb_lookup_resp_for_bucket *answer = &resp->buckets_resp[i];
        struct bucket *bucket;
        struct err err = {0};
        *answer = (struct wire_pb_lookup_resp_for_bucket){
            .partition_id = in->partition_id, .has_partition_id = in->has_partition_id, .bucket_id = in->bucket_id};
        enum err_code code = api_bucket_to_read(call, req->table_id, API_PARTITION(in), in->bucket_id, &bucket, &err);
        if (code == OK) {
            code = bucket_answer(call, bucket, may_block, in, answer, &bytes, &err);
            bucket_unref(bucket);
        }
        if (code == ERR_WOULD_BLOCK)
            return false;
        if (code != OK)
            API_BUCKET_ERROR(call, answer, code, &err);
    }
    return true;
}

static void answer_on_pool(struct task *task)
{
    struct api_call *call = CONTAINER_OF(task, struct api_call, task);
    bool answered = answer_all(call, true);
    ASSERT(answered);
    api_call_finish(call, OK, NULL);
}

enum err_code lookup(struct api_call *call, struct err *err)
{
    const struct wire_lookup_request *req = call->request;
    struct wire_lookup_response *resp = call->response;
    if (req->insert_if_not_exists)
        return err_set(err, ERR_UNSUPPORTED_VERSION, "weir does not serve look-ups that insert missing keys yet");
    resp->buckets_resp = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_lookup_resp_for_bucket, req->buckets_req_count);
    resp->buckets_resp_count = req->buckets_req_count;
    if (answer_all(call, false))
        return OK;
    /* The keys borrow from the frame, which is gone when the pool comes to it. */
    for (size_t i = 0; i < req->buckets_req_count; i++)
        for (size_t k = 0; k < req->buckets_req[i].keys_count; k++)
            req->buckets_req[i].keys[k] = arena_dup(&call->arena, req->buckets_req[i].keys[k]);
    api_call_later(call);
    call->task.fn = answer_on_pool;
    pool_submit(call->api->config.pool, &call->task);
    return OK;
}
