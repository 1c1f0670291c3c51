/* Statements about partitions: SHOW PARTITIONS, ALTER TABLE ... ADD and DROP PARTITION. */
#include "base/vec.h"
#include "sql/sql_int.h"

/* A value as it stands in the partition's name: 'text', 42, -7, TRUE. */
static enum err_code value(struct parser *p, struct slice *out)
{
    bool minus = parser_accept(p, "-");
    if (p->token.kind == TOKEN_NUMBER) {
        *out = minus ? arena_printf(p->arena, "-%.*s", SLICE_ARGS(p->token.text)) : p->token.text;
        parser_advance(p);
        return OK;
    }
    if (!minus && parser_is(p, "TRUE"))
        *out = SLICE("true");
    else if (!minus && parser_is(p, "FALSE"))
        *out = SLICE("false");
    else if (!minus && p->token.kind == TOKEN_STRING)
        return parser_string(p, "the value in quotes", out);
    else
        return expected(p, "a value: 'text', a number, TRUE or FALSE");
    parser_advance(p);
    return OK;
}

/* PARTITION (key = value, ...), the first word taken. */
static enum err_code spec(struct parser *p, struct properties *out)
{
    TRY(parser_expect(p, "("));
    do {
        struct slice key, text;
        size_t at = p->token.at;
        TRY(parser_name(p, "a partition column", &key));
        for (uint32_t i = 0; i < out->count; i++)
            if (slice_equal(out->items[i].key, key))
                return refuse_at(p, at, "the partition column %.*s is there twice", SLICE_ARGS(key));
        if (out->count == SCHEMA_COLUMNS_MAX)
            return refuse_at(p, at, "more than %d columns", SCHEMA_COLUMNS_MAX);
        TRY(parser_expect(p, "="));
        TRY(value(p, &text));
        properties_set(p->arena, out, key, text);
    } while (parser_accept(p, ","));
    return parser_expect(p, ")");
}

static enum err_code specs(struct parser *p, struct sql_statement *s)
{
    struct properties *list = ARENA_NEW_ARRAY(p->arena, struct properties, SQL_PARTITIONS_MAX);
    do {
        if (s->partition_count == SQL_PARTITIONS_MAX)
            return refuse_at(p, p->token.at, "more than %d partitions in one statement", SQL_PARTITIONS_MAX);
        TRY(parser_expect(p, "PARTITION"));
        list[s->partition_count] = (struct properties){0};
        TRY(spec(p, &list[s->partition_count++]));
    } while (parser_accept(p, ",") || parser_is(p, "PARTITION"));
    s->partitions = list;
    return OK;
}

enum err_code parse_show_partitions(struct parser *p, struct sql_statement *s)
{
    s->kind = SQL_SHOW_PARTITIONS;
    return parser_is(p, "PARTITION") ? specs(p, s) : OK;
}

enum err_code parse_alter_partitions(struct parser *p, struct sql_statement *s, bool *is_one)
{
    bool add = parser_accept(p, "ADD");
    *is_one = false;
    if (!add && !parser_accept(p, "DROP"))
        return OK;
    s->if_exists = parser_is(p, "IF");
    if (s->if_exists) {
        parser_advance(p);
        if (add)
            TRY(parser_expect(p, "NOT"));
        TRY(parser_expect(p, "EXISTS"));
    }
    if (!s->if_exists && !parser_is(p, "PARTITION"))
        return OK;
    *is_one = true;
    s->kind = add ? SQL_ADD_PARTITIONS : SQL_DROP_PARTITIONS;
    return specs(p, s);
}
