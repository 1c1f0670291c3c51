#include "base/reader.h"

static uint64_t varint(struct reader *r, unsigned bits)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < bits; shift += 7) {
        uint8_t byte = reader_u8(r);
        uint64_t part = byte & 0x7f;
        if (shift + 7 > bits && part >> (bits - shift))
            break;
        value |= part << shift;
        if (byte < 0x80)
            return value;
    }
    reader_fail(r);
    return 0;
}

uint64_t reader_varint_long(struct reader *r)
{
    return varint(r, 64);
}

uint32_t reader_varint32(struct reader *r)
{
    return (uint32_t)varint(r, 32);
}

int64_t reader_zigzag(struct reader *r)
{
    uint64_t v = varint(r, 64);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}
