#include "format/codec/codec.h"

#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#define CODEC_PLAIN_BYTES_MAX (1u << 30)

const char *codec_name(enum codec codec)
{
    static const char *const names[CODEC_COUNT] = {"none", "zstd", "deflate", "gzip", "snappy", "lz4_raw"};
    ASSERT((unsigned)codec < CODEC_COUNT);
    return names[codec];
}

void codec_state_deinit(struct codec_state *state)
{
    ZSTD_freeCCtx(state->zstd_compress);
    ZSTD_freeDCtx(state->zstd_decompress);
    *state = (struct codec_state){0};
}

/* The most that the compressed form may need, so that no library call runs out of room. */
static size_t bound(enum codec codec, size_t len)
{
    switch (codec) {
    case CODEC_ZSTD:
        return ZSTD_compressBound(len);
    case CODEC_SNAPPY:
        return snappy_max_compressed_length(len);
    case CODEC_LZ4_RAW:
        return (size_t)LZ4_compressBound((int)len);
    case CODEC_DEFLATE:
    case CODEC_GZIP:
        return len + len / 1000 + 1024;
    default:
        return len;
    }
}

static bool zstd(struct codec_state *state, int level, struct slice plain, uint8_t *to, size_t room, size_t *len)
{
    if (!state->zstd_compress)
        state->zstd_compress = ZSTD_createCCtx();
    ASSERT(state->zstd_compress);
    *len = ZSTD_compressCCtx(state->zstd_compress, to, room, plain.ptr, plain.len, level);
    return !ZSTD_isError(*len);
}

static bool zip(int window_bits, int level, struct slice plain, uint8_t *to, size_t room, size_t *len)
{
    z_stream z = {0};
    if (deflateInit2(&z, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    z.next_in = (Bytef *)(uintptr_t)plain.ptr;
    z.avail_in = (uInt)plain.len;
    z.next_out = to;
    z.avail_out = (uInt)room;
    bool done = deflate(&z, Z_FINISH) == Z_STREAM_END;
    *len = room - z.avail_out;
    deflateEnd(&z);
    return done;
}

static bool run(struct codec_state *state, enum codec codec, int level, struct slice plain, uint8_t *to, size_t room,
                size_t *len)
{
    *len = room;
    switch (codec) {
    case CODEC_ZSTD:
        return zstd(state, level, plain, to, room, len);
    case CODEC_DEFLATE:
        return zip(-MAX_WBITS, level, plain, to, room, len);
    case CODEC_GZIP:
        return zip(MAX_WBITS + 16, level, plain, to, room, len);
    case CODEC_SNAPPY:
        return snappy_compress((const char *)plain.ptr, plain.len, (char *)to, len) == SNAPPY_OK;
    case CODEC_LZ4_RAW:
        *len = (size_t)LZ4_compress_default((const char *)plain.ptr, (char *)to, (int)plain.len, (int)room);
        return *len > 0;
    default:
        if (plain.len)
            memcpy(to, plain.ptr, plain.len);
        return true;
    }
}

enum err_code codec_compress(struct codec_state *state, enum codec codec, int level, struct slice plain,
                             struct buf *out, struct err *err)
{
    if (plain.len > CODEC_PLAIN_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "a block of %zu bytes is too large to compress", plain.len);
    if (!plain.ptr)
        plain.ptr = (const uint8_t *)""; /* the libraries want a place, even for no bytes */
    size_t room = bound(codec, plain.len), len = 0;
    buf_reserve(out, room);
    if (!run(state, codec, level, plain, out->ptr + out->len, room, &len))
        return err_set(err, ERR_INTERNAL, "%s could not compress %zu bytes", codec_name(codec), plain.len);
    out->len += len;
    return OK;
}
