/* INDEXED rows.
 *
 *   null bitmap   ceil(n / 8) bytes, as in compacted rows
 *   lengths       i32 LE for each column of variable length, filled in order by those that are not null; the rest stay
 * 0 values        of the fields that are not null, back to back, nothing aligned:
 *
 *     BOOLEAN, TINYINT                          1 byte
 *     SMALLINT                                  2 bytes LE
 *     INTEGER, DATE, TIME, FLOAT                4 bytes LE
 *     BIGINT, DOUBLE, DECIMAL(p <= 18)          8 bytes LE
 *     TIMESTAMP, LTZ (p <= 3)                   8 bytes LE, milliseconds
 *     TIMESTAMP, LTZ (p > 3)                    8 bytes LE, 4 bytes LE nanoseconds within
 *     CHAR(n), BINARY(n)                        n bytes, filled with zeros, which the reader takes off
 *     STRING, BYTES, DECIMAL(p > 18),
 *     ARRAY, MAP, ROW (an indexed row)          as many bytes as its length says
 *
 * Golden: rows.jsonl row/indexed/... */
#include "format/row/row_int.h"

static bool is_variable(const struct type *type)
{
    return type->kind == TYPE_STRING || type->kind == TYPE_BYTES || type_is_nested(type) ||
           (type->kind == TYPE_DECIMAL && !decimal_is_compact(type));
}

static size_t lengths_bytes(const struct type *row)
{
    size_t count = 0;
    for (uint32_t i = 0; i < row->field_count; i++)
        count += is_variable(row->fields[i].type);
    return 4 * count;
}

static struct slice without_trailing_zeros(struct slice bytes)
{
    while (bytes.len > 0 && bytes.ptr[bytes.len - 1] == 0)
        bytes.len--;
    return bytes;
}

static bool variable_decode(struct source *s, const struct type *type, struct slice bytes, struct datum *out)
{
    if (type_is_nested(type))
        return nested_decode(s, type, bytes, out);
    if (type->kind == TYPE_DECIMAL)
        return decimal_from_bytes(s, bytes, &out->decimal);
    out->bytes = bytes;
    return true;
}

static bool timestamp_decode(struct source *s, struct reader *r, const struct type *type, struct datum *out)
{
    out->ts.millis = (int64_t)reader_u64(r);
    out->ts.nanos = timestamp_is_compact(type) ? 0 : (int32_t)reader_u32(r);
    return nanos_are_valid(out->ts.nanos) || source_fail(s, "the nanoseconds of a timestamp are out of range");
}

static bool field_decode(struct source *s, struct reader *lengths, struct reader *r, const struct type *type,
                         struct datum *out)
{
    uint32_t bits32;
    uint64_t bits64;
    out->is_null = false;
    if (is_variable(type)) {
        struct slice bytes = reader_slice(r, reader_u32(lengths));
        return reader_ok(r) && variable_decode(s, type, bytes, out);
    }
    switch (type->kind) {
    case TYPE_BOOLEAN:
        out->boolean = reader_u8(r) != 0;
        break;
    case TYPE_TINYINT:
        out->i64 = signed_byte(reader_u8(r));
        break;
    case TYPE_SMALLINT:
        out->i64 = (int16_t)reader_u16(r);
        break;
    case TYPE_BIGINT:
        out->i64 = (int64_t)reader_u64(r);
        break;
    case TYPE_FLOAT:
        bits32 = reader_u32(r);
        memcpy(&out->f32, &bits32, 4);
        break;
    case TYPE_DOUBLE:
        bits64 = reader_u64(r);
        memcpy(&out->f64, &bits64, 8);
        break;
    case TYPE_DECIMAL:
        out->decimal = (int64_t)reader_u64(r);
        break;
    case TYPE_CHAR: /* filled up with zeros */
        out->bytes = without_trailing_zeros(reader_slice(r, (size_t)type->length));
        break;
    case TYPE_BINARY: /* zeros at its end are its own */
        out->bytes = reader_slice(r, (size_t)type->length);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        return timestamp_decode(s, r, type, out);
    default: /* INTEGER, DATE, TIME */
        out->i64 = (int32_t)reader_u32(r);
    }
    return true;
}

bool indexed_decode(struct source *s, const struct type *row, struct slice bytes, const int32_t *places,
                    struct datum *values)
{
    struct reader r = reader_of(bytes);
    struct datum dropped;
    const uint8_t *nulls = reader_take(&r, (row->field_count + 7) / 8);
    struct reader lengths = reader_of(reader_slice(&r, lengths_bytes(row)));
    if (!reader_ok(&r) || (row->field_count > 0 && !nulls))
        return source_fail(s, "an indexed row is cut off");
    for (uint32_t i = 0; i < row->field_count; i++) {
        struct datum *out = place_of(places, i, values, &dropped);
        if (nulls[i >> 3] >> (i & 7) & 1)
            out->is_null = true;
        else if (!field_decode(s, &lengths, &r, row->fields[i].type, out))
            return source_fail(s, s->fault ? s->fault : "an indexed row is cut off");
    }
    if (reader_done(&r))
        return true;
    return source_fail(s, reader_ok(&r) ? "bytes are left behind an indexed row" : "an indexed row is cut off");
}

/* Appends the value; the length slot at *length_at is filled and passed. */
static bool variable_encode(struct sink *s, const struct type *type, const struct datum *value, size_t *length_at)
{
    uint8_t bytes[DECIMAL_BYTES_MAX];
    size_t start = s->out->len;
    if (type_is_nested(type)) {
        if (!nested_encode(s, type, value))
            return false;
    } else if (type->kind == TYPE_DECIMAL) {
        buf_put(s->out, bytes, decimal_to_bytes(value->decimal, bytes));
    } else {
        buf_put_slice(s->out, value->bytes);
    }
    store_u32(s->out->ptr + *length_at, (uint32_t)(s->out->len - start));
    *length_at += 4;
    return true;
}

static bool padded_encode(struct sink *s, const struct type *type, struct slice bytes)
{
    if (bytes.len > (size_t)type->length)
        return sink_fail(s, "a value of CHAR(n) or BINARY(n) is longer than n bytes");
    buf_put_slice(s->out, bytes);
    buf_put_zeros(s->out, (size_t)type->length - bytes.len);
    return true;
}

static bool fixed_encode(struct sink *s, const struct type *type, const struct datum *value)
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
    case TYPE_BIGINT:
        buf_put_u64(out, (uint64_t)value->i64);
        break;
    case TYPE_FLOAT:
        buf_put(out, &value->f32, 4);
        break;
    case TYPE_DOUBLE:
        buf_put(out, &value->f64, 8);
        break;
    case TYPE_DECIMAL:
        buf_put_u64(out, (uint64_t)value->decimal);
        break;
    case TYPE_CHAR:
    case TYPE_BINARY:
        return padded_encode(s, type, value->bytes);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        buf_put_u64(out, (uint64_t)value->ts.millis);
        if (!timestamp_is_compact(type))
            buf_put_u32(out, (uint32_t)value->ts.nanos);
        break;
    default: /* INTEGER, DATE, TIME */
        buf_put_u32(out, (uint32_t)value->i64);
    }
    return true;
}

bool indexed_encode(struct sink *s, const struct type *row, const struct datum *values)
{
    size_t nulls = s->out->len;
    size_t length_at = nulls + (row->field_count + 7) / 8;
    buf_put_zeros(s->out, length_at - nulls + lengths_bytes(row));
    for (uint32_t i = 0; i < row->field_count; i++) {
        const struct type *type = row->fields[i].type;
        if (values[i].is_null)
            s->out->ptr[nulls + (i >> 3)] |= (uint8_t)(1u << (i & 7));
        else if (!(is_variable(type) ? variable_encode(s, type, &values[i], &length_at)
                                     : fixed_encode(s, type, &values[i])))
            return false;
    }
    return true;
}
