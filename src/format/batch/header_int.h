/* The header of a log batch; for the files of this folder. */
#ifndef WEIR_FORMAT_BATCH_HEADER_INT_H
#define WEIR_FORMAT_BATCH_HEADER_INT_H

#include "format/batch/batch.h"

#define BATCH_LENGTH_AT 8 /* i32, counts what follows it */
#define BATCH_LENGTH_BEHIND 12
#define BATCH_ATTRIBUTE_APPEND_ONLY 1

/* Where the fields of a layout lie; 0 for a field that it does not have. */
struct batch_layout {
    uint8_t magic;
    uint8_t epoch_at;
    uint8_t crc_at; /* over everything behind it */
    uint8_t schema_id_at;
    uint8_t attributes_at;
    uint8_t last_delta_at;
    uint8_t writer_id_at;
    uint8_t sequence_at;
    uint8_t count_at;
    uint8_t statistics_at; /* i32 length */
    uint8_t header_bytes;
};

const struct batch_layout *batch_layout(enum log_batch_layout layout);

/* Appends room for a header, filled in by batch_header_finish when the body is there. Gives its place. */
size_t batch_header_start(struct buf *out, enum log_batch_layout layout);
void batch_header_finish(struct buf *out, size_t start, const struct log_batch_options *options, uint32_t count,
                         size_t statistics_len, int64_t writer_id, int32_t batch_sequence);

/* The column statistics that the options ask for; nothing where a bound can't be encoded. */
void batch_put_statistics(const struct log_batch_options *options, const struct type *type,
                          const struct column *columns, struct arena *arena, struct buf *out);

/* The records of an INDEXED or COMPACTED batch, as columns. */
MUST_CHECK enum err_code batch_decode_rows(const struct log_batch *batch, enum log_format format,
                                           const struct type *type, struct arena *arena, struct log_batch_rows *rows,
                                           struct err *err);
/* One record behind those of an INDEXED or COMPACTED builder; its rows are as before on failure. */
MUST_CHECK enum err_code batch_put_row(struct log_batch_builder *builder, enum change_type change,
                                       const struct datum *row, struct err *err);

#endif
