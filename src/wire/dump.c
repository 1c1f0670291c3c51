#include "wire/wire_int.h"

#include "base/json.h"

#include <math.h>

static void put_bytes(struct buf *out, struct slice s, size_t bytes_max)
{
    buf_put_u8(out, '"');
    buf_put_hex(out, slice_of(s.ptr, MIN(s.len, bytes_max)));
    buf_printf(out, "%s\"", s.len > bytes_max ? "..." : "");
}

/* JSON has no word for these. */
static void put_double(struct buf *out, double v, int digits)
{
    if (isfinite(v))
        buf_printf(out, "%.*e", digits, v);
    else
        buf_printf(out, "\"%s\"", isnan(v) ? "NaN" : v < 0 ? "-Infinity" : "Infinity");
}

static void put_pieces(struct buf *out, const struct wire_bytes *bytes, size_t bytes_max)
{
    if (bytes->piece_count)
        buf_printf(out, "\"<%zu bytes in %zu pieces>\"", wire_bytes_len(bytes), bytes->piece_count);
    else
        put_bytes(out, bytes->bytes, bytes_max);
}

static void put_value(struct buf *out, const struct wire_field *field, const void *value, size_t bytes_max)
{
    switch ((enum wire_type)field->type) {
    case WIRE_INT32:
        buf_printf(out, "%d", *(const int32_t *)value);
        return;
    case WIRE_INT64:
        buf_printf(out, "\"%lld\"", (long long)*(const int64_t *)value);
        return;
    case WIRE_BOOL:
        buf_printf(out, *(const bool *)value ? "true" : "false");
        return;
    case WIRE_FLOAT:
        put_double(out, (double)*(const float *)value, 8);
        return;
    case WIRE_DOUBLE:
        put_double(out, *(const double *)value, 16);
        return;
    case WIRE_STRING:
        json_put_string(out, *(const struct slice *)value);
        return;
    case WIRE_BYTES:
        put_bytes(out, *(const struct slice *)value, bytes_max);
        return;
    case WIRE_PIECES:
        put_pieces(out, value, bytes_max);
        return;
    case WIRE_MESSAGE:
        wire_dump(out, field->message, value, bytes_max);
        return;
    }
}

static void put_list(struct buf *out, const struct wire_field *field, const void *message, size_t bytes_max)
{
    const uint8_t *elements = wire_pointer_at(message, field->offset);
    size_t count = wire_count_at(message, field->presence_offset);
    size_t size = wire_element_size(field);
    buf_put_u8(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_put_u8(out, ',');
        put_value(out, field, elements + i * size, bytes_max);
    }
    buf_put_u8(out, ']');
}

void wire_dump(struct buf *out, const struct wire_desc *desc, const void *message, size_t bytes_max)
{
    bool first = true;
    buf_put_u8(out, '{');
    for (size_t i = 0; i < desc->field_count; i++) {
        const struct wire_field *field = &desc->fields[i];
        if (!wire_field_present(field, message) ||
            (wire_is_list(field) && !wire_count_at(message, field->presence_offset)))
            continue;
        buf_printf(out, "%s\"%s\":", first ? "" : ",", field->name);
        first = false;
        if (wire_is_list(field))
            put_list(out, field, message, bytes_max);
        else
            put_value(out, field, wire_field_value(field, message), bytes_max);
    }
    buf_put_u8(out, '}');
}
