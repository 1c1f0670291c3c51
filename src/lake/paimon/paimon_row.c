/*   manifest row       i32 BE number of fields; BinaryRow (format/row/aligned.c, ROW_PAIMON)
 *   statistics row     manifest row of three fields: BYTES least values, BYTES greatest values (both manifest rows),
 *                      ARRAY<BIGINT> null counts
 *
 * Golden: paimon_rows.jsonl serialized_hex, stats_row_hex. */
#include "lake/paimon/paimon_row_int.h"

#include "base/reader.h"

enum err_code paimon_row_encode(const struct type *row, const struct datum *values, struct buf *out, struct err *err)
{
    size_t start = out->len;
    buf_put_u32_be(out, row->field_count);
    enum err_code code = row_encode(ROW_PAIMON, row, values, out, err);
    if (code != OK)
        out->len = start;
    return code;
}

enum err_code paimon_row_decode(const struct type *row, struct slice bytes, struct arena *arena, struct datum *values,
                                struct err *err)
{
    struct reader r = reader_of(bytes);
    uint32_t field_count = reader_u32_be(&r);
    if (!reader_ok(&r) || field_count != row->field_count)
        return err_set(err, ERR_CORRUPT, "a Paimon row of %u fields, not %u", field_count, row->field_count);
    return row_decode(ROW_PAIMON, row, reader_rest(&r), arena, values, err);
}

/* ---- statistics ---- */

static const struct type count_type = {.kind = TYPE_BIGINT, .nullable = true};
static const struct field count_field = {.name = {(const uint8_t *)"element", 7}, .type = &count_type, .id = -1};
static const struct type bytes_type = {.kind = TYPE_BYTES, .nullable = true};
static const struct type counts_type = {.kind = TYPE_ARRAY, .nullable = true, .fields = &count_field, .field_count = 1};
static const struct field stats_fields[] = {
    {.name = {(const uint8_t *)"min", 3}, .type = &bytes_type, .id = -1},
    {.name = {(const uint8_t *)"max", 3}, .type = &bytes_type, .id = -1},
    {.name = {(const uint8_t *)"null", 4}, .type = &counts_type, .id = -1},
};
static const struct type stats_type = {.kind = TYPE_ROW, .fields = stats_fields, .field_count = 3};

enum err_code paimon_stats_parts(const struct type *row, const struct paimon_stats *stats, struct buf *min,
                                 struct buf *max, struct err *err)
{
    TRY(paimon_row_encode(row, stats->min, min, err));
    return paimon_row_encode(row, stats->max, max, err);
}

enum err_code paimon_stats_encode(const struct type *row, const struct paimon_stats *stats, struct buf *out,
                                  struct err *err)
{
    struct buf min = {0}, max = {0};
    struct datum *counts = mem_zalloc(row->field_count * sizeof *counts);
    for (uint32_t i = 0; i < row->field_count; i++)
        counts[i] = (struct datum){.is_null = stats->null_counts[i] < 0, .i64 = stats->null_counts[i]};
    enum err_code code = paimon_stats_parts(row, stats, &min, &max, err);
    if (code == OK) {
        struct datum parts[] = {
            {.bytes = buf_view(&min)}, {.bytes = buf_view(&max)}, {.list = {counts, row->field_count}}};
        code = paimon_row_encode(&stats_type, parts, out, err);
    }
    mem_free(counts);
    buf_deinit(&min);
    buf_deinit(&max);
    return code;
}

enum err_code paimon_stats_decode(const struct type *row, struct slice bytes, struct arena *arena,
                                  struct paimon_stats *stats, struct err *err)
{
    struct datum parts[3] = {0};
    struct paimon_stats read = {ARENA_NEW_ARRAY(arena, struct datum, row->field_count),
                                ARENA_NEW_ARRAY(arena, struct datum, row->field_count),
                                ARENA_NEW_ARRAY(arena, int64_t, row->field_count)};
    TRY(paimon_row_decode(&stats_type, bytes, arena, parts, err));
    if (parts[0].is_null || parts[1].is_null || parts[2].is_null || parts[2].list.count != row->field_count)
        return err_set(err, ERR_CORRUPT, "Paimon statistics are not of %u columns", row->field_count);
    TRY(paimon_row_decode(row, parts[0].bytes, arena, read.min, err));
    TRY(paimon_row_decode(row, parts[1].bytes, arena, read.max, err));
    for (uint32_t i = 0; i < row->field_count; i++)
        read.null_counts[i] = parts[2].list.items[i].is_null ? -1 : parts[2].list.items[i].i64;
    *stats = read;
    return OK;
}
