/* Compression of one block of bytes, as Avro containers and Parquet pages have it: the plain length is known or
 * bounded, the whole block is in memory. The libraries are zstd, zlib, snappy and lz4.
 *
 * thread: a struct codec_state belongs to one thread at a time; the calls do not block. */
#ifndef WEIR_FORMAT_CODEC_CODEC_H
#define WEIR_FORMAT_CODEC_CODEC_H

#include "base/buf.h"
#include "base/err.h"

enum codec {
    CODEC_NONE,
    CODEC_ZSTD,
    CODEC_DEFLATE, /* raw, without zlib's header and checksum */
    CODEC_GZIP,
    CODEC_SNAPPY,  /* one raw block, not the framing format */
    CODEC_LZ4_RAW, /* one raw block; its plain length must be known */
    CODEC_COUNT
};

const char *codec_name(enum codec codec); /* "zstd", for messages */

/* What the libraries keep between two blocks, so that a block costs no set-up. The zero value is ready. */
struct codec_state {
    void *zstd_compress;
    void *zstd_decompress;
};

void codec_state_deinit(struct codec_state *state);

/* Appends the compressed form of plain to out.
 * level   of zstd (1..19) and of deflate and gzip (1..9); the others have none.
 * errors  LIMIT for what the library can't take (more than 1 GiB), INTERNAL. */
MUST_CHECK enum err_code codec_compress(struct codec_state *state, enum codec codec, int level, struct slice plain,
                                        struct buf *out, struct err *err);
/* Appends the plain form of packed to out, which must be exactly plain_len bytes: what Parquet's pages say.
 * errors  CORRUPT: the block is damaged, or its plain length is another. plain_len was bounded by the caller. */
MUST_CHECK enum err_code codec_decompress(struct codec_state *state, enum codec codec, struct slice packed,
                                          size_t plain_len, struct buf *out, struct err *err);
/* The same where the plain length is written nowhere (Avro); LIMIT if it would pass plain_len_max. Not for LZ4_RAW. */
MUST_CHECK enum err_code codec_decompress_max(struct codec_state *state, enum codec codec, struct slice packed,
                                              size_t plain_len_max, struct buf *out, struct err *err);

#endif
