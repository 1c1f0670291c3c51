/* Any bytes as a row: refused, or values that are written as a row which reads back to equal values.
 * byte 0: the format; byte 1: which of the types below; the rest is the row. */
#include "format/row/row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {
    "ROW<a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h DATE, i TIME(3)>",
    "ROW<a STRING, b CHAR(5), c BYTES, d BINARY(3), e DECIMAL(5,2), f DECIMAL(38,10), g TIMESTAMP(3), h TIMESTAMP(9)>",
    "ROW<a ARRAY<INT>, b ARRAY<STRING>, c ARRAY<DECIMAL(20,0)>, d ARRAY<TIMESTAMP(6)>, e ARRAY<BOOLEAN>>",
    "ROW<a MAP<STRING,INT>, b MAP<INT,ROW<i INT, s STRING>>, c ARRAY<MAP<STRING,ARRAY<SMALLINT>>>>",
    "ROW<a ROW<r ROW<i INT, s STRING, d DECIMAL(10,2)>, l ARRAY<ROW<i INT, s STRING, d DECIMAL(10,2)>>, x INT>>",
    "ROW<a INT>",
    "ROW<a ARRAY<INT>>",
    "ROW<>",
};

static void check(enum row_format format, const struct type *row, struct slice bytes, struct arena *arena)
{
    struct buf out = {0};
    struct datum *values = ARENA_NEW_ARRAY(arena, struct datum, row->field_count);
    struct datum *again = ARENA_NEW_ARRAY(arena, struct datum, row->field_count);
    if (row_decode(format, row, bytes, arena, values, NULL) == OK) {
        ASSERT(row_encode(format, row, values, &out, NULL) == OK);
        ASSERT(row_decode(format, row, buf_view(&out), arena, again, NULL) == OK);
        for (uint32_t i = 0; i < row->field_count; i++)
            ASSERT(datum_equal(row->fields[i].type, &values[i], &again[i]));
    }
    buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct arena arena = {0};
    const struct type *row = NULL;
    const char *sql = types[data[1] % ARRAY_LEN(types)];
    ASSERT(type_from_sql(&arena, slice_str(sql), &row, NULL) == OK);
    check((enum row_format)(data[0] % 4), row, slice_of(data + 2, size - 2), &arena);
    arena_deinit(&arena);
    return 0;
}
