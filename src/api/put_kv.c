/* A put may have to read old values from the engine, which can wait for the disk. So each bucket has a strand: the puts
 * to it run one at a time and in the order they came, on the loop as long as the bucket's whole state is in memory and
 * nothing is before them, on the pool otherwise. */
#include "api/api_int.h"

struct put_job {
    struct task task;
    struct api_call *call;
    struct put_state *state;
    size_t i;
};

struct put_state {
    struct api_part *parts;
    struct put_job *jobs;
    const uint32_t *targets;
    size_t left; /* atomic: jobs not done, and one for the handler */
    struct task task;
    struct api_call *call;
};

static struct wire_pb_put_kv_resp_for_bucket *answer_of(struct api_call *call, size_t i)
{
    struct wire_put_kv_response *resp = call->response;
    return &resp->buckets_resp[i];
}

/* Runs on the loop or on the pool; writes to its own part of the call only. */
static void put(struct put_job *job)
{
    const struct wire_put_kv_request *req = job->call->request;
    struct api_part *part = &job->state->parts[job->i];
    struct bucket_append appended;
    struct bucket_put put = {.records = req->buckets_req[job->i].records.bytes,
                             .target_columns = job->state->targets,
                             .target_column_count = req->target_columns_count,
                             .overwrite = req->has_agg_mode && req->agg_mode == 1};
    part->code = bucket_put(part->bucket, &put, &appended, &part->err);
    part->end_offset = part->code == OK ? appended.end_offset : 0;
}

static void durable(struct api_call *call, struct api_part *parts, size_t part_count)
{
    for (size_t i = 0; i < part_count; i++) {
        struct wire_pb_put_kv_resp_for_bucket *answer = answer_of(call, i);
        if (parts[i].code == OK)
            WIRE_SET(answer, log_end_offset, parts[i].end_offset);
        else
            API_BUCKET_ERROR(call, answer, parts[i].code, &parts[i].err);
    }
    api_call_finish(call, OK, NULL);
}

/* On the loop, when every bucket's put is done. */
static void all_put(struct api_call *call, struct put_state *state)
{
    const struct wire_put_kv_request *req = call->request;
    size_t count = req->buckets_req_count;
    for (size_t i = 0; i < count; i++) {
        if (state->parts[i].code == OK && req->acks != 0)
            continue;
        bucket_unref(state->parts[i].bucket);
        state->parts[i].bucket = NULL;
    }
    api_await(call, state->parts, count, req->timeout_ms, durable);
}

static void all_put_task(struct task *task)
{
    struct put_state *state = CONTAINER_OF(task, struct put_state, task);
    all_put(state->call, state);
}

static bool job_done(struct put_state *state)
{
    return __atomic_sub_fetch(&state->left, 1, __ATOMIC_ACQ_REL) == 0;
}

static void put_on_pool(struct task *task)
{
    struct put_job *job = CONTAINER_OF(task, struct put_job, task);
    struct put_state *state = job->state;
    put(job);
    if (job_done(state))
        loop_post(net_conn_loop(state->call->conn), &state->task);
}

static void job_start(struct put_job *job)
{
    struct bucket *bucket = job->state->parts[job->i].bucket;
    struct strand *strand = bucket_strand(bucket);
    if (!strand) { /* a log table: refused at once */
        put(job);
        return;
    }
    __atomic_add_fetch(&job->state->left, 1, __ATOMIC_RELAXED);
    if (bucket_in_memory(bucket) && strand_try_enter(strand)) {
        put(job);
        strand_leave(strand);
        job_done(job->state);
        return;
    }
    job->task.fn = put_on_pool;
    strand_submit(strand, job->call->api->config.pool, &job->task);
}

static enum err_code targets_read(struct api_call *call, struct put_state *state, struct err *err)
{
    const struct wire_put_kv_request *req = call->request;
    uint32_t *targets = ARENA_NEW_ARRAY(&call->arena, uint32_t, req->target_columns_count);
    for (size_t i = 0; i < req->target_columns_count; i++) {
        if (req->target_columns[i] < 0)
            return err_set(err, ERR_INVALID_TARGET_COLUMN, "target column %d is no position", req->target_columns[i]);
        targets[i] = (uint32_t)req->target_columns[i];
    }
    state->targets = targets;
    return OK;
}

static enum err_code state_create(struct api_call *call, struct put_state **out, struct err *err)
{
    const struct wire_put_kv_request *req = call->request;
    struct wire_put_kv_response *resp = call->response;
    size_t count = req->buckets_req_count;
    TRY(api_answer_list(call, count, sizeof *resp->buckets_resp + sizeof(struct api_part) + sizeof(struct put_job),
                        err));
    struct put_state *state = ARENA_NEW(&call->arena, struct put_state);
    *state = (struct put_state){.call = call, .left = 1, .task.fn = all_put_task};
    state->parts = ARENA_NEW_ARRAY(&call->arena, struct api_part, count);
    state->jobs = ARENA_NEW_ARRAY(&call->arena, struct put_job, count);
    resp->buckets_resp = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_put_kv_resp_for_bucket, count);
    resp->buckets_resp_count = count;
    *out = state;
    return OK;
}

static enum err_code part_begin(struct api_call *call, const struct wire_pb_put_kv_req_for_bucket *in,
                                struct api_part *part)
{
    const struct wire_put_kv_request *req = call->request;
    /* Of 1.0.0: a write to a partition that expired, to be kept for the lake. */
    if (in->has_original_partition_name)
        return err_set(&part->err, ERR_PARTITION_NOT_EXISTS, "weir keeps no expired partitions: '%.*s' is gone",
                       SLICE_ARGS(in->original_partition_name));
    TRY(api_bucket_to_write(call, req->table_id, API_PARTITION(in), in->bucket_id, &part->bucket, &part->err));
    return api_key_version_check(call, part->bucket, &part->err);
}

enum err_code put_kv(struct api_call *call, struct err *err)
{
    const struct wire_put_kv_request *req = call->request;
    if (req->acks < -1 || req->acks > 1)
        return err_set(err, ERR_INVALID_REQUIRED_ACKS, "acks is %d; -1, 0 and 1 are possible", req->acks);
    struct put_state *state;
    TRY(state_create(call, &state, err));
    TRY(targets_read(call, state, err));
    api_call_later(call);
    for (size_t i = 0; i < req->buckets_req_count; i++) {
        const struct wire_pb_put_kv_req_for_bucket *in = &req->buckets_req[i];
        struct api_part *part = &state->parts[i];
        *answer_of(call, i) =
            (struct wire_pb_put_kv_resp_for_bucket){.partition_id = in->partition_id,
                                                    .has_partition_id = in->has_partition_id,
                                                    .bucket_id = in->bucket_id,
                                                    .original_partition_name = in->original_partition_name,
                                                    .has_original_partition_name = in->has_original_partition_name};
        state->jobs[i] = (struct put_job){.call = call, .state = state, .i = i};
        part->code = part_begin(call, in, part);
        if (part->code == OK)
            job_start(&state->jobs[i]);
    }
    if (job_done(state))
        all_put(call, state);
    return OK;
}
