#include "lib/peer.h"

#include "lib/test.h"

static int64_t soon(void)
{
    return os_mono_ns(os_real()) + 20000000000;
}

static void send_out(struct peer *peer, struct wire_out *out)
{
    while (wire_out_len(out)) {
        struct slice slices[16];
        size_t sent;
        size_t count = wire_out_slices(out, slices, ARRAY_LEN(slices));
        if (os_send(peer->socket, slices, count, &sent, NULL) != OK)
            break; /* the client is gone, as the test may want */
        wire_out_advance(out, sent);
        if (!sent && os_socket_wait(peer->socket, OS_WRITABLE, soon(), NULL) != OK)
            break;
    }
    wire_out_deinit(out);
}

void peer_raw(struct peer *peer, struct slice bytes)
{
    while (bytes.len) {
        size_t sent;
        if (os_send(peer->socket, &bytes, 1, &sent, NULL) != OK)
            return;
        bytes = slice_of(bytes.ptr + sent, bytes.len - sent);
        if (!sent && os_socket_wait(peer->socket, OS_WRITABLE, soon(), NULL) != OK)
            return;
    }
}

void peer_decode(struct peer *peer, const struct wire_request_header *header, struct slice body, void *request)
{
    enum err_code code = wire_decode(wire_api_find(header->key)->request, body, &peer->arena, request, NULL);
    ASSERT(code == OK);
}

void peer_reply(struct peer *peer, const struct wire_request_header *header, void *response)
{
    struct wire_out out = {0};
    enum err_code code =
        wire_response_encode(&out, header->request_id, wire_api_find(header->key)->response, response, NULL);
    ASSERT(code == OK);
    send_out(peer, &out);
}

void peer_error(struct peer *peer, const struct wire_request_header *header, enum err_code code, const char *text)
{
    struct wire_out out = {0};
    struct err err = {0};
    err_set(&err, code, "%s", text);
    wire_error_encode(&out, header->request_id, &err);
    send_out(peer, &out);
}

void peer_close(struct peer *peer)
{
    os_socket_shutdown(peer->socket);
}

static void tell_versions(struct peer *peer, const struct wire_request_header *header)
{
    struct wire_pb_api_version all[128];
    for (size_t i = 0; i < wire_api_count; i++)
        all[i] = (struct wire_pb_api_version){wire_apis[i].key, wire_apis[i].version_min, wire_apis[i].version_max};
    struct wire_api_versions_response response = {.api_versions = all, .api_versions_count = wire_api_count};
    struct wire_pb_api_version own[128];
    if (peer->versions) {
        memcpy(own, peer->versions, peer->version_count * sizeof *own);
        response.api_versions = own;
        response.api_versions_count = peer->version_count;
    }
    peer_reply(peer, header, &response);
}

static void take_frame(struct peer *peer, struct slice frame)
{
    struct wire_request_header header;
    struct slice body;
    enum err_code code = wire_request_split(frame, &header, &body, NULL);
    ASSERT(code == OK);
    if (header.key == WIRE_API_VERSIONS)
        tell_versions(peer, &header);
    else if (peer->handle)
        peer->handle(peer, &header, body);
    arena_reset(&peer->arena);
}

static void serve(void *arg)
{
    struct peer *peer = arg;
    struct wire_splitter splitter;
    struct buf frame = {0};
    bool closed = false;
    wire_splitter_init(&splitter, 64u << 20);
    while (!closed) {
        size_t len, got = 0;
        uint8_t *room = wire_splitter_room(&splitter, &len);
        if (os_socket_wait(peer->socket, OS_READABLE, soon(), NULL) != OK ||
            os_recv(peer->socket, room, len, &got, &closed, NULL) != OK)
            break;
        wire_splitter_filled(&splitter, got);
        bool have = true;
        while (wire_splitter_next(&splitter, &frame, &have, NULL) == OK && have)
            take_frame(peer, buf_view(&frame));
    }
    buf_deinit(&frame);
    wire_splitter_deinit(&splitter);
}

void peer_start(struct peer *peer)
{
    struct err err;
    struct os_socket *pair[2];
    MUST(os_socket_pair(os_real(), pair, &err));
    peer->client = pair[0];
    peer->socket = pair[1];
    MUST(os_thread_start(os_real(), "peer", serve, peer, &peer->thread, &err));
}

void peer_stop(struct peer *peer)
{
    os_socket_shutdown(peer->socket);
    os_thread_join(peer->thread);
    os_socket_close(peer->socket);
    arena_deinit(&peer->arena);
}
