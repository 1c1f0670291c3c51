#include "api/api_int.h"

enum err_code get_table_stats(struct api_call *call, struct err *err)
{
    const struct wire_get_table_stats_request *req = call->request;
    struct wire_get_table_stats_response *resp = call->response;
    if (req->target_columns_count)
        return err_set(err, ERR_UNSUPPORTED_VERSION, "weir does not serve statistics of columns");
    TRY(api_answer_list(call, req->buckets_req_count, sizeof *resp->buckets_resp, err));
    resp->buckets_resp =
        ARENA_NEW_ARRAY(&call->arena, struct wire_pb_table_stats_resp_for_bucket, req->buckets_req_count);
    resp->buckets_resp_count = req->buckets_req_count;
    for (size_t i = 0; i < req->buckets_req_count; i++) {
        const struct wire_pb_table_stats_req_for_bucket *in = &req->buckets_req[i];
        struct wire_pb_table_stats_resp_for_bucket *answer = &resp->buckets_resp[i];
        struct bucket *bucket;
        struct bucket_offsets offsets;
        struct err part_err = {0};
        *answer = (struct wire_pb_table_stats_resp_for_bucket){
            .partition_id = in->partition_id, .has_partition_id = in->has_partition_id, .bucket_id = in->bucket_id};
        enum err_code code = api_bucket_of(call, req->table_id, API_PARTITION(in), in->bucket_id, &bucket, &part_err);
        if (code != OK) {
            API_BUCKET_ERROR(call, answer, code, &part_err);
            continue;
        }
        bucket_offsets(bucket, &offsets);
        bucket_unref(bucket);
        if (offsets.row_count < 0) {
            code = err_set(&part_err, ERR_INVALID_TABLE_EXCEPTION,
                           "the rows of a table with 'table.changelog.image' WAL are not counted");
            API_BUCKET_ERROR(call, answer, code, &part_err);
            continue;
        }
        WIRE_SET(answer, row_count, offsets.row_count);
    }
    return OK;
}
