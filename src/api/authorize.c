/* Who may do what. With authorizer.enabled every request but the few of ANYBODY needs the right that served.def names:
 * what can be told from one field is checked here, before the handler; handlers of OWN ask for each part of theirs.
 *
 * weir's own tiering service comes in over a socket pair and is never asked; nobody on the network is spared. */
#include "api/api_int.h"

/* The address of "host:port" or "[host]:port" as entries have it: without brackets, IPv4 in its own form. */
static struct slice host_of(const struct net_conn *conn)
{
    struct slice peer = slice_str(net_conn_peer(conn));
    const uint8_t *colon = peer.len ? memrchr(peer.ptr, ':', peer.len) : NULL;
    struct slice host = slice_of(peer.ptr, colon ? (size_t)(colon - peer.ptr) : peer.len);
    if (host.len >= 2 && host.ptr[0] == '[')
        host = slice_of(host.ptr + 1, host.len - 2);
    const struct slice mapped = SLICE("::ffff:");
    return slice_starts_with(host, mapped) ? slice_of(host.ptr + mapped.len, host.len - mapped.len) : host;
}

bool api_may(const struct api_call *call, enum acl_operation operation, const struct acl_resource *resource)
{
    const struct api_access *access = &call->api->config.access;
    if (!access->enabled || call->listener->internal ||
        acl_supers_have(access->supers, call->user, access->ignore_case))
        return true;
    struct acl_user user = {call->user, host_of(call->conn)};
    return meta_acl_allows(call->api->config.meta, &user, access->ignore_case, operation, resource);
}

bool api_may_database(const struct api_call *call, enum acl_operation operation, struct slice database)
{
    struct acl_resource resource = acl_database(database);
    return api_may(call, operation, &resource);
}

bool api_may_table(const struct api_call *call, enum acl_operation operation, struct slice database, struct slice name)
{
    struct acl_resource resource = acl_table(database, name);
    return api_may(call, operation, &resource);
}

static enum err_code refuse(const struct api_call *call, enum acl_operation operation,
                            const struct acl_resource *resource, struct err *err)
{
    const char *type = acl_type_name(resource->type), *word = acl_operation_name(operation);
    const char *dot = resource->table.len ? "." : "", *space = resource->database.len ? " " : "";
    int user = (int)MIN(call->user.len, 60), database = (int)MIN(resource->database.len, 60);
    trace_warn_limited(call->api->config.trace, "api", "denied", trace_slice("user", call->user),
                       trace_str("peer", net_conn_peer(call->conn)), trace_str("request", call->wire->name),
                       trace_str("operation", word), trace_str("type", type),
                       trace_slice("database", resource->database), trace_slice("table", resource->table));
    return err_set(err, ERR_AUTHORIZATION_EXCEPTION, "User:%.*s may not %s: %s%s%.*s%s%.*s", user,
                   (const char *)call->user.ptr, word, type, space, database, (const char *)resource->database.ptr, dot,
                   (int)MIN(resource->table.len, 60), (const char *)resource->table.ptr);
}

enum err_code api_check(const struct api_call *call, enum acl_operation operation, const struct acl_resource *resource,
                        struct err *err)
{
    return api_may(call, operation, resource) ? OK : refuse(call, operation, resource, err);
}

enum err_code api_check_table(const struct api_call *call, enum acl_operation operation,
                              const struct wire_pb_table_path *path, struct err *err)
{
    struct acl_resource resource = acl_table(path->database_name, path->table_name);
    return api_check(call, operation, &resource, err);
}

/* A table that is not there is told here: behind the check one could be made that this user may not use. */
enum err_code api_check_table_id(const struct api_call *call, enum acl_operation operation, int64_t table_id,
                                 struct err *err)
{
    const struct table_info *table;
    if (!call->api->config.access.enabled || call->listener->internal)
        return OK;
    if (meta_table_get_by_id(call->api->config.meta, table_id, &table, NULL) != OK)
        return err_set(err, ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION, "there is no table with id %lld",
                       (long long)table_id);
    struct acl_resource resource = acl_table(table->database, table->name);
    enum err_code code = api_check(call, operation, &resource, err);
    table_unref(table);
    return code;
}

enum err_code api_authorize(const struct api_call *call, struct err *err)
{
    const struct api_right *right = &call->served->right;
    const void *field = (const uint8_t *)call->request + right->offset;
    struct acl_resource resource = acl_cluster();
    switch (right->on) {
    case API_ON_ANYBODY:
    case API_ON_OWN:
        return OK;
    case API_ON_CLUSTER:
        break;
    case API_ON_DATABASE:
        resource = acl_database(*(const struct slice *)field);
        break;
    case API_ON_TABLES_DATABASE:
        resource = acl_database(((const struct wire_pb_table_path *)field)->database_name);
        break;
    case API_ON_TABLE:
        return api_check_table(call, right->operation, field, err);
    case API_ON_TABLE_ID:
        return api_check_table_id(call, right->operation, *(const int64_t *)field, err);
    }
    return api_check(call, right->operation, &resource, err);
}
