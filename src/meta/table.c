#include "meta/meta_int.h"

#include <stdlib.h>

#define SHOWN(name) (int)MIN((name).len, NAME_BYTES_MAX), (const char *)(name).ptr

static enum err_code not_there(struct slice database, struct slice name, struct err *err)
{
    return err_set(err, ERR_TABLE_NOT_EXIST, "Table %.*s.%.*s does not exist.", (int)MIN(database.len, 90),
                   (const char *)database.ptr, (int)MIN(name.len, 90), (const char *)name.ptr);
}

static enum err_code check_names(struct slice database, struct slice name, struct err *err)
{
    if (!name_is_valid(database))
        return err_set(err, ERR_INVALID_DATABASE_EXCEPTION, "'%.*s' is no name of a database.",
                       (int)MIN(database.len, 60), (const char *)database.ptr);
    if (!name_is_valid(name))
        return err_set(err, ERR_INVALID_TABLE_EXCEPTION,
                       "'%.*s' is no name of a table: 1 to %d of the characters a-z A-Z 0-9 _ -, not beginning with "
                       "__.",
                       (int)MIN(name.len, 60), (const char *)name.ptr, NAME_BYTES_MAX);
    return OK;
}

static enum err_code check_new_locked(struct meta *meta, struct slice database, struct slice name, bool *exists,
                                      struct err *err)
{
    if (!map_get(&meta->databases, database))
        return err_set(err, ERR_DATABASE_NOT_EXIST, "Database %.*s does not exist.", SHOWN(database));
    bool taken = table_find_locked(meta, database, name) != NULL;
    if (taken && !exists)
        return err_set(err, ERR_TABLE_ALREADY_EXIST, "Table %.*s.%.*s exists already.", (int)MIN(database.len, 90),
                       (const char *)database.ptr, (int)MIN(name.len, 90), (const char *)name.ptr);
    if (!taken && meta->tables.count >= META_TABLES_MAX)
        return err_set(err, ERR_LIMIT, "There are %d tables; weir holds no more.", META_TABLES_MAX);
    if (exists)
        *exists = taken;
    return OK;
}

enum err_code meta_table_check_new(struct meta *meta, struct slice database, struct slice name, bool *exists,
                                   struct err *err)
{
    TRY(check_names(database, name, err));
    os_mutex_lock(&meta->read);
    enum err_code code = check_new_locked(meta, database, name, exists, err);
    os_mutex_unlock(&meta->read);
    return code;
}

static enum err_code insert_rows(struct meta *meta, const struct table_info *table, struct err *err)
{
    enum err_code code;
    struct db *db = &meta->db;
    TRY(db_begin(db, err));
    TRY_OR_FAIL(db_run(db, err, "UPDATE counters SET next = ?1 WHERE name = 'table_id'", "i", table->table_id + 1));
    TRY_OR_FAIL(db_run(db, err, "INSERT INTO tables VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", "itttiii", table->table_id,
                       table->database, table->name, table->json, (int64_t)table->schema_id, table->created_ms,
                       table->modified_ms));
    for (uint32_t i = 0; i < table->schema_count; i++)
        TRY_OR_FAIL(db_run(db, err, "INSERT INTO schemas VALUES (?1, ?2, ?3)", "iit", table->table_id,
                           (int64_t)table->schemas[i].schema_id, table->schemas[i].json));
    TRY_OR_FAIL(db_commit(db, err));
    return OK;
fail:
    db_rollback(db);
    return code;
}

static enum err_code create_locked(struct meta *meta, struct table_row *row, struct slice schema_json,
                                   const struct table_info **table, struct err *err)
{
    TRY(check_new_locked(meta, row->database, row->name, NULL, err));
    row->table_id = meta->table_id_next;
    row->created_ms = row->modified_ms = os_wall_ms(meta->os);
    const struct table_info *info;
    TRY(table_info_create(row, &(struct schema_row){1, schema_json}, 1, &info, err));
    enum err_code code = insert_rows(meta, info, err);
    if (code != OK) {
        table_unref(info);
        return code;
    }
    meta->table_id_next++;
    *table = table_ref(info);
    os_mutex_lock(&meta->read);
    table_put_locked(meta, info);
    os_mutex_unlock(&meta->read);
    return OK;
}

enum err_code meta_table_create(struct meta *meta, struct slice database, struct slice name,
                                const struct table_descriptor *descriptor, const struct table_info **table,
                                struct err *err)
{
    TRY(check_names(database, name, err));
    enum err_code code;
    struct buf json = {0}, schema_json = {0};
    table_descriptor_to_json(descriptor, &json);
    schema_to_json(&descriptor->schema, &schema_json);
    if (json.len > META_DESCRIPTOR_BYTES_MAX) {
        code = err_set(err, ERR_INVALID_TABLE_EXCEPTION, "The table's description has %zu bytes; at most %u are kept.",
                       json.len, META_DESCRIPTOR_BYTES_MAX);
        goto fail;
    }
    struct table_row row = {.database = database, .name = name, .json = buf_view(&json)};
    os_mutex_lock(&meta->write);
    code = create_locked(meta, &row, buf_view(&schema_json), table, err);
    os_mutex_unlock(&meta->write);
fail:
    buf_deinit(&json);
    buf_deinit(&schema_json);
    return code;
}

enum err_code table_drop_rows(struct meta *meta, const struct table_info *table, int64_t now_ms, struct err *err)
{
    TRY(db_run(&meta->db, err, "DELETE FROM tables WHERE table_id = ?1", "i", table->table_id));
    TRY(sequence_drop_rows(meta, table->table_id, err));
    return db_run(&meta->db, err, "INSERT INTO pending_deletes VALUES (?1, ?2, ?3, ?4)", "itti", table->table_id,
                  table->database, table->name, now_ms);
}

void table_drop_locked(struct meta *meta, const struct table_info *table)
{
    vec_push(&meta->deletes, pending_delete_create(table->table_id, table->database, table->name));
    lake_destroy(map_remove_i64(&meta->lakes, table->table_id));
    partition_forget_table_locked(meta, table->table_id);
    table_remove_locked(meta, table);
}

static enum err_code drop_locked(struct meta *meta, const struct table_info *table, struct err *err)
{
    enum err_code code;
    TRY(db_begin(&meta->db, err));
    TRY_OR_FAIL(table_drop_rows(meta, table, os_wall_ms(meta->os), err));
    TRY_OR_FAIL(db_commit(&meta->db, err));
    os_mutex_lock(&meta->read);
    table_drop_locked(meta, table);
    os_mutex_unlock(&meta->read);
    return OK;
fail:
    db_rollback(&meta->db);
    return code;
}

enum err_code meta_table_drop(struct meta *meta, struct slice database, struct slice name, bool ignore_if_not_exists,
                              int64_t *dropped_id, struct err *err)
{
    os_mutex_lock(&meta->write);
    const struct table_info *table = table_find_locked(meta, database, name);
    int64_t table_id = table ? table->table_id : -1;
    enum err_code code = OK;
    if (table)
        code = drop_locked(meta, table, err);
    else if (!ignore_if_not_exists)
        code = not_there(database, name, err);
    os_mutex_unlock(&meta->write);
    if (code == OK)
        *dropped_id = table_id;
    return code;
}

bool meta_table_exists(struct meta *meta, struct slice database, struct slice name)
{
    os_mutex_lock(&meta->read);
    bool yes = table_find_locked(meta, database, name) != NULL;
    os_mutex_unlock(&meta->read);
    return yes;
}

enum err_code meta_table_get(struct meta *meta, struct slice database, struct slice name,
                             const struct table_info **table, struct err *err)
{
    os_mutex_lock(&meta->read);
    const struct table_info *found = table_find_locked(meta, database, name);
    if (found)
        *table = table_ref(found);
    os_mutex_unlock(&meta->read);
    return found ? OK : not_there(database, name, err);
}

enum err_code meta_table_get_by_id(struct meta *meta, int64_t table_id, const struct table_info **table,
                                   struct err *err)
{
    os_mutex_lock(&meta->read);
    const struct table_info *found = map_get_i64(&meta->tables, table_id);
    if (found)
        *table = table_ref(found);
    os_mutex_unlock(&meta->read);
    return found ? OK : err_set(err, ERR_TABLE_NOT_EXIST, "Table %lld does not exist.", (long long)table_id);
}

static int by_path(const void *a, const void *b)
{
    const struct table_info *x = *(const struct table_info *const *)a, *y = *(const struct table_info *const *)b;
    int order = slice_compare(x->database, y->database);
    return order ? order : slice_compare(x->name, y->name);
}

enum err_code meta_table_list(struct meta *meta, struct slice database, struct meta_tables *tables, struct err *err)
{
    os_mutex_lock(&meta->read);
    bool there = !database.len || map_get(&meta->databases, database);
    size_t at = 0;
    struct slice key;
    void *value;
    while (there && map_next(&meta->tables, &at, &key, &value)) {
        const struct table_info *table = value;
        if (!database.len || slice_equal(table->database, database))
            vec_push(tables, table_ref(table));
    }
    os_mutex_unlock(&meta->read);
    if (!there)
        return err_set(err, ERR_DATABASE_NOT_EXIST, "Database %.*s does not exist.", SHOWN(database));
    if (tables->len)
        qsort(tables->ptr, tables->len, sizeof *tables->ptr, by_path);
    return OK;
}
