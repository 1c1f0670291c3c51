/* LOOKUP with insert_if_not_exists: what is missing is put, made durable, and then looked up like everything else.
 *
 * As with PUT_KV the puts run on the bucket's strand. Whatever acks says the answer waits until they are durable, since
 * a look-up shows nothing before. */
#include "api/lookup_int.h"

struct insert_job {
    struct task task;
    struct insert_state *state;
    size_t i;
    struct slice partition_name;
};

struct insert_state {
    struct api_call *call;
    struct insert_job *jobs;
    size_t left; /* atomic: jobs not done, and one for the handler */
    struct task task;
    struct api_part parts[];
};

static enum err_code answer(struct insert_state *state, struct err *err)
{
    struct api_call *call = state->call;
    const struct wire_lookup_request *req = call->request;
    struct wire_lookup_response *resp = call->response;
    TRY(api_answer_list(call, req->buckets_req_count, sizeof *resp->buckets_resp, err));
    resp->buckets_resp = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_lookup_resp_for_bucket, req->buckets_req_count);
    resp->buckets_resp_count = req->buckets_req_count;
    for (size_t i = 0; i < req->buckets_req_count; i++) {
        const struct wire_pb_lookup_req_for_bucket *in = &req->buckets_req[i];
        struct api_part *part = &state->parts[i];
        struct bucket *bucket;
        resp->buckets_resp[i] = (struct wire_pb_lookup_resp_for_bucket){
            .partition_id = in->partition_id, .has_partition_id = in->has_partition_id, .bucket_id = in->bucket_id};
        if (part->code == OK)
            part->code = api_bucket_of(call, req->table_id, API_PARTITION(in), in->bucket_id, &bucket, &part->err);
        if (part->code == OK) {
            part->code = lookup_bucket(call, bucket, in, &resp->buckets_resp[i], &part->err);
            bucket_unref(bucket);
        }
        if (part->code == ERR_WOULD_BLOCK)
            return part->code;
        if (part->code != OK)
            API_BUCKET_ERROR(call, &resp->buckets_resp[i], part->code, &part->err);
    }
    return OK;
}

/* Without room for the answer all of it is done again: what was put is there then. */
static void answer_on_pool(struct task *task)
{
    struct insert_state *state = CONTAINER_OF(task, struct insert_state, task);
    struct api_call *call = state->call;
    struct err err = {0};
    enum err_code code = answer(state, &err);
    if (code == ERR_WOULD_BLOCK)
        api_call_again(call);
    else
        api_call_finish(call, code, &err);
}

static void durable(struct api_call *call, struct api_part *parts, size_t part_count)
{
    (void)part_count;
    struct insert_state *state = CONTAINER_OF(parts, struct insert_state, parts);
    state->task.fn = answer_on_pool;
    pool_lane_submit(call->lane, &state->task);
}

/* On the loop, when every bucket has what was missing. */
static void all_put(struct task *task)
{
    struct insert_state *state = CONTAINER_OF(task, struct insert_state, task);
    const struct wire_lookup_request *req = state->call->request;
    for (size_t i = 0; i < req->buckets_req_count; i++) {
        if (state->parts[i].code == OK)
            continue;
        bucket_unref(state->parts[i].bucket);
        state->parts[i].bucket = NULL;
    }
    api_await(state->call, state->parts, req->buckets_req_count, req->timeout_ms, durable);
}

static void job_done(struct insert_state *state)
{
    if (__atomic_sub_fetch(&state->left, 1, __ATOMIC_ACQ_REL) == 0)
        loop_post(net_conn_loop(state->call->conn), &state->task);
}

static void insert_on_strand(struct task *task)
{
    struct insert_job *job = CONTAINER_OF(task, struct insert_job, task);
    const struct wire_lookup_request *req = job->state->call->request;
    const struct wire_pb_lookup_req_for_bucket *in = &req->buckets_req[job->i];
    struct api_part *part = &job->state->parts[job->i];
    struct bucket_insert what = {in->keys, in->keys_count, job->partition_name};
    struct bucket_append appended;
    part->code = bucket_insert(part->bucket, &what, &appended, &part->err);
    part->end_offset = part->code == OK ? appended.end_offset : 0;
    job_done(job->state);
}

static enum err_code part_begin(struct insert_state *state, size_t i, struct err *err)
{
    struct api_call *call = state->call;
    const struct wire_lookup_request *req = call->request;
    const struct wire_pb_lookup_req_for_bucket *in = &req->buckets_req[i];
    struct partition_info partition;
    struct bucket **bucket = &state->parts[i].bucket;
    TRY(api_bucket_to_write(call, req->table_id, API_PARTITION(in), in->bucket_id, bucket, err));
    TRY(api_key_version_check(call, *bucket, err));
    if (!bucket_has_key(*bucket))
        return err_set(err, ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION, "table %lld has no primary key",
                       (long long)req->table_id);
    if (!in->has_partition_id)
        return OK;
    TRY(meta_partition_get(call->api->config.meta, in->partition_id, &call->arena, &partition, err));
    state->jobs[i].partition_name = partition.name;
    return OK;
}

static enum err_code request_check(const struct wire_lookup_request *req, struct err *err)
{
    if (!req->has_acks || !req->has_timeout_ms)
        return err_set(err, ERR_INVALID_ARGUMENT, "a look-up that inserts missing keys says its acks and timeout_ms");
    if (req->acks < -1 || req->acks > 1)
        return err_set(err, ERR_INVALID_REQUIRED_ACKS, "acks is %d; -1, 0 and 1 are possible", req->acks);
    return OK;
}

enum err_code lookup_insert(struct api_call *call, struct err *err)
{
    const struct wire_lookup_request *req = call->request;
    size_t count = req->buckets_req_count;
    if (!call->may_block)
        return err_set(err, ERR_WOULD_BLOCK, "rows are put");
    TRY(request_check(req, err));
    TRY(api_check_table_id(call, ACL_WRITE, req->table_id, err));
    TRY(api_answer_list(call, count, sizeof(struct api_part) + sizeof(struct insert_job), err));
    struct insert_state *state = arena_zalloc(&call->arena, sizeof *state + count * sizeof(struct api_part));
    state->call = call;
    state->left = 1;
    state->task.fn = all_put;
    state->jobs = ARENA_NEW_ARRAY(&call->arena, struct insert_job, count);
    api_call_later(call);
    for (size_t i = 0; i < count; i++) {
        state->parts[i].code = part_begin(state, i, &state->parts[i].err);
        state->jobs[i] = (struct insert_job){
            .task.fn = insert_on_strand, .state = state, .i = i, .partition_name = state->jobs[i].partition_name};
        if (state->parts[i].code != OK)
            continue;
        __atomic_add_fetch(&state->left, 1, __ATOMIC_RELAXED);
        strand_submit(bucket_strand(state->parts[i].bucket), call->api->config.pool, &state->jobs[i].task);
    }
    job_done(state);
    return OK;
}
