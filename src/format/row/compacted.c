/* COMPACTED rows.
 *
 *   null bitmap   ceil(n / 8) bytes; bit i & 7 of byte i >> 3 is set where field i is null
 *   values        of the other fields, back to back:
 *
 *     BOOLEAN, TINYINT            1 byte
 *     SMALLINT                    2 bytes LE
 *     INTEGER, DATE, TIME         unsigned LEB128 of the 32 bits (no zig-zag: negatives take 5 bytes)
 *     BIGINT, DECIMAL(p <= 18)    unsigned LEB128 of the 64 bits
 *     FLOAT, DOUBLE               4, 8 bytes LE
 *     CHAR, STRING, BINARY, BYTES LEB128 length, bytes
 *     DECIMAL(p > 18)             LEB128 length, big-endian two's complement
 *     TIMESTAMP, LTZ (p <= 3)     milliseconds as BIGINT
 *     TIMESTAMP, LTZ (p > 3)      milliseconds as BIGINT, nanoseconds within as INTEGER
 *     ARRAY, MAP                  LEB128 length, the bytes of array.c
 *     ROW                         LEB128 length, a compacted row
 *
 * A key is the values alone. Golden: rows.jsonl row/compacted/..., keys.jsonl key/compacted/... */
#include "format/row/row_int.h"

static void timestamp_decode(struct reader *r, const struct type *type, struct datum *out)
{
    out->ts.millis = (int64_t)reader_varint(r);
    out->ts.nanos = timestamp_is_compact(type) ? 0 : (int32_t)reader_varint32(r);
}

static bool decimal_decode(struct source *s, struct reader *r, const struct type *type, struct datum *out)
{
    if (decimal_is_compact(type)) {
        out->decimal = (int64_t)reader_varint(r);
        return true;
    }
    struct slice bytes = reader_slice(r, reader_varint32(r));
    return reader_ok(r) && decimal_from_bytes(s, bytes, &out->decimal);
}

bool compacted_field_decode(struct source *s, struct reader *r, const struct type *type, struct datum *out)
{
    struct slice bytes;
    uint32_t bits32;
    uint64_t bits64;
    out->is_null = false;
    switch (type->kind) {
    case TYPE_BOOLEAN:
        out->boolean = reader_u8(r) != 0;
        return true;
    case TYPE_TINYINT:
        out->i64 = signed_byte(reader_u8(r));
        return true;
    case TYPE_SMALLINT:
        out->i64 = (int16_t)reader_u16(r);
        return true;
    case TYPE_INTEGER:
    case TYPE_DATE:
    case TYPE_TIME:
        out->i64 = (int32_t)reader_varint32(r);
        return true;
    case TYPE_BIGINT:
        out->i64 = (int64_t)reader_varint(r);
        return true;
    case TYPE_FLOAT:
        bits32 = reader_u32(r);
        memcpy(&out->f32, &bits32, 4);
        return true;
    case TYPE_DOUBLE:
        bits64 = reader_u64(r);
        memcpy(&out->f64, &bits64, 8);
        return true;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_BYTES:
        out->bytes = reader_slice(r, reader_varint32(r));
        return true;
    case TYPE_DECIMAL:
        return decimal_decode(s, r, type, out);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        timestamp_decode(r, type, out);
        return nanos_are_valid(out->ts.nanos) || source_fail(s, "the nanoseconds of a timestamp are out of range");
    default:
        bytes = reader_slice(r, reader_varint32(r));
        return reader_ok(r) && nested_decode(s, type, bytes, out);
    }
}

bool compacted_decode(struct source *s, const struct type *row, struct slice bytes, const int32_t *places,
                      struct datum *values)
{
    struct reader r = reader_of(bytes);
    struct datum dropped;
    const uint8_t *nulls = reader_take(&r, (row->field_count + 7) / 8);
    if (!reader_ok(&r) || (row->field_count > 0 && !nulls))
        return source_fail(s, "a compacted row is cut off");
    for (uint32_t i = 0; i < row->field_count; i++) {
        struct datum *out = place_of(places, i, values, &dropped);
        if (nulls[i >> 3] >> (i & 7) & 1)
            out->is_null = true;
        else if (!compacted_field_decode(s, &r, row->fields[i].type, out))
            return source_fail(s, s->fault ? s->fault : "a compacted row is cut off");
    }
    if (reader_done(&r))
        return true;
    return source_fail(s, reader_ok(&r) ? "bytes are left behind a compacted row" : "a compacted row is cut off");
}

static void bytes_encode(struct buf *out, struct slice bytes)
{
    buf_put_varint(out, bytes.len);
    buf_put_slice(out, bytes);
}

static void decimal_encode(struct buf *out, const struct type *type, __int128 value)
{
    uint8_t bytes[DECIMAL_BYTES_MAX];
    if (decimal_is_compact(type))
        buf_put_varint(out, (uint64_t)value);
    else
        bytes_encode(out, slice_of(bytes, decimal_to_bytes(value, bytes)));
}

/* The length goes before bytes whose length is known only once they are written. */
static bool nested_field_encode(struct sink *s, const struct type *type, const struct datum *value)
{
    size_t start = s->out->len;
    if (!nested_encode(s, type, value))
        return false;
    size_t len = s->out->len - start;
    uint8_t prefix_bytes[10];
    struct buf prefix = {prefix_bytes, 0, sizeof prefix_bytes};
    buf_put_varint(&prefix, len);
    (void)buf_extend(s->out, prefix.len);
    memmove(s->out->ptr + start + prefix.len, s->out->ptr + start, len);
    memcpy(s->out->ptr + start, prefix.ptr, prefix.len);
    return true;
}

bool compacted_field_encode(struct sink *s, const struct type *type, const struct datum *value)
{
    struct buf *out = s->out;
    switch (type->kind) {
    case TYPE_BOOLEAN:
        buf_put_u8(out, value->boolean);
        break;
    case TYPE_TINYINT:
        buf_put_u8(out, (uint8_t)value->i64);
        break;
    case TYPE_SMALLINT:
        buf_put_u16(out, (uint16_t)value->i64);
        break;
    case TYPE_INTEGER:
    case TYPE_DATE:
    case TYPE_TIME:
        buf_put_varint(out, (uint32_t)value->i64);
        break;
    case TYPE_BIGINT:
        buf_put_varint(out, (uint64_t)value->i64);
        break;
    case TYPE_FLOAT:
        buf_put(out, &value->f32, 4);
        break;
    case TYPE_DOUBLE:
        buf_put(out, &value->f64, 8);
        break;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_BYTES:
        bytes_encode(out, value->bytes);
        break;
    case TYPE_DECIMAL:
        decimal_encode(out, type, value->decimal);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        buf_put_varint(out, (uint64_t)value->ts.millis);
        if (!timestamp_is_compact(type))
            buf_put_varint(out, (uint32_t)value->ts.nanos);
        break;
    default:
        return nested_field_encode(s, type, value);
    }
    return true;
}

bool compacted_encode(struct sink *s, const struct type *row, const struct datum *values)
{
    size_t nulls = s->out->len;
    buf_put_zeros(s->out, (row->field_count + 7) / 8);
    for (uint32_t i = 0; i < row->field_count; i++) {
        if (values[i].is_null)
            s->out->ptr[nulls + (i >> 3)] |= (uint8_t)(1u << (i & 7));
        else if (!compacted_field_encode(s, row->fields[i].type, &values[i]))
            return false;
    }
    return true;
}
