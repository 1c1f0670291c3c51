#include "api/api_int.h"

struct values {
    VEC(struct slice) list;
};

static enum err_code values_gather(struct api_call *call, struct bucket_scan *scan, struct values *values,
                                   struct err *err)
{
    struct slice key, value;
    bool more = true;
    for (;;) {
        TRY(bucket_scan_next(scan, &more, &key, &value, err));
        if (!more)
            return OK;
        TRY(api_answer_grow(call, value.len + sizeof value, err));
        vec_push(&values->list, arena_dup(&call->arena, value));
    }
}

static enum err_code key_answer(struct api_call *call, struct bucket *bucket, struct slice prefix,
                                struct wire_pb_value_list *answer, struct err *err)
{
    struct bucket_scan *scan;
    struct values values = {0};
    int64_t log_offset;
    TRY(bucket_scan_open(bucket, prefix, call->may_block, &scan, &log_offset, err));
    enum err_code code = values_gather(call, scan, &values, err);
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
    TRY(api_key_version_check(call, bucket, err));
    if (!call->may_block && !bucket_in_memory(bucket))
        return err_set(err, ERR_WOULD_BLOCK, "the bucket's state is on disk");
    TRY(api_answer_list(call, req->keys_count, sizeof(struct wire_pb_value_list), err));
    struct wire_pb_value_list *lists = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_value_list, req->keys_count);
    for (size_t i = 0; i < req->keys_count; i++)
        TRY(key_answer(call, bucket, req->keys[i], &lists[i], err));
    answer->value_lists = lists;
    answer->value_lists_count = req->keys_count;
    return OK;
}

static size_t parts_of(const struct wire_prefix_lookup_request *req)
{
    size_t parts = req->buckets_req_count;
    for (size_t i = 0; i < req->buckets_req_count; i++)
        parts += req->buckets_req[i].keys_count;
    return parts;
}

enum err_code prefix_lookup(struct api_call *call, struct err *err)
{
    const struct wire_prefix_lookup_request *req = call->request;
    struct wire_prefix_lookup_response *resp = call->response;
    TRY(api_loop_check(call, parts_of(req), err));
    TRY(api_answer_list(call, req->buckets_req_count, sizeof *resp->buckets_resp, err));
    resp->buckets_resp =
        ARENA_NEW_ARRAY(&call->arena, struct wire_pb_prefix_lookup_resp_for_bucket, req->buckets_req_count);
    resp->buckets_resp_count = req->buckets_req_count;
    for (size_t i = 0; i < req->buckets_req_count; i++) {
        const struct wire_pb_prefix_lookup_req_for_bucket *in = &req->buckets_req[i];
        struct wire_pb_prefix_lookup_resp_for_bucket *answer = &resp->buckets_resp[i];
        struct bucket *bucket;
        struct err part_err = {0};
        *answer = (struct wire_pb_prefix_lookup_resp_for_bucket){
            .partition_id = in->partition_id, .has_partition_id = in->has_partition_id, .bucket_id = in->bucket_id};
        enum err_code code =
            api_bucket_to_read(call, req->table_id, API_PARTITION(in), in->bucket_id, &bucket, &part_err);
        if (code == OK) {
            code = bucket_answer(call, bucket, in, answer, &part_err);
            bucket_unref(bucket);
        }
        if (code == ERR_WOULD_BLOCK)
            return code;
        if (code != OK)
            API_BUCKET_ERROR(call, answer, code, &part_err);
    }
    return OK;
}
