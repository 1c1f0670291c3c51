/* weir tail: a table's log as it grows. */
#include "cmd/cmd_int.h"

#include <stdatomic.h>

#define WAIT_MS 200              /* how soon Ctrl-C is seen */
#define PARTITIONS_NS 1000000000 /* how often new partitions are looked for */

struct tail {
    struct cmd *cmd;
    struct client_table *table;
    struct client_scanner *scanner;
    struct printer printer;
    struct arena arena; /* of one row */
    struct arena kept;
    VEC(struct client_scan_bucket) buckets;
    size_t known;    /* places of the table that are among them */
    int64_t look_ns; /* when new partitions are looked for */
    atomic_bool stop;
    int64_t left; /* -1: no limit */
};

static const char *const change_names[CHANGE_TYPE_COUNT] = {"+A", "+I", "-U", "+U", "-D"};

static void on_stop(void *arg)
{
    struct tail *tail = arg;
    atomic_store(&tail->stop, true);
}

/* Those of the table's places that are new, from here. */
static void add_places(struct tail *tail, const int64_t *starts, int64_t offset)
{
    struct client_table *table = tail->table;
    size_t count = client_place_count(table);
    for (size_t i = tail->known; i < count; i++) {
        int32_t place = (int32_t)i;
        struct client_scan_bucket bucket = {place, starts ? starts[i] : offset, INT64_MAX};
        if (!client_place_is_gone(table, place) && bucket.start >= 0 &&
            (tail->cmd->bucket < 0 || tail->cmd->bucket == client_place_bucket(table, place)))
            vec_push(&tail->buckets, bucket);
    }
    tail->known = count;
}

static enum err_code set_buckets(struct tail *tail, struct err *err)
{
    struct cmd *cmd = tail->cmd;
    struct client_table *table = tail->table;
    int64_t offset = -1;
    int64_t *starts = ARENA_NEW_ARRAY(&tail->kept, int64_t, client_place_count(table));
    bool earliest = cmd->from && !strcmp(cmd->from, "earliest");
    bool latest = !cmd->from || !strcmp(cmd->from, "latest");
    if (!earliest && !latest && (!slice_to_i64(slice_str(cmd->from), &offset) || offset < 0))
        return err_set(err, ERR_INVALID_ARGUMENT, "--from takes earliest, latest or an offset, not %s", cmd->from);
    if (cmd->bucket >= table->bucket_count)
        return err_set(err, ERR_INVALID_ARGUMENT, "%s has the buckets 0 to %d", cmd->args[0], table->bucket_count - 1);
    if (offset < 0)
        TRY(client_offsets(table, earliest ? CLIENT_EARLIEST : CLIENT_LATEST, 0, starts, err));
    add_places(tail, offset < 0 ? starts : NULL, offset);
    return OK;
}

/* A partition that is made while we look is read from its beginning. */
static enum err_code meet_partitions(struct tail *tail, struct err *err)
{
    int64_t now = os_mono_ns(tail->cmd->os);
    size_t before = tail->buckets.len;
    if (!tail->table->is_partitioned || now < tail->look_ns)
        return OK;
    tail->look_ns = now + PARTITIONS_NS;
    TRY(client_partitions_refresh(tail->table, err));
    add_places(tail, NULL, 0);
    return client_scanner_add(tail->scanner, tail->buckets.ptr + before, tail->buckets.len - before, err);
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
    bool told = !cmd->terminal || cmd->format != FORMAT_TABLE;
    (void)client_deadline(cmd->client, INT64_MAX); /* here it ends the command, not a call */
    while (!ended(tail, until)) {
        struct client_batch batch;
        bool have;
        TRY(meet_partitions(tail, err));
        if (client_scanner_done(tail->scanner)) { /* no partition is there now */
            os_sleep_ns(cmd->os, WAIT_MS * 1000000);
            continue;
        }
        TRY(client_scanner_next(tail->scanner, &batch, &have, err));
        if (have)
            print_batch(tail, &batch);
        else
            TRY(printer_flush(&tail->printer, err));
        if (!have && !told && !tail->printer.row_count)
            cmd_note("waiting for rows, until Ctrl-C");
        told |= !have;
    }
    return printer_finish(&tail->printer, err);
}

static void summary(struct tail *tail, int64_t started_ns)
{
    if (!os_is_terminal(tail->cmd->os, 2))
        return;
    cmd_note("%llu rows in %.1f s", (unsigned long long)tail->printer.row_count,
             cmd_seconds_since(tail->cmd->os, started_ns));
    for (size_t i = 0; i < tail->buckets.len; i++) {
        int32_t place = tail->buckets.ptr[i].place;
        const struct client_partition *partition = client_place_partition(tail->table, place);
        struct slice name = partition ? partition->name : SLICE("");
        cmd_note("  %.*s%sbucket %d read up to offset %lld", SLICE_ARGS(name), partition ? " " : "",
                 client_place_bucket(tail->table, place), (long long)client_scanner_position(tail->scanner, i));
    }
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
    TRY_OR_FAIL(client_scanner_create(tail.table, tail.buckets.ptr, tail.buckets.len, &options, &tail.scanner, &err));
    set_columns(&tail);
    code = follow(&tail, &err);
    if (code == OK)
        summary(&tail, started);
fail:
    printer_deinit(&tail.printer);
    client_scanner_destroy(tail.scanner);
    client_table_unref(tail.table);
    vec_deinit(&tail.buckets);
    arena_deinit(&tail.arena);
    arena_deinit(&tail.kept);
    return code == OK ? EXIT_YES : cmd_fail(cmd, &err);
}
