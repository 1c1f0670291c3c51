#include "meta/meta_int.h"

#include <stdatomic.h>

struct handle {
    struct table_info info; /* what others see */
    atomic_uint ref_count;
    struct arena arena; /* of everything in it */
};

static struct handle *handle_of(const struct table_info *table)
{
    /* The handle is ours and not const; readers only get to see the const view. */
    return (struct handle *)(uintptr_t)table;
}

_Static_assert(offsetof(struct handle, info) == 0, "the view is the head of the handle");

const struct table_info *table_ref(const struct table_info *table)
{
    atomic_fetch_add(&handle_of(table)->ref_count, 1);
    return table;
}

void table_unref(const struct table_info *table)
{
    if (!table || atomic_fetch_sub(&handle_of(table)->ref_count, 1) != 1)
        return;
    arena_deinit(&handle_of(table)->arena);
    mem_free(handle_of(table));
}

const struct schema_version *table_schema(const struct table_info *table, int32_t schema_id)
{
    for (uint32_t i = table->schema_count; i-- > 0;)
        if (table->schemas[i].schema_id == schema_id)
            return &table->schemas[i];
    return NULL;
}

void meta_tables_deinit(struct meta_tables *tables)
{
    for (size_t i = 0; i < tables->len; i++)
        table_unref(tables->ptr[i]);
    vec_deinit(tables);
}

static enum err_code parse(struct handle *handle, const struct schema_row *rows, uint32_t count, struct err *err)
{
    struct arena *arena = &handle->arena;
    struct table_descriptor *descriptor = ARENA_NEW(arena, struct table_descriptor);
    TRY(table_descriptor_from_json(arena, handle->info.json, descriptor, err));
    TRY(table_settings_read(descriptor, &handle->info.settings, err));
    struct schema_version *versions = ARENA_NEW_ARRAY(arena, struct schema_version, count);
    for (uint32_t i = 0; i < count; i++) {
        struct schema *schema = ARENA_NEW(arena, struct schema);
        versions[i].schema_id = rows[i].schema_id;
        versions[i].json = arena_dup(arena, rows[i].json);
        versions[i].schema = schema;
        TRY(schema_from_json(arena, versions[i].json, schema, err));
    }
    handle->info.descriptor = descriptor;
    handle->info.schemas = versions;
    handle->info.schema_count = count;
    handle->info.schema_id = versions[count - 1].schema_id;
    return OK;
}

enum err_code table_info_create(const struct table_row *row, const struct schema_row *schemas, uint32_t schema_count,
                                const struct table_info **table, struct err *err)
{
    ASSERT(schema_count > 0);
    struct handle *handle = mem_zalloc(sizeof *handle);
    atomic_init(&handle->ref_count, 1);
    handle->info.table_id = row->table_id;
    handle->info.database = arena_dup(&handle->arena, row->database);
    handle->info.name = arena_dup(&handle->arena, row->name);
    handle->info.json = arena_dup(&handle->arena, row->json);
    handle->info.created_ms = row->created_ms;
    handle->info.modified_ms = row->modified_ms;
    enum err_code code = parse(handle, schemas, schema_count, err);
    if (code == OK)
        *table = &handle->info;
    else
        table_unref(&handle->info);
    return code;
}

bool table_path_make(struct table_path *path, struct slice database, struct slice name)
{
    if (database.len > NAME_BYTES_MAX || name.len > NAME_BYTES_MAX)
        return false;
    if (database.len)
        memcpy(path->bytes, database.ptr, database.len);
    path->bytes[database.len] = '/'; /* in no name */
    if (name.len)
        memcpy(path->bytes + database.len + 1, name.ptr, name.len);
    path->len = database.len + 1 + name.len;
    return true;
}

const struct table_info *table_find_locked(struct meta *meta, struct slice database, struct slice name)
{
    struct table_path path;
    if (!table_path_make(&path, database, name))
        return NULL;
    return map_get(&meta->paths, slice_of(path.bytes, path.len));
}

void table_put_locked(struct meta *meta, const struct table_info *table)
{
    struct table_path path;
    bool fits = table_path_make(&path, table->database, table->name);
    ASSERT(fits);
    void *before = map_put(&meta->paths, slice_of(path.bytes, path.len), handle_of(table));
    map_put_i64(&meta->tables, table->table_id, handle_of(table));
    if (before)
        table_unref(before);
    else
        ((struct database *)map_get(&meta->databases, table->database))->table_count++;
}

void table_remove_locked(struct meta *meta, const struct table_info *table)
{
    struct table_path path;
    bool fits = table_path_make(&path, table->database, table->name);
    ASSERT(fits);
    map_remove(&meta->paths, slice_of(path.bytes, path.len));
    map_remove_i64(&meta->tables, table->table_id);
    ((struct database *)map_get(&meta->databases, table->database))->table_count--;
    table_unref(table);
}
