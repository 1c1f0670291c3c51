/* Struct -> bytes, driven by the table of the message; the encoding is drawn in pb_decode.c. Fields are written by
 * number, as the Java and Rust clients do. */
#include "wire/wire_int.h"

static unsigned varint_len(uint64_t v)
{
    return (70 - (unsigned)__builtin_clzll(v | 1)) / 7;
}

static unsigned tag_len(const struct wire_field *field)
{
    return varint_len((uint64_t)field->number << 3);
}

static uint64_t int_at(const struct wire_field *field, const void *value)
{
    if (field->type == WIRE_INT32)
        return (uint64_t)(int64_t)(*(const int32_t *)value);
    return *(const uint64_t *)value;
}

static uint64_t delimited_len(uint64_t len)
{
    return varint_len(len) + len;
}

static uint64_t packed_len(const struct wire_field *field, const void *message)
{
    const uint8_t *elements = wire_pointer_at(message, field->offset);
    size_t count = wire_count_at(message, field->presence_offset);
    size_t size = wire_element_size(field);
    uint64_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += varint_len(int_at(field, elements + i * size));
    return len;
}

/* A slot is taken before the inner lengths, as the writer meets the outer message first. */
static uint64_t remembered(struct wire_out *out, size_t slot, uint64_t len)
{
    out->sizes.ptr[slot] = (uint32_t)MIN(len, UINT32_MAX); /* more than a frame can hold is refused before it is used */
    return delimited_len(len);
}

static uint64_t value_len(struct wire_out *out, const struct wire_field *field, const void *value)
{
    switch ((enum wire_type)field->type) {
    case WIRE_INT32:
    case WIRE_INT64:
        return varint_len(int_at(field, value));
    case WIRE_BOOL:
        return 1;
    case WIRE_FLOAT:
        return 4;
    case WIRE_DOUBLE:
        return 8;
    case WIRE_STRING:
    case WIRE_BYTES:
        return delimited_len(((const struct slice *)value)->len);
    case WIRE_PIECES:
        return delimited_len(wire_bytes_len(value));
    case WIRE_MESSAGE:
        break;
    }
    size_t slot = out->sizes.len;
    vec_push(&out->sizes, 0);
    return remembered(out, slot, wire_message_measure(out, field->message, value));
}

static uint64_t field_len(struct wire_out *out, const struct wire_field *field, const void *message)
{
    if (field->label == WIRE_PACKED) {
        size_t slot = out->sizes.len;
        vec_push(&out->sizes, 0);
        return tag_len(field) + remembered(out, slot, packed_len(field, message));
    }
    if (field->label != WIRE_REPEATED)
        return tag_len(field) + value_len(out, field, wire_field_value(field, message));
    const uint8_t *elements = wire_pointer_at(message, field->offset);
    size_t count = wire_count_at(message, field->presence_offset);
    size_t size = wire_element_size(field);
    uint64_t len = count * tag_len(field);
    for (size_t i = 0; i < count; i++)
        len += value_len(out, field, elements + i * size);
    return len;
}

uint64_t wire_message_measure(struct wire_out *out, const struct wire_desc *desc, const void *message)
{
    uint64_t len = 0;
    for (size_t i = 0; i < desc->field_count; i++)
        if (wire_field_present(&desc->fields[i], message))
            len += field_len(out, &desc->fields[i], message);
    return len;
}

static uint32_t recalled(struct wire_out *out)
{
    ASSERT(out->sizes_used < out->sizes.len);
    return out->sizes.ptr[out->sizes_used++];
}

static void packed_write(struct wire_out *out, const struct wire_field *field, const void *message)
{
    const uint8_t *elements = wire_pointer_at(message, field->offset);
    size_t count = wire_count_at(message, field->presence_offset);
    size_t size = wire_element_size(field);
    buf_put_varint(&out->bytes, recalled(out));
    for (size_t i = 0; i < count; i++)
        buf_put_varint(&out->bytes, int_at(field, elements + i * size));
}

static void pieces_write(struct wire_out *out, struct wire_bytes *bytes)
{
    if (!bytes->piece_count)
        buf_put_slice(&out->bytes, bytes->bytes);
    for (size_t i = 0; i < bytes->piece_count; i++) {
        struct wire_piece piece = bytes->pieces[i];
        if (piece.file || piece.len > WIRE_PIECE_COPY_BYTES_MAX) {
            wire_out_flush(out);
            wire_out_push(out, piece);
            continue;
        }
        buf_put(&out->bytes, piece.ptr, piece.len);
        if (piece.release)
            piece.release(piece.owner);
    }
    bytes->piece_count = 0;
}

static void value_write(struct wire_out *out, const struct wire_field *field, void *value)
{
    struct buf *bytes = &out->bytes;
    buf_put_varint(bytes, (uint64_t)field->number << 3 | wire_format_of(field->type));
    switch ((enum wire_type)field->type) {
    case WIRE_INT32:
    case WIRE_INT64:
        buf_put_varint(bytes, int_at(field, value));
        return;
    case WIRE_BOOL:
        buf_put_u8(bytes, *(const bool *)value);
        return;
    case WIRE_FLOAT:
        buf_put_u32(bytes, load_u32(value));
        return;
    case WIRE_DOUBLE:
        buf_put_u64(bytes, load_u64(value));
        return;
    case WIRE_STRING:
    case WIRE_BYTES:
        buf_put_varint(bytes, ((const struct slice *)value)->len);
        buf_put_slice(bytes, *(const struct slice *)value);
        return;
    case WIRE_PIECES:
        buf_put_varint(bytes, wire_bytes_len(value));
        pieces_write(out, value);
        return;
    case WIRE_MESSAGE:
        buf_put_varint(bytes, recalled(out));
        wire_message_write(out, field->message, value);
        return;
    }
}

static void field_write(struct wire_out *out, const struct wire_field *field, void *message)
{
    if (field->label == WIRE_PACKED) {
        buf_put_varint(&out->bytes, (uint64_t)field->number << 3 | WIRE_DELIMITED);
        packed_write(out, field, message);
        return;
    }
    if (field->label == WIRE_REPEATED) {
        uint8_t *elements = wire_pointer_at(message, field->offset);
        size_t count = wire_count_at(message, field->presence_offset);
        size_t size = wire_element_size(field);
        for (size_t i = 0; i < count; i++)
            value_write(out, field, elements + i * size);
        return;
    }
    if (field->label == WIRE_OPTIONAL && field->type == WIRE_MESSAGE)
        value_write(out, field, wire_pointer_at(message, field->offset));
    else
        value_write(out, field, wire_at(message, field->offset));
}

void wire_message_write(struct wire_out *out, const struct wire_desc *desc, void *message)
{
    for (size_t i = 0; i < desc->field_count; i++)
        if (wire_field_present(&desc->fields[i], message))
            field_write(out, &desc->fields[i], message);
}
