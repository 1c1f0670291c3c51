/* Aligned rows (Flink's and Paimon's BinaryRow), and the slots that they share with arrays.
 *
 *   header        8 * ceil((n + 8) / 64) bytes: byte 0 is 0 (Paimon: the row kind); bit i + 8 is set where field i is
 * null slots         8 bytes a field: narrow values in the low bytes, the rest 0; null: 0 variable      in units of 8
 * bytes filled with zeros, offsets count from the start of the row
 *
 *   slot of       CHAR, STRING, BINARY, BYTES of at most 7 bytes: the bytes, top byte 0x80 | length
 *                 longer ones, ARRAY, MAP, ROW: offset << 32 | size
 *                 DECIMAL(p > 18): offset << 32 | size; 16 bytes, big-endian two's complement first
 *                 TIMESTAMP, LTZ (p > 3): offset << 32 | nanoseconds within; 8 bytes, milliseconds
 *
 * In ROW_PAIMON a null DECIMAL(p > 18) or TIMESTAMP(p > 3) keeps its place: bit set, slot offset << 32, zeros behind
 * it. Golden: keys.jsonl key/paimon/..., paimon_rows.jsonl binary_row/... */
#include "format/row/row_int.h"

#define INLINE_BYTES_MAX 7
#define INLINE_MARK ((uint64_t)1 << 63)

static size_t header_bytes(uint32_t field_count)
{
    return ((size_t)field_count + 63 + 8) / 64 * 8;
}

/* ---- slots ---- */

static bool part_decode(struct source *s, struct slice whole, uint64_t at, uint64_t len, struct slice *part)
{
    struct reader r = reader_of(whole);
    (void)reader_take(&r, at);
    *part = reader_slice(&r, len);
    return reader_ok(&r) || source_fail(s, "an offset leads out of a row or array");
}

static bool bytes_decode(struct source *s, const uint8_t *slot, uint64_t bits, struct slice whole, struct datum *out)
{
    if (!(bits & INLINE_MARK))
        return part_decode(s, whole, bits >> 32, (uint32_t)bits, &out->bytes);
    size_t len = bits >> 56 & 0x7f;
    if (len > INLINE_BYTES_MAX)
        return source_fail(s, "a value within a slot is longer than the slot");
    out->bytes = slice_of(slot, len);
    return true;
}

static bool timestamp_decode(struct source *s, uint64_t bits, struct slice whole, struct datum *out)
{
    struct slice part;
    if (!part_decode(s, whole, bits >> 32, 8, &part))
        return false;
    out->ts.millis = (int64_t)load_u64(part.ptr);
    out->ts.nanos = (int32_t)(uint32_t)bits;
    return nanos_are_valid(out->ts.nanos) || source_fail(s, "the nanoseconds of a timestamp are out of range");
}

/* Kinds whose slot has 8 bytes. */
static bool wide_decode(struct source *s, const struct type *type, const uint8_t *slot, struct slice whole,
                        struct datum *out)
{
    uint64_t bits = load_u64(slot);
    struct slice part;
    switch (type->kind) {
    case TYPE_DOUBLE:
        memcpy(&out->f64, &bits, 8);
        return true;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_BYTES:
        return bytes_decode(s, slot, bits, whole, out);
    case TYPE_DECIMAL:
        if (decimal_is_compact(type)) {
            out->decimal = (int64_t)bits;
            return true;
        }
        return part_decode(s, whole, bits >> 32, (uint32_t)bits, &part) && decimal_from_bytes(s, part, &out->decimal);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        if (!timestamp_is_compact(type))
            return timestamp_decode(s, bits, whole, out);
        out->ts.millis = (int64_t)bits;
        out->ts.nanos = 0;
        return true;
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_ROW:
        return part_decode(s, whole, bits >> 32, (uint32_t)bits, &part) && nested_decode(s, type, part, out);
    default: /* BIGINT */
        out->i64 = (int64_t)bits;
        return true;
    }
}

bool slot_decode(struct source *s, const struct type *type, const uint8_t *slot, struct slice whole, struct datum *out)
{
    uint32_t bits32;
    out->is_null = false;
    switch (type->kind) {
    case TYPE_BOOLEAN:
        out->boolean = *slot != 0;
        return true;
    case TYPE_TINYINT:
        out->i64 = signed_byte(*slot);
        return true;
    case TYPE_SMALLINT:
        out->i64 = (int16_t)load_u16(slot);
        return true;
    case TYPE_INTEGER:
    case TYPE_DATE:
    case TYPE_TIME:
        out->i64 = (int32_t)load_u32(slot);
        return true;
    case TYPE_FLOAT:
        bits32 = load_u32(slot);
        memcpy(&out->f32, &bits32, 4);
        return true;
    default:
        return wide_decode(s, type, slot, whole, out);
    }
}

static void slot_store(struct sink *s, size_t slot, uint64_t offset, uint64_t low)
{
    store_u64(s->out->ptr + slot, offset << 32 | low);
}

static void bytes_encode(struct sink *s, struct slice bytes, size_t base, size_t slot)
{
    if (bytes.len <= INLINE_BYTES_MAX) {
        uint64_t bits = INLINE_MARK | (uint64_t)bytes.len << 56;
        store_u64(s->out->ptr + slot, bits);
        if (bytes.len)
            memcpy(s->out->ptr + slot, bytes.ptr, bytes.len);
        return;
    }
    slot_store(s, slot, s->out->len - base, (uint32_t)bytes.len);
    buf_put_slice(s->out, bytes);
    buf_align(s->out, base, 8);
}

static void decimal_encode(struct sink *s, __int128 value, size_t base, size_t slot)
{
    uint8_t bytes[DECIMAL_BYTES_MAX] = {0};
    size_t len = decimal_to_bytes(value, bytes);
    slot_store(s, slot, s->out->len - base, len);
    buf_put(s->out, bytes, len);
    buf_put_zeros(s->out, DECIMAL_BYTES_MAX - len);
}

static bool part_encode(struct sink *s, const struct type *type, const struct datum *value, size_t base, size_t slot)
{
    size_t start = s->out->len;
    if (!nested_encode(s, type, value))
        return false;
    slot_store(s, slot, start - base, (uint32_t)(s->out->len - start));
    buf_align(s->out, base, 8);
    return true;
}

static bool wide_encode(struct sink *s, const struct type *type, const struct datum *value, size_t base, size_t slot)
{
    uint8_t *place = s->out->ptr + slot;
    switch (type->kind) {
    case TYPE_DOUBLE:
        memcpy(place, &value->f64, 8);
        break;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_BYTES:
        bytes_encode(s, value->bytes, base, slot);
        break;
    case TYPE_DECIMAL:
        if (decimal_is_compact(type))
            store_u64(place, (uint64_t)value->decimal);
        else
            decimal_encode(s, value->decimal, base, slot);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        if (timestamp_is_compact(type)) {
            store_u64(place, (uint64_t)value->ts.millis);
        } else {
            slot_store(s, slot, s->out->len - base, (uint32_t)value->ts.nanos);
            buf_put_u64(s->out, (uint64_t)value->ts.millis);
        }
        break;
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_ROW:
        return part_encode(s, type, value, base, slot);
    default: /* BIGINT */
        store_u64(place, (uint64_t)value->i64);
    }
    return true;
}

bool slot_encode(struct sink *s, const struct type *type, const struct datum *value, size_t base, size_t slot)
{
    uint8_t *place = s->out->ptr + slot;
    switch (type->kind) {
    case TYPE_BOOLEAN:
        *place = value->boolean;
        return true;
    case TYPE_TINYINT:
        *place = (uint8_t)value->i64;
        return true;
    case TYPE_SMALLINT:
        store_u16(place, (uint16_t)value->i64);
        return true;
    case TYPE_INTEGER:
    case TYPE_DATE:
    case TYPE_TIME:
        store_u32(place, (uint32_t)value->i64);
        return true;
    case TYPE_FLOAT:
        memcpy(place, &value->f32, 4);
        return true;
    default:
        return wide_encode(s, type, value, base, slot);
    }
}

/* ---- rows ---- */

bool aligned_decode(struct source *s, const struct type *row, struct slice bytes, const int32_t *places,
                    struct datum *values)
{
    struct reader r = reader_of(bytes);
    struct datum dropped;
    const uint8_t *header = reader_take(&r, header_bytes(row->field_count));
    const uint8_t *slots = reader_take(&r, (size_t)8 * row->field_count);
    if (!reader_ok(&r) || !header)
        return source_fail(s, "an aligned row is cut off");
    for (uint32_t i = 0; i < row->field_count; i++) {
        struct datum *out = place_of(places, i, values, &dropped);
        if (header[(i + 8) >> 3] >> (i & 7) & 1)
            out->is_null = true;
        else if (!slot_decode(s, row->fields[i].type, slots + (size_t)8 * i, bytes, out))
            return false;
    }
    return true;
}

static void null_encode(struct sink *s, const struct type *type, size_t base, size_t slot)
{
    bool decimal = type->kind == TYPE_DECIMAL && !decimal_is_compact(type);
    bool timestamp = (type->kind == TYPE_TIMESTAMP || type->kind == TYPE_TIMESTAMP_LTZ) && !timestamp_is_compact(type);
    if (s->format != ROW_PAIMON || !(decimal || timestamp))
        return;
    slot_store(s, slot, s->out->len - base, 0);
    buf_put_zeros(s->out, decimal ? DECIMAL_BYTES_MAX : 8);
}

bool aligned_encode(struct sink *s, const struct type *row, const struct datum *values)
{
    size_t base = s->out->len;
    size_t slots = base + header_bytes(row->field_count);
    buf_put_zeros(s->out, slots - base + (size_t)8 * row->field_count);
    for (uint32_t i = 0; i < row->field_count; i++) {
        const struct type *type = row->fields[i].type;
        size_t slot = slots + (size_t)8 * i;
        if (values[i].is_null) {
            s->out->ptr[base + ((i + 8) >> 3)] |= (uint8_t)(1u << (i & 7));
            null_encode(s, type, base, slot);
        } else if (!slot_encode(s, type, &values[i], base, slot)) {
            return false;
        }
    }
    return true;
}
