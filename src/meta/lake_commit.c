/* COMMIT_LAKE_TABLE_SNAPSHOT: a lake snapshot is registered.
 *
 * The list of a table grows at its end; the last entry is the latest. An entry whose offsets are behind the latest's in
 * any bucket that is there (a worker that was believed lost and comes back, or the readable snapshot of a table with
 * deletion vectors, which is registered late) goes before it: taking it for the latest would tier rows twice. So does
 * one with the same offsets and a lower id, which a compaction has overtaken. */
#include "meta/meta_int.h"

/* One commit under way. */
struct change {
    struct meta *meta;
    const struct lake_commit *commit;
    const struct table_info *table;
    struct arena arena;
    struct slice tiered_file;
    struct lake_offsets tiered;
    struct slice readable_file; /* ptr NULL: none */
    struct lake_offsets readable;

    struct lake *lake;  /* the mirror, NULL: none yet */
    bool before_latest; /* the entry goes before the last one */
    bool *goes;         /* which of the lake's entries go */
    VEC(struct lake_bucket_progress) progress;
};

static enum err_code read_file(struct change *change, struct slice path, struct slice *file,
                               struct lake_offsets *offsets, struct err *err)
{
    const struct table_info *table = change->table;
    char full[OS_PATH_MAX];
    TRY(lake_path_file(table, path, file, err));
    TRY(lake_file_path(change->meta, table->table_id, table->database, table->name, *file, full, err));
    struct buf json = {0};
    enum err_code code = os_read_whole(change->meta->os, full, META_LAKE_OFFSETS_BYTES_MAX, &json, err);
    if (code == OK)
        code = lake_offsets_from_json(&change->arena, table->table_id, buf_view(&json), offsets, err);
    buf_deinit(&json);
    return code;
}

/* The form of Fluss 0.8: offsets come in the request only, and the snapshot is readable at once. */
static enum err_code write_file(struct change *change, struct err *err)
{
    const struct lake_commit *commit = change->commit;
    struct lake_offset *items = ARENA_NEW_ARRAY(&change->arena, struct lake_offset, commit->progress_count);
    for (size_t i = 0; i < commit->progress_count; i++)
        items[i] = (struct lake_offset){commit->progress[i].partition_id, commit->progress[i].bucket,
                                        commit->progress[i].end_offset};
    struct lake_offsets given = {items, commit->progress_count}, checked;
    TRY(lake_offsets_check(&change->arena, &given, &checked, err));
    change->tiered = lake_offsets_merge(&change->arena,
                                        lake_latest_offsets(change->meta, commit->table_id, &change->arena), checked);
    struct slice path;
    TRY(lake_file_write(change->meta, change->table, change->tiered, &change->arena, &change->tiered_file, &path, err));
    change->readable_file = change->tiered_file;
    change->readable = change->tiered;
    return OK;
}

static enum err_code read_files(struct change *change, struct err *err)
{
    const struct lake_commit *commit = change->commit;
    if (!commit->tiered_path.len)
        return write_file(change, err);
    TRY(read_file(change, commit->tiered_path, &change->tiered_file, &change->tiered, err));
    if (commit->readable_path.len)
        TRY(read_file(change, commit->readable_path, &change->readable_file, &change->readable, err));
    return OK;
}

static enum err_code check_buckets(const struct change *change, struct err *err)
{
    const struct lake_commit *commit = change->commit;
    if (commit->progress_count > META_LAKE_BUCKETS_MAX)
        return err_set(err, ERR_INVALID_ARGUMENT, "progress of %zu buckets; at most %d are taken",
                       commit->progress_count, META_LAKE_BUCKETS_MAX);
    for (size_t i = 0; i < commit->progress_count; i++)
        TRY(partition_check_bucket(change->meta, change->table, commit->progress[i].partition_id,
                                   commit->progress[i].bucket, err));
    return OK;
}

/* What the request and the snapshot say of each bucket, greatest of both. */
static void gather_progress(struct change *change)
{
    const struct lake_commit *commit = change->commit;
    struct lake known = {0};
    for (size_t i = 0; i < change->tiered.count; i++) {
        const struct lake_offset *offset = &change->tiered.items[i];
        vec_push(&known.progress,
                 ((struct lake_bucket_progress){offset->partition_id, offset->bucket, offset->end_offset, -1}));
    }
    for (size_t i = 0; i < commit->progress_count; i++) {
        struct lake_bucket_progress told = commit->progress[i];
        told.end_offset = -1; /* the snapshot's own offsets are what is in the lake */
        lake_raise(&known, &told);
    }
    change->progress.ptr = known.progress.ptr;
    change->progress.len = known.progress.len;
    change->progress.cap = known.progress.cap;
}

/* ---- decided under the write lock ---- */

static struct lake_entry *entry_at(const struct change *change, size_t i)
{
    return change->lake->entries.ptr[i];
}

static size_t entry_count(const struct change *change)
{
    return change->lake ? change->lake->entries.len : 0;
}

/* The position of an entry with this snapshot, or -1. */
static int64_t find_snapshot(const struct change *change, int64_t snapshot_id)
{
    for (size_t i = 0; i < entry_count(change); i++)
        if (entry_at(change, i)->snapshot_id == snapshot_id)
            return (int64_t)i;
    return -1;
}

static size_t last_readable(const struct change *change)
{
    size_t i = entry_count(change);
    while (i-- > 0)
        if (entry_at(change, i)->readable_file.ptr)
            return i;
    return SIZE_MAX;
}

/* Entries before the new one go, as the request says; never the one that readers are at, unless they get a newer one.
 */
static void decide_retention(struct change *change)
{
    size_t count = entry_count(change), keep_from = count - (change->before_latest ? 1 : 0);
    const struct lake_commit *commit = change->commit;
    if (commit->has_earliest) {
        int64_t found = find_snapshot(change, commit->earliest_snapshot_id);
        keep_from = found < 0 ? 0 : MIN(keep_from, (size_t)found);
    }
    if (count + 1 > META_LAKE_SNAPSHOTS_MAX)
        keep_from = MAX(keep_from, count + 1 - META_LAKE_SNAPSHOTS_MAX);
    change->goes = ARENA_NEW_ARRAY(&change->arena, bool, count);
    for (size_t i = 0; i < count; i++)
        change->goes[i] = i < keep_from;
    size_t readable = last_readable(change);
    if (readable != SIZE_MAX && !change->readable_file.ptr)
        change->goes[readable] = false;
}

static int64_t new_position(const struct change *change)
{
    size_t count = entry_count(change);
    if (!count)
        return 0;
    return entry_at(change, count - 1)->position + (change->before_latest ? 0 : 1);
}

static enum err_code store_progress(struct change *change, struct err *err)
{
    for (size_t i = 0; i < change->progress.len; i++) {
        const struct lake_bucket_progress *progress = &change->progress.ptr[i];
        if (change->lake && !lake_is_news(change->lake, progress))
            continue; /* most buckets of many stand still */
        TRY(db_run(&change->meta->db, err,
                   "INSERT INTO lake_buckets VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET"
                   " end_offset = max(end_offset, excluded.end_offset),"
                   " max_timestamp = max(max_timestamp, excluded.max_timestamp)",
                   "iiiii", change->table->table_id, progress->partition_id, (int64_t)progress->bucket,
                   progress->end_offset, progress->max_timestamp));
    }
    return OK;
}

static enum err_code store_entry(struct change *change, struct err *err)
{
    struct db *db = &change->meta->db;
    int64_t table_id = change->table->table_id, position = new_position(change);
    for (size_t i = 0; i < entry_count(change); i++)
        if (change->goes[i])
            TRY(db_run(db, err, "DELETE FROM lake_snapshots WHERE table_id = ?1 AND position = ?2", "ii", table_id,
                       entry_at(change, i)->position));
    if (change->before_latest)
        TRY(db_run(db, err, "UPDATE lake_snapshots SET position = position + 1 WHERE table_id = ?1 AND position = ?2",
                   "ii", table_id, position));
    struct buf tiered = {0}, readable = {0};
    lake_offsets_to_json(table_id, change->tiered, &tiered);
    if (change->readable_file.ptr)
        lake_offsets_to_json(table_id, change->readable, &readable);
    enum err_code code =
        db_run(db, err, "INSERT INTO lake_snapshots VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", "iiitttti", table_id,
               position, change->commit->snapshot_id, change->tiered_file, buf_view(&tiered), change->readable_file,
               buf_view(&readable), os_wall_ms(change->meta->os));
    buf_deinit(&tiered);
    buf_deinit(&readable);
    return code;
}

static enum err_code store(struct change *change, struct err *err)
{
    struct db *db = &change->meta->db;
    enum err_code code;
    TRY(db_begin(db, err));
    TRY_OR_FAIL(store_entry(change, err));
    TRY_OR_FAIL(store_progress(change, err));
    TRY_OR_FAIL(db_commit(db, err));
    return OK;
fail:
    db_rollback(db);
    return code;
}

static struct lake_entry *make_entry(const struct change *change)
{
    struct lake_entry *entry = mem_zalloc(sizeof *entry);
    entry->position = new_position(change);
    entry->snapshot_id = change->commit->snapshot_id;
    entry->tiered_file = arena_dup(&entry->arena, change->tiered_file);
    entry->tiered = lake_offsets_dup(&entry->arena, change->tiered);
    if (change->readable_file.ptr) {
        entry->readable_file = arena_dup(&entry->arena, change->readable_file);
        entry->readable = lake_offsets_dup(&entry->arena, change->readable);
    }
    return entry;
}

/* The mirror follows; entries that go come out in gone. */
static void apply(struct change *change, struct lake_entry *entry, struct lake *gone)
{
    os_mutex_lock(&change->meta->read);
    struct lake *lake = change->lake = lake_of_locked(change->meta, change->table->table_id);
    size_t count = lake->entries.len, kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (change->goes[i])
            vec_push(&gone->entries, lake->entries.ptr[i]);
        else
            lake->entries.ptr[kept++] = lake->entries.ptr[i];
    }
    lake->entries.len = kept;
    vec_push(&lake->entries, entry);
    if (change->before_latest) {
        struct lake_entry *latest = lake->entries.ptr[kept - 1];
        latest->position++;
        lake->entries.ptr[kept - 1] = entry;
        lake->entries.ptr[kept] = latest;
    }
    for (size_t i = 0; i < change->progress.len; i++)
        lake_raise(lake, &change->progress.ptr[i]);
    os_mutex_unlock(&change->meta->read);
}

/* A snapshot that is registered already: the same again, or a contradiction. */
static enum err_code repeat(struct change *change, struct lake_entry *entry, struct err *err)
{
    if (!slice_equal(entry->tiered_file, change->tiered_file) && !lake_offsets_equal(entry->tiered, change->tiered))
        return err_set(
            err, ERR_INVALID_ARGUMENT, "Lake snapshot %lld of table %lld is registered with other offsets (%.*s).",
            (long long)entry->snapshot_id, (long long)change->table->table_id, SLICE_ARGS(entry->tiered_file));
    if (entry->readable_file.ptr || !change->readable_file.ptr)
        return OK;
    struct buf json = {0};
    lake_offsets_to_json(change->table->table_id, change->readable, &json);
    enum err_code code =
        db_run(&change->meta->db, err,
               "UPDATE lake_snapshots SET readable_file = ?3, readable_offsets = ?4"
               " WHERE table_id = ?1 AND position = ?2",
               "iitt", change->table->table_id, entry->position, change->readable_file, buf_view(&json));
    buf_deinit(&json);
    if (code != OK)
        return code;
    os_mutex_lock(&change->meta->read);
    entry->readable_file = arena_dup(&entry->arena, change->readable_file);
    entry->readable = lake_offsets_dup(&entry->arena, change->readable);
    os_mutex_unlock(&change->meta->read);
    return OK;
}

/* Of partitions that were dropped since the round began nothing is to be known. */
static void drop_dead_progress(struct change *change)
{
    size_t kept = 0;
    for (size_t i = 0; i < change->progress.len; i++)
        if (partition_is_live_locked(change->meta, change->progress.ptr[i].partition_id))
            change->progress.ptr[kept++] = change->progress.ptr[i];
    change->progress.len = kept;
}

/* A lake only grows: what an older snapshot holds, a newer one holds too. */
static enum err_code check_not_ahead(struct change *change, const struct lake_entry *latest, struct err *err)
{
    if (change->before_latest || change->commit->snapshot_id > latest->snapshot_id)
        return OK;
    return err_set(err, ERR_INVALID_ARGUMENT,
                   "Lake snapshot %lld of table %lld is older than %lld, which is registered, and can't hold more.",
                   (long long)change->commit->snapshot_id, (long long)change->table->table_id,
                   (long long)latest->snapshot_id);
}

/* Of two snapshots with the same offsets, a round's and a compaction's, the one with the lower id is older. */
static bool is_older(struct change *change, const struct lake_entry *latest)
{
    struct lake_offsets mine = partition_live_offsets_locked(change->meta, change->tiered, &change->arena);
    struct lake_offsets theirs = partition_live_offsets_locked(change->meta, latest->tiered, &change->arena);
    return lake_offsets_behind(mine, theirs) ||
           (change->commit->snapshot_id < latest->snapshot_id && lake_offsets_equal(mine, theirs));
}

static enum err_code commit_locked(struct change *change, struct err *err)
{
    struct meta *meta = change->meta;
    int64_t table_id = change->table->table_id;
    if (!map_get_i64(&meta->tables, table_id))
        return err_set(err, ERR_TABLE_NOT_EXIST, "Table %lld was dropped.", (long long)table_id);
    change->lake = map_get_i64(&meta->lakes, table_id);
    int64_t known = find_snapshot(change, change->commit->snapshot_id);
    if (known >= 0)
        return repeat(change, entry_at(change, (size_t)known), err);
    drop_dead_progress(change);
    size_t count = entry_count(change);
    change->before_latest = count && is_older(change, entry_at(change, count - 1));
    if (count)
        TRY(check_not_ahead(change, entry_at(change, count - 1), err));
    decide_retention(change);
    TRY(store(change, err));
    struct lake gone = {0};
    apply(change, make_entry(change), &gone);
    lake_retire_files(meta, change->table, change->lake, &gone);
    for (size_t i = 0; i < gone.entries.len; i++)
        lake_entry_destroy(gone.entries.ptr[i]);
    vec_deinit(&gone.entries);
    return OK;
}

enum err_code meta_lake_commit(struct meta *meta, const struct lake_commit *commit, struct err *err)
{
    enum err_code code;
    struct change change = {.meta = meta, .commit = commit};
    TRY(meta_table_get_by_id(meta, commit->table_id, &change.table, err));
    TRY_OR_FAIL(check_buckets(&change, err));
    TRY_OR_FAIL(read_files(&change, err));
    gather_progress(&change);
    os_mutex_lock(&meta->write);
    code = commit_locked(&change, err);
    os_mutex_unlock(&meta->write);
fail:
    vec_deinit(&change.progress);
    arena_deinit(&change.arena);
    table_unref(change.table);
    return code;
}
