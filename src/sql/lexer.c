/* Tokens, and the few verbs the parser is made of. */
#include "sql/sql_int.h"

#include <stdarg.h>
#include <stdio.h>

static bool is_word_start(uint8_t c)
{
    uint8_t folded = c | 0x20;
    return (folded >= 'a' && folded <= 'z') || c == '_' || c >= 0x80;
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static uint8_t byte_at(struct slice text, size_t at)
{
    return at < text.len ? text.ptr[at] : 0;
}

/* Behind white space and comments; *open tells of a comment that does not end. */
static size_t skip(struct slice text, size_t at, bool *open)
{
    *open = false;
    while (at < text.len) {
        uint8_t c = text.ptr[at];
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            at++;
        } else if (c == '-' && byte_at(text, at + 1) == '-') {
            while (at < text.len && text.ptr[at] != '\n')
                at++;
        } else if (c == '/' && byte_at(text, at + 1) == '*') {
            size_t end = at + 2;
            while (end + 1 < text.len && (text.ptr[end] != '*' || text.ptr[end + 1] != '/'))
                end++;
            if (end + 1 >= text.len) {
                *open = true;
                return at;
            }
            at = end + 2;
        } else {
            break;
        }
    }
    return at;
}

static struct token bad(size_t at, struct slice text, const char *fault)
{
    return (struct token){TOKEN_BAD, at, text, fault};
}

static struct token quoted(struct slice text, size_t at, uint8_t quote)
{
    size_t end = at + 1;
    for (; end < text.len; end++) {
        if (text.ptr[end] != quote)
            continue;
        if (byte_at(text, end + 1) != quote)
            break;
        end++;
    }
    struct slice here = slice_of(text.ptr + at, MIN(end + 1, text.len) - at);
    if (end >= text.len)
        return bad(at, here, quote == '`' ? "a name in backquotes that does not end" : "a string that does not end");
    return (struct token){quote == '`' ? TOKEN_QUOTED : TOKEN_STRING, at, here, NULL};
}

static struct token read_token(struct slice text, size_t from)
{
    bool open;
    size_t at = skip(text, from, &open);
    if (open)
        return bad(at, slice_of(text.ptr + at, text.len - at), "a comment that does not end");
    if (at >= text.len)
        return (struct token){TOKEN_END, text.len, {0}, NULL};
    uint8_t c = text.ptr[at];
    if (c == '`' || c == '\'')
        return quoted(text, at, c);
    size_t end = at + 1;
    enum token_kind kind = is_word_start(c) ? TOKEN_WORD : is_digit(c) ? TOKEN_NUMBER : TOKEN_SYMBOL;
    while (kind != TOKEN_SYMBOL && end < text.len && (is_word_start(text.ptr[end]) || is_digit(text.ptr[end])))
        end++;
    return (struct token){kind, at, slice_of(text.ptr + at, end - at), NULL};
}

void parser_seek(struct parser *p, size_t at)
{
    p->token = read_token(p->reader->text, at);
}

void parser_init(struct parser *p, struct sql_reader *reader, struct arena *arena, struct err *err)
{
    *p = (struct parser){.reader = reader, .arena = arena, .err = err};
    parser_seek(p, reader->at);
}

void parser_advance(struct parser *p)
{
    parser_seek(p, p->token.at + p->token.text.len);
}

struct slice token_value(struct arena *arena, const struct token *token)
{
    struct slice inner = slice_of(token->text.ptr + 1, token->text.len - 2);
    uint8_t quote = token->text.ptr[0];
    if (!inner.len || !memchr(inner.ptr, quote, inner.len))
        return inner;
    uint8_t *out = arena_alloc(arena, inner.len);
    size_t len = 0;
    for (size_t i = 0; i < inner.len; i++) {
        out[len++] = inner.ptr[i];
        if (inner.ptr[i] == quote)
            i++;
    }
    return slice_of(out, len);
}

/* ---- errors ---- */

static void line_and_column(struct slice text, size_t at, size_t *line, size_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at && i < text.len; i++) {
        if (text.ptr[i] == '\n') {
            ++*line;
            *column = 1;
        } else if ((text.ptr[i] & 0xc0) != 0x80) {
            ++*column;
        }
    }
}

enum err_code parser_refuse(struct parser *p, const char *where, size_t at, const char *fmt, ...)
{
    char what[180];
    size_t line, column;
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    line_and_column(p->reader->text, at, &line, &column);
    p->reader->error_at = at;
    return err_set_at(p->err, where, ERR_INVALID_ARGUMENT, "line %zu, column %zu: %s", line, column, what);
}

enum err_code parser_expected(struct parser *p, const char *where, const char *what)
{
    if (p->token.kind == TOKEN_BAD)
        return parser_refuse(p, where, p->token.at, "%s", p->token.fault);
    if (p->token.kind == TOKEN_END)
        return parser_refuse(p, where, p->token.at, "expected %s, found the end", what);
    return parser_refuse(p, where, p->token.at, "expected %s, found %.*s", what, (int)MIN(p->token.text.len, 40),
                         (const char *)p->token.text.ptr);
}

/* ---- verbs ---- */

bool parser_is(const struct parser *p, const char *what)
{
    return (p->token.kind == TOKEN_WORD || p->token.kind == TOKEN_SYMBOL) &&
           slice_equal_nocase(p->token.text, slice_str(what));
}

bool parser_accept(struct parser *p, const char *what)
{
    if (!parser_is(p, what))
        return false;
    parser_advance(p);
    return true;
}

enum err_code parser_expect(struct parser *p, const char *what)
{
    return parser_accept(p, what) ? OK : expected(p, what);
}

enum err_code parser_name(struct parser *p, const char *what, struct slice *name)
{
    if (p->token.kind == TOKEN_WORD)
        *name = p->token.text;
    else if (p->token.kind == TOKEN_QUOTED)
        *name = token_value(p->arena, &p->token);
    else
        return expected(p, what);
    if (!name->len)
        return refuse_at(p, p->token.at, "the name is empty");
    parser_advance(p);
    return OK;
}

enum err_code parser_string(struct parser *p, const char *what, struct slice *string)
{
    if (p->token.kind != TOKEN_STRING)
        return expected(p, what);
    *string = token_value(p->arena, &p->token);
    parser_advance(p);
    return OK;
}

enum err_code parser_options(struct parser *p, parser_option_fn *fn, void *arg)
{
    return parser_accept(p, "WITH") ? parser_option_list(p, fn, arg) : OK;
}

enum err_code parser_option_list(struct parser *p, parser_option_fn *fn, void *arg)
{
    TRY(parser_expect(p, "("));
    do {
        struct slice key, value;
        size_t key_at = p->token.at;
        TRY(parser_string(p, "an option as 'name' = 'value'", &key));
        TRY(parser_expect(p, "="));
        size_t value_at = p->token.at;
        TRY(parser_string(p, "the option's value in quotes", &value));
        TRY(fn(p, arg, key_at, key, value_at, value));
    } while (parser_accept(p, ","));
    return parser_is(p, ")") ? (parser_advance(p), OK) : expected(p, ", or )");
}
