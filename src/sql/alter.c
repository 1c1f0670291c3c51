/* ALTER, from the word behind it on. */
#include "base/vec.h"
#include "sql/sql_int.h"

/* What stands in WITH and is no option of the table, but a part of it: the server would keep it as a word without
 * meaning. */
static enum err_code check_alterable(struct parser *p, size_t at, struct slice key)
{
    static const char *const parts[] = {"bucket.num", "bucket.key", "auto-increment.fields"};
    bool fixed = slice_starts_with(key, SLICE("fields."));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        fixed |= slice_is(key, parts[i]);
    return fixed ? refuse_at(p, at, "\"%.*s\" is said when the table is made and stays", (int)MIN(key.len, 60),
                             (const char *)key.ptr)
                 : OK;
}

static enum err_code set_option(struct parser *p, void *arg, size_t key_at, struct slice key, size_t value_at,
                                struct slice value)
{
    struct sql_alteration *alter = arg;
    (void)value_at;
    TRY(check_alterable(p, key_at, key));
    properties_set(p->arena, &alter->set, key, value);
    return OK;
}

/* ('k', 'k', ...) */
static enum err_code reset(struct parser *p, struct sql_alteration *alter)
{
    VEC(struct slice) keys = {0};
    struct slice key;
    enum err_code code = parser_expect(p, "(");
    do {
        size_t at = p->token.at;
        if (code == OK)
            code = parser_string(p, "the name of an option in quotes", &key);
        if (code == OK)
            code = check_alterable(p, at, key);
        if (code == OK)
            vec_push(&keys, key);
    } while (code == OK && parser_accept(p, ","));
    if (code == OK)
        code = parser_expect(p, ")");
    alter->reset = ARENA_NEW_ARRAY(p->arena, struct slice, keys.len);
    alter->reset_count = (uint32_t)keys.len;
    if (keys.len)
        memcpy(alter->reset, keys.ptr, keys.len * sizeof *alter->reset);
    vec_deinit(&keys);
    return code;
}

/* Fluss gives each new column the last place. */
static enum err_code new_column(struct parser *p, struct sql_alteration *alter)
{
    struct schema_column column = {.id = -1};
    size_t at = p->token.at;
    TRY(parser_column(p, "a column", &column));
    if (parser_is(p, "FIRST") || parser_is(p, "AFTER"))
        return refuse_at(p, p->token.at, "a new column is the last one: leave FIRST or AFTER out");
    if (!column.type->nullable)
        return refuse_at(p, at, "a new column can't be NOT NULL: the rows that are there have no value for it");
    struct schema_column *columns = ARENA_NEW_ARRAY(p->arena, struct schema_column, (size_t)alter->column_count + 1);
    if (alter->column_count)
        memcpy(columns, alter->columns, alter->column_count * sizeof *columns);
    columns[alter->column_count++] = column;
    alter->columns = columns;
    return OK;
}

/* [COLUMN] c type, or (c type, ...) */
static enum err_code add(struct parser *p, struct sql_alteration *alter)
{
    bool many = parser_accept(p, "(");
    if (!many)
        (void)parser_accept(p, "COLUMN");
    if (parser_is(p, "CONSTRAINT") || parser_is(p, "PRIMARY") || parser_is(p, "WATERMARK"))
        return refuse_at(p, p->token.at, "columns can be added to a table, nothing else");
    do {
        TRY(new_column(p, alter));
    } while (many && alter->column_count < SCHEMA_COLUMNS_MAX && parser_accept(p, ","));
    return many ? parser_expect(p, ")") : OK;
}

static enum err_code options(struct parser *p, struct sql_alteration *alter, const char *what)
{
    if (parser_accept(p, "SET"))
        return parser_option_list(p, set_option, alter);
    if (parser_accept(p, "RESET"))
        return reset(p, alter);
    return expected(p, what);
}

enum err_code parse_alter_table(struct parser *p, struct sql_alteration *alter)
{
    static const char *const refused[] = {"DROP", "MODIFY", "RENAME"};
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (parser_is(p, refused[i]))
            return refuse_at(p, p->token.at, "columns can be added to a table; ALTER TABLE ... %s is not there",
                             refused[i]);
    return parser_accept(p, "ADD") ? add(p, alter) : options(p, alter, "ADD, SET or RESET");
}

enum err_code parse_alter_database(struct parser *p, struct sql_alteration *alter)
{
    return options(p, alter, "SET or RESET");
}
