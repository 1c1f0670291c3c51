/* weir wait: until the lake holds what the log held when the command began. */
#include "cmd/cmd_int.h"

#define DEADLINE_MS 60000
#define POLL_NS 100000000

struct wait {
    struct cmd *cmd;
    struct client_table *table;
    int64_t *targets; /* by bucket */
    int64_t missing;  /* rows, at the last look */
    int64_t snapshot;
    struct arena kept;
};

static enum err_code look(struct wait *wait, bool *there, struct err *err)
{
    struct arena arena = {0};
    struct client_lake_snapshot snapshot = {.id = -1};
    enum err_code code = client_lake_snapshot(wait->table, CLIENT_LAKE_READABLE, 0, &arena, &snapshot, err);
    if (code == ERR_LAKE_SNAPSHOT_NOT_EXIST)
        code = OK;
    wait->missing = 0;
    for (int32_t i = 0; code == OK && i < wait->table->bucket_count; i++) {
        int64_t reached = snapshot.offsets && snapshot.offsets[i] > 0 ? snapshot.offsets[i] : 0;
        wait->missing += MAX(wait->targets[i] - reached, 0);
    }
    wait->snapshot = snapshot.id;
    *there = code == OK && wait->missing == 0;
    arena_deinit(&arena);
    return code;
}

static enum err_code until_there(struct wait *wait, struct err *err)
{
    struct os *os = wait->cmd->os;
    struct cmd_progress progress;
    int64_t until = os_mono_ns(os) + (wait->cmd->deadline_ms ? wait->cmd->deadline_ms : DEADLINE_MS) * 1000000;
    bool there = false;
    enum err_code code = OK;
    cmd_progress_start(&progress, wait->cmd, "rows the lake lacks");
    while (code == OK && !there) {
        code = look(wait, &there, err);
        if (code != OK || there)
            break;
        cmd_progress_tell(&progress, wait->missing, 0);
        if (os_mono_ns(os) >= until)
            code = err_set(err, ERR_DEADLINE, "the lake still lacks %lld changes of %s", (long long)wait->missing,
                           wait->cmd->args[0]);
        else
            os_sleep_ns(os, POLL_NS);
    }
    cmd_progress_end(&progress);
    return code;
}

static enum err_code report(struct wait *wait, int64_t started_ns, struct err *err)
{
    static const struct printer_column columns[] = {
        {SLICE("table"), {0}, false}, {SLICE("snapshot"), {0}, true}, {SLICE("seconds"), {0}, true}};
    struct printer printer;
    printer_init(&printer, wait->cmd, columns, ARRAY_LEN(columns));
    printer_text(&printer, slice_str(wait->cmd->args[0]));
    if (wait->snapshot >= 0)
        printer_i64(&printer, wait->snapshot);
    else
        printer_null(&printer);
    printer_decimal(&printer, cmd_seconds_since(wait->cmd->os, started_ns));
    enum err_code code = printer_finish(&printer, err);
    printer_deinit(&printer);
    return code;
}

int cmd_wait(struct cmd *cmd)
{
    enum err_code code;
    struct err err = {0};
    struct wait wait = {.cmd = cmd};
    int64_t started = os_mono_ns(cmd->os);
    TRY_OR_FAIL(cmd_open_table(cmd, &wait.table, &err));
    if (!wait.table->lake_enabled) {
        code = err_set(&err, ERR_LAKE_STORAGE_NOT_CONFIGURED_EXCEPTION,
                       "%s has no lake: it was made without 'table.datalake.enabled' = 'true'", cmd->args[0]);
        goto fail;
    }
    wait.targets = ARENA_NEW_ARRAY(&wait.kept, int64_t, (size_t)wait.table->bucket_count);
    TRY_OR_FAIL(client_offsets(wait.table, CLIENT_LATEST, 0, wait.targets, &err));
    client_deadline(cmd->client, INT64_MAX); /* until_there keeps it */
    TRY_OR_FAIL(until_there(&wait, &err));
    TRY_OR_FAIL(report(&wait, started, &err));
fail:
    client_table_unref(wait.table);
    arena_deinit(&wait.kept);
    return code == OK ? EXIT_YES : cmd_fail(&err);
}
