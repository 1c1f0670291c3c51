/* A table that is open: its directory and its schemas. */
#include "lake/paimon/live_int.h"

enum err_code paimon_table_newest_schema(struct os *os, const char *dir, int64_t *id, struct buf *text, struct err *err)
{
    struct path path;
    struct numbered found = {.prefix = "schema-"};
    TRY(paimon_path_set(&path, err, "%s/schema", dir));
    TRY(paimon_numbered_find(os, path.text, &found, err));
    *id = -1;
    if (!found.any)
        return OK;
    TRY(paimon_path_set(&path, err, "%s/schema/schema-%" PRId64, dir, found.greatest));
    TRY(paimon_file_read(os, path.text, PAIMON_JSON_BYTES_MAX, text, err));
    *id = found.greatest;
    return OK;
}

/* Takes a text in as one of the table's schemas. */
static enum err_code add_schema(struct paimon_table *table, int64_t id, struct slice text,
                                struct paimon_schema **schema, struct err *err)
{
    struct paimon_schema disk;
    struct paimon_schema *kept = ARENA_NEW(&table->arena, struct paimon_schema);
    TRY(paimon_schema_read(&table->arena, text, &disk, err));
    if (disk.id != id)
        return err_set(err, ERR_CORRUPT, "the file schema-%" PRId64 " holds the schema %" PRId64, id, disk.id);
    paimon_schema_in_memory(&table->arena, &disk, kept);
    vec_push(&table->schemas, kept);
    *schema = kept;
    return OK;
}

static struct paimon_schema *find_schema(const struct paimon_table *table, int64_t id)
{
    for (size_t i = 0; i < table->schemas.len; i++)
        if (table->schemas.ptr[i]->id == id)
            return table->schemas.ptr[i];
    return NULL;
}

enum err_code paimon_table_schema_of(struct paimon_table *table, int64_t id, const struct paimon_schema **schema,
                                     struct err *err)
{
    struct path path;
    struct buf text = {0};
    struct paimon_schema *found = find_schema(table, id);
    if (!found) {
        TRY(paimon_path_set(&path, err, "%s/schema/schema-%" PRId64, TABLE_DIR(table), id));
        enum err_code code = paimon_file_read(table->os, path.text, PAIMON_JSON_BYTES_MAX, &text, err);
        if (code == ERR_NOT_FOUND)
            code = err_set(err, ERR_LAKE, "%s is not there", path.text);
        if (code == OK)
            code = add_schema(table, id, buf_view(&text), &found, err);
        buf_deinit(&text);
        if (code != OK)
            return code;
    }
    *schema = found;
    return OK;
}

enum err_code paimon_table_refresh(struct paimon_table *table, struct err *err)
{
    struct buf text = {0};
    int64_t id;
    struct paimon_schema *newest = NULL;
    enum err_code code = paimon_table_newest_schema(table->os, TABLE_DIR(table), &id, &text, err);
    if (code == OK && id < 0)
        code = err_set(err, ERR_NOT_FOUND, "there is no Paimon table at %s", TABLE_DIR(table));
    if (code == OK) {
        newest = find_schema(table, id);
        if (!newest)
            code = add_schema(table, id, buf_view(&text), &newest, err);
    }
    buf_deinit(&text);
    if (code == OK)
        table->newest = newest;
    return code;
}

enum err_code paimon_table_open_dir(struct os *os, struct slice dir, struct paimon_table **out, struct err *err)
{
    struct paimon_table *table = mem_zalloc(sizeof *table);
    table->os = os;
    table->dir = slice_of(arena_cstr(&table->arena, dir), dir.len);
    enum err_code code = paimon_table_refresh(table, err);
    if (code == OK)
        *out = table;
    else
        paimon_table_close(table);
    return code;
}

enum err_code paimon_table_open(struct os *os, const struct paimon_place *place, struct paimon_table **table,
                                struct err *err)
{
    struct path dir;
    TRY(paimon_place_dir(place, &dir, err));
    return paimon_table_open_dir(os, slice_str(dir.text), table, err);
}

void paimon_table_close(struct paimon_table *table)
{
    if (!table)
        return;
    paimon_live_destroy(table->live);
    vec_deinit(&table->schemas);
    arena_deinit(&table->arena);
    mem_free(table);
}

const struct paimon_schema *paimon_table_schema(const struct paimon_table *table)
{
    return table->newest;
}

int paimon_key_compare(const struct paimon_schema *schema, const struct datum *a, const struct datum *b)
{
    for (uint32_t i = 0; i < schema->trimmed_key_count; i++) {
        int order = datum_compare(schema->columns[schema->trimmed_key[i]].type, &a[i], &b[i]);
        if (order)
            return order;
    }
    return 0;
}
