/* Any bytes as two bitmaps: refused, or a union that reads back and takes both in without a change.
 * byte 0: 32 or 64 bits; byte 1 and 2: the length of the first; the rest is both. */
#include "format/agg/agg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    struct schema_column column = {.name = SLICE("v"), .type = type_simple(TYPE_BYTES)};
    size_t first = MIN(load_u16(data + 1), size - 3);
    struct datum a = {.bytes = slice_of(data + 3, first)}, b = {.bytes = slice_of(data + 3 + first, size - 3 - first)};
    struct datum both, again;
    struct arena arena = {0};
    struct agg agg;
    column.agg_function = data[0] % 2 ? SLICE("rbm64") : SLICE("rbm32");
    agg_init(&agg, &column, false);
    if (agg_fold(&agg, &a, &b, &arena, &both, NULL) == OK) {
        ASSERT(agg_fold(&agg, &both, &a, &arena, &again, NULL) == OK);
        ASSERT(agg_fold(&agg, &again, &b, &arena, &both, NULL) == OK);
        ASSERT(slice_equal(again.bytes, both.bytes));
    }
    arena_deinit(&arena);
    return 0;
}
