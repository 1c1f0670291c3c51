#include "format/arrow/message_int.h"

#include <lz4frame.h>
#include <zstd.h>

#define LENGTH_BYTES 8 /* before each compressed buffer */
#define LZ4_RATIO_MAX 256
#define EMPTY_FRAME_BYTES_MAX 64

void arrow_codec_deinit(struct arrow_codec *codec)
{
    ZSTD_freeDCtx(codec->zstd_decoder);
    ZSTD_freeCCtx(codec->zstd_encoder);
    LZ4F_freeDecompressionContext(codec->lz4_decoder);
    *codec = (struct arrow_codec){0};
}

static bool unzstd(struct arrow_codec *codec, struct slice from, uint8_t *to, size_t len)
{
    if (!codec->zstd_decoder)
        codec->zstd_decoder = ZSTD_createDCtx();
    ASSERT(codec->zstd_decoder);
    size_t got = ZSTD_decompressDCtx(codec->zstd_decoder, to, len, from.ptr, from.len);
    return !ZSTD_isError(got) && got == len;
}

static bool unlz4(struct arrow_codec *codec, struct slice from, uint8_t *to, size_t len)
{
    if (!codec->lz4_decoder)
        ASSERT(!LZ4F_isError(LZ4F_createDecompressionContext(&codec->lz4_decoder, LZ4F_VERSION)));
    LZ4F_resetDecompressionContext(codec->lz4_decoder);
    size_t done = 0, used = 0, more = 1;
    while (more && used < from.len) {
        size_t room = len - done, part = from.len - used;
        more = LZ4F_decompress(codec->lz4_decoder, to + done, &room, from.ptr + used, &part, NULL);
        if (LZ4F_isError(more) || (!room && !part))
            return false;
        done += room;
        used += part;
    }
    return !more && done == len;
}

/* A lie about the length costs no memory where the frame itself can tell. */
static bool length_is_plausible(enum arrow_compression compression, struct slice frame, uint64_t len)
{
    if (compression == ARROW_LZ4_FRAME)
        return len / LZ4_RATIO_MAX <= frame.len + EMPTY_FRAME_BYTES_MAX;
    unsigned long long declared = ZSTD_getFrameContentSize(frame.ptr, frame.len);
    return declared != ZSTD_CONTENTSIZE_ERROR && (declared == ZSTD_CONTENTSIZE_UNKNOWN || declared == len);
}

enum err_code arrow_decompress(struct arrow_codec *codec, enum arrow_compression compression, struct slice buffer,
                               struct arena *arena, size_t *budget, struct slice *out, struct err *err)
{
    struct reader r = reader_of(buffer);
    int64_t len = (int64_t)reader_u64(&r);
    struct slice frame = reader_rest(&r);
    if (!reader_ok(&r) || len < -1)
        return err_set(err, ERR_CORRUPT, "compressed Arrow buffer of %zu bytes without a length", buffer.len);
    if (len <= 0) {
        *out = len ? frame : (struct slice){0};
        return OK;
    }
    if ((uint64_t)len > *budget)
        return err_set(err, ERR_LIMIT, "an Arrow batch would unpack to more than %u bytes", ARROW_DECODED_BYTES_MAX);
    if (!length_is_plausible(compression, frame, (uint64_t)len))
        return err_set(err, ERR_CORRUPT, "compressed Arrow buffer of %zu bytes says it holds %lld", frame.len,
                       (long long)len);
    uint8_t *to = arena_alloc(arena, (size_t)len);
    bool good =
        compression == ARROW_ZSTD ? unzstd(codec, frame, to, (size_t)len) : unlz4(codec, frame, to, (size_t)len);
    if (!good)
        return err_set(err, ERR_CORRUPT, "compressed Arrow buffer of %zu bytes does not unpack to %lld", frame.len,
                       (long long)len);
    *budget -= (size_t)len;
    *out = slice_of(to, (size_t)len);
    return OK;
}

static size_t zstd_into(struct arrow_codec *codec, int level, struct slice raw, struct buf *out)
{
    if (!codec->zstd_encoder)
        codec->zstd_encoder = ZSTD_createCCtx();
    ASSERT(codec->zstd_encoder);
    size_t room = ZSTD_compressBound(raw.len);
    buf_reserve(out, room);
    size_t got = ZSTD_compressCCtx(codec->zstd_encoder, out->ptr + out->len, room, raw.ptr, raw.len, level);
    ASSERT(!ZSTD_isError(got));
    return got;
}

static size_t lz4_into(struct slice raw, struct buf *out)
{
    size_t room = LZ4F_compressFrameBound(raw.len, NULL);
    buf_reserve(out, room);
    size_t got = LZ4F_compressFrame(out->ptr + out->len, room, raw.ptr, raw.len, NULL);
    ASSERT(!LZ4F_isError(got));
    return got;
}

void arrow_compress(struct arrow_codec *codec, struct arrow_options options, struct slice raw, struct buf *out)
{
    size_t start = out->len;
    if (!raw.len) /* Java writes a length of 0 and no frame here, which Arrow C++ refuses with LZ4; all take nothing */
        return;
    buf_put_u64(out, raw.len);
    size_t got = options.compression == ARROW_ZSTD ? zstd_into(codec, options.level, raw, out) : lz4_into(raw, out);
    if (got < raw.len) {
        out->len += got;
        return;
    }
    store_u64(out->ptr + start, UINT64_MAX);
    buf_put_slice(out, raw);
}
