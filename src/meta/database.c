#include "meta/meta_int.h"

#include <stdlib.h>

struct database *database_create(struct slice name, struct slice json, int64_t created_ms, int64_t modified_ms)
{
    struct database *database = mem_zalloc(sizeof *database);
    database->name = arena_dup(&database->arena, name);
    database->json = arena_dup(&database->arena, json);
    database->created_ms = created_ms;
    database->modified_ms = modified_ms;
    return database;
}

void database_destroy(struct database *database)
{
    arena_deinit(&database->arena);
    mem_free(database);
}

static enum err_code not_there(struct slice name, struct err *err)
{
    return err_set(err, ERR_DATABASE_NOT_EXIST, "Database %.*s does not exist.", (int)MIN(name.len, NAME_BYTES_MAX),
                   (const char *)name.ptr);
}

static enum err_code check_properties(const struct database_descriptor *descriptor, struct err *err)
{
    if (descriptor->custom_properties.count <= PROPERTIES_MAX)
        return OK;
    return err_set(err, ERR_INVALID_DATABASE_EXCEPTION, "The database has %u custom properties; at most %d fit.",
                   descriptor->custom_properties.count, PROPERTIES_MAX);
}

/* The descriptor as it is stored: read, checked, written. */
static enum err_code normal_json(struct slice json, struct buf *out, struct err *err)
{
    struct arena arena = {0};
    struct database_descriptor descriptor;
    enum err_code code = database_descriptor_from_json(&arena, json, &descriptor, err);
    if (code == OK)
        code = check_properties(&descriptor, err);
    if (code == OK)
        database_descriptor_to_json(&descriptor, out);
    arena_deinit(&arena);
    return code;
}

static enum err_code create_locked(struct meta *meta, struct slice name, struct slice json, bool ignore_if_exists,
                                   struct err *err)
{
    if (map_get(&meta->databases, name))
        return ignore_if_exists
                   ? OK
                   : err_set(err, ERR_DATABASE_ALREADY_EXIST, "Database %.*s exists already.", SLICE_ARGS(name));
    if (meta->databases.count >= META_DATABASES_MAX)
        return err_set(err, ERR_LIMIT, "There are %d databases; weir holds no more.", META_DATABASES_MAX);
    int64_t now_ms = os_wall_ms(meta->os);
    TRY(db_run(&meta->db, err, "INSERT INTO databases VALUES (?1, ?2, ?3, ?3)", "tti", name, json, now_ms));
    struct database *database = database_create(name, json, now_ms, now_ms);
    os_mutex_lock(&meta->read);
    map_put(&meta->databases, name, database);
    os_mutex_unlock(&meta->read);
    return OK;
}

enum err_code meta_database_create(struct meta *meta, struct slice name, struct slice json, bool ignore_if_exists,
                                   struct err *err)
{
    if (!name_is_valid(name))
        return err_set(err, ERR_INVALID_DATABASE_EXCEPTION,
                       "'%.*s' is no name of a database: 1 to %d of the characters a-z A-Z 0-9 _ -, not beginning "
                       "with __.",
                       (int)MIN(name.len, 60), (const char *)name.ptr, NAME_BYTES_MAX);
    struct buf normal = {0};
    enum err_code code;
    TRY_OR_FAIL(normal_json(json, &normal, err));
    os_mutex_lock(&meta->write);
    code = create_locked(meta, name, buf_view(&normal), ignore_if_exists, err);
    os_mutex_unlock(&meta->write);
fail:
    buf_deinit(&normal);
    return code;
}

static enum err_code alter_locked(struct meta *meta, struct slice name, struct slice json, struct err *err)
{
    struct database *old = map_get(&meta->databases, name);
    if (!old)
        return not_there(name, err);
    int64_t now_ms = os_wall_ms(meta->os);
    TRY(db_run(&meta->db, err, "UPDATE databases SET descriptor = ?2, modified_ms = ?3 WHERE name = ?1", "tti", name,
               json, now_ms));
    struct database *altered = database_create(name, json, old->created_ms, now_ms);
    os_mutex_lock(&meta->read);
    altered->table_count = old->table_count;
    map_put(&meta->databases, name, altered);
    os_mutex_unlock(&meta->read);
    database_destroy(old);
    return OK;
}

enum err_code meta_database_alter(struct meta *meta, struct slice name, struct slice json, struct err *err)
{
    struct buf normal = {0};
    enum err_code code;
    TRY_OR_FAIL(normal_json(json, &normal, err));
    os_mutex_lock(&meta->write);
    code = alter_locked(meta, name, buf_view(&normal), err);
    os_mutex_unlock(&meta->write);
fail:
    buf_deinit(&normal);
    return code;
}

/* The database's tables, without counts, into tables. */
static void collect(struct meta *meta, struct slice database, struct meta_tables *tables)
{
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&meta->tables, &at, &key, &value)) {
        const struct table_info *table = value;
        if (slice_equal(table->database, database))
            vec_push(tables, table);
    }
}

static enum err_code drop_rows(struct meta *meta, struct slice name, const struct meta_tables *tables, struct err *err)
{
    enum err_code code;
    TRY(db_begin(&meta->db, err));
    for (size_t i = 0; i < tables->len; i++)
        TRY_OR_FAIL(table_drop_rows(meta, tables->ptr[i], os_wall_ms(meta->os), err));
    TRY_OR_FAIL(db_run(&meta->db, err, "DELETE FROM databases WHERE name = ?1", "t", name));
    TRY_OR_FAIL(db_commit(&meta->db, err));
    return OK;
fail:
    db_rollback(&meta->db);
    return code;
}

static void drop_mirror(struct meta *meta, struct slice name, const struct meta_tables *tables,
                        struct meta_ids *dropped)
{
    os_mutex_lock(&meta->read);
    for (size_t i = 0; i < tables->len; i++) {
        vec_push(dropped, tables->ptr[i]->table_id);
        table_drop_locked(meta, tables->ptr[i]);
    }
    struct database *database = map_remove(&meta->databases, name);
    os_mutex_unlock(&meta->read);
    database_destroy(database);
}

static enum err_code drop_locked(struct meta *meta, struct slice name, bool ignore_if_not_exists, bool cascade,
                                 struct meta_ids *dropped, struct err *err)
{
    const struct database *database = map_get(&meta->databases, name);
    if (!database)
        return ignore_if_not_exists ? OK : not_there(name, err);
    if (database->table_count && !cascade)
        return err_set(err, ERR_DATABASE_NOT_EMPTY, "Database %.*s holds %d tables; drop them or say CASCADE.",
                       SLICE_ARGS(name), database->table_count);
    struct meta_tables tables = {0};
    collect(meta, name, &tables);
    enum err_code code = drop_rows(meta, name, &tables, err);
    if (code == OK)
        drop_mirror(meta, name, &tables, dropped);
    vec_deinit(&tables);
    return code;
}

enum err_code meta_database_drop(struct meta *meta, struct slice name, bool ignore_if_not_exists, bool cascade,
                                 struct meta_ids *dropped, struct err *err)
{
    os_mutex_lock(&meta->write);
    enum err_code code = drop_locked(meta, name, ignore_if_not_exists, cascade, dropped, err);
    os_mutex_unlock(&meta->write);
    return code;
}

bool meta_database_exists(struct meta *meta, struct slice name)
{
    os_mutex_lock(&meta->read);
    bool yes = map_get(&meta->databases, name) != NULL;
    os_mutex_unlock(&meta->read);
    return yes;
}

static struct database_info view(struct arena *arena, const struct database *database)
{
    return (struct database_info){
        .name = arena_dup(arena, database->name),
        .json = arena_dup(arena, database->json),
        .created_ms = database->created_ms,
        .modified_ms = database->modified_ms,
        .table_count = database->table_count,
    };
}

enum err_code meta_database_info(struct meta *meta, struct arena *arena, struct slice name, struct database_info *info,
                                 struct err *err)
{
    os_mutex_lock(&meta->read);
    const struct database *database = map_get(&meta->databases, name);
    if (database)
        *info = view(arena, database);
    os_mutex_unlock(&meta->read);
    return database ? OK : not_there(name, err);
}

static int by_name(const void *a, const void *b)
{
    return slice_compare(((const struct database_info *)a)->name, ((const struct database_info *)b)->name);
}

void meta_database_list(struct meta *meta, struct arena *arena, struct database_info **items, size_t *count)
{
    os_mutex_lock(&meta->read);
    struct database_info *infos = ARENA_NEW_ARRAY(arena, struct database_info, meta->databases.count);
    size_t at = 0, filled = 0;
    struct slice key;
    void *value;
    while (map_next(&meta->databases, &at, &key, &value))
        infos[filled++] = view(arena, value);
    os_mutex_unlock(&meta->read);
    if (filled)
        qsort(infos, filled, sizeof *infos, by_name);
    *items = infos;
    *count = filled;
}
