/* A checkpoint out of any bytes: what can be read is written again as it was. The checksum is set right first, since a
 * fuzzer would not find it. */
#include "log/log_int.h"

#include "base/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf bytes = {0}, again = {0};
    struct log_checkpoint checkpoint = {0};
    struct log_writers writers = {0};
    buf_put(&bytes, data, size);
    buf_put_u32(&bytes, crc32c(0, buf_view(&bytes)));
    if (log_checkpoint_decode(buf_view(&bytes), &checkpoint, &writers, NULL) == OK) {
        log_checkpoint_encode(&again, &checkpoint, &writers);
        ASSERT(checkpoint.rows_end_offset == INT64_MAX || slice_equal(buf_view(&again), buf_view(&bytes)));
    }
    vec_deinit(&checkpoint.segments);
    log_writers_deinit(&writers);
    buf_deinit(&bytes);
    buf_deinit(&again);
    return 0;
}
