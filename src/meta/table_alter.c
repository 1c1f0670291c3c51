#include "meta/meta_int.h"

static enum err_code update_row(struct meta *meta, const struct table_info *table, struct err *err)
{
    enum err_code code;
    TRY(db_begin(&meta->db, err));
    TRY_OR_FAIL(db_run(&meta->db, err, "UPDATE tables SET descriptor = ?2, modified_ms = ?3 WHERE table_id = ?1", "iti",
                       table->table_id, table->json, table->modified_ms));
    TRY_OR_FAIL(db_commit(&meta->db, err));
    return OK;
fail:
    db_rollback(&meta->db);
    return code;
}

/* The next version of a table: the description is new, the schemas stay. */
static enum err_code next_version(struct meta *meta, const struct table_info *old, struct slice json,
                                  const struct table_info **table, struct err *err)
{
    struct table_row row = {.table_id = old->table_id,
                            .database = old->database,
                            .name = old->name,
                            .json = json,
                            .created_ms = old->created_ms,
                            .modified_ms = os_wall_ms(meta->os)};
    struct schema_row *schemas = mem_alloc(old->schema_count * sizeof *schemas);
    for (uint32_t i = 0; i < old->schema_count; i++)
        schemas[i] = (struct schema_row){old->schemas[i].schema_id, old->schemas[i].json};
    enum err_code code = table_info_create(&row, schemas, old->schema_count, table, err);
    mem_free(schemas);
    return code;
}

static enum err_code alter_locked(struct meta *meta, int64_t table_id, struct slice json,
                                  const struct table_info **table, struct err *err)
{
    const struct table_info *old = map_get_i64(&meta->tables, table_id), *info;
    if (!old)
        return err_set(err, ERR_TABLE_NOT_EXIST, "Table %lld does not exist.", (long long)table_id);
    TRY(next_version(meta, old, json, &info, err));
    enum err_code code = update_row(meta, info, err);
    if (code != OK) {
        table_unref(info);
        return code;
    }
    *table = table_ref(info);
    os_mutex_lock(&meta->read);
    table_put_locked(meta, info);
    os_mutex_unlock(&meta->read);
    return OK;
}

enum err_code meta_table_alter(struct meta *meta, int64_t table_id, const struct table_descriptor *descriptor,
                               const struct table_info **table, struct err *err)
{
    struct buf json = {0};
    enum err_code code = OK;
    table_descriptor_to_json(descriptor, &json);
    if (json.len > META_DESCRIPTOR_BYTES_MAX)
        code = err_set(err, ERR_INVALID_TABLE_EXCEPTION, "The table's description has %zu bytes; at most %u are kept.",
                       json.len, META_DESCRIPTOR_BYTES_MAX);
    if (code == OK) {
        os_mutex_lock(&meta->write);
        code = alter_locked(meta, table_id, buf_view(&json), table, err);
        os_mutex_unlock(&meta->write);
    }
    buf_deinit(&json);
    return code;
}
