#ifndef WEIR_AUTH_AUTH_INT_H
#define WEIR_AUTH_AUTH_INT_H

#include "auth/auth.h"
#include "base/arena.h"
#include "base/vec.h"

struct auth_user {
    struct slice name, password; /* in the arena of the users */
};

struct auth_users {
    struct arena arena;
    VEC(struct auth_user) list;
};

/* NULL: not there. */
struct auth_user *auth_user_find(const struct auth_users *users, struct slice name);
/* Both are copied. The name must not be there. position is told in errors.
 * errors: INVALID_CONFIG_EXCEPTION (one is empty or holds a NUL), LIMIT. */
MUST_CHECK enum err_code auth_user_add(struct auth_users *users, struct slice name, struct slice password,
                                       size_t position, struct err *err);

#endif
