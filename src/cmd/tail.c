/* weir tail: a table's log as it grows. */
#include "cmd/cmd_int.h"

#include <stdatomic.h>

#define WAIT_MS 200 /* how soon Ctrl-C is seen */

struct tail {
    struct cmd *cmd;
    struct client_table *table;
    struct client_scanner *scanner;
    struct printer printer;
    struct arena arena; /* of one row */
    struct arena kept;
    struct client_scan_bucket *buckets;
    size_t bucket_count;
    atomic_bool stop;
    int64_t left; /* -1: no limit */
};

static const char *const change_names[CHANGE_TYPE_COUNT] = {"+A", "+I", "-U", "+U", "-D"};

static void on_stop(void *arg)
{
    struct tail *tail = arg;
    atomic_store(&tail->stop, true);
}

static enum err_code set_buckets(struct tail *tail, struct err *err)
{
    struct cmd *cmd = tail->cmd;
    struct client_table *table = tail->table;
    size_t all = (size_t)table->bucket_count;
    int64_t offset = -1;
    int64_t *starts = ARENA_NEW_ARRAY(&tail->kept, int64_t, all);
    bool earliest = cmd->from && !strcmp(cmd->from, "earliest");
    bool latest = !cmd->from || !strcmp(cmd->from, "latest");
    if (!earliest && !latest && (!slice_to_i64(slice_str(cmd->from), &offset) || offset < 0))
        return err_set(err, ERR_INVALID_ARGUMENT, "--from takes earliest, latest or an offset, not %s", cmd->from);
    if (cmd->bucket >= table->bucket_count)
        return err_set(err, ERR_INVALID_ARGUMENT, "%s has the buckets 0 to %d", cmd->args[0], table->bucket_count - 1);
    if (offset < 0)
        TRY(client_offsets(table, earliest ? CLIENT_EARLIEST : CLIENT_LATEST, 0, starts, err));
    tail->buckets = ARENA_NEW_ARRAY(&tail->kept, struct client_scan_bucket, all);
    for (size_t i = 0; i < all; i++)
        if (cmd->bucket < 0 || (size_t)cmd->bucket == i)
            tail->buckets[tail->bucket_count++] =
                (struct client_scan_bucket){(int32_t)i, offset < 0 ? starts[i] : offset, INT64_MAX};
    return OK;
}

static void set_columns(struct tail *tail)
{
    static const struct printer_column own[] = {{SLICE("_change"), SLICE("kind"), false},
                                                {SLICE("_bucket"), SLICE("number"), true},
                                                {SLICE("_offset"), SLICE("number"), true},
                                                {SLICE("_time"), SLICE("TIMESTAMP_LTZ(3)"), false}};
    const struct schema *schema = &tail->table->schema.schema;
    size_t lead = tail->cmd->changes ? ARRAY_LEN(own) : 0;
    struct printer_column *columns =
        ARENA_NEW_ARRAY(&tail->kept, struct printer_column, schema->column_count + ARRAY_LEN(own));
    memcpy(columns, own, lead * sizeof *own);
    printer_schema_columns(schema, &tail->kept, columns + lead);
    printer_init(&tail->printer, tail->cmd, columns, schema->column_count + lead);
}

static void print_row(struct tail *tail, const struct client_batch *batch, uint32_t i, enum change_type change)
{
    const struct schema *schema = &tail->table->schema.schema;
    if (tail->cmd->changes) {
        struct datum time = {.ts = {batch->timestamp_ms, 0}};
        printer_text(&tail->printer, slice_str(change_names[change]));
        printer_i64(&tail->printer, batch->bucket);
        printer_i64(&tail->printer, batch->base_offset + i);
        printer_datum(&tail->printer, type_simple(TYPE_TIMESTAMP_LTZ), &time);
    }
    for (uint32_t c = 0; c < batch->rows.column_count; c++) {
        struct datum value;
        column_get(&batch->rows.columns[c], i, &tail->arena, &value);
        printer_datum(&tail->printer, schema->columns[c].type, &value);
    }
}

static void print_batch(struct tail *tail, const struct client_batch *batch)
{
    for (uint32_t i = batch->first; i < batch->end && tail->left; i++) {
        enum change_type change = log_batch_change(&batch->rows, i);
        if (!tail->cmd->changes && (change == CHANGE_UPDATE_BEFORE || change == CHANGE_DELETE))
            continue;
        arena_reset(&tail->arena);
        print_row(tail, batch, i, change);
        if (tail->left > 0)
            tail->left--;
    }
}

static bool ended(struct tail *tail, int64_t until_ns)
{
    return tail->left == 0 || atomic_load(&tail->stop) || os_mono_ns(tail->cmd->os) >= until_ns;
}

static enum err_code follow(struct tail *tail, struct err *err)
{
    struct cmd *cmd = tail->cmd;
    int64_t until = cmd->deadline_ms ? os_mono_ns(cmd->os) + cmd->deadline_ms * 1000000 : INT64_MAX;
    client_deadline(cmd->client, INT64_MAX); /* here it ends the command, not a call */
    while (!ended(tail, until)) {
        struct client_batch batch;
        bool have;
        TRY(client_scanner_next(tail->scanner, &batch, &have, err));
        if (have)
            print_batch(tail, &batch);
        else
            TRY(printer_flush(&tail->printer, err));
    }
    return printer_finish(&tail->printer, err);
}

static void summary(struct tail *tail, int64_t started_ns)
{
    if (!os_is_terminal(tail->cmd->os, 2))
        return;
    cmd_note("%llu rows in %.1f s", (unsigned long long)tail->printer.row_count,
             cmd_seconds_since(tail->cmd->os, started_ns));
    for (size_t i = 0; i < tail->bucket_count; i++)
        cmd_note("  bucket %d read up to offset %lld", tail->buckets[i].bucket,
                 (long long)client_scanner_position(tail->scanner, i));
}

int cmd_tail(struct cmd *cmd)
{
    enum err_code code;
    struct err err = {0};
    struct tail tail = {.cmd = cmd, .left = cmd->limit};
    struct client_scanner_options options = {.wait_ms = WAIT_MS};
    int64_t started = os_mono_ns(cmd->os);
    TRY_OR_FAIL(os_on_stop(cmd->os, on_stop, &tail, &err));
    TRY_OR_FAIL(cmd_open_table(cmd, &tail.table, &err));
    TRY_OR_FAIL(set_buckets(&tail, &err));
    TRY_OR_FAIL(client_scanner_create(tail.table, tail.buckets, tail.bucket_count, &options, &tail.scanner, &err));
    set_columns(&tail);
    code = follow(&tail, &err);
    if (code == OK)
        summary(&tail, started);
fail:
    printer_deinit(&tail.printer);
    client_scanner_destroy(tail.scanner);
    client_table_unref(tail.table);
    arena_deinit(&tail.arena);
    arena_deinit(&tail.kept);
    return code == OK ? EXIT_YES : cmd_fail(&err);
}
