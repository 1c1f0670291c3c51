/* Levels and dictionary indices: runs of one value, and groups of eight values bit-packed (Encodings.md, RLE).
 *
 *   run      varint (count << 1), the value in (width + 7) / 8 bytes LE
 *   packed   varint (groups << 1 | 1), groups * width bytes, each value's bits from the least significant up */
#include "format/parquet/parquet_int.h"

#define RUN_MIN 8 /* values alike that are worth a run of their own */

unsigned parquet_bit_width(uint32_t max)
{
    return max ? 32 - (unsigned)__builtin_clz(max) : 0;
}

static void put_run(struct buf *out, uint32_t value, size_t count, unsigned width)
{
    buf_put_varint(out, (uint64_t)count << 1);
    for (unsigned bytes = (width + 7) / 8; bytes; bytes--, value >>= 8)
        buf_put_u8(out, (uint8_t)value);
}

static void put_packed(struct buf *out, const uint32_t *values, size_t count, unsigned width)
{
    size_t groups = (count + 7) / 8;
    buf_put_varint(out, (uint64_t)groups << 1 | 1);
    uint8_t *to = buf_extend(out, groups * width);
    uint64_t bits = 0;
    unsigned bit_count = 0;
    for (size_t i = 0; i < groups * 8; i++) {
        bits |= (uint64_t)(i < count ? values[i] : 0) << bit_count;
        for (bit_count += width; bit_count >= 8; bit_count -= 8, bits >>= 8)
            *to++ = (uint8_t)bits;
    }
}

static size_t run_length(const uint32_t *values, size_t count, size_t max)
{
    size_t n = 1;
    count = MIN(count, max);
    while (n < count && values[n] == values[0])
        n++;
    return n;
}

void parquet_hybrid_put(struct buf *out, const uint32_t *values, size_t count, unsigned width)
{
    for (size_t i = 0; i < count;) {
        size_t run = run_length(values + i, count - i, SIZE_MAX);
        if (run >= RUN_MIN) {
            put_run(out, values[i], run, width);
            i += run;
            continue;
        }
        /* Whole groups, until one begins a run; only the last of all may have fewer than eight values. */
        size_t end = i;
        do
            end += MIN((size_t)8, count - end);
        while (end < count && run_length(values + end, count - end, RUN_MIN) < RUN_MIN);
        put_packed(out, values + i, end - i, width);
        i = end;
    }
}

static bool all_alike(const uint8_t *levels, size_t count)
{
    return count && memcmp(levels, levels + 1, count - 1) == 0;
}

void parquet_hybrid_put_levels(struct buf *out, const uint8_t *levels, size_t count, unsigned width)
{
    if (all_alike(levels, count)) {
        put_run(out, levels[0], count, width);
        return;
    }
    uint32_t *wide = mem_alloc(count * sizeof *wide);
    for (size_t i = 0; i < count; i++)
        wide[i] = levels[i];
    parquet_hybrid_put(out, wide, count, width);
    mem_free(wide);
}

void parquet_hybrid_init(struct parquet_hybrid *h, struct slice in, unsigned width)
{
    *h = (struct parquet_hybrid){.in = reader_of(in), .width = width};
}

static bool next_run(struct parquet_hybrid *h)
{
    uint64_t head = reader_varint(&h->in);
    if (head & 1) {
        /* The last group may be cut off behind its last value's byte: some writers do that. */
        h->packed_left = head >> 1 > UINT32_MAX ? 0 : (head >> 1) * 8;
        h->bits = 0;
        h->bit_count = 0;
        return reader_ok(&h->in) && h->packed_left;
    }
    h->run_left = head >> 1;
    h->run_value = 0;
    for (unsigned i = 0; i < (h->width + 7) / 8; i++)
        h->run_value |= (uint32_t)reader_u8(&h->in) << (8 * i);
    bool fits = h->width == 32 || h->run_value >> h->width == 0;
    return reader_ok(&h->in) && h->run_left && fits;
}

static bool get_packed(struct parquet_hybrid *h, uint32_t *out, size_t count)
{
    uint32_t mask = h->width == 32 ? UINT32_MAX : ((uint32_t)1 << h->width) - 1;
    uint64_t bits = h->bits;
    unsigned bit_count = h->bit_count;
    const uint8_t *p = h->in.ptr, *end = h->in.end;
    for (size_t i = 0; i < count; i++) {
        while (bit_count < h->width) {
            if (p == end)
                return false;
            bits |= (uint64_t)*p++ << bit_count;
            bit_count += 8;
        }
        out[i] = (uint32_t)bits & mask;
        bits >>= h->width;
        bit_count -= h->width;
    }
    h->bits = bits;
    h->bit_count = bit_count;
    h->in.ptr = p;
    return true;
}

bool parquet_hybrid_get(struct parquet_hybrid *h, uint32_t *out, size_t count)
{
    while (count) {
        if (!h->run_left && !h->packed_left && !next_run(h))
            return false;
        size_t n = MIN(count, h->run_left ? h->run_left : h->packed_left);
        if (h->run_left) {
            for (size_t i = 0; i < n; i++)
                out[i] = h->run_value;
            h->run_left -= n;
        } else {
            if (!get_packed(h, out, n))
                return false;
            h->packed_left -= n;
        }
        out += n;
        count -= n;
    }
    return true;
}

bool parquet_hybrid_get_levels(struct parquet_hybrid *h, uint8_t *out, size_t count)
{
    uint32_t part[256];
    while (count) {
        if (!h->run_left && !h->packed_left && !next_run(h))
            return false;
        size_t n;
        if (h->run_left) { /* the usual page: one run */
            n = MIN(count, h->run_left);
            memset(out, (int)h->run_value, n);
            h->run_left -= n;
        } else {
            n = MIN(MIN(count, h->packed_left), ARRAY_LEN(part));
            if (!get_packed(h, part, n))
                return false;
            h->packed_left -= n;
            for (size_t i = 0; i < n; i++)
                out[i] = (uint8_t)part[i];
        }
        out += n;
        count -= n;
    }
    return true;
}
