/* A reader walks over borrowed bytes; all parsing of bytes from outside goes through it.
 *
 * It fails once and stays failed: a read past the end gives zero (or an empty slice) and sets `failed`, and so does
 * every read after it, so that a parser may read a whole structure and look at reader_ok() once, before it believes any
 * of it. Integers are little-endian unless the name ends in _be. thread: one at a time. */
#ifndef WEIR_BASE_READER_H
#define WEIR_BASE_READER_H

#include "base/buf.h"

struct reader {
    const uint8_t *ptr;
    const uint8_t *end;
    bool failed;
};

static inline struct reader reader_of(struct slice s)
{
    return (struct reader){s.ptr, s.ptr ? s.ptr + s.len : NULL, false};
}

static inline bool reader_ok(const struct reader *r)
{
    return !r->failed;
}

static inline size_t reader_left(const struct reader *r)
{
    return r->failed ? 0 : (size_t)(r->end - r->ptr);
}

/* Nothing failed and nothing is left. */
static inline bool reader_done(const struct reader *r)
{
    return !r->failed && r->ptr == r->end;
}

static inline void reader_fail(struct reader *r)
{
    r->failed = true;
    r->ptr = r->end;
}

/* The next len bytes, or NULL (and failed). len 0 gives a non-NULL place only where the input has one. */
static inline const uint8_t *reader_take(struct reader *r, size_t len)
{
    if (r->failed || len > (size_t)(r->end - r->ptr)) {
        reader_fail(r);
        return NULL;
    }
    const uint8_t *p = r->ptr;
    if (len)
        r->ptr += len;
    return p;
}

static inline struct slice reader_slice(struct reader *r, size_t len)
{
    const uint8_t *p = reader_take(r, len);
    return r->failed ? (struct slice){0} : slice_of(p, len);
}

static inline struct slice reader_rest(struct reader *r)
{
    return reader_slice(r, reader_left(r));
}

static inline uint8_t reader_u8(struct reader *r)
{
    const uint8_t *p = reader_take(r, 1);
    return p ? *p : 0;
}

static inline uint16_t reader_u16(struct reader *r)
{
    const uint8_t *p = reader_take(r, 2);
    return p ? load_u16(p) : 0;
}

static inline uint32_t reader_u32(struct reader *r)
{
    const uint8_t *p = reader_take(r, 4);
    return p ? load_u32(p) : 0;
}

static inline uint64_t reader_u64(struct reader *r)
{
    const uint8_t *p = reader_take(r, 8);
    return p ? load_u64(p) : 0;
}

static inline uint16_t reader_u16_be(struct reader *r)
{
    return __builtin_bswap16(reader_u16(r));
}

static inline uint32_t reader_u32_be(struct reader *r)
{
    return __builtin_bswap32(reader_u32(r));
}

static inline uint64_t reader_u64_be(struct reader *r)
{
    return __builtin_bswap64(reader_u64(r));
}

/* Unsigned LEB128 of at most 10 bytes (5 for the 32-bit form); longer ones, and bits beyond the width, fail. */
uint64_t reader_varint_long(struct reader *r); /* the same, for those of more than one byte */
static inline uint64_t reader_varint(struct reader *r)
{
    if (r->ptr != r->end && *r->ptr < 0x80)
        return *r->ptr++;
    return reader_varint_long(r);
}
uint32_t reader_varint32(struct reader *r);
int64_t reader_zigzag(struct reader *r);

#endif
