#include "format/value/column_int.h"

enum column_shape column_shape(const struct type *type)
{
    switch (type->kind) {
    case TYPE_BOOLEAN:
        return SHAPE_BITS;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BYTES:
        return SHAPE_BYTES;
    case TYPE_ARRAY:
    case TYPE_MAP:
        return SHAPE_LIST;
    case TYPE_ROW:
        return SHAPE_ROW;
    default:
        return SHAPE_FIXED;
    }
}

size_t column_width(const struct type *type)
{
    switch (type->kind) {
    case TYPE_TINYINT:
        return 1;
    case TYPE_SMALLINT:
        return 2;
    case TYPE_INTEGER:
    case TYPE_FLOAT:
    case TYPE_DATE:
        return 4;
    case TYPE_BIGINT:
    case TYPE_DOUBLE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        return 8;
    case TYPE_TIME:
        return type->precision <= 3 ? 4 : 8;
    case TYPE_DECIMAL:
        return 16;
    case TYPE_BINARY:
        return (size_t)type->length;
    default:
        return 0;
    }
}

int64_t column_time_scale(const struct type *type)
{
    static const int64_t scales[] = {1, 1000, 1000000, 1000000000};
    return scales[type->precision <= 0 ? 0 : MIN((type->precision + 2) / 3, 3)];
}

/* Hostile seconds may be too many for milliseconds: they wrap, as in Java, and are just another wrong value. */
static int64_t to_millis(int64_t units, int64_t scale)
{
    if (scale >= 1000)
        return div_floor(units, scale / 1000);
    return (int64_t)((uint64_t)units * (uint64_t)(1000 / scale));
}

static void get_timestamp(const struct type *type, int64_t units, struct datum *out)
{
    int64_t scale = column_time_scale(type);
    out->ts.millis = to_millis(units, scale);
    out->ts.nanos = 0;
    if (scale > 1000) {
        int64_t a_milli = scale / 1000, rest = units % a_milli;
        out->ts.nanos = (int32_t)((rest < 0 ? rest + a_milli : rest) * (1000000000 / scale));
    }
}

static void get_fixed(const struct column *c, const uint8_t *at, size_t width, struct datum *out)
{
    switch (c->type->kind) {
    case TYPE_TINYINT:
        out->i64 = (int64_t)(int8_t)*at;
        return;
    case TYPE_SMALLINT:
        out->i64 = (int16_t)load_u16(at);
        return;
    case TYPE_INTEGER:
    case TYPE_DATE:
        out->i64 = (int32_t)load_u32(at);
        return;
    case TYPE_BIGINT:
        out->i64 = (int64_t)load_u64(at);
        return;
    case TYPE_FLOAT:
        memcpy(&out->f32, at, sizeof out->f32);
        return;
    case TYPE_DOUBLE:
        memcpy(&out->f64, at, sizeof out->f64);
        return;
    case TYPE_DECIMAL:
        memcpy(&out->decimal, at, sizeof out->decimal);
        return;
    case TYPE_TIME:
        out->i64 = to_millis(width == 4 ? (int32_t)load_u32(at) : (int64_t)load_u64(at), column_time_scale(c->type));
        return;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        get_timestamp(c->type, (int64_t)load_u64(at), out);
        return;
    default:
        out->bytes = slice_of(at, width);
    }
}

static struct datum *get_many(const struct column *child, uint32_t from, uint32_t count, struct arena *arena)
{
    struct datum *items = ARENA_NEW_ARRAY(arena, struct datum, count);
    for (uint32_t i = 0; i < count; i++)
        column_get(child, from + i, arena, &items[i]);
    return items;
}

static void get_list(const struct column *c, uint32_t from, uint32_t count, struct arena *arena, struct datum *out)
{
    if (c->type->kind == TYPE_ARRAY) {
        out->list.items = get_many(&c->children[0], from, count, arena);
        out->list.count = count;
        return;
    }
    out->map.keys = get_many(&c->children[0], from, count, arena);
    out->map.values = get_many(&c->children[1], from, count, arena);
    out->map.count = count;
}

static void get_row(const struct column *c, uint32_t i, struct arena *arena, struct datum *out)
{
    out->list.count = c->type->field_count;
    out->list.items = ARENA_NEW_ARRAY(arena, struct datum, out->list.count);
    for (uint32_t f = 0; f < out->list.count; f++)
        column_get(&c->children[f], i, arena, &out->list.items[f]);
}

void column_get(const struct column *c, uint32_t i, struct arena *arena, struct datum *out)
{
    ASSERT(i < c->length);
    *out = (struct datum){.is_null = column_is_null(c, i)};
    if (out->is_null)
        return;
    size_t width = column_width(c->type);
    uint32_t from = c->offsets ? load_u32(c->offsets + 4 * (size_t)i) : 0;
    uint32_t to = c->offsets ? load_u32(c->offsets + 4 * (size_t)i + 4) : 0;
    switch (column_shape(c->type)) {
    case SHAPE_BITS:
        out->boolean = c->data[i >> 3] >> (i & 7) & 1;
        return;
    case SHAPE_FIXED:
        get_fixed(c, c->data + i * width, width, out);
        return;
    case SHAPE_BYTES:
        out->bytes = slice_of(c->data + from, to - from);
        return;
    case SHAPE_LIST:
        get_list(c, from, to - from, arena, out);
        return;
    case SHAPE_ROW:
        get_row(c, i, arena, out);
        return;
    }
}

static const uint8_t *dup_bytes(struct arena *arena, const uint8_t *bytes, size_t len)
{
    return bytes ? arena_dup(arena, slice_of(bytes, len)).ptr : NULL;
}

void column_dup(struct arena *arena, const struct column *from, struct column *to)
{
    *to = *from;
    to->validity = dup_bytes(arena, from->validity, ((size_t)from->length + 7) / 8);
    to->offsets = dup_bytes(arena, from->offsets, 4 * ((size_t)from->length + 1));
    to->data = dup_bytes(arena, from->data, from->data_len);
    if (!from->type->field_count)
        return;
    to->children = ARENA_NEW_ARRAY(arena, struct column, from->type->field_count);
    for (uint32_t f = 0; f < from->type->field_count; f++)
        column_dup(arena, &from->children[f], &to->children[f]);
}

void column_nulls(struct arena *arena, const struct type *type, uint32_t length, struct column *out)
{
    enum column_shape shape = column_shape(type);
    size_t bit_bytes = ((size_t)length + 7) / 8;
    size_t data_len = shape == SHAPE_BITS ? bit_bytes : shape == SHAPE_FIXED ? length * column_width(type) : 0;
    *out = (struct column){.type = type, .length = length, .null_count = length, .data_len = data_len};
    out->validity = arena_zalloc(arena, bit_bytes);
    out->data = arena_zalloc(arena, data_len);
    if (shape == SHAPE_BYTES || shape == SHAPE_LIST)
        out->offsets = arena_array(arena, (size_t)length + 1, 4);
    if (!type->field_count)
        return;
    out->children = ARENA_NEW_ARRAY(arena, struct column, type->field_count);
    for (uint32_t f = 0; f < type->field_count; f++)
        column_nulls(arena, type->fields[f].type, shape == SHAPE_ROW ? length : 0, &out->children[f]);
}
