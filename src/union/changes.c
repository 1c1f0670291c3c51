/* The changes of a part of a table's log, row by row. */
#include "union/union_int.h"

static size_t fill_ranges(const struct client_table *table, const int64_t *starts, const int64_t *stops,
                          size_t place_count, struct client_scan_bucket *ranges)
{
    size_t count = 0;
    for (size_t i = 0; i < place_count; i++) {
        int64_t start = MAX(starts[i], 0);
        if (start < stops[i] && !client_place_is_gone(table, (int32_t)i))
            ranges[count++] = (struct client_scan_bucket){(int32_t)i, start, stops[i]};
    }
    return count;
}

static int32_t weight_of(enum change_type change)
{
    return change == CHANGE_UPDATE_BEFORE || change == CHANGE_DELETE ? -1 : 1;
}

static enum err_code give_batch(const struct client_table *table, const struct client_batch *batch,
                                struct datum *values, struct arena *arena, union_row_fn *fn, void *arg, bool *enough,
                                struct err *err)
{
    int32_t partition = place_partition(table, batch->place);
    for (uint32_t i = batch->first; i < batch->end && !*enough; i++) {
        arena_reset(arena);
        for (uint32_t c = 0; c < batch->rows.column_count; c++)
            column_get(&batch->rows.columns[c], i, arena, &values[c]);
        struct union_row row = {values, batch->bucket, partition, weight_of(log_batch_change(&batch->rows, i))};
        TRY(fn(arg, &row, enough, err));
    }
    return OK;
}

enum err_code union_log_read(struct client_table *table, const int64_t *starts, const int64_t *stops,
                             size_t place_count, union_row_fn *fn, void *arg, struct err *err)
{
    enum err_code code;
    struct client_scanner *scanner = NULL;
    struct arena arena = {0};
    bool enough = false;
    struct datum *values = mem_zalloc(table->schema.schema.column_count * sizeof *values);
    struct client_scan_bucket *ranges = mem_alloc(place_count * sizeof *ranges + 1);
    size_t count = fill_ranges(table, starts, stops, place_count, ranges);
    TRY_OR_FAIL(client_scanner_create(table, ranges, count, NULL, &scanner, err));
    while (!enough && !client_scanner_done(scanner)) {
        struct client_batch batch;
        bool have;
        TRY_OR_FAIL(client_scanner_next(scanner, &batch, &have, err));
        if (have)
            TRY_OR_FAIL(give_batch(table, &batch, values, &arena, fn, arg, &enough, err));
    }
fail:
    client_scanner_destroy(scanner);
    arena_deinit(&arena);
    mem_free(ranges);
    mem_free(values);
    return code;
}
