#include "api/api_int.h"

#define LIMIT_SCAN_ROWS_MAX 1000000

static enum err_code scan_state(struct api_call *call, struct bucket *bucket, int32_t limit, struct buf *out,
                                struct err *err)
{
    struct bucket_scan *scan;
    int64_t log_offset;
    bool more = true;
    enum err_code code = OK;
    TRY(bucket_scan_open(bucket, (struct slice){0}, true, &scan, &log_offset, err));
    size_t start = value_batch_start(out);
    for (int32_t i = 0; i < limit && code == OK; i++) {
        struct slice key, value;
        code = bucket_scan_next(scan, &more, &key, &value, err);
        if (code != OK || !more)
            break;
        code = api_answer_grow(call, value.len + sizeof(uint32_t), err);
        if (code == OK)
            value_batch_put(out, start, value);
    }
    bucket_scan_close(scan);
    return code;
}

/* The newest rows, of as many segments as they lie in. More than an answer may have are refused rather than cut: who
 * asks for so many rows and gets fewer takes them for all. */
static enum err_code scan_log(struct api_call *call, struct bucket *bucket, int32_t limit, struct buf *out,
                              struct err *err)
{
    struct bucket_offsets offsets;
    struct bucket_range range;
    bucket_offsets(bucket, &offsets);
    int64_t from = MAX(offsets.start, offsets.high_watermark - limit);
    while (from < offsets.high_watermark) {
        TRY(bucket_fetch(bucket, from, call->api->config.answer_bytes_max, true, &range, err));
        enum err_code code = api_answer_grow(call, range.view.length, err);
        if (code == OK)
            code = log_view_read(&range.view, out, err);
        from = range.next_offset;
        log_view_release(&range.view);
        TRY(code);
    }
    return OK;
}

/* A failure is answered for the whole request: no Java client looks at the response's own error field. */
enum err_code limit_scan(struct api_call *call, struct err *err)
{
    const struct wire_limit_scan_request *req = call->request;
    struct wire_limit_scan_response *resp = call->response;
    struct bucket *bucket;
    struct buf records = {0};
    if (req->limit < 1 || req->limit > LIMIT_SCAN_ROWS_MAX)
        return err_set(err, ERR_INVALID_SCAN_REQUEST, "a limit of %d rows: 1 to %d are possible", req->limit,
                       LIMIT_SCAN_ROWS_MAX);
    TRY(api_bucket_of(call, req->table_id, API_PARTITION(req), req->bucket_id, &bucket, err));
    bool has_key = bucket_has_key(bucket);
    enum err_code code = has_key ? scan_state(call, bucket, req->limit, &records, err)
                                 : scan_log(call, bucket, req->limit, &records, err);
    bucket_unref(bucket);
    WIRE_SET(resp, is_log_table, !has_key);
    WIRE_SET(resp, records, wire_bytes_of(arena_dup(&call->arena, buf_view(&records))));
    buf_deinit(&records);
    return code;
}
