/* PREPARE_LAKE_TABLE_SNAPSHOT: an offsets file for a snapshot that is about to be. */
#include "meta/meta_int.h"

#include <stdio.h>

/* Makes the table's metadata directory, and its new names durable from the bottom up. */
static enum err_code make_dir(struct meta *meta, const struct table_info *table, struct err *err)
{
    char dir[OS_PATH_MAX];
    TRY(lake_file_path(meta, table->table_id, table->database, table->name, (struct slice){0}, dir, err));
    dir[strlen(dir) - 1] = 0; /* the slash before the empty name */
    struct os_stat stat;
    if (os_stat(meta->os, dir, &stat, NULL) == OK)
        return OK;
    TRY(os_mkdirs(meta->os, dir, err));
    while (strlen(dir) > strlen(meta->remote_dir)) {
        *strrchr(dir, '/') = 0;
        TRY(os_dir_sync(meta->os, dir, err));
    }
    return OK;
}

static bool is_there(struct meta *meta, const struct table_info *table)
{
    os_mutex_lock(&meta->read);
    bool yes = map_get_i64(&meta->tables, table->table_id) != NULL;
    os_mutex_unlock(&meta->read);
    return yes;
}

enum err_code lake_file_write(struct meta *meta, const struct table_info *table, struct lake_offsets offsets,
                              struct arena *arena, struct slice *file, struct slice *path, struct err *err)
{
    char uuid[37], full[OS_PATH_MAX];
    os_uuid(meta->os, uuid);
    struct slice name = arena_printf(arena, "%s.offsets", uuid);
    TRY(lake_file_path(meta, table->table_id, table->database, table->name, name, full, err));
    TRY(make_dir(meta, table, err));
    struct buf json = {0};
    lake_offsets_to_json(table->table_id, offsets, &json);
    enum err_code code = os_write_durable(meta->os, full, buf_view(&json), err);
    buf_deinit(&json);
    if (code != OK)
        return code;
    /* The table may have been dropped meanwhile, and its directory removed before we made it again. */
    if (!is_there(meta, table)) {
        TRY(lake_table_dir(meta, table->table_id, table->database, table->name, full, err));
        TRY(os_remove_tree(meta->os, full, err));
        return err_set(err, ERR_TABLE_NOT_EXIST, "Table %lld was dropped.", (long long)table->table_id);
    }
    *file = name;
    *path = arena_dup(arena, slice_str(full));
    return OK;
}

static enum err_code check_table(struct meta *meta, const struct table_info *table, struct slice database,
                                 struct slice name, const struct lake_offsets *offsets, struct err *err)
{
    if (!slice_equal(table->database, database) || !slice_equal(table->name, name))
        return err_set(err, ERR_TABLE_NOT_EXIST,
                       "Table %.*s.%.*s does not have id %lld; it was dropped and made again.",
                       (int)MIN(database.len, 80), (const char *)database.ptr, (int)MIN(name.len, 80),
                       (const char *)name.ptr, (long long)table->table_id);
    for (size_t i = 0; i < offsets->count; i++)
        TRY(partition_check_bucket(meta, table, offsets->items[i].partition_id, offsets->items[i].bucket, err));
    return OK;
}

/* With deletion vectors a stock worker also prepares offsets that are long in the lake: those of the snapshot that
 * readers may see by now. */
static bool may_go_back(const struct table_info *table)
{
    const struct slice *set = properties_get(&table->descriptor->custom_properties, "paimon.deletion-vectors.enabled");
    return set && slice_equal_nocase(*set, SLICE("true"));
}

/* A worker that was believed lost, whose rows another one has tiered meanwhile, is stopped before it commits them to
 * the lake once more. Stock does not look, so its workers do not either. */
static enum err_code check_not_behind(struct lake_offsets latest, struct lake_offsets offsets, struct err *err)
{
    for (size_t i = 0, at = 0; i < offsets.count; i++) {
        const struct lake_offset *told = &offsets.items[i];
        while (at < latest.count && lake_offset_compare(&latest.items[at], told) < 0)
            at++;
        if (at < latest.count && lake_offset_compare(&latest.items[at], told) == 0 &&
            told->end_offset < latest.items[at].end_offset)
            return err_set(err, ERR_FENCED_TIERING_EPOCH_EXCEPTION,
                           "bucket %d: the lake holds its log up to %lld already, the round ends at %lld; it was "
                           "overtaken, begin it anew",
                           told->bucket, (long long)latest.items[at].end_offset, (long long)told->end_offset);
    }
    return OK;
}

enum err_code meta_lake_prepare(struct meta *meta, int64_t table_id, struct slice database, struct slice name,
                                const struct lake_offsets *offsets, bool ignore_previous, struct arena *arena,
                                struct slice *path, struct err *err)
{
    const struct table_info *table;
    TRY(meta_table_get_by_id(meta, table_id, &table, err));
    enum err_code code;
    struct lake_offsets merged, latest = {0};
    TRY_OR_FAIL(lake_offsets_check(arena, offsets, &merged, err));
    TRY_OR_FAIL(check_table(meta, table, database, name, &merged, err));
    if (!ignore_previous)
        latest = lake_latest_offsets(meta, table_id, arena);
    if (!may_go_back(table))
        TRY_OR_FAIL(check_not_behind(latest, merged, err));
    merged = lake_offsets_merge(arena, latest, merged);
    os_mutex_lock(&meta->read);
    merged = partition_live_offsets_locked(meta, merged, arena);
    os_mutex_unlock(&meta->read);
    struct slice file;
    code = lake_file_write(meta, table, merged, arena, &file, path, err);
fail:
    table_unref(table);
    return code;
}
