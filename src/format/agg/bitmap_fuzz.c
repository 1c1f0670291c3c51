/* Any bytes as two bitmaps: refused, or a union that reads back and takes both in without new values. Its form may
 * change though: what is united again is put into the smallest, what only one side has stays in the form it had, as in
 * RoaringBitmap.
 * byte 0: 32 or 64 bits; byte 1 and 2: the length of the first; the rest is both. */
#include "base/reader.h"
#include "format/agg/agg_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expand(const struct chunk *chunk, uint8_t bits[CHUNK_BITS_BYTES])
{
    struct reader r = reader_of(chunk->bytes);
    memset(bits, 0, CHUNK_BITS_BYTES);
    if (chunk->form == CHUNK_BITS)
        memcpy(bits, chunk->bytes.ptr, CHUNK_BITS_BYTES);
    uint32_t count = chunk->form == CHUNK_ARRAY ? chunk->count : chunk->form == CHUNK_RUNS ? reader_u16(&r) : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = reader_u16(&r), last = first + (chunk->form == CHUNK_RUNS ? reader_u16(&r) : 0);
        for (uint32_t v = first; v <= last; v++)
            bits[v >> 3] |= (uint8_t)(1 << (v & 7));
    }
    ASSERT(reader_ok(&r));
}

static bool same_values(bool wide, struct slice x, struct slice y, struct arena *arena)
{
    static uint8_t x_bits[CHUNK_BITS_BYTES], y_bits[CHUNK_BITS_BYTES];
    struct chunks a, b;
    ASSERT(wide ? bitmap64_read(x, arena, &a) : bitmap32_read(x, arena, &a));
    ASSERT(wide ? bitmap64_read(y, arena, &b) : bitmap32_read(y, arena, &b));
    if (a.count != b.count)
        return false;
    for (uint32_t i = 0; i < a.count; i++) {
        expand(&a.items[i], x_bits);
        expand(&b.items[i], y_bits);
        if (a.items[i].high != b.items[i].high || memcmp(x_bits, y_bits, sizeof x_bits) != 0)
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    struct schema_column column = {.name = SLICE("v"), .type = type_simple(TYPE_BYTES)};
    size_t first = MIN(load_u16(data + 1), size - 3);
    struct datum a = {.bytes = slice_of(data + 3, first)}, b = {.bytes = slice_of(data + 3 + first, size - 3 - first)};
    struct datum both, again, last;
    struct arena arena = {0};
    struct agg agg;
    bool wide = data[0] % 2;
    column.agg_function = wide ? SLICE("rbm64") : SLICE("rbm32");
    agg_init(&agg, &column, false);
    if (agg_fold(&agg, &a, &b, &arena, &both, NULL) == OK) {
        ASSERT(agg_fold(&agg, &both, &a, &arena, &again, NULL) == OK);
        ASSERT(agg_fold(&agg, &again, &b, &arena, &last, NULL) == OK);
        ASSERT(same_values(wide, both.bytes, last.bytes, &arena));
    }
    arena_deinit(&arena);
    return 0;
}
