#include "meta/meta_int.h"

/* ---- the next version of a table ---- */

static enum err_code insert_schema(struct meta *meta, const struct table_info *table, struct err *err)
{
    const struct schema_version *newest = &table->schemas[table->schema_count - 1];
    return db_run(&meta->db, err, "INSERT INTO schemas VALUES (?1, ?2, ?3)", "iit", table->table_id,
                  (int64_t)newest->schema_id, newest->json);
}

static enum err_code update_rows(struct meta *meta, const struct table_info *table, bool new_schema, struct err *err)
{
    enum err_code code;
    TRY(db_begin(&meta->db, err));
    TRY_OR_FAIL(db_run(&meta->db, err,
                       "UPDATE tables SET descriptor = ?2, schema_id = ?3, modified_ms = ?4 WHERE table_id = ?1",
                       "itii", table->table_id, table->json, (int64_t)table->schema_id, table->modified_ms));
    if (new_schema)
        TRY_OR_FAIL(insert_schema(meta, table, err));
    TRY_OR_FAIL(db_run(&meta->db, err, "DELETE FROM pending_alters WHERE table_id = ?1", "i", table->table_id));
    TRY_OR_FAIL(db_commit(&meta->db, err));
    return OK;
fail:
    db_rollback(&meta->db);
    return code;
}

/* What a table is to become, as texts. */
struct next {
    struct buf json;
    struct buf schema_json;
};

static enum err_code next_make(const struct table_descriptor *descriptor, struct next *next, struct err *err)
{
    table_descriptor_to_json(descriptor, &next->json);
    schema_to_json(&descriptor->schema, &next->schema_json);
    if (next->json.len > META_DESCRIPTOR_BYTES_MAX)
        return err_set(err, ERR_INVALID_TABLE_EXCEPTION, "The table's description has %zu bytes; at most %u are kept.",
                       next->json.len, META_DESCRIPTOR_BYTES_MAX);
    return OK;
}

static void next_deinit(struct next *next)
{
    buf_deinit(&next->json);
    buf_deinit(&next->schema_json);
}

/* The description is new, and the schema after those that were, if it is another. */
static enum err_code next_version(struct meta *meta, const struct table_info *old, const struct next *next,
                                  const struct table_info **table, struct err *err)
{
    struct table_row row = {.table_id = old->table_id,
                            .database = old->database,
                            .name = old->name,
                            .json = buf_view(&next->json),
                            .created_ms = old->created_ms,
                            .modified_ms = os_wall_ms(meta->os)};
    uint32_t count = old->schema_count;
    bool changed = !slice_equal(buf_view(&next->schema_json), old->schemas[count - 1].json);
    if (changed && old->schema_id >= META_SCHEMAS_MAX)
        return err_set(err, ERR_LIMIT, "The table has had %d schemas; there are no more.", META_SCHEMAS_MAX);
    struct schema_row *schemas = mem_alloc(((size_t)count + 1) * sizeof *schemas);
    for (uint32_t i = 0; i < count; i++)
        schemas[i] = (struct schema_row){old->schemas[i].schema_id, old->schemas[i].json};
    if (changed)
        schemas[count++] = (struct schema_row){old->schema_id + 1, buf_view(&next->schema_json)};
    enum err_code code = table_info_create(&row, schemas, count, table, err);
    mem_free(schemas);
    return code;
}

/* The table as it is, and as it would be; the new handle is the caller's. */
static enum err_code both_locked(struct meta *meta, int64_t table_id, const struct next *next,
                                 const struct table_info **old, const struct table_info **info, struct err *err)
{
    *old = map_get_i64(&meta->tables, table_id);
    if (!*old)
        return err_set(err, ERR_TABLE_NOT_EXIST, "Table %lld does not exist.", (long long)table_id);
    return next_version(meta, *old, next, info, err);
}

static enum err_code alter_locked(struct meta *meta, int64_t table_id, const struct next *next,
                                  const struct table_info **table, struct err *err)
{
    const struct table_info *old, *info;
    TRY(both_locked(meta, table_id, next, &old, &info, err));
    enum err_code code = update_rows(meta, info, info->schema_id != old->schema_id, err);
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
    struct next next = {0};
    enum err_code code = next_make(descriptor, &next, err);
    if (code == OK) {
        os_mutex_lock(&meta->write);
        code = alter_locked(meta, table_id, &next, table, err);
        os_mutex_unlock(&meta->write);
    }
    next_deinit(&next);
    return code;
}

/* ---- alterations that the lake hears of first ---- */

static enum err_code begin_locked(struct meta *meta, int64_t table_id, const struct next *next, struct err *err)
{
    const struct table_info *old, *info;
    TRY(both_locked(meta, table_id, next, &old, &info, err));
    table_unref(info);
    return db_run(&meta->db, err, "INSERT OR REPLACE INTO pending_alters VALUES (?1, ?2, ?3)", "iti", table_id,
                  buf_view(&next->json), os_wall_ms(meta->os));
}

enum err_code meta_alter_begin(struct meta *meta, int64_t table_id, const struct table_descriptor *descriptor,
                               struct err *err)
{
    struct next next = {0};
    enum err_code code = next_make(descriptor, &next, err);
    if (code == OK) {
        os_mutex_lock(&meta->write);
        code = begin_locked(meta, table_id, &next, err);
        os_mutex_unlock(&meta->write);
    }
    next_deinit(&next);
    return code;
}

enum err_code meta_alter_cancel(struct meta *meta, int64_t table_id, struct err *err)
{
    os_mutex_lock(&meta->write);
    enum err_code code = db_run(&meta->db, err, "DELETE FROM pending_alters WHERE table_id = ?1", "i", table_id);
    os_mutex_unlock(&meta->write);
    return code;
}

struct listing {
    int64_t table_id; /* -1: all */
    struct arena *arena;
    VEC(struct pending_alter) found;
};

static enum err_code take_alter(void *arg, sqlite3_stmt *row, struct err *err)
{
    (void)err;
    struct listing *listing = arg;
    int64_t table_id = sqlite3_column_int64(row, 0);
    if (listing->table_id == -1 || listing->table_id == table_id)
        vec_push(&listing->found, ((struct pending_alter){table_id, arena_dup(listing->arena, db_text(row, 1))}));
    return OK;
}

enum err_code meta_alters_pending(struct meta *meta, int64_t table_id, struct arena *arena,
                                  struct pending_alter **items, size_t *count, struct err *err)
{
    struct listing listing = {.table_id = table_id, .arena = arena};
    os_mutex_lock(&meta->write);
    enum err_code code = db_each(&meta->db, err, "SELECT table_id, descriptor FROM pending_alters ORDER BY table_id",
                                 take_alter, &listing);
    os_mutex_unlock(&meta->write);
    if (code == OK) {
        *items = ARENA_NEW_ARRAY(arena, struct pending_alter, listing.found.len);
        if (listing.found.len)
            memcpy(*items, listing.found.ptr, listing.found.len * sizeof **items);
        *count = listing.found.len;
    }
    vec_deinit(&listing.found);
    return code;
}
