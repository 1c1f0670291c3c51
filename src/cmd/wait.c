/* weir wait: until the lake holds what the log held when the command began. */
#include "cmd/cmd_int.h"

struct wait {
    struct cmd *cmd;
    struct client_table *table;
    int64_t *wanted; /* by place */
    int64_t snapshot_id;
    struct arena arena;
};

static enum err_code report(struct wait *wait, int64_t started_ns, struct err *err)
{
    static const struct printer_column columns[] = {
        {SLICE("table"), {0}, false}, {SLICE("snapshot"), {0}, true}, {SLICE("seconds"), {0}, true}};
    struct printer printer;
    printer_init(&printer, wait->cmd, columns, ARRAY_LEN(columns));
    printer_text(&printer, slice_str(wait->cmd->args[0]));
    if (wait->snapshot_id)
        printer_i64(&printer, wait->snapshot_id);
    else
        printer_null(&printer);
    printer_decimal(&printer, cmd_seconds_since(wait->cmd->os, started_ns), 3);
    enum err_code code = printer_finish(&printer, err);
    printer_deinit(&printer);
    return code;
}

static enum err_code until_there(struct wait *wait, struct err *err)
{
    struct cmd_progress progress;
    struct union_watch watch = {cmd_progress_union, &progress};
    TRY(cmd_open_table(wait->cmd, &wait->table, err));
    wait->wanted = ARENA_NEW_ARRAY(&wait->arena, int64_t, client_place_count(wait->table));
    TRY(client_offsets(wait->table, CLIENT_LATEST, 0, wait->wanted, err));
    cmd_progress_start(&progress, wait->cmd, NULL);
    enum err_code code =
        union_wait(wait->table, wait->wanted, cmd_lake_deadline_ns(wait->cmd), &watch, &wait->snapshot_id, err);
    cmd_progress_end(&progress);
    return code;
}

int cmd_wait(struct cmd *cmd)
{
    struct err err = {0};
    struct wait wait = {.cmd = cmd};
    int64_t started = os_mono_ns(cmd->os);
    enum err_code code = until_there(&wait, &err);
    if (code == OK)
        code = report(&wait, started, &err);
    client_table_unref(wait.table);
    arena_deinit(&wait.arena);
    return code == OK ? EXIT_YES : cmd_fail(cmd, &err);
}
