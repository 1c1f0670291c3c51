/* Values of a struct column as PLAIN: integers, floats and INT96 little-endian, bytes with a u32 length before them,
 * decimals by their width (big-endian in FIXED), booleans one a byte until their page is closed. */
#include "format/parquet/parquet_int.h"

#define NS_PER_DAY (86400 * (int64_t)1000000000)

static int64_t load_signed(const uint8_t *p, size_t width)
{
    switch (width) {
    case 1:
        return (int8_t)p[0];
    case 2:
        return (int16_t)load_u16(p);
    case 4:
        return (int32_t)load_u32(p);
    default:
        return (int64_t)load_u64(p);
    }
}

static void put_bools(struct buf *out, const struct column *c, uint32_t from, uint32_t count)
{
    uint8_t *to = buf_extend(out, count);
    for (uint32_t i = 0; i < count; i++)
        to[i] = c->data[(from + i) >> 3] >> ((from + i) & 7) & 1;
}

static void put_same(struct buf *out, const struct column *c, uint32_t from, uint32_t count, size_t width)
{
    buf_put(out, c->data + from * width, count * width);
}

static void put_small_ints(struct buf *out, const struct column *c, uint32_t from, uint32_t count, size_t width)
{
    uint8_t *to = buf_extend(out, count * (size_t)4);
    for (uint32_t i = 0; i < count; i++)
        store_u32(to + i * (size_t)4, (uint32_t)load_signed(c->data + (from + i) * width, width));
}

static void put_bytes(struct buf *out, const struct column *c, uint32_t from, uint32_t count)
{
    uint32_t start = load_u32(c->offsets + from * (size_t)4);
    uint32_t end = load_u32(c->offsets + (from + count) * (size_t)4);
    uint8_t *to = buf_extend(out, count * (size_t)4 + (end - start));
    for (uint32_t i = from; i < from + count; i++) {
        uint32_t next = load_u32(c->offsets + (i + (size_t)1) * 4), len = next - start;
        store_u32(to, len);
        if (len)
            memcpy(to + 4, c->data + start, len);
        to += 4 + (size_t)len;
        start = next;
    }
}

static void put_binary(struct buf *out, const struct column *c, uint32_t from, uint32_t count)
{
    size_t len = (size_t)c->type->length;
    for (uint32_t i = 0; i < count; i++) {
        buf_put_u32(out, (uint32_t)len);
        buf_put(out, c->data + (from + i) * len, len);
    }
}

static void put_decimal(struct buf *out, const struct parquet_node *leaf, __int128 v)
{
    if (leaf->physical == PARQUET_INT32)
        buf_put_u32(out, (uint32_t)v);
    else if (leaf->physical == PARQUET_INT64)
        buf_put_u64(out, (uint64_t)v);
    else
        for (uint32_t i = leaf->type_length; i-- > 0;)
            buf_put_u8(out, (uint8_t)(v >> (8 * i)));
}

static enum err_code put_decimals(struct buf *out, const struct parquet_node *leaf, const struct column *c,
                                  uint32_t from, uint32_t count, struct err *err)
{
    __int128 limit = 1;
    for (int32_t i = 0; i < leaf->precision; i++)
        limit *= 10;
    buf_reserve(out, count * (size_t)16);
    for (uint32_t i = from; i < from + count; i++) {
        __int128 v;
        memcpy(&v, c->data + i * sizeof v, sizeof v);
        if (v >= limit || v <= -limit)
            return err_set(err, ERR_INVALID_ARGUMENT, "column %.*s: a value has more than the %d digits of its type",
                           SLICE_ARGS(leaf->name), leaf->precision);
        put_decimal(out, leaf, v);
    }
    return OK;
}

/* From ticks of one length to ticks of another, toward the past; to the nearest that fits where it does not. */
static int64_t rescale(int64_t v, int64_t from_ticks, int64_t to_ticks)
{
    if (to_ticks >= from_ticks) {
        int64_t out;
        if (__builtin_mul_overflow(v, to_ticks / from_ticks, &out))
            return v < 0 ? INT64_MIN : INT64_MAX;
        return out;
    }
    int64_t by = from_ticks / to_ticks;
    return v / by - (v % by < 0);
}

static void put_int96(struct buf *out, int64_t v, int64_t ticks)
{
    int64_t ticks_a_day = ticks * 86400;
    int64_t day = v / ticks_a_day, rest = v % ticks_a_day;
    if (rest < 0) {
        day--;
        rest += ticks_a_day;
    }
    int64_t nanos = rest * (NS_PER_DAY / ticks_a_day);
    buf_put_u64(out, (uint64_t)nanos);
    buf_put_u32(out, (uint32_t)(day + PARQUET_JULIAN_EPOCH_DAY));
}

static void put_times(struct buf *out, const struct parquet_node *leaf, const struct column *c, uint32_t from,
                      uint32_t count)
{
    int64_t from_ticks = parquet_ticks_of_precision(c->type->precision), to_ticks = parquet_ticks_of_unit(leaf->unit);
    size_t width = c->type->kind == TYPE_TIME && c->type->precision <= 3 ? 4 : 8;
    size_t to_width = parquet_physical_width(leaf);
    if (leaf->physical != PARQUET_INT96 && from_ticks == to_ticks && width == to_width) {
        put_same(out, c, from, count, width);
        return;
    }
    buf_reserve(out, count * (size_t)12);
    for (uint32_t i = from; i < from + count; i++) {
        int64_t v = load_signed(c->data + i * width, width);
        if (leaf->physical == PARQUET_INT96)
            put_int96(out, v, from_ticks);
        else if (to_width == 4)
            buf_put_u32(out, (uint32_t)rescale(v, from_ticks, to_ticks));
        else
            buf_put_u64(out, (uint64_t)rescale(v, from_ticks, to_ticks));
    }
}

enum err_code parquet_plain_put(struct parquet_leaf_writer *leaf, const struct column *c, uint32_t from, uint32_t count,
                                struct err *err)
{
    struct buf *out = &leaf->values;
    leaf->value_count += count;
    switch (leaf->type->kind) {
    case TYPE_BOOLEAN:
        put_bools(out, c, from, count);
        return OK;
    case TYPE_TINYINT:
        put_small_ints(out, c, from, count, 1);
        return OK;
    case TYPE_SMALLINT:
        put_small_ints(out, c, from, count, 2);
        return OK;
    case TYPE_INTEGER:
    case TYPE_DATE:
    case TYPE_FLOAT:
        put_same(out, c, from, count, 4);
        return OK;
    case TYPE_BIGINT:
    case TYPE_DOUBLE:
        put_same(out, c, from, count, 8);
        return OK;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BYTES:
        put_bytes(out, c, from, count);
        return OK;
    case TYPE_BINARY:
        put_binary(out, c, from, count);
        return OK;
    case TYPE_DECIMAL:
        return put_decimals(out, leaf->node, c, from, count, err);
    default: /* TIME, TIMESTAMP, TIMESTAMP_LTZ */
        put_times(out, leaf->node, c, from, count);
        return OK;
    }
}
