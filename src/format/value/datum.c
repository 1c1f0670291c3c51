/* Single values: order, copies, and canonical bytes for digests. */
#include "format/value/value.h"

/* ---- order ---- */

static int order_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int order_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* One NaN for all, as Java's doubleToLongBits. */
static uint64_t double_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return v != v ? (uint64_t)0x7ff8 << 48 : bits;
}

static uint32_t float_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return v != v ? 0x7fc00000u : bits;
}

/* The bits of a number in an order that is that of unsigned integers: -0.0 below 0.0, NaN above all. */
static int order_double(double a, double b)
{
    uint64_t x = double_bits(a), y = double_bits(b), sign = (uint64_t)1 << 63;
    return order_u64(x & sign ? ~x : x | sign, y & sign ? ~y : y | sign);
}

static int order_list(const struct type *type, const struct datum *a, const struct datum *b)
{
    uint32_t common = MIN(a->list.count, b->list.count);
    for (uint32_t i = 0; i < common; i++) {
        const struct type *item = type->fields[type->kind == TYPE_ROW ? i : 0].type;
        int order = datum_compare(item, &a->list.items[i], &b->list.items[i]);
        if (order)
            return order;
    }
    return order_u64(a->list.count, b->list.count);
}

static int order_map(const struct type *type, const struct datum *a, const struct datum *b)
{
    uint32_t common = MIN(a->map.count, b->map.count);
    for (uint32_t i = 0; i < common; i++) {
        int order = datum_compare(type->fields[0].type, &a->map.keys[i], &b->map.keys[i]);
        if (!order)
            order = datum_compare(type->fields[1].type, &a->map.values[i], &b->map.values[i]);
        if (order)
            return order;
    }
    return order_u64(a->map.count, b->map.count);
}

int datum_compare(const struct type *type, const struct datum *a, const struct datum *b)
{
    if (a->is_null || b->is_null)
        return b->is_null - a->is_null;
    switch (type->kind) {
    case TYPE_BOOLEAN:
        return a->boolean - b->boolean;
    case TYPE_FLOAT:
        return order_double((double)a->f32, (double)b->f32);
    case TYPE_DOUBLE:
        return order_double(a->f64, b->f64);
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_BYTES:
        return slice_compare(a->bytes, b->bytes);
    case TYPE_DECIMAL:
        return (a->decimal > b->decimal) - (a->decimal < b->decimal);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        return a->ts.millis != b->ts.millis ? order_i64(a->ts.millis, b->ts.millis)
                                            : order_i64(a->ts.nanos, b->ts.nanos);
    case TYPE_ARRAY:
    case TYPE_ROW:
        return order_list(type, a, b);
    case TYPE_MAP:
        return order_map(type, a, b);
    default:
        return order_i64(a->i64, b->i64);
    }
}

bool datum_equal(const struct type *type, const struct datum *a, const struct datum *b)
{
    return datum_compare(type, a, b) == 0;
}

/* ---- copies ---- */

static struct datum *dup_items(struct arena *arena, const struct type *type, const struct datum *from, uint32_t count,
                               uint32_t field)
{
    struct datum *items = ARENA_NEW_ARRAY(arena, struct datum, count);
    for (uint32_t i = 0; i < count; i++)
        datum_dup(arena, type->fields[type->kind == TYPE_ROW ? i : field].type, &from[i], &items[i]);
    return items;
}

void datum_dup(struct arena *arena, const struct type *type, const struct datum *from, struct datum *to)
{
    struct datum copy = *from;
    if (!from->is_null && (type->kind == TYPE_ARRAY || type->kind == TYPE_ROW)) {
        copy.list.items = dup_items(arena, type, from->list.items, from->list.count, 0);
    } else if (!from->is_null && type->kind == TYPE_MAP) {
        copy.map.keys = dup_items(arena, type, from->map.keys, from->map.count, 0);
        copy.map.values = dup_items(arena, type, from->map.values, from->map.count, 1);
    } else if (!from->is_null && (type->kind == TYPE_CHAR || type->kind == TYPE_STRING || type->kind == TYPE_BINARY ||
                                  type->kind == TYPE_BYTES)) {
        copy.bytes = arena_dup(arena, from->bytes);
    }
    *to = copy;
}

/* ---- canonical bytes ----
 *
 *   null                 00
 *   any other            01, then
 *     BOOLEAN            1 byte
 *     integers, DATE,
 *     TIME               i64 LE, whatever the width
 *     FLOAT, DOUBLE      4, 8 bytes LE; one NaN for all
 *     characters, bytes  u32 LE length, the bytes
 *     DECIMAL            16 bytes LE, unscaled
 *     TIMESTAMP, LTZ     i64 LE milliseconds, u32 LE nanoseconds within
 *     ARRAY              u32 LE count, the elements
 *     MAP                u32 LE count, key and value of each entry in the order held
 *     ROW                u32 LE count of fields up to the last that is not null, those fields
 *
 * A whole row is its columns up to the last that is not null, without a count. */

static uint32_t count_without_trailing_nulls(const struct datum *items, uint32_t count)
{
    while (count > 0 && items[count - 1].is_null)
        count--;
    return count;
}

static void canonical_list(const struct type *type, const struct datum *value, struct buf *out)
{
    bool row = type->kind == TYPE_ROW;
    uint32_t count = row ? count_without_trailing_nulls(value->list.items, value->list.count) : value->list.count;
    buf_put_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        datum_canonical(type->fields[row ? i : 0].type, &value->list.items[i], out);
}

static void canonical_map(const struct type *type, const struct datum *value, struct buf *out)
{
    buf_put_u32(out, value->map.count);
    for (uint32_t i = 0; i < value->map.count; i++) {
        datum_canonical(type->fields[0].type, &value->map.keys[i], out);
        datum_canonical(type->fields[1].type, &value->map.values[i], out);
    }
}

void datum_canonical(const struct type *type, const struct datum *value, struct buf *out)
{
    buf_put_u8(out, !value->is_null);
    if (value->is_null)
        return;
    switch (type->kind) {
    case TYPE_BOOLEAN:
        buf_put_u8(out, value->boolean);
        break;
    case TYPE_FLOAT:
        buf_put_u32(out, float_bits(value->f32));
        break;
    case TYPE_DOUBLE:
        buf_put_u64(out, double_bits(value->f64));
        break;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_BYTES:
        buf_put_u32(out, (uint32_t)value->bytes.len);
        buf_put_slice(out, value->bytes);
        break;
    case TYPE_DECIMAL:
        buf_put_u64(out, (uint64_t)value->decimal);
        buf_put_u64(out, (uint64_t)((unsigned __int128)value->decimal >> 64));
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        buf_put_u64(out, (uint64_t)value->ts.millis);
        buf_put_u32(out, (uint32_t)value->ts.nanos);
        break;
    case TYPE_ARRAY:
    case TYPE_ROW:
        canonical_list(type, value, out);
        break;
    case TYPE_MAP:
        canonical_map(type, value, out);
        break;
    default:
        buf_put_u64(out, (uint64_t)value->i64);
    }
}

void row_canonical(const struct schema *schema, const struct datum *row, uint32_t column_count, struct buf *out)
{
    ASSERT(column_count <= schema->column_count);
    uint32_t count = count_without_trailing_nulls(row, column_count);
    for (uint32_t i = 0; i < count; i++)
        datum_canonical(schema->columns[i].type, &row[i], out);
}
