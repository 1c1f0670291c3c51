/* weir tables: every table, how many rows it holds hot and in the lake, and how far the lake is behind. */
#include "cmd/cmd_int.h"

/* The last column stands below a table for people, in a line of its own. */
static const struct printer_column columns[] = {
    {SLICE("table"), {0}, false},   {SLICE("kind"), {0}, false}, {SLICE("buckets"), {0}, true},
    {SLICE("rows"), {0}, true},     {SLICE("lake"), {0}, false}, {SLICE("lake_rows"), {0}, true},
    {SLICE("lag_rows"), {0}, true}, {SLICE("lag_s"), {0}, true}, {SLICE("state"), {0}, false},
    {SLICE("why"), {0}, false},
};

struct listing {
    struct cmd *cmd;
    struct printer printer;
    struct buf reasons; /* lines for below the table */
    struct buf first;   /* the first table's name, for what to try next */
    bool first_is_off;
};

struct facts {
    int64_t rows;      /* -1: the server could not count */
    int64_t lake_rows; /* -1: not known */
    int64_t lag_rows;  /* -1: no lake */
    bool has_snapshot;
};

/* The server knows the count from its worker's last report; after a restart the lake itself tells. A lake that can't be
 * reached from here leaves it open. */
static int64_t count_of_snapshot(struct client_table *table, int64_t snapshot_id)
{
    struct union_lake *lake = NULL;
    int64_t count = -1;
    if (union_lake_open(table, &lake, NULL) == OK && union_lake_row_count(lake, snapshot_id, &count, NULL) != OK)
        count = -1;
    union_lake_close(lake);
    return count;
}

static enum err_code lake_facts(struct client_table *table, struct facts *facts, struct err *err)
{
    enum err_code code;
    struct arena arena = {0};
    struct client_lake_snapshot snapshot = {0};
    size_t count = client_place_count(table);
    int64_t *latest = ARENA_NEW_ARRAY(&arena, int64_t, count);
    int64_t *earliest = ARENA_NEW_ARRAY(&arena, int64_t, count);
    TRY_OR_FAIL(client_offsets(table, CLIENT_LATEST, 0, latest, err));
    TRY_OR_FAIL(client_offsets(table, CLIENT_EARLIEST, 0, earliest, err));
    code = client_lake_snapshot(table, CLIENT_LAKE_LATEST, 0, &arena, &snapshot, err);
    facts->has_snapshot = code == OK;
    if (code == ERR_LAKE_SNAPSHOT_NOT_EXIST)
        code = OK;
    int64_t reached = 0;
    facts->lag_rows = 0;
    for (size_t i = 0; code == OK && i < count; i++) {
        int64_t offset = snapshot.offsets && snapshot.offsets[i] > 0 ? snapshot.offsets[i] : 0;
        facts->lag_rows += MAX(latest[i] - MAX(offset, earliest[i]), 0);
        reached += offset;
    }
    facts->lake_rows = table->lake_row_count;
    if (facts->lake_rows < 0 && !table->has_primary_key)
        facts->lake_rows = reached; /* a log's offsets count its rows */
    else if (facts->lake_rows < 0 && facts->has_snapshot)
        facts->lake_rows = count_of_snapshot(table, snapshot.id);
fail:
    arena_deinit(&arena);
    return code;
}

static void count_or_null(struct printer *printer, int64_t value)
{
    if (value >= 0)
        printer_i64(printer, value);
    else
        printer_null(printer);
}

static void text_or_null(struct printer *printer, struct slice text)
{
    if (text.ptr && text.len)
        printer_text(printer, text);
    else
        printer_null(printer);
}

static struct slice state_of(const struct client_table *table, const struct facts *facts)
{
    if (!table->lake_enabled)
        return SLICE("off");
    if (table->tiering_state.ptr)
        return table->tiering_state;
    return !facts->has_snapshot ? SLICE("no snapshot") : facts->lag_rows ? SLICE("behind") : SLICE("idle");
}

static struct slice why(const struct client_table *table, const struct facts *facts)
{
    if (!table->lake_enabled)
        return SLICE("table.datalake.enabled is false");
    if (table->tiering_error.ptr && table->tiering_error.len)
        return table->tiering_error;
    return facts->has_snapshot || !facts->lag_rows ? (struct slice){0} : SLICE("no round has finished yet");
}

static bool for_people(const struct listing *listing)
{
    return listing->cmd->format == FORMAT_TABLE;
}

/* Why a table does not move. One that is not to be in the lake needs no words. */
static void print_why(struct listing *listing, struct slice name, struct slice text, bool off)
{
    if (!for_people(listing))
        text_or_null(&listing->printer, text);
    else if (text.len && !off)
        buf_printf(&listing->reasons, "%.*s: %.*s\n", SLICE_ARGS(name), SLICE_ARGS(text));
}

static void print(struct listing *listing, const struct client_table *table, struct slice name,
                  const struct facts *facts)
{
    struct printer *printer = &listing->printer;
    if (!printer->row_count) {
        buf_put_slice(&listing->first, name);
        listing->first_is_off = !table->lake_enabled;
    }
    const struct slice *format = properties_get(&table->descriptor.properties, "table.datalake.format");
    printer_text(printer, name);
    printer_text(printer, table->has_primary_key ? SLICE("pk") : SLICE("log"));
    printer_i64(printer, table->bucket_count);
    count_or_null(printer, facts->rows);
    text_or_null(printer, table->lake_enabled && format ? *format : (struct slice){0});
    count_or_null(printer, facts->lake_rows);
    count_or_null(printer, facts->lag_rows);
    if (table->lake_enabled && (table->lake_lag_ms >= 0 || facts->lag_rows == 0))
        printer_decimal(printer, facts->lag_rows ? (double)table->lake_lag_ms / 1000 : 0, 1);
    else
        printer_null(printer);
    printer_text(printer, state_of(table, facts));
    print_why(listing, name, why(table, facts), !table->lake_enabled);
}

/* A table that is dropped while we look is left out. */
static enum err_code one_table(struct listing *listing, struct client_path path, struct err *err)
{
    enum err_code code;
    struct client_table *table = NULL;
    struct facts facts = {-1, -1, -1, false};
    struct buf name = {0};
    TRY_OR_FAIL(client_table_open(listing->cmd->client, path, &table, err));
    code = client_row_count(table, &facts.rows, err);
    if (code == ERR_INVALID_TABLE_EXCEPTION || code == ERR_UNSUPPORTED_VERSION)
        code = OK; /* the server does not count rows of such a table */
    if (code == OK && table->lake_enabled)
        code = lake_facts(table, &facts, err);
    if (code != OK)
        goto fail;
    if (!slice_is(path.database, "fluss"))
        buf_printf(&name, "%.*s.", SLICE_ARGS(path.database));
    buf_put_slice(&name, path.table);
    print(listing, table, buf_view(&name), &facts);
fail:
    buf_deinit(&name);
    client_table_unref(table);
    return code;
}

static void print_refusal(struct listing *listing, struct slice name, const struct err *err)
{
    struct printer *printer = &listing->printer;
    if (!printer->row_count)
        buf_put_slice(&listing->first, name);
    printer_text(printer, name);
    for (int i = 0; i < 7; i++)
        printer_null(printer);
    printer_text(printer, SLICE("unknown"));
    print_why(listing, name, slice_str(err->text), false);
}

static enum err_code all_tables(struct listing *listing, struct err *err)
{
    struct cmd *cmd = listing->cmd;
    enum err_code code;
    struct arena arena = {0};
    struct client_names databases, tables;
    TRY_OR_FAIL(client_database_list(cmd->client, &arena, &databases, err));
    for (size_t d = 0; d < databases.count; d++) {
        code = client_table_list(cmd->client, databases.items[d], &arena, &tables, err);
        if (code == ERR_DATABASE_NOT_EXIST)
            continue;
        TRY_OR_FAIL(code);
        for (size_t t = 0; t < tables.count; t++) {
            code = one_table(listing, client_path(databases.items[d], tables.items[t]), err);
            if (code == OK || code == ERR_TABLE_NOT_EXIST)
                continue;
            if (cmd_exit_code(code) == EXIT_UNREACHABLE || cmd_exit_code(code) == EXIT_UNKNOWN)
                goto fail;
            print_refusal(listing, tables.items[t], err); /* the others are shown all the same */
        }
    }
    code = OK;
fail:
    arena_deinit(&arena);
    return code;
}

static enum err_code some_tables(struct listing *listing, struct err *err)
{
    for (int i = 0; i < listing->cmd->arg_count; i++)
        TRY(one_table(listing, cmd_path(listing->cmd->args[i]), err));
    return OK;
}

static void try_next(const struct listing *listing)
{
    if (!listing->printer.row_count)
        cmd_try(listing->cmd, "sql 'CREATE TABLE t (id INT NOT NULL, name STRING, PRIMARY KEY (id) NOT ENFORCED)'");
    else if (listing->first_is_off)
        cmd_try(listing->cmd, "sql \"ALTER TABLE %.*s SET ('table.datalake.enabled' = 'true')\"",
                (int)listing->first.len, (const char *)listing->first.ptr);
    else
        cmd_try(listing->cmd, "tail %.*s --changes --from earliest", (int)listing->first.len,
                (const char *)listing->first.ptr);
}

static enum err_code list(struct listing *listing, struct err *err)
{
    TRY(cmd_connect(listing->cmd, err));
    TRY(listing->cmd->arg_count ? some_tables(listing, err) : all_tables(listing, err));
    TRY(printer_finish(&listing->printer, err));
    if (listing->reasons.len)
        TRY(os_write_fd(listing->cmd->os, 1, buf_view(&listing->reasons), err));
    try_next(listing);
    return OK;
}

int cmd_tables(struct cmd *cmd)
{
    struct err err = {0};
    struct listing listing = {.cmd = cmd};
    printer_init(&listing.printer, cmd, columns, ARRAY_LEN(columns) - for_people(&listing));
    enum err_code code = list(&listing, &err);
    printer_deinit(&listing.printer);
    buf_deinit(&listing.reasons);
    buf_deinit(&listing.first);
    return code == OK ? EXIT_YES : cmd_fail(cmd, &err);
}
