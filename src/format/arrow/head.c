/* The metadata that weir writes is, byte for byte, what Java's flatbuffer builder makes (golden log_batches.jsonl): a
 * constant start, whose numbers are patched, then both vectors. Its length depends on codec and columns alone, as stock
 * Fluss wants of a projection (log.md 6).
 *
 *   off          size  field
 *    0           4     20: where Message is
 *    8           12    vtable of Message
 *   20           4     Message: 12 back to its vtable
 *   24           8     body length
 *   34           2     version 4 (V5)
 *   36           4     where RecordBatch is
 *   41 or 43     1     header type 3
 *   42 or 44     10/12 vtable of RecordBatch
 *   52 or 56     4     RecordBatch: back to its vtable
 *   ..           4     compression (not with NONE), 4 buffers, 4 nodes: where they are
 *   64 or 72     8     row count
 *   84 or 86           (not with NONE) vtable of BodyCompression and the table; LZ4_FRAME is its default, left out
 *   76, 92, 100  4     buffer count, then the buffers: i64 offset, i64 length
 *   ..           4     zeros
 *   ..           4     node count, then the nodes: i64 length, i64 null count */
#include "format/arrow/head_int.h"

#include "format/arrow/message_int.h"

#define BODY_LENGTH_AT 24
#define BUFFER_COUNT_BYTES 4
#define NODE_COUNT_BYTES 8 /* with the zeros before it */

static const uint8_t start_none[] = {
    0x14, 0, 0, 0, 0,    0, 0, 0, 0x0c, 0, 0x16, 0, 0x0e, 0, 0x15, 0, 0x10, 0, 0x04, 0, 0x0c, 0, 0,    0, 0,    0,
    0,    0, 0, 0, 0,    0, 0, 0, 0x04, 0, 0x10, 0, 0,    0, 0,    3, 0x0a, 0, 0x18, 0, 0x0c, 0, 0x08, 0, 0x04, 0,
    0x0a, 0, 0, 0, 0x14, 0, 0, 0, 0,    0, 0,    0, 0,    0, 0,    0, 0,    0, 0,    0, 0,    0, 0,    0};

static const uint8_t start_lz4[] = {
    0x14, 0, 0,    0, 0,    0, 0,    0, 0x0c, 0, 0x18, 0, 0x0e, 0, 0x17, 0, 0x10, 0, 0x04, 0, 0x0c, 0, 0,    0,
    0,    0, 0,    0, 0,    0, 0,    0, 0,    0, 0x04, 0, 0x14, 0, 0,    0, 0,    0, 0,    3, 0x0c, 0, 0x1c, 0,
    0x10, 0, 0x0c, 0, 0x08, 0, 0x04, 0, 0x0c, 0, 0,    0, 0x1c, 0, 0,    0, 0x1c, 0, 0,    0, 0,    0, 0,    0,
    0,    0, 0,    0, 0,    0, 0,    0, 0,    0, 0,    0, 0x04, 0, 0x04, 0, 0x04, 0, 0,    0};

static const uint8_t start_zstd[] = {
    0x14, 0, 0,    0, 0,    0, 0, 0, 0x0c, 0, 0x18, 0, 0x0e, 0, 0x17, 0, 0x10, 0, 0x04, 0, 0x0c, 0, 0,    0, 0,    0,
    0,    0, 0,    0, 0,    0, 0, 0, 0x04, 0, 0x14, 0, 0,    0, 0,    0, 0,    3, 0x0c, 0, 0x1e, 0, 0x10, 0, 0x0c, 0,
    0x08, 0, 0x04, 0, 0x0c, 0, 0, 0, 0x20, 0, 0,    0, 0x24, 0, 0,    0, 0,    0, 0,    0, 0,    0, 0,    0, 0,    0,
    0,    0, 0,    0, 0,    0, 0, 0, 0x06, 0, 0x08, 0, 0x07, 0, 0x06, 0, 0,    0, 0,    0, 0,    1};

static const struct {
    struct slice start;
    size_t nodes_at; /* the field that says where the nodes are */
    size_t rows_at;
} forms[] = {[ARROW_NONE] = {{start_none, sizeof start_none}, 60, 64},
             [ARROW_LZ4_FRAME] = {{start_lz4, sizeof start_lz4}, 68, 72},
             [ARROW_ZSTD] = {{start_zstd, sizeof start_zstd}, 68, 72}};

_Static_assert(sizeof start_none == 76 && sizeof start_lz4 == 92 && sizeof start_zstd == 100,
               "the buffers start at a multiple of 8 behind their count");

struct arrow_head arrow_head_start(struct buf *out, enum arrow_compression compression, uint32_t row_count,
                                   size_t node_count, size_t buffer_count)
{
    struct arrow_head head = {.out = out, .start = out->len};
    buf_put_u32(out, UINT32_MAX);
    buf_put_u32(out, 0);
    size_t meta = out->len;
    buf_put_slice(out, forms[compression].start);
    buf_put_u32(out, (uint32_t)buffer_count);
    head.buffer_at = out->len;
    buf_put_zeros(out, buffer_count * ARROW_PAIR_BYTES + NODE_COUNT_BYTES - 4);
    size_t node_count_at = out->len;
    buf_put_u32(out, (uint32_t)node_count);
    head.node_at = out->len;
    buf_put_zeros(out, node_count * ARROW_PAIR_BYTES);
    head.body_start = out->len;
    store_u32(out->ptr + meta - 4, (uint32_t)(out->len - meta));
    size_t nodes_field = meta + forms[compression].nodes_at;
    store_u32(out->ptr + nodes_field, (uint32_t)(node_count_at - nodes_field));
    store_u64(out->ptr + meta + forms[compression].rows_at, row_count);
    return head;
}

static void put_pair(struct buf *out, size_t *at, uint64_t first, uint64_t second)
{
    store_u64(out->ptr + *at, first);
    store_u64(out->ptr + *at + 8, second);
    *at += ARROW_PAIR_BYTES;
}

void arrow_head_node(struct arrow_head *head, uint64_t length, uint64_t null_count)
{
    ASSERT(head->node_at + ARROW_PAIR_BYTES <= head->body_start);
    put_pair(head->out, &head->node_at, length, null_count);
}

void arrow_head_buffer(struct arrow_head *head, uint64_t offset, uint64_t len)
{
    ASSERT(head->buffer_at + ARROW_PAIR_BYTES <= head->node_at);
    put_pair(head->out, &head->buffer_at, offset, len);
}

void arrow_head_finish(struct arrow_head *head, uint64_t body_len)
{
    ASSERT(head->node_at == head->body_start);
    store_u64(head->out->ptr + head->start + ARROW_PREFIX_BYTES + BODY_LENGTH_AT, body_len);
}
