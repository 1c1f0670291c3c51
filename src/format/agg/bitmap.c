/* rbm32 and rbm64: unions of serialized Roaring bitmaps.
 *
 * Of our own, since the 64-bit form is Java's alone (its Roaring64Bitmap; libroaring's is another one), and since
 * libroaring of Debian 12 believes what it reads. Both forms keep the 16 lowest bits of their values in the same three
 * ways, so what differs is bitmap32.c and bitmap64.c. Golden: bitmaps.jsonl, by RoaringBitmap 1.3.0. */
#include "base/reader.h"
#include "format/agg/agg_int.h"

/* ---- one chunk ---- */

static bool array_check(const struct chunk *chunk)
{
    for (uint32_t i = 1; i < chunk->count; i++)
        if (load_u16(chunk->bytes.ptr + 2 * i) <= load_u16(chunk->bytes.ptr + 2 * i - 2))
            return false;
    return true;
}

static bool runs_check(struct chunk *chunk)
{
    struct reader r = reader_of(chunk->bytes);
    uint32_t next = 0, runs = reader_u16(&r);
    chunk->count = 0;
    for (uint32_t i = 0; i < runs; i++) {
        uint32_t first = reader_u16(&r), length = reader_u16(&r) + 1u;
        if (first < next || first + length > CHUNK_VALUES)
            return false;
        next = first + length;
        chunk->count += length;
    }
    return runs > 0;
}

static uint32_t bits_count(const uint8_t *bits)
{
    uint32_t count = 0;
    for (size_t i = 0; i < CHUNK_BITS_BYTES; i += 8)
        count += (uint32_t)__builtin_popcountll(load_u64(bits + i));
    return count;
}

static uint32_t run_count_ahead(const struct reader *r)
{
    struct reader ahead = *r;
    return reader_u16(&ahead);
}

bool chunk_read(struct reader *r, struct chunk *chunk)
{
    if (chunk->form == CHUNK_RUNS) {
        chunk->bytes = reader_slice(r, 2 + 4 * (size_t)run_count_ahead(r));
        return reader_ok(r) && runs_check(chunk);
    }
    if (chunk->count == 0 || chunk->count > CHUNK_VALUES)
        return false;
    if (chunk->form == CHUNK_ARRAY) {
        chunk->bytes = reader_slice(r, 2 * (size_t)chunk->count);
        return reader_ok(r) && array_check(chunk);
    }
    chunk->bytes = reader_slice(r, CHUNK_BITS_BYTES);
    return reader_ok(r) && bits_count(chunk->bytes.ptr) == chunk->count;
}

static void bits_set(uint8_t *bits, uint32_t from, uint32_t end)
{
    for (; from < end && from % 8; from++)
        bits[from / 8] |= (uint8_t)(1u << from % 8);
    for (; from + 8 <= end; from += 8)
        bits[from / 8] = 0xff;
    for (; from < end; from++)
        bits[from / 8] |= (uint8_t)(1u << from % 8);
}

static void chunk_add_to(const struct chunk *chunk, uint8_t *bits)
{
    struct reader r = reader_of(chunk->bytes);
    if (chunk->form == CHUNK_RUNS) {
        for (uint32_t runs = reader_u16(&r); runs-- > 0;) {
            uint32_t first = reader_u16(&r), last = first + reader_u16(&r);
            bits_set(bits, first, last + 1);
        }
    } else if (chunk->form == CHUNK_ARRAY) {
        for (uint32_t i = 0; i < chunk->count; i++) {
            uint16_t v = reader_u16(&r);
            bits[v / 8] |= (uint8_t)(1u << v % 8);
        }
    } else {
        for (size_t i = 0; i < CHUNK_BITS_BYTES; i += 8)
            store_u64(bits + i, load_u64(bits + i) | load_u64(chunk->bytes.ptr + i));
    }
}

/* ---- the smallest of the three forms ---- */

static bool bit_at(const uint8_t *bits, uint32_t v)
{
    return v < CHUNK_VALUES && bits[v / 8] >> v % 8 & 1;
}

/* The first value from v on that is, or is not, in the set; CHUNK_VALUES: none. */
static uint32_t bits_next(const uint8_t *bits, uint32_t v, bool in)
{
    const uint8_t dull = in ? 0 : 0xff;
    while (v < CHUNK_VALUES && bit_at(bits, v) != in)
        v += v % 8 == 0 && bits[v / 8] == dull ? 8 : 1;
    return v;
}

static uint32_t bits_runs(const uint8_t *bits)
{
    uint32_t runs = 0;
    uint64_t before = 0; /* the highest bit of the word before, as the lowest */
    for (size_t i = 0; i < CHUNK_BITS_BYTES; i += 8) {
        uint64_t word = load_u64(bits + i);
        runs += (uint32_t)__builtin_popcountll(word & ~(word << 1 | before));
        before = word >> 63;
    }
    return runs;
}

static void runs_put(const uint8_t *bits, uint32_t runs, struct buf *out)
{
    buf_put_u16(out, (uint16_t)runs);
    for (uint32_t v = bits_next(bits, 0, true); v < CHUNK_VALUES;) {
        uint32_t end = bits_next(bits, v, false);
        buf_put_u16(out, (uint16_t)v);
        buf_put_u16(out, (uint16_t)(end - v - 1));
        v = bits_next(bits, end, true);
    }
}

static void array_put(const uint8_t *bits, struct buf *out)
{
    for (uint32_t v = bits_next(bits, 0, true); v < CHUNK_VALUES; v = bits_next(bits, v + 1, true))
        buf_put_u16(out, (uint16_t)v);
}

/* had_runs: of forms that are equally small Java keeps the runs that it had, and makes none anew. */
static void chunk_make(struct chunk *chunk, const uint8_t *bits, bool had_runs, struct arena *arena)
{
    struct buf bytes = {0};
    chunk->count = bits_count(bits);
    uint32_t runs = bits_runs(bits), as_runs = 2 + 4 * runs;
    uint32_t as_array = chunk->count > CHUNK_ARRAY_MAX ? UINT32_MAX : 2 * chunk->count;
    if (had_runs ? as_runs <= MIN(as_array, CHUNK_BITS_BYTES - 2) + 2 : as_runs < MIN(as_array, CHUNK_BITS_BYTES)) {
        chunk->form = CHUNK_RUNS;
        runs_put(bits, runs, &bytes);
    } else if (chunk->count <= CHUNK_ARRAY_MAX) {
        chunk->form = CHUNK_ARRAY;
        array_put(bits, &bytes);
    } else {
        chunk->form = CHUNK_BITS;
        buf_put(&bytes, bits, CHUNK_BITS_BYTES);
    }
    chunk->bytes = arena_dup(arena, buf_view(&bytes));
    buf_deinit(&bytes);
}

/* ---- unions ---- */

static struct chunk chunk_union(const struct chunk *a, const struct chunk *b, struct arena *arena)
{
    uint8_t bits[CHUNK_BITS_BYTES] = {0};
    struct chunk out = {.high = a->high};
    chunk_add_to(a, bits);
    chunk_add_to(b, bits);
    chunk_make(&out, bits, a->form == CHUNK_RUNS || b->form == CHUNK_RUNS, arena);
    return out;
}

/* Chunks that one side alone has stay as they are. */
static struct chunks chunks_union(const struct chunks *a, const struct chunks *b, struct arena *arena)
{
    struct chunks out = {.items = ARENA_NEW_ARRAY(arena, struct chunk, (size_t)a->count + b->count)};
    for (uint32_t i = 0, k = 0; i < a->count || k < b->count;) {
        bool from_a = k == b->count || (i < a->count && a->items[i].high <= b->items[k].high);
        bool from_b = i == a->count || (k < b->count && b->items[k].high <= a->items[i].high);
        struct chunk *chunk = &out.items[out.count++];
        if (from_a && from_b)
            *chunk = chunk_union(&a->items[i], &b->items[k], arena);
        else
            *chunk = from_a ? a->items[i] : b->items[k];
        i += from_a;
        k += from_b;
    }
    return out;
}

static enum err_code unreadable(const char *function, struct err *err)
{
    return err_set(err, ERR_INVALID_ARGUMENT, "%s: a value is no serialized bitmap", function);
}

static enum err_code bitmap_of(struct buf *bytes, struct arena *arena, struct datum *out, struct err *err)
{
    enum err_code code = OK;
    if (bytes->len > AGG_BITMAP_BYTES_MAX)
        code = err_set(err, ERR_RECORD_TOO_LARGE_EXCEPTION, "an aggregated bitmap of %zu bytes: %u are possible",
                       bytes->len, AGG_BITMAP_BYTES_MAX);
    else
        *out = (struct datum){.bytes = arena_dup(arena, buf_view(bytes))};
    buf_deinit(bytes);
    return code;
}

enum err_code agg_union32(const struct agg_call *call, struct datum *out, struct err *err)
{
    struct chunks a, b;
    struct buf bytes = {0};
    if (!bitmap32_read(call->acc->bytes, call->arena, &a) || !bitmap32_read(call->input->bytes, call->arena, &b))
        return unreadable("rbm32", err);
    struct chunks both = chunks_union(&a, &b, call->arena);
    bitmap32_write(&both, &bytes);
    return bitmap_of(&bytes, call->arena, out, err);
}

enum err_code agg_union64(const struct agg_call *call, struct datum *out, struct err *err)
{
    struct chunks a, b;
    struct buf bytes = {0};
    if (!bitmap64_read(call->acc->bytes, call->arena, &a) || !bitmap64_read(call->input->bytes, call->arena, &b))
        return unreadable("rbm64", err);
    struct chunks both = chunks_union(&a, &b, call->arena);
    bitmap64_write(&both, &bytes);
    return bitmap_of(&bytes, call->arena, out, err);
}
