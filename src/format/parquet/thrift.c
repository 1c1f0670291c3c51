#include "format/parquet/thrift.h"

void thrift_struct_begin(struct thrift_writer *w)
{
    ASSERT(w->depth < THRIFT_DEPTH_MAX);
    w->last[w->depth++] = 0;
}

void thrift_struct_end(struct thrift_writer *w)
{
    ASSERT(w->depth > 0);
    buf_put_u8(w->out, THRIFT_STOP);
    w->depth--;
}

static void field(struct thrift_writer *w, int16_t id, enum thrift_type type)
{
    int16_t *last = &w->last[w->depth - 1];
    int delta = id - *last;
    if (delta > 0 && delta <= 15) {
        buf_put_u8(w->out, (uint8_t)(delta << 4 | (int)type));
    } else {
        buf_put_u8(w->out, (uint8_t)type);
        buf_put_zigzag(w->out, id);
    }
    *last = id;
}

void thrift_field_struct(struct thrift_writer *w, int16_t id)
{
    field(w, id, THRIFT_STRUCT);
    thrift_struct_begin(w);
}

void thrift_field_bool(struct thrift_writer *w, int16_t id, bool v)
{
    field(w, id, v ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_field_byte(struct thrift_writer *w, int16_t id, int8_t v)
{
    field(w, id, THRIFT_BYTE);
    buf_put_u8(w->out, (uint8_t)v);
}

void thrift_field_i16(struct thrift_writer *w, int16_t id, int16_t v)
{
    field(w, id, THRIFT_I16);
    buf_put_zigzag(w->out, v);
}

void thrift_field_i32(struct thrift_writer *w, int16_t id, int32_t v)
{
    field(w, id, THRIFT_I32);
    buf_put_zigzag(w->out, v);
}

void thrift_field_i64(struct thrift_writer *w, int16_t id, int64_t v)
{
    field(w, id, THRIFT_I64);
    buf_put_zigzag(w->out, v);
}

void thrift_field_binary(struct thrift_writer *w, int16_t id, struct slice v)
{
    field(w, id, THRIFT_BINARY);
    thrift_item_binary(w, v);
}

void thrift_field_list(struct thrift_writer *w, int16_t id, enum thrift_type item, uint32_t count)
{
    field(w, id, THRIFT_LIST);
    if (count < 15) {
        buf_put_u8(w->out, (uint8_t)(count << 4 | item));
    } else {
        buf_put_u8(w->out, (uint8_t)(0xf0 | item));
        buf_put_varint(w->out, count);
    }
}

void thrift_item_i32(struct thrift_writer *w, int32_t v)
{
    buf_put_zigzag(w->out, v);
}

void thrift_item_binary(struct thrift_writer *w, struct slice v)
{
    buf_put_varint(w->out, v.len);
    buf_put_slice(w->out, v);
}

bool thrift_next(struct reader *r, struct thrift_field *f)
{
    uint8_t head = reader_u8(r);
    f->type = head & 15;
    if (!reader_ok(r) || f->type == THRIFT_STOP)
        return false;
    int64_t id = head >> 4 ? f->id + (head >> 4) : reader_zigzag(r);
    if (id < 0 || id > INT16_MAX || f->type > THRIFT_STRUCT)
        reader_fail(r);
    f->id = (int16_t)id;
    return reader_ok(r);
}

static bool is(struct reader *r, const struct thrift_field *f, enum thrift_type type)
{
    if (f->type != (uint8_t)type)
        reader_fail(r);
    return reader_ok(r);
}

bool thrift_bool(struct reader *r, const struct thrift_field *f)
{
    return f->type == THRIFT_TRUE || (is(r, f, THRIFT_FALSE) && false);
}

int64_t thrift_i64(struct reader *r, const struct thrift_field *f)
{
    return is(r, f, THRIFT_I64) ? reader_zigzag(r) : 0;
}

int32_t thrift_i32(struct reader *r, const struct thrift_field *f)
{
    int64_t v = is(r, f, THRIFT_I32) ? reader_zigzag(r) : 0;
    if (v < INT32_MIN || v > INT32_MAX)
        reader_fail(r);
    return reader_ok(r) ? (int32_t)v : 0;
}

struct slice thrift_item(struct reader *r)
{
    return reader_slice(r, reader_varint32(r));
}

struct slice thrift_binary(struct reader *r, const struct thrift_field *f)
{
    return is(r, f, THRIFT_BINARY) ? thrift_item(r) : (struct slice){0};
}

static uint32_t list_head(struct reader *r, uint8_t *item)
{
    uint8_t head = reader_u8(r);
    uint32_t count = head >> 4 == 15 ? reader_varint32(r) : head >> 4;
    *item = head & 15;
    if (count > reader_left(r))
        reader_fail(r);
    return reader_ok(r) ? count : 0;
}

uint32_t thrift_list(struct reader *r, const struct thrift_field *f, enum thrift_type item)
{
    uint8_t type = 0;
    uint32_t count = is(r, f, THRIFT_LIST) ? list_head(r, &type) : 0;
    if (count && type != item)
        reader_fail(r);
    return reader_ok(r) ? count : 0;
}

bool thrift_is_struct(struct reader *r, const struct thrift_field *f)
{
    return is(r, f, THRIFT_STRUCT);
}

static void skip(struct reader *r, uint8_t type, bool in_list, unsigned depth);

static void skip_struct(struct reader *r, unsigned depth)
{
    struct thrift_field f = {0};
    while (thrift_next(r, &f))
        skip(r, f.type, false, depth);
}

static void skip_map(struct reader *r, unsigned depth)
{
    uint32_t count = reader_varint32(r);
    uint8_t types = count ? reader_u8(r) : 0;
    if (count > reader_left(r))
        reader_fail(r);
    for (; count && reader_ok(r); count--) {
        skip(r, types >> 4, true, depth);
        skip(r, types & 15, true, depth);
    }
}

static void skip_list(struct reader *r, unsigned depth)
{
    uint8_t item;
    for (uint32_t count = list_head(r, &item); count && reader_ok(r); count--)
        skip(r, item, true, depth);
}

static void skip(struct reader *r, uint8_t type, bool in_list, unsigned depth)
{
    if (depth > THRIFT_DEPTH_MAX) {
        reader_fail(r);
        return;
    }
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        if (in_list)
            reader_u8(r);
        return;
    case THRIFT_BYTE:
        reader_u8(r);
        return;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        reader_zigzag(r);
        return;
    case THRIFT_DOUBLE:
        reader_u64(r);
        return;
    case THRIFT_BINARY:
        thrift_item(r);
        return;
    case THRIFT_LIST:
    case THRIFT_SET:
        skip_list(r, depth + 1);
        return;
    case THRIFT_MAP:
        skip_map(r, depth + 1);
        return;
    case THRIFT_STRUCT:
        skip_struct(r, depth + 1);
        return;
    default:
        reader_fail(r);
    }
}

void thrift_skip(struct reader *r, const struct thrift_field *f)
{
    skip(r, f->type, false, 0);
}
