/* The distinct values of a column chunk. Growing past DICTIONARY_BYTES_MAX or DICTIONARY_VALUES_MAX gives up: then
 * PLAIN and zstd do as well, and a reader has to hold less. */
#include "base/hash.h"
#include "format/parquet/parquet_int.h"

#define DICTIONARY_BYTES_MAX (1u << 20)
#define DICTIONARY_VALUES_MAX (1u << 16)
#define DICTIONARY_SLOTS_FIRST 256

void parquet_dictionary_deinit(struct parquet_dictionary *d)
{
    buf_deinit(&d->plain);
    vec_deinit(&d->offsets);
    mem_free(d->slots);
    d->slots = NULL;
    d->slot_count = 0;
}

void parquet_dictionary_reset(struct parquet_dictionary *d)
{
    buf_reset(&d->plain);
    vec_reset(&d->offsets);
    if (d->slots)
        memset(d->slots, 0, d->slot_count * sizeof *d->slots);
}

static uint64_t hash_of(struct slice v)
{
    uint64_t h;
    if (v.len == 8)
        h = load_u64(v.ptr);
    else if (v.len == 4)
        h = load_u32(v.ptr);
    else
        return hash64(v);
    h *= 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static struct slice value_at(const struct parquet_dictionary *d, uint32_t i)
{
    uint32_t end = i + 1 < d->offsets.len ? d->offsets.ptr[i + 1] : (uint32_t)d->plain.len;
    return slice_of(d->plain.ptr + d->offsets.ptr[i], end - d->offsets.ptr[i]);
}

static void grow(struct parquet_dictionary *d)
{
    d->slot_count = d->slot_count ? d->slot_count * 2 : DICTIONARY_SLOTS_FIRST;
    mem_free(d->slots);
    d->slots = mem_zalloc(d->slot_count * sizeof *d->slots);
    for (uint32_t i = 0; i < d->offsets.len; i++) {
        uint64_t slot = hash_of(value_at(d, i)) & (d->slot_count - 1);
        while (d->slots[slot])
            slot = (slot + 1) & (d->slot_count - 1);
        d->slots[slot] = i + 1;
    }
}

/* v is the whole PLAIN value, the length before bytes included. */
static uint32_t number_of(struct parquet_dictionary *d, struct slice v)
{
    if (d->offsets.len * 2 >= d->slot_count)
        grow(d);
    uint64_t slot = hash_of(v) & (d->slot_count - 1);
    for (; d->slots[slot]; slot = (slot + 1) & (d->slot_count - 1))
        if (slice_equal(value_at(d, d->slots[slot] - 1), v))
            return d->slots[slot] - 1;
    vec_push(&d->offsets, (uint32_t)d->plain.len);
    buf_put_slice(&d->plain, v);
    d->slots[slot] = (uint32_t)d->offsets.len;
    return (uint32_t)d->offsets.len - 1;
}

bool parquet_dictionary_add(struct parquet_dictionary *d, uint32_t width, struct slice plain, uint32_t count,
                            uint32_t *indices)
{
    const uint8_t *p = plain.ptr;
    for (uint32_t i = 0; i < count; i++) {
        size_t len = width ? width : 4 + (size_t)load_u32(p);
        indices[i] = number_of(d, slice_of(p, len));
        if (d->plain.len > DICTIONARY_BYTES_MAX || d->offsets.len > DICTIONARY_VALUES_MAX)
            return false;
        p += len;
    }
    return true;
}
