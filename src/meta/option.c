/* Options of the server that clients have altered. */
#include "meta/meta_int.h"

static void put(struct meta *meta, struct slice name, struct slice value)
{
    vec_push(&meta->options,
             ((struct meta_option){arena_dup(&meta->options_arena, name), arena_dup(&meta->options_arena, value)}));
}

static enum err_code load_option(void *arg, sqlite3_stmt *row, struct err *err)
{
    (void)err;
    put(arg, db_text(row, 0), db_text(row, 1));
    return OK;
}

enum err_code option_load(struct meta *meta, struct err *err)
{
    return db_each(&meta->db, err, "SELECT name, value FROM options ORDER BY name", load_option, meta);
}

void meta_options(struct meta *meta, struct arena *arena, struct meta_option **items, size_t *count)
{
    os_mutex_lock(&meta->read);
    *count = meta->options.len;
    *items = ARENA_NEW_ARRAY(arena, struct meta_option, meta->options.len);
    for (size_t i = 0; i < meta->options.len; i++)
        (*items)[i] = (struct meta_option){arena_dup(arena, meta->options.ptr[i].name),
                                           arena_dup(arena, meta->options.ptr[i].value)};
    os_mutex_unlock(&meta->read);
}

static enum err_code rows_set(struct meta *meta, const struct meta_option *options, size_t count, struct err *err)
{
    enum err_code code;
    TRY(db_begin(&meta->db, err));
    TRY_OR_FAIL(db_run(&meta->db, err, "DELETE FROM options", ""));
    for (size_t i = 0; i < count; i++)
        TRY_OR_FAIL(
            db_run(&meta->db, err, "INSERT INTO options VALUES (?1, ?2)", "tt", options[i].name, options[i].value));
    TRY_OR_FAIL(db_commit(&meta->db, err));
    return OK;
fail:
    db_rollback(&meta->db);
    return code;
}

enum err_code meta_options_set(struct meta *meta, const struct meta_option *options, size_t count, struct err *err)
{
    os_mutex_lock(&meta->write);
    enum err_code code = rows_set(meta, options, count, err);
    if (code == OK) {
        os_mutex_lock(&meta->read);
        vec_reset(&meta->options);
        arena_reset(&meta->options_arena);
        for (size_t i = 0; i < count; i++)
            put(meta, options[i].name, options[i].value);
        os_mutex_unlock(&meta->read);
    }
    os_mutex_unlock(&meta->write);
    return code;
}
