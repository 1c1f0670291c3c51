/* One connection: bytes out, frames in, and the handshake that tells which calls the server takes. */
#include "client/client_int.h"

static enum err_code shake_hands(struct conn *conn, int64_t deadline_ns, struct err *err)
{
    struct arena arena = {0};
    struct wire_api_versions_request request = {
        .client_software_name = slice_str(conn->client->software),
        .client_software_version = slice_str(WEIR_VERSION),
    };
    struct wire_api_versions_response response;
    enum err_code code;
    conn->versions[wire_api_find(WIRE_API_VERSIONS) - wire_apis] = 0;
    TRY_OR_FAIL(call_exchange(conn, WIRE_API_VERSIONS, &request, deadline_ns, &arena, &response, err));
    for (size_t i = 0; i < response.api_versions_count; i++) {
        const struct wire_pb_api_version *theirs = &response.api_versions[i];
        const struct wire_api *api =
            theirs->api_key >= 0 && theirs->api_key <= INT16_MAX ? wire_api_find((int16_t)theirs->api_key) : NULL;
        if (!api)
            continue; /* a newer server's */
        int32_t least = MAX(theirs->min_version, api->version_min);
        int32_t most = MIN(theirs->max_version, api->version_max);
        if (least <= most)
            conn->versions[api - wire_apis] = (int16_t)most;
    }
fail:
    arena_deinit(&arena);
    return code;
}

/* A challenge in the answer of a stock server is empty: there is nothing more to say. */
static enum err_code log_in(struct conn *conn, int64_t deadline_ns, struct err *err)
{
    struct arena arena = {0};
    struct wire_authenticate_request request = {.protocol = SLICE("PLAIN"), .token = buf_view(&conn->client->login)};
    struct wire_authenticate_response response;
    enum err_code code = call_exchange(conn, WIRE_AUTHENTICATE, &request, deadline_ns, &arena, &response, err);
    arena_deinit(&arena);
    return code;
}

static void release(struct conn *conn)
{
    ASSERT(conn->closed);
    os_socket_close(conn->socket);
    wire_splitter_deinit(&conn->in);
    wire_out_deinit(&conn->out);
    map_deinit(&conn->calls);
}

static void init(struct conn *conn, struct client *client, struct os_socket *socket, const char *name)
{
    *conn = (struct conn){.client = client, .socket = socket};
    memcpy(conn->name, name, MIN(strlen(name), sizeof conn->name - 1));
    wire_splitter_init(&conn->in, CLIENT_FRAME_BYTES_MAX);
    for (size_t i = 0; i < CLIENT_VERSIONS_MAX; i++)
        conn->versions[i] = -1;
}

enum err_code conn_open(struct client *client, struct os_socket *socket, const char *name, int64_t deadline_ns,
                        struct conn **slot, struct err *err)
{
    struct err why = {0};
    ASSERT(wire_api_count <= CLIENT_VERSIONS_MAX);
    if (*slot)
        release(*slot);
    else
        *slot = mem_alloc(sizeof **slot);
    init(*slot, client, socket, name);
    enum err_code code = os_poller_add(client->poller, socket, OS_READABLE, *slot, &why);
    if (code != OK) {
        (*slot)->closed = true;
        (*slot)->why = why;
    } else {
        code = shake_hands(*slot, deadline_ns, &why);
        if (code == OK && client->login.len)
            code = log_in(*slot, deadline_ns, &why);
        if (code != OK)
            conn_close(*slot, &why);
    }
    if (code != OK && err)
        *err = why;
    return code;
}

void conn_close(struct conn *conn, const struct err *why)
{
    if (conn->closed)
        return;
    conn->closed = true;
    conn->why = *why;
    os_poller_remove(conn->client->poller, conn->socket);
    os_socket_shutdown(conn->socket);
    wire_out_reset(&conn->out);
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&conn->calls, &at, &key, &value)) {
        struct call *call = value;
        call->conn = NULL;
        call->done = true;
        call->err = *why;
    }
    map_deinit(&conn->calls);
    conn->calls = (struct map){0};
}

void conn_destroy(struct conn *conn)
{
    if (!conn)
        return;
    struct err why;
    err_set(&why, ERR_CLOSED, "the connection to %s was given up", conn->name);
    conn_close(conn, &why);
    release(conn);
    mem_free(conn);
}

bool conn_serves(const struct conn *conn, enum wire_key key)
{
    const struct wire_api *api = wire_api_find((int16_t)key);
    return api && conn->versions[api - wire_apis] >= 0;
}

static enum err_code send_some(struct conn *conn, bool *blocked, struct err *err)
{
    struct slice slices[16];
    size_t sent = 0;
    size_t count = wire_out_slices(&conn->out, slices, ARRAY_LEN(slices));
    ASSERT(count > 0); /* a client sends no files */
    TRY(os_send(conn->socket, slices, count, &sent, err));
    wire_out_advance(&conn->out, sent);
    *blocked = sent == 0;
    return OK;
}

void conn_flush(struct conn *conn)
{
    struct err err = {0};
    bool blocked = false;
    enum err_code code = OK;
    while (!conn->closed && wire_out_len(&conn->out) && !blocked && code == OK)
        code = send_some(conn, &blocked, &err);
    bool wants = wire_out_len(&conn->out) > 0;
    if (code == OK && !conn->closed && wants != conn->wants_write) {
        code =
            os_poller_change(conn->client->poller, conn->socket, OS_READABLE | (wants ? OS_WRITABLE : 0), conn, &err);
        conn->wants_write = wants;
    }
    /* A peer that closed may have answered first: what it sent is read before the end is seen. */
    if (code == ERR_CLOSED) {
        wire_out_reset(&conn->out);
        conn_event(conn, OS_READABLE);
    }
    if (code != OK)
        conn_close(conn, &err);
}

static enum err_code take_frames(struct conn *conn, struct buf *frame, struct err *err)
{
    bool have = true;
    for (;;) {
        TRY(wire_splitter_next(&conn->in, frame, &have, err));
        if (!have)
            return OK;
        TRY(call_answer(conn, frame, err));
    }
}

static enum err_code receive(struct conn *conn, struct buf *frame, struct err *err)
{
    for (;;) {
        size_t len, got = 0;
        bool closed = false;
        uint8_t *room = wire_splitter_room(&conn->in, &len);
        TRY(os_recv(conn->socket, room, len, &got, &closed, err));
        wire_splitter_filled(&conn->in, got);
        TRY(take_frames(conn, frame, err));
        if (closed)
            return err_set(err, ERR_CLOSED, "%s closed the connection%s", conn->name,
                           wire_splitter_idle(&conn->in) ? "" : " within an answer");
        if (got < len)
            return OK;
    }
}

void conn_event(struct conn *conn, unsigned ready)
{
    struct err err = {0};
    struct buf frame = {0};
    if (conn->closed)
        return;
    if (ready & OS_WRITABLE)
        conn_flush(conn);
    if (!conn->closed && (ready & (OS_READABLE | OS_HANGUP)) && receive(conn, &frame, &err) != OK)
        conn_close(conn, &err);
    buf_deinit(&frame);
}
