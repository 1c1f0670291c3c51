/* Any bytes as an Avro file: header, schema, blocks, records. */
#include "format/avro/avro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct avro_reader reader;
    struct arena arena = {0};
    struct avro_value *value = NULL;
    struct err err;
    if (avro_reader_init(&reader, slice_of(data, size), &err) != OK)
        return 0;
    for (int i = 0; i < 1000 && avro_reader_next(&reader, &arena, &value, &err) == OK && value; i++) {
        int64_t number;
        if (avro_get_i64(avro_field(value, "_VERSION"), &number))
            ASSERT(avro_field(value, "_VERSION"));
        arena_reset(&arena);
    }
    avro_reader_deinit(&reader);
    arena_deinit(&arena);
    return 0;
}
