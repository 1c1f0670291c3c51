/* The life of a call: from a frame to its answer. */
#include "api/api_int.h"

/* Where the field is that names what is used; a request without it, or with another type of it, does not compile. */
#define FIELD(fn, field, type) \
    _Generic(((struct wire_##fn##_request *)0)->field, type : offsetof(struct wire_##fn##_request, field))
#define FIELD_ANYBODY(fn) 0
#define FIELD_CLUSTER(fn) 0
#define FIELD_OWN(fn) 0
#define FIELD_DATABASE(fn) FIELD(fn, database_name, struct slice)
#define FIELD_TABLES_DATABASE(fn) FIELD(fn, table_path, struct wire_pb_table_path)
#define FIELD_TABLE(fn) FIELD(fn, table_path, struct wire_pb_table_path)
#define FIELD_TABLE_ID(fn) FIELD(fn, table_id, int64_t)

const struct api_served api_served[] = {
#define SERVED(name, min, max, fn, where, operation, on) \
    {WIRE_##name, min, max, where, fn, {ACL_##operation, API_ON_##on, FIELD_##on(fn)}},
#include "api/served.def"
#undef SERVED
    {0, 0, 0, API_LOOP, NULL, {ACL_NONE, API_ON_ANYBODY, 0}}};

/* Each request of the protocol is served or refused, once: one that is neither, or both, does not compile. */
enum covered {
#define SERVED(name, min, max, fn, where, operation, on) COVERED_##name,
#include "api/served.def"
#undef SERVED
#define REFUSED(name, why) COVERED_##name,
#include "api/refused.def"
#undef REFUSED
    COVERED_COUNT
};
enum {
    ALL_COVERED = 0
#define API(name, key, version_min, version_max, request, response, role, note) +0 * COVERED_##name
#include "apis.def"
#undef API
};

static const char *refused_why(int16_t key)
{
    switch (key) {
#define REFUSED(name, why) \
    case WIRE_##name:      \
        return why;
#include "api/refused.def"
#undef REFUSED
    default:
        return "no request of the protocol has this number";
    }
}

static const struct api_served *served_find(int16_t key)
{
    for (const struct api_served *served = api_served; served->fn; served++)
        if (served->key == key)
            return served;
    return NULL;
}

static void send_error(struct net_work *work, int32_t request_id, enum err_code code, const struct err *err)
{
    struct err error = {.code = code};
    if (err)
        error = *err;
    error.code = code;
    struct wire_out out = {0};
    wire_error_encode(&out, request_id, &error);
    net_work_send(work, &out);
}

static void call_count(struct api_call *call, bool failed)
{
    struct api_meter *meter = api_meter_of(call->api, call->served);
    metric_add(meter->requests, 1);
    if (failed)
        metric_add(meter->errors, 1);
    metric_observe(meter->time, (os_mono_ns(call->api->config.os) - call->begun_ns) / 1000);
}

static void call_free(struct api_call *call)
{
    net_conn_unref(call->conn);
    pool_lane_unref(call->lane);
    arena_deinit(&call->arena);
    buf_deinit(&call->kept);
    mem_free(call);
}

void api_call_finish(struct api_call *call, enum err_code code, const struct err *err)
{
    struct wire_out out = {0};
    struct err encode_err;
    const struct wire_desc *desc = call->wire->response;
    if (code == OK) {
        code = wire_response_encode(&out, call->request_id, desc, call->response, &encode_err);
        err = &encode_err;
    }
    /* Before the answer: who has it may look at the figures at once. */
    call_count(call, code != OK || call->failed);
    if (code == OK) {
        net_work_send(&call->work, &out);
    } else {
        if (call->response)
            wire_message_release(desc, call->response);
        send_error(&call->work, call->request_id, code, err);
    }
    call_free(call);
}

static enum err_code call_decode(struct api_call *call, struct err *err)
{
    call->request = arena_zalloc(&call->arena, call->wire->request->size);
    call->response = arena_zalloc(&call->arena, call->wire->response->size);
    return wire_decode(call->wire->request, call->body, &call->arena, call->request, err);
}

/* What was decoded already borrows from the body, so it is decoded again from the copy. */
void api_call_keep(struct api_call *call)
{
    if (call->kept.ptr)
        return;
    buf_reserve(&call->kept, call->body.len + 1);
    buf_put_slice(&call->kept, call->body);
    call->body = buf_view(&call->kept);
    if (!call->request)
        return;
    call->request = arena_zalloc(&call->arena, call->wire->request->size);
    enum err_code code = wire_decode(call->wire->request, call->body, &call->arena, call->request, NULL);
    ASSERT(code == OK); /* the same bytes as before */
}

static void call_run(struct api_call *call)
{
    struct err err = {0};
    bool later = false; /* not in the call: it may be gone when the handler returns */
    call->later = &later;
    enum err_code code = api_authorize(call, &err);
    if (code == OK)
        code = call->served->fn(call, &err);
    ASSERT(code == OK || !later);
    if (code == ERR_WOULD_BLOCK)
        api_call_again(call);
    else if (!later)
        api_call_finish(call, code, &err);
}

static void call_run_task(struct task *task)
{
    call_run(CONTAINER_OF(task, struct api_call, task));
}

static void call_restart_task(struct task *task)
{
    struct api_call *call = CONTAINER_OF(task, struct api_call, task);
    struct err err = {0};
    enum err_code code = call_decode(call, &err);
    if (code == OK)
        call_run(call);
    else
        api_call_finish(call, code, &err);
}

void api_call_restart(struct api_call *call)
{
    call->task.fn = call_restart_task;
    if (call->may_block)
        pool_lane_submit(call->lane, &call->task);
    else
        loop_post(net_conn_loop(call->conn), &call->task);
}

void api_call_again(struct api_call *call)
{
    wire_message_release(call->wire->response, call->response);
    call->request = call->response = NULL;
    api_call_keep(call);
    arena_deinit(&call->arena);
    call->failed = false;
    if (call->starved) {
        api_room_wait(call);
        return;
    }
    call->may_block = true;
    call->answer_bytes = 0;
    api_call_restart(call);
}

static struct pool_lane *conn_lane(struct api *api, struct net_conn *conn)
{
    struct api_conn *state = api_conn_of(conn);
    if (!state->lane)
        state->lane = pool_lane_create(api->config.pool);
    return state->lane;
}

/* Decodes into a new call. The body is borrowed for the loop's handlers and copied for those that run elsewhere. */
static enum err_code call_create(struct api *api, const struct net_work *work, const struct api_served *served,
                                 const struct wire_request_header *header, struct slice body, struct api_call **out,
                                 struct err *err)
{
    struct net_conn *conn = work->conn;
    struct api_call *call = mem_alloc(sizeof *call);
    *call = (struct api_call){.api = api,
                              .conn = net_conn_ref(conn),
                              .lane = pool_lane_ref(conn_lane(api, conn)),
                              .work = *work,
                              .served = served,
                              .wire = wire_api_find(header->key),
                              .listener = net_conn_tag(conn),
                              .user = authenticate_user(conn),
                              .begun_ns = loop_now_ns(net_conn_loop(conn)),
                              .version = header->version,
                              .may_block = served->where == API_POOL,
                              .body = body,
                              .request_id = header->request_id};
    if (served->where == API_POOL || served->key == WIRE_PUT_KV)
        api_call_keep(call);
    enum err_code code = call_decode(call, err);
    if (code != OK) {
        call_free(call);
        return code;
    }
    *out = call;
    return OK;
}

static enum err_code request_check(const struct wire_request_header *header, const struct api_served *served,
                                   struct err *err)
{
    if (!served)
        return err_set(err, ERR_UNSUPPORTED_VERSION, "weir does not serve the request %s (%d): %s",
                       wire_api_name(header->key), header->key, refused_why(header->key));
    if (header->version < served->version_min || header->version > served->version_max)
        return err_set(err, ERR_UNSUPPORTED_VERSION, "weir serves %s in versions %d to %d, not %d",
                       wire_api_name(header->key), served->version_min, served->version_max, header->version);
    return OK;
}

struct api_conn *api_conn_of(struct net_conn *conn)
{
    void **data = net_conn_data(conn);
    if (!*data)
        *data = mem_zalloc(sizeof(struct api_conn));
    return *data;
}

static void conn_forget(struct net_conn *conn)
{
    struct api_conn *state = *net_conn_data(conn);
    if (!state)
        return;
    mem_free(state->fetch);
    pool_lane_unref(state->lane);
    mem_free(state);
    *net_conn_data(conn) = NULL;
}

static enum err_code on_frame(void *arg, const struct net_work *work, struct slice frame, struct err *err)
{
    struct api *api = arg;
    struct net_work unanswered = *work;
    struct wire_request_header header;
    struct slice body;
    struct api_call *call;
    struct err error = {0};
    TRY(wire_request_split(frame, &header, &body, err));
    const struct api_served *served = served_find(header.key);
    enum err_code code = authenticate_check(work->conn, header.key, &error);
    if (code == OK)
        code = request_check(&header, served, &error);
    if (code == OK)
        code = call_create(api, work, served, &header, body, &call, &error);
    if (code != OK) {
        send_error(&unanswered, header.request_id, code, &error);
        return OK;
    }
    if (served->where == API_POOL) {
        call->task.fn = call_run_task;
        pool_lane_submit(call->lane, &call->task);
    } else {
        call_run(call);
    }
    return OK;
}

static void on_room(void *arg)
{
    api_room_look(arg);
}

static void on_close(void *arg, struct net_conn *conn)
{
    struct api *api = arg;
    if (net_conn_stalled(conn))
        trace_warn(api->config.trace, "api", "slow_reader_closed", trace_str("peer", net_conn_peer(conn)),
                   trace_str("remedy", "read answers as they come, or raise weir.answer.bytes"));
    api_held_wake_all(api, conn);
    api_room_drop(api, conn);
    scan_sessions_drop(api, conn);
    conn_forget(conn);
}

struct net_owner api_net_owner(struct api *api)
{
    return (struct net_owner){.arg = api, .on_frame = on_frame, .on_close = on_close, .on_room = on_room};
}

void api_create(const struct api_config *config, struct api **out)
{
    struct api *api = mem_zalloc(sizeof *api);
    api->config = *config;
    api->waiting_end = &api->waiting;
    os_mutex_init(&api->mutex, config->os);
    os_mutex_init(&api->ddl, config->os);
    os_mutex_init(&api->partition_mutex, config->os);
    api_meters_create(api);
    *out = api;
}

void api_destroy(struct api *api)
{
    if (!api)
        return;
    ASSERT(!api->held && !api->sessions && !api->waiting);
    api_meters_destroy(api);
    os_mutex_deinit(&api->partition_mutex);
    os_mutex_deinit(&api->mutex);
    os_mutex_deinit(&api->ddl);
    mem_free(api);
}

void api_stop(struct api *api)
{
    os_mutex_lock(&api->mutex);
    __atomic_store_n(&api->stopping, true, __ATOMIC_RELEASE);
    os_mutex_unlock(&api->mutex);
    api_held_wake_all(api, NULL);
    api_room_drop(api, NULL);
    scan_sessions_drop(api, NULL);
}

/* ---- what handlers share ---- */

enum err_code api_table_of_path(struct api_call *call, const struct wire_pb_table_path *path,
                                const struct table_info **table, struct err *err)
{
    return meta_table_get(call->api->config.meta, path->database_name, path->table_name, table, err);
}

static bool keys_are_new(const struct table_info *table)
{
    return table->settings.lake_format != LAKE_NONE && table->settings.kv_format_version == 2 &&
           !table_default_bucket_key(table->descriptor);
}

enum err_code api_key_version_check(const struct api_call *call, struct bucket *bucket, struct err *err)
{
    enum err_code code = OK;
    if (call->version > 0)
        return OK;
    const struct table_info *table = bucket_table(bucket);
    if (keys_are_new(table))
        code = err_set(err, ERR_UNSUPPORTED_VERSION,
                       "%s 0 can't be used with table %.*s.%.*s: its keys are of kv format version 2, which clients "
                       "before 0.9 do not make",
                       wire_api_name(call->served->key), SLICE_ARGS(table->database), SLICE_ARGS(table->name));
    table_unref(table);
    return code;
}

enum err_code api_bucket_of(struct api_call *call, int64_t table_id, int64_t partition_id, int32_t number,
                            struct bucket **bucket, struct err *err)
{
    *bucket = buckets_find(call->api->config.buckets, table_id, partition_id, number);
    if (!*bucket)
        TRY(buckets_check_refused(call->api->config.buckets, table_id, partition_id, number, err));
    if (!*bucket)
        return err_set(err, ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION, "table %lld has no bucket %d here",
                       (long long)table_id, number);
    return OK;
}

enum err_code api_bucket_to_read(struct api_call *call, int64_t table_id, int64_t partition_id, int32_t number,
                                 struct bucket **bucket, struct err *err)
{
    TRY(api_check_table_id(call, ACL_READ, table_id, err));
    return api_bucket_of(call, table_id, partition_id, number, bucket, err);
}

struct slice api_error_text(struct api_call *call, enum err_code code, const struct err *err)
{
    return arena_printf(&call->arena, "%s", err && *err->text ? err->text : err_text(code));
}
