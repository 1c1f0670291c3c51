#include "lib/raw_client.h"

#include "lib/test.h"

static int64_t deadline(void)
{
    return os_mono_ns(os_real()) + 20000000000;
}

void raw_take(struct raw *raw, struct os_socket *socket)
{
    *raw = (struct raw){.socket = socket};
}

void raw_dial(struct raw *raw, uint16_t port)
{
    struct err err;
    struct os_socket *socket;
    MUST(os_connect(os_real(), "127.0.0.1", port, deadline(), &socket, &err));
    raw_take(raw, socket);
}

void raw_close(struct raw *raw)
{
    os_socket_close(raw->socket);
    arena_deinit(&raw->arena);
    buf_deinit(&raw->in);
    *raw = (struct raw){0};
}

void raw_send_bytes(struct raw *raw, struct slice bytes)
{
    struct err err;
    while (bytes.len) {
        size_t sent;
        MUST(os_socket_wait(raw->socket, OS_WRITABLE, deadline(), &err));
        MUST(os_send(raw->socket, &bytes, 1, &sent, &err));
        bytes = slice_of(bytes.ptr + sent, bytes.len - sent);
    }
}

void raw_frame(struct buf *out, int16_t key, int32_t request_id, void *request)
{
    struct err err;
    struct wire_out frame = {0};
    struct wire_request_header header = {.key = key, .request_id = request_id};
    MUST(wire_request_encode(&frame, &header, wire_api_find(key)->request, request, &err));
    while (wire_out_len(&frame) > 0) {
        struct slice part;
        size_t count = wire_out_slices(&frame, &part, 1);
        assert_int_equal(count, 1);
        buf_put_slice(out, part);
        wire_out_advance(&frame, part.len);
    }
    wire_out_deinit(&frame);
}

int32_t raw_send(struct raw *raw, int16_t key, void *request)
{
    struct buf frame = {0};
    raw_frame(&frame, key, ++raw->last_id, request);
    raw_send_bytes(raw, buf_view(&frame));
    buf_deinit(&frame);
    return raw->last_id;
}

/* False: the peer has closed. */
static bool receive_some(struct raw *raw)
{
    struct err err;
    uint8_t bytes[65536];
    size_t got;
    bool closed;
    MUST(os_socket_wait(raw->socket, OS_READABLE, deadline(), &err));
    enum err_code code = os_recv(raw->socket, bytes, sizeof bytes, &got, &closed, &err);
    if (code == ERR_CLOSED)
        return false;
    MUST(code);
    buf_put_slice(&raw->in, slice_of(bytes, got));
    return !closed;
}

static uint32_t frame_len(const struct raw *raw)
{
    const uint8_t *p = raw->in.ptr;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

struct slice raw_receive_frame(struct raw *raw)
{
    while (raw->in.len < WIRE_LENGTH_BYTES || raw->in.len - WIRE_LENGTH_BYTES < frame_len(raw))
        if (!receive_some(raw)) {
            assert_int_equal(raw->in.len, 0); /* not in the middle of a frame */
            return (struct slice){0};
        }
    size_t all = WIRE_LENGTH_BYTES + frame_len(raw);
    arena_reset(&raw->arena);
    struct slice frame = arena_dup(&raw->arena, slice_of(raw->in.ptr + WIRE_LENGTH_BYTES, all - WIRE_LENGTH_BYTES));
    memmove(raw->in.ptr, raw->in.ptr + all, raw->in.len - all);
    raw->in.len -= all;
    return frame;
}

enum err_code raw_receive(struct raw *raw, int16_t key, int32_t *request_id, void *response, struct err *err)
{
    struct wire_response_header header;
    struct slice body, frame = raw_receive_frame(raw);
    if (!frame.ptr)
        return err_set(err, ERR_CLOSED, "the peer has closed");
    TRY(wire_response_split(frame, &header, &body, err));
    *request_id = header.request_id;
    if (header.status != WIRE_SUCCESS)
        return wire_error_decode(body, err);
    return wire_decode(wire_api_find(key)->response, body, &raw->arena, response, err);
}

enum err_code raw_call(struct raw *raw, int16_t key, void *request, void *response, struct err *err)
{
    int32_t request_id = 0;
    raw_send(raw, key, request);
    enum err_code code = raw_receive(raw, key, &request_id, response, err);
    if (code != ERR_CLOSED)
        assert_int_equal(request_id, raw->last_id);
    return code;
}

void raw_receive_rest(struct raw *raw, struct buf *out)
{
    while (receive_some(raw))
        ;
    buf_put_slice(out, buf_view(&raw->in));
    buf_reset(&raw->in);
}

bool raw_is_closed(struct raw *raw)
{
    while (raw->in.len == 0)
        if (!receive_some(raw))
            return true;
    return false;
}
