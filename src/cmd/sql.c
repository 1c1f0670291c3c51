/* weir sql: statements from the argument or standard input, one after the other; the first error ends it, but not a
 * session on a terminal. */
#include "sql/sql.h"
#include "cmd/cmd_int.h"

struct session {
    struct cmd *cmd;
    struct buf database; /* the current one */
    bool interactive;
};

static struct client_path path_of(struct session *session, const struct sql_statement *s)
{
    return client_path(s->database.ptr ? s->database : buf_view(&session->database), s->table);
}

/* ---- answers ---- */

static enum err_code say(struct session *session, struct slice what, struct err *err)
{
    static const struct printer_column columns[] = {{SLICE("result"), {0}, false}};
    struct printer printer;
    struct buf line = {0};
    enum err_code code;
    if (session->cmd->format == FORMAT_TABLE) {
        buf_put_slice(&line, what);
        buf_put_u8(&line, '\n');
        code = os_write_fd(session->cmd->os, 1, buf_view(&line), err);
        buf_deinit(&line);
        return code;
    }
    printer_init(&printer, session->cmd, columns, 1);
    printer_text(&printer, what);
    code = printer_finish(&printer, err);
    printer_deinit(&printer);
    return code;
}

static enum err_code said(struct session *session, const char *verb, struct client_path path, struct err *err)
{
    struct buf text = {0};
    buf_printf(&text, "%s ", verb);
    sql_put_name(&text, path.database);
    if (path.table.ptr) {
        buf_put_u8(&text, '.');
        sql_put_name(&text, path.table);
    }
    enum err_code code = say(session, buf_view(&text), err);
    buf_deinit(&text);
    return code;
}

static enum err_code names(struct session *session, struct slice title, const struct client_names *list,
                           struct err *err)
{
    struct printer printer;
    struct printer_column column = {title, {0}, false};
    printer_init(&printer, session->cmd, &column, 1);
    for (size_t i = 0; i < list->count; i++)
        printer_text(&printer, list->items[i]);
    enum err_code code = printer_finish(&printer, err);
    printer_deinit(&printer);
    return code;
}

static void describe_column(struct printer *printer, const struct schema *schema, uint32_t i)
{
    const struct schema_column *column = &schema->columns[i];
    struct arena arena = {0};
    struct buf type = {0};
    int32_t key = -1;
    for (uint32_t k = 0; k < schema->primary_key_count; k++)
        if (schema->primary_key[k] == i)
            key = (int32_t)k + 1;
    type_to_sql(type_with_nullable(&arena, column->type, true), &type);
    printer_text(printer, column->name);
    printer_text(printer, buf_view(&type));
    printer_bool(printer, column->type->nullable);
    if (key > 0)
        printer_i64(printer, key);
    else
        printer_null(printer);
    if (column->comment.ptr)
        printer_text(printer, column->comment);
    else
        printer_null(printer);
    buf_deinit(&type);
    arena_deinit(&arena);
}

static enum err_code describe(struct session *session, const struct client_table *table, struct err *err)
{
    static const struct printer_column columns[] = {{SLICE("column"), {0}, false},
                                                    {SLICE("type"), {0}, false},
                                                    {SLICE("nullable"), {0}, false},
                                                    {SLICE("primary_key"), {0}, true},
                                                    {SLICE("comment"), {0}, false}};
    struct printer printer;
    printer_init(&printer, session->cmd, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < table->schema.schema.column_count; i++)
        describe_column(&printer, &table->schema.schema, i);
    enum err_code code = printer_finish(&printer, err);
    printer_deinit(&printer);
    return code;
}

static enum err_code show_table(struct session *session, const struct sql_statement *s, struct err *err)
{
    struct client_table *table = NULL;
    struct buf text = {0};
    enum err_code code = client_table_open(session->cmd->client, path_of(session, s), &table, err);
    if (code == OK && s->kind == SQL_DESCRIBE)
        code = describe(session, table, err);
    else if (code == OK) {
        sql_put_create_table(&text, table->path.database, table->path.table, &table->descriptor);
        code = say(session, buf_view(&text), err);
    }
    buf_deinit(&text);
    client_table_unref(table);
    return code;
}

/* ---- statements ---- */

/* What to type next: a row that the new table takes. */
static void try_a_row(struct session *session, const struct sql_statement *s, struct client_path path)
{
    const struct table_descriptor *table = &s->table_descriptor;
    bool by_time = properties_get(&table->properties, "table.auto-partition.enabled") != NULL;
    bool fluss = slice_is(path.database, "fluss");
    struct buf row = {0};
    if (!by_time && cmd_sample_row(&table->schema, &row))
        cmd_try(session->cmd, "put %.*s%s%.*s '%.*s'", fluss ? 0 : (int)path.database.len,
                (const char *)path.database.ptr, fluss ? "" : ".", SLICE_ARGS(path.table), (int)row.len,
                (const char *)row.ptr);
    buf_deinit(&row);
}

static enum err_code create_table(struct session *session, const struct sql_statement *s, struct err *err)
{
    struct client_path path = path_of(session, s);
    TRY(client_table_create(session->cmd->client, path, &s->table_descriptor, s->if_exists, err));
    TRY(said(session, "created table", path, err));
    try_a_row(session, s, path);
    return OK;
}

static struct client_alteration alteration_of(const struct sql_alteration *alter)
{
    return (struct client_alteration){alter->columns, alter->column_count, alter->set, alter->reset,
                                      alter->reset_count};
}

static enum err_code alter_table(struct session *session, const struct sql_statement *s, struct err *err)
{
    struct client_alteration alteration = alteration_of(&s->alteration);
    TRY(client_table_alter(session->cmd->client, path_of(session, s), &alteration, s->if_exists, err));
    return said(session, "altered table", path_of(session, s), err);
}

static enum err_code alter_database(struct session *session, const struct sql_statement *s, struct err *err)
{
    struct client_alteration alteration = alteration_of(&s->alteration);
    TRY(client_database_alter(session->cmd->client, s->database, &alteration, s->if_exists, err));
    return said(session, "altered database", client_path(s->database, (struct slice){0}), err);
}

static enum err_code use(struct session *session, struct slice database, struct err *err)
{
    bool exists;
    TRY(client_database_exists(session->cmd->client, database, &exists, err));
    if (!exists)
        return err_set(err, ERR_DATABASE_NOT_EXIST, "there is no database %.*s", SLICE_ARGS(database));
    buf_reset(&session->database);
    buf_put_slice(&session->database, database);
    return said(session, "using database", client_path(database, (struct slice){0}), err);
}

static enum err_code list(struct session *session, const struct sql_statement *s, struct arena *arena, struct err *err)
{
    struct client_names all;
    struct client *client = session->cmd->client;
    if (s->kind == SQL_SHOW_DATABASES) {
        TRY(client_database_list(client, arena, &all, err));
        return names(session, SLICE("database"), &all, err);
    }
    TRY(client_table_list(client, path_of(session, s).database, arena, &all, err));
    return names(session, SLICE("table"), &all, err);
}

static enum err_code partitions_change(struct session *session, const struct sql_statement *s, struct err *err)
{
    struct client *client = session->cmd->client;
    bool add = s->kind == SQL_ADD_PARTITIONS;
    for (uint32_t i = 0; i < s->partition_count; i++)
        TRY(add ? client_partition_create(client, path_of(session, s), &s->partitions[i], s->if_exists, err)
                : client_partition_drop(client, path_of(session, s), &s->partitions[i], s->if_exists, err));
    return said(session, add ? "added partitions to" : "dropped partitions of", path_of(session, s), err);
}

/* The values that the statement gives are the partition's; those that it does not give are free. */
static enum err_code partition_matches(const struct client_table *table, const struct client_partition *partition,
                                       const struct properties *spec, bool *matches, struct err *err)
{
    const struct table_descriptor *d = &table->descriptor;
    *matches = true;
    for (uint32_t i = 0; i < spec->count; i++) {
        uint32_t k = 0;
        while (k < d->partition_key_count &&
               !slice_equal(d->schema.columns[d->partition_keys[k]].name, spec->items[i].key))
            k++;
        if (k == d->partition_key_count)
            return err_set(err, ERR_PARTITION_SPEC_INVALID_EXCEPTION, "%.*s is not partitioned by %.*s",
                           SLICE_ARGS(table->path.table), SLICE_ARGS(spec->items[i].key));
        *matches = *matches && slice_equal(partition->texts[k], spec->items[i].value);
    }
    return OK;
}

/* As Flink shows it: region=us/day=2024-01-01. */
static void print_partition(struct printer *printer, const struct client_table *table,
                            const struct client_partition *partition)
{
    const struct table_descriptor *d = &table->descriptor;
    struct buf text = {0};
    for (uint32_t i = 0; i < d->partition_key_count; i++)
        buf_printf(&text, "%s%.*s=%.*s", i ? "/" : "", SLICE_ARGS(d->schema.columns[d->partition_keys[i]].name),
                   SLICE_ARGS(partition->texts[i]));
    printer_text(printer, buf_view(&text));
    buf_deinit(&text);
}

static enum err_code print_partitions(struct printer *printer, const struct client_table *table,
                                      const struct sql_statement *s, struct err *err)
{
    for (uint32_t i = 0; i < table->partition_count; i++) {
        bool matches = !s->partition_count;
        for (uint32_t k = 0; k < s->partition_count && !matches; k++)
            TRY(partition_matches(table, table->partitions[i], &s->partitions[k], &matches, err));
        if (matches)
            print_partition(printer, table, table->partitions[i]);
    }
    return printer_finish(printer, err);
}

static enum err_code show_partitions(struct session *session, const struct sql_statement *s, struct err *err)
{
    static const struct printer_column column = {SLICE("partition"), {0}, false};
    struct client_table *table = NULL;
    struct printer printer;
    TRY(client_table_open(session->cmd->client, path_of(session, s), &table, err));
    printer_init(&printer, session->cmd, &column, 1);
    enum err_code code = table->is_partitioned
                             ? print_partitions(&printer, table, s, err)
                             : err_set(err, ERR_TABLE_NOT_PARTITIONED_EXCEPTION, "%.*s.%.*s is not partitioned",
                                       SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table));
    printer_deinit(&printer);
    client_table_unref(table);
    return code;
}

static enum err_code execute(struct session *session, const struct sql_statement *s, struct arena *arena,
                             struct err *err)
{
    struct client *client = session->cmd->client;
    struct client_path database = client_path(s->database, (struct slice){0});
    switch (s->kind) {
    case SQL_CREATE_DATABASE:
        TRY(client_database_create(client, s->database, &s->database_descriptor, s->if_exists, err));
        return said(session, "created database", database, err);
    case SQL_DROP_DATABASE:
        TRY(client_database_drop(client, s->database, s->if_exists, s->cascade, err));
        return said(session, "dropped database", database, err);
    case SQL_CREATE_TABLE:
        return create_table(session, s, err);
    case SQL_DROP_TABLE:
        TRY(client_table_drop(client, path_of(session, s), s->if_exists, err));
        return said(session, "dropped table", path_of(session, s), err);
    case SQL_ALTER_TABLE:
        return alter_table(session, s, err);
    case SQL_ALTER_DATABASE:
        return alter_database(session, s, err);
    case SQL_SHOW_DATABASES:
    case SQL_SHOW_TABLES:
        return list(session, s, arena, err);
    case SQL_SHOW_CREATE_TABLE:
    case SQL_DESCRIBE:
        return show_table(session, s, err);
    case SQL_USE:
        return use(session, s->database, err);
    case SQL_SHOW_PARTITIONS:
        return show_partitions(session, s, err);
    case SQL_ADD_PARTITIONS:
    case SQL_DROP_PARTITIONS:
        return partitions_change(session, s, err);
    }
    return err_set(err, ERR_INTERNAL, "a statement of kind %d", (int)s->kind);
}

static void show_place(const struct sql_reader *reader)
{
    struct buf place = {0};
    sql_show_place(reader->text, reader->error_at, &place);
    cmd_note("%.*s", (int)place.len - 1, (const char *)place.ptr);
    buf_deinit(&place);
}

/* All statements of the text; the exit code of the first error, EXIT_YES without one. */
static int run_text(struct session *session, struct slice text)
{
    struct sql_reader reader = {.text = text};
    struct arena arena = {0};
    int result = EXIT_YES;
    bool have = true;
    while (have && result == EXIT_YES) {
        struct sql_statement statement;
        struct err err = {0};
        arena_reset(&arena);
        enum err_code code = sql_next(&reader, &arena, &statement, &have, &err);
        if (code != OK)
            show_place(&reader);
        else if (have && (code = cmd_connect(session->cmd, &err)) == OK)
            code = execute(session, &statement, &arena, &err);
        if (code != OK)
            result = cmd_fail(session->cmd, &err);
    }
    arena_deinit(&arena);
    return result;
}

/* ---- where the text comes from ---- */

static bool ends_statement(struct slice line)
{
    return line.len && line.ptr[line.len - 1] == ';';
}

struct typed {
    struct session *session;
    struct buf text;
    int result;
};

static void prompt(const struct session *session, bool more)
{
    if (session->interactive && os_write_fd(session->cmd->os, 2, more ? SLICE("   -> ") : SLICE("weir> "), NULL) != OK)
        return;
}

static enum err_code line(void *arg, size_t number, struct slice text, struct err *err)
{
    struct typed *typed = arg;
    (void)number;
    (void)err;
    buf_put_slice(&typed->text, text);
    buf_put_u8(&typed->text, '\n');
    if (typed->session->interactive && ends_statement(text)) {
        typed->result = run_text(typed->session, buf_view(&typed->text));
        buf_reset(&typed->text);
    }
    prompt(typed->session, typed->text.len > 0);
    return typed->text.len > SQL_BYTES_MAX ? ERR_LIMIT : OK;
}

static int run_input(struct session *session)
{
    struct err err = {0};
    struct typed typed = {.session = session};
    prompt(session, false);
    enum err_code code = cmd_each_line(session->cmd->os, line, &typed, &err);
    int result = code == OK ? run_text(session, buf_view(&typed.text)) : cmd_fail(session->cmd, &err);
    buf_deinit(&typed.text);
    return result != EXIT_YES || session->interactive ? result : typed.result;
}

int cmd_sql(struct cmd *cmd)
{
    struct session session = {.cmd = cmd};
    int result = EXIT_YES;
    buf_put_slice(&session.database, SLICE("fluss"));
    session.interactive = !cmd->arg_count && os_is_terminal(cmd->os, 0);
    for (int i = 0; i < cmd->arg_count && result == EXIT_YES; i++)
        result = run_text(&session, slice_str(cmd->args[i]));
    if (!cmd->arg_count)
        result = run_input(&session);
    buf_deinit(&session.database);
    return result;
}
