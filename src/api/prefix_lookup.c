#include "api/api_int.h"

struct values {
    VEC(struct slice) list;
};

static enum err_code key_answer(struct api_call *call, struct bucket *bucket, struct slice prefix,
                                struct wire_pb_value_list *answer, struct err *err)
{
    struct bucket_scan *scan;
    struct values values = {0};
    struct slice key, value;
    int64_t log_offset;
    bool more = true;
    TRY(bucket_scan_open(bucket, prefix, &scan, &log_offset, err));
    enum err_code code = bucket_scan_next(scan, &more, &key, &value, err);
    for (; code == OK && more; code = bucket_scan_next(scan, &more, &key, &value, err))
        vec_push(&values.list, arena_dup(&call->arena, value));
    bucket_scan_close(scan);
    answer->values = ARENA_NEW_ARRAY(&call->arena, struct slice, values.list.len);
    answer->values_count = values.list.len;
    if (values.list.len)
        memcpy(answer->values, values.list.ptr, values.list.len * sizeof *answer->values);
    vec_deinit(&values.list);
    return code;
}

/* An error of one key is the bucket's. */
static enum err_code bucket_answer(struct api_call *call, struct bucket *bucket,
                                   const struct wire_pb_prefix_lookup_req_for_bucket *req,
                                   struct wire_pb_prefix_lookup_resp_for_bucket *answer, struct err *err)
{
    struct wire_pb_value_list *lists = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_value_list, req->keys_count);
    for (size_t i = 0; i < req->keys_count; i++)
        TRY(key_answer(call, bucket, req->keys[i], &lists[i], err));
    answer->value_lists = lists;
    answer->value_lists_count = req->keys_count;
    return OK;
}

/* False: a bucket's state is not all in memory and may_block is not set; the answers are made anew then. */
static bool answer_all(struct api_call *call, bool may_block)
{
    const struct wire_prefix_lookup_request *req = call->request;
    struct wire_prefix_lookup_response *resp = call->response;
    for (size_t i = 0; i < req->buckets_req_count; i++) {
        const struct wire_pb_prefix_lookup_req_for_bucket *in = &req->buckets_req[i];
        struct wire_pb_prefix_lookup_resp_for_bucket *answer = &resp->buckets_resp[i];
        struct bucket *bucket;
        struct err err = {0};
        *answer = (struct wire_pb_prefix_lookup_resp_for_bucket){
            .partition_id = in->partition_id, .has_partition_id = in->has_partition_id, .bucket_id = in->bucket_id};
        enum err_code code = api_bucket_to_read(call, req->table_id, API_PARTITION(in), in->bucket_id, &bucket, &err);
        bool blocks = code == OK && !may_block && !bucket_in_memory(bucket);
        if (code == OK && !blocks)
            code = bucket_answer(call, bucket, in, answer, &err);
        if (code == OK || blocks)
            bucket_unref(bucket);
        if (blocks)
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

enum err_code prefix_lookup(struct api_call *call, struct err *err)
{
    const struct wire_prefix_lookup_request *req = call->request;
    struct wire_prefix_lookup_response *resp = call->response;
    (void)err;
    resp->buckets_resp =
        ARENA_NEW_ARRAY(&call->arena, struct wire_pb_prefix_lookup_resp_for_bucket, req->buckets_req_count);
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
