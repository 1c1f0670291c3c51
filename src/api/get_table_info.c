#include "api/api_int.h"

enum err_code get_table_info(struct api_call *call, struct err *err)
{
    const struct wire_get_table_info_request *req = call->request;
    struct wire_get_table_info_response *resp = call->response;
    const struct table_info *table;
    TRY(api_table_of_path(call, &req->table_path, &table, err));
    resp->table_id = table->table_id;
    resp->schema_id = table->schema_id;
    resp->table_json = api_table_json(call, table);
    resp->created_time = table->created_ms;
    resp->modified_time = table->modified_ms;
    table_unref(table);
    return OK;
}
