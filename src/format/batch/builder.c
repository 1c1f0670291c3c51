#include "format/batch/header_int.h"

/* Room for header, metadata, padding and lengths of buffers: nothing a builder takes makes a batch of more than
 * BATCH_BYTES_MAX. */
#define BUILDER_BYTES_MAX (BATCH_BYTES_MAX - 2 * ARROW_METADATA_BYTES_MAX)

void log_batch_builder_init(struct log_batch_builder *builder, const struct log_batch_options *options,
                            const struct type *type)
{
    *builder = (struct log_batch_builder){.options = *options, .type = type};
    if (options->format != LOG_FORMAT_ARROW)
        return;
    builder->columns = mem_alloc(type->field_count * sizeof *builder->columns);
    for (uint32_t i = 0; i < type->field_count; i++)
        column_builder_init(&builder->columns[i], type->fields[i].type);
}

void log_batch_builder_deinit(struct log_batch_builder *builder)
{
    for (uint32_t i = 0; builder->columns && i < builder->type->field_count; i++)
        column_builder_deinit(&builder->columns[i]);
    mem_free(builder->columns);
    buf_deinit(&builder->change_types);
    buf_deinit(&builder->rows);
    arena_deinit(&builder->scratch);
    *builder = (struct log_batch_builder){0};
}

void log_batch_builder_reset(struct log_batch_builder *builder)
{
    for (uint32_t i = 0; builder->columns && i < builder->type->field_count; i++)
        column_builder_reset(&builder->columns[i]);
    builder->count = 0;
    buf_reset(&builder->change_types);
    buf_reset(&builder->rows);
}

size_t log_batch_builder_bytes(const struct log_batch_builder *builder)
{
    size_t bytes = LOG_BATCH_HEADER_BYTES + builder->change_types.len + builder->rows.len;
    for (uint32_t i = 0; builder->columns && i < builder->type->field_count; i++)
        bytes += column_builder_bytes(&builder->columns[i]);
    return bytes;
}

static void take_back(struct log_batch_builder *builder, uint32_t column_count, size_t rows_len)
{
    for (uint32_t i = 0; builder->columns && i < column_count; i++)
        column_builder_truncate(&builder->columns[i], builder->count);
    builder->rows.len = rows_len;
}

/* The row is in; it counts, or is taken back if the batch got too large. */
static enum err_code accept(struct log_batch_builder *builder, enum change_type change, size_t rows_len,
                            struct err *err)
{
    if (log_batch_builder_bytes(builder) > BUILDER_BYTES_MAX || builder->count == ARROW_ROWS_MAX) {
        take_back(builder, builder->type->field_count, rows_len);
        return err_set(err, ERR_LIMIT, "a log batch holds at most %u bytes and %u rows", BUILDER_BYTES_MAX,
                       ARROW_ROWS_MAX);
    }
    if (!builder->options.append_only)
        buf_put_u8(&builder->change_types, (uint8_t)change);
    builder->count++;
    return OK;
}

enum err_code log_batch_builder_append(struct log_batch_builder *builder, enum change_type change,
                                       const struct datum *row, struct err *err)
{
    ASSERT(!builder->options.append_only || change == CHANGE_APPEND);
    size_t rows_len = builder->rows.len;
    if (!builder->columns) {
        TRY(batch_put_row(builder, change, row, err));
        return accept(builder, change, rows_len, err);
    }
    for (uint32_t i = 0; i < builder->type->field_count; i++) {
        enum err_code code = column_builder_append(&builder->columns[i], &row[i], err);
        if (code != OK) {
            take_back(builder, i, rows_len);
            return code;
        }
    }
    return accept(builder, change, rows_len, err);
}

enum err_code log_batch_builder_append_from(struct log_batch_builder *builder, enum change_type change,
                                            const struct column *columns, uint32_t i, struct err *err)
{
    if (builder->columns) {
        ASSERT(!builder->options.append_only || change == CHANGE_APPEND);
        for (uint32_t c = 0; c < builder->type->field_count; c++)
            column_builder_append_from(&builder->columns[c], &columns[c], i);
        return accept(builder, change, 0, err);
    }
    arena_reset(&builder->scratch);
    struct datum *row = ARENA_NEW_ARRAY(&builder->scratch, struct datum, builder->type->field_count);
    for (uint32_t c = 0; c < builder->type->field_count; c++)
        column_get(&columns[c], i, &builder->scratch, &row[c]);
    return log_batch_builder_append(builder, change, row, err);
}

static void put_arrow(struct log_batch_builder *builder, const struct column *columns, struct arrow_codec *codec,
                      struct buf *out)
{
    buf_put_slice(out, buf_view(&builder->change_types));
    arrow_encode(codec, builder->options.arrow, columns, builder->type->field_count, builder->count, out);
}

static const struct column *columns_view(struct log_batch_builder *builder)
{
    arena_reset(&builder->scratch);
    struct column *columns = ARENA_NEW_ARRAY(&builder->scratch, struct column, builder->type->field_count);
    for (uint32_t i = 0; i < builder->type->field_count; i++)
        column_builder_view(&builder->columns[i], &builder->scratch, &columns[i]);
    return columns;
}

void log_batch_builder_finish(struct log_batch_builder *builder, struct arrow_codec *codec, int64_t writer_id,
                              int32_t batch_sequence, struct buf *out)
{
    size_t start = batch_header_start(out, builder->options.layout), statistics_at = out->len, statistics_len = 0;
    if (builder->count && builder->columns) {
        const struct column *columns = columns_view(builder);
        if (builder->options.statistics_count)
            batch_put_statistics(&builder->options, builder->type, columns, &builder->scratch, out);
        statistics_len = out->len - statistics_at;
        put_arrow(builder, columns, codec, out);
    } else if (builder->count) {
        buf_put_slice(out, buf_view(&builder->rows));
    }
    batch_header_finish(out, start, &builder->options, builder->count, statistics_len, writer_id, batch_sequence);
    log_batch_builder_reset(builder);
}
