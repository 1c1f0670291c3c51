/* Lake snapshots in memory: reading, and loading at start. */
#include "meta/meta_int.h"

void lake_entry_destroy(struct lake_entry *entry)
{
    arena_deinit(&entry->arena);
    mem_free(entry);
}

void lake_destroy(struct lake *lake)
{
    if (!lake)
        return;
    for (size_t i = 0; i < lake->entries.len; i++)
        lake_entry_destroy(lake->entries.ptr[i]);
    vec_deinit(&lake->entries);
    vec_deinit(&lake->progress);
    mem_free(lake);
}

struct lake *lake_of_locked(struct meta *meta, int64_t table_id)
{
    struct lake *lake = map_get_i64(&meta->lakes, table_id);
    if (!lake) {
        lake = mem_zalloc(sizeof *lake);
        map_put_i64(&meta->lakes, table_id, lake);
    }
    return lake;
}

static int progress_compare(const struct lake_bucket_progress *a, const struct lake_bucket_progress *b)
{
    struct lake_offset x = {a->partition_id, a->bucket, 0}, y = {b->partition_id, b->bucket, 0};
    return lake_offset_compare(&x, &y);
}

/* Its place, or where it would be. */
static size_t find_progress(const struct lake *lake, const struct lake_bucket_progress *progress, bool *there)
{
    size_t low = 0, high = lake->progress.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (progress_compare(&lake->progress.ptr[middle], progress) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *there = low < lake->progress.len && progress_compare(&lake->progress.ptr[low], progress) == 0;
    return low;
}

bool lake_is_news(const struct lake *lake, const struct lake_bucket_progress *progress)
{
    bool there;
    size_t at = find_progress(lake, progress, &there);
    return !there || lake->progress.ptr[at].end_offset < progress->end_offset ||
           lake->progress.ptr[at].max_timestamp < progress->max_timestamp;
}

void lake_raise(struct lake *lake, const struct lake_bucket_progress *progress)
{
    bool there;
    size_t at = find_progress(lake, progress, &there);
    if (!there) {
        (void)vec_add(&lake->progress);
        memmove(lake->progress.ptr + at + 1, lake->progress.ptr + at,
                (lake->progress.len - 1 - at) * sizeof *lake->progress.ptr);
        lake->progress.ptr[at] = *progress;
        return;
    }
    struct lake_bucket_progress *known = &lake->progress.ptr[at];
    known->end_offset = MAX(known->end_offset, progress->end_offset);
    known->max_timestamp = MAX(known->max_timestamp, progress->max_timestamp);
}

void lake_forget_partition(struct lake *lake, int64_t partition_id)
{
    size_t kept = 0;
    for (size_t i = 0; i < lake->progress.len; i++)
        if (lake->progress.ptr[i].partition_id != partition_id)
            lake->progress.ptr[kept++] = lake->progress.ptr[i];
    lake->progress.len = kept;
}

struct lake_offsets lake_latest_offsets(struct meta *meta, int64_t table_id, struct arena *arena)
{
    os_mutex_lock(&meta->read);
    const struct lake *lake = map_get_i64(&meta->lakes, table_id);
    struct lake_offsets offsets = {0};
    if (lake && lake->entries.len)
        offsets = lake_offsets_dup(arena, lake->entries.ptr[lake->entries.len - 1]->tiered);
    os_mutex_unlock(&meta->read);
    return offsets;
}

static const struct lake_entry *find(const struct lake *lake, enum lake_which which, int64_t snapshot_id)
{
    for (size_t i = lake ? lake->entries.len : 0; i-- > 0;) {
        const struct lake_entry *entry = lake->entries.ptr[i];
        if (which == LAKE_LATEST || (which == LAKE_READABLE && entry->readable_file.ptr) ||
            (which == LAKE_BY_ID && entry->snapshot_id == snapshot_id))
            return entry;
    }
    return NULL;
}

enum err_code meta_lake_snapshot(struct meta *meta, int64_t table_id, enum lake_which which, int64_t snapshot_id,
                                 struct arena *arena, struct lake_snapshot_info *snapshot, struct err *err)
{
    os_mutex_lock(&meta->read);
    bool there = map_get_i64(&meta->tables, table_id);
    const struct lake_entry *entry = find(map_get_i64(&meta->lakes, table_id), which, snapshot_id);
    if (entry) {
        snapshot->snapshot_id = entry->snapshot_id;
        snapshot->offsets = lake_offsets_dup(arena, which == LAKE_READABLE ? entry->readable : entry->tiered);
    }
    os_mutex_unlock(&meta->read);
    if (!there)
        return err_set(err, ERR_TABLE_NOT_EXIST, "Table %lld does not exist.", (long long)table_id);
    if (!entry && which == LAKE_BY_ID)
        return err_set(err, ERR_LAKE_SNAPSHOT_NOT_EXIST, "Lake snapshot %lld of table %lld is not registered.",
                       (long long)snapshot_id, (long long)table_id);
    if (!entry)
        return err_set(err, ERR_LAKE_SNAPSHOT_NOT_EXIST, "Table %lld has no %slake snapshot yet.", (long long)table_id,
                       which == LAKE_READABLE ? "readable " : "");
    return OK;
}

void meta_lake_progress(struct meta *meta, int64_t table_id, struct arena *arena, struct lake_bucket_progress **buckets,
                        size_t *count)
{
    os_mutex_lock(&meta->read);
    const struct lake *lake = map_get_i64(&meta->lakes, table_id);
    *count = lake ? lake->progress.len : 0;
    *buckets = ARENA_NEW_ARRAY(arena, struct lake_bucket_progress, *count);
    if (*count)
        memcpy(*buckets, lake->progress.ptr, *count * sizeof **buckets);
    os_mutex_unlock(&meta->read);
}

/* ---- at start ---- */

static enum err_code load_offsets(struct lake_entry *entry, int64_t table_id, struct slice file, struct slice json,
                                  struct slice *file_out, struct lake_offsets *offsets, struct err *err)
{
    if (!file.ptr)
        return OK;
    if (!offsets_name_is_valid(file))
        return err_set(err, ERR_CORRUPT, "lake_snapshots of table %lld names '%.*s'", (long long)table_id,
                       (int)MIN(file.len, 60), (const char *)file.ptr);
    *file_out = arena_dup(&entry->arena, file);
    return lake_offsets_from_json(&entry->arena, table_id, json, offsets, err);
}

static enum err_code load_entry(void *arg, sqlite3_stmt *row, struct err *err)
{
    struct meta *meta = arg;
    struct lake_entry *entry = mem_zalloc(sizeof *entry);
    int64_t table_id = sqlite3_column_int64(row, 0);
    entry->position = sqlite3_column_int64(row, 1);
    entry->snapshot_id = sqlite3_column_int64(row, 2);
    enum err_code code =
        load_offsets(entry, table_id, db_text(row, 3), db_text(row, 4), &entry->tiered_file, &entry->tiered, err);
    if (code == OK)
        code = load_offsets(entry, table_id, db_text(row, 5), db_text(row, 6), &entry->readable_file, &entry->readable,
                            err);
    vec_push(&lake_of_locked(meta, table_id)->entries, entry); /* a half read one too: meta_close frees it */
    return code;
}

static enum err_code load_progress(void *arg, sqlite3_stmt *row, struct err *err)
{
    (void)err;
    struct lake_bucket_progress progress = {sqlite3_column_int64(row, 1), sqlite3_column_int(row, 2),
                                            sqlite3_column_int64(row, 3), sqlite3_column_int64(row, 4)};
    lake_raise(lake_of_locked(arg, sqlite3_column_int64(row, 0)), &progress);
    return OK;
}

enum err_code lake_load(struct meta *meta, struct err *err)
{
    TRY(db_each(&meta->db, err,
                "SELECT table_id, position, snapshot_id, tiered_file, tiered_offsets, readable_file, readable_offsets"
                " FROM lake_snapshots ORDER BY table_id, position",
                load_entry, meta));
    return db_each(&meta->db, err,
                   "SELECT table_id, partition_id, bucket_id, end_offset, max_timestamp FROM lake_buckets"
                   " ORDER BY 1, 2, 3",
                   load_progress, meta);
}
