/* Keys as bytes that sort like the keys: integers big-endian with the sign turned, text with an end that sorts before
 * every letter, one column behind the other. */
#include "tier/fold_int.h"

static void put_signed(struct buf *out, int64_t v)
{
    buf_put_u64_be(out, (uint64_t)v ^ (UINT64_C(1) << 63));
}

static int64_t load_signed(const uint8_t *p, size_t width)
{
    switch (width) {
    case 1:
        return (int8_t)*p;
    case 2:
        return (int16_t)load_u16(p);
    case 4:
        return (int32_t)load_u32(p);
    default:
        return (int64_t)load_u64(p);
    }
}

static void put_decimal(struct buf *out, const uint8_t *p)
{
    put_signed(out, (int64_t)load_u64(p + 8));
    buf_put_u64_be(out, load_u64(p));
}

/* Java's total order of doubles: bits of negative numbers turned over, of others only the sign. NaN is greatest. */
static void put_double(struct buf *out, double v)
{
    uint64_t bits;
    if (v != v)
        v = __builtin_nan("");
    memcpy(&bits, &v, sizeof bits);
    buf_put_u64_be(out, bits >> 63 ? ~bits : bits | UINT64_C(1) << 63);
}

/* A zero byte becomes 00 FF and the end 00 00, so that a prefix sorts before what is longer. */
static void put_text(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        buf_put_u8(out, text.ptr[i]);
        if (text.ptr[i] == 0)
            buf_put_u8(out, 0xff);
    }
    buf_put_u16(out, 0);
}

static struct slice text_at(const struct column *column, uint32_t i)
{
    uint32_t from = load_u32(column->offsets + 4 * (size_t)i), to = load_u32(column->offsets + 4 * (size_t)i + 4);
    return slice_of(column->data + from, to - from);
}

static void put_column(const struct column *column, uint32_t i, bool last, struct buf *out)
{
    size_t width = column_width(column->type);
    const uint8_t *at = column->data + width * i;
    float f32;
    double f64;
    switch (column->type->kind) {
    case TYPE_BOOLEAN:
        buf_put_u8(out, column->data[i >> 3] >> (i & 7) & 1);
        break;
    case TYPE_FLOAT:
        memcpy(&f32, at, sizeof f32);
        put_double(out, (double)f32);
        break;
    case TYPE_DOUBLE:
        memcpy(&f64, at, sizeof f64);
        put_double(out, f64);
        break;
    case TYPE_DECIMAL:
        put_decimal(out, at);
        break;
    case TYPE_BINARY:
        buf_put(out, at, width);
        break;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BYTES:
        if (last)
            buf_put_slice(out, text_at(column, i));
        else
            put_text(out, text_at(column, i));
        break;
    default:
        put_signed(out, load_signed(at, width));
        break;
    }
}

void fold_key_put(const struct column *columns, const uint32_t *key, uint32_t key_count, uint32_t i, struct buf *out)
{
    for (uint32_t k = 0; k < key_count; k++)
        put_column(&columns[key[k]], i, k + 1 == key_count, out);
}

uint64_t fold_key_prefix(struct slice key)
{
    uint64_t v = 0;
    if (key.len)
        memcpy(&v, key.ptr, MIN(key.len, sizeof v));
    return __builtin_bswap64(v);
}
