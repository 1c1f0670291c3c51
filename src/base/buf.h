/* A buf owns bytes and grows. The zero value is an empty buf; buf_deinit accepts it and may be called twice.
 * The writer verbs (buf_put_*) append; integers go little-endian unless the name ends in _be.
 * thread: one at a time. */
#ifndef WEIR_BASE_BUF_H
#define WEIR_BASE_BUF_H

#include "base/slice.h"

struct buf {
    uint8_t *ptr;
    size_t len;
    size_t cap;
};

void buf_deinit(struct buf *buf);
/* Empty again, memory kept. */
static inline void buf_reset(struct buf *buf)
{
    buf->len = 0;
}

static inline struct slice buf_view(const struct buf *buf)
{
    return slice_of(buf->ptr, buf->len);
}

/* Room for extra more bytes; pointers into the buf are void afterwards. */
void buf_reserve(struct buf *buf, size_t extra);
/* Appends extra bytes that the caller fills in at the returned place, valid until the next append. */
uint8_t *buf_extend(struct buf *buf, size_t extra);
void buf_put(struct buf *buf, const void *ptr, size_t len);
void buf_put_zeros(struct buf *buf, size_t len);
/* Zero bytes until (len - from) is a multiple of align, a power of two. */
void buf_align(struct buf *buf, size_t from, size_t align);
void buf_printf(struct buf *buf, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A NUL behind the bytes that does not count in len; for callers of the C library. */
const char *buf_cstr(struct buf *buf);

static inline void buf_put_slice(struct buf *buf, struct slice s)
{
    buf_put(buf, s.ptr, s.len);
}

static inline void buf_put_u8(struct buf *buf, uint8_t v)
{
    if (buf->len == buf->cap)
        buf_reserve(buf, 1);
    buf->ptr[buf->len++] = v;
}

void buf_put_u16(struct buf *buf, uint16_t v);
void buf_put_u32(struct buf *buf, uint32_t v);
void buf_put_u64(struct buf *buf, uint64_t v);
void buf_put_u16_be(struct buf *buf, uint16_t v);
void buf_put_u32_be(struct buf *buf, uint32_t v);
void buf_put_u64_be(struct buf *buf, uint64_t v);
/* Unsigned LEB128, at most 10 bytes; zig-zag first for the _zigzag form. */
void buf_put_varint(struct buf *buf, uint64_t v);
void buf_put_zigzag(struct buf *buf, int64_t v);
/* The text; what is not UTF-8 of it becomes U+FFFD, one for each malformed beginning of a sequence, as Java decodes. */
void buf_put_text(struct buf *buf, struct slice text);
/* Lower-case hex digits of the bytes. */
void buf_put_hex(struct buf *buf, struct slice s);

/* Unaligned little-endian loads and stores, for places where a reader would be in the way. */
static inline uint16_t load_u16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, 2);
    return v;
}

static inline uint32_t load_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static inline uint64_t load_u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

static inline void store_u16(uint8_t *p, uint16_t v)
{
    memcpy(p, &v, 2);
}

static inline void store_u32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, 4);
}

static inline void store_u64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, 8);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "weir's formats are little-endian and so is its code");

#endif
