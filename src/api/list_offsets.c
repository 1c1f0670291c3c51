#include "api/api_int.h"

#define PARTS_BY_TIME 64 /* for which an offset by time counts: it may read the disk */

/* Of the protocol's offset types; a fourth (3, the end when this leader took over) is for replicas. */
static enum err_code kind_of(const struct wire_list_offsets_request *req, enum bucket_offset_kind *kind,
                             struct err *err)
{
    switch (req->offset_type) {
    case 0:
        *kind = BUCKET_EARLIEST;
        return OK;
    case 1:
        *kind = BUCKET_LATEST;
        return OK;
    case 2:
        *kind = BUCKET_TIMESTAMP;
        if (!req->has_start_timestamp)
            return err_set(err, ERR_UNKNOWN_SERVER_ERROR, "offsets by timestamp were asked for without a timestamp");
        return OK;
    default:
        return err_set(err, ERR_UNKNOWN_SERVER_ERROR, "weir does not know the offset type %d", req->offset_type);
    }
}

enum err_code list_offsets(struct api_call *call, struct err *err)
{
    const struct wire_list_offsets_request *req = call->request;
    struct wire_list_offsets_response *resp = call->response;
    enum bucket_offset_kind kind;
    TRY(kind_of(req, &kind, err));
    TRY(api_loop_check(call, req->bucket_id_count * (kind == BUCKET_TIMESTAMP ? PARTS_BY_TIME : 1), err));
    TRY(api_answer_list(call, req->bucket_id_count, sizeof *resp->buckets_resp, err));
    resp->buckets_resp =
        ARENA_NEW_ARRAY(&call->arena, struct wire_pb_list_offsets_resp_for_bucket, req->bucket_id_count);
    resp->buckets_resp_count = req->bucket_id_count;
    for (size_t i = 0; i < req->bucket_id_count; i++) {
        struct wire_pb_list_offsets_resp_for_bucket *answer = &resp->buckets_resp[i];
        struct bucket *bucket;
        struct err part_err = {0};
        int64_t offset = 0;
        answer->bucket_id = req->bucket_id[i];
        enum err_code code =
            api_bucket_of(call, req->table_id, API_PARTITION(req), req->bucket_id[i], &bucket, &part_err);
        if (code == OK) {
            code = bucket_list_offset(bucket, kind, req->start_timestamp, &offset, &part_err);
            bucket_unref(bucket);
        }
        if (code != OK)
            API_BUCKET_ERROR(call, answer, code, &part_err);
        else
            WIRE_SET(answer, offset, offset);
    }
    return OK;
}
