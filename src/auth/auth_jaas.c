/* The text of a JAAS configuration with one login module. */
#include "auth/auth_int.h"
#include "base/buf.h"

enum token { TOKEN_END, TOKEN_WORD, TOKEN_QUOTED, TOKEN_EQUALS, TOKEN_SEMICOLON };

struct parser {
    struct slice text;
    size_t at;
    enum token token; /* the one that `at` stands behind */
    size_t start;     /* where it began */
    struct buf value; /* of a word, or of what stands in quotes */
};

static enum err_code bad(const struct parser *p, const char *what, struct err *err)
{
    return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "byte %zu: %s", p->start, what);
}

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80 || c == '_' ||
           c == '-' || c == '.' || c == '$';
}

/* True: the text goes on with these two letters. */
static bool ahead(const struct parser *p, const char *two)
{
    return p->text.len - p->at >= 2 && memcmp(p->text.ptr + p->at, two, 2) == 0;
}

static enum err_code skip(struct parser *p, struct err *err)
{
    while (p->at < p->text.len) {
        p->start = p->at;
        if (is_space(p->text.ptr[p->at])) {
            p->at++;
        } else if (ahead(p, "//")) {
            while (p->at < p->text.len && p->text.ptr[p->at] != '\n')
                p->at++;
        } else if (ahead(p, "/*")) {
            for (p->at += 2; !ahead(p, "*/"); p->at++)
                if (p->at >= p->text.len)
                    return bad(p, "a comment has no end", err);
            p->at += 2;
        } else {
            return OK;
        }
    }
    return OK;
}

static bool escape(uint8_t c, uint8_t *out)
{
    *out = c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
    return c < '0' || c > '9';
}

static enum err_code quoted(struct parser *p, uint8_t quote, struct err *err)
{
    for (p->at++; p->at < p->text.len; p->at++) {
        uint8_t c = p->text.ptr[p->at];
        if (c == quote) {
            p->at++;
            p->token = TOKEN_QUOTED;
            return OK;
        }
        if (c == '\n' || c == '\r')
            break;
        if (c == '\\' && (++p->at == p->text.len || !escape(p->text.ptr[p->at], &c)))
            return bad(p, "a backslash stands before a digit or at the end", err);
        buf_put_u8(&p->value, c);
    }
    return bad(p, "a quote has no end in its line", err);
}

static enum err_code word(struct parser *p, struct err *err)
{
    while (p->at < p->text.len && is_word(p->text.ptr[p->at]))
        buf_put_u8(&p->value, p->text.ptr[p->at++]);
    p->token = TOKEN_WORD;
    return p->value.len ? OK : bad(p, "a character that has no place here", err);
}

static enum err_code next(struct parser *p, struct err *err)
{
    buf_reset(&p->value);
    TRY(skip(p, err));
    p->start = p->at;
    p->token = TOKEN_END;
    if (p->at == p->text.len)
        return OK;
    uint8_t c = p->text.ptr[p->at];
    if (c == '"' || c == '\'')
        return quoted(p, c, err);
    if (c != '=' && c != ';')
        return word(p, err);
    p->token = c == '=' ? TOKEN_EQUALS : TOKEN_SEMICOLON;
    p->at++;
    return OK;
}

static enum err_code expect(struct parser *p, enum token token, const char *what, struct err *err)
{
    TRY(next(p, err));
    return p->token == token ? OK : bad(p, what, err);
}

/* The option whose name was read: its value, and what it means. name is the parser's no more. */
static enum err_code option(struct parser *p, struct auth_users *users, struct slice name, struct err *err)
{
    size_t start = p->start;
    TRY(expect(p, TOKEN_EQUALS, "a '=' is missing", err));
    TRY(next(p, err));
    if (p->token != TOKEN_WORD && p->token != TOKEN_QUOTED)
        return bad(p, "a value is missing", err);
    if (slice_is(name, "username") || slice_is(name, "password"))
        return OK;
    p->start = start;
    if (!slice_starts_with(name, SLICE("user_")))
        return bad(p, "an option other than user_NAME", err);
    struct slice user = slice_of(name.ptr + 5, name.len - 5);
    if (auth_user_find(users, user))
        return bad(p, "this user is there already", err);
    return auth_user_add(users, user, buf_view(&p->value), start, err);
}

static bool is_flag(struct slice word)
{
    static const char *const flags[] = {"required", "requisite", "sufficient", "optional"};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (slice_equal_nocase(word, slice_str(flags[i])))
            return true;
    return false;
}

static enum err_code module(struct parser *p, struct auth_users *users, struct buf *name, struct err *err)
{
    TRY(expect(p, TOKEN_WORD, "the login module is missing", err));
    struct slice module = buf_view(&p->value);
    if (!slice_is(module, "PlainLoginModule") && !slice_ends_with(module, SLICE(".PlainLoginModule")))
        return bad(p, "a login module other than PlainLoginModule", err);
    TRY(expect(p, TOKEN_WORD, "the module's flag is missing", err));
    if (!is_flag(buf_view(&p->value)))
        return bad(p, "the module's flag is none of required, requisite, sufficient, optional", err);
    for (;;) {
        TRY(next(p, err));
        if (p->token == TOKEN_SEMICOLON)
            break;
        if (p->token != TOKEN_WORD)
            return bad(p, p->token == TOKEN_END ? "the ';' at the end is missing" : "a name is missing", err);
        buf_reset(name);
        buf_put_slice(name, buf_view(&p->value));
        TRY(option(p, users, buf_view(name), err));
    }
    return expect(p, TOKEN_END, "something follows the login module", err);
}

enum err_code auth_users_add_jaas(struct auth_users *users, struct slice text, struct err *err)
{
    struct parser p = {.text = text};
    struct buf name = {0};
    enum err_code code = module(&p, users, &name, err);
    buf_deinit(&p.value);
    buf_deinit(&name);
    return code;
}
