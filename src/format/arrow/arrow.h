/* One Arrow IPC record batch without its schema, as Apache Fluss puts it into a log batch (log.md 2).
 *
 * An encapsulated message: FF FF FF FF, i32 metadata size (padded to 8), the flatbuffer Message with a RecordBatch,
 * then the body buffers. No Schema message, no end of stream: the reader knows the columns' types from the table.
 *
 *   type                      nodes, buffers in order
 *   scalars of fixed width    1 node: validity, data
 *   CHAR, STRING, BYTES       1 node: validity, offsets (i32), data
 *   ARRAY                     1 node: validity, offsets; then the element
 *   MAP                       1 node: validity, offsets; 1 node of the entries: validity; then key, value
 *   ROW                       1 node: validity; then the fields
 *
 * Compressed buffers are i64 uncompressed length (-1: what follows is raw) and an LZ4 or ZSTD frame; the codec stands
 * in the metadata. Padding is the writer's choice: positions come from the metadata alone.
 *
 * Everything read is bytes from outside: positions, lengths, counts and offsets are checked; whether texts are UTF-8
 * only by arrow_check. What is wrong gives ERR_CORRUPT, what is more than a limit ERR_LIMIT.
 * thread: any, one at a time for each struct arrow_codec. */
#ifndef WEIR_FORMAT_ARROW_ARROW_H
#define WEIR_FORMAT_ARROW_ARROW_H

#include "base/vec.h"
#include "format/value/value.h"

#define ARROW_ROWS_MAX (1u << 27)
#define ARROW_DECODED_BYTES_MAX (512u << 20) /* of all compressed buffers of one message */
#define ARROW_METADATA_BYTES_MAX (4u << 20)
#define ARROW_PREFIX_BYTES 8 /* FF FF FF FF and the metadata size */

enum arrow_compression { ARROW_NONE, ARROW_LZ4_FRAME, ARROW_ZSTD };

struct arrow_options {
    enum arrow_compression compression;
    int level; /* of ZSTD */
};

/* Compressors and decompressors, made when first needed and used again. The zero value is ready. */
struct arrow_codec {
    struct ZSTD_DCtx_s *zstd_decoder;
    struct ZSTD_CCtx_s *zstd_encoder;
    struct LZ4F_dctx_s *lz4_decoder;
};

void arrow_codec_deinit(struct arrow_codec *codec);

/* The message as columns, one a field of row, a type of kind ROW (row.h makes it from a schema). Views into message
 * where it is not compressed, else into the arena: both must outlive the columns. columns has a place for each field,
 * whose content means nothing after a failure. Bytes behind the message's body are ignored. */
MUST_CHECK enum err_code arrow_decode(struct arrow_codec *codec, struct slice message, const struct type *row,
                                      struct arena *arena, struct column *columns, uint32_t *row_count,
                                      struct err *err);

/* Whether arrow_decode will take the message, no column that is NOT NULL has a null in it, and texts are UTF-8. A
 * message that is not compressed is looked at whole, but for nulls within nested values; of a compressed one only the
 * metadata is. errors: CORRUPT, LIMIT as arrow_decode; INVALID_ARGUMENT: a null, a text. */
MUST_CHECK enum err_code arrow_check(struct slice message, const struct type *row, struct arena *arena,
                                     uint32_t *row_count, struct err *err);

/* Appends the message to out. All columns have row_count values; validity is always written in full and buffers are
 * padded to 8, as Java does, so that with NONE the bytes are those of the Java client. */
void arrow_encode(struct arrow_codec *codec, struct arrow_options options, const struct column *columns,
                  uint32_t column_count, uint32_t row_count, struct buf *out);

/* Size of prefix and metadata together, from the first ARROW_PREFIX_BYTES of a message. */
MUST_CHECK enum err_code arrow_head_bytes(struct slice prefix, size_t *head_bytes, struct err *err);

/* Part of the input that goes into the output as it is; offset counts from the start of the input. */
struct arrow_range {
    uint64_t offset;
    uint64_t len;
};
typedef VEC(struct arrow_range) arrow_ranges;

/* Which columns are wanted: positions in row, strictly increasing and below its field count. */
struct arrow_selection {
    const struct type *row;
    const uint32_t *positions;
    uint32_t count;
};

#define ARROW_NULLS_BYTES_MAX (64u << 20) /* of one buffer of a column that a message does not have */

/* Some columns of a message, undecoded: the new prefix and metadata are appended to out, the parts of the body that
 * follow them to ranges (offsets from the start of the message; neighbours are joined). Buffers keep the padded lengths
 * they had. head is the message up to the end of its metadata, message_len the length of the whole, row what it has.
 * selection (an assert: the caller has refused others) may be of a row with more fields behind those: the message gets
 * a column of nulls for each that is wanted. errors: CORRUPT; LIMIT: rows by the million. */
MUST_CHECK enum err_code arrow_project(struct slice head, uint64_t message_len, const struct type *row,
                                       const struct arrow_selection *selection, struct buf *out, arrow_ranges *ranges,
                                       struct err *err);

#endif
