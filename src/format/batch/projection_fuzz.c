/* Any bytes projected: refused, or a batch that holds the same values in the asked columns, if the whole one decodes.
 * byte 0: bits of the asked columns; the rest is a batch of the type below. */
#include "format/batch/batch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define COLUMN_COUNT 8

static const char sql[] = "ROW<id INT, arr ARRAY<INT>, strs ARRAY<STRING>, m MAP<STRING NOT NULL, INT>,"
                          "r ROW<i INT, s STRING, l ARRAY<BIGINT>>, rows ARRAY<ROW<i INT, s STRING, l ARRAY<BIGINT>>>,"
                          "mm MAP<INT NOT NULL, ARRAY<DOUBLE>>, tail STRING>";

static void compare(struct arrow_codec *codec, const struct type *type, struct slice whole, struct slice part,
                    const uint32_t *selected, uint32_t selected_count, struct arena *arena)
{
    struct log_batch a, b;
    struct log_batch_rows rows, kept;
    struct field fields[COLUMN_COUNT];
    struct type part_type = {.kind = TYPE_ROW, .fields = fields, .field_count = selected_count};
    for (uint32_t c = 0; c < selected_count; c++)
        fields[c] = type->fields[selected[c]];
    ASSERT(log_batch_read(whole, &a, NULL) == OK);
    if (log_batch_decode(codec, &a, LOG_FORMAT_ARROW, type, arena, &rows, NULL) != OK)
        return;
    ASSERT(log_batch_read(part, &b, NULL) == OK && b.size == part.len && b.statistics.len == 0);
    ASSERT(log_batch_decode(codec, &b, LOG_FORMAT_ARROW, &part_type, arena, &kept, NULL) == OK);
    ASSERT(kept.count == rows.count);
    for (uint32_t c = 0; c < selected_count; c++)
        for (uint32_t i = 0; i < rows.count && i < 64; i++) {
            struct datum x, y;
            column_get(&rows.columns[selected[c]], i, arena, &x);
            column_get(&kept.columns[c], i, arena, &y);
            ASSERT(datum_equal(fields[c].type, &x, &y));
        }
}

/* The same columns of a later schema, which has each of them once more behind: what is made of it is whole. */
static void widen(const struct type *type, struct slice batch, size_t need, const uint32_t *selected, uint32_t count)
{
    struct field fields[2 * COLUMN_COUNT];
    uint32_t positions[2 * COLUMN_COUNT];
    struct type wide = {.kind = TYPE_ROW, .fields = fields, .field_count = 2 * type->field_count};
    struct arrow_selection selection = {&wide, positions, 2 * count};
    struct buf out = {0};
    arrow_ranges ranges = {0};
    for (uint32_t c = 0; c < wide.field_count; c++)
        fields[c] = type->fields[c % type->field_count];
    for (uint32_t c = 0; c < 2 * count; c++)
        positions[c] = selected[c % count] + (c < count ? 0 : type->field_count);
    if (log_batch_project(slice_of(batch.ptr, need), type, &selection, &out, &ranges, NULL) == OK) {
        size_t len = out.len;
        for (size_t i = 0; i < ranges.len; i++)
            len += ranges.ptr[i].len;
        ASSERT(len == load_u32(out.ptr + 8) + 12u);
    }
    buf_deinit(&out);
    vec_deinit(&ranges);
}

static void check(struct arrow_codec *codec, const struct type *type, struct slice batch, uint8_t bits,
                  struct arena *arena)
{
    uint32_t selected[COLUMN_COUNT], count = 0;
    struct buf out = {0};
    arrow_ranges ranges = {0};
    size_t need;
    for (uint32_t c = 0; c < COLUMN_COUNT; c++)
        if (bits >> c & 1)
            selected[count++] = c;
    if (count && log_batch_head_bytes(batch, &need, NULL) == OK && need <= batch.len)
        widen(type, batch, need, selected, count);
    if (log_batch_head_bytes(batch, &need, NULL) == OK && need <= batch.len &&
        log_batch_project(slice_of(batch.ptr, need), type, &(struct arrow_selection){type, selected, count}, &out,
                          &ranges, NULL) == OK) {
        size_t whole = load_u32(batch.ptr + 8) + 12u;
        for (size_t i = 0; i < ranges.len && whole <= batch.len; i++) {
            ASSERT(ranges.ptr[i].offset + ranges.ptr[i].len <= whole);
            buf_put(&out, batch.ptr + ranges.ptr[i].offset, ranges.ptr[i].len);
        }
        if (whole <= batch.len)
            compare(codec, type, slice_of(batch.ptr, whole), buf_view(&out), selected, count, arena);
    }
    buf_deinit(&out);
    vec_deinit(&ranges);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    struct arena arena = {0};
    struct arrow_codec codec = {0};
    const struct type *type = NULL;
    ASSERT(type_from_sql(&arena, slice_str(sql), &type, NULL) == OK);
    check(&codec, type, slice_of(data + 1, size - 1), data[0], &arena);
    arrow_codec_deinit(&codec);
    arena_deinit(&arena);
    return 0;
}
