/* weir scan: a whole table as it is now; TABLE$lake: what the lake holds of it. */
#include "cmd/cmd_int.h"

enum source { SOURCE_HOT, SOURCE_LAKE, SOURCE_UNION };

struct scan {
    struct cmd *cmd;
    struct client_table *table;
    struct union_lake *lake;
    struct union_plan plan;
    enum source source;
    const struct schema_column *columns; /* of what is printed */
    uint32_t column_count;
    struct printer printer;
    int64_t left; /* rows still wanted; -1: all */
    struct cmd_progress progress;
    struct arena arena;
};

/* ---- rows ---- */

static enum err_code print_values(struct scan *scan, const struct datum *values, struct err *err)
{
    for (uint32_t c = 0; c < scan->column_count; c++)
        printer_datum(&scan->printer, scan->columns[c].type, &values[c]);
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

static enum err_code print_row(void *arg, const struct union_row *row, bool *enough, struct err *err)
{
    struct scan *scan = arg;
    TRY(print_values(scan, row->values, err));
    *enough = scan->left == 0;
    return OK;
}

static enum err_code print_live_row(void *arg, int32_t place, const struct datum *values, struct err *err)
{
    (void)place;
    struct scan *scan = arg;
    return scan->left == 0 ? ERR_LIMIT : print_values(scan, values, err); /* enough; read_hot knows */
}

/* The log alone, or the keys that the servers hold. */
static enum err_code read_hot(struct scan *scan, struct err *err)
{
    struct union_plan *plan = &scan->plan;
    if (!scan->table->has_primary_key)
        return union_read(scan->table, NULL, plan, 0, print_row, scan, err);
    enum err_code code = client_scan_kv(scan->table, print_live_row, scan, NULL, err);
    return code == ERR_LIMIT && scan->left == 0 ? OK : code;
}

static enum err_code read_rows(struct scan *scan, struct err *err)
{
    struct union_lake_options options = {.snapshot_id = scan->plan.snapshot_id,
                                         .system_columns = scan->cmd->system_columns};
    switch (scan->source) {
    case SOURCE_HOT:
        return read_hot(scan, err);
    case SOURCE_LAKE:
        return union_lake_read(scan->lake, &options, print_row, scan, err);
    default:
        return union_read(scan->table, scan->lake, &scan->plan, 0, print_row, scan, err);
    }
}

/* ---- what to read ---- */

static enum err_code wait_for_lake(struct scan *scan, struct err *err)
{
    struct client_table *table = scan->table;
    struct union_watch watch = {cmd_progress_union, &scan->progress};
    int64_t *wanted = ARENA_NEW_ARRAY(&scan->arena, int64_t, client_place_count(table));
    TRY(client_offsets(table, CLIENT_LATEST, 0, wanted, err));
    enum err_code code = union_wait(table, wanted, cmd_lake_deadline_ns(scan->cmd), &watch, NULL, err);
    cmd_progress_end(&scan->progress);
    return code;
}

static enum err_code plan_lake(struct scan *scan, struct err *err)
{
    if (scan->cmd->hot)
        return err_set(err, ERR_INVALID_ARGUMENT, "--hot is without the lake, and %s is the lake", scan->cmd->args[0]);
    if (scan->cmd->deadline_ms)
        TRY(wait_for_lake(scan, err));
    scan->source = SOURCE_LAKE;
    TRY(union_lake_open(scan->table, &scan->lake, err));
    TRY(union_lake_newest(scan->lake, &scan->plan.snapshot_id, err));
    if (!scan->plan.snapshot_id && !scan->cmd->deadline_ms)
        return err_set(err, ERR_NOT_YET, "%.*s.%.*s has no lake snapshot yet", SLICE_ARGS(scan->table->path.database),
                       SLICE_ARGS(scan->table->path.table));
    return OK;
}

static bool log_is_whole(struct scan *scan)
{
    struct client_table *table = scan->table;
    int64_t *starts = ARENA_NEW_ARRAY(&scan->arena, int64_t, client_place_count(table));
    if (table->has_primary_key)
        return true;
    bool whole = client_offsets(table, CLIENT_EARLIEST, 0, starts, NULL) == OK;
    for (size_t i = 0, count = client_place_count(table); whole && i < count; i++)
        whole = starts[i] <= 0;
    return whole;
}

/* The lake's directory may be another machine's: then what the servers hold is read, if that is everything. */
static enum err_code open_lake_or_do_without(struct scan *scan, struct err *err)
{
    struct err own = {0};
    enum err_code code = union_lake_open(scan->table, &scan->lake, &own);
    bool out_of_reach = code == ERR_NOT_FOUND || code == ERR_NOT_SUPPORTED || code == ERR_INVALID_CONFIG_EXCEPTION;
    if (out_of_reach && log_is_whole(scan)) {
        cmd_note("note: read without the lake, which is out of reach from here: %s", own.text);
        scan->plan.snapshot_id = 0;
        scan->source = SOURCE_HOT;
        return OK;
    }
    if (code != OK && err)
        *err = own;
    return code;
}

/* A table that is not tiered (yet) is read hot; its log begins at its beginning. */
static enum err_code plan_union(struct scan *scan, struct err *err)
{
    TRY(union_plan(scan->table, &scan->arena, &scan->plan, err));
    if (scan->cmd->hot || !scan->plan.snapshot_id) {
        scan->plan.snapshot_id = 0;
        scan->source = SOURCE_HOT;
        return OK;
    }
    scan->source = SOURCE_UNION;
    return open_lake_or_do_without(scan, err);
}

static enum err_code open_table(struct scan *scan, bool *is_lake, struct err *err)
{
    if (!scan->cmd->arg_count)
        return err_set(err, ERR_INVALID_ARGUMENT, "weir scan needs a table");
    struct client_path path = cmd_path(scan->cmd->args[0]);
    *is_lake = slice_ends_with(path.table, SLICE(CMD_LAKE_SUFFIX));
    if (!*is_lake && scan->cmd->system_columns)
        return err_set(err, ERR_INVALID_ARGUMENT, "--system-columns are those of the lake: weir scan '%s$lake'",
                       scan->cmd->args[0]);
    if (*is_lake)
        path.table.len -= strlen(CMD_LAKE_SUFFIX);
    return cmd_open_path(scan->cmd, path, &scan->table, err);
}

static void choose_columns(struct scan *scan)
{
    const struct schema *schema = &scan->table->schema.schema;
    const struct schema_column *system = scan->cmd->system_columns ? union_system_columns(scan->lake) : NULL;
    uint32_t extra = system ? UNION_SYSTEM_COLUMNS : 0;
    struct schema_column *all = ARENA_NEW_ARRAY(&scan->arena, struct schema_column, schema->column_count + extra);
    memcpy(all, schema->columns, schema->column_count * sizeof *all);
    if (system)
        memcpy(all + schema->column_count, system, extra * sizeof *all);
    scan->columns = all;
    scan->column_count = schema->column_count + extra;
    struct schema shown = {.columns = all, .column_count = scan->column_count};
    struct printer_column *columns = ARENA_NEW_ARRAY(&scan->arena, struct printer_column, scan->column_count);
    printer_schema_columns(&shown, &scan->arena, columns);
    printer_init(&scan->printer, scan->cmd, columns, scan->column_count);
}

static void tell_rate(const struct scan *scan, int64_t started_ns)
{
    double seconds = cmd_seconds_since(scan->cmd->os, started_ns);
    double rows = (double)scan->printer.row_count;
    if (!scan->cmd->terminal || scan->cmd->format != FORMAT_TABLE)
        return;
    cmd_note("%.0f rows, %.2f s, %.0f rows/s%s", rows, seconds, rows / MAX(seconds, 1e-6),
             scan->left == 0 ? ", cut off by --limit" : "");
}

#define ATTEMPTS_MAX 5

/* The oldest segment of a log went after its beginning was asked for, or a snapshot expired. */
static bool is_passing(enum err_code code)
{
    return code == ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION || code == ERR_NOT_FOUND;
}

/* As long as nothing was given, what went meanwhile is no matter: the plan is made anew. */
static enum err_code read_planned(struct scan *scan, struct err *err)
{
    struct err own = {0};
    enum err_code code = read_rows(scan, &own);
    for (int i = 1; is_passing(code) && scan->source != SOURCE_LAKE && !scan->printer.row_count && i < ATTEMPTS_MAX;
         i++) {
        union_lake_close(scan->lake);
        scan->lake = NULL;
        code = plan_union(scan, &own);
        if (code == OK)
            code = read_rows(scan, &own);
    }
    if (code != OK && err)
        *err = own;
    return code;
}

static enum err_code run(struct scan *scan, struct err *err)
{
    bool is_lake = false;
    TRY(open_table(scan, &is_lake, err));
    cmd_progress_start(&scan->progress, scan->cmd, "rows read");
    TRY(is_lake ? plan_lake(scan, err) : plan_union(scan, err));
    choose_columns(scan);
    int64_t started = os_mono_ns(scan->cmd->os);
    enum err_code code = OK;
    if (scan->plan.snapshot_id || scan->source != SOURCE_LAKE)
        code = read_planned(scan, err);
    cmd_progress_end(&scan->progress);
    TRY(code);
    TRY(printer_finish(&scan->printer, err));
    tell_rate(scan, started);
    return OK;
}

int cmd_scan(struct cmd *cmd)
{
    struct err err = {0};
    struct scan scan = {.cmd = cmd, .left = cmd->limit};
    enum err_code code = run(&scan, &err);
    if (code == OK && scan.source == SOURCE_UNION)
        cmd_try(cmd, "verify %s", cmd->args[0]);
    printer_deinit(&scan.printer);
    union_lake_close(scan.lake);
    client_table_unref(scan.table);
    arena_deinit(&scan.arena);
    return code == OK ? EXIT_YES : cmd_fail(cmd, &err);
}
