#include "api/api_int.h"

static struct wire_pb_produce_log_resp_for_bucket *answer_of(struct api_call *call, size_t i)
{
    struct wire_produce_log_response *resp = call->response;
    return &resp->buckets_resp[i];
}

static enum err_code append(struct api_call *call, int64_t table_id,
                            const struct wire_pb_produce_log_req_for_bucket *req, struct api_part *part,
                            int64_t *base_offset, struct err *err)
{
    struct bucket_append appended;
    struct bucket *bucket;
    /* Of 1.0.0: a write to a partition that expired, to be kept for the lake. */
    if (req->has_original_partition_name)
        return err_set(err, ERR_PARTITION_NOT_EXISTS, "weir keeps no expired partitions: '%.*s' is gone",
                       SLICE_ARGS(req->original_partition_name));
    TRY(api_bucket_to_write(call, table_id, API_PARTITION(req), req->bucket_id, &bucket, err));
    enum err_code code = bucket_append(bucket, req->records.bytes, &appended, err);
    if (code != OK) {
        bucket_unref(bucket);
        return code;
    }
    *base_offset = appended.base_offset;
    part->bucket = bucket;
    part->end_offset = appended.end_offset;
    return OK;
}

static void durable(struct api_call *call, struct api_part *parts, size_t part_count)
{
    for (size_t i = 0; i < part_count; i++) {
        struct wire_pb_produce_log_resp_for_bucket *answer = answer_of(call, i);
        if (parts[i].code == OK)
            continue;
        answer->has_base_offset = false;
        API_BUCKET_ERROR(call, answer, parts[i].code, &parts[i].err);
    }
    api_call_finish(call, OK, NULL);
}

static void parts_drop(struct api_part *parts, size_t part_count)
{
    for (size_t i = 0; i < part_count; i++)
        bucket_unref(parts[i].bucket);
}

enum err_code produce_log(struct api_call *call, struct err *err)
{
    const struct wire_produce_log_request *req = call->request;
    struct wire_produce_log_response *resp = call->response;
    size_t count = req->buckets_req_count;
    if (req->acks < -1 || req->acks > 1)
        return err_set(err, ERR_INVALID_REQUIRED_ACKS, "acks is %d; -1, 0 and 1 are possible", req->acks);
    TRY(api_answer_list(call, count, sizeof *resp->buckets_resp + sizeof(struct api_part), err));
    struct api_part *parts = ARENA_NEW_ARRAY(&call->arena, struct api_part, count);
    resp->buckets_resp = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_produce_log_resp_for_bucket, count);
    resp->buckets_resp_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct wire_pb_produce_log_req_for_bucket *part = &req->buckets_req[i];
        struct wire_pb_produce_log_resp_for_bucket *answer = answer_of(call, i);
        int64_t base_offset = -1;
        *answer = (struct wire_pb_produce_log_resp_for_bucket){.partition_id = part->partition_id,
                                                               .has_partition_id = part->has_partition_id,
                                                               .bucket_id = part->bucket_id,
                                                               .original_partition_name = part->original_partition_name,
                                                               .has_original_partition_name =
                                                                   part->has_original_partition_name};
        enum err_code code = append(call, req->table_id, part, &parts[i], &base_offset, err);
        if (code != OK)
            API_BUCKET_ERROR(call, answer, code, err);
        else
            WIRE_SET(answer, base_offset, base_offset);
    }
    if (req->acks == 0) {
        parts_drop(parts, count);
        return OK;
    }
    api_call_later(call);
    api_await(call, parts, count, req->timeout_ms, durable);
    return OK;
}
