#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct err_row {
    const char *name;
    int32_t wire;
    bool retriable;
    const char *user_code;
    const char *text;
    const char *remedy;
};

static const struct err_row rows[ERR_COUNT] = {
    [OK] = {"NONE", 0, false, "OK", "no error", NULL},
#define ERR(name, wire, retriable, code, text, remedy) [ERR_##name] = {#name, wire, retriable, code, text, remedy},
#include "errors.def"
#undef ERR
};

/* One line of UTF-8, whatever values of others are in it, some of them cut off within a letter. */
static void tidy(char *text)
{
    for (size_t len; *text; text += len) {
        len = slice_utf8_sequence(slice_str(text));
        if (len == 0 || *text == '\n' || *text == '\r') {
            *text = len ? ' ' : '?';
            len = 1;
        }
    }
}

static void fill(struct err *err, const char *where, enum err_code code, int os_errno, const char *fmt, va_list args)
    PRINTF_LIKE(5, 0);
static void fill(struct err *err, const char *where, enum err_code code, int os_errno, const char *fmt, va_list args)
{
    err->code = code;
    err->os_errno = os_errno;
    err->where = where;
    int len = vsnprintf(err->text, sizeof err->text, fmt, args);
    if (os_errno && len >= 0 && (size_t)len < sizeof err->text)
        snprintf(err->text + len, sizeof err->text - (size_t)len, ": %s", strerror(os_errno));
    tidy(err->text);
}

enum err_code err_set_at(struct err *err, const char *where, enum err_code code, const char *fmt, ...)
{
    if (err) {
        va_list args;
        va_start(args, fmt);
        fill(err, where, code, 0, fmt, args);
        va_end(args);
    }
    return code;
}

static enum err_code code_of_errno(int os_errno)
{
    switch (os_errno) {
    case ENOSPC:
    case EDQUOT:
        return ERR_DISK_FULL;
    case ENOENT:
        return ERR_NOT_FOUND;
    case EEXIST:
        return ERR_ALREADY_EXISTS;
    default:
        return ERR_IO;
    }
}

enum err_code err_set_errno_at(struct err *err, const char *where, int os_errno, const char *fmt, ...)
{
    enum err_code code = code_of_errno(os_errno);
    if (err) {
        va_list args;
        va_start(args, fmt);
        fill(err, where, code, os_errno, fmt, args);
        va_end(args);
    }
    return code;
}

static const struct err_row *row(enum err_code code)
{
    ASSERT((unsigned)code < ERR_COUNT);
    return &rows[code];
}

const char *err_name(enum err_code code)
{
    return row(code)->name;
}

int32_t err_wire(enum err_code code)
{
    return row(code)->wire;
}

bool err_retriable(enum err_code code)
{
    return row(code)->retriable;
}

const char *err_user_code(enum err_code code)
{
    return row(code)->user_code;
}

const char *err_text(enum err_code code)
{
    return row(code)->text;
}

const char *err_remedy(enum err_code code)
{
    return row(code)->remedy;
}

enum err_code err_from_wire(int32_t wire)
{
    for (unsigned i = 0; i < ERR_COUNT; i++)
        if (rows[i].wire == wire)
            return (enum err_code)i; /* the protocol's own rows come first */
    return ERR_UNKNOWN_SERVER_ERROR;
}
