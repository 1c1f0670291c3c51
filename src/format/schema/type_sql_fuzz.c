/* Any bytes as the SQL text of a type: refused, or printed as a text that reads back to an equal type. */
#include "format/schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct buf text = {0};
    const struct type *type, *again;
    if (type_from_sql(&arena, slice_of(data, size), &type, NULL) == OK) {
        type_to_sql(type, &text);
        ASSERT(type_from_sql(&arena, buf_view(&text), &again, NULL) == OK && type_equal(type, again, true));
    }
    buf_deinit(&text);
    arena_deinit(&arena);
    return 0;
}
