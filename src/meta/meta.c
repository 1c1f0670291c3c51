#include "meta/meta_int.h"

#include <stdio.h>

#define RUN_EPOCHS_BITS 32

static enum err_code set_dirs(struct meta *meta, const struct meta_config *config, char db_path[OS_PATH_MAX],
                              struct err *err)
{
    char data_dir[OS_PATH_MAX];
    TRY(os_realpath(meta->os, config->data_dir, data_dir, err));
    if (snprintf(db_path, OS_PATH_MAX, "%s/meta.db", data_dir) >= OS_PATH_MAX)
        return err_set(err, ERR_LIMIT, "the data directory's path is too long: %.100s", data_dir);
    TRY(os_mkdirs(meta->os, config->remote_dir, err));
    return os_realpath(meta->os, config->remote_dir, meta->remote_dir, err);
}

/* Before SQLite looks: it would make the file, and remove a write-ahead log that has lost its own. */
static enum err_code check_there(struct os *os, const char *path, struct err *err)
{
    struct os_stat stat;
    enum err_code code = os_stat(os, path, &stat, err);
    if (code == ERR_NOT_FOUND || (code == OK && stat.size == 0))
        return err_set(err, ERR_META_MISSING, "%s is %s, and there are files of tables beside it", path,
                       code == OK ? "empty" : "missing");
    return code;
}

/* This run's number, so that no other run gives the same tiering epochs. */
static enum err_code count_run(struct meta *meta, struct err *err)
{
    return db_run(&meta->db, err, "UPDATE counters SET next = ?1 WHERE name = 'run'", "i", meta->run + 1);
}

enum err_code meta_open(struct os *os, const struct meta_config *config, struct meta **out, struct err *err)
{
    struct meta *meta = mem_zalloc(sizeof *meta);
    enum err_code code;
    char db_path[OS_PATH_MAX];
    meta->os = os;
    os_mutex_init(&meta->write, os);
    os_mutex_init(&meta->read, os);
    TRY_OR_FAIL(set_dirs(meta, config, db_path, err));
    if (config->must_exist)
        TRY_OR_FAIL(check_there(os, db_path, err));
    TRY_OR_FAIL(db_open(&meta->db, os, db_path, config->must_exist, os_wall_ms(os), err));
    TRY_OR_FAIL(meta_load(meta, err));
    TRY_OR_FAIL(count_run(meta, err));
    *out = meta;
    return OK;
fail:
    meta_close(meta);
    return code;
}

void meta_close(struct meta *meta)
{
    if (!meta)
        return;
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&meta->tables, &at, &key, &value))
        table_unref(value);
    for (at = 0; map_next(&meta->lakes, &at, &key, &value);)
        lake_destroy(value);
    for (at = 0; map_next(&meta->databases, &at, &key, &value);)
        database_destroy(value);
    for (size_t i = 0; i < meta->deletes.len; i++)
        pending_delete_destroy(meta->deletes.ptr[i]);
    vec_deinit(&meta->deletes);
    partition_forget_all(meta);
    acl_set_deinit(&meta->acls);
    vec_deinit(&meta->options);
    arena_deinit(&meta->options_arena);
    map_deinit(&meta->tables);
    map_deinit(&meta->paths);
    map_deinit(&meta->lakes);
    map_deinit(&meta->databases);
    db_close(&meta->db);
    os_mutex_deinit(&meta->read);
    os_mutex_deinit(&meta->write);
    mem_free(meta);
}

int64_t meta_run_epoch_base(const struct meta *meta)
{
    return meta->run << RUN_EPOCHS_BITS;
}

/* One of the block that the file has given to this run. */
static bool take_writer_id(struct meta *meta, int64_t *writer_id)
{
    os_mutex_lock(&meta->read);
    bool left = meta->writer_id_next < meta->writer_id_end;
    if (left)
        *writer_id = meta->writer_id_next++;
    os_mutex_unlock(&meta->read);
    return left;
}

static enum err_code more_writer_ids(struct meta *meta, struct err *err)
{
    int64_t end = meta->writer_id_end + META_WRITER_IDS_BLOCK;
    TRY(db_run(&meta->db, err, "UPDATE counters SET next = ?1 WHERE name = 'writer_id'", "i", end));
    os_mutex_lock(&meta->read);
    meta->writer_id_end = end;
    os_mutex_unlock(&meta->read);
    return OK;
}

enum err_code meta_writer_id(struct meta *meta, int64_t *writer_id, struct err *err)
{
    if (take_writer_id(meta, writer_id))
        return OK;
    os_mutex_lock(&meta->write);
    enum err_code code = OK;
    while (code == OK && !take_writer_id(meta, writer_id))
        code = more_writer_ids(meta, err);
    os_mutex_unlock(&meta->write);
    return code;
}
