/* Partitions of tables: in the file, in the mirror, and on the list of those whose files may still be there. */
#include "meta/meta_int.h"

#include <stdlib.h>

static enum err_code not_there(int64_t table_id, struct slice name, struct err *err)
{
    return err_set(err, ERR_PARTITION_NOT_EXISTS, "Table %lld has no partition %.*s.", (long long)table_id,
                   (int)MIN(name.len, 120), (const char *)name.ptr);
}

static struct partition *partition_make(const struct partition_info *info)
{
    struct partition *partition = mem_zalloc(sizeof *partition);
    partition->info = *info;
    partition->info.name = arena_dup(&partition->arena, info->name);
    return partition;
}

static void partition_free(struct partition *partition)
{
    arena_deinit(&partition->arena);
    mem_free(partition);
}

static struct partition_info view(struct arena *arena, const struct partition *partition)
{
    struct partition_info info = partition->info;
    info.name = arena_dup(arena, info.name);
    return info;
}

/* ---- the mirror ---- */

static struct partition *find_locked(struct meta *meta, int64_t table_id, struct slice name)
{
    const struct table_partitions *table = map_get_i64(&meta->partitioned, table_id);
    return table ? map_get(&table->by_name, name) : NULL;
}

static size_t count_locked(struct meta *meta, int64_t table_id)
{
    const struct table_partitions *table = map_get_i64(&meta->partitioned, table_id);
    return table ? table->by_name.count : 0;
}

static struct table_partitions *of_table_locked(struct meta *meta, int64_t table_id)
{
    struct table_partitions *table = map_get_i64(&meta->partitioned, table_id);
    if (!table) {
        table = mem_zalloc(sizeof *table);
        map_put_i64(&meta->partitioned, table_id, table);
    }
    return table;
}

static void keep_name_locked(struct meta *meta, int64_t table_id, struct slice name)
{
    struct table_partitions *table = of_table_locked(meta, table_id);
    map_put(&table->kept, name, &table->kept);
}

static void put_locked(struct meta *meta, struct partition *partition)
{
    struct table_partitions *table = of_table_locked(meta, partition->info.table_id);
    void *before = map_put(&table->by_name, partition->info.name, partition);
    ASSERT(!before);
    map_put_i64(&meta->partitions, partition->info.partition_id, partition);
}

static void remove_locked(struct meta *meta, struct partition *partition)
{
    struct table_partitions *table = map_get_i64(&meta->partitioned, partition->info.table_id);
    map_remove(&table->by_name, partition->info.name);
    map_remove_i64(&meta->partitions, partition->info.partition_id);
}

static void table_partitions_free(struct meta *meta, struct table_partitions *table)
{
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&table->by_name, &at, &key, &value)) {
        struct partition *partition = value;
        map_remove_i64(&meta->partitions, partition->info.partition_id);
        partition_free(partition);
    }
    map_deinit(&table->by_name);
    map_deinit(&table->kept);
    mem_free(table);
}

void partition_forget_table_locked(struct meta *meta, int64_t table_id)
{
    struct table_partitions *table = map_remove_i64(&meta->partitioned, table_id);
    if (table)
        table_partitions_free(meta, table);
    for (size_t i = meta->dropped_partitions.len; i-- > 0;) {
        if (meta->dropped_partitions.ptr[i]->info.table_id != table_id)
            continue;
        partition_free(meta->dropped_partitions.ptr[i]);
        vec_remove(&meta->dropped_partitions, i);
    }
}

void partition_forget_all(struct meta *meta)
{
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&meta->partitioned, &at, &key, &value))
        table_partitions_free(meta, value);
    for (size_t i = 0; i < meta->dropped_partitions.len; i++)
        partition_free(meta->dropped_partitions.ptr[i]);
    vec_deinit(&meta->dropped_partitions);
    map_deinit(&meta->partitioned);
    map_deinit(&meta->partitions);
}

bool partition_is_live_locked(const struct meta *meta, int64_t partition_id)
{
    return partition_id < 0 || map_get_i64(&meta->partitions, partition_id);
}

/* Ids are given once, in rising order: one that was given and is not there any more was dropped. */
static bool is_other_tables(struct meta *meta, int64_t table_id, int64_t partition_id)
{
    os_mutex_lock(&meta->read);
    const struct partition *partition = map_get_i64(&meta->partitions, partition_id);
    bool other = partition ? partition->info.table_id != table_id : partition_id >= meta->partition_id_next;
    os_mutex_unlock(&meta->read);
    return other;
}

enum err_code partition_check_bucket(struct meta *meta, const struct table_info *table, int64_t partition_id,
                                     int32_t bucket, struct err *err)
{
    bool is_partitioned = table->descriptor->partition_key_count > 0;
    long long id = table->table_id;
    if (bucket < 0 || bucket >= table->descriptor->bucket_count)
        return err_set(err, ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION, "Table %lld has %d buckets, there is no bucket %d.",
                       id, table->descriptor->bucket_count, bucket);
    if (is_partitioned != (partition_id >= 0))
        return err_set(err, ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION, "Table %lld is %s, and bucket %d %s.", id,
                       is_partitioned ? "partitioned" : "not partitioned", bucket,
                       is_partitioned ? "is of no partition" : "is said to be of one");
    if (is_partitioned && is_other_tables(meta, table->table_id, partition_id))
        return err_set(err, ERR_PARTITION_NOT_EXISTS, "Table %lld never had a partition %lld.", id,
                       (long long)partition_id);
    return OK;
}

struct lake_offsets partition_live_offsets_locked(const struct meta *meta, struct lake_offsets offsets,
                                                  struct arena *arena)
{
    struct lake_offsets live = {ARENA_NEW_ARRAY(arena, struct lake_offset, offsets.count), 0};
    for (size_t i = 0; i < offsets.count; i++)
        if (partition_is_live_locked(meta, offsets.items[i].partition_id))
            live.items[live.count++] = offsets.items[i];
    return live;
}

/* ---- create ---- */

static enum err_code insert_row(struct meta *meta, const struct partition_info *info, struct err *err)
{
    enum err_code code;
    struct db *db = &meta->db;
    TRY(db_begin(db, err));
    TRY_OR_FAIL(
        db_run(db, err, "UPDATE counters SET next = ?1 WHERE name = 'partition_id'", "i", info->partition_id + 1));
    TRY_OR_FAIL(db_run(db, err, "INSERT INTO partitions VALUES (?1, ?2, ?3, ?4, ?5)", "iitii", info->partition_id,
                       info->table_id, info->name, info->created_ms, (int64_t)info->is_remade));
    TRY_OR_FAIL(db_commit(db, err));
    return OK;
fail:
    db_rollback(db);
    return code;
}

static enum err_code create_locked(struct meta *meta, struct partition_info *info, size_t partition_max,
                                   struct err *err)
{
    if (!map_get_i64(&meta->tables, info->table_id))
        return err_set(err, ERR_TABLE_NOT_EXIST, "Table %lld does not exist.", (long long)info->table_id);
    if (count_locked(meta, info->table_id) >= partition_max)
        return err_set(err, ERR_PARTITION_MAX_NUM_EXCEPTION,
                       "Table %lld has %zu partitions; a table may have no more (max.partition.num).",
                       (long long)info->table_id, partition_max);
    info->partition_id = meta->partition_id_next;
    info->created_ms = os_wall_ms(meta->os);
    const struct table_partitions *table = map_get_i64(&meta->partitioned, info->table_id);
    info->is_remade = table && map_get(&table->kept, info->name);
    TRY(insert_row(meta, info, err));
    meta->partition_id_next++;
    os_mutex_lock(&meta->read);
    put_locked(meta, partition_make(info));
    os_mutex_unlock(&meta->read);
    return OK;
}

enum err_code meta_partition_create(struct meta *meta, int64_t table_id, struct slice name, size_t partition_max,
                                    bool ignore_if_exists, struct arena *arena, struct partition_info *info,
                                    bool *created, struct err *err)
{
    struct partition_info made = {.table_id = table_id, .name = name};
    enum err_code code = OK;
    os_mutex_lock(&meta->write);
    const struct partition *there = find_locked(meta, table_id, name);
    if (there && !ignore_if_exists)
        code = err_set(err, ERR_PARTITION_ALREADY_EXISTS, "Table %lld has a partition %.*s already.",
                       (long long)table_id, (int)MIN(name.len, 120), (const char *)name.ptr);
    else if (!there)
        code = create_locked(meta, &made, partition_max, err);
    if (code == OK) {
        *info = there ? view(arena, there) : made;
        info->name = arena_dup(arena, name);
        *created = !there;
    }
    os_mutex_unlock(&meta->write);
    return code;
}

/* ---- drop ---- */

static enum err_code drop_row(struct meta *meta, const struct partition_info *info, bool lake_keeps, struct err *err)
{
    enum err_code code;
    struct db *db = &meta->db;
    TRY(db_begin(db, err));
    TRY_OR_FAIL(db_run(db, err, "DELETE FROM partitions WHERE partition_id = ?1", "i", info->partition_id));
    TRY_OR_FAIL(db_run(db, err, "INSERT INTO pending_partition_deletes VALUES (?1, ?2, ?3, ?4)", "iiti",
                       info->partition_id, info->table_id, info->name, os_wall_ms(meta->os)));
    TRY_OR_FAIL(db_run(db, err, "DELETE FROM lake_buckets WHERE table_id = ?1 AND partition_id = ?2", "ii",
                       info->table_id, info->partition_id));
    if (lake_keeps)
        TRY_OR_FAIL(
            db_run(db, err, "INSERT OR IGNORE INTO kept_partitions VALUES (?1, ?2)", "it", info->table_id, info->name));
    TRY_OR_FAIL(db_commit(db, err));
    return OK;
fail:
    db_rollback(db);
    return code;
}

static enum err_code drop_locked(struct meta *meta, struct partition *partition, bool lake_keeps, struct err *err)
{
    TRY(drop_row(meta, &partition->info, lake_keeps, err));
    os_mutex_lock(&meta->read);
    struct lake *lake = map_get_i64(&meta->lakes, partition->info.table_id);
    if (lake)
        lake_forget_partition(lake, partition->info.partition_id);
    if (lake_keeps)
        keep_name_locked(meta, partition->info.table_id, partition->info.name);
    remove_locked(meta, partition);
    vec_push(&meta->dropped_partitions, partition);
    os_mutex_unlock(&meta->read);
    return OK;
}

enum err_code meta_partition_drop(struct meta *meta, int64_t table_id, struct slice name, bool lake_keeps,
                                  bool ignore_if_not_exists, int64_t *dropped_id, struct err *err)
{
    enum err_code code = OK;
    os_mutex_lock(&meta->write);
    struct partition *partition = find_locked(meta, table_id, name);
    int64_t partition_id = partition ? partition->info.partition_id : -1;
    if (partition)
        code = drop_locked(meta, partition, lake_keeps, err);
    else if (!ignore_if_not_exists)
        code = not_there(table_id, name, err);
    os_mutex_unlock(&meta->write);
    if (code == OK)
        *dropped_id = partition_id;
    return code;
}

void meta_partition_deletes_pending(struct meta *meta, struct arena *arena, struct partition_info **items,
                                    size_t *count)
{
    os_mutex_lock(&meta->read);
    *count = meta->dropped_partitions.len;
    *items = ARENA_NEW_ARRAY(arena, struct partition_info, *count);
    for (size_t i = 0; i < *count; i++)
        (*items)[i] = view(arena, meta->dropped_partitions.ptr[i]);
    os_mutex_unlock(&meta->read);
}

static enum err_code done_locked(struct meta *meta, size_t at, struct err *err)
{
    struct partition *partition = meta->dropped_partitions.ptr[at];
    TRY(db_run(&meta->db, err, "DELETE FROM pending_partition_deletes WHERE partition_id = ?1", "i",
               partition->info.partition_id));
    os_mutex_lock(&meta->read);
    vec_remove(&meta->dropped_partitions, at);
    os_mutex_unlock(&meta->read);
    partition_free(partition);
    return OK;
}

enum err_code meta_partition_delete_done(struct meta *meta, int64_t partition_id, struct err *err)
{
    enum err_code code = OK;
    os_mutex_lock(&meta->write);
    for (size_t i = 0; i < meta->dropped_partitions.len; i++) {
        if (meta->dropped_partitions.ptr[i]->info.partition_id == partition_id) {
            code = done_locked(meta, i, err);
            break;
        }
    }
    os_mutex_unlock(&meta->write);
    return code;
}

/* ---- look-ups ---- */

enum err_code meta_partition_find(struct meta *meta, int64_t table_id, struct slice name, int64_t *partition_id,
                                  struct err *err)
{
    os_mutex_lock(&meta->read);
    const struct partition *partition = find_locked(meta, table_id, name);
    if (partition)
        *partition_id = partition->info.partition_id;
    os_mutex_unlock(&meta->read);
    return partition ? OK : not_there(table_id, name, err);
}

enum err_code meta_partition_get(struct meta *meta, int64_t partition_id, struct arena *arena,
                                 struct partition_info *info, struct err *err)
{
    os_mutex_lock(&meta->read);
    const struct partition *partition = map_get_i64(&meta->partitions, partition_id);
    if (partition)
        *info = view(arena, partition);
    os_mutex_unlock(&meta->read);
    return partition ? OK
                     : err_set(err, ERR_PARTITION_NOT_EXISTS, "There is no partition %lld.", (long long)partition_id);
}

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const struct partition_info *)a)->partition_id, y = ((const struct partition_info *)b)->partition_id;
    return (x > y) - (x < y);
}

void meta_partition_list(struct meta *meta, int64_t table_id, struct arena *arena, struct partition_info **items,
                         size_t *count)
{
    size_t at = 0, filled = 0;
    struct slice key;
    void *value;
    os_mutex_lock(&meta->read);
    const struct table_partitions *table = map_get_i64(&meta->partitioned, table_id);
    *items = ARENA_NEW_ARRAY(arena, struct partition_info, table ? table->by_name.count : 0);
    while (table && map_next(&table->by_name, &at, &key, &value))
        (*items)[filled++] = view(arena, value);
    os_mutex_unlock(&meta->read);
    if (filled)
        qsort(*items, filled, sizeof **items, by_id);
    *count = filled;
}

/* ---- at start ---- */

static enum err_code row_read(struct meta *meta, sqlite3_stmt *row, struct partition_info *info, struct err *err)
{
    *info = (struct partition_info){.partition_id = sqlite3_column_int64(row, 0),
                                    .table_id = sqlite3_column_int64(row, 1),
                                    .name = db_text(row, 2),
                                    .created_ms = sqlite3_column_int64(row, 3)};
    if (!map_get_i64(&meta->tables, info->table_id) || !info->name.len)
        return err_set(err, ERR_CORRUPT, "%s: partition %lld is of no table, or has no name", meta->db.path,
                       (long long)info->partition_id);
    return OK;
}

static enum err_code load_partition(void *arg, sqlite3_stmt *row, struct err *err)
{
    struct partition_info info;
    TRY(row_read(arg, row, &info, err));
    info.is_remade = sqlite3_column_int64(row, 4) != 0;
    put_locked(arg, partition_make(&info));
    return OK;
}

static enum err_code load_dropped(void *arg, sqlite3_stmt *row, struct err *err)
{
    struct meta *meta = arg;
    struct partition_info info;
    TRY(row_read(meta, row, &info, err));
    vec_push(&meta->dropped_partitions, partition_make(&info));
    return OK;
}

static enum err_code load_kept(void *arg, sqlite3_stmt *row, struct err *err)
{
    (void)err;
    keep_name_locked(arg, sqlite3_column_int64(row, 0), db_text(row, 1));
    return OK;
}

enum err_code partition_load(struct meta *meta, struct err *err)
{
    TRY(db_each(&meta->db, err, "SELECT partition_id, table_id, name, created_ms, is_remade FROM partitions ORDER BY 1",
                load_partition, meta));
    TRY(db_each(&meta->db, err, "SELECT table_id, name FROM kept_partitions", load_kept, meta));
    return db_each(&meta->db, err,
                   "SELECT partition_id, table_id, name, dropped_ms FROM pending_partition_deletes ORDER BY 1",
                   load_dropped, meta);
}
