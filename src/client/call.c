/* Requests and their answers, matched by id. */
#include "client/client_int.h"

enum err_code call_start(struct call *call, struct conn *conn, enum wire_key key, void *request, struct err *err)
{
    ASSERT(!call->conn);
    if (conn->closed) {
        if (err)
            *err = conn->why;
        return conn->why.code;
    }
    const struct wire_api *api = wire_api_find((int16_t)key);
    int16_t version = conn->versions[api - wire_apis];
    if (version < 0)
        return err_set(err, ERR_UNSUPPORTED_VERSION, "the server at %s does not support %s", conn->name, api->name);
    struct wire_request_header header = {(int16_t)key, version, conn->next_id};
    TRY(wire_request_encode(&conn->out, &header, api->request, request, err));
    conn->next_id = conn->next_id == INT32_MAX ? 0 : conn->next_id + 1;
    buf_reset(&call->frame);
    call->conn = conn;
    call->id = header.request_id;
    call->key = key;
    call->done = false;
    call->err = (struct err){0};
    void *other = map_put_i64(&conn->calls, call->id, call);
    ASSERT(!other); /* 2^31 requests ago */
    conn_flush(conn);
    return OK;
}

void call_deinit(struct call *call)
{
    if (call->conn)
        map_remove_i64(&call->conn->calls, call->id);
    buf_deinit(&call->frame);
    *call = (struct call){0};
}

enum err_code call_wait(struct client *client, struct call *call, int64_t deadline_ns, struct err *err)
{
    while (!call->done) {
        ASSERT(call->conn);
        TRY(client_check_cancelled(client, err));
        if (os_mono_ns(client->os) >= deadline_ns)
            return err_set(err, ERR_DEADLINE, "%s: no answer from %s", wire_api_name((int16_t)call->key),
                           call->conn->name);
        client_pump(client, deadline_ns);
    }
    if (call->err.code != OK && err)
        *err = call->err;
    return call->err.code;
}

enum err_code call_decode(struct call *call, struct arena *arena, void *response, struct err *err)
{
    ASSERT(call->done && call->err.code == OK);
    const struct wire_api *api = wire_api_find((int16_t)call->key);
    return wire_decode(api->response, call->body, arena, response, err);
}

enum err_code call_exchange(struct conn *conn, enum wire_key key, void *request, int64_t deadline_ns,
                            struct arena *arena, void *response, struct err *err)
{
    enum err_code code;
    struct call call = {0};
    TRY_OR_FAIL(call_start(&call, conn, key, request, err));
    TRY_OR_FAIL(call_wait(conn->client, &call, deadline_ns, err));
    call.body = arena_dup(arena, call.body);
    TRY_OR_FAIL(call_decode(&call, arena, response, err));
fail:
    call_deinit(&call);
    return code;
}

static void call_finish(struct call *call, const struct err *why)
{
    call->conn = NULL;
    call->done = true;
    call->err = *why;
}

enum err_code call_answer(struct conn *conn, struct buf *frame, struct err *err)
{
    struct wire_response_header header;
    struct slice body;
    TRY(wire_response_split(buf_view(frame), &header, &body, err));
    if (header.status == WIRE_SERVER_FAILURE)
        return wire_error_decode(body, err);
    struct call *call = map_remove_i64(&conn->calls, header.request_id);
    if (!call) {
        if (header.request_id >= 0 && header.request_id < conn->next_id)
            return OK; /* nobody waits for it any more */
        return err_set(err, ERR_CORRUPT_MESSAGE, "%s answers request %d, which was not sent", conn->name,
                       (int)header.request_id);
    }
    struct err why = {0};
    if (header.status == WIRE_ERROR) {
        enum err_code code = wire_error_decode(body, &why);
        ASSERT(code == why.code && code != OK);
    }
    call_finish(call, &why);
    if (why.code == OK) {
        struct buf old = call->frame;
        call->frame = *frame;
        call->body = body;
        *frame = old;
    }
    return OK;
}
