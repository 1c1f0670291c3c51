/* Any bytes as a stream of frames: each frame as a request, and its body as the request and as the answer of the call
 * it names; also as an answer, and as an error. What decodes must encode, and decode to the same again. */
#include "wire/wire.h"

#include "base/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct slice encode(struct wire_out *out, const struct wire_desc *desc, void *message)
{
    enum err_code code = wire_message_encode(out, desc, message, NULL);
    ASSERT(code == OK);
    struct slice body = {0};
    size_t pieces = wire_out_slices(out, &body, 1);
    ASSERT(pieces <= 1 && body.len == wire_out_len(out));
    return body;
}

static void round_trip(const struct wire_desc *desc, struct slice body)
{
    struct arena arena = {0};
    void *message = arena_alloc(&arena, desc->size);
    if (wire_decode(desc, body, &arena, message, NULL) == OK) {
        struct wire_out first = {0};
        struct wire_out second = {0};
        struct slice bytes = encode(&first, desc, message);
        enum err_code code = wire_decode(desc, bytes, &arena, message, NULL);
        ASSERT(code == OK);
        ASSERT(slice_equal(encode(&second, desc, message), bytes));
        struct buf text = {0};
        wire_dump(&text, desc, message, 16);
        ASSERT(slice_is_utf8(buf_view(&text)));
        buf_deinit(&text);
        wire_out_deinit(&first);
        wire_out_deinit(&second);
    }
    arena_deinit(&arena);
}

static void frame_try(struct slice frame)
{
    struct wire_request_header request;
    struct wire_response_header response;
    struct slice body;
    struct err err;
    if (wire_request_split(frame, &request, &body, NULL) == OK) {
        const struct wire_api *api = wire_api_find(request.key);
        if (api) {
            round_trip(api->request, body);
            round_trip(api->response, body);
        }
        ASSERT(wire_error_decode(body, &err) != OK);
    }
    if (wire_response_split(frame, &response, &body, NULL) == OK)
        ASSERT(wire_error_decode(body, &err) != OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_splitter splitter;
    struct buf frame = {0};
    struct reader r = reader_of(slice_of(data, size));
    wire_splitter_init(&splitter, 1u << 20);
    while (reader_left(&r)) {
        size_t len;
        uint8_t *room = wire_splitter_room(&splitter, &len);
        struct slice part = reader_slice(&r, MIN(len, reader_left(&r)));
        memcpy(room, part.ptr, part.len);
        wire_splitter_filled(&splitter, part.len);
        bool have = true;
        while (have) {
            if (wire_splitter_next(&splitter, &frame, &have, NULL) != OK)
                goto end;
            if (have)
                frame_try(buf_view(&frame));
        }
    }
end:
    buf_deinit(&frame);
    wire_splitter_deinit(&splitter);
    return 0;
}
