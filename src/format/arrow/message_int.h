/* The flatbuffer of a record batch message, read with every position checked. */
#ifndef WEIR_FORMAT_ARROW_MESSAGE_INT_H
#define WEIR_FORMAT_ARROW_MESSAGE_INT_H

#include "base/reader.h"
#include "format/arrow/arrow.h"

struct arrow_message {
    enum arrow_compression compression;
    uint64_t row_count;
    uint64_t body_offset; /* from the start of the message */
    uint64_t body_len;
    struct slice nodes;   /* 16 bytes each: i64 length, i64 null count */
    struct slice buffers; /* 16 bytes each: i64 offset in the body, i64 length */
};

#define ARROW_PAIR_BYTES 16

/* head holds at least prefix and metadata; message_len is the length of the whole message, body included. */
MUST_CHECK enum err_code arrow_message_read(struct slice head, uint64_t message_len, struct arrow_message *message,
                                            struct err *err);

/* How many nodes and buffers the columns of a type take, added to the counts. */
void arrow_type_count(const struct type *type, size_t *nodes, size_t *buffers);

/* The message has exactly the nodes and buffers of the fields. */
MUST_CHECK enum err_code arrow_message_matches(const struct arrow_message *message, const struct type *row,
                                               struct err *err);

/* The next pair of nodes or buffers; the caller has counted them. */
static inline void arrow_pair_next(struct reader *pairs, int64_t *first, int64_t *second)
{
    *first = (int64_t)reader_u64(pairs);
    *second = (int64_t)reader_u64(pairs);
}

/* One compressed buffer (log.md 2) as bytes: views of the input where it is raw, else in the arena, taking from
 * *budget what it needs. */
MUST_CHECK enum err_code arrow_decompress(struct arrow_codec *codec, enum arrow_compression compression,
                                          struct slice buffer, struct arena *arena, size_t *budget, struct slice *out,
                                          struct err *err);
/* Appends a buffer in its compressed form to out: raw behind -1 where compressing saves nothing. */
void arrow_compress(struct arrow_codec *codec, struct arrow_options options, struct slice raw, struct buf *out);

#endif
