/* The oracle: stream against lake at V, and stream against the union read at U. */
#include "union/union_int.h"

#include <stdio.h>

#define ATTEMPTS_MAX 5

struct verify {
    struct client_table *table;
    const struct union_verify_options *options;
    struct union_lake *lake; /* NULL: there is no snapshot */
    struct union_plan plan;
    uint32_t gone_count;  /* partitions that were gone when it was planned */
    bool counts_kept;     /* the lake is being read for the first time */
    bool folds_by_key;    /* the changelog has no old rows */
    bool buckets_unknown; /* the lake does not tell them */
    struct bag stream, other, stream_now;
    int64_t rows_read;
    struct arena *arena;
    struct union_verdict *verdict;
};

/* ---- the sides ---- */

/* Rows on their way to fn, with the bucket as this comparison wants it, and without those that have no stream. */
struct pipe {
    struct verify *verify;
    union_row_fn *fn;
    void *arg;
};

static bool is_history(const struct client_table *table, const struct union_row *row)
{
    return table->is_partitioned && (row->partition < 0 || table->partitions[row->partition]->is_remade);
}

static enum err_code pass_row(void *arg, const struct union_row *row, bool *enough, struct err *err)
{
    struct pipe *pipe = arg;
    struct union_row passed = *row;
    if (is_history(pipe->verify->table, row)) {
        pipe->verify->verdict->kept_rows += pipe->verify->counts_kept;
        return OK;
    }
    if (pipe->verify->buckets_unknown)
        passed.bucket = -1;
    return pipe->fn(pipe->arg, &passed, enough, err);
}

struct fold_pipe {
    struct pipe pipe;
    bool enough;
};

static enum err_code pass_folded(void *arg, int32_t place, const struct datum *values, struct err *err)
{
    struct fold_pipe *fold = arg;
    const struct verify *verify = fold->pipe.verify;
    const struct client_table *table = verify->table;
    struct union_row row = {values, client_place_bucket(table, place), place_partition(table, place), 1};
    if (fold->enough)
        return OK;
    return pass_row(&fold->pipe, &row, &fold->enough, err);
}

/* The changelog from its beginning up to stops. */
static enum err_code read_stream(struct verify *verify, const int64_t *stops, union_row_fn *fn, void *arg,
                                 struct err *err)
{
    struct fold_pipe pipe = {{verify, fn, arg}, false};
    size_t count = verify->plan.place_count;
    int64_t *bounds = mem_zalloc(2 * count * sizeof *bounds + 1);
    for (size_t i = 0; i < count; i++) {
        bounds[i] = verify->plan.starts[i];
        bounds[count + i] = MAX(stops[i], 0);
    }
    enum err_code code = verify->folds_by_key
                             ? client_fold(verify->table, bounds + count, pass_folded, &pipe, err)
                             : union_log_read(verify->table, bounds, bounds + count, count, pass_row, &pipe.pipe, err);
    mem_free(bounds);
    return code;
}

static enum err_code read_stream_at_v(void *arg, union_row_fn *fn, void *fn_arg, struct err *err)
{
    struct verify *verify = arg;
    return read_stream(verify, verify->plan.offsets, fn, fn_arg, err);
}

static enum err_code read_stream_now(void *arg, union_row_fn *fn, void *fn_arg, struct err *err)
{
    struct verify *verify = arg;
    return read_stream(verify, verify->plan.stops, fn, fn_arg, err);
}

static enum err_code read_lake(void *arg, union_row_fn *fn, void *fn_arg, struct err *err)
{
    struct verify *verify = arg;
    struct pipe pipe = {verify, fn, fn_arg};
    struct union_lake_options options = {.snapshot_id = verify->plan.snapshot_id};
    if (verify->plan.from_starts) {
        options.from = verify->plan.starts;
        options.from_count = verify->plan.place_count;
        options.left_out = verify->counts_kept ? &verify->verdict->trimmed_rows : NULL;
    }
    return verify->lake ? union_lake_read(verify->lake, &options, pass_row, &pipe, err) : OK;
}

static enum err_code read_union(void *arg, union_row_fn *fn, void *fn_arg, struct err *err)
{
    struct verify *verify = arg;
    struct pipe pipe = {verify, fn, fn_arg};
    return union_read(verify->table, verify->lake, &verify->plan, 0, pass_row, &pipe, err);
}

/* ---- comparing ---- */

typedef enum err_code source_fn(void *arg, union_row_fn *fn, void *fn_arg, struct err *err);

static struct bag_fill fill_of(struct verify *verify, struct bag *bag, const char *what)
{
    return (struct bag_fill){.schema = &verify->table->schema.schema,
                             .bag = bag,
                             .watch = &verify->options->watch,
                             .what = what,
                             .rows_counted = &verify->rows_read};
}

/* total: about how many rows come, for the progress. */
static enum err_code fill(struct verify *verify, source_fn *source, const char *what, int64_t total, struct bag *bag,
                          struct err *err)
{
    struct bag_fill task = fill_of(verify, bag, what);
    task.total = total;
    memset(bag, 0, sizeof *bag);
    enum err_code code = source(verify, bag_fill_row, &task, err);
    buf_deinit(&task.scratch);
    return code;
}

static int64_t count_changes(const struct verify *verify, const int64_t *stops)
{
    int64_t count = 0;
    for (size_t i = 0; i < verify->plan.place_count; i++)
        count += MAX(stops[i] - MAX(verify->plan.starts[i], 0), 0);
    return count;
}

/* The stream at U is the stream at V and what came between. */
static enum err_code fill_stream_now(struct verify *verify, struct err *err)
{
    if (verify->folds_by_key)
        return fill(verify, read_stream_now, "reading the log", 0, &verify->stream_now, err);
    struct bag_fill task = fill_of(verify, &verify->stream_now, "reading the log");
    task.total = count_changes(verify, verify->plan.stops) - count_changes(verify, verify->plan.offsets);
    struct pipe pipe = {verify, bag_fill_row, &task};
    verify->stream_now = verify->stream;
    const struct union_plan *plan = &verify->plan;
    int64_t *starts = mem_alloc(plan->place_count * sizeof *starts + 1);
    for (size_t i = 0; i < plan->place_count; i++)
        starts[i] = plan_log_start(plan, i);
    enum err_code code = union_log_read(verify->table, starts, plan->stops, plan->place_count, pass_row, &pipe, err);
    mem_free(starts);
    buf_deinit(&task.scratch);
    return code;
}

static enum err_code tell_differences(struct verify *verify, source_fn *stream, source_fn *other,
                                      const struct bag *stream_bag, struct err *err)
{
    struct difference_task task = {.schema = &verify->table->schema.schema,
                                   .sources = {{stream, verify}, {other, verify}},
                                   .bags = {stream_bag, &verify->other}};
    struct differences found;
    TRY(differences_find(&task, verify->arena, &found, err));
    verify->verdict->differences = found.items;
    verify->verdict->difference_count = found.count;
    verify->verdict->differing_rows = found.differing_rows;
    verify->verdict->differing_all = found.all;
    return OK;
}

static enum err_code compare_lake(struct verify *verify, struct err *err)
{
    int64_t changes = count_changes(verify, verify->plan.offsets);
    TRY(fill(verify, read_stream_at_v, "reading the log", changes, &verify->stream, err));
    verify->counts_kept = true;
    TRY(fill(verify, read_lake, "reading the lake", verify->stream.all.row_count, &verify->other, err));
    verify->counts_kept = false;
    verify->verdict->stream = verify->stream.all;
    verify->verdict->lake = verify->other.all;
    if (bag_equal(&verify->stream, &verify->other))
        return OK;
    verify->verdict->kind = UNION_LAKE_DIFFERS;
    return tell_differences(verify, read_stream_at_v, read_lake, &verify->stream, err);
}

static bool has_tail(const struct verify *verify)
{
    for (size_t i = 0; i < verify->plan.place_count; i++)
        if (verify->plan.stops[i] > MAX(verify->plan.offsets[i], 0))
            return true;
    return false;
}

/* Without anything behind V the union read is the lake read, which is done. */
static enum err_code compare_union(struct verify *verify, struct err *err)
{
    struct union_verdict *verdict = verify->verdict;
    verdict->stream_now = verdict->stream;
    verdict->read_now = verdict->lake;
    if (!has_tail(verify))
        return OK;
    TRY(fill_stream_now(verify, err));
    int64_t rows = verify->stream_now.all.row_count;
    TRY(fill(verify, read_union, "reading lake and log", rows, &verify->other, err));
    verdict->stream_now = verify->stream_now.all;
    verdict->read_now = verify->other.all;
    if (bag_equal(&verify->stream_now, &verify->other))
        return OK;
    verdict->kind = UNION_READ_DIFFERS;
    return tell_differences(verify, read_stream_now, read_union, &verify->stream_now, err);
}

/* ---- one attempt, and more where the snapshot expired meanwhile ---- */

static void look_at_table(struct verify *verify)
{
    const struct slice *image = properties_get(&verify->table->descriptor.properties, "table.changelog.image");
    verify->folds_by_key = verify->table->has_primary_key && image && slice_equal_nocase(*image, SLICE("WAL"));
    verify->buckets_unknown = verify->lake && !verify->table->keys.bucket_count && !union_system_columns(verify->lake);
}

static uint32_t count_gone(const struct client_table *table)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->partition_count; i++)
        count += table->partitions[i]->is_gone;
    return count;
}

/* Of a partition that was dropped while the sides were read, each side saw another part. */
static enum err_code check_partitions(struct verify *verify, struct err *err)
{
    TRY(client_partitions_refresh(verify->table, err));
    if (verify->verdict->kind == UNION_EQUAL || count_gone(verify->table) == verify->gone_count)
        return OK;
    return err_set(err, ERR_PARTITION_NOT_EXISTS, "partitions of %.*s.%.*s were dropped while it was compared",
                   SLICE_ARGS(verify->table->path.database), SLICE_ARGS(verify->table->path.table));
}

/* Where something of the log is gone, its rows are compared from there on; changes are not enough without their
 * beginning. */
static enum err_code check_starts(struct verify *verify, struct err *err)
{
    const struct client_table *table = verify->table;
    for (size_t i = 0; i < verify->plan.place_count; i++) {
        if (verify->plan.starts[i] <= 0)
            continue;
        verify->plan.from_starts = true;
        if (table->has_primary_key)
            return err_set(
                err, ERR_NOT_SUPPORTED,
                "the changelog of %.*s.%.*s begins at offset %lld in bucket %d: what came before is gone, and "
                "the rest can't be folded",
                SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table), (long long)verify->plan.starts[i],
                client_place_bucket(table, (int32_t)i));
    }
    return OK;
}

static enum err_code attempt(struct verify *verify, struct err *err)
{
    struct union_verdict *verdict = verify->verdict;
    union_lake_close(verify->lake);
    verify->lake = NULL;
    verify->counts_kept = false;
    *verdict = (struct union_verdict){.kind = UNION_EQUAL};
    TRY(union_plan(verify->table, verify->arena, &verify->plan, err));
    verdict->snapshot_id = verify->plan.snapshot_id;
    verify->gone_count = count_gone(verify->table);
    TRY(check_starts(verify, err));
    if (verify->options->no_wait && !verify->plan.snapshot_id && has_tail(verify))
        return err_set(err, ERR_NOT_YET, "%.*s.%.*s has no lake snapshot yet", SLICE_ARGS(verify->table->path.database),
                       SLICE_ARGS(verify->table->path.table));
    if (verify->plan.snapshot_id)
        TRY(union_lake_open(verify->table, &verify->lake, err));
    look_at_table(verify);
    TRY(compare_lake(verify, err));
    if (verdict->kind == UNION_EQUAL)
        TRY(compare_union(verify, err));
    return check_partitions(verify, err);
}

/* Something went while it was read: a snapshot, a partition, the oldest segment of a log. */
static bool is_passing(enum err_code code)
{
    return code == ERR_NOT_FOUND || code == ERR_PARTITION_NOT_EXISTS || code == ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION;
}

static enum err_code compare(struct verify *verify, struct err *err)
{
    struct err own = {0};
    enum err_code code = attempt(verify, &own);
    for (int i = 1; is_passing(code) && i < ATTEMPTS_MAX; i++)
        code = attempt(verify, &own);
    verify->verdict->rows_read = verify->rows_read;
    if (code == ERR_LAKE || code == ERR_NOT_FOUND) {
        verify->verdict->kind = UNION_LAKE_UNREADABLE;
        verify->verdict->why = arena_dup(verify->arena, slice_str(own.text));
        return OK;
    }
    if (code != OK && err)
        *err = own;
    return code;
}

static enum err_code wait_for_lake(struct client_table *table, const struct union_verify_options *options,
                                   struct arena *arena, struct err *err)
{
    int64_t *wanted = ARENA_NEW_ARRAY(arena, int64_t, client_place_count(table));
    if (!table->lake_enabled)
        return no_lake(table, err);
    if (options->no_wait)
        return OK;
    TRY(client_offsets(table, CLIENT_LATEST, 0, wanted, err));
    return union_wait(table, wanted, options->deadline_mono_ns, &options->watch, NULL, err);
}

enum err_code union_verify(struct client_table *table, const struct union_verify_options *options, struct arena *arena,
                           struct union_verdict *verdict, struct err *err)
{
    TRY(wait_for_lake(table, options, arena, err));
    struct verify *verify = mem_zalloc(sizeof *verify);
    verify->table = table;
    verify->options = options;
    verify->arena = arena;
    verify->verdict = verdict;
    enum err_code code = compare(verify, err);
    union_lake_close(verify->lake);
    mem_free(verify);
    return code;
}
