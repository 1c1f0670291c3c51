/* Any bytes as a key: refused, or values that make a key which reads back to equal values.
 * byte 0: the encoder; byte 1: which of the types below; the rest is the key. */
#include "format/row/row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {
    "ROW<a INT, b STRING>",
    "ROW<a BOOLEAN, b TINYINT, c SMALLINT, d BIGINT, e FLOAT, f DOUBLE, g DATE, h TIME(3), i DECIMAL(30,4)>",
    "ROW<a TIMESTAMP(9), b TIMESTAMP_LTZ(3), c BYTES, d CHAR(4), e DECIMAL(9,2)>",
    "ROW<a STRING>",
    "ROW<a INT>",
    "ROW<a TIMESTAMP(6)>",
    "ROW<a DECIMAL(38,10)>",
    "ROW<a TIME(0)>",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct arena arena = {0};
    struct buf out = {0};
    const struct type *key = NULL;
    enum key_encoder encoder = (enum key_encoder)(data[0] % 4);
    ASSERT(type_from_sql(&arena, slice_str(types[data[1] % ARRAY_LEN(types)]), &key, NULL) == OK);
    struct datum *values = ARENA_NEW_ARRAY(&arena, struct datum, key->field_count);
    struct datum *again = ARENA_NEW_ARRAY(&arena, struct datum, key->field_count);
    struct slice bytes = slice_of(data + 2, size - 2);
    ASSERT(key_bucket(LAKE_NONE, bytes, 7) < 7 && key_bucket(LAKE_PAIMON, bytes, 7) < 7);
    ASSERT(key_bucket(LAKE_ICEBERG, bytes, 7) < 7 && key_bucket(LAKE_HUDI, bytes, 7) < 7);
    if (key_decode(encoder, key, bytes, &arena, values, NULL) == OK) {
        ASSERT(key_encode(encoder, key, values, NULL, &out, NULL) == OK);
        ASSERT(key_decode(encoder, key, buf_view(&out), &arena, again, NULL) == OK);
        for (uint32_t i = 0; i < key->field_count; i++)
            ASSERT(datum_equal(key->fields[i].type, &values[i], &again[i]));
    }
    buf_deinit(&out);
    arena_deinit(&arena);
    return 0;
}
