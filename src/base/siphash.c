/* SipHash-2-4 with a result of 16 bytes, as its authors and OpenSSL have it. */
#include "base/buf.h"
#include "base/hash.h"

struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void sip_rounds(struct sip *s, unsigned count)
{
    for (; count; count--) {
        s->v0 += s->v1;
        s->v2 += s->v3;
        s->v1 = rotate(s->v1, 13) ^ s->v0;
        s->v3 = rotate(s->v3, 16) ^ s->v2;
        s->v0 = rotate(s->v0, 32);
        s->v2 += s->v1;
        s->v0 += s->v3;
        s->v1 = rotate(s->v1, 17) ^ s->v2;
        s->v3 = rotate(s->v3, 21) ^ s->v0;
        s->v2 = rotate(s->v2, 32);
    }
}

static void sip_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    sip_rounds(s, 2);
    s->v0 ^= word;
}

static uint64_t sip_half(struct sip *s)
{
    sip_rounds(s, 4);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

unsigned __int128 hash128(uint64_t key0, uint64_t key1, struct slice bytes)
{
    struct sip s = {key0 ^ 0x736f6d6570736575u, key1 ^ 0x646f72616e646f6du ^ 0xee, key0 ^ 0x6c7967656e657261u,
                    key1 ^ 0x7465646279746573u};
    size_t i = 0;
    for (; i + 8 <= bytes.len; i += 8)
        sip_word(&s, load_u64(bytes.ptr + i));
    uint64_t last = (uint64_t)bytes.len << 56;
    for (size_t k = i; k < bytes.len; k++)
        last |= (uint64_t)bytes.ptr[k] << (8 * (k - i));
    sip_word(&s, last);
    s.v2 ^= 0xee;
    uint64_t low = sip_half(&s);
    s.v1 ^= 0xdd;
    return (unsigned __int128)sip_half(&s) << 64 | low;
}
