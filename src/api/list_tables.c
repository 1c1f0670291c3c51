#include "api/api_int.h"

enum err_code list_tables(struct api_call *call, struct err *err)
{
    const struct wire_list_tables_request *req = call->request;
    struct wire_list_tables_response *resp = call->response;
    struct meta_tables tables = {0};
    if (req->database_name.len == 0)
        return err_set(err, ERR_DATABASE_NOT_EXIST, "the name of the database is empty");
    TRY(meta_table_list(call->api->config.meta, req->database_name, &tables, err));
    resp->table_name = ARENA_NEW_ARRAY(&call->arena, struct slice, tables.len);
    for (size_t i = 0; i < tables.len; i++)
        if (api_may_table(call, ACL_DESCRIBE, tables.ptr[i]->database, tables.ptr[i]->name))
            resp->table_name[resp->table_name_count++] = arena_dup(&call->arena, tables.ptr[i]->name);
    meta_tables_deinit(&tables);
    return OK;
}
