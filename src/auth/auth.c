#include "auth/auth_int.h"

struct auth_users *auth_users_create(void)
{
    return mem_zalloc(sizeof(struct auth_users));
}

void auth_users_destroy(struct auth_users *users)
{
    if (!users)
        return;
    vec_deinit(&users->list);
    arena_deinit(&users->arena);
    mem_free(users);
}

size_t auth_users_count(const struct auth_users *users)
{
    return users->list.len;
}

struct auth_user *auth_user_find(const struct auth_users *users, struct slice name)
{
    for (size_t i = 0; i < users->list.len; i++)
        if (slice_equal(users->list.ptr[i].name, name))
            return &users->list.ptr[i];
    return NULL;
}

static enum err_code part_check(struct slice part, const char *what, size_t len_max, size_t position, struct err *err)
{
    if (part.len == 0 || memchr(part.ptr, 0, part.len))
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "byte %zu: the %s of a user is empty or holds a NUL",
                       position, what);
    if (part.len > len_max)
        return err_set(err, ERR_LIMIT, "byte %zu: the %s of a user has more than %zu bytes", position, what, len_max);
    return OK;
}

enum err_code auth_user_add(struct auth_users *users, struct slice name, struct slice password, size_t position,
                            struct err *err)
{
    ASSERT(!auth_user_find(users, name));
    TRY(part_check(name, "name", AUTH_NAME_BYTES_MAX, position, err));
    TRY(part_check(password, "password", AUTH_PASSWORD_BYTES_MAX, position, err));
    if (users->list.len == AUTH_USERS_MAX)
        return err_set(err, ERR_LIMIT, "byte %zu: more than %d users", position, AUTH_USERS_MAX);
    vec_push(&users->list, ((struct auth_user){arena_dup(&users->arena, name), arena_dup(&users->arena, password)}));
    return OK;
}

/* ---- the list ---- */

static struct slice cut(struct slice s, size_t from, size_t to)
{
    while (from < to && (s.ptr[from] == ' ' || s.ptr[from] == '\t'))
        from++;
    while (to > from && (s.ptr[to - 1] == ' ' || s.ptr[to - 1] == '\t'))
        to--;
    return slice_of(s.ptr + from, to - from);
}

static enum err_code list_item(struct auth_users *users, struct slice text, size_t from, size_t to, struct err *err)
{
    size_t colon = from;
    while (colon < to && text.ptr[colon] != ':')
        colon++;
    if (colon == to || memchr(text.ptr + colon + 1, ':', to - colon - 1))
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "byte %zu: not of the form name:password", from);
    struct slice name = cut(text, from, colon), password = cut(text, colon + 1, to);
    struct auth_user *known = auth_user_find(users, name);
    if (!known)
        return auth_user_add(users, name, password, from, err);
    TRY(part_check(password, "password", AUTH_PASSWORD_BYTES_MAX, from, err));
    known->password = arena_dup(&users->arena, password);
    return OK;
}

enum err_code auth_users_add_list(struct auth_users *users, struct slice text, struct err *err)
{
    for (size_t from = 0; from < text.len;) {
        size_t to = from;
        while (to < text.len && text.ptr[to] != ',')
            to++;
        TRY(list_item(users, text, from, to, err));
        from = to + 1;
    }
    return OK;
}

/* ---- the token ---- */

/* Takes as long whatever the bytes are. */
static bool equal_unhurried(struct slice a, struct slice b)
{
    size_t differ = a.len ^ b.len;
    for (size_t i = 0; i < a.len; i++)
        differ |= (size_t)(a.ptr[i] ^ (i < b.len ? b.ptr[i] : 0));
    return differ == 0;
}

/* Up to the next NUL, or all the rest; false where there is none and one is needed. */
static bool next_part(struct slice *rest, bool last, struct slice *part)
{
    const uint8_t *end = rest->len ? memchr(rest->ptr, 0, rest->len) : NULL;
    if (last != !end)
        return false;
    size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
    *part = slice_of(rest->ptr, len);
    *rest = slice_of(rest->ptr + len + !last, rest->len - len - !last);
    return true;
}

enum err_code auth_plain(const struct auth_users *users, struct slice token, struct slice *name, struct err *err)
{
    struct slice authzid, user, password, rest = token;
    if (token.len > AUTH_TOKEN_BYTES_MAX || !next_part(&rest, false, &authzid) || !next_part(&rest, false, &user) ||
        !next_part(&rest, true, &password) || !user.len || !password.len)
        return err_set(err, ERR_AUTHENTICATE_EXCEPTION,
                       "the token of SASL/PLAIN is not of the form [authzid] NUL username NUL password");
    const struct auth_user *known = auth_user_find(users, user);
    bool right = equal_unhurried(password, known ? known->password : SLICE(""));
    if (!known || !right)
        return err_set(err, ERR_AUTHENTICATE_EXCEPTION, "Authentication failed: Invalid username or password");
    if (authzid.len && !slice_equal(authzid, user))
        return err_set(err, ERR_AUTHENTICATE_EXCEPTION,
                       "Authentication failed: Client requested an authorization id that is different from username");
    *name = known->name;
    return OK;
}
