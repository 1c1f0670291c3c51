/* weir put, weir delete: rows or keys from the arguments or standard input, until all are acknowledged. */
#include "cmd/cmd_int.h"

struct put {
    struct cmd *cmd;
    struct client_table *table;
    struct client_writer *writer;
    struct arena arena; /* of one row */
    struct datum *row;
    bool delete;
    bool from_input;
    struct cmd_progress progress;
    int64_t count;
};

/* The row can't be stored, and the writer goes on. */
static bool is_of_row(enum err_code code)
{
    return code == ERR_INVALID_ARGUMENT || code == ERR_PARTITION_SPEC_INVALID_EXCEPTION ||
           code == ERR_PARTITION_MAX_NUM_EXCEPTION || code == ERR_PARTITION_NOT_EXISTS;
}

static enum err_code one(void *arg, size_t number, struct slice text, struct err *err)
{
    struct put *put = arg;
    struct err why = {0};
    arena_reset(&put->arena);
    enum err_code code = put->delete ? cmd_key(put->table, text, &put->arena, put->row, &why)
                                     : row_from_json(&put->arena, &put->table->schema.schema, text, put->row, &why);
    if (code == OK)
        code = put->delete ? client_writer_delete(put->writer, put->row, &why)
                           : client_writer_put(put->writer, put->row, &why);
    if (is_of_row(code))
        return err_set(err, code, "%s %zu: %s", put->from_input ? "line" : "row", number, why.text);
    if (code != OK) {
        *err = why;
        return code;
    }
    cmd_progress_tell(&put->progress, ++put->count, 0);
    return OK;
}

static enum err_code all(struct put *put, struct err *err)
{
    struct cmd *cmd = put->cmd;
    put->from_input = cmd->arg_count == 1;
    if (put->from_input)
        return cmd_each_line(cmd->os, one, put, err);
    for (int i = 1; i < cmd->arg_count; i++)
        TRY(one(put, (size_t)i, slice_str(cmd->args[i]), err));
    return OK;
}

static enum err_code report(struct put *put, int64_t started_ns, struct err *err)
{
    const struct printer_column columns[] = {{SLICE("table"), {0}, false},
                                             {put->delete ? SLICE("deleted") : SLICE("rows"), {0}, true},
                                             {SLICE("seconds"), {0}, true}};
    struct printer printer;
    struct buf name = {0};
    printer_init(&printer, put->cmd, columns, ARRAY_LEN(columns));
    buf_printf(&name, "%.*s.%.*s", SLICE_ARGS(put->table->path.database), SLICE_ARGS(put->table->path.table));
    printer_text(&printer, buf_view(&name));
    printer_i64(&printer, client_writer_acked(put->writer));
    printer_decimal(&printer, cmd_seconds_since(put->cmd->os, started_ns), 3);
    enum err_code code = printer_finish(&printer, err);
    printer_deinit(&printer);
    buf_deinit(&name);
    return code;
}

/* What was read before a bad line is stored all the same. */
static enum err_code write_all(struct put *put, struct err *err)
{
    struct err flush_err = {0};
    enum err_code code = all(put, err);
    if (code == OK || is_of_row(code)) {
        enum err_code flushed = client_writer_flush(put->writer, &flush_err);
        if (flushed != OK) {
            *err = flush_err;
            code = flushed;
        }
    }
    cmd_progress_end(&put->progress);
    if (code != OK && put->count)
        cmd_note("%lld rows before it are stored", (long long)client_writer_acked(put->writer));
    return code;
}

static int run(struct cmd *cmd, bool delete)
{
    enum err_code code;
    struct err err = {0};
    struct put put = {.cmd = cmd, .delete = delete};
    int64_t started = os_mono_ns(cmd->os);
    TRY_OR_FAIL(cmd_open_table(cmd, &put.table, &err));
    if (delete &&!put.table->has_primary_key) {
        code = err_set(&err, ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION,
                       "%s has no primary key: nothing can be deleted from it", cmd->args[0]);
        goto fail;
    }
    put.row = mem_zalloc(put.table->schema.schema.column_count * sizeof *put.row);
    TRY_OR_FAIL(client_writer_create(put.table, NULL, &put.writer, &err));
    cmd_progress_start(&put.progress, cmd, delete ? "keys deleted" : "rows written");
    TRY_OR_FAIL(write_all(&put, &err));
    TRY_OR_FAIL(report(&put, started, &err));
    if (put.table->has_primary_key && !delete)
        cmd_try(cmd, "scan %s", cmd->args[0]);
    else
        cmd_try(cmd, "tail %s --changes --from earliest", cmd->args[0]);
fail:
    client_writer_destroy(put.writer);
    client_table_unref(put.table);
    arena_deinit(&put.arena);
    mem_free(put.row);
    return code == OK ? EXIT_YES : cmd_fail(cmd, &err);
}

int cmd_put(struct cmd *cmd)
{
    return run(cmd, false);
}

int cmd_delete(struct cmd *cmd)
{
    return run(cmd, true);
}
