/* Statements. */
#include "sql/sql_int.h"

static enum err_code if_words(struct parser *p, bool not, bool *given)
{
    *given = parser_accept(p, "IF");
    if (!*given)
        return OK;
    if (not )
        TRY(parser_expect(p, "NOT"));
    return parser_expect(p, "EXISTS");
}

/* [d.]t */
static enum err_code table_name(struct parser *p, struct sql_statement *s)
{
    TRY(parser_name(p, "the name of a table", &s->table));
    if (!parser_accept(p, "."))
        return OK;
    s->database = s->table;
    return parser_name(p, "the name of a table", &s->table);
}

static enum err_code database_option(struct parser *p, void *arg, size_t key_at, struct slice key, size_t value_at,
                                     struct slice value)
{
    struct sql_statement *s = arg;
    (void)key_at;
    (void)value_at;
    properties_set(p->arena, &s->database_descriptor.custom_properties, key, value);
    return OK;
}

static enum err_code create(struct parser *p, struct sql_statement *s)
{
    if (parser_accept(p, "DATABASE")) {
        s->kind = SQL_CREATE_DATABASE;
        TRY(if_words(p, true, &s->if_exists));
        TRY(parser_name(p, "the name of a database", &s->database));
        if (parser_accept(p, "COMMENT"))
            TRY(parser_string(p, "the comment in quotes", &s->database_descriptor.comment));
        return parser_options(p, database_option, s);
    }
    if (parser_is(p, "CATALOG"))
        return refuse_at(p, p->token.at, "catalogs belong to Flink; what is here is found by --bootstrap HOST:PORT");
    if (!parser_accept(p, "TABLE"))
        return expected(p, "DATABASE or TABLE");
    s->kind = SQL_CREATE_TABLE;
    TRY(if_words(p, true, &s->if_exists));
    TRY(table_name(p, s));
    return parse_create_table(p, &s->table_descriptor);
}

static enum err_code drop(struct parser *p, struct sql_statement *s)
{
    if (parser_accept(p, "DATABASE")) {
        s->kind = SQL_DROP_DATABASE;
        TRY(if_words(p, false, &s->if_exists));
        TRY(parser_name(p, "the name of a database", &s->database));
        s->cascade = parser_accept(p, "CASCADE");
        if (!s->cascade)
            (void)parser_accept(p, "RESTRICT");
        return OK;
    }
    if (!parser_accept(p, "TABLE"))
        return expected(p, "DATABASE or TABLE");
    s->kind = SQL_DROP_TABLE;
    TRY(if_words(p, false, &s->if_exists));
    return table_name(p, s);
}

static enum err_code alter_table(struct parser *p, struct sql_statement *s)
{
    bool is_of_partitions = false;
    TRY(if_words(p, false, &s->if_exists));
    TRY(table_name(p, s));
    struct parser behind = *p;
    struct sql_statement so_far = *s;
    TRY(parse_alter_partitions(p, s, &is_of_partitions));
    if (is_of_partitions)
        return OK;
    *p = behind;
    *s = so_far;
    s->kind = SQL_ALTER_TABLE;
    return parse_alter_table(p, &s->alteration);
}

static enum err_code alter(struct parser *p, struct sql_statement *s)
{
    if (parser_accept(p, "TABLE"))
        return alter_table(p, s);
    if (!parser_accept(p, "DATABASE"))
        return expected(p, "TABLE or DATABASE");
    s->kind = SQL_ALTER_DATABASE;
    TRY(if_words(p, false, &s->if_exists));
    TRY(parser_name(p, "the name of a database", &s->database));
    return parse_alter_database(p, &s->alteration);
}

static enum err_code show(struct parser *p, struct sql_statement *s)
{
    if (parser_accept(p, "DATABASES")) {
        s->kind = SQL_SHOW_DATABASES;
        return OK;
    }
    if (parser_accept(p, "TABLES")) {
        s->kind = SQL_SHOW_TABLES;
        if (parser_accept(p, "FROM") || parser_accept(p, "IN"))
            return parser_name(p, "the name of a database", &s->database);
        return OK;
    }
    if (parser_accept(p, "PARTITIONS")) {
        TRY(table_name(p, s));
        return parse_show_partitions(p, s);
    }
    if (!parser_accept(p, "CREATE"))
        return expected(p, "DATABASES, TABLES, PARTITIONS or CREATE TABLE");
    s->kind = SQL_SHOW_CREATE_TABLE;
    TRY(parser_expect(p, "TABLE"));
    return table_name(p, s);
}

/* What a statement of this first word would do, and what does it today. */
static enum err_code comes_later(struct parser *p)
{
    static const struct {
        const char *word;
        const char *instead;
    } later[] = {
        {"SELECT", "read rows with: weir scan TABLE, weir get TABLE KEY, weir tail TABLE"},
        {"INSERT", "write rows with: weir put TABLE '{\"column\": value, ...}'"},
        {"UPDATE", "write the whole row with: weir put TABLE '{\"column\": value, ...}'"},
        {"DELETE", "delete by key with: weir delete TABLE KEY"},
        {"WITH", "read rows with: weir scan TABLE"},
        {"EXPLAIN", "there is nothing to explain yet"},
    };
    for (size_t i = 0; i < ARRAY_LEN(later); i++)
        if (parser_is(p, later[i].word)) {
            p->reader->error_at = p->token.at;
            return err_set(p->err, ERR_NOT_SUPPORTED, "%s comes later; %s", later[i].word, later[i].instead);
        }
    return expected(p, "CREATE, DROP, ALTER, SHOW, DESCRIBE or USE");
}

static enum err_code statement(struct parser *p, struct sql_statement *s)
{
    if (parser_accept(p, "CREATE"))
        return create(p, s);
    if (parser_accept(p, "DROP"))
        return drop(p, s);
    if (parser_accept(p, "ALTER"))
        return alter(p, s);
    if (parser_accept(p, "SHOW"))
        return show(p, s);
    if (parser_accept(p, "DESCRIBE") || parser_accept(p, "DESC")) {
        s->kind = SQL_DESCRIBE;
        return table_name(p, s);
    }
    if (parser_accept(p, "USE")) {
        s->kind = SQL_USE;
        return parser_name(p, "the name of a database", &s->database);
    }
    return comes_later(p);
}

static enum err_code whole_statement(struct parser *p, struct sql_statement *s)
{
    TRY(statement(p, s));
    if (p->token.kind != TOKEN_END && !parser_is(p, ";"))
        return expected(p, "; or the end");
    return OK;
}

enum err_code sql_next(struct sql_reader *reader, struct arena *arena, struct sql_statement *out, bool *have,
                       struct err *err)
{
    struct parser p;
    struct sql_statement s = {0};
    if (reader->text.len > SQL_BYTES_MAX) {
        reader->at = reader->text.len;
        reader->error_at = 0;
        return err_set(err, ERR_LIMIT, "the text has %zu bytes; at most %u are read", reader->text.len, SQL_BYTES_MAX);
    }
    parser_init(&p, reader, arena, err);
    while (parser_accept(&p, ";"))
        continue;
    *have = p.token.kind != TOKEN_END;
    reader->at = p.token.at;
    if (!*have)
        return OK;
    enum err_code code = whole_statement(&p, &s);
    /* Strings and comments may hold a ';' and are stepped over; what does not end takes the rest with it. */
    while (p.token.kind != TOKEN_END && p.token.kind != TOKEN_BAD && !parser_is(&p, ";"))
        parser_advance(&p);
    reader->at = parser_is(&p, ";") ? p.token.at + 1 : reader->text.len;
    if (code == OK)
        *out = s;
    return code;
}
