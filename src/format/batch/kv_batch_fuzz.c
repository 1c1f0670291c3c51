/* Any bytes as a kv batch, once as they are and once with the checksum they should have: refused, or records that a
 * builder makes a batch of the same records of. */
#include "format/batch/batch.h"

#include "base/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CRC_AT 5
#define CRC_FROM 9

static void check(struct slice bytes)
{
    struct kv_batch batch, again;
    struct kv_record a, b;
    struct kv_batch_builder builder;
    struct buf out = {0};
    if (kv_batch_check(bytes, &batch, NULL) != OK)
        return;
    kv_batch_builder_init(&builder, batch.schema_id);
    struct slice rest = batch.records;
    uint32_t count = 0;
    for (; kv_batch_next(&rest, &a); count++)
        ASSERT(kv_batch_builder_put(&builder, a.key, a.row, NULL) == OK);
    ASSERT(count == batch.record_count);
    kv_batch_builder_finish(&builder, batch.writer_id, batch.batch_sequence, &out);
    ASSERT(kv_batch_check(buf_view(&out), &again, NULL) == OK && again.record_count == count);
    for (rest = batch.records; kv_batch_next(&rest, &a);) {
        ASSERT(kv_batch_next(&again.records, &b));
        ASSERT(slice_equal(a.key, b.key) && slice_equal(a.row, b.row) && !a.row.ptr == !b.row.ptr);
    }
    kv_batch_builder_deinit(&builder);
    buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check(slice_of(data, size));
    if (size < CRC_FROM)
        return 0;
    struct buf fixed = {0};
    buf_put(&fixed, data, size);
    store_u32(fixed.ptr, (uint32_t)size - 4);
    store_u32(fixed.ptr + CRC_AT, crc32c(0, slice_of(fixed.ptr + CRC_FROM, size - CRC_FROM)));
    check(buf_view(&fixed));
    buf_deinit(&fixed);
    return 0;
}
