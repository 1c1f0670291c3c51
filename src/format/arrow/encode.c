#include "format/arrow/head_int.h"
#include "format/arrow/message_int.h"

#define BUFFER_ALIGN 8

struct encoder {
    struct arrow_codec *codec;
    struct arrow_options options;
    struct arrow_head head;
    struct buf bits; /* scratch */
};

static void put_buffer(struct encoder *e, struct slice raw)
{
    struct buf *out = e->head.out;
    size_t start = out->len;
    if (e->options.compression == ARROW_NONE)
        buf_put_slice(out, raw);
    else
        arrow_compress(e->codec, e->options, raw, out);
    arrow_head_buffer(&e->head, start - e->head.body_start, out->len - start);
    buf_align(out, e->head.body_start, BUFFER_ALIGN);
}

/* Bits behind the last value may be anything in a view; they are written as zeros. NULL stands for all ones. */
static void put_bits(struct encoder *e, const uint8_t *bits, uint32_t length)
{
    buf_reset(&e->bits);
    size_t len = ((size_t)length + 7) / 8;
    uint8_t *copy = buf_extend(&e->bits, len);
    if (len && bits)
        memcpy(copy, bits, len);
    else if (len)
        memset(copy, 0xff, len);
    if (length & 7)
        copy[len - 1] &= (uint8_t)((1u << (length & 7)) - 1);
    put_buffer(e, buf_view(&e->bits));
}

/* Gives the end of the last value's bytes. */
static size_t put_offsets(struct encoder *e, const struct column *c)
{
    put_buffer(e, slice_of(c->offsets, 4 * ((size_t)c->length + 1)));
    return load_u32(c->offsets + 4 * (size_t)c->length);
}

static void put_children(struct encoder *e, const struct column *c);

static void put_column(struct encoder *e, const struct column *c)
{
    arrow_head_node(&e->head, c->length, c->null_count);
    put_bits(e, c->validity, c->length);
    switch (c->type->kind) {
    case TYPE_BOOLEAN:
        put_bits(e, c->data, c->length);
        return;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BYTES: {
        size_t end = put_offsets(e, c);
        put_buffer(e, slice_of(c->data, end));
        return;
    }
    case TYPE_ARRAY:
        put_offsets(e, c);
        put_children(e, c);
        return;
    case TYPE_MAP:
        put_offsets(e, c);
        arrow_head_node(&e->head, c->children[0].length, 0);
        put_bits(e, NULL, c->children[0].length);
        put_children(e, c);
        return;
    case TYPE_ROW:
        put_children(e, c);
        return;
    default:
        put_buffer(e, slice_of(c->data, c->length * column_width(c->type)));
        return;
    }
}

static void put_children(struct encoder *e, const struct column *c)
{
    for (uint32_t f = 0; f < c->type->field_count; f++)
        put_column(e, &c->children[f]);
}

void arrow_encode(struct arrow_codec *codec, struct arrow_options options, const struct column *columns,
                  uint32_t column_count, uint32_t row_count, struct buf *out)
{
    size_t nodes = 0, buffers = 0;
    for (uint32_t i = 0; i < column_count; i++)
        arrow_type_count(columns[i].type, &nodes, &buffers);
    struct encoder e = {.codec = codec, .options = options};
    e.head = arrow_head_start(out, options.compression, row_count, nodes, buffers);
    for (uint32_t i = 0; i < column_count; i++) {
        ASSERT(columns[i].length == row_count);
        put_column(&e, &columns[i]);
    }
    arrow_head_finish(&e.head, out->len - e.head.body_start);
    buf_deinit(&e.bits);
}
