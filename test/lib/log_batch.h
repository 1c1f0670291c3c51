/* Makes record batches for tests of the log: right headers and checksums, bodies that mean nothing. */
#ifndef WEIR_TEST_LIB_LOG_BATCH_H
#define WEIR_TEST_LIB_LOG_BATCH_H

#include "base/buf.h"

struct test_batch {
    int64_t writer_id; /* -1: none */
    int32_t sequence;
    uint32_t record_count;
    uint64_t id; /* first 8 bytes of the body; the rest follows from it */
    uint32_t body_bytes;
};

/* Appends a batch of magic 0 to out, unstamped. */
void test_batch_put(struct buf *out, const struct test_batch *batch);

/* The checksum of the one batch of magic 0 in it made right again; its records begin at TEST_BATCH_HEADER_BYTES. */
#define TEST_BATCH_HEADER_BYTES 48
void test_batch_seal(struct buf *batch);

#endif
