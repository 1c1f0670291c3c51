/* Dropped tables whose files may still be there. */
#include "meta/meta_int.h"

struct pending_delete *pending_delete_create(int64_t table_id, struct slice database, struct slice name)
{
    struct pending_delete *pending = mem_zalloc(sizeof *pending);
    pending->table_id = table_id;
    pending->database = arena_dup(&pending->arena, database);
    pending->name = arena_dup(&pending->arena, name);
    return pending;
}

void pending_delete_destroy(struct pending_delete *pending)
{
    arena_deinit(&pending->arena);
    mem_free(pending);
}

void meta_deletes_pending(struct meta *meta, struct meta_ids *table_ids)
{
    os_mutex_lock(&meta->read);
    for (size_t i = 0; i < meta->deletes.len; i++)
        vec_push(table_ids, meta->deletes.ptr[i]->table_id);
    os_mutex_unlock(&meta->read);
}

static enum err_code done_locked(struct meta *meta, size_t at, struct err *err)
{
    struct pending_delete *pending = meta->deletes.ptr[at];
    char dir[OS_PATH_MAX];
    TRY(lake_table_dir(meta, pending->table_id, pending->database, pending->name, dir, err));
    TRY(os_remove_tree(meta->os, dir, err));
    TRY(db_run(&meta->db, err, "DELETE FROM pending_deletes WHERE table_id = ?1", "i", pending->table_id));
    os_mutex_lock(&meta->read);
    vec_remove(&meta->deletes, at);
    os_mutex_unlock(&meta->read);
    pending_delete_destroy(pending);
    return OK;
}

enum err_code meta_delete_done(struct meta *meta, int64_t table_id, struct err *err)
{
    os_mutex_lock(&meta->write);
    enum err_code code = OK;
    for (size_t i = 0; i < meta->deletes.len; i++) {
        if (meta->deletes.ptr[i]->table_id == table_id) {
            code = done_locked(meta, i, err);
            break;
        }
    }
    os_mutex_unlock(&meta->write);
    return code;
}
