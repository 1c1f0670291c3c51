#include "format/codec/codec.h"

#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#define DECOMPRESS_STEP_BYTES (64u << 10) /* of room at first, where the plain length is not known */

static enum err_code damaged(enum codec codec, struct slice packed, struct err *err)
{
    return err_set(err, ERR_CORRUPT, "a %s block of %zu bytes does not decompress", codec_name(codec), packed.len);
}

static ZSTD_DCtx *zstd_context(struct codec_state *state)
{
    if (!state->zstd_decompress)
        state->zstd_decompress = ZSTD_createDCtx();
    ASSERT(state->zstd_decompress);
    return state->zstd_decompress;
}

/* One step of a library that works in steps: moves *in on, fills to, tells how much and whether the stream ended. */
struct step {
    struct slice in;
    uint8_t *to;
    size_t room;
    size_t got;
    bool ended;
};

static bool zstd_step(ZSTD_DCtx *context, struct step *s)
{
    ZSTD_inBuffer in = {s->in.ptr, s->in.len, 0};
    ZSTD_outBuffer out = {s->to, s->room, 0};
    size_t left = ZSTD_decompressStream(context, &out, &in);
    s->in = slice_of(s->in.ptr + in.pos, s->in.len - in.pos);
    s->got = out.pos;
    s->ended = left == 0 && s->in.len == 0;
    return !ZSTD_isError(left);
}

static bool zip_step(z_stream *z, struct step *s)
{
    z->next_in = (Bytef *)(uintptr_t)s->in.ptr;
    z->avail_in = (uInt)s->in.len;
    z->next_out = s->to;
    z->avail_out = (uInt)s->room;
    int result = inflate(z, Z_NO_FLUSH);
    s->got = s->room - z->avail_out;
    s->in = slice_of(z->next_in, z->avail_in);
    s->ended = result == Z_STREAM_END;
    return result == Z_OK || result == Z_STREAM_END;
}

/* Runs steps until the stream ends. What is behind its end is ignored, as zlib's readers do. */
static enum err_code run_steps(enum codec codec, ZSTD_DCtx *zstd, z_stream *z, struct slice packed, size_t len_max,
                               struct buf *out, struct err *err)
{
    struct step s = {.in = packed};
    for (size_t total = 0, want = DECOMPRESS_STEP_BYTES; !s.ended; total += s.got, want = MAX(total, want)) {
        if (total > len_max)
            return err_set(err, ERR_LIMIT, "a %s block is larger than %zu bytes", codec_name(codec), len_max);
        s.room = MIN(want, len_max - total + 1); /* one more, so that passing the limit shows */
        buf_reserve(out, s.room);
        s.to = out->ptr + out->len;
        size_t before = s.in.len;
        if (!(zstd ? zstd_step(zstd, &s) : zip_step(z, &s)) || (!s.ended && !s.got && s.in.len == before))
            return damaged(codec, packed, err);
        out->len += s.got;
        if (total + s.got > len_max)
            return err_set(err, ERR_LIMIT, "a %s block is larger than %zu bytes", codec_name(codec), len_max);
    }
    return OK;
}

static enum err_code unzip(enum codec codec, struct slice packed, size_t len_max, struct buf *out, struct err *err)
{
    z_stream z = {0};
    if (packed.len > UINT32_MAX || inflateInit2(&z, codec == CODEC_GZIP ? MAX_WBITS + 16 : -MAX_WBITS) != Z_OK)
        return damaged(codec, packed, err);
    enum err_code code = run_steps(codec, NULL, &z, packed, len_max, out, err);
    inflateEnd(&z);
    return code;
}

static enum err_code unsnap(struct slice packed, size_t len_max, struct buf *out, struct err *err)
{
    size_t len = 0;
    if (snappy_uncompressed_length((const char *)packed.ptr, packed.len, &len) != SNAPPY_OK)
        return damaged(CODEC_SNAPPY, packed, err);
    if (len > len_max)
        return err_set(err, ERR_LIMIT, "a snappy block is larger than %zu bytes", len_max);
    buf_reserve(out, len);
    if (snappy_uncompress((const char *)packed.ptr, packed.len, (char *)out->ptr + out->len, &len) != SNAPPY_OK)
        return damaged(CODEC_SNAPPY, packed, err);
    out->len += len;
    return OK;
}

enum err_code codec_decompress_max(struct codec_state *state, enum codec codec, struct slice packed,
                                   size_t plain_len_max, struct buf *out, struct err *err)
{
    if (!packed.ptr)
        packed.ptr = (const uint8_t *)"";
    buf_reserve(out, 1);
    switch (codec) {
    case CODEC_NONE:
        if (packed.len > plain_len_max)
            return err_set(err, ERR_LIMIT, "a block is larger than %zu bytes", plain_len_max);
        buf_put_slice(out, packed);
        return OK;
    case CODEC_ZSTD:
        ZSTD_DCtx_reset(zstd_context(state), ZSTD_reset_session_only);
        return run_steps(codec, state->zstd_decompress, NULL, packed, plain_len_max, out, err);
    case CODEC_DEFLATE:
    case CODEC_GZIP:
        return unzip(codec, packed, plain_len_max, out, err);
    case CODEC_SNAPPY:
        return unsnap(packed, plain_len_max, out, err);
    default:
        return damaged(codec, packed, err);
    }
}

enum err_code codec_decompress(struct codec_state *state, enum codec codec, struct slice packed, size_t plain_len,
                               struct buf *out, struct err *err)
{
    size_t start = out->len, got = plain_len;
    buf_reserve(out, plain_len + 1);
    uint8_t *to = out->ptr + start;
    if (codec == CODEC_ZSTD && packed.len) {
        got = ZSTD_decompressDCtx(zstd_context(state), to, plain_len, packed.ptr, packed.len);
        out->len += ZSTD_isError(got) ? 0 : got;
    } else if (codec == CODEC_LZ4_RAW) {
        bool fits = packed.len <= INT32_MAX && plain_len <= INT32_MAX && packed.len > 0;
        int n = fits ? LZ4_decompress_safe((const char *)packed.ptr, (char *)to, (int)packed.len, (int)plain_len) : -1;
        out->len += n < 0 ? 0 : (size_t)n;
        got = n < 0 ? SIZE_MAX : (size_t)n;
    } else {
        TRY(codec_decompress_max(state, codec, packed, plain_len, out, err) == OK ? OK : damaged(codec, packed, err));
        got = out->len - start;
    }
    return got == plain_len ? OK : damaged(codec, packed, err);
}
