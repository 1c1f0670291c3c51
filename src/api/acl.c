/* What the requests about access lists share. */
#include "api/api_int.h"

enum err_code api_acls_on(const struct api_call *call, struct err *err)
{
    if (call->api->config.access.enabled)
        return OK;
    return err_set(err, ERR_SECURITY_DISABLED_EXCEPTION,
                   "access lists are off: set authorizer.enabled=true in the server's options");
}

struct acl api_acl_of(const struct wire_pb_acl_info *in)
{
    return (struct acl){
        .type = (enum acl_type)in->resource_type,
        .resource = in->resource_name,
        .principal_type = in->principal_type,
        .principal_name = in->principal_name,
        .host = in->host,
        .operation = (enum acl_operation)in->operation_type,
    };
}

struct wire_pb_acl_info api_acl_to(const struct acl *acl)
{
    return (struct wire_pb_acl_info){
        .resource_name = acl->resource,
        .resource_type = acl->type,
        .principal_name = acl->principal_name,
        .principal_type = acl->principal_type,
        .host = acl->host,
        .operation_type = acl->operation,
        .permission_type = ACL_ALLOW,
    };
}

static struct slice text_or_any(bool has, struct slice text)
{
    return !has ? (struct slice){0} : text.ptr ? text : SLICE("");
}

enum err_code api_acl_filter_of(const struct wire_pb_acl_filter *in, struct acl_filter *filter, struct err *err)
{
    if (in->resource_type < ACL_TYPE_ANY || in->resource_type > ACL_TABLE || in->operation_type < ACL_OPERATION_ANY ||
        in->operation_type > ACL_DESCRIBE || in->permission_type < ACL_PERMISSION_ANY ||
        in->permission_type > ACL_ALLOW)
        return err_set(err, ERR_INVALID_ARGUMENT,
                       "a filter of access lists has the resource type %d, operation %d, permission %d",
                       in->resource_type, in->operation_type, in->permission_type);
    *filter = (struct acl_filter){
        .type = (enum acl_type)in->resource_type,
        .resource = text_or_any(in->has_resource_name, in->resource_name),
        .principal_type = text_or_any(in->has_principal_type, in->principal_type),
        .principal_name = text_or_any(in->has_principal_name, in->principal_name),
        .host = text_or_any(in->has_host, in->host),
        .operation = (enum acl_operation)in->operation_type,
        .permission = (enum acl_permission)in->permission_type,
    };
    return OK;
}

enum err_code api_acl_may_change(const struct api_call *call, const struct acl *acl, struct err *err)
{
    struct acl_resource owner = acl_owner(acl);
    return api_check(call, ACL_ALL, &owner, err);
}

void api_acl_trace(const struct api_call *call, const char *what, const struct acl *acl)
{
    trace_info(call->api->config.trace, "api", "acl", trace_str("what", what), trace_slice("by", call->user),
               trace_slice("principal_type", acl->principal_type), trace_slice("principal", acl->principal_name),
               trace_slice("host", acl->host), trace_str("operation", acl_operation_name(acl->operation)),
               trace_str("type", acl_type_name(acl->type)), trace_slice("resource", acl->resource));
}
