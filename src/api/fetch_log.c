/* FETCH_LOG: ranges of many buckets' logs in one answer, or a long poll until there is something.
 *
 * A poll waits at the buckets themselves. Each waiter that is called posts a task to the connection's loop; when the
 * poll ends it takes back the waiters that were not called and lets the posted tasks of the others arrive, so nothing
 * of the call is touched after its end. */
#include "api/fetch_log_int.h"

#define WAIT_MS_DEFAULT 100 /* min_bytes without max_wait_ms, as Fluss has it */
#define WAIT_MS_MAX 60000
#define WAIT_BEHIND_NS 4000000 /* while the connection is behind on other buckets */

struct poll_waiter {
    struct bucket_waiter waiter;
    struct bucket *bucket; /* counted */
    struct task task;
    struct poll *poll;
};

struct poll {
    struct api_held held;
    struct poll_waiter *waiters;
    size_t waiter_count;
    size_t outstanding; /* waiters that are neither taken back nor heard of */
    bool over;          /* the poll is to end when none is outstanding */
};

/* One pass over the request. */
struct pass {
    struct api_call *call;
    int64_t now_ns;
    size_t bytes_left;
    size_t bytes; /* gathered */
    size_t effort_left;
    bool at_once; /* an error, or something that does not get better by waiting */
};

/* What is asked of all buckets of a table. */
struct table_wanted {
    struct fetch_projection *projection; /* NULL: all columns */
    struct fetch_filter *filter;         /* NULL: all batches */
};

static void bucket_error(struct pass *pass, struct wire_pb_fetch_log_resp_for_bucket *answer, enum err_code code,
                         const struct err *err)
{
    API_BUCKET_ERROR(pass->call, answer, code, err);
    /* A client looks its metadata up again on these two; all others it should hear of without delay. */
    if (code != ERR_NOT_LEADER_OR_FOLLOWER && code != ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION)
        pass->at_once = true;
}

static enum err_code bucket_read(struct pass *pass, struct bucket *bucket,
                                 const struct wire_pb_fetch_log_req_for_bucket *req, const struct table_wanted *table,
                                 struct wire_pb_fetch_log_resp_for_bucket *answer, struct err *err)
{
    struct fetch_part part;
    bool enough = pass->effort_left == 0 && (table->projection || table->filter);
    size_t bytes_max = MIN((size_t)MAX(req->max_fetch_bytes, 0), pass->bytes_left);
    const struct fetch_wanted wanted = {.offset = req->fetch_offset,
                                        .bytes_max = enough ? 0 : bytes_max,
                                        .force_one = !enough && pass->bytes == 0,
                                        .projection = table->projection,
                                        .filter = table->filter,
                                        .effort_left = &pass->effort_left};
    pass->at_once |= enough; /* the client asks for the rest, which may be there */
    TRY(fetch_part_read(pass->call, bucket, &wanted, &part, err));
    WIRE_SET(answer, high_watermark, part.high_watermark);
    WIRE_SET(answer, log_start_offset, part.start_offset);
    /* Present also when empty: the Java scanner reads it without asking. */
    WIRE_SET(answer, records, part.records);
    if (part.skipped) { /* the client goes on from here at once */
        WIRE_SET(answer, filtered_end_offset, part.next_offset);
        pass->at_once = true;
    }
    metric_add(bucket_metrics(bucket)->bytes_out, (int64_t)part.bytes);
    pass->bytes += part.bytes;
    pass->bytes_left -= MIN(part.bytes, pass->bytes_left);
    fetch_state_note(pass->call->conn, bucket_table_id(bucket), bucket_partition_id(bucket), req->bucket_id,
                     (part.bytes > 0 || part.skipped) && part.next_offset < part.high_watermark, pass->now_ns);
    return OK;
}

static void bucket_answer(struct pass *pass, int64_t table_id, const struct wire_pb_fetch_log_req_for_bucket *req,
                          const struct table_wanted *table, struct wire_pb_fetch_log_resp_for_bucket *answer)
{
    struct bucket *bucket;
    struct err err = {0};
    *answer = (struct wire_pb_fetch_log_resp_for_bucket){
        .partition_id = req->partition_id, .has_partition_id = req->has_partition_id, .bucket_id = req->bucket_id};
    enum err_code code = api_bucket_to_read(pass->call, table_id, API_PARTITION(req), req->bucket_id, &bucket, &err);
    if (code == OK) {
        code = bucket_read(pass, bucket, req, table, answer, &err);
        bucket_unref(bucket);
    }
    if (code != OK)
        bucket_error(pass, answer, code, &err);
}

static void table_answer(struct pass *pass, const struct wire_pb_fetch_log_req_for_table *req,
                         struct wire_pb_fetch_log_resp_for_table *answer)
{
    answer->table_id = req->table_id;
    if (req->buckets_req_count == 0)
        return;
    struct fetch_projection projection;
    struct table_wanted wanted = {.projection = req->projection_pushdown_enabled ? &projection : NULL,
                                  .filter = fetch_filter_read(pass->call, req)};
    struct err err = {0};
    enum err_code code = OK;
    if (wanted.projection)
        code = fetch_projection_read(pass->call, req, &projection, &err);
    answer->buckets_resp =
        ARENA_NEW_ARRAY(&pass->call->arena, struct wire_pb_fetch_log_resp_for_bucket, req->buckets_req_count);
    answer->buckets_resp_count = req->buckets_req_count;
    for (size_t i = 0; i < req->buckets_req_count; i++) {
        struct wire_pb_fetch_log_resp_for_bucket *bucket = &answer->buckets_resp[i];
        if (code == OK) {
            bucket_answer(pass, req->table_id, &req->buckets_req[i], &wanted, bucket);
            continue;
        }
        *bucket = (struct wire_pb_fetch_log_resp_for_bucket){.partition_id = req->buckets_req[i].partition_id,
                                                             .has_partition_id = req->buckets_req[i].has_partition_id,
                                                             .bucket_id = req->buckets_req[i].bucket_id};
        bucket_error(pass, bucket, code, &err);
    }
    if (wanted.projection)
        fetch_projection_drop(&projection);
    fetch_filter_drop(wanted.filter);
}

static void answer_fill(struct pass *pass)
{
    const struct wire_fetch_log_request *req = pass->call->request;
    struct wire_fetch_log_response *resp = pass->call->response;
    resp->tables_resp =
        ARENA_NEW_ARRAY(&pass->call->arena, struct wire_pb_fetch_log_resp_for_table, req->tables_req_count);
    resp->tables_resp_count = req->tables_req_count;
    for (size_t i = 0; i < req->tables_req_count; i++)
        table_answer(pass, &req->tables_req[i], &resp->tables_resp[i]);
}

static struct pass pass_of(struct api_call *call)
{
    const struct wire_fetch_log_request *req = call->request;
    size_t most = MIN((size_t)MAX(req->max_bytes, 0), call->api->config.answer_bytes_max);
    return (struct pass){.call = call,
                         .bytes_left = most,
                         .effort_left = FETCH_EFFORT_MAX,
                         .now_ns = loop_now_ns(net_conn_loop(call->conn))};
}

/* ---- the poll ---- */

static void poll_end(struct poll *poll)
{
    struct api_call *call = poll->held.call;
    struct pass pass = pass_of(call);
    for (size_t i = 0; i < poll->waiter_count; i++)
        bucket_unref(poll->waiters[i].bucket);
    if (!net_conn_closed(call->conn))
        answer_fill(&pass);
    if (call->starved)
        api_call_again(call);
    else
        api_call_finish(call, OK, NULL);
}

static void poll_again(struct api_held *held, bool time_over)
{
    struct poll *poll = CONTAINER_OF(held, struct poll, held);
    (void)time_over;
    for (size_t i = 0; i < poll->waiter_count; i++)
        if (poll->waiters[i].bucket && bucket_unwait(poll->waiters[i].bucket, &poll->waiters[i].waiter))
            poll->outstanding--;
    poll->over = true;
    if (poll->outstanding == 0)
        poll_end(poll);
}

/* On the loop: a bucket has something. */
static void waiter_arrived(struct task *task)
{
    struct poll *poll = CONTAINER_OF(task, struct poll_waiter, task)->poll;
    poll->outstanding--;
    if (!poll->over)
        api_held_wake(&poll->held);
    else if (poll->outstanding == 0)
        poll_end(poll);
}

static void waiter_called(struct bucket_waiter *waiter)
{
    struct poll_waiter *pw = CONTAINER_OF(waiter, struct poll_waiter, waiter);
    loop_post(net_conn_loop(pw->poll->held.call->conn), &pw->task);
}

/* Waits at one bucket, for the first offset that the answer did not have. False: it is there by now. */
static bool waiter_start(struct poll *poll, struct poll_waiter *pw, int64_t table_id,
                         const struct wire_pb_fetch_log_resp_for_bucket *answer)
{
    struct api_call *call = poll->held.call;
    pw->bucket = buckets_find(call->api->config.buckets, table_id, API_PARTITION(answer), answer->bucket_id);
    if (!pw->bucket)
        return true;
    pw->poll = poll;
    pw->task.fn = waiter_arrived;
    pw->waiter.fn = waiter_called;
    poll->outstanding++;
    if (bucket_wait(pw->bucket, &pw->waiter, answer->high_watermark + 1))
        return true;
    poll->outstanding--;
    return false;
}

static bool waiters_start(struct poll *poll)
{
    const struct wire_fetch_log_response *resp = poll->held.call->response;
    bool all = true;
    for (size_t i = 0; i < resp->tables_resp_count && all; i++) {
        const struct wire_pb_fetch_log_resp_for_table *table = &resp->tables_resp[i];
        for (size_t k = 0; k < table->buckets_resp_count && all; k++)
            if (table->buckets_resp[k].has_high_watermark)
                all =
                    waiter_start(poll, &poll->waiters[poll->waiter_count++], table->table_id, &table->buckets_resp[k]);
    }
    return all;
}

static size_t bucket_count_of(const struct wire_fetch_log_request *req)
{
    size_t count = 0;
    for (size_t i = 0; i < req->tables_req_count; i++)
        count += req->tables_req[i].buckets_req_count;
    return count;
}

static void poll_start(struct api_call *call, int64_t deadline_ns)
{
    struct poll *poll = ARENA_NEW(&call->arena, struct poll);
    api_call_keep(call);
    poll->held.call = call;
    poll->held.again = poll_again;
    poll->waiters = ARENA_NEW_ARRAY(&call->arena, struct poll_waiter, bucket_count_of(call->request));
    api_call_later(call);
    api_hold(&poll->held, deadline_ns);
    if (!waiters_start(poll))
        api_held_wake(&poll->held);
}

static int64_t wait_ms_of(const struct wire_fetch_log_request *req)
{
    if (!req->has_min_bytes || req->min_bytes <= 0)
        return 0;
    return req->has_max_wait_ms ? MIN(req->max_wait_ms, WAIT_MS_MAX) : WAIT_MS_DEFAULT;
}

enum err_code fetch_log(struct api_call *call, struct err *err)
{
    const struct wire_fetch_log_request *req = call->request;
    struct pass pass = pass_of(call);
    if (req->follower_server_id >= 0)
        return err_set(err, ERR_UNSUPPORTED_VERSION, "weir has no followers: follower %d can't fetch",
                       req->follower_server_id);
    TRY(api_answer_list(call, bucket_count_of(req), sizeof(struct wire_pb_fetch_log_resp_for_bucket), err));
    answer_fill(&pass);
    if (call->starved)
        return ERR_WOULD_BLOCK;
    int64_t wait_ns = wait_ms_of(req) * 1000000;
    if (pass.at_once || wait_ns <= 0 || pass.bytes >= (size_t)req->min_bytes || bucket_count_of(req) == 0)
        return OK;
    if (fetch_state_behind(call->conn, pass.now_ns))
        wait_ns = MIN(wait_ns, WAIT_BEHIND_NS);
    wire_message_release(call->wire->response, call->response);
    poll_start(call, pass.now_ns + wait_ns);
    return OK;
}
