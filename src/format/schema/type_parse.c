/* SQL text of types, read:
 *
 *   type  = base [ "NOT" "NULL" | "NULL" ]
 *   base  = word [ "(" number [ "," number ] ")" ] [ "PRECISION" | "WITHOUT" "TIME" "ZONE" | "WITH" "LOCAL" "TIME"
 * "ZONE" ] | "ARRAY" "<" type ">" | "MAP" "<" type "," type ">" | "ROW" ( "<" | "(" ) [ field { "," field } ] ( ">" |
 * ")" ) field = name type [ 'description' ]
 *
 * Words in any letter case; names bare or in backticks. */
#include "base/map.h"
#include "base/vec.h"
#include "format/schema/schema_int.h"

struct parser {
    struct arena *arena;
    struct slice sql; /* whole */
    size_t at;
    struct err *err;
};

#define refuse(p, ...) refuse_at((p), ERR_WHERE, __VA_ARGS__)

static enum err_code refuse_at(struct parser *p, const char *where, const char *what)
{
    struct slice rest = slice_of(p->sql.ptr + p->at, MIN(p->sql.len - p->at, 20));
    return err_set_at(p->err, where, ERR_INVALID_ARGUMENT, "%s, at byte %zu of the type: \"%.*s\"", what, p->at,
                      SLICE_ARGS(rest));
}

static void skip_space(struct parser *p)
{
    while (p->at < p->sql.len && strchr(" \t\r\n", p->sql.ptr[p->at]) && p->sql.ptr[p->at])
        p->at++;
}

static bool accept(struct parser *p, char c)
{
    skip_space(p);
    if (p->at >= p->sql.len || p->sql.ptr[p->at] != (uint8_t)c)
        return false;
    p->at++;
    return true;
}

static bool is_word_byte(uint8_t c)
{
    uint8_t folded = c | 0x20;
    return (folded >= 'a' && folded <= 'z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

/* The word here, which may be empty; the place does not move. */
static struct slice peek_word(struct parser *p)
{
    skip_space(p);
    size_t end = p->at;
    while (end < p->sql.len && is_word_byte(p->sql.ptr[end]))
        end++;
    return slice_of(p->sql.ptr + p->at, end - p->at);
}

static bool accept_word(struct parser *p, const char *word)
{
    struct slice here = peek_word(p);
    if (!slice_equal_nocase(here, slice_str(word)))
        return false;
    p->at += here.len;
    return true;
}

/* All the words in a row, or none. */
static bool accept_words(struct parser *p, const char *const words[])
{
    size_t start = p->at;
    for (; *words; words++) {
        if (!accept_word(p, *words)) {
            p->at = start;
            return false;
        }
    }
    return true;
}

static enum err_code number(struct parser *p, int32_t *value)
{
    struct slice word = peek_word(p);
    int64_t wide = 0;
    if (!slice_to_i64(word, &wide) || wide > INT32_MAX)
        return refuse(p, "a number is missing");
    p->at += word.len;
    *value = (int32_t)wide;
    return OK;
}

/* Text between quotes, where two quotes stand for one. */
static enum err_code quoted(struct parser *p, char quote, struct slice *text)
{
    struct buf out = {0};
    while (p->at < p->sql.len) {
        uint8_t c = p->sql.ptr[p->at++];
        if (c == (uint8_t)quote) {
            if (p->at >= p->sql.len || p->sql.ptr[p->at] != (uint8_t)quote) {
                *text = arena_dup(p->arena, buf_view(&out));
                buf_deinit(&out);
                return OK;
            }
            p->at++;
        }
        buf_put_u8(&out, c);
    }
    buf_deinit(&out);
    return refuse(p, "a closing quote is missing");
}

static enum err_code name(struct parser *p, struct slice *out)
{
    if (accept(p, '`')) {
        TRY(quoted(p, '`', out));
        return out->len ? OK : refuse(p, "a field name is empty");
    }
    struct slice word = peek_word(p);
    if (word.len == 0)
        return refuse(p, "a field name is missing");
    p->at += word.len;
    *out = arena_dup(p->arena, word);
    return OK;
}

/* ---- plain types ---- */

static const struct {
    const char *word;
    enum type_kind kind;
} plain[] = {
    {"BOOLEAN", TYPE_BOOLEAN}, {"TINYINT", TYPE_TINYINT},     {"SMALLINT", TYPE_SMALLINT},
    {"INT", TYPE_INTEGER},     {"INTEGER", TYPE_INTEGER},     {"BIGINT", TYPE_BIGINT},
    {"FLOAT", TYPE_FLOAT},     {"DOUBLE", TYPE_DOUBLE},       {"CHAR", TYPE_CHAR},
    {"STRING", TYPE_STRING},   {"VARCHAR", TYPE_STRING},      {"BINARY", TYPE_BINARY},
    {"BYTES", TYPE_BYTES},     {"VARBINARY", TYPE_BYTES},     {"DECIMAL", TYPE_DECIMAL},
    {"DEC", TYPE_DECIMAL},     {"NUMERIC", TYPE_DECIMAL},     {"DATE", TYPE_DATE},
    {"TIME", TYPE_TIME},       {"TIMESTAMP", TYPE_TIMESTAMP}, {"TIMESTAMP_LTZ", TYPE_TIMESTAMP_LTZ},
};

/* VARCHAR and VARBINARY exist only without a limit, spelled as the greatest length. */
static enum err_code unlimited(struct parser *p, bool characters)
{
    int32_t length = 0;
    if (accept(p, '(')) {
        TRY(number(p, &length));
        if (!accept(p, ')'))
            return refuse(p, "\")\" is missing");
    }
    if (length == INT32_MAX)
        return OK;
    return refuse(p, characters ? "VARCHAR with a limit does not exist, use STRING"
                                : "VARBINARY with a limit does not exist, use BYTES");
}

static enum err_code parameters(struct parser *p, struct type *type)
{
    int32_t *first = type_has_length(type->kind) ? &type->length : &type->precision;
    if (!(type_has_length(type->kind) || type_has_precision(type->kind)) || !accept(p, '('))
        return OK;
    TRY(number(p, first));
    if (type->kind == TYPE_DECIMAL && accept(p, ','))
        TRY(number(p, &type->scale));
    return accept(p, ')') ? OK : refuse(p, "\")\" is missing");
}

static void zone(struct parser *p, struct type *type)
{
    static const char *const without[] = {"WITHOUT", "TIME", "ZONE", NULL};
    static const char *const local[] = {"WITH", "LOCAL", "TIME", "ZONE", NULL};
    if (type->kind == TYPE_TIMESTAMP && accept_words(p, local))
        type->kind = TYPE_TIMESTAMP_LTZ;
    else if (type->kind == TYPE_TIMESTAMP || type->kind == TYPE_TIME)
        (void)accept_words(p, without);
}

static enum err_code plain_type(struct parser *p, struct slice word, struct type **out)
{
    size_t i = 0;
    while (i < ARRAY_LEN(plain) && !slice_equal_nocase(word, slice_str(plain[i].word)))
        i++;
    if (i == ARRAY_LEN(plain))
        return refuse(p, word.len ? "there is no such type" : "a type is missing");
    p->at += word.len;
    struct type *type = type_new(p->arena, plain[i].kind);
    *out = type;
    if (slice_starts_with(slice_str(plain[i].word), SLICE("VAR")))
        return unlimited(p, type->kind == TYPE_STRING);
    TRY(parameters(p, type));
    zone(p, type);
    if (type->kind == TYPE_DOUBLE)
        (void)accept_word(p, "PRECISION");
    const char *fault = type_fault(type);
    return fault ? refuse(p, fault) : OK;
}

/* ---- nested types ---- */

static enum err_code parse(struct parser *p, unsigned depth, const struct type **out);

static enum err_code members(struct parser *p, unsigned depth, struct type *type, uint32_t count)
{
    static const char *const names[] = {"key", "value"};
    struct field *fields = ARENA_NEW_ARRAY(p->arena, struct field, count);
    if (!accept(p, '<'))
        return refuse(p, "\"<\" is missing");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && !accept(p, ','))
            return refuse(p, "\",\" is missing");
        fields[i] = (struct field){.name = slice_str(count == 1 ? "element" : names[i]), .id = -1};
        TRY(parse(p, depth, &fields[i].type));
    }
    if (!accept(p, '>'))
        return refuse(p, "\">\" is missing");
    if (type->kind == TYPE_MAP)
        fields[0].type = type_with_nullable(p->arena, fields[0].type, false);
    type->fields = fields;
    type->field_count = count;
    return OK;
}

static enum err_code row_field(struct parser *p, unsigned depth, struct map *seen, struct field *field)
{
    *field = (struct field){.id = -1};
    TRY(name(p, &field->name));
    if (map_put(seen, field->name, seen))
        return refuse(p, "a ROW has a field twice");
    TRY(parse(p, depth, &field->type));
    return accept(p, '\'') ? quoted(p, '\'', &field->description) : OK;
}

static enum err_code row_fields(struct parser *p, unsigned depth, struct type *type, char close)
{
    VEC(struct field) fields = {0};
    struct map seen = {0};
    enum err_code code = OK;
    while (code == OK && !accept(p, close)) {
        if (fields.len == SCHEMA_FIELDS_MAX)
            code = refuse(p, "a ROW has too many fields");
        else if (fields.len > 0 && !accept(p, ','))
            code = refuse(p, "\",\" or the end of the ROW is missing");
        else
            code = row_field(p, depth, &seen, vec_add(&fields));
    }
    struct field *kept = ARENA_NEW_ARRAY(p->arena, struct field, fields.len);
    if (fields.len)
        memcpy(kept, fields.ptr, fields.len * sizeof *kept);
    type->fields = kept;
    type->field_count = (uint32_t)fields.len;
    vec_deinit(&fields);
    map_deinit(&seen);
    return code;
}

static enum err_code base_type(struct parser *p, unsigned depth, struct type **out)
{
    struct slice word = peek_word(p);
    bool array = slice_equal_nocase(word, SLICE("ARRAY")), map = slice_equal_nocase(word, SLICE("MAP"));
    if (!array && !map && !slice_equal_nocase(word, SLICE("ROW")))
        return plain_type(p, word, out);
    p->at += word.len;
    struct type *type = type_new(p->arena, array ? TYPE_ARRAY : map ? TYPE_MAP : TYPE_ROW);
    *out = type;
    if (array || map)
        return members(p, depth + 1, type, array ? 1 : 2);
    if (accept(p, '<'))
        return row_fields(p, depth + 1, type, '>');
    return accept(p, '(') ? row_fields(p, depth + 1, type, ')') : refuse(p, "\"<\" is missing");
}

static enum err_code parse(struct parser *p, unsigned depth, const struct type **out)
{
    static const char *const not_null[] = {"NOT", "NULL", NULL};
    if (depth > SCHEMA_DEPTH_MAX)
        return refuse(p, "types are nested too deep");
    struct type *type = NULL;
    TRY(base_type(p, depth, &type));
    if (accept_words(p, not_null))
        type->nullable = false;
    else
        (void)accept_word(p, "NULL");
    *out = type;
    return OK;
}

enum err_code type_from_sql_prefix(struct arena *arena, struct slice *sql, const struct type **type, struct err *err)
{
    struct parser p = {arena, *sql, 0, err};
    TRY(parse(&p, 1, type));
    skip_space(&p);
    *sql = slice_of(sql->ptr + p.at, sql->len - p.at);
    return OK;
}

enum err_code type_from_sql(struct arena *arena, struct slice sql, const struct type **type, struct err *err)
{
    struct parser p = {arena, sql, 0, err};
    const struct type *read = NULL;
    if (sql.len > SCHEMA_JSON_BYTES_MAX)
        return err_set(err, ERR_INVALID_ARGUMENT, "the text of the type has %zu bytes", sql.len);
    TRY(parse(&p, 1, &read));
    skip_space(&p);
    if (p.at != sql.len)
        return refuse(&p, "something stands behind the type");
    *type = read;
    return OK;
}
