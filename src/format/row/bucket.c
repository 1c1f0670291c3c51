/* Which bucket a key belongs to: each lake format has a function of its own, so that its readers can prune by it.
 * Golden: keys.jsonl hash/..., and the buckets of every key. */
#include "base/reader.h"
#include "format/row/row.h"

static uint32_t rotl(uint32_t v, unsigned bits)
{
    return v << bits | v >> (32 - bits);
}

static uint32_t mix_word(uint32_t k)
{
    return rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u;
}

static uint32_t mix_hash(uint32_t h, uint32_t k)
{
    return rotl(h ^ k, 13) * 5 + 0xe6546b64u;
}

static uint32_t finish(uint32_t h)
{
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

/* Murmur3 but for the tail: Java's version mixes each leftover byte, sign extended, as a word of its own. */
int32_t murmur_fluss(struct slice bytes)
{
    struct reader r = reader_of(bytes);
    uint32_t h = 42;
    while (reader_left(&r) >= 4)
        h = mix_hash(h, mix_word(reader_u32(&r)));
    while (reader_left(&r) > 0)
        h = mix_hash(h, mix_word((uint32_t)(int32_t)(int8_t)reader_u8(&r)));
    return (int32_t)finish(h ^ (uint32_t)bytes.len);
}

/* Murmur3_x86_32 as it was published, seed 0. */
static uint32_t murmur_iceberg(struct slice bytes)
{
    struct reader r = reader_of(bytes);
    uint32_t h = 0, tail = 0;
    while (reader_left(&r) >= 4)
        h = mix_hash(h, mix_word(reader_u32(&r)));
    for (unsigned shift = 0; reader_left(&r) > 0; shift += 8)
        tail |= (uint32_t)reader_u8(&r) << shift;
    h ^= mix_word(tail);
    return finish(h ^ (uint32_t)bytes.len);
}

/* Fluss mixes its hash once more, as an integer of four bytes. The result is never negative. */
static int32_t spread(int32_t code)
{
    int32_t h = (int32_t)finish(mix_hash(0, mix_word((uint32_t)code)) ^ 4);
    return h >= 0 ? h : h == INT32_MIN ? 0 : -h;
}

int32_t key_bucket(enum lake_format lake, struct slice key, int32_t bucket_count)
{
    ASSERT(bucket_count > 0);
    struct reader r = reader_of(key);
    int32_t rest;
    switch (lake) {
    case LAKE_PAIMON:
        rest = murmur_fluss(key) % bucket_count;
        return rest < 0 ? -rest : rest;
    case LAKE_ICEBERG:
        return (int32_t)(murmur_iceberg(key) & INT32_MAX) % bucket_count;
    case LAKE_HUDI:
        return (int32_t)(reader_u32_be(&r) & INT32_MAX) % bucket_count;
    default:
        return spread(murmur_fluss(key)) % bucket_count;
    }
}
