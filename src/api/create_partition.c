#include "api/api_int.h"

/* ignore_if_not_exists is the wire's name of it; it means: fine where the partition is there. */
enum err_code create_partition(struct api_call *call, struct err *err)
{
    const struct wire_create_partition_request *req = call->request;
    const struct table_info *table;
    struct slice name;
    TRY(api_table_of_path(call, &req->table_path, &table, err));
    struct properties spec = api_partition_spec(call, &req->partition_spec);
    enum err_code code = table_partition_check_new(table->descriptor, &spec, &call->arena, &name, err);
    if (code == OK)
        code = api_partition_create(call->api, table, name, req->ignore_if_not_exists, err);
    table_unref(table);
    return code;
}
