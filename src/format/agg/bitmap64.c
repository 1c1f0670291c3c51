/* Roaring bitmaps of 64 bits, as Java's Roaring64Bitmap writes them: a tree over the 48 high bits, then the chunks.
 * Little-endian but for the key of a leaf:
 *
 *   u8   0: empty, and nothing more; 1: not empty
 *   u64  leaves
 *   nodes, each before its children, those by rising byte:
 *     u8 kind, u16 children (0 for a leaf), u8 length of the prefix, prefix, then
 *       0: u32, 4 bytes of the children, the first the highest     2: 32 x u64, one byte a value: child number or 255,
 *       1: 2 x u64, 16 bytes likewise                                 the first value's the highest
 *       4: leaf: 6 bytes of key, u64 number of its chunk           3: 4 x u64, one bit a value
 *   u32  arrays of chunks: 1
 *     u8 0xfe, u32 places, then for each place u8 0, or u8 1, u8 form, u32 count, the chunk
 *   u64  chunks, u32 number of the last array, u32 the last place in use
 *
 * A leaf holds its whole key, so a reader has no need of what the inner nodes say. Golden: bitmaps.jsonl rbm64/... */
#include "base/reader.h"
#include "format/agg/agg_int.h"

#include <stdlib.h>

enum node_kind { NODE_4, NODE_16, NODE_48, NODE_256, NODE_LEAF, NODE_KIND_COUNT };

static const uint16_t node_width[] = {[NODE_4] = 4, [NODE_16] = 16, [NODE_48] = 48, [NODE_256] = 256};
static const uint16_t node_body[] = {[NODE_4] = 4, [NODE_16] = 16, [NODE_48] = 256, [NODE_256] = 32, [NODE_LEAF] = 14};

#define KEY_BYTES 6
#define LEAF_BYTES 18u
#define ARRAY_MARK 0xfe

struct leaf {
    uint64_t place; /* of its chunk */
    uint32_t at;    /* which leaf, by key */
};

struct leaves {
    struct chunks *chunks; /* high is set, the rest comes later */
    struct leaf *items;
    uint32_t count, found;
};

/* ---- reading ---- */

static bool leaf_read(struct reader *r, struct leaves *leaves)
{
    uint64_t key = 0;
    for (int i = 0; i < KEY_BYTES; i++)
        key = key << 8 | reader_u8(r);
    uint64_t place = reader_u64(r);
    uint32_t at = leaves->found;
    if (!reader_ok(r) || at == leaves->count || (at > 0 && key <= leaves->chunks->items[at - 1].high))
        return false;
    leaves->chunks->items[at].high = key;
    leaves->items[at] = (struct leaf){place, at};
    leaves->found++;
    return true;
}

/* Nodes are counted, not nested: each is one less to come and its children more. */
static bool tree_read(struct reader *r, struct leaves *leaves)
{
    for (uint64_t to_come = 1; to_come > 0; to_come--) {
        uint8_t kind = reader_u8(r);
        uint16_t children = reader_u16(r);
        uint8_t prefix = reader_u8(r);
        reader_take(r, prefix);
        if (!reader_ok(r) || kind >= NODE_KIND_COUNT || prefix > KEY_BYTES)
            return false;
        if (kind == NODE_LEAF) {
            if (!leaf_read(r, leaves))
                return false;
            continue;
        }
        reader_take(r, node_body[kind]);
        if (!reader_ok(r) || children == 0 || children > node_width[kind])
            return false;
        to_come += children;
    }
    return leaves->found == leaves->count;
}

static int by_place(const void *a, const void *b)
{
    const struct leaf *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Places are read one after the other; which leaf asks for each, the sorted leaves say. A chunk that no leaf asks for
 * is passed over, as Java does. */
static bool places_read(struct reader *r, struct leaves *leaves)
{
    uint32_t arrays = reader_u32(r), mark = reader_u8(r), places = reader_u32(r), next = 0;
    qsort(leaves->items, leaves->count, sizeof *leaves->items, by_place);
    for (uint64_t place = 0; place < places && reader_ok(r); place++) {
        uint8_t there = reader_u8(r);
        if (there > 1)
            return false;
        if (there == 0)
            continue;
        struct chunk chunk = {.form = reader_u8(r), .count = reader_u32(r)};
        if (chunk.form > CHUNK_ARRAY || !chunk_read(r, &chunk))
            return false;
        if (next == leaves->count || leaves->items[next].place != place)
            continue;
        struct chunk *wanted = &leaves->chunks->items[leaves->items[next++].at];
        chunk.high = wanted->high;
        *wanted = chunk;
    }
    reader_take(r, 16);
    return reader_ok(r) && arrays == 1 && mark == ARRAY_MARK && next == leaves->count;
}

bool bitmap64_read(struct slice bytes, struct arena *arena, struct chunks *chunks)
{
    struct reader r = reader_of(bytes);
    uint8_t tag = reader_u8(&r);
    *chunks = (struct chunks){0};
    if (tag == 0)
        return reader_ok(&r);
    uint64_t count = reader_u64(&r);
    if (tag != 1 || count == 0 || count > reader_left(&r) / LEAF_BYTES)
        return false;
    *chunks = (struct chunks){ARENA_NEW_ARRAY(arena, struct chunk, count), (uint32_t)count};
    struct leaves leaves = {chunks, ARENA_NEW_ARRAY(arena, struct leaf, count), (uint32_t)count, 0};
    return tree_read(&r, &leaves) && places_read(&r, &leaves);
}

/* ---- writing ---- */

static uint8_t key_byte(const struct chunk *chunk, uint32_t at)
{
    return (uint8_t)(chunk->high >> 8 * (KEY_BYTES - 1 - at));
}

/* Behind the run of chunks from i on that agree in byte `at`. */
static uint32_t child_end(const struct chunks *chunks, uint32_t i, uint32_t end, uint32_t at)
{
    uint8_t byte = key_byte(&chunks->items[i], at);
    while (i < end && key_byte(&chunks->items[i], at) == byte)
        i++;
    return i;
}

static void node_put_header(struct buf *out, enum node_kind kind, uint32_t children, const struct chunk *first,
                            uint32_t depth, uint32_t prefix)
{
    buf_put_u8(out, (uint8_t)kind);
    buf_put_u16(out, (uint16_t)children);
    buf_put_u8(out, (uint8_t)prefix);
    for (uint32_t i = 0; i < prefix; i++)
        buf_put_u8(out, key_byte(first, depth + i));
}

static void leaf_put(struct buf *out, const struct chunk *chunk, uint32_t place)
{
    node_put_header(out, NODE_LEAF, 0, chunk, 0, 0);
    for (uint32_t i = 0; i < KEY_BYTES; i++)
        buf_put_u8(out, key_byte(chunk, i));
    buf_put_u64(out, place);
}

static void child_mark(uint8_t *body, enum node_kind kind, uint8_t byte, uint32_t child)
{
    if (kind == NODE_4)
        body[3 - child] = byte;
    else if (kind == NODE_16)
        body[child / 8 * 8 + 7 - child % 8] = byte;
    else if (kind == NODE_48)
        body[byte / 8 * 8 + 7 - byte % 8] = (uint8_t)child;
    else
        body[byte / 8] |= (uint8_t)(1u << byte % 8);
}

/* The tree of chunks [from, end), which agree in their first `depth` bytes. No deeper than the key is long. */
static void tree_put(struct buf *out, const struct chunks *chunks, uint32_t from, uint32_t end, uint32_t depth)
{
    const struct chunk *first = &chunks->items[from], *last = &chunks->items[end - 1];
    uint32_t at = depth, children = 0;
    if (end - from == 1) {
        leaf_put(out, first, from);
        return;
    }
    while (key_byte(first, at) == key_byte(last, at))
        at++;
    for (uint32_t i = from; i < end; i = child_end(chunks, i, end, at))
        children++;
    enum node_kind kind = NODE_4;
    while (children > node_width[kind])
        kind++;
    node_put_header(out, kind, children, first, depth, at - depth);
    uint8_t body[256];
    uint32_t child = 0;
    memset(body, kind == NODE_48 ? 0xff : 0, sizeof body);
    for (uint32_t i = from; i < end; i = child_end(chunks, i, end, at))
        child_mark(body, kind, key_byte(&chunks->items[i], at), child++);
    buf_put(out, body, node_body[kind]);
    for (uint32_t i = from, next; i < end; i = next) {
        next = child_end(chunks, i, end, at);
        tree_put(out, chunks, i, next, at + 1);
    }
}

void bitmap64_write(const struct chunks *chunks, struct buf *out)
{
    buf_put_u8(out, chunks->count > 0);
    if (chunks->count == 0)
        return;
    buf_put_u64(out, chunks->count);
    tree_put(out, chunks, 0, chunks->count, 0);
    buf_put_u32(out, 1);
    buf_put_u8(out, ARRAY_MARK);
    buf_put_u32(out, chunks->count);
    for (uint32_t i = 0; i < chunks->count; i++) {
        const struct chunk *chunk = &chunks->items[i];
        buf_put_u8(out, 1);
        buf_put_u8(out, (uint8_t)chunk->form);
        buf_put_u32(out, chunk->count);
        buf_put_slice(out, chunk->bytes);
    }
    buf_put_u64(out, chunks->count);
    buf_put_u32(out, 0);
    buf_put_u32(out, chunks->count - 1);
}
