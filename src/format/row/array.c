/* ARRAY, MAP and nested ROW values, which look the same inside every row format.
 *
 *   array   i32 LE element count n
 *           null bitmap, 4 * ceil(n / 32) bytes, bit i & 7 of byte i >> 3
 *           n slots of 1 (BOOLEAN, TINYINT), 2 (SMALLINT), 4 (INTEGER, FLOAT, DATE, TIME) or 8 bytes, as in aligned.c;
 *           null: 0, and nothing in the variable part
 *           zeros up to a multiple of 8 bytes
 *           variable part as in aligned.c, offsets from the start of the array
 *   map     i32 LE size of the key array; key array; value array
 *   row     a row in the format of the row that holds it
 *
 * Golden: rows.jsonl row/.../array-..., map-..., mixed-nested. */
#include "format/row/row_int.h"

struct datum *nested_values(struct source *s, uint64_t count)
{
    if (count > s->values_left) {
        s->limit = true;
        (void)source_fail(s, "a row holds more nested values than its size allows");
        return NULL;
    }
    s->values_left -= count;
    return ARENA_NEW_ARRAY(s->arena, struct datum, count);
}

static size_t slot_bytes(const struct type *type)
{
    switch (type->kind) {
    case TYPE_BOOLEAN:
    case TYPE_TINYINT:
        return 1;
    case TYPE_SMALLINT:
        return 2;
    case TYPE_INTEGER:
    case TYPE_FLOAT:
    case TYPE_DATE:
    case TYPE_TIME:
        return 4;
    default:
        return 8;
    }
}

static bool array_decode(struct source *s, const struct type *element, struct slice bytes, struct datum **items,
                         uint32_t *count)
{
    struct reader r = reader_of(bytes);
    uint32_t n = reader_u32(&r);
    size_t width = slot_bytes(element);
    const uint8_t *nulls = reader_take(&r, ((size_t)n + 31) / 32 * 4);
    const uint8_t *slots = reader_take(&r, n * width);
    if (!reader_ok(&r))
        return source_fail(s, "an array is cut off");
    *items = nested_values(s, n);
    *count = n;
    if (!*items)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct datum *out = &(*items)[i];
        if (nulls[i >> 3] >> (i & 7) & 1)
            out->is_null = true;
        else if (!slot_decode(s, element, slots + i * width, bytes, out))
            return false;
    }
    return true;
}

static bool map_decode(struct source *s, const struct type *type, struct slice bytes, struct datum *out)
{
    struct reader r = reader_of(bytes);
    uint32_t value_count = 0;
    struct slice keys = reader_slice(&r, reader_u32(&r));
    struct slice values = reader_rest(&r);
    if (!reader_ok(&r))
        return source_fail(s, "a map is cut off");
    if (!array_decode(s, type->fields[0].type, keys, &out->map.keys, &out->map.count) ||
        !array_decode(s, type->fields[1].type, values, &out->map.values, &value_count))
        return false;
    return value_count == out->map.count || source_fail(s, "a map has not as many values as keys");
}

static bool row_in_row_decode(struct source *s, const struct type *type, struct slice bytes, struct datum *out)
{
    out->list.count = type->field_count;
    out->list.items = nested_values(s, type->field_count);
    if (!out->list.items)
        return false;
    switch (s->format) {
    case ROW_COMPACTED:
        return compacted_decode(s, type, bytes, NULL, out->list.items);
    case ROW_INDEXED:
        return indexed_decode(s, type, bytes, NULL, out->list.items);
    default:
        return aligned_decode(s, type, bytes, NULL, out->list.items);
    }
}

bool nested_decode(struct source *s, const struct type *type, struct slice bytes, struct datum *out)
{
    out->is_null = false;
    if (type->kind == TYPE_ARRAY)
        return array_decode(s, type->fields[0].type, bytes, &out->list.items, &out->list.count);
    return type->kind == TYPE_MAP ? map_decode(s, type, bytes, out) : row_in_row_decode(s, type, bytes, out);
}

static bool array_encode(struct sink *s, const struct type *element, const struct datum *items, uint32_t count)
{
    size_t base = s->out->len, width = slot_bytes(element);
    size_t nulls = base + 4, slots = nulls + ((size_t)count + 31) / 32 * 4;
    buf_put_u32(s->out, count);
    buf_put_zeros(s->out, slots - nulls + count * width);
    buf_align(s->out, base, 8);
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].is_null)
            s->out->ptr[nulls + (i >> 3)] |= (uint8_t)(1u << (i & 7));
        else if (!slot_encode(s, element, &items[i], base, slots + i * width))
            return false;
    }
    return true;
}

static bool map_encode(struct sink *s, const struct type *type, const struct datum *value)
{
    size_t size_at = s->out->len;
    buf_put_u32(s->out, 0);
    if (!array_encode(s, type->fields[0].type, value->map.keys, value->map.count))
        return false;
    store_u32(s->out->ptr + size_at, (uint32_t)(s->out->len - size_at - 4));
    return array_encode(s, type->fields[1].type, value->map.values, value->map.count);
}

bool nested_encode(struct sink *s, const struct type *type, const struct datum *value)
{
    if (type->kind == TYPE_ARRAY)
        return array_encode(s, type->fields[0].type, value->list.items, value->list.count);
    if (type->kind == TYPE_MAP)
        return map_encode(s, type, value);
    ASSERT(value->list.count == type->field_count);
    switch (s->format) {
    case ROW_COMPACTED:
        return compacted_encode(s, type, value->list.items);
    case ROW_INDEXED:
        return indexed_encode(s, type, value->list.items);
    default:
        return aligned_encode(s, type, value->list.items);
    }
}
