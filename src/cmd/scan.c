/* weir scan: a whole table as it is now. */
#include "cmd/cmd_int.h"

struct scan {
    struct cmd *cmd;
    struct client_table *table;
    struct printer printer;
    int64_t left; /* rows still wanted; -1: all */
    struct cmd_progress progress;
};

static enum err_code print_row(void *arg, const struct datum *row, struct err *err)
{
    struct scan *scan = arg;
    const struct schema *schema = &scan->table->schema.schema;
    if (scan->left == 0)
        return ERR_LIMIT; /* enough; run() knows */
    for (uint32_t c = 0; c < schema->column_count; c++)
        printer_datum(&scan->printer, schema->columns[c].type, &row[c]);
    if (scan->left > 0)
        scan->left--;
    if (scan->printer.failed.code != OK) {
        if (err)
            *err = scan->printer.failed;
        return scan->printer.failed.code;
    }
    cmd_progress_tell(&scan->progress, (int64_t)scan->printer.row_count, 0);
    return OK;
}

static enum err_code print_batch(struct scan *scan, const struct client_batch *batch, struct datum *row,
                                 struct arena *arena, struct err *err)
{
    for (uint32_t i = batch->first; i < batch->end; i++) {
        arena_reset(arena);
        for (uint32_t c = 0; c < batch->rows.column_count; c++)
            column_get(&batch->rows.columns[c], i, arena, &row[c]);
        TRY(print_row(scan, row, err));
    }
    return OK;
}

static enum err_code scan_log(struct scan *scan, struct err *err)
{
    enum err_code code;
    struct client_table *table = scan->table;
    struct arena arena = {0}, kept = {0};
    struct client_scanner *scanner = NULL;
    size_t count = (size_t)table->bucket_count;
    struct client_scan_bucket *buckets = ARENA_NEW_ARRAY(&kept, struct client_scan_bucket, count);
    int64_t *starts = ARENA_NEW_ARRAY(&kept, int64_t, count);
    int64_t *stops = ARENA_NEW_ARRAY(&kept, int64_t, count);
    struct datum *row = ARENA_NEW_ARRAY(&kept, struct datum, table->schema.schema.column_count);
    TRY_OR_FAIL(client_offsets(table, CLIENT_EARLIEST, 0, starts, err));
    TRY_OR_FAIL(client_offsets(table, CLIENT_LATEST, 0, stops, err));
    for (size_t i = 0; i < count; i++)
        buckets[i] = (struct client_scan_bucket){(int32_t)i, starts[i], stops[i]};
    TRY_OR_FAIL(client_scanner_create(table, buckets, count, NULL, &scanner, err));
    while (!client_scanner_done(scanner)) {
        struct client_batch batch;
        bool have;
        TRY_OR_FAIL(client_scanner_next(scanner, &batch, &have, err));
        if (have)
            TRY_OR_FAIL(print_batch(scan, &batch, row, &arena, err));
    }
fail:
    client_scanner_destroy(scanner);
    arena_deinit(&arena);
    arena_deinit(&kept);
    return code;
}

static enum err_code run(struct scan *scan, struct err *err)
{
    enum err_code code =
        scan->table->has_primary_key ? client_scan_kv(scan->table, print_row, scan, NULL, err) : scan_log(scan, err);
    cmd_progress_end(&scan->progress);
    if (code != OK && !(code == ERR_LIMIT && scan->left == 0))
        return code;
    return printer_finish(&scan->printer, err);
}

int cmd_scan(struct cmd *cmd)
{
    enum err_code code;
    struct err err = {0};
    struct arena arena = {0};
    struct scan scan = {.cmd = cmd, .left = cmd->limit};
    TRY_OR_FAIL(cmd_open_table(cmd, &scan.table, &err));
    const struct schema *schema = &scan.table->schema.schema;
    struct printer_column *columns = ARENA_NEW_ARRAY(&arena, struct printer_column, schema->column_count);
    printer_schema_columns(schema, &arena, columns);
    printer_init(&scan.printer, cmd, columns, schema->column_count);
    cmd_progress_start(&scan.progress, cmd, "rows read");
    int64_t started = os_mono_ns(cmd->os);
    TRY_OR_FAIL(run(&scan, &err));
    if (cmd->terminal && cmd->format == FORMAT_TABLE)
        cmd_note("%llu rows, %.2f s%s", (unsigned long long)scan.printer.row_count, cmd_seconds_since(cmd->os, started),
                 scan.left == 0 ? ", cut off by --limit" : "");
fail:
    printer_deinit(&scan.printer);
    client_table_unref(scan.table);
    arena_deinit(&arena);
    return code == OK ? EXIT_YES : cmd_fail(&err);
}
