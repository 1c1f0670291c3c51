/* The prefix and metadata of a message as weir writes it; see head.c for the bytes. */
#ifndef WEIR_FORMAT_ARROW_HEAD_INT_H
#define WEIR_FORMAT_ARROW_HEAD_INT_H

#include "format/arrow/arrow.h"

/* A head in out whose numbers are filled in as they become known. Places count from the start of out. */
struct arrow_head {
    struct buf *out;
    size_t start;
    size_t node_at;
    size_t buffer_at;
    size_t body_start;
};

/* Appends prefix and metadata with room for the nodes and buffers. */
struct arrow_head arrow_head_start(struct buf *out, enum arrow_compression compression, uint32_t row_count,
                                   size_t node_count, size_t buffer_count);
void arrow_head_node(struct arrow_head *head, uint64_t length, uint64_t null_count);
void arrow_head_buffer(struct arrow_head *head, uint64_t offset, uint64_t len);
/* All nodes and buffers are there: writes the body's length. */
void arrow_head_finish(struct arrow_head *head, uint64_t body_len);

#endif
