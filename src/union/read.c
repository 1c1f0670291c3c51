/* The union read: lake snapshot at V, log from V. */
#include "union/read_int.h"

enum err_code union_plan(struct client_table *table, struct arena *arena, struct union_plan *plan, struct err *err)
{
    size_t count = (size_t)table->bucket_count;
    struct client_lake_snapshot snapshot = {0};
    struct union_plan planned = {0};
    struct err none = {0};
    enum err_code code = ERR_LAKE_SNAPSHOT_NOT_EXIST;
    if (table->lake_enabled)
        code = client_lake_snapshot(table, CLIENT_LAKE_READABLE, 0, arena, &snapshot, &none);
    if (code != OK && code != ERR_LAKE_SNAPSHOT_NOT_EXIST) {
        if (err)
            *err = none;
        return code;
    }
    planned.snapshot_id = code == OK ? snapshot.id : 0;
    planned.offsets = snapshot.offsets;
    if (!planned.offsets) {
        planned.offsets = ARENA_NEW_ARRAY(arena, int64_t, count);
        memset(planned.offsets, 0xff, count * sizeof *planned.offsets);
    }
    planned.stops = ARENA_NEW_ARRAY(arena, int64_t, count);
    TRY(client_offsets(table, CLIENT_LATEST, 0, planned.stops, err));
    *plan = planned;
    return OK;
}

struct merge {
    const struct union_plan *plan;
    struct tail *tail; /* NULL: a log table */
    int32_t bucket_count;
    union_row_fn *fn;
    void *arg;
    bool enough; /* the caller's */
};

static enum err_code merge_lake_row(void *arg, const struct union_row *row, bool *enough, struct err *err)
{
    struct merge *merge = arg;
    bool hides = false;
    if (row->bucket >= 0 && (row->bucket >= merge->bucket_count || merge->plan->offsets[row->bucket] < 0))
        return OK;
    if (merge->tail)
        TRY(tail_hides(merge->tail, row->values, &hides, err));
    if (hides)
        return OK;
    enum err_code code = merge->fn(merge->arg, row, &merge->enough, err);
    *enough = merge->enough;
    return code;
}

static enum err_code read_lake(struct union_lake *lake, struct merge *merge, struct err *err)
{
    struct union_lake_options options = {.snapshot_id = merge->plan->snapshot_id};
    return merge->plan->snapshot_id ? union_lake_read(lake, &options, merge_lake_row, merge, err) : OK;
}

static enum err_code log_row(void *arg, const struct union_row *row, bool *enough, struct err *err)
{
    struct merge *merge = arg;
    enum err_code code = merge->fn(merge->arg, row, &merge->enough, err);
    *enough = merge->enough;
    return code;
}

/* A log table without any snapshot begins where its log begins. */
static enum err_code read_log_table(struct client_table *table, struct union_lake *lake, struct merge *merge,
                                    struct err *err)
{
    TRY(read_lake(lake, merge, err));
    if (merge->enough)
        return OK;
    if (merge->plan->snapshot_id)
        return union_log_read(table, merge->plan->offsets, merge->plan->stops, log_row, merge, err);
    int64_t *starts = mem_alloc((size_t)table->bucket_count * sizeof *starts);
    enum err_code code = client_offsets(table, CLIENT_EARLIEST, 0, starts, err);
    if (code == OK)
        code = union_log_read(table, starts, merge->plan->stops, log_row, merge, err);
    mem_free(starts);
    return code;
}

/* One share of the keys; two halves of it where its changes don't fit. */
static enum err_code read_share(struct client_table *table, struct union_lake *lake, struct merge *merge,
                                struct tail_share share, uint64_t tail_bytes, struct err *err)
{
    bool overflowed;
    TRY(tail_read(table, merge->plan, share, tail_bytes, &merge->tail, &overflowed, err));
    if (overflowed) {
        struct tail_share low = {share.count * 2, share.index}, high = {share.count * 2, share.index + share.count};
        TRY(read_share(table, lake, merge, low, tail_bytes, err));
        return merge->enough ? OK : read_share(table, lake, merge, high, tail_bytes, err);
    }
    enum err_code code = read_lake(lake, merge, err);
    if (code == OK && !merge->enough)
        code = tail_give(merge->tail, merge->fn, merge->arg, &merge->enough, err);
    tail_destroy(merge->tail);
    merge->tail = NULL;
    return code;
}

enum err_code union_read(struct client_table *table, struct union_lake *lake, const struct union_plan *plan,
                         uint64_t tail_bytes, union_row_fn *fn, void *arg, struct err *err)
{
    struct merge merge = {.plan = plan, .bucket_count = table->bucket_count, .fn = fn, .arg = arg};
    ASSERT(lake || !plan->snapshot_id);
    if (!table->has_primary_key)
        return read_log_table(table, lake, &merge, err);
    return read_share(table, lake, &merge, (struct tail_share){1, 0}, tail_bytes ? tail_bytes : UNION_TAIL_BYTES, err);
}
