#include "base/hash.h"

#include "base/buf.h"

#include <isa-l/crc.h>

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    return h;
}

uint64_t hash64(struct slice s)
{
    uint64_t h = s.len * 0x9e3779b97f4a7c15u;
    size_t i = 0;
    for (; i + 8 <= s.len; i += 8)
        h = (h ^ mix(load_u64(s.ptr + i))) * 0x9fb21c651e98df25u;
    uint64_t tail = 0;
    if (i < s.len)
        memcpy(&tail, s.ptr + i, s.len - i);
    h = (h ^ mix(tail)) * 0x9fb21c651e98df25u;
    return mix(h);
}

/* ISA-L wants and gives the inverted register, and takes int lengths and a non-const pointer that it only reads. */
uint32_t crc32c(uint32_t crc, struct slice s)
{
    while (s.len) {
        size_t part = MIN(s.len, (size_t)1 << 30);
        crc = ~crc32_iscsi((unsigned char *)(uintptr_t)s.ptr, (int)part, ~crc);
        s = slice_of(s.ptr + part, s.len - part);
    }
    return crc;
}

uint32_t crc32_zip(uint32_t crc, struct slice s)
{
    return s.len ? crc32_gzip_refl(crc, s.ptr, s.len) : crc;
}
