/* The keeper: what makes lake tables stay cheap to read, behind the rounds and never in their way. After each commit it
 * compacts by size; a table at rest it merges in full; old snapshots it lets go.
 *
 * It works on a table while rounds commit to it. What it commits carries the V of the newest snapshot and is registered
 * like a round's, so whichever of the two is registered last, the server's latest is the newest in the lake. */
#include "conf/conf.h"
#include "tier/tier_int.h"

#define FRESHNESS_MS 10000                 /* of a table that does not say */
#define REST_MS_MIN 2000                   /* quiet for two freshnesses, within these bounds, is at rest */
#define REST_MS_MAX 60000                  /* ... */
#define REST_BYTES_PER_S (8 << 20)         /* and quiet as long as rewriting it at this rate takes */
#define BATCH_BUCKETS 256                  /* compacted together in one commit, at most, ... */
#define BATCH_BYTES (256u << 20)           /* ... until they read so much: a conflict costs no more */
#define EXPIRE_AT_ONCE 100                 /* snapshots that one look removes; then others have their turn */
#define EXPIRE_SLACK 16                    /* more than the most before somebody looks */
#define KEEP_SNAPSHOTS_MIN 10              /* as Paimon */
#define KEEP_RETRY_NS INT64_C(10000000000) /* after a failure */
#define NS_PER_MS INT64_C(1000000)

/* ---- the list ---- */

static struct kept_table *find_locked(struct keeper *keeper, int64_t table_id)
{
    for (size_t i = 0; i < keeper->tables.len; i++)
        if (keeper->tables.ptr[i]->table_id == table_id)
            return keeper->tables.ptr[i];
    return NULL;
}

static int64_t freshness_of(const struct client_table *table)
{
    int64_t ms;
    const struct slice *set = properties_get(&table->descriptor.properties, "table.datalake.freshness");
    return set && conf_parse_duration_ms(*set, &ms) ? ms : FRESHNESS_MS;
}

static int64_t rest_after_ns(const struct kept_table *kept)
{
    return MAX(REST_MS_MIN, MIN(2 * MIN(kept->freshness_ms, REST_MS_MAX), REST_MS_MAX)) * NS_PER_MS;
}

static struct kept_table *add_locked(struct keeper *keeper, const struct client_table *table)
{
    struct kept_table *kept = find_locked(keeper, table->id);
    if (kept)
        return kept;
    kept = mem_zalloc(sizeof *kept);
    kept->table_id = table->id;
    kept->database = arena_dup(&kept->arena, table->path.database);
    kept->table = arena_dup(&kept->arena, table->path.table);
    kept->freshness_ms = freshness_of(table);
    vec_push(&keeper->tables, kept);
    return kept;
}

static void kept_destroy(struct kept_table *kept)
{
    arena_deinit(&kept->arena);
    mem_free(kept);
}

static void remove_locked(struct keeper *keeper, struct kept_table *kept)
{
    for (size_t i = 0; i < keeper->tables.len; i++)
        if (keeper->tables.ptr[i] == kept) {
            vec_remove(&keeper->tables, i);
            break;
        }
    kept_destroy(kept);
}

void keeper_deinit(struct keeper *keeper)
{
    for (size_t i = 0; i < keeper->tables.len; i++)
        kept_destroy(keeper->tables.ptr[i]);
    vec_deinit(&keeper->tables);
}

static void touch_locked(struct tier *tier, const struct client_table *table, bool fresh)
{
    struct kept_table *kept = add_locked(&tier->keeper, table);
    kept->fresh |= fresh;
    kept->merged = false;
    kept->rest_ns = os_mono_ns(tier->config.os) + rest_after_ns(kept);
    kept->expire_ns = 0;
    os_cond_broadcast(&tier->changed);
}

void keeper_note(struct tier *tier, const struct client_table *table)
{
    os_mutex_lock(&tier->mutex);
    touch_locked(tier, table, true);
    os_mutex_unlock(&tier->mutex);
}

/* ---- work at one table ---- */

/* One look at a table. */
struct look {
    struct tier *tier;
    struct client *client;
    struct arena arena;
    struct source source;
    bool fresh, rest; /* why */
    bool merged;      /* out: it is at rest and nothing is left to merge */
    int64_t rest_ns;  /* out: not before */
    int64_t expire_ns;
};

static enum err_code register_compaction(struct look *look, int64_t snapshot_id, struct err *err)
{
    struct paimon_snapshot snapshot;
    TRY(paimon_snapshot_read(look->source.lake, snapshot_id, &look->arena, &snapshot, err));
    struct client_lake_commit commit = {
        .snapshot_id = snapshot_id,
        .offsets_path = source_offsets_path(&snapshot),
        .readable = true,
        /* The offsets are those of the data commit before it: a stock server that forgot that one would drop them. */
        .has_keep = true,
        .keep_snapshot_id = -1,
    };
    return client_lake_commit(look->source.table, &commit, err);
}

/* Compactions of some buckets, committed together. */
struct batch {
    paimon_compactions list;
    uint64_t input_bytes;
    int64_t begun_ns;
};

static void tell_compacted(const struct look *look, const struct batch *batch, const struct paimon_committed *committed)
{
    const struct client_path *path = &look->source.table->path;
    trace_info(look->tier->config.trace, "tier", "compacted", trace_slice("database", path->database),
               trace_slice("table", path->table), trace_i64("snapshot", committed->snapshot_id),
               trace_u64("buckets", batch->list.len), trace_u64("bytes_in", batch->input_bytes),
               trace_u64("bytes_out", committed->bytes),
               trace_i64("ms", (os_mono_ns(look->tier->config.os) - batch->begun_ns) / NS_PER_MS));
}

/* Buckets, those that need it most first, until none does or the batch is large enough. */
static enum err_code write_batch(struct look *look, bool full, struct batch *batch, struct err *err)
{
    struct paimon_compaction_options options = {
        .policy.full = full, .rounds_dir = slice_str(look->tier->rounds_dir), .cancel = &look->tier->stopping};
    TRY(paimon_compactions_pick(look->source.lake, &options, BATCH_BUCKETS, BATCH_BYTES, &batch->list, err));
    for (size_t i = 0; i < batch->list.len; i++) {
        batch->input_bytes += paimon_compaction_input_bytes(batch->list.ptr[i]);
        TRY(paimon_compaction_run(batch->list.ptr[i], err));
    }
    return OK;
}

static enum err_code commit_batch(struct look *look, const struct batch *batch, struct err *err)
{
    struct os *os = look->tier->config.os;
    struct paimon_committed committed;
    os_step(os, "keep.written");
    TRY(paimon_compactions_commit(batch->list.ptr, batch->list.len, &committed, err));
    os_step(os, "keep.committed");
    TRY(register_compaction(look, committed.snapshot_id, err));
    os_step(os, "keep.registered");
    tell_compacted(look, batch, &committed);
    return OK;
}

/* *none: no bucket needs it. */
static enum err_code compact_some(struct look *look, bool full, bool *none, struct err *err)
{
    struct batch batch = {.begun_ns = os_mono_ns(look->tier->config.os)};
    enum err_code code = write_batch(look, full, &batch, err);
    *none = batch.list.len == 0;
    if (code == OK && !*none)
        code = commit_batch(look, &batch, err);
    for (size_t i = 0; i < batch.list.len; i++)
        paimon_compaction_destroy(batch.list.ptr[i]);
    vec_deinit(&batch.list);
    if (batch.input_bytes > TIER_TRIM_BYTES)
        mem_trim();
    return code;
}

static enum err_code compact(struct look *look, bool full, struct err *err)
{
    for (bool none = false; !none && !tier_stopping(look->tier);)
        TRY(compact_some(look, full, &none, err));
    return OK;
}

/* A large table must have been quiet for longer: what one merge rewrites is worth that much silence. */
static enum err_code merge_at_rest(struct look *look, struct err *err)
{
    struct paimon_stat stat;
    uint64_t bytes = 0;
    int64_t earliest, latest;
    TRY(paimon_snapshot_range(look->source.lake, &earliest, &latest, err));
    if (latest)
        TRY(paimon_snapshot_stat(look->source.lake, latest, &look->arena, &stat, err));
    for (uint32_t b = 0; latest && b < stat.bucket_count; b++)
        if (stat.buckets[b].run_count > 1)
            bytes += stat.buckets[b].bytes;
    int64_t rest_ns = look->rest_ns + (int64_t)(bytes / REST_BYTES_PER_S) * 1000000000;
    if (os_mono_ns(look->tier->config.os) < rest_ns) {
        look->rest_ns = rest_ns;
        return OK;
    }
    TRY(compact(look, true, err));
    look->merged = true;
    return OK;
}

/* ---- expiry ---- */

static int64_t option_i64(const struct paimon_schema *schema, const char *key, int64_t otherwise)
{
    int64_t value;
    const struct slice *set = properties_get(&schema->options, key);
    return set && slice_to_i64(*set, &value) && value > 0 ? value : otherwise;
}

static struct paimon_expire_policy policy_of(const struct look *look)
{
    const struct tier_config *config = &look->tier->config;
    const struct paimon_schema *schema = paimon_table_schema(look->source.lake);
    const struct slice *time = properties_get(&schema->options, "snapshot.time-retained");
    struct paimon_expire_policy policy = {.retain_ms = config->expire_ms, .delete_max = EXPIRE_AT_ONCE};
    int64_t ms;
    if (time && conf_parse_duration_ms(*time, &ms))
        policy.retain_ms = ms;
    policy.retain_min = (uint32_t)MIN(option_i64(schema, "snapshot.num-retained.min", KEEP_SNAPSHOTS_MIN), UINT32_MAX);
    policy.retain_max =
        (uint32_t)MIN(option_i64(schema, "snapshot.num-retained.max", config->expire_count_max), UINT32_MAX);
    policy.retain_max = MAX(policy.retain_max, policy.retain_min);
    return policy;
}

/* When the oldest snapshot may go: the one behind it is then as old as is kept. */
static enum err_code next_expiry(struct look *look, const struct paimon_expire_policy *policy, struct err *err)
{
    int64_t earliest, latest;
    struct paimon_snapshot second;
    look->expire_ns = INT64_MAX;
    TRY(paimon_snapshot_range(look->source.lake, &earliest, &latest, err));
    if (latest - earliest < policy->retain_min)
        return OK;
    int64_t now = os_mono_ns(look->tier->config.os);
    look->expire_ns = now;
    if (latest - earliest >= policy->retain_max + EXPIRE_SLACK)
        return OK;
    enum err_code code = paimon_snapshot_read(look->source.lake, earliest + 1, &look->arena, &second, err);
    if (code == ERR_NOT_FOUND)
        return OK; /* somebody else is at it */
    TRY(code);
    int64_t wait_ms = second.time_ms + policy->retain_ms - os_wall_ms(look->tier->config.os);
    look->expire_ns = now + MAX(wait_ms + 1, 0) * NS_PER_MS;
    return OK;
}

static enum err_code expire(struct look *look, struct err *err)
{
    struct paimon_expire_policy policy = policy_of(look);
    struct client_lake_snapshot readable = {0};
    uint32_t expired;
    TRY(next_expiry(look, &policy, err));
    if (look->expire_ns > os_mono_ns(look->tier->config.os))
        return OK;
    enum err_code code =
        client_lake_snapshot(look->source.table, CLIENT_LAKE_READABLE, 0, &look->arena, &readable, err);
    if (code != OK && code != ERR_LAKE_SNAPSHOT_NOT_EXIST)
        return code;
    int64_t keep[] = {look->source.registered.id, readable.id ? readable.id : look->source.registered.id};
    policy.keep = keep;
    policy.keep_count = ARRAY_LEN(keep);
    TRY(paimon_expire(look->source.lake, &policy, &expired, err));
    os_step(look->tier->config.os, "keep.expired");
    if (expired)
        trace_info(look->tier->config.trace, "tier", "expired",
                   trace_slice("database", look->source.table->path.database),
                   trace_slice("table", look->source.table->path.table), trace_i64("snapshots", expired));
    else /* a tag or a consumer holds them */
        look->expire_ns += look->tier->config.expire_ms * NS_PER_MS;
    return expired ? next_expiry(look, &policy, err) : OK;
}

static enum err_code look_at(struct look *look, struct client_path path, int64_t table_id, struct err *err)
{
    TRY(source_open(look->tier, look->client, path, table_id, &look->arena, &look->source, err));
    if (look->fresh)
        TRY(compact(look, false, err));
    if (look->rest)
        TRY(merge_at_rest(look, err));
    return expire(look, err);
}

/* ---- the thread ---- */

static int64_t due_ns(const struct kept_table *kept)
{
    if (kept->retry_ns)
        return kept->retry_ns;
    if (kept->fresh)
        return 0;
    return MIN(kept->merged ? INT64_MAX : kept->rest_ns, kept->expire_ns ? kept->expire_ns : INT64_MAX);
}

static struct kept_table *next_locked(struct keeper *keeper, int64_t *at_ns)
{
    struct kept_table *next = NULL;
    *at_ns = INT64_MAX;
    for (size_t i = 0; i < keeper->tables.len; i++)
        if (due_ns(keeper->tables.ptr[i]) < *at_ns) {
            next = keeper->tables.ptr[i];
            *at_ns = due_ns(next);
        }
    return next;
}

static void tell_failed(struct look *look, const struct kept_table *kept, const struct err *err)
{
    trace_warn(look->tier->config.trace, "tier", "keep_failed", trace_slice("database", kept->database),
               trace_slice("table", kept->table), trace_err(err));
}

/* Called with the lock, which is given back while it works. */
static void work_locked(struct keeper *keeper, struct kept_table *kept, int64_t now)
{
    struct tier *tier = keeper->link.tier;
    struct err err = {0};
    struct look look = {.tier = tier, .client = keeper->link.client, .fresh = kept->fresh, .rest_ns = kept->rest_ns};
    look.rest = !kept->merged && kept->rest_ns <= now;
    kept->fresh = false;
    kept->retry_ns = 0;
    os_mutex_unlock(&tier->mutex);
    enum err_code code = look_at(&look, client_path(kept->database, kept->table), kept->table_id, &err);
    source_close(&look.source);
    arena_deinit(&look.arena);
    bool gone = code == ERR_TABLE_NOT_EXIST || code == ERR_DATABASE_NOT_EXIST;
    if (code != OK && !gone && code != ERR_SHUTTING_DOWN)
        tell_failed(&look, kept, &err);
    if (link_is_cut(code))
        link_close(&keeper->link);
    os_mutex_lock(&tier->mutex);
    if (gone) {
        remove_locked(keeper, kept);
        return;
    }
    if (!kept->fresh) { /* no commit came meanwhile, which would have set these */
        kept->merged |= look.merged;
        kept->rest_ns = look.rest_ns;
    }
    kept->expire_ns = look.expire_ns;
    if (code != OK) {
        kept->fresh |= look.fresh;
        kept->retry_ns = os_mono_ns(tier->config.os) + KEEP_RETRY_NS;
    }
}

/* Tables of earlier runs: what was not merged or let go then. They are looked at as if they had just come to rest. */
static enum err_code find_tables(struct keeper *keeper, struct arena *arena, struct err *err)
{
    struct tier *tier = keeper->link.tier;
    struct client *client = keeper->link.client;
    struct client_names databases, tables;
    TRY(client_database_list(client, arena, &databases, err));
    for (size_t d = 0; d < databases.count; d++) {
        TRY(client_table_list(client, databases.items[d], arena, &tables, err));
        for (size_t t = 0; t < tables.count && !tier_stopping(tier); t++) {
            struct client_table *table;
            if (client_table_open(client, client_path(databases.items[d], tables.items[t]), &table, NULL) != OK)
                continue; /* dropped meanwhile, or partitioned */
            os_mutex_lock(&tier->mutex);
            if (table->lake_enabled && !find_locked(keeper, table->id))
                touch_locked(tier, table, false);
            os_mutex_unlock(&tier->mutex);
            client_table_unref(table);
        }
    }
    return OK;
}

static void find_tables_or_tell(struct keeper *keeper)
{
    struct arena arena = {0};
    struct err err = {0};
    if (find_tables(keeper, &arena, &err) != OK && !tier_stopping(keeper->link.tier))
        trace_warn(keeper->link.tier->config.trace, "tier", "tables_not_listed", trace_err(&err));
    arena_deinit(&arena);
}

static bool connected(struct keeper *keeper)
{
    struct tier *tier = keeper->link.tier;
    struct err err = {0};
    if (link_open(&keeper->link, &err) == OK)
        return true;
    if (!tier_stopping(tier)) {
        trace_warn_limited(tier->config.trace, "tier", "server_lost", trace_err(&err));
        tier_pause(tier, TIER_RETRY_NS);
    }
    return false;
}

void keeper_run(void *arg)
{
    struct keeper *keeper = arg;
    struct tier *tier = keeper->link.tier;
    while (!tier_stopping(tier) && !connected(keeper))
        continue;
    if (!tier_stopping(tier))
        find_tables_or_tell(keeper);
    os_mutex_lock(&tier->mutex);
    while (!tier_stopping(tier)) {
        int64_t at_ns, now = os_mono_ns(tier->config.os);
        struct kept_table *kept = next_locked(keeper, &at_ns);
        if (!kept || at_ns > now) {
            os_cond_wait_until(&tier->changed, &tier->mutex, at_ns);
            continue;
        }
        os_mutex_unlock(&tier->mutex);
        bool ready = connected(keeper);
        os_mutex_lock(&tier->mutex);
        if (ready && !tier_stopping(tier))
            work_locked(keeper, kept, now);
    }
    os_mutex_unlock(&tier->mutex);
    link_close(&keeper->link);
}
