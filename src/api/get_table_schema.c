#include "api/api_int.h"

enum err_code get_table_schema(struct api_call *call, struct err *err)
{
    const struct wire_get_table_schema_request *req = call->request;
    struct wire_get_table_schema_response *resp = call->response;
    const struct table_info *table;
    TRY(api_table_of_path(call, &req->table_path, &table, err));
    int32_t schema_id = req->has_schema_id ? req->schema_id : table->schema_id;
    const struct schema_version *version = table_schema(table, schema_id);
    enum err_code code = OK;
    if (version) {
        resp->schema_id = schema_id;
        resp->schema_json = arena_dup(&call->arena, version->json);
    } else {
        code = err_set(err, ERR_SCHEMA_NOT_EXIST, "table %.*s.%.*s has no schema %d", SLICE_ARGS(table->database),
                       SLICE_ARGS(table->name), schema_id);
    }
    table_unref(table);
    return code;
}
