/* Any bytes as a Parquet file: footer, schema, and all its rows in the types that it says it has. */
#include "format/parquet/parquet.h"

#define COLUMNS_MAX 64
#define SLICES_MAX 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every value can be looked at. */
static void look(const struct column *c, struct arena *arena)
{
    struct datum v;
    ASSERT(c->null_count <= c->length);
    for (uint32_t i = 0; i < c->length && i < 100; i++)
        column_get(c, i, arena, &v);
}

static enum err_code read_all(struct parquet_reader *r, struct arena *arena)
{
    struct schema_column *columns;
    struct column slice[COLUMNS_MAX];
    uint32_t count, rows = 1;
    TRY(parquet_schema_infer(arena, parquet_reader_schema(r), &columns, &count, NULL));
    count = MIN(count, COLUMNS_MAX);
    TRY(parquet_reader_select(r, columns, count, PARQUET_BY_NAME, NULL));
    for (int i = 0; i < SLICES_MAX && rows; i++) {
        TRY(parquet_reader_next(r, 100, slice, &rows, NULL));
        for (uint32_t c = 0; c < count && rows; c++)
            look(&slice[c], arena);
    }
    return OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice file = slice_of(data, size);
    struct parquet_reader *r;
    struct arena arena = {0};
    if (parquet_reader_open(parquet_source_memory, &file, size, &r, NULL) != OK)
        return 0;
    if (read_all(r, &arena) == OK)
        ASSERT(parquet_reader_schema(r)->leaf_count <= PARQUET_LEAVES_MAX);
    parquet_reader_close(r);
    arena_deinit(&arena);
    return 0;
}
