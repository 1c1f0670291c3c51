/* Any bytes as a column chunk: page headers, levels, values.  1 byte type | 1 byte codec | 2 bytes entries LE | the
 * chunk */
#include "format/parquet/parquet_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {"BOOLEAN",
                                    "INT",
                                    "BIGINT",
                                    "STRING",
                                    "DOUBLE",
                                    "DECIMAL(9,2)",
                                    "DECIMAL(30,2)",
                                    "TIMESTAMP(9)",
                                    "BINARY(3)",
                                    "ARRAY<INT>",
                                    "ARRAY<ARRAY<STRING>>",
                                    "INT NOT NULL",
                                    "STRING NOT NULL",
                                    "SMALLINT",
                                    "TIME(6)",
                                    "ROW<a BOOLEAN>"};

static void look(const struct column *c, struct arena *arena)
{
    struct datum v;
    for (uint32_t i = 0; i < c->length; i++)
        column_get(c, i, arena, &v);
}

static enum err_code read_chunk(struct arena *arena, const struct schema_column *column, struct slice file,
                                const struct parquet_chunk *chunk, struct parquet_leaf_reader *leaf)
{
    struct parquet_schema schema;
    struct parquet_want want = {0};
    parquet_choice_vec choices = {0};
    TRY(parquet_schema_build(arena, PARQUET_PAIMON, column, 1, &schema, NULL));
    enum err_code code = parquet_want_match(arena, &schema, column, 1, PARQUET_BY_NAME, &want, &choices, NULL);
    ASSERT(code == OK && choices.len == 1);
    leaf->node = choices.ptr[0].node;
    leaf->convert = choices.ptr[0].convert;
    vec_deinit(&choices);
    leaf->source = parquet_source_memory;
    leaf->arg = &file;
    TRY(parquet_leaf_start(leaf, chunk, NULL));
    for (int i = 0; i < 10; i++) {
        struct column out;
        TRY(parquet_leaf_read(leaf, 50, NULL));
        TRY(parquet_assemble(arena, &want, leaf, 50, &out, NULL));
        look(&out, arena);
    }
    return OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader in = reader_of(slice_of(data, size));
    struct arena arena = {0};
    struct codec_state codecs = {0};
    struct parquet_leaf_reader leaf = {.codecs = &codecs};
    struct schema_column column = {.name = SLICE("c"), .id = 0};
    const char *sql = types[reader_u8(&in) % ARRAY_LEN(types)];
    struct parquet_chunk chunk = {.codec = reader_u8(&in) % 8};
    chunk.entries = reader_u16(&in);
    chunk.packed_bytes = reader_left(&in);
    enum err_code code = type_from_sql(&arena, slice_str(sql), &column.type, NULL);
    ASSERT(code == OK);
    if (reader_ok(&in) && read_chunk(&arena, &column, reader_rest(&in), &chunk, &leaf) == OK)
        ASSERT(chunk.entries >= 500);
    parquet_leaf_reader_deinit(&leaf);
    codec_state_deinit(&codecs);
    arena_deinit(&arena);
    return 0;
}
