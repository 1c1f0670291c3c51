/* The union read: lake snapshot at V, log from V. */
#include "union/read_int.h"

enum err_code union_plan(struct client_table *table, struct arena *arena, struct union_plan *plan, struct err *err)
{
    struct client_lake_snapshot snapshot = {0};
    struct union_plan planned = {0};
    struct err none = {0};
    enum err_code code = ERR_LAKE_SNAPSHOT_NOT_EXIST;
    TRY(client_partitions_refresh(table, err));
    if (table->lake_enabled)
        code = client_lake_snapshot(table, CLIENT_LAKE_READABLE, 0, arena, &snapshot, &none);
    if (code != OK && code != ERR_LAKE_SNAPSHOT_NOT_EXIST) {
        if (err)
            *err = none;
        return code;
    }
    planned.snapshot_id = code == OK ? snapshot.id : 0;
    planned.offsets = snapshot.offsets;
    planned.place_count = client_place_count(table);
    if (!planned.offsets)
        planned.offsets = client_unknown_offsets(table, arena);
    planned.starts = ARENA_NEW_ARRAY(arena, int64_t, planned.place_count);
    planned.stops = ARENA_NEW_ARRAY(arena, int64_t, planned.place_count);
    TRY(client_offsets(table, CLIENT_EARLIEST, 0, planned.starts, err));
    TRY(client_offsets(table, CLIENT_LATEST, 0, planned.stops, err));
    *plan = planned;
    return OK;
}

struct merge {
    const struct client_table *table;
    const struct union_plan *plan;
    struct tail *tail; /* NULL: a log table */
    bool *covered;     /* by place: V says something of it */
    union_row_fn *fn;
    void *arg;
    bool enough; /* the caller's */
};

/* Of which buckets lake rows count. Twins share the lake's partition. */
static void find_covered(struct merge *merge)
{
    const struct client_table *table = merge->table;
    int32_t buckets = table->bucket_count;
    merge->covered = mem_zalloc(merge->plan->place_count + 1);
    for (size_t i = 0; i < merge->plan->place_count; i++) {
        int32_t first = MAX(place_partition(table, (int32_t)i), 0) * buckets + client_place_bucket(table, (int32_t)i);
        merge->covered[first] |= merge->plan->offsets[i] >= 0;
    }
}

/* In a partition that is there, and of a bucket that the snapshot does not know: what is there is older than the
 * partition, and its log has it all. A log table's rows are not replaced by later ones, so they count. */
static bool is_stale(const struct merge *merge, const struct union_row *row)
{
    int32_t place = row_place(merge->table, row);
    if (merge->table->is_partitioned && !merge->tail)
        return false;
    if (place < 0) /* not known, or a partition that only the lake has */
        return !merge->table->is_partitioned && row->bucket >= 0;
    return (size_t)place < merge->plan->place_count && !merge->covered[place];
}

static enum err_code merge_lake_row(void *arg, const struct union_row *row, bool *enough, struct err *err)
{
    struct merge *merge = arg;
    bool hides = false;
    if (is_stale(merge, row))
        return OK;
    if (merge->tail)
        TRY(tail_hides(merge->tail, row, &hides, err));
    if (hides)
        return OK;
    enum err_code code = merge->fn(merge->arg, row, &merge->enough, err);
    *enough = merge->enough;
    return code;
}

static enum err_code read_lake(struct union_lake *lake, struct merge *merge, struct err *err)
{
    struct union_lake_options options = {.snapshot_id = merge->plan->snapshot_id};
    if (merge->plan->from_starts) {
        options.from = merge->plan->starts;
        options.from_count = merge->plan->place_count;
    }
    return merge->plan->snapshot_id ? union_lake_read(lake, &options, merge_lake_row, merge, err) : OK;
}

static enum err_code log_row(void *arg, const struct union_row *row, bool *enough, struct err *err)
{
    struct merge *merge = arg;
    enum err_code code = merge->fn(merge->arg, row, &merge->enough, err);
    *enough = merge->enough;
    return code;
}

/* What the lake does not know of begins where its log does. */
static enum err_code read_log_table(struct client_table *table, struct union_lake *lake, struct merge *merge,
                                    struct err *err)
{
    const struct union_plan *plan = merge->plan;
    TRY(read_lake(lake, merge, err));
    if (merge->enough)
        return OK;
    int64_t *starts = mem_alloc(plan->place_count * sizeof *starts + 1);
    for (size_t i = 0; i < plan->place_count; i++)
        starts[i] = plan_log_start(plan, i);
    enum err_code code = union_log_read(table, starts, plan->stops, plan->place_count, log_row, merge, err);
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
    struct merge merge = {.table = table, .plan = plan, .fn = fn, .arg = arg};
    struct tail_share all = {1, 0};
    ASSERT(lake || !plan->snapshot_id);
    find_covered(&merge);
    enum err_code code = table->has_primary_key
                             ? read_share(table, lake, &merge, all, tail_bytes ? tail_bytes : UNION_TAIL_BYTES, err)
                             : read_log_table(table, lake, &merge, err);
    mem_free(merge.covered);
    return code;
}
