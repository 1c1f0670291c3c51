/* A round: plan, read, commit on both sides, in the order of stock (TieringSplitReader, TieringCommitOperator). */
#include "tier/tier_int.h"

/* ---- plan ---- */

/* "bucket 3", "bucket 3 of partition us$2024". */
static struct slice place_text(struct round *round, int32_t place)
{
    const struct client_table *table = round->source.table;
    const struct client_partition *partition = client_place_partition(table, place);
    struct slice name = partition ? partition->name : SLICE("");
    return arena_printf(&round->arena, "bucket %d%s%.*s", client_place_bucket(table, place),
                        partition ? " of partition " : "", SLICE_ARGS(name));
}

static enum err_code plan_place(struct round *round, int32_t p, int64_t earliest, struct err *err)
{
    const struct client_table *table = round->source.table;
    int64_t tiered = round->source.registered.offsets[p], latest = round->latest[p];
    round->end[p] = round->start[p] = round->times[p] = -1;
    if (client_place_is_gone(table, p))
        return OK;
    if (tiered > latest)
        return err_set(err, ERR_LAKE, "%.*s: the lake holds the log up to %lld, but it ends at %lld: rows were lost",
                       SLICE_ARGS(place_text(round, p)), (long long)tiered, (long long)latest);
    if (latest <= 0 || tiered == latest)
        return OK;
    if (tiered < 0 && table->has_primary_key && earliest > 0)
        return err_set(
            err, ERR_NOT_SUPPORTED,
            "%.*s: the changes below offset %lld are only in snapshots of the state, which weir does not read",
            SLICE_ARGS(place_text(round, p)), (long long)earliest);
    round->start[p] = tiered < 0 ? earliest : tiered;
    round->any = true;
    return OK;
}

static void make_arrays(struct round *round)
{
    struct arena *arena = &round->arena;
    size_t count = round->place_count = client_place_count(round->source.table);
    round->start = ARENA_NEW_ARRAY(arena, int64_t, count);
    round->latest = ARENA_NEW_ARRAY(arena, int64_t, count);
    round->end = ARENA_NEW_ARRAY(arena, int64_t, count);
    round->times = ARENA_NEW_ARRAY(arena, int64_t, count);
    round->files_of = arena_zalloc(arena, count * sizeof(struct paimon_bucket *) + 1);
}

/* Where buckets begin of which the lake has nothing yet. */
static enum err_code find_beginnings(struct round *round, int64_t *earliest, struct err *err)
{
    bool any = false;
    bool *wanted = arena_zalloc(&round->arena, round->place_count + 1);
    for (size_t p = 0; p < round->place_count; p++)
        any |= wanted[p] = round->source.registered.offsets[p] < 0 && round->latest[p] > 0;
    return any ? client_offsets_of(round->source.table, CLIENT_EARLIEST, 0, wanted, earliest, err) : OK;
}

static enum err_code plan(struct round *round, struct err *err)
{
    make_arrays(round);
    int64_t *earliest = client_unknown_offsets(round->source.table, &round->arena);
    TRY(client_offsets(round->source.table, CLIENT_LATEST, 0, round->latest, err));
    TRY(find_beginnings(round, earliest, err));
    for (size_t p = 0; p < round->place_count; p++)
        TRY(plan_place(round, (int32_t)p, earliest[p], err));
    return OK;
}

static enum err_code files_begin(struct round *round, struct err *err)
{
    const struct schema *schema = &round->source.table->schema.schema;
    struct paimon_round_options options = {
        .columns = schema->columns,
        .column_count = schema->column_count,
        .rounds_dir = slice_str(round->worker->link.tier->rounds_dir),
    };
    return paimon_round_begin(round->source.lake, &options, &round->files, err);
}

enum err_code round_breathe(struct round *round, struct err *err)
{
    struct tier *tier = round->worker->link.tier;
    if (tier_stopping(tier))
        return err_set(err, ERR_SHUTTING_DOWN, "the tiering service stops");
    int64_t now = os_mono_ns(tier->config.os);
    if (now - round->renewed_ns < TIER_RENEW_NS)
        return OK;
    round->renewed_ns = now;
    return beat_renew(round->worker, round->job, err);
}

/* ---- commit ---- */

/* Rows that the table held before this round; -1: not known. */
static int64_t rows_before(const struct round *round)
{
    const struct paimon_snapshot *newest = &round->source.newest;
    const struct slice *told = properties_get(&newest->properties, TIER_ROW_COUNT_PROPERTY);
    int64_t count;
    if (newest->id == 0)
        return 0;
    return told && slice_to_i64(*told, &count) && count >= 0 ? count : -1;
}

static void count_rows(struct round *round)
{
    const struct client_table *table = round->source.table;
    const struct slice *image = properties_get(&table->descriptor.properties, "table.changelog.image");
    bool whole = !image || slice_equal_nocase(*image, SLICE("FULL"));
    int64_t before = rows_before(round);
    round->rows_in_lake = -1;
    if (before >= 0 && !table->has_primary_key)
        round->rows_in_lake = before + (int64_t)round->row_count;
    else if (before >= 0 && whole)
        round->rows_in_lake = before + round->inserted - round->deleted;
}

static enum err_code commit_in_lake(struct round *round, struct slice offsets_path, struct err *err)
{
    struct properties properties = {0};
    properties_set(&round->arena, &properties, SLICE(PAIMON_OFFSETS_PROPERTY), offsets_path);
    if (round->rows_in_lake >= 0)
        properties_set(&round->arena, &properties, SLICE(TIER_ROW_COUNT_PROPERTY),
                       arena_printf(&round->arena, "%lld", (long long)round->rows_in_lake));
    return paimon_round_commit(round->files, &properties, &round->committed, err);
}

static enum err_code commit(struct round *round, struct err *err)
{
    struct os *os = round->worker->link.tier->config.os;
    struct slice path;
    TRY(round_breathe(round, err));
    count_rows(round);
    os_step(os, "tier.written");
    TRY(client_lake_prepare(round->source.table, round->end, &round->arena, &path, err));
    os_step(os, "tier.prepared");
    TRY(commit_in_lake(round, path, err));
    os_step(os, "tier.committed");
    struct client_lake_commit commit = {
        .snapshot_id = round->committed.snapshot_id,
        .offsets_path = path,
        .readable = true,
        .offsets = round->end,
        .timestamps_ms = round->times,
    };
    TRY(client_lake_commit(round->source.table, &commit, err));
    os_step(os, "tier.registered");
    return OK;
}

static void tell_done(const struct round *round)
{
    const struct tier *tier = round->worker->link.tier;
    trace_info(tier->config.trace, "tier", "round_done", trace_slice("database", round->job->database),
               trace_slice("table", round->job->table), trace_i64("snapshot", round->committed.snapshot_id),
               trace_u64("rows", round->row_count), trace_u64("log_bytes", round->bytes),
               trace_u64("lake_bytes", round->committed.bytes), trace_i64("files", round->committed.file_count),
               trace_i64("ms", (os_mono_ns(tier->config.os) - round->begun_ns) / 1000000));
}

static bool moved(const struct round *round)
{
    for (size_t p = 0; p < round->place_count; p++)
        if (round->end[p] >= 0)
            return true;
    return false;
}

static enum err_code run(struct round *round, struct report *report, struct err *err)
{
    struct worker *worker = round->worker;
    struct tier *tier = worker->link.tier;
    struct client_path path = client_path(round->job->database, round->job->table);
    TRY(source_open(tier, worker->link.client, path, round->job->table_id, &round->arena, &round->source, err));
    TRY(plan(round, err));
    if (!round->any) {
        report->row_count = rows_before(round);
        return OK;
    }
    TRY(files_begin(round, err));
    TRY(round_read(round, err));
    if (!moved(round)) { /* all that was new has been dropped meanwhile */
        report->row_count = rows_before(round);
        return OK;
    }
    TRY(commit(round, err));
    tell_done(round);
    keeper_note(tier, round->source.table);
    report->row_count = round->rows_in_lake;
    report->more = round->cut;
    return OK;
}

/* Files that a round touches are the lake's, or scratch space: what helps is the same. */
static enum err_code name_remedy(enum err_code code, struct err *err)
{
    if (code == ERR_IO && err)
        err->code = ERR_LAKE_DIR;
    return code == ERR_IO ? ERR_LAKE_DIR : code;
}

enum err_code round_run(struct worker *worker, const struct job *job, struct report *report, struct err *err)
{
    int64_t now = os_mono_ns(worker->link.tier->config.os);
    struct round round = {.worker = worker, .job = job, .begun_ns = now, .renewed_ns = now, .heard_ns = now};
    enum err_code code = name_remedy(run(&round, report, err), err);
    paimon_round_destroy(round.files);
    source_close(&round.source);
    arena_deinit(&round.arena);
    if (round.bytes > TIER_TRIM_BYTES)
        mem_trim();
    return code;
}
