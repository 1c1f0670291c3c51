/* Any bytes as an offsets file of table 7: refused, or written as a text that reads back to the same offsets. */
#include "meta/meta_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct lake_offsets offsets, again;
    struct buf text = {0};
    if (lake_offsets_from_json(&arena, 7, slice_of(data, size), &offsets, NULL) == OK) {
        lake_offsets_to_json(7, offsets, &text);
        ASSERT(lake_offsets_from_json(&arena, 7, buf_view(&text), &again, NULL) == OK);
        ASSERT(lake_offsets_equal(offsets, again));
    }
    buf_deinit(&text);
    arena_deinit(&arena);
    return 0;
}
