#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

void buf_deinit(struct buf *buf)
{
    mem_free(buf->ptr);
    *buf = (struct buf){0};
}

void buf_reserve(struct buf *buf, size_t extra)
{
    ASSERT(extra <= SIZE_MAX - buf->len);
    size_t need = buf->len + extra;
    if (need <= buf->cap)
        return;
    size_t cap = MAX(buf->cap + buf->cap / 2, need);
    buf->cap = MAX(cap, 64);
    buf->ptr = mem_realloc(buf->ptr, buf->cap);
}

uint8_t *buf_extend(struct buf *buf, size_t extra)
{
    buf_reserve(buf, MAX(extra, 1)); /* so that the place is never NULL */
    uint8_t *place = buf->ptr + buf->len;
    buf->len += extra;
    return place;
}

void buf_put(struct buf *buf, const void *ptr, size_t len)
{
    if (len)
        memcpy(buf_extend(buf, len), ptr, len);
}

void buf_put_zeros(struct buf *buf, size_t len)
{
    if (len)
        memset(buf_extend(buf, len), 0, len);
}

void buf_align(struct buf *buf, size_t from, size_t align)
{
    ASSERT((align & (align - 1)) == 0);
    buf_put_zeros(buf, (0 - (buf->len - from)) & (align - 1));
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    ASSERT(len >= 0);
    buf_reserve(buf, (size_t)len + 1);
    vsnprintf((char *)buf->ptr + buf->len, (size_t)len + 1, fmt, again);
    buf->len += (size_t)len;
    va_end(again);
    va_end(args);
}

const char *buf_cstr(struct buf *buf)
{
    buf_reserve(buf, 1);
    buf->ptr[buf->len] = 0;
    return (const char *)buf->ptr;
}

void buf_put_u16(struct buf *buf, uint16_t v)
{
    store_u16(buf_extend(buf, 2), v);
}

void buf_put_u32(struct buf *buf, uint32_t v)
{
    store_u32(buf_extend(buf, 4), v);
}

void buf_put_u64(struct buf *buf, uint64_t v)
{
    store_u64(buf_extend(buf, 8), v);
}

void buf_put_u16_be(struct buf *buf, uint16_t v)
{
    buf_put_u16(buf, __builtin_bswap16(v));
}

void buf_put_u32_be(struct buf *buf, uint32_t v)
{
    buf_put_u32(buf, __builtin_bswap32(v));
}

void buf_put_u64_be(struct buf *buf, uint64_t v)
{
    buf_put_u64(buf, __builtin_bswap64(v));
}

void buf_put_varint(struct buf *buf, uint64_t v)
{
    buf_reserve(buf, 10);
    for (; v > 0x7f; v >>= 7)
        buf->ptr[buf->len++] = (uint8_t)(v | 0x80);
    buf->ptr[buf->len++] = (uint8_t)v;
}

void buf_put_zigzag(struct buf *buf, int64_t v)
{
    buf_put_varint(buf, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

void buf_put_hex(struct buf *buf, struct slice s)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < s.len; i++) {
        buf_put_u8(buf, (uint8_t)digits[s.ptr[i] >> 4]);
        buf_put_u8(buf, (uint8_t)digits[s.ptr[i] & 15]);
    }
}

/* How many bytes one replacement character stands for, as Java decodes: the longest beginning of a sequence, and a
 * surrogate as a whole. */
static size_t malformed_bytes(struct slice s)
{
    uint8_t lead = s.ptr[0];
    size_t wanted = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 && lead < 0xf0 ? 3 : 1, n = 1;
    uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80, high = lead == 0xf4 ? 0x8f : 0xbf;
    for (; n < wanted && n < s.len && s.ptr[n] >= low && s.ptr[n] <= high; n++)
        low = 0x80, high = 0xbf;
    return n;
}

void buf_put_text(struct buf *buf, struct slice text)
{
    while (text.len) {
        size_t good = slice_utf8_sequence(text), n = good ? good : malformed_bytes(text);
        if (good)
            buf_put(buf, text.ptr, good);
        else
            buf_put_slice(buf, SLICE("\xef\xbf\xbd"));
        text = slice_of(text.ptr + n, text.len - n);
    }
}
