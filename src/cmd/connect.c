/* From the words of a command line to a client, a table, a key; lines of standard input. */
#include "base/json.h"
#include "cmd/cmd_int.h"

#define LAKE_DEADLINE_MS 60000

enum err_code cmd_connect(struct cmd *cmd, struct err *err)
{
    struct client_options options = {
        .os = cmd->os, .host = cmd->host, .port = cmd->port, .user = cmd->user, .password = cmd->password};
    if (cmd->client)
        return OK;
    TRY(client_open(&options, &cmd->client, err));
    if (cmd->deadline_ms)
        (void)client_deadline(cmd->client, os_mono_ns(cmd->os) + cmd->deadline_ms * 1000000);
    return OK;
}

struct client_path cmd_path(const char *name)
{
    const char *dot = strchr(name, '.');
    if (!dot)
        return client_path(SLICE("fluss"), slice_str(name));
    return client_path(slice_of(name, (size_t)(dot - name)), slice_str(dot + 1));
}

enum err_code cmd_open_table(struct cmd *cmd, struct client_table **table, struct err *err)
{
    if (!cmd->arg_count)
        return err_set(err, ERR_INVALID_ARGUMENT, "weir %s needs a table", cmd->verb->name);
    struct client_path path = cmd_path(cmd->args[0]);
    if (slice_ends_with(path.table, SLICE(CMD_LAKE_SUFFIX)))
        return err_set(err, ERR_INVALID_ARGUMENT,
                       "%s: weir %s takes a table; what is in the lake shows: weir scan '%s'", cmd->args[0],
                       cmd->verb->name, cmd->args[0]);
    return cmd_open_path(cmd, path, table, err);
}

enum err_code cmd_open_path(struct cmd *cmd, struct client_path path, struct client_table **table, struct err *err)
{
    const uint8_t *dollar = memchr(path.table.ptr, '$', path.table.len);
    if (dollar) /* $changelog and $binlog are made by Flink's connector */
        return err_set(err, ERR_INVALID_ARGUMENT, "%s is no table; every change of one shows: weir tail %.*s --changes",
                       cmd->args[0], (int)((const char *)dollar - (const char *)path.table.ptr),
                       (const char *)path.table.ptr);
    TRY(cmd_connect(cmd, err));
    return client_table_open(cmd->client, path, table, err);
}

int64_t cmd_lake_deadline_ns(const struct cmd *cmd)
{
    return os_mono_ns(cmd->os) + (cmd->deadline_ms ? cmd->deadline_ms : LAKE_DEADLINE_MS) * 1000000;
}

static struct slice trimmed(struct slice s)
{
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t' || s.ptr[s.len - 1] == '\r'))
        s.len--;
    return s;
}

static enum err_code not_a_key(const struct schema_column *column, struct slice text, struct err *err)
{
    struct buf type = {0};
    type_to_sql(column->type, &type);
    err_set(err, ERR_INVALID_ARGUMENT, "%.*s is no key: the column %.*s is %.*s", (int)MIN(text.len, 60),
            (const char *)text.ptr, SLICE_ARGS(column->name), (int)type.len, (const char *)type.ptr);
    buf_deinit(&type);
    return ERR_INVALID_ARGUMENT;
}

enum err_code cmd_key(const struct client_table *table, struct slice text, struct arena *arena, struct datum *row,
                      struct err *err)
{
    enum err_code code;
    const struct schema *schema = &table->schema.schema;
    struct buf json = {0};
    text = trimmed(text);
    if (!schema->primary_key_count)
        return err_set(err, ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION, "%.*s.%.*s has no primary key",
                       SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table));
    if (text.len && text.ptr[0] == '{') {
        code = row_from_json(arena, schema, arena_dup(arena, text), row, err);
    } else if (schema->primary_key_count > 1) {
        return err_set(err, ERR_INVALID_ARGUMENT, "the key has %u columns: give it as {\"%.*s\": ..., ...}",
                       schema->primary_key_count, SLICE_ARGS(schema->columns[schema->primary_key[0]].name));
    } else {
        buf_put_u8(&json, '{');
        json_put_string(&json, schema->columns[schema->primary_key[0]].name);
        buf_put_u8(&json, ':');
        json_put_string(&json, text);
        buf_put_u8(&json, '}');
        code = row_from_json(arena, schema, arena_dup(arena, buf_view(&json)), row, err);
        buf_deinit(&json);
        if (code == ERR_INVALID_ARGUMENT)
            code = not_a_key(&schema->columns[schema->primary_key[0]], text, err);
    }
    for (uint32_t i = 0; code == OK && i < schema->primary_key_count; i++)
        if (row[schema->primary_key[i]].is_null)
            return err_set(err, ERR_INVALID_ARGUMENT, "the key lacks column %.*s",
                           SLICE_ARGS(schema->columns[schema->primary_key[i]].name));
    return code;
}

/* Gives out the whole lines of pending, keeps the rest. */
static enum err_code give_lines(struct buf *pending, size_t *number, bool end, cmd_line_fn *fn, void *arg,
                                struct err *err)
{
    size_t at = 0;
    while (at < pending->len) {
        const uint8_t *newline = memchr(pending->ptr + at, '\n', pending->len - at);
        if (!newline && !end)
            break;
        size_t stop = newline ? (size_t)(newline - pending->ptr) : pending->len;
        struct slice line = trimmed(slice_of(pending->ptr + at, stop - at));
        ++*number;
        at = newline ? stop + 1 : stop;
        if (line.len)
            TRY(fn(arg, *number, line, err));
    }
    memmove(pending->ptr, pending->ptr + at, pending->len - at);
    pending->len -= at;
    return OK;
}

enum err_code cmd_each_line(struct os *os, cmd_line_fn *fn, void *arg, struct err *err)
{
    enum err_code code;
    struct buf pending = {0};
    size_t number = 0, got;
    do {
        buf_reserve(&pending, 64u << 10);
        TRY_OR_FAIL(os_read_stdin(os, pending.ptr + pending.len, 64u << 10, &got, err));
        pending.len += got;
        TRY_OR_FAIL(give_lines(&pending, &number, got == 0, fn, arg, err));
        if (pending.len > CMD_LINE_MAX) {
            code = err_set(err, ERR_LIMIT, "line %zu is longer than %u MB", number + 1, CMD_LINE_MAX >> 20);
            goto fail;
        }
    } while (got);
fail:
    buf_deinit(&pending);
    return code;
}

double cmd_seconds_since(struct os *os, int64_t mono_ns)
{
    return (double)(os_mono_ns(os) - mono_ns) / 1e9;
}
