/* CREATE TABLE, from the parenthesis on. */
#include "base/vec.h"
#include "sql/sql_int.h"

struct making {
    struct table_descriptor *table;
    struct slice auto_increment; /* ptr NULL: no such option */
    VEC(struct schema_column) columns;
};

static int32_t find_column(const struct making *m, struct slice name)
{
    for (size_t i = 0; i < m->columns.len; i++)
        if (slice_equal(m->columns.ptr[i].name, name))
            return (int32_t)i;
    return -1;
}

static enum err_code known_column(struct parser *p, const struct making *m, size_t at, struct slice name,
                                  uint32_t *position)
{
    int32_t found = find_column(m, name);
    if (found < 0)
        return refuse_at(p, at, "the table has no column %.*s", (int)MIN(name.len, 60), (const char *)name.ptr);
    *position = (uint32_t)found;
    return OK;
}

static enum err_code add_position(struct parser *p, size_t at, uint32_t *list, uint32_t *count, uint32_t position)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == position)
            return refuse_at(p, at, "a column stands in the key twice");
    list[(*count)++] = position;
    return OK;
}

/* (a, b, ...) */
static enum err_code column_list(struct parser *p, const struct making *m, uint32_t **list, uint32_t *count)
{
    *list = ARENA_NEW_ARRAY(p->arena, uint32_t, m->columns.len);
    *count = 0;
    TRY(parser_expect(p, "("));
    do {
        struct slice name;
        uint32_t position = 0;
        size_t at = p->token.at;
        TRY(parser_name(p, "a column", &name));
        TRY(known_column(p, m, at, name, &position));
        TRY(add_position(p, at, *list, count, position));
    } while (parser_accept(p, ","));
    return parser_is(p, ")") ? (parser_advance(p), OK) : expected(p, ", or )");
}

static enum err_code primary_key(struct parser *p, struct making *m)
{
    struct schema *schema = &m->table->schema;
    size_t at = p->token.at;
    TRY(parser_expect(p, "PRIMARY"));
    TRY(parser_expect(p, "KEY"));
    if (schema->primary_key_count)
        return refuse_at(p, at, "a second primary key");
    TRY(column_list(p, m, &schema->primary_key, &schema->primary_key_count));
    if (!parser_is(p, "NOT"))
        return expected(p, "NOT ENFORCED behind the primary key");
    parser_advance(p);
    TRY(parser_expect(p, "ENFORCED"));
    for (uint32_t i = 0; i < schema->primary_key_count; i++) {
        struct schema_column *column = &m->columns.ptr[schema->primary_key[i]];
        column->type = type_with_nullable(p->arena, column->type, false);
    }
    return OK;
}

enum err_code parser_column(struct parser *p, const char *what, struct schema_column *column)
{
    TRY(parser_name(p, what, &column->name));
    size_t type_at = p->token.at;
    struct slice rest = slice_of(p->reader->text.ptr + type_at, p->reader->text.len - type_at);
    struct err why;
    if (parser_is(p, "AS") || parser_is(p, "METADATA"))
        return refuse_at(p, type_at, "computed and metadata columns belong to Flink's own tables, not to Fluss's");
    if (p->token.kind != TOKEN_WORD)
        return expected(p, "the type of the column");
    if (type_from_sql_prefix(p->arena, &rest, &column->type, &why) != OK)
        return refuse_at(p, type_at, "%s", why.text);
    parser_seek(p, p->reader->text.len - rest.len);
    if (parser_accept(p, "COMMENT"))
        TRY(parser_string(p, "the comment in quotes", &column->comment));
    return OK;
}

static enum err_code column(struct parser *p, struct making *m)
{
    struct schema_column new = {0};
    size_t at = p->token.at;
    TRY(parser_column(p, "a column or PRIMARY KEY", &new));
    if (find_column(m, new.name) >= 0)
        return refuse_at(p, at, "the column %.*s is there twice", SLICE_ARGS(new.name));
    if (m->columns.len == SCHEMA_COLUMNS_MAX)
        return refuse_at(p, at, "more than %d columns", SCHEMA_COLUMNS_MAX);
    if (parser_is(p, "PRIMARY"))
        return refuse_at(p, p->token.at, "give the primary key on its own: PRIMARY KEY (column) NOT ENFORCED");
    vec_push(&m->columns, new);
    return OK;
}

static enum err_code element(struct parser *p, struct making *m)
{
    struct slice name;
    if (parser_accept(p, "CONSTRAINT")) {
        TRY(parser_name(p, "the constraint's name", &name));
        return primary_key(p, m);
    }
    if (parser_is(p, "WATERMARK"))
        return refuse_at(p, p->token.at, "watermarks belong to Flink's own tables, not to Fluss's");
    return parser_is(p, "PRIMARY") ? primary_key(p, m) : column(p, m);
}

/* ---- options ---- */

static enum err_code bucket_num(struct parser *p, struct making *m, size_t at, struct slice value)
{
    int64_t count;
    if (!slice_to_i64(value, &count) || count < 1 || count > INT32_MAX)
        return refuse_at(p, at, "bucket.num must be a number from 1 on");
    m->table->has_distribution = true;
    m->table->bucket_count = (int32_t)count;
    return OK;
}

static enum err_code bucket_key(struct parser *p, struct making *m, size_t at, struct slice value)
{
    struct table_descriptor *table = m->table;
    table->has_distribution = true;
    table->bucket_keys = ARENA_NEW_ARRAY(p->arena, uint32_t, m->columns.len);
    table->bucket_key_count = 0;
    struct slice name;
    while (slice_list_next(&value, &name)) {
        uint32_t position = 0;
        TRY(known_column(p, m, at, name, &position));
        TRY(add_position(p, at, table->bucket_keys, &table->bucket_key_count, position));
    }
    return OK;
}

/* "fields.COLUMN.REST": a column's name may have dots of its own. */
static struct schema_column *column_of_option(struct making *m, struct slice key, struct slice *rest)
{
    for (size_t i = 0; i < m->columns.len; i++) {
        struct slice name = m->columns.ptr[i].name;
        size_t at = strlen("fields.") + name.len;
        if (key.len > at + 1 && key.ptr[at] == '.' &&
            slice_equal(slice_of(key.ptr + strlen("fields."), name.len), name)) {
            *rest = slice_of(key.ptr + at + 1, key.len - at - 1);
            return &m->columns.ptr[i];
        }
    }
    return NULL;
}

/* 'fields.total.agg' = 'listagg', 'fields.total.listagg.delimiter' = ';', in any order. Until the end a parameter's
 * name has its function's before it. */
static enum err_code function_option(struct parser *p, struct making *m, size_t at, struct slice key,
                                     struct slice value)
{
    struct slice rest;
    struct schema_column *column = column_of_option(m, key, &rest);
    if (!column)
        return refuse_at(p, at, "'%.*s' names no column of the table", (int)MIN(key.len, 120), (const char *)key.ptr);
    if (!slice_is(rest, "agg")) {
        properties_set(p->arena, &column->agg_parameters, rest, value);
        return OK;
    }
    char *name = arena_cstr(p->arena, value);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c >= 'A' && *c <= 'Z' ? (char)(*c | 0x20) : *c;
    column->agg_function = slice_of(name, value.len);
    return OK;
}

static enum err_code parameters_finish(struct parser *p, struct schema_column *column)
{
    for (uint32_t i = 0; i < column->agg_parameters.count; i++) {
        struct slice *key = &column->agg_parameters.items[i].key, function = column->agg_function;
        if (!slice_starts_with(*key, function) || key->len < function.len + 2 || key->ptr[function.len] != '.')
            return refuse_at(p, p->token.at, "'fields.%.*s.%.*s' is no parameter of the column's function",
                             SLICE_ARGS(column->name), SLICE_ARGS(*key));
        *key = slice_of(key->ptr + function.len + 1, key->len - function.len - 1);
    }
    return OK;
}

static enum err_code table_option(struct parser *p, void *arg, size_t key_at, struct slice key, size_t value_at,
                                  struct slice value)
{
    struct making *m = arg;
    if (slice_starts_with(key, SLICE("fields.")))
        return function_option(p, m, key_at, key, value);
    if (slice_is(key, "auto-increment.fields")) {
        uint32_t position;
        m->auto_increment = slice_trim(value);
        return known_column(p, m, value_at, m->auto_increment, &position);
    }
    if (slice_is(key, "bucket.num"))
        return bucket_num(p, m, value_at, value);
    if (slice_is(key, "bucket.key"))
        return bucket_key(p, m, value_at, value);
    struct properties *props =
        slice_starts_with(key, SLICE("table.")) ? &m->table->properties : &m->table->custom_properties;
    properties_set(p->arena, props, key, value);
    return OK;
}

/* Ids: each column, and each field of a ROW in it, in the order of the text. */
static enum err_code finish(struct parser *p, struct making *m)
{
    struct schema *schema = &m->table->schema;
    int32_t next = 0;
    schema->columns = ARENA_NEW_ARRAY(p->arena, struct schema_column, m->columns.len);
    schema->column_count = (uint32_t)m->columns.len;
    schema->auto_increment = m->auto_increment.ptr ? find_column(m, m->auto_increment) : -1;
    for (size_t i = 0; i < m->columns.len; i++) {
        schema->columns[i] = m->columns.ptr[i];
        schema->columns[i].id = next++;
        schema->columns[i].type = type_with_ids(p->arena, schema->columns[i].type, &next);
        TRY(parameters_finish(p, &schema->columns[i]));
    }
    schema->highest_field_id = next - 1;
    return OK;
}

static enum err_code parse_all(struct parser *p, struct making *m)
{
    if (parser_is(p, "LIKE") || parser_is(p, "AS"))
        return refuse_at(p, p->token.at,
                         "give the columns: ... (column type, ...); SHOW CREATE TABLE prints another's");
    TRY(parser_expect(p, "("));
    do {
        TRY(element(p, m));
    } while (parser_accept(p, ","));
    if (!parser_is(p, ")"))
        return expected(p, ", or ) behind a column");
    size_t end = p->token.at;
    parser_advance(p);
    if (!m->columns.len)
        return refuse_at(p, end, "a table without columns");
    if (parser_accept(p, "COMMENT"))
        TRY(parser_string(p, "the comment in quotes", &m->table->comment));
    if (parser_is(p, "DISTRIBUTED"))
        return refuse_at(p, p->token.at,
                         "expected WITH ('bucket.key' = ..., 'bucket.num' = ...) in place of DISTRIBUTED BY");
    if (parser_accept(p, "PARTITIONED")) {
        TRY(parser_expect(p, "BY"));
        TRY(column_list(p, m, &m->table->partition_keys, &m->table->partition_key_count));
    }
    return parser_options(p, table_option, m);
}

enum err_code parse_create_table(struct parser *p, struct table_descriptor *table)
{
    struct making m = {.table = table};
    table->bucket_count = -1;
    enum err_code code = parse_all(p, &m);
    if (code == OK)
        code = finish(p, &m);
    vec_deinit(&m.columns);
    return code;
}
