/* Any bytes as log batches: refused, or rows that make a batch of the same rows. The checksum is not asked for, so that
 * what lies behind it is reached.
 * byte 0: format (0 ARROW, 1 INDEXED, 2 COMPACTED); byte 1: which of the types below; the rest are batches. */
#include "format/batch/batch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROWS_LOOKED_AT 64

static const char *const types[] = {
    "ROW<a INT, b STRING>",
    "ROW<id INT, arr ARRAY<INT>, strs ARRAY<STRING>, m MAP<STRING NOT NULL, INT>, r ROW<i INT, s STRING, l "
    "ARRAY<BIGINT>>,"
    "rows ARRAY<ROW<i INT, s STRING, l ARRAY<BIGINT>>>, mm MAP<INT NOT NULL, ARRAY<DOUBLE>>, tail STRING>",
    "ROW<a BINARY(4), b TIMESTAMP(9), c DECIMAL(20,2), d TIME(3), e CHAR(3), f BOOLEAN>",
};

static struct log_batch_builder rebuild(enum log_format format, const struct type *type,
                                        const struct log_batch_rows *rows, uint32_t *kept)
{
    struct log_batch_options options = {.format = format};
    struct log_batch_builder builder;
    log_batch_builder_init(&builder, &options, type);
    for (uint32_t i = 0; i < rows->count; i += 1 + rows->count / ROWS_LOOKED_AT) {
        enum err_code code = log_batch_builder_append_from(&builder, log_batch_change(rows, i), rows->columns, i, NULL);
        ASSERT(code == OK || code == ERR_INVALID_ARGUMENT); /* INDEXED: longer than CHAR(n) */
        if (code == OK)
            kept[builder.count - 1] = i;
    }
    return builder;
}

static void check(struct arrow_codec *codec, enum log_format format, const struct type *type,
                  const struct log_batch *batch, struct arena *arena)
{
    struct log_batch_rows rows, again;
    struct log_batch whole;
    if (log_batch_decode(codec, batch, format, type, arena, &rows, NULL) != OK || rows.count > 1u << 16)
        return;
    struct buf out = {0};
    uint32_t kept[ROWS_LOOKED_AT * 2];
    struct log_batch_builder builder = rebuild(format, type, &rows, kept);
    log_batch_builder_finish(&builder, codec, -1, -1, &out);
    ASSERT(log_batch_check(buf_view(&out), &whole, NULL) == OK);
    ASSERT(log_batch_decode(codec, &whole, format, type, arena, &again, NULL) == OK);
    for (uint32_t i = 0; i < again.count; i++)
        for (uint32_t c = 0; c < type->field_count; c++) {
            struct datum a, b;
            column_get(&rows.columns[c], kept[i], arena, &a);
            column_get(&again.columns[c], i, arena, &b);
            ASSERT(datum_equal(type->fields[c].type, &a, &b));
        }
    log_batch_builder_deinit(&builder);
    buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct arena arena = {0};
    struct arrow_codec codec = {0};
    const struct type *type = NULL;
    struct slice rest = slice_of(data + 2, size - 2), one;
    ASSERT(type_from_sql(&arena, slice_str(types[data[1] % ARRAY_LEN(types)]), &type, NULL) == OK);
    while (log_batch_next(&rest, &one, NULL) == OK && one.len) {
        struct log_batch batch;
        struct log_batch_statistics statistics;
        bool present;
        if (log_batch_read(one, &batch, NULL) != OK)
            continue;
        enum err_code code = log_batch_statistics_read(&batch, type->field_count, &present, &statistics, NULL);
        ASSERT(code == OK || code == ERR_CORRUPT);
        check(&codec, (enum log_format)(data[0] % 3), type, &batch, &arena);
    }
    arrow_codec_deinit(&codec);
    arena_deinit(&arena);
    return 0;
}
