/* Frames: one request or one answer. All integers big-endian. Golden vectors: test/golden/frames.jsonl.
 *
 *   request   offset  size  field                  answer   offset  size  field
 *             0       4     length of what follows          0       4     length of what follows
 *             4       2     api key                         4       1     status: 0 success, 1 error, 2 server failure
 *             6       2     api version                     5       4     request id; not there for status 2
 *             8       4     request id                      9 (5)         message of the call for status 0,
 *             12            request message                               ErrorResponse for 1 and 2
 */
#include "wire/wire_int.h"

#include "base/reader.h"

enum err_code wire_request_split(struct slice frame, struct wire_request_header *header, struct slice *body,
                                 struct err *err)
{
    struct reader r = reader_of(frame);
    struct wire_request_header h;
    h.key = (int16_t)reader_u16_be(&r);
    h.version = (int16_t)reader_u16_be(&r);
    h.request_id = (int32_t)reader_u32_be(&r);
    if (!reader_ok(&r))
        return err_set(err, ERR_CORRUPT_MESSAGE, "a request of %zu bytes is shorter than its header", frame.len);
    *header = h;
    *body = reader_rest(&r);
    return OK;
}

enum err_code wire_response_split(struct slice frame, struct wire_response_header *header, struct slice *body,
                                  struct err *err)
{
    struct reader r = reader_of(frame);
    uint8_t status = reader_u8(&r);
    int32_t request_id = status == WIRE_SERVER_FAILURE ? 0 : (int32_t)reader_u32_be(&r);
    if (!reader_ok(&r))
        return err_set(err, ERR_CORRUPT_MESSAGE, "an answer of %zu bytes is shorter than its header", frame.len);
    if (status > WIRE_SERVER_FAILURE)
        return err_set(err, ERR_CORRUPT_MESSAGE, "an answer of unknown status %d", status);
    *header = (struct wire_response_header){(enum wire_status)status, request_id};
    *body = reader_rest(&r);
    return OK;
}

/* The length of the body is known before anything is written, so that a message that is too long leaves no trace. */
static enum err_code measure(struct wire_out *out, const struct wire_desc *desc, const void *message,
                             size_t header_bytes, uint32_t *frame_len, struct err *err)
{
    vec_reset(&out->sizes);
    out->sizes_used = 0;
    uint64_t len = wire_message_measure(out, desc, message) + header_bytes;
    if (len > WIRE_FRAME_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "%s of %llu bytes is longer than a frame may be", desc->name,
                       (unsigned long long)len);
    *frame_len = (uint32_t)len;
    return OK;
}

static void message_put(struct wire_out *out, const struct wire_desc *desc, void *message)
{
    wire_message_write(out, desc, message);
    ASSERT(out->sizes_used == out->sizes.len);
    wire_out_flush(out);
}

enum err_code wire_message_encode(struct wire_out *out, const struct wire_desc *desc, void *message, struct err *err)
{
    uint32_t len = 0;
    TRY(measure(out, desc, message, 0, &len, err));
    message_put(out, desc, message);
    return OK;
}

enum err_code wire_request_encode(struct wire_out *out, const struct wire_request_header *header,
                                  const struct wire_desc *desc, void *message, struct err *err)
{
    uint32_t len = 0;
    TRY(measure(out, desc, message, WIRE_REQUEST_HEADER_BYTES, &len, err));
    buf_put_u32_be(&out->bytes, len);
    buf_put_u16_be(&out->bytes, (uint16_t)header->key);
    buf_put_u16_be(&out->bytes, (uint16_t)header->version);
    buf_put_u32_be(&out->bytes, (uint32_t)header->request_id);
    message_put(out, desc, message);
    return OK;
}

static enum err_code answer_encode(struct wire_out *out, enum wire_status status, int32_t request_id,
                                   const struct wire_desc *desc, void *message, struct err *err)
{
    uint32_t len = 0;
    TRY(measure(out, desc, message, 1 + sizeof request_id, &len, err));
    buf_put_u32_be(&out->bytes, len);
    buf_put_u8(&out->bytes, (uint8_t)status);
    buf_put_u32_be(&out->bytes, (uint32_t)request_id);
    message_put(out, desc, message);
    return OK;
}

enum err_code wire_response_encode(struct wire_out *out, int32_t request_id, const struct wire_desc *desc,
                                   void *message, struct err *err)
{
    return answer_encode(out, WIRE_SUCCESS, request_id, desc, message, err);
}

void wire_error_encode(struct wire_out *out, int32_t request_id, const struct err *error)
{
    ASSERT(error->code != OK);
    const char *text = *error->text ? error->text : err_text(error->code);
    struct wire_error_response response = {.error_code = err_wire(error->code)};
    WIRE_SET(&response, error_message, slice_str(text));
    enum err_code code = answer_encode(out, WIRE_ERROR, request_id, &wire_error_response_desc, &response, NULL);
    ASSERT(code == OK);
}

/* Texts of Java exceptions may have many lines; an error of ours is one. */
static void put_one_line(char *line, size_t size, struct slice text)
{
    size_t len = MIN(text.len, size - 1);
    for (size_t i = 0; i < len; i++)
        line[i] = text.ptr[i] < ' ' ? ' ' : (char)text.ptr[i];
    line[len] = 0;
}

enum err_code wire_error_decode(struct slice body, struct err *err)
{
    struct arena none = {0};
    struct wire_error_response response;
    TRY(wire_decode(&wire_error_response_desc, body, &none, &response, err));
    enum err_code code = err_from_wire(response.error_code);
    if (code == OK)
        return err_set(err, ERR_CORRUPT_MESSAGE, "an error answer without an error code");
    char text[sizeof err->text];
    put_one_line(text, sizeof text, response.has_error_message ? response.error_message : slice_str(err_text(code)));
    return err_set(err, code, "%s", text);
}
