/* weir verify: the oracle's verdict, for people and for scripts. */
#include "base/json.h"
#include "cmd/cmd_int.h"

#define DIGEST_SHOWN 16 /* of its 32 letters, in a table for people */

struct verify {
    struct cmd *cmd;
    struct client_table *table;
    struct union_verdict verdict;
    struct arena arena;
    struct slice name; /* database.table */
    double seconds;
};

static struct slice digest_text(struct arena *arena, unsigned __int128 digest)
{
    return arena_printf(arena, "%016llx%016llx", (unsigned long long)(digest >> 64), (unsigned long long)digest);
}

static bool lake_was_read(const struct verify *v)
{
    return v->verdict.kind != UNION_LAKE_UNREADABLE;
}

/* The union read is compared only where the lake is equal. */
static bool union_was_read(const struct verify *v)
{
    return v->verdict.kind == UNION_EQUAL || v->verdict.kind == UNION_READ_DIFFERS;
}

static const char *other_side(const struct verify *v)
{
    return v->verdict.kind == UNION_READ_DIFFERS ? "union" : "lake";
}

/* ---- a table, or CSV ---- */

static void print_side(struct verify *v, struct printer *printer, struct slice at, const char *side,
                       const struct union_side *rows)
{
    printer_text(printer, v->name);
    printer_text(printer, at);
    printer_text(printer, slice_str(side));
    printer_i64(printer, rows->row_count);
    struct slice digest = digest_text(&v->arena, rows->digest);
    printer_text(printer, slice_of(digest.ptr, v->cmd->format == FORMAT_TABLE ? DIGEST_SHOWN : digest.len));
}

static enum err_code print_sides(struct verify *v, struct err *err)
{
    static const struct printer_column columns[] = {{SLICE("table"), {0}, false},
                                                    {SLICE("at"), {0}, false},
                                                    {SLICE("side"), {0}, false},
                                                    {SLICE("rows"), {0}, true},
                                                    {SLICE("digest"), {0}, false}};
    struct printer printer;
    const struct union_verdict *verdict = &v->verdict;
    struct slice at = verdict->snapshot_id ? arena_printf(&v->arena, "snapshot %lld", (long long)verdict->snapshot_id)
                                           : SLICE("no snapshot");
    printer_init(&printer, v->cmd, columns, ARRAY_LEN(columns));
    print_side(v, &printer, at, "stream", &verdict->stream);
    print_side(v, &printer, at, "lake", &verdict->lake);
    if (union_was_read(v)) {
        print_side(v, &printer, SLICE("now"), "stream", &verdict->stream_now);
        print_side(v, &printer, SLICE("now"), "union", &verdict->read_now);
    }
    enum err_code code = printer_finish(&printer, err);
    printer_deinit(&printer);
    return code;
}

static enum err_code print_differences(struct verify *v, struct err *err)
{
    bool is_union = v->verdict.kind == UNION_READ_DIFFERS;
    struct printer_column columns[] = {{SLICE("bucket"), {0}, true},
                                       {SLICE("in_stream"), {0}, true},
                                       {is_union ? SLICE("in_union") : SLICE("in_lake"), {0}, true},
                                       {SLICE("row"), {0}, false}};
    struct printer printer;
    printer_init(&printer, v->cmd, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < v->verdict.difference_count; i++) {
        const struct union_difference *d = &v->verdict.differences[i];
        if (d->bucket >= 0)
            printer_i64(&printer, d->bucket);
        else
            printer_null(&printer);
        printer_i64(&printer, d->in_stream);
        printer_i64(&printer, d->in_other);
        printer_text(&printer, d->row);
    }
    enum err_code code = printer_finish(&printer, err);
    printer_deinit(&printer);
    return code;
}

static enum err_code print_for_people(struct verify *v, struct err *err)
{
    const struct union_verdict *verdict = &v->verdict;
    if (lake_was_read(v))
        TRY(print_sides(v, err));
    if (verdict->difference_count && v->cmd->format == FORMAT_TABLE) {
        cmd_note("first rows that differ:");
        TRY(print_differences(v, err));
    }
    if (verdict->kept_rows && v->cmd->format == FORMAT_TABLE)
        cmd_note("not compared: %lld lake rows of partitions that were dropped", (long long)verdict->kept_rows);
    if (verdict->trimmed_rows && v->cmd->format == FORMAT_TABLE)
        cmd_note("not compared: %lld lake rows that are older than the log", (long long)verdict->trimmed_rows);
    if (v->cmd->terminal && v->cmd->format == FORMAT_TABLE)
        cmd_note("%s: %lld rows read, %.2f s, %.0f rows/s", verdict->kind == UNION_EQUAL ? "equal" : "not equal",
                 (long long)verdict->rows_read, v->seconds, (double)verdict->rows_read / MAX(v->seconds, 1e-6));
    return OK;
}

/* ---- one JSON object ---- */

static void json_side(struct verify *v, struct buf *out, const char *name, const struct union_side *side)
{
    buf_printf(out, ",\"%s_rows\":%lld,\"%s_digest\":\"%.*s\"", name, (long long)side->row_count, name,
               SLICE_ARGS(digest_text(&v->arena, side->digest)));
}

static void json_differences(const struct verify *v, struct buf *out)
{
    const struct union_verdict *verdict = &v->verdict;
    buf_printf(out, ",\"differing_rows\":%lld,\"differing_rows_are_all\":%s,\"differences\":[",
               (long long)verdict->differing_rows, verdict->differing_all ? "true" : "false");
    for (size_t i = 0; i < verdict->difference_count; i++) {
        const struct union_difference *d = &verdict->differences[i];
        buf_printf(out, "%s{\"bucket\":", i ? "," : "");
        if (d->bucket >= 0)
            buf_printf(out, "%d", d->bucket);
        else
            buf_printf(out, "null");
        buf_printf(out, ",\"in_stream\":%lld,\"in_%s\":%lld,\"row\":", (long long)d->in_stream, other_side(v),
                   (long long)d->in_other);
        buf_put_slice(out, d->row);
        buf_put_u8(out, '}');
    }
    buf_printf(out, "]");
}

static enum err_code print_json(struct verify *v, struct err *err)
{
    const struct union_verdict *verdict = &v->verdict;
    struct buf out = {0};
    buf_printf(&out, "{\"table\":");
    json_put_string(&out, v->name);
    buf_printf(&out, ",\"equal\":%s,\"snapshot\":%lld", verdict->kind == UNION_EQUAL ? "true" : "false",
               (long long)verdict->snapshot_id);
    if (lake_was_read(v)) {
        json_side(v, &out, "stream", &verdict->stream);
        json_side(v, &out, "lake", &verdict->lake);
    } else {
        buf_printf(&out, ",\"why\":");
        json_put_string(&out, verdict->why);
    }
    if (union_was_read(v)) {
        json_side(v, &out, "stream_now", &verdict->stream_now);
        json_side(v, &out, "union_now", &verdict->read_now);
    }
    if (v->table->is_partitioned && lake_was_read(v))
        buf_printf(&out, ",\"kept_rows\":%lld", (long long)verdict->kept_rows);
    if (verdict->trimmed_rows)
        buf_printf(&out, ",\"trimmed_rows\":%lld", (long long)verdict->trimmed_rows);
    if (verdict->kind != UNION_EQUAL && lake_was_read(v))
        json_differences(v, &out);
    buf_printf(&out, ",\"rows_read\":%lld,\"seconds\":%.3f}\n", (long long)verdict->rows_read, v->seconds);
    enum err_code code = os_write_fd(v->cmd->os, 1, buf_view(&out), err);
    buf_deinit(&out);
    return code;
}

/* ---- the verb ---- */

/* Sides that differ, as the error that people know. */
static enum err_code judge(const struct verify *v, struct err *err)
{
    const struct union_verdict *verdict = &v->verdict;
    if (verdict->kind == UNION_EQUAL)
        return OK;
    if (verdict->kind == UNION_LAKE_UNREADABLE)
        return err_set(err, ERR_LAKE, "%.*s: %.*s", SLICE_ARGS(v->name), SLICE_ARGS(verdict->why));
    return err_set(err, ERR_NOT_EQUAL, "%.*s: stream and %s differ in %s%lld row%s at lake snapshot %lld",
                   SLICE_ARGS(v->name), other_side(v), verdict->differing_all ? "" : "more than ",
                   (long long)verdict->differing_rows, verdict->differing_rows == 1 ? "" : "s",
                   (long long)verdict->snapshot_id);
}

static enum err_code run(struct verify *v, struct err *err)
{
    struct cmd_progress progress;
    TRY(cmd_open_table(v->cmd, &v->table, err));
    v->name =
        arena_printf(&v->arena, "%.*s.%.*s", SLICE_ARGS(v->table->path.database), SLICE_ARGS(v->table->path.table));
    cmd_progress_start(&progress, v->cmd, NULL);
    int64_t started = progress.started_ns;
    struct union_verify_options options = {
        .no_wait = v->cmd->now,
        .deadline_mono_ns = cmd_lake_deadline_ns(v->cmd),
        .watch = {cmd_progress_union, &progress},
    };
    enum err_code code = union_verify(v->table, &options, &v->arena, &v->verdict, err);
    cmd_progress_end(&progress);
    TRY(code);
    v->seconds = cmd_seconds_since(v->cmd->os, started);
    bool json = v->cmd->format == FORMAT_JSON || v->cmd->format == FORMAT_JSONL;
    TRY(json ? print_json(v, err) : print_for_people(v, err));
    return judge(v, err);
}

int cmd_verify(struct cmd *cmd)
{
    struct err err = {0};
    struct verify v = {.cmd = cmd};
    enum err_code code = run(&v, &err);
    if (code == OK)
        cmd_try(cmd, "scan '%s$lake' --limit 10", cmd->args[0]);
    bool unreadable = code == ERR_LAKE && v.verdict.kind == UNION_LAKE_UNREADABLE;
    client_table_unref(v.table);
    arena_deinit(&v.arena);
    if (code != OK)
        cmd_error(cmd->verb->name, &err);
    return unreadable ? EXIT_NO : cmd_exit_code(code);
}
