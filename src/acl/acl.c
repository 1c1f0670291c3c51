/* Entries and filters. */
#include "acl/acl.h"

const char *acl_type_name(enum acl_type type)
{
    static const char *const names[] = {"?", "any", "cluster", "database", "table"};
    return (size_t)type < ARRAY_LEN(names) ? names[type] : "?";
}

const char *acl_operation_name(enum acl_operation operation)
{
    static const char *const names[] = {"NONE", "ANY", "ALL", "READ", "WRITE", "CREATE", "DROP", "ALTER", "DESCRIBE"};
    return (size_t)operation < ARRAY_LEN(names) ? names[operation] : "?";
}

static bool is_all(struct slice text)
{
    return slice_is(text, "*");
}

/* Where the database's name ends in "db.table"; the whole length where there is no dot. */
static size_t dot_of(struct slice resource)
{
    const uint8_t *dot = resource.len ? memchr(resource.ptr, '.', resource.len) : NULL;
    return dot ? (size_t)(dot - resource.ptr) : resource.len;
}

static bool resource_is_possible(const struct acl *acl)
{
    size_t dot = dot_of(acl->resource);
    if (is_all(acl->resource))
        return true;
    switch (acl->type) {
    case ACL_CLUSTER:
        return slice_is(acl->resource, ACL_CLUSTER_NAME);
    case ACL_DATABASE:
        return acl->resource.len > 0 && dot == acl->resource.len;
    case ACL_TABLE:
        return dot > 0 && dot + 1 < acl->resource.len;
    default:
        return false;
    }
}

static enum err_code texts_check(const struct acl *acl, struct err *err)
{
    const struct slice texts[] = {acl->resource, acl->principal_type, acl->principal_name, acl->host};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (texts[i].len > ACL_NAME_BYTES_MAX)
            return err_set(err, ERR_LIMIT, "a text of an access list entry has more than %d bytes", ACL_NAME_BYTES_MAX);
        if (texts[i].len == 0 || memchr(texts[i].ptr, 0, texts[i].len) || !slice_is_utf8(texts[i]))
            return err_set(err, ERR_INVALID_ARGUMENT, "a text of an access list entry is empty or no text");
    }
    return OK;
}

enum err_code acl_check(const struct acl *acl, int permission, struct err *err)
{
    TRY(texts_check(acl, err));
    if (permission != ACL_ALLOW)
        return err_set(err, ERR_INVALID_ARGUMENT, "an access list entry allows (%d); there is no permission %d",
                       ACL_ALLOW, permission);
    if ((int)acl->operation < ACL_ALL || (int)acl->operation > ACL_DESCRIBE)
        return err_set(err, ERR_INVALID_ARGUMENT, "an access list entry allows an operation, which %d is not",
                       (int)acl->operation);
    if (!resource_is_possible(acl))
        return err_set(err, ERR_INVALID_ARGUMENT,
                       "%.*s is no resource of type %s (%d): cluster " ACL_CLUSTER_NAME ", database DB, table DB.TABLE,"
                       " or * for all",
                       (int)MIN(acl->resource.len, 60), (const char *)acl->resource.ptr, acl_type_name(acl->type),
                       (int)acl->type);
    bool everybody = is_all(acl->principal_type) && is_all(acl->principal_name);
    if (!everybody && (!slice_is(acl->principal_type, "User") || is_all(acl->principal_name)))
        return err_set(err, ERR_INVALID_ARGUMENT, "%.*s:%.*s is nobody here: principals are User:NAME, and *:* for all",
                       (int)MIN(acl->principal_type.len, 40), (const char *)acl->principal_type.ptr,
                       (int)MIN(acl->principal_name.len, 40), (const char *)acl->principal_name.ptr);
    return OK;
}

int acl_compare(const struct acl *a, const struct acl *b)
{
    int order = (int)a->type - (int)b->type;
    order = order ? order : slice_compare(a->resource, b->resource);
    order = order ? order : slice_compare(a->principal_type, b->principal_type);
    order = order ? order : slice_compare(a->principal_name, b->principal_name);
    order = order ? order : slice_compare(a->host, b->host);
    return order ? order : (int)a->operation - (int)b->operation;
}

bool acl_equal(const struct acl *a, const struct acl *b)
{
    return acl_compare(a, b) == 0;
}

struct acl acl_dup(struct arena *arena, const struct acl *acl)
{
    return (struct acl){
        .type = acl->type,
        .resource = arena_dup(arena, acl->resource),
        .principal_type = arena_dup(arena, acl->principal_type),
        .principal_name = arena_dup(arena, acl->principal_name),
        .host = arena_dup(arena, acl->host),
        .operation = acl->operation,
    };
}

struct acl_resource acl_resource_of(const struct acl *acl)
{
    size_t dot = dot_of(acl->resource);
    struct slice database = slice_of(acl->resource.ptr, dot);
    switch (acl->type) {
    case ACL_TABLE:
        return is_all(acl->resource)
                   ? acl_table(acl->resource, acl->resource)
                   : acl_table(database, slice_of(acl->resource.ptr + dot + 1, acl->resource.len - dot - 1));
    case ACL_DATABASE:
        return acl_database(acl->resource);
    default:
        return acl_cluster();
    }
}

struct acl_resource acl_owner(const struct acl *acl)
{
    struct acl_resource resource = acl_resource_of(acl);
    return resource.type == ACL_TABLE ? acl_database(resource.database) : resource;
}

static bool text_matches(struct slice wanted, struct slice text)
{
    return !wanted.ptr || slice_equal(wanted, text);
}

bool acl_matches(const struct acl_filter *filter, const struct acl *acl)
{
    /* A filter for any type goes past names too, as in Apache Fluss. */
    bool any_type = filter->type == ACL_TYPE_ANY;
    return (any_type || (filter->type == acl->type && text_matches(filter->resource, acl->resource))) &&
           text_matches(filter->principal_type, acl->principal_type) &&
           text_matches(filter->principal_name, acl->principal_name) && text_matches(filter->host, acl->host) &&
           (filter->operation == ACL_OPERATION_ANY || filter->operation == acl->operation) &&
           (filter->permission == ACL_PERMISSION_ANY || filter->permission == ACL_ALLOW);
}
