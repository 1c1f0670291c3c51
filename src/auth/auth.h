/* Who may come in: users with passwords, and SASL/PLAIN.
 *
 * Users come from the text of a JAAS configuration, as Apache Fluss takes it, or from a plain list. No error text here
 * holds a password, or any other part of the texts: it tells the position instead.
 *
 * thread  any may read once nobody adds any more. */
#ifndef WEIR_AUTH_AUTH_H
#define WEIR_AUTH_AUTH_H

#include "base/err.h"
#include "base/slice.h"

#define AUTH_USERS_MAX 1000
#define AUTH_NAME_BYTES_MAX 255
#define AUTH_PASSWORD_BYTES_MAX 1024
#define AUTH_TOKEN_BYTES_MAX (2 * AUTH_NAME_BYTES_MAX + AUTH_PASSWORD_BYTES_MAX + 2)

struct auth_users;

struct auth_users *auth_users_create(void);
void auth_users_destroy(struct auth_users *users); /* NULL is fine */
size_t auth_users_count(const struct auth_users *users);

/* Adds the users of one login module:
 *
 *   org.apache.fluss.security.auth.sasl.plain.PlainLoginModule required user_alice="secret" user_bob="other";
 *
 * Any package in front of PlainLoginModule will do, and any of JAAS's four flags. Values are words or stand in double
 * or single quotes, where \n, \r, \t and a backslash before any other character but a digit are known. Comments are
 * those of Java. The options username and password, with which a server of a cluster would log in at another, are read
 * over. errors   INVALID_CONFIG_EXCEPTION: not of this form, another module or option, an empty name or password, a
 * name that is there already; LIMIT: a MAX above. Some users may have been added. */
MUST_CHECK enum err_code auth_users_add_jaas(struct auth_users *users, struct slice text, struct err *err);
/* Adds "alice:secret,bob:other"; a user that is there gets the new password. Neither part may hold a comma or a colon.
 * errors   INVALID_CONFIG_EXCEPTION, LIMIT. */
MUST_CHECK enum err_code auth_users_add_list(struct auth_users *users, struct slice text, struct err *err);

/* The token of SASL/PLAIN (RFC 4616): [authzid] NUL name NUL password. *name borrows from users.
 * errors   AUTHENTICATE_EXCEPTION: not of this form, an unknown user, a wrong password (the two are told apart by
 * nothing), an authzid that is not the name. */
MUST_CHECK enum err_code auth_plain(const struct auth_users *users, struct slice token, struct slice *name,
                                    struct err *err);

#endif
