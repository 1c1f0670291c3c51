/* The mirror, filled from the file at start. */
#include "meta/meta_int.h"

static enum err_code load_counter(void *arg, sqlite3_stmt *row, struct err *err)
{
    (void)err;
    struct meta *meta = arg;
    struct slice name = db_text(row, 0);
    int64_t next = sqlite3_column_int64(row, 1);
    if (slice_is(name, "table_id"))
        meta->table_id_next = next;
    else if (slice_is(name, "partition_id"))
        meta->partition_id_next = next;
    else if (slice_is(name, "writer_id"))
        meta->writer_id_next = meta->writer_id_end = next;
    else if (slice_is(name, "run"))
        meta->run = next;
    return OK;
}

static enum err_code load_database(void *arg, sqlite3_stmt *row, struct err *err)
{
    (void)err;
    struct meta *meta = arg;
    struct database *database =
        database_create(db_text(row, 0), db_text(row, 1), sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3));
    map_put(&meta->databases, database->name, database);
    return OK;
}

static enum err_code load_delete(void *arg, sqlite3_stmt *row, struct err *err)
{
    (void)err;
    struct meta *meta = arg;
    vec_push(&meta->deletes, pending_delete_create(sqlite3_column_int64(row, 0), db_text(row, 1), db_text(row, 2)));
    return OK;
}

/* Tables come joined with their schemas, one row a schema; a table is made when its last one is read. */
struct loading {
    struct meta *meta;
    struct arena arena;
    bool any;
    struct table_row table;
    VEC(struct schema_row) schemas;
};

static enum err_code finish_table(struct loading *loading, struct err *err)
{
    if (!loading->any)
        return OK;
    struct err why = {0};
    const struct table_info *info;
    if (table_info_create(&loading->table, loading->schemas.ptr, (uint32_t)loading->schemas.len, &info, &why) != OK)
        return err_set(err, ERR_CORRUPT, "%s: table %lld can't be understood: %.120s", loading->meta->db.path,
                       (long long)loading->table.table_id, why.text);
    table_put_locked(loading->meta, info);
    arena_reset(&loading->arena);
    vec_reset(&loading->schemas);
    loading->any = false;
    return OK;
}

static enum err_code load_table(void *arg, sqlite3_stmt *row, struct err *err)
{
    struct loading *loading = arg;
    int64_t table_id = sqlite3_column_int64(row, 0);
    if (loading->any && loading->table.table_id != table_id)
        TRY(finish_table(loading, err));
    if (!map_get(&loading->meta->databases, db_text(row, 1)) || !name_is_valid(db_text(row, 2)))
        return err_set(err, ERR_CORRUPT, "%s: table %lld is in no database, or its name is none",
                       loading->meta->db.path, (long long)table_id);
    if (!loading->any)
        loading->table = (struct table_row){
            .table_id = table_id,
            .database = arena_dup(&loading->arena, db_text(row, 1)),
            .name = arena_dup(&loading->arena, db_text(row, 2)),
            .json = arena_dup(&loading->arena, db_text(row, 3)),
            .created_ms = sqlite3_column_int64(row, 4),
            .modified_ms = sqlite3_column_int64(row, 5),
        };
    loading->any = true;
    vec_push(&loading->schemas,
             ((struct schema_row){sqlite3_column_int(row, 6), arena_dup(&loading->arena, db_text(row, 7))}));
    return OK;
}

static enum err_code load_tables(struct meta *meta, struct err *err)
{
    struct loading loading = {.meta = meta};
    enum err_code code = db_each(&meta->db, err,
                                 "SELECT t.table_id, database_name, name, descriptor, created_ms, modified_ms,"
                                 " s.schema_id, schema FROM tables t LEFT JOIN schemas s USING (table_id)"
                                 " ORDER BY t.table_id, s.schema_id",
                                 load_table, &loading);
    if (code == OK)
        code = finish_table(&loading, err);
    arena_deinit(&loading.arena);
    vec_deinit(&loading.schemas);
    return code;
}

enum err_code meta_load(struct meta *meta, struct err *err)
{
    struct db *db = &meta->db;
    TRY(db_each(db, err, "SELECT name, next FROM counters", load_counter, meta));
    TRY(db_each(db, err, "SELECT name, descriptor, created_ms, modified_ms FROM databases", load_database, meta));
    TRY(load_tables(meta, err));
    TRY(db_each(db, err, "SELECT table_id, database_name, name FROM pending_deletes ORDER BY 1", load_delete, meta));
    TRY(partition_load(meta, err));
    TRY(acl_load(meta, err));
    TRY(option_load(meta, err));
    return lake_load(meta, err);
}
