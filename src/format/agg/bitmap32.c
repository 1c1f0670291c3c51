/* Roaring bitmaps of 32 bits, in the portable form that all their libraries read, little-endian:
 *
 *   u32  12346, then u32 n; or with RUNS among the chunks 12347 | (n - 1) << 16, then bits, one a chunk: it is RUNS
 *   n x  u16 high, u16 count - 1
 *   n x  u32 place of the chunk, from the beginning on; left out with RUNS among fewer than 4
 *   n x  the chunk: RUNS by its bit, else ARRAY up to 4096 values, BITS above
 *
 * Golden: bitmaps.jsonl rbm32/... */
#include "base/reader.h"
#include "format/agg/agg_int.h"

#define COOKIE 12346u
#define COOKIE_RUNS 12347u
#define CHUNKS_MAX 65536u
#define PLACES_FROM 4u

static bool header_read(struct reader *r, uint32_t *count, struct slice *run_bits)
{
    uint32_t cookie = reader_u32(r);
    *run_bits = (struct slice){0};
    if ((cookie & 0xffff) == COOKIE_RUNS) {
        *count = (cookie >> 16) + 1;
        *run_bits = reader_slice(r, (*count + 7) / 8);
        return reader_ok(r);
    }
    *count = reader_u32(r);
    return reader_ok(r) && cookie == COOKIE && *count <= CHUNKS_MAX;
}

static void form_set(struct chunk *chunk, struct slice run_bits, uint32_t i)
{
    chunk->form = chunk->count <= CHUNK_ARRAY_MAX ? CHUNK_ARRAY : CHUNK_BITS;
    if (run_bits.ptr && run_bits.ptr[i / 8] >> i % 8 & 1)
        chunk->form = CHUNK_RUNS;
}

bool bitmap32_read(struct slice bytes, struct arena *arena, struct chunks *chunks)
{
    struct reader r = reader_of(bytes);
    struct slice run_bits;
    uint32_t count;
    if (!header_read(&r, &count, &run_bits) || reader_left(&r) < 4 * (size_t)count)
        return false;
    *chunks = (struct chunks){ARENA_NEW_ARRAY(arena, struct chunk, count), count};
    for (uint32_t i = 0; i < count; i++) {
        struct chunk *chunk = &chunks->items[i];
        chunk->high = reader_u16(&r);
        chunk->count = reader_u16(&r) + 1u;
        form_set(chunk, run_bits, i);
        if (i > 0 && chunk->high <= chunk[-1].high)
            return false;
    }
    if (!run_bits.ptr || count >= PLACES_FROM)
        reader_take(&r, 4 * (size_t)count);
    for (uint32_t i = 0; i < count; i++)
        if (!chunk_read(&r, &chunks->items[i]))
            return false;
    return reader_ok(&r);
}

static bool run_bits_put(const struct chunks *chunks, struct buf *out)
{
    bool any = false;
    for (uint32_t i = 0; i < chunks->count; i++)
        any |= chunks->items[i].form == CHUNK_RUNS;
    if (!any) {
        buf_put_u32(out, COOKIE);
        buf_put_u32(out, chunks->count);
        return false;
    }
    buf_put_u32(out, COOKIE_RUNS | (chunks->count - 1) << 16);
    uint32_t from = (uint32_t)out->len;
    buf_put_zeros(out, (chunks->count + 7) / 8);
    for (uint32_t i = 0; i < chunks->count; i++)
        if (chunks->items[i].form == CHUNK_RUNS)
            out->ptr[from + i / 8] |= (uint8_t)(1u << i % 8);
    return true;
}

/* Chunks are of the forms that their counts ask for: they came from bitmap32_read() or are the smallest ones. */
void bitmap32_write(const struct chunks *chunks, struct buf *out)
{
    bool runs = run_bits_put(chunks, out);
    bool places = !runs || chunks->count >= PLACES_FROM;
    for (uint32_t i = 0; i < chunks->count; i++) {
        buf_put_u16(out, (uint16_t)chunks->items[i].high);
        buf_put_u16(out, (uint16_t)(chunks->items[i].count - 1));
    }
    size_t place = out->len + (places ? 4 * (size_t)chunks->count : 0);
    for (uint32_t i = 0; i < chunks->count && places; i++) {
        buf_put_u32(out, (uint32_t)place);
        place += chunks->items[i].bytes.len;
    }
    for (uint32_t i = 0; i < chunks->count; i++)
        buf_put_slice(out, chunks->items[i].bytes);
}
