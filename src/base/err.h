/* Errors: a code to branch on, a text to read, filled in where it failed.
 *
 * Whatever can fail is `MUST_CHECK enum err_code f(..., struct err *err)` with results through out-parameters that stay
 * untouched on failure. err may be NULL when only the code matters. Codes come from proto/errors.def. */
#ifndef WEIR_BASE_ERR_H
#define WEIR_BASE_ERR_H

#include "base/slice.h"

enum err_code {
    OK = 0,
#define ERR(name, wire, retriable, code, text, remedy) ERR_##name,
#include "errors.def"
#undef ERR
    ERR_COUNT
};

struct err {
    enum err_code code;
    int os_errno;      /* 0 unless the kernel said it */
    const char *where; /* "file:line" of the first failure */
    char text[240];    /* what was tried, with the values; one line of UTF-8 */
};

/* Fills *err, unless it is NULL, and gives the code. */
enum err_code err_set_at(struct err *err, const char *where, enum err_code code, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* The same for a refusal of the kernel: ENOSPC and EDQUOT become ERR_DISK_FULL, ENOENT ERR_NOT_FOUND, EEXIST
 * ERR_ALREADY_EXISTS, everything else ERR_IO; the system's text is appended. */
enum err_code err_set_errno_at(struct err *err, const char *where, int os_errno, const char *fmt, ...)
    PRINTF_LIKE(4, 5);

#define ERR_STRINGIFY_(x) #x
#define ERR_STRINGIFY(x) ERR_STRINGIFY_(x)
#define ERR_WHERE __FILE__ ":" ERR_STRINGIFY(__LINE__)
#define err_set(err, code, ...) err_set_at((err), ERR_WHERE, (code), __VA_ARGS__)
#define err_set_errno(err, os_errno, ...) err_set_errno_at((err), ERR_WHERE, (os_errno), __VA_ARGS__)

/* Returns the code of a failed call to the caller. */
#define TRY(call)                         \
    do {                                  \
        enum err_code try_code_ = (call); \
        if (try_code_ != OK)              \
            return try_code_;             \
    } while (0)
/* Keeps the code of a failed call in `code` and goes to the one way out, `fail:`. */
#define TRY_OR_FAIL(call) \
    do {                  \
        code = (call);    \
        if (code != OK)   \
            goto fail;    \
    } while (0)

const char *err_name(enum err_code code);      /* "TABLE_NOT_EXIST" */
int32_t err_wire(enum err_code code);          /* the protocol's number; 0 for OK */
bool err_retriable(enum err_code code);        /* a client may try the same call again */
const char *err_user_code(enum err_code code); /* "E-DISK": stable, for people and scripts */
const char *err_text(enum err_code code);      /* what it means, without values */
const char *err_remedy(enum err_code code);    /* what helps, or NULL */
/* The protocol's number as a code; an unknown one gives ERR_UNKNOWN_SERVER_ERROR, 0 gives OK. */
enum err_code err_from_wire(int32_t wire);

#endif
