/* weir get: rows by key. */
#include "cmd/cmd_int.h"

struct get {
    struct client_table *table;
    size_t count;
    const struct datum **keys;
    struct datum **rows;
    struct arena arena;
};

static enum err_code read_keys(struct get *get, const struct cmd *cmd, struct err *err)
{
    get->count = (size_t)cmd->arg_count - 1;
    if (!get->count)
        return err_set(err, ERR_INVALID_ARGUMENT, "weir get needs a key");
    get->keys = ARENA_NEW_ARRAY(&get->arena, const struct datum *, get->count);
    get->rows = ARENA_NEW_ARRAY(&get->arena, struct datum *, get->count);
    for (size_t i = 0; i < get->count; i++) {
        struct datum *key = ARENA_NEW_ARRAY(&get->arena, struct datum, get->table->schema.schema.column_count);
        TRY(cmd_key(get->table, slice_str(cmd->args[i + 1]), &get->arena, key, err));
        get->keys[i] = key;
    }
    return OK;
}

static enum err_code print(struct get *get, const struct cmd *cmd, size_t *missing, struct err *err)
{
    const struct schema *schema = &get->table->schema.schema;
    struct printer printer;
    struct printer_column *columns = ARENA_NEW_ARRAY(&get->arena, struct printer_column, schema->column_count);
    printer_schema_columns(schema, &get->arena, columns);
    printer_init(&printer, cmd, columns, schema->column_count);
    for (size_t i = 0; i < get->count; i++) {
        *missing += !get->rows[i];
        for (uint32_t c = 0; get->rows[i] && c < schema->column_count; c++)
            printer_datum(&printer, schema->columns[c].type, &get->rows[i][c]);
    }
    enum err_code code = *missing < get->count || cmd->format == FORMAT_JSON ? printer_finish(&printer, err) : OK;
    printer_deinit(&printer);
    return code;
}

int cmd_get(struct cmd *cmd)
{
    enum err_code code;
    struct err err = {0};
    struct get get = {0};
    size_t missing = 0;
    TRY_OR_FAIL(cmd_open_table(cmd, &get.table, &err));
    TRY_OR_FAIL(read_keys(&get, cmd, &err));
    int64_t started = os_mono_ns(cmd->os);
    TRY_OR_FAIL(client_lookup(get.table, get.keys, get.count, &get.arena, get.rows, &err));
    double ms = cmd_seconds_since(cmd->os, started) * 1000;
    TRY_OR_FAIL(print(&get, cmd, &missing, &err));
    if (cmd->terminal && cmd->format == FORMAT_TABLE)
        cmd_note("%zu of %zu, %.2f ms", get.count - missing, get.count, ms);
    for (size_t i = 0; i < get.count; i++)
        if (!get.rows[i])
            cmd_note("%s: %s has no row with the key %s", err_user_code(ERR_NOT_FOUND), cmd->args[0], cmd->args[i + 1]);
fail:
    client_table_unref(get.table);
    arena_deinit(&get.arena);
    return code != OK ? cmd_fail(cmd, &err) : missing ? EXIT_NO : EXIT_YES;
}
