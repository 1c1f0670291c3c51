/* SCAN_KV: the rows of a primary-key bucket as of one moment, in batches. All problems are answered in the response's
 * own error field, never as an error frame, since that is where clients look. */
#include "api/api_int.h"

struct scan_session {
    struct scan_session *next;
    char id[37];
    int64_t table_id;
    int64_t partition_id; /* -1: none */
    int32_t bucket;
    struct bucket_scan *scan;
    const struct net_conn *conn; /* whose close ends it; never followed */
    int64_t log_offset;
    int64_t rows_left; /* -1: no limit */
    int32_t sequence;  /* of the last call */
    int64_t used_ns;
    bool busy;        /* a call works on it */
    struct buf ahead; /* a value that did not fit into the last batch */
    bool has_ahead;
};

static void session_free(struct scan_session *session)
{
    bucket_scan_close(session->scan);
    buf_deinit(&session->ahead);
    mem_free(session);
}

static struct scan_session **session_at_locked(struct api *api, struct slice id)
{
    struct scan_session **at = &api->sessions;
    while (*at && !slice_is(id, (*at)->id))
        at = &(*at)->next;
    return at;
}

static struct scan_session *take_out_locked(struct api *api, struct scan_session **at)
{
    struct scan_session *session = *at;
    *at = session->next;
    api->session_count--;
    return session;
}

/* Sessions that nobody asked for in a while, or whose connection is gone; busy ones see to it themselves. */
static void drop_some(struct api *api, const struct net_conn *conn, int64_t idle_before_ns)
{
    struct scan_session *dropped = NULL;
    os_mutex_lock(&api->mutex);
    for (struct scan_session **at = &api->sessions; *at;) {
        bool goes = !(*at)->busy && ((*at)->used_ns < idle_before_ns || (*at)->conn == conn);
        if (!goes) {
            at = &(*at)->next;
            continue;
        }
        struct scan_session *session = take_out_locked(api, at);
        session->next = dropped;
        dropped = session;
    }
    os_mutex_unlock(&api->mutex);
    while (dropped) {
        struct scan_session *next = dropped->next;
        session_free(dropped);
        dropped = next;
    }
}

void scan_sessions_drop(struct api *api, const struct net_conn *conn)
{
    drop_some(api, conn, conn ? INT64_MIN : INT64_MAX);
}

static enum err_code room_check_locked(struct api *api, const struct wire_pb_scan_req_for_bucket *req, struct err *err)
{
    unsigned same = 0;
    for (const struct scan_session *s = api->sessions; s; s = s->next)
        same += s->table_id == req->table_id && s->partition_id == API_PARTITION(req) && s->bucket == req->bucket_id;
    if (same >= api->config.scans.per_bucket_max || api->session_count >= api->config.scans.count_max)
        return err_set(err, ERR_TOO_MANY_SCANNERS, "%u scans of this bucket and %u in all are open", same,
                       api->session_count);
    return OK;
}

static enum err_code session_enter(struct api *api, struct scan_session *session,
                                   const struct wire_pb_scan_req_for_bucket *req, struct err *err)
{
    os_mutex_lock(&api->mutex);
    enum err_code code = room_check_locked(api, req, err);
    if (code == OK) {
        session->next = api->sessions;
        api->sessions = session;
        api->session_count++;
    }
    os_mutex_unlock(&api->mutex);
    return code;
}

static enum err_code session_open(struct api_call *call, struct scan_session **out, struct err *err)
{
    const struct wire_scan_kv_request *req = call->request;
    const struct wire_pb_scan_req_for_bucket *open = req->bucket_scan_req;
    struct bucket *bucket;
    if (req->call_seq_id != 0)
        return err_set(err, ERR_INVALID_SCAN_REQUEST, "a scan begins with call 0, not %d", req->call_seq_id);
    TRY(api_bucket_to_read(call, open->table_id, API_PARTITION(open), open->bucket_id, &bucket, err));
    struct scan_session *session = mem_alloc(sizeof *session);
    *session = (struct scan_session){.table_id = open->table_id,
                                     .partition_id = API_PARTITION(open),
                                     .bucket = open->bucket_id,
                                     .conn = call->conn,
                                     .rows_left = open->has_limit && open->limit > 0 ? open->limit : -1,
                                     .busy = true};
    os_uuid(call->api->config.os, session->id);
    enum err_code code = bucket_scan_open(bucket, (struct slice){0}, true, &session->scan, &session->log_offset, err);
    bucket_unref(bucket);
    if (code == OK)
        code = session_enter(call->api, session, open, err);
    if (code != OK) {
        session_free(session);
        return code;
    }
    *out = session;
    return OK;
}

/* A wrong call ends the session that it names. */
static enum err_code session_continue(struct api_call *call, struct scan_session **out, struct err *err)
{
    const struct wire_scan_kv_request *req = call->request;
    struct api *api = call->api;
    enum err_code code = OK;
    os_mutex_lock(&api->mutex);
    struct scan_session **at = session_at_locked(api, req->scanner_id), *session = *at;
    if (!session)
        code = err_set(err, ERR_UNKNOWN_SCANNER_ID, "there is no scan %.*s, or it has expired",
                       SLICE_ARGS(req->scanner_id));
    else if (session->busy)
        code = err_set(err, ERR_INVALID_SCAN_REQUEST, "another call works on this scan");
    else if (!req->close_scanner && (!req->has_call_seq_id || req->call_seq_id != session->sequence + 1))
        code = err_set(err, ERR_INVALID_SCAN_REQUEST, "call %d of a scan comes next, not %d", session->sequence + 1,
                       req->call_seq_id);
    else
        code = api_check_table_id(call, ACL_READ, session->table_id, err); /* the right may have gone meanwhile */
    if (code == OK)
        session->busy = true;
    bool drop = session && code != OK && !session->busy;
    if (drop)
        take_out_locked(api, at);
    os_mutex_unlock(&api->mutex);
    if (drop)
        session_free(session);
    if (code == OK)
        *out = session;
    return code;
}

static void session_end(struct api *api, struct scan_session *session)
{
    os_mutex_lock(&api->mutex);
    take_out_locked(api, session_at_locked(api, slice_str(session->id)));
    os_mutex_unlock(&api->mutex);
    session_free(session);
}

static void session_leave(struct api_call *call, struct scan_session *session)
{
    struct api *api = call->api;
    os_mutex_lock(&api->mutex);
    session->busy = false;
    session->used_ns = os_mono_ns(api->config.os);
    session->sequence = ((const struct wire_scan_kv_request *)call->request)->call_seq_id;
    bool orphan = api_is_stopping(api);
    os_mutex_unlock(&api->mutex);
    if (orphan)
        scan_sessions_drop(api, NULL);
}

/* Values until the batch is full, one at least. */
static enum err_code batch_fill(struct scan_session *session, size_t bytes_max, struct buf *out, bool *more,
                                struct err *err)
{
    size_t start = value_batch_start(out);
    *more = true;
    if (session->has_ahead)
        value_batch_put(out, start, buf_view(&session->ahead));
    session->has_ahead = false;
    while (session->rows_left != 0) {
        struct slice key, value;
        TRY(bucket_scan_next(session->scan, more, &key, &value, err));
        if (!*more)
            return OK;
        session->rows_left -= session->rows_left > 0;
        if (out->len > start + VALUE_BATCH_HEADER_BYTES && out->len + value.len > bytes_max) {
            buf_reset(&session->ahead);
            buf_put_slice(&session->ahead, value);
            session->has_ahead = true;
            return OK;
        }
        value_batch_put(out, start, value);
    }
    *more = false;
    return OK;
}

static enum err_code batch_answer(struct api_call *call, struct scan_session *session, bool first, struct err *err)
{
    const struct wire_scan_kv_request *req = call->request;
    struct wire_scan_kv_response *resp = call->response;
    struct buf records = {0};
    bool more;
    size_t bytes_max = MIN((size_t)req->batch_size_bytes, call->api->config.scans.batch_bytes_max);
    enum err_code code = batch_fill(session, bytes_max, &records, &more, err);
    if (code == OK) {
        WIRE_SET(resp, scanner_id, arena_dup(&call->arena, slice_str(session->id)));
        WIRE_SET(resp, has_more_results, more);
        if (first)
            WIRE_SET(resp, log_offset, session->log_offset);
        if (records.len > VALUE_BATCH_HEADER_BYTES)
            WIRE_SET(resp, records, wire_bytes_of(arena_dup(&call->arena, buf_view(&records))));
    }
    buf_deinit(&records);
    if (code != OK || !more)
        session_end(call->api, session);
    else
        session_leave(call, session);
    return code;
}

static enum err_code scan(struct api_call *call, struct err *err)
{
    const struct wire_scan_kv_request *req = call->request;
    struct wire_scan_kv_response *resp = call->response;
    struct scan_session *session = NULL;
    bool opens = req->bucket_scan_req != NULL;
    if (opens == req->has_scanner_id || (opens && req->close_scanner))
        return err_set(err, ERR_INVALID_SCAN_REQUEST, "a scan is opened for a bucket, or goes on or ends by its id");
    if (!req->close_scanner && (!req->has_batch_size_bytes || req->batch_size_bytes <= 0 || !req->has_call_seq_id))
        return err_set(err, ERR_INVALID_SCAN_REQUEST, "a scan needs batch_size_bytes above 0 and call_seq_id");
    /* All that the batch may have, before the session moves. A single row may be larger. */
    if (!req->close_scanner)
        TRY(api_answer_room(call, MIN((size_t)req->batch_size_bytes, call->api->config.scans.batch_bytes_max), err));
    drop_some(call->api, NULL, os_mono_ns(call->api->config.os) - call->api->config.scans.idle_ms_max * 1000000);
    enum err_code code = opens ? session_open(call, &session, err) : session_continue(call, &session, err);
    if (req->close_scanner && (code == OK || code == ERR_UNKNOWN_SCANNER_ID)) {
        if (code == OK)
            session_end(call->api, session);
        WIRE_SET(resp, scanner_id, req->scanner_id);
        WIRE_SET(resp, has_more_results, false);
        return OK;
    }
    TRY(code);
    return batch_answer(call, session, opens, err);
}

enum err_code scan_kv(struct api_call *call, struct err *err)
{
    struct wire_scan_kv_response *resp = call->response;
    enum err_code code = scan(call, err);
    if (code == ERR_WOULD_BLOCK)
        return code;
    if (code != OK)
        API_BUCKET_ERROR(call, resp, code, err);
    return OK;
}
