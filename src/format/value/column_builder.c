#include "format/value/column_int.h"

#include <inttypes.h>

static bool has_offsets(const struct type *type)
{
    enum column_shape shape = column_shape(type);
    return shape == SHAPE_BYTES || shape == SHAPE_LIST;
}

void column_builder_init(struct column_builder *b, const struct type *type)
{
    *b = (struct column_builder){.type = type};
    if (has_offsets(type))
        buf_put_u32(&b->offsets, 0);
    if (type->field_count)
        b->children = mem_alloc(type->field_count * sizeof *b->children);
    for (uint32_t f = 0; f < type->field_count; f++)
        column_builder_init(&b->children[f], type->fields[f].type);
}

void column_builder_deinit(struct column_builder *b)
{
    for (uint32_t f = 0; b->children && f < b->type->field_count; f++)
        column_builder_deinit(&b->children[f]);
    mem_free(b->children);
    buf_deinit(&b->validity);
    buf_deinit(&b->offsets);
    buf_deinit(&b->data);
    *b = (struct column_builder){0};
}

void column_builder_reset(struct column_builder *b)
{
    b->length = b->null_count = 0;
    buf_reset(&b->validity);
    buf_reset(&b->data);
    buf_reset(&b->offsets);
    if (has_offsets(b->type))
        buf_put_u32(&b->offsets, 0);
    for (uint32_t f = 0; f < b->type->field_count; f++)
        column_builder_reset(&b->children[f]);
}

/* Clear of buf_extend's call for the common case: this runs once a value. */
static inline uint8_t *room(struct buf *buf, size_t len)
{
    if (len >= buf->cap - buf->len) /* so that the place is never NULL */
        buf_reserve(buf, MAX(len, (size_t)1024));
    uint8_t *place = buf->ptr + buf->len;
    buf->len += len;
    return place;
}

/* Bit i is the next one; bits above the last are always clear. */
static inline void put_bit(struct buf *bits, uint32_t i, bool set)
{
    if ((i & 7) == 0)
        *room(bits, 1) = 0;
    if (set)
        bits->ptr[i >> 3] |= (uint8_t)(1u << (i & 7));
}

static void first_null(struct column_builder *b)
{
    memset(room(&b->validity, b->length / 8), 0xff, b->length / 8);
    if (b->length & 7)
        *room(&b->validity, 1) = (uint8_t)((1u << (b->length & 7)) - 1);
}

static inline void count_value(struct column_builder *b)
{
    if (b->null_count)
        put_bit(&b->validity, b->length, true);
    b->length++;
}

/* What the bytes or elements so far come to, as the next offset. */
static inline void put_offset(struct column_builder *b, size_t end)
{
    store_u32(room(&b->offsets, 4), (uint32_t)end);
}

static size_t end_of(const struct column_builder *b)
{
    return column_shape(b->type) == SHAPE_BYTES ? b->data.len : b->children[0].length;
}

void column_builder_append_null(struct column_builder *b)
{
    ASSERT(b->length < UINT32_MAX);
    if (!b->null_count)
        first_null(b);
    put_bit(&b->validity, b->length, false);
    b->null_count++;
    size_t width = column_width(b->type);
    switch (column_shape(b->type)) {
    case SHAPE_BITS:
        put_bit(&b->data, b->length, false);
        break;
    case SHAPE_FIXED:
        memset(room(&b->data, width), 0, width);
        break;
    case SHAPE_BYTES:
    case SHAPE_LIST:
        put_offset(b, end_of(b));
        break;
    case SHAPE_ROW:
        for (uint32_t f = 0; f < b->type->field_count; f++)
            column_builder_append_null(&b->children[f]);
        break;
    }
    b->length++;
}

static enum err_code put_timestamp(struct column_builder *b, const struct datum *value, struct err *err)
{
    int64_t scale = column_time_scale(b->type);
    /* Wider than the result: at its least the millis alone are beyond it, and the nanos bring it back. */
    __int128 wide = scale < 1000 ? div_floor(value->ts.millis, 1000)
                                 : (__int128)value->ts.millis * (scale / 1000) + value->ts.nanos / (1000000000 / scale);
    int64_t units = (int64_t)wide;
    if (units != wide)
        return err_set(err, ERR_INVALID_ARGUMENT,
                       "timestamp of %" PRId64 " ms does not fit a column of precision %d, which holds 64 bits",
                       value->ts.millis, b->type->precision);
    store_u64(room(&b->data, 8), (uint64_t)units);
    return OK;
}

static void put_time(struct column_builder *b, int64_t millis, size_t width)
{
    int64_t scale = column_time_scale(b->type);
    int64_t units = scale == 1 ? div_floor(millis, 1000) : millis * (scale / 1000);
    memcpy(room(&b->data, width), &units, width); /* the low bytes, as for all integers here */
}

static enum err_code put_fixed(struct column_builder *b, const struct datum *value, struct err *err)
{
    size_t width = column_width(b->type);
    switch (b->type->kind) {
    case TYPE_BINARY:
        if (value->bytes.len != width)
            return err_set(err, ERR_INVALID_ARGUMENT, "value of %zu bytes in a column of type BINARY(%zu)",
                           value->bytes.len, width);
        if (width)
            memcpy(room(&b->data, width), value->bytes.ptr, width);
        return OK;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        return put_timestamp(b, value, err);
    case TYPE_TIME:
        put_time(b, value->i64, width);
        return OK;
    case TYPE_FLOAT:
        memcpy(room(&b->data, 4), &value->f32, 4);
        return OK;
    case TYPE_DOUBLE:
        memcpy(room(&b->data, 8), &value->f64, 8);
        return OK;
    case TYPE_DECIMAL:
        memcpy(room(&b->data, 16), &value->decimal, 16);
        return OK;
    default:
        memcpy(room(&b->data, width), &value->i64, width);
        return OK;
    }
}

static enum err_code put_bytes(struct column_builder *b, struct slice bytes, struct err *err)
{
    if (bytes.len > COLUMN_BYTES_MAX - b->data.len)
        return err_set(err, ERR_INVALID_ARGUMENT, "a column holds at most %d bytes, %zu more do not fit behind %zu",
                       COLUMN_BYTES_MAX, bytes.len, b->data.len);
    if (bytes.len)
        memcpy(room(&b->data, bytes.len), bytes.ptr, bytes.len);
    put_offset(b, b->data.len);
    return OK;
}

static enum err_code put_children(struct column_builder *child, const struct datum *items, uint32_t count,
                                  struct err *err)
{
    if (count > COLUMN_BYTES_MAX - child->length)
        return err_set(err, ERR_INVALID_ARGUMENT, "a column holds at most %d elements", COLUMN_BYTES_MAX);
    for (uint32_t i = 0; i < count; i++)
        TRY(column_builder_append(child, &items[i], err));
    return OK;
}

/* Children may have grown when it fails; the caller cuts them back. */
static enum err_code put_nested(struct column_builder *b, const struct datum *value, struct err *err)
{
    if (b->type->kind == TYPE_ROW) {
        ASSERT(value->list.count == b->type->field_count);
        for (uint32_t f = 0; f < value->list.count; f++)
            TRY(column_builder_append(&b->children[f], &value->list.items[f], err));
        return OK;
    }
    if (b->type->kind == TYPE_ARRAY) {
        TRY(put_children(&b->children[0], value->list.items, value->list.count, err));
    } else {
        TRY(put_children(&b->children[0], value->map.keys, value->map.count, err));
        TRY(put_children(&b->children[1], value->map.values, value->map.count, err));
    }
    put_offset(b, b->children[0].length);
    return OK;
}

static void cut_children(struct column_builder *b, uint32_t length)
{
    bool is_row = column_shape(b->type) == SHAPE_ROW;
    uint32_t child_length = is_row ? length : load_u32(b->offsets.ptr + 4 * (size_t)length);
    for (uint32_t f = 0; f < b->type->field_count; f++)
        column_builder_truncate(&b->children[f], child_length);
}

enum err_code column_builder_append(struct column_builder *b, const struct datum *value, struct err *err)
{
    if (value->is_null) {
        column_builder_append_null(b);
        return OK;
    }
    enum err_code code = OK;
    switch (column_shape(b->type)) {
    case SHAPE_BITS:
        put_bit(&b->data, b->length, value->boolean);
        break;
    case SHAPE_FIXED:
        TRY(put_fixed(b, value, err));
        break;
    case SHAPE_BYTES:
        TRY(put_bytes(b, value->bytes, err));
        break;
    case SHAPE_LIST:
    case SHAPE_ROW:
        code = put_nested(b, value, err);
        if (code != OK) {
            cut_children(b, b->length);
            return code;
        }
        break;
    }
    count_value(b);
    return OK;
}

static void append_nested_from(struct column_builder *b, const struct column *from, uint32_t i)
{
    bool is_row = column_shape(b->type) == SHAPE_ROW;
    uint32_t start = is_row ? i : load_u32(from->offsets + 4 * (size_t)i);
    uint32_t end = is_row ? i + 1 : load_u32(from->offsets + 4 * (size_t)i + 4);
    for (uint32_t f = 0; f < b->type->field_count; f++)
        for (uint32_t k = start; k < end; k++)
            column_builder_append_from(&b->children[f], &from->children[f], k);
    if (!is_row)
        put_offset(b, b->children[0].length);
}

void column_builder_append_from(struct column_builder *b, const struct column *from, uint32_t i)
{
    ASSERT(i < from->length);
    if (column_is_null(from, i)) {
        column_builder_append_null(b);
        return;
    }
    size_t width = column_width(b->type);
    switch (column_shape(b->type)) {
    case SHAPE_BITS:
        put_bit(&b->data, b->length, from->data[i >> 3] >> (i & 7) & 1);
        break;
    case SHAPE_FIXED:
        memcpy(room(&b->data, width), from->data + i * width, width);
        break;
    case SHAPE_BYTES: {
        uint32_t start = load_u32(from->offsets + 4 * (size_t)i);
        uint32_t len = load_u32(from->offsets + 4 * (size_t)i + 4) - start;
        enum err_code code = put_bytes(b, slice_of(from->data + start, len), NULL);
        ASSERT(code == OK);
        break;
    }
    case SHAPE_LIST:
    case SHAPE_ROW:
        append_nested_from(b, from, i);
        break;
    }
    count_value(b);
}

static void cut_bits(struct buf *bits, uint32_t length)
{
    bits->len = ((size_t)length + 7) / 8;
    if (length & 7)
        bits->ptr[bits->len - 1] &= (uint8_t)((1u << (length & 7)) - 1);
}

static void cut_validity(struct column_builder *b, uint32_t length)
{
    for (uint32_t i = length; b->null_count && i < b->length; i++)
        b->null_count -= !(b->validity.ptr[i >> 3] >> (i & 7) & 1);
    if (b->null_count)
        cut_bits(&b->validity, length);
    else
        buf_reset(&b->validity);
}

void column_builder_truncate(struct column_builder *b, uint32_t length)
{
    ASSERT(length <= b->length);
    cut_validity(b, length);
    switch (column_shape(b->type)) {
    case SHAPE_BITS:
        cut_bits(&b->data, length);
        break;
    case SHAPE_FIXED:
        b->data.len = length * column_width(b->type);
        break;
    case SHAPE_BYTES:
        b->data.len = load_u32(b->offsets.ptr + 4 * (size_t)length);
        break;
    case SHAPE_LIST:
    case SHAPE_ROW:
        cut_children(b, length);
        break;
    }
    if (has_offsets(b->type))
        b->offsets.len = 4 * ((size_t)length + 1);
    b->length = length;
}

size_t column_builder_bytes(const struct column_builder *b)
{
    size_t bytes = ((size_t)b->length + 7) / 8 + b->offsets.len + b->data.len;
    if (b->type->kind == TYPE_MAP) /* its entries have validity too */
        bytes += ((size_t)b->children[0].length + 7) / 8;
    for (uint32_t f = 0; f < b->type->field_count; f++)
        bytes += column_builder_bytes(&b->children[f]);
    return bytes;
}

void column_builder_view(const struct column_builder *b, struct arena *arena, struct column *out)
{
    *out = (struct column){.type = b->type, .length = b->length, .null_count = b->null_count, .data_len = b->data.len};
    out->validity = b->null_count ? b->validity.ptr : NULL;
    out->offsets = b->offsets.ptr;
    out->data = b->data.ptr ? b->data.ptr : (const uint8_t *)""; /* never NULL + 0 */
    if (!b->type->field_count)
        return;
    out->children = ARENA_NEW_ARRAY(arena, struct column, b->type->field_count);
    for (uint32_t f = 0; f < b->type->field_count; f++)
        column_builder_view(&b->children[f], arena, &out->children[f]);
}
