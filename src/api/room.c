/* Calls whose answers find no room wait here, oldest first, with nothing but their request. */
#include "api/api_int.h"

/* More is made on the pool: copying it would hold up the other connections of the loop. */
#define LOOP_BYTES_MAX ((size_t)1 << 20)

enum err_code api_answer_room(struct api_call *call, size_t bytes, struct err *err)
{
    call->answer_bytes += bytes;
    if (net_work_room(&call->work, call->answer_bytes))
        return OK;
    call->starved = true;
    return err_set(err, ERR_WOULD_BLOCK, "there is no memory for the answer now");
}

static enum err_code grow(struct api_call *call, size_t bytes, size_t most, struct err *err)
{
    if (bytes > most || call->answer_bytes > most - bytes)
        return err_set(err, ERR_RECORD_TOO_LARGE_EXCEPTION, "the answer has more than %zu bytes: ask for less", most);
    return api_answer_room(call, bytes, err);
}

enum err_code api_answer_grow(struct api_call *call, size_t bytes, struct err *err)
{
    if (!call->may_block && call->answer_bytes + bytes > LOOP_BYTES_MAX)
        return err_set(err, ERR_WOULD_BLOCK, "the answer is too large to be made on the loop");
    return grow(call, bytes, call->api->config.answer_bytes_max, err);
}

enum err_code api_answer_list(struct api_call *call, size_t count, size_t size, struct err *err)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    return grow(call, bytes, MAX(call->api->config.answer_bytes_max, (size_t)API_LIST_BYTES_MIN), err);
}

enum err_code api_loop_check(const struct api_call *call, size_t parts, struct err *err)
{
    if (call->may_block || parts <= API_LOOP_PARTS_MAX)
        return OK;
    return err_set(err, ERR_WOULD_BLOCK, "%zu parts are too many for the loop", parts);
}

static void end(struct api_call *call)
{
    struct err err;
    net_work_give_up(&call->work);
    enum err_code code = err_set(&err, ERR_NOT_LEADER_OR_FOLLOWER, "the server is stopping");
    api_call_finish(call, code, &err);
}

/* What it comes back with is twice what it was refused with, so that it comes back a few times at most. */
static size_t wanted(const struct api_call *call)
{
    return MIN(call->answer_bytes * 2, MAX(call->api->config.answer_bytes_max, call->answer_bytes));
}

void api_room_wait(struct api_call *call)
{
    struct api *api = call->api;
    net_work_wait(&call->work);
    os_mutex_lock(&api->mutex);
    bool stopping = api_is_stopping(api);
    if (!stopping) {
        call->next = NULL;
        *api->waiting_end = call;
        api->waiting_end = &call->next;
    }
    os_mutex_unlock(&api->mutex);
    if (stopping)
        end(call);
}

/* Takes out those that `goes` says, in their order. */
static struct api_call *take_out(struct api *api, bool (*goes)(struct api_call *call, const void *arg), const void *arg)
{
    struct api_call *taken = NULL, **taken_end = &taken;
    os_mutex_lock(&api->mutex);
    for (struct api_call **at = &api->waiting; *at;) {
        struct api_call *call = *at;
        if (!goes(call, arg)) {
            at = &call->next;
            continue;
        }
        *at = call->next;
        call->next = NULL;
        *taken_end = call;
        taken_end = &call->next;
    }
    api->waiting_end = &api->waiting;
    while (*api->waiting_end)
        api->waiting_end = &(*api->waiting_end)->next;
    os_mutex_unlock(&api->mutex);
    return taken;
}

static bool has_room(struct api_call *call, const void *arg)
{
    (void)arg;
    return net_work_go_on(&call->work, wanted(call));
}

static bool is_of(struct api_call *call, const void *conn)
{
    return !conn || call->conn == conn;
}

void api_room_look(struct api *api)
{
    struct api_call *next, *call = take_out(api, has_room, NULL);
    for (; call; call = next) {
        next = call->next;
        call->starved = false;
        call->answer_bytes = 0;
        api_call_restart(call);
    }
}

void api_room_drop(struct api *api, const struct net_conn *conn)
{
    struct api_call *next, *call = take_out(api, is_of, conn);
    for (; call; call = next) {
        next = call->next;
        end(call);
    }
}

void api_tick(struct api *api, struct net *net)
{
    os_mutex_lock(&api->mutex);
    bool waiting = api->waiting != NULL;
    os_mutex_unlock(&api->mutex);
    if (!waiting)
        return;
    net_stalled_close(net);
    api_room_look(api);
}
