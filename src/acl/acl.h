/* Access lists: which user may do what with the cluster, a database or a table.
 *
 * An entry allows one operation on one resource to one principal from one host; there is no entry that forbids. A user
 * may do something if an entry allows it on the resource itself, on what it lies in (table, database, cluster), or on
 * "*" of its type; what no entry allows is refused. ALL stands for every operation, and READ, WRITE, CREATE, DROP and
 * ALTER each let the user DESCRIBE too. Numbers and names are those of the protocol.
 *
 * thread  any may read a set while nobody changes it. */
#ifndef WEIR_ACL_ACL_H
#define WEIR_ACL_ACL_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"

enum acl_type { ACL_TYPE_ANY = 1, ACL_CLUSTER = 2, ACL_DATABASE = 3, ACL_TABLE = 4 };
enum acl_operation {
    ACL_NONE = 0, /* of requests that need no right; never in an entry */
    ACL_OPERATION_ANY = 1,
    ACL_ALL = 2,
    ACL_READ = 3,
    ACL_WRITE = 4,
    ACL_CREATE = 5,
    ACL_DROP = 6,
    ACL_ALTER = 7,
    ACL_DESCRIBE = 8
};
enum acl_permission { ACL_PERMISSION_ANY = 1, ACL_ALLOW = 2 };

#define ACL_CLUSTER_NAME "fluss-cluster"
#define ACL_ANONYMOUS "ANONYMOUS" /* the user of a connection without login */
#define ACL_NAME_BYTES_MAX 512    /* of each text of an entry */

const char *acl_type_name(enum acl_type type);                /* "database" */
const char *acl_operation_name(enum acl_operation operation); /* "READ" */

/* What somebody wants to use. Names that are not of the type are empty. */
struct acl_resource {
    enum acl_type type;
    struct slice database;
    struct slice table;
};

static inline struct acl_resource acl_cluster(void)
{
    return (struct acl_resource){.type = ACL_CLUSTER};
}

static inline struct acl_resource acl_database(struct slice name)
{
    return (struct acl_resource){.type = ACL_DATABASE, .database = name};
}

static inline struct acl_resource acl_table(struct slice database, struct slice name)
{
    return (struct acl_resource){.type = ACL_TABLE, .database = database, .table = name};
}

/* Who wants it: the name of a principal of type User, and the text of the address it came from. */
struct acl_user {
    struct slice name;
    struct slice host;
};

/* ---- entries ---- */

struct acl {
    enum acl_type type;
    struct slice resource; /* ACL_CLUSTER_NAME, "db", "db.table", or "*" for all of the type */
    struct slice principal_type;
    struct slice principal_name;
    struct slice host; /* "*" or an address */
    enum acl_operation operation;
};

/* Whether such an entry can have an effect, by the numbers as they came. errors: INVALID_ARGUMENT; LIMIT. */
MUST_CHECK enum err_code acl_check(const struct acl *acl, int permission, struct err *err);
bool acl_equal(const struct acl *a, const struct acl *b);
int acl_compare(const struct acl *a, const struct acl *b); /* by type, resource, principal, host, operation */
struct acl acl_dup(struct arena *arena, const struct acl *acl);
/* On whose access lists one must have ALL to change an entry: for a table it is the database. Borrows from acl. */
struct acl_resource acl_owner(const struct acl *acl);
/* The resource itself: what one must be able to DESCRIBE to see the entry. */
struct acl_resource acl_resource_of(const struct acl *acl);

/* Which entries are meant: texts with ptr NULL, and numbers that are ANY, stand for all. */
struct acl_filter {
    enum acl_type type;
    struct slice resource;
    struct slice principal_type;
    struct slice principal_name;
    struct slice host;
    enum acl_operation operation;
    enum acl_permission permission;
};
bool acl_matches(const struct acl_filter *filter, const struct acl *acl);

/* ---- sets ---- */

/* Entries, each once; the zero value is empty. */
struct acl_set {
    struct map lists; /* by type and resource -> struct acl_list */
    size_t count;
};

void acl_set_deinit(struct acl_set *set);
bool acl_set_has(const struct acl_set *set, const struct acl *acl);
void acl_set_add(struct acl_set *set, const struct acl *acl); /* copied; fine if it is there */
void acl_set_remove(struct acl_set *set, const struct acl *acl);
/* Those that match, in order, copied into arena. */
void acl_set_find(const struct acl_set *set, const struct acl_filter *filter, struct arena *arena, struct acl **items,
                  size_t *count);
bool acl_set_allows(const struct acl_set *set, const struct acl_user *user, bool ignore_case,
                    enum acl_operation operation, const struct acl_resource *resource);

/* ---- super users ---- */

#define ACL_SUPER_USERS_MAX 1000

/* The names of "User:alice;User:bob". */
struct acl_supers {
    struct arena arena;
    VEC(struct slice) names;
};

void acl_supers_deinit(struct acl_supers *supers); /* twice is fine */
/* errors: INVALID_CONFIG_EXCEPTION: not of that form, or another type than User; LIMIT. */
MUST_CHECK enum err_code acl_supers_parse(struct acl_supers *supers, struct slice text, struct err *err);
bool acl_supers_have(const struct acl_supers *supers, struct slice name, bool ignore_case);

#endif
