/* Any bytes as a record batch: refused, or columns that are written as a message which decodes to equal values.
 * byte 0: which of the types below; the rest is the message. */
#include "format/arrow/arrow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROWS_LOOKED_AT 64
#define COLUMNS_MAX 24

/* The first three are those of golden batches simple, nested and scalars. */
static const char *const types[] = {
    "ROW<a INT, b STRING>",
    "ROW<id INT, arr ARRAY<INT>, strs ARRAY<STRING>, m MAP<STRING NOT NULL, INT>, r ROW<i INT, s STRING, l "
    "ARRAY<BIGINT>>,"
    "rows ARRAY<ROW<i INT, s STRING, l ARRAY<BIGINT>>>, mm MAP<INT NOT NULL, ARRAY<DOUBLE>>, tail STRING>",
    "ROW<a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h CHAR(5), i STRING, j BINARY(3), k "
    "BYTES,"
    "l DECIMAL(10,2), m DECIMAL(38,10), n DATE, o TIME(0), p TIME(9), q TIMESTAMP(0), r TIMESTAMP(9),"
    "s TIMESTAMP(3) WITH LOCAL TIME ZONE, t TIMESTAMP(6) WITH LOCAL TIME ZONE>",
    "ROW<a ROW<>, b ARRAY<BOOLEAN>>",
};

static void check(struct arrow_codec *codec, const struct type *type, struct slice message, struct arena *arena)
{
    struct column columns[COLUMNS_MAX], again[COLUMNS_MAX];
    uint32_t rows, rows_again;
    ASSERT(type->field_count <= COLUMNS_MAX);
    if (arrow_decode(codec, message, type, arena, columns, &rows, NULL) != OK || rows > 1u << 16)
        return;
    enum err_code checked = arrow_check(message, type, arena, &rows_again, NULL);
    ASSERT((checked == OK && rows_again == rows) || checked == ERR_INVALID_ARGUMENT);
    struct buf out = {0};
    arrow_encode(codec, (struct arrow_options){ARROW_LZ4_FRAME, 0}, columns, type->field_count, rows, &out);
    ASSERT(arrow_decode(codec, buf_view(&out), type, arena, again, &rows_again, NULL) == OK && rows == rows_again);
    for (uint32_t c = 0; c < type->field_count; c++)
        for (uint32_t i = 0; i < rows; i += 1 + rows / ROWS_LOOKED_AT) {
            struct datum a, b;
            column_get(&columns[c], i, arena, &a);
            column_get(&again[c], i, arena, &b);
            ASSERT(datum_equal(type->fields[c].type, &a, &b));
        }
    buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    struct arena arena = {0};
    struct arrow_codec codec = {0};
    const struct type *type = NULL;
    ASSERT(type_from_sql(&arena, slice_str(types[data[0] % ARRAY_LEN(types)]), &type, NULL) == OK);
    check(&codec, type, slice_of(data + 1, size - 1), &arena);
    arrow_codec_deinit(&codec);
    arena_deinit(&arena);
    return 0;
}
