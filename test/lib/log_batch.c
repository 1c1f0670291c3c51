#include "lib/log_batch.h"

#include "base/hash.h"

enum { HEADER_BYTES = TEST_BATCH_HEADER_BYTES, CRC_AT = 21 };

void test_batch_put(struct buf *out, const struct test_batch *batch)
{
    size_t from = out->len;
    buf_put_u64(out, 0);
    buf_put_u32(out, HEADER_BYTES - 12 + batch->body_bytes);
    buf_put_u8(out, 0);
    buf_put_u64(out, 0);
    buf_put_u32(out, 0); /* CRC: below */
    buf_put_u16(out, 1);
    buf_put_u8(out, 1);
    buf_put_u32(out, batch->record_count ? batch->record_count - 1 : 0);
    buf_put_u64(out, (uint64_t)batch->writer_id);
    buf_put_u32(out, (uint32_t)batch->sequence);
    buf_put_u32(out, batch->record_count);
    for (uint32_t i = 0; i < batch->body_bytes; i++)
        buf_put_u8(out, (uint8_t)(i < 8 ? batch->id >> (8 * i) : batch->id * 31 + i));
    struct slice covered = slice_of(out->ptr + from + CRC_AT + 4, out->len - from - CRC_AT - 4);
    store_u32(out->ptr + from + CRC_AT, crc32c(0, covered));
}

void test_batch_seal(struct buf *batch)
{
    struct slice covered = slice_of(batch->ptr + CRC_AT + 4, batch->len - CRC_AT - 4);
    store_u32(batch->ptr + CRC_AT, crc32c(0, covered));
}
