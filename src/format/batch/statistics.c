/* Column statistics, between header and body (log.md 3). Nothing is aligned.
 *
 *   size   field
 *    1     version 1
 *    2     column count N
 *    2 N   i16 position of each column
 *    4 N   i32 null count of each
 *    4     size, then the row of least values (aligned row of N fields)
 *    4     size, then the row of greatest values */
#include "base/reader.h"
#include "format/batch/header_int.h"
#include "format/row/row.h"

#include <limits.h>

enum err_code log_batch_statistics_read(const struct log_batch *batch, uint32_t column_count, bool *present,
                                        struct log_batch_statistics *statistics, struct err *err)
{
    struct reader r = reader_of(batch->statistics);
    struct log_batch_statistics s = {0};
    uint8_t version = batch->statistics.len ? reader_u8(&r) : 0;
    int16_t count = version == LOG_BATCH_STATISTICS_VERSION ? (int16_t)reader_u16(&r) : 0;
    if (reader_ok(&r) && count <= 0) {
        *present = false;
        return OK;
    }
    s.count = (uint16_t)count;
    s.positions = reader_take(&r, 2 * (size_t)s.count);
    s.null_counts = reader_take(&r, 4 * (size_t)s.count);
    s.min = reader_slice(&r, reader_u32(&r));
    s.max = reader_slice(&r, reader_u32(&r));
    bool inside = reader_done(&r);
    for (uint32_t i = 0; inside && i < s.count; i++)
        inside = load_u16(s.positions + 2 * (size_t)i) < column_count;
    if (!inside)
        return err_set(err, ERR_CORRUPT, "log batch has column statistics that do not fit it");
    *present = true;
    *statistics = s;
    return OK;
}

bool log_batch_has_bounds(enum type_kind kind)
{
    return kind != TYPE_BINARY && kind != TYPE_BYTES && kind != TYPE_ARRAY && kind != TYPE_MAP && kind != TYPE_ROW;
}

/* ---- writing ---- */

static void find_bounds(const struct column *column, struct arena *arena, struct datum *min, struct datum *max)
{
    *min = *max = (struct datum){.is_null = true};
    for (uint32_t i = 0; i < column->length; i++) {
        struct datum value;
        if (column_is_null(column, i))
            continue;
        column_get(column, i, arena, &value);
        if (min->is_null || datum_compare(column->type, &value, min) < 0)
            *min = value;
        if (max->is_null || datum_compare(column->type, &value, max) > 0)
            *max = value;
    }
}

static enum err_code put_bounds(const struct type *row, const struct datum *bounds, struct buf *out)
{
    size_t at = out->len;
    buf_put_u32(out, 0);
    TRY(row_encode(ROW_ALIGNED, row, bounds, out, NULL));
    store_u32(out->ptr + at, (uint32_t)(out->len - at - 4));
    return OK;
}

void batch_put_statistics(const struct log_batch_options *options, const struct type *type,
                          const struct column *columns, struct arena *arena, struct buf *out)
{
    uint32_t count = options->statistics_count;
    size_t start = out->len;
    struct field *fields = ARENA_NEW_ARRAY(arena, struct field, count);
    struct datum *min = ARENA_NEW_ARRAY(arena, struct datum, count), *max = ARENA_NEW_ARRAY(arena, struct datum, count);
    ASSERT(count <= SHRT_MAX);
    buf_put_u8(out, LOG_BATCH_STATISTICS_VERSION);
    buf_put_u16(out, (uint16_t)count);
    for (uint32_t i = 0; i < count; i++)
        buf_put_u16(out, (uint16_t)options->statistics[i]);
    for (uint32_t i = 0; i < count; i++) {
        const struct column *column = &columns[options->statistics[i]];
        buf_put_u32(out, column->null_count);
        fields[i] = type->fields[options->statistics[i]];
        find_bounds(column, arena, &min[i], &max[i]);
    }
    const struct type row = {.kind = TYPE_ROW, .fields = fields, .field_count = count};
    if (put_bounds(&row, min, out) != OK || put_bounds(&row, max, out) != OK)
        out->len = start;
}
