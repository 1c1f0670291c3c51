/* Any bytes as a value batch: refused, or values that make the same bytes again. */
#include "format/batch/batch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice rest, value;
    struct buf out = {0};
    uint32_t count;
    if (value_batch_check(slice_of(data, size), &count, &rest, NULL) == OK) {
        size_t start = value_batch_start(&out);
        while (value_batch_next(&rest, &value))
            value_batch_put(&out, start, value);
        ASSERT(slice_equal(buf_view(&out), slice_of(data, size)));
    }
    buf_deinit(&out);
    return 0;
}
