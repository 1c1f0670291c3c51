/* Any bytes as a partition value: refused, or a value whose text reads back to an equal value. byte 0: the type. */
#include "format/row/row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {"BOOLEAN", "TINYINT", "BIGINT",  "FLOAT",        "DOUBLE",      "STRING",
                                    "BYTES",   "DATE",    "TIME(3)", "TIMESTAMP(9)", "DECIMAL(5,2)"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct arena arena = {0};
    struct buf out = {0};
    struct datum value, again;
    struct slice parts[3], text = slice_of(data + 1, size - 1);
    const struct type *type = NULL;
    ASSERT(type_from_sql(&arena, slice_str(types[*data % ARRAY_LEN(types)]), &type, NULL) == OK);
    if (partition_value_parse(type, text, &arena, &value, NULL) == OK) {
        ASSERT(partition_value_put(type, &value, &out, NULL) == OK);
        ASSERT(partition_value_parse(type, buf_view(&out), &arena, &again, NULL) == OK);
        ASSERT(datum_equal(type, &value, &again));
    }
    buf_reset(&out);
    if (partition_name_split(text, ARRAY_LEN(parts), parts, NULL) == OK) {
        partition_name_put(parts, ARRAY_LEN(parts), &out);
        ASSERT(slice_equal(buf_view(&out), text));
    }
    buf_deinit(&out);
    arena_deinit(&arena);
    return 0;
}
