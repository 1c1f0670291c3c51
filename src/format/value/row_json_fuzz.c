/* Any bytes as the JSON of a row: refused, or values that are printed as a text which reads back to equal values. */
#include "format/value/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char types[] =
    "ROW<a BOOLEAN, b TINYINT, c BIGINT, d FLOAT, e DOUBLE, f STRING, g BYTES, h DECIMAL(20,3), i DATE, j TIME(3), "
    "k TIMESTAMP(9), l TIMESTAMP_LTZ(3), m ARRAY<INT>, n MAP<STRING,INT>, o MAP<INT,STRING>, p ROW<q INT, r STRING>>";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { COLUMNS = 16 };
    struct arena arena = {0};
    struct buf text = {0};
    const struct type *row = NULL;
    struct schema_column columns[COLUMNS] = {0};
    struct schema schema = {.columns = columns, .column_count = COLUMNS, .auto_increment = -1};
    struct datum values[COLUMNS], again[COLUMNS];
    ASSERT(type_from_sql(&arena, slice_str(types), &row, NULL) == OK && row->field_count == COLUMNS);
    for (uint32_t i = 0; i < COLUMNS; i++)
        columns[i] = (struct schema_column){.name = row->fields[i].name, .type = row->fields[i].type, .id = (int)i};
    if (row_from_json(&arena, &schema, slice_of(data, size), values, NULL) == OK) {
        row_to_json(&schema, values, &text);
        ASSERT(row_from_json(&arena, &schema, buf_view(&text), again, NULL) == OK);
        for (uint32_t i = 0; i < COLUMNS; i++)
            ASSERT(datum_equal(columns[i].type, &values[i], &again[i]));
    }
    buf_deinit(&text);
    arena_deinit(&arena);
    return 0;
}
