#include "api/api_int.h"

/* weir's own fields: how far the lake is behind, and why. */
static void put_tiering(struct api_call *call, const struct table_info *table)
{
    struct wire_get_table_info_response *resp = call->response;
    struct tiering_status status;
    if (!tiering_status(call->api->config.tiering, table->table_id, &status)) {
        WIRE_SET(resp, tiering_state, SLICE("off"));
        return;
    }
    bool failing = status.failures_in_row > 0;
    WIRE_SET(resp, tiering_state, failing ? SLICE("failing") : slice_str(tiering_state_name(status.state)));
    if (failing)
        WIRE_SET(resp, tiering_error, arena_dup(&call->arena, slice_str(status.failed_text)));
    if (status.lake_row_count >= 0)
        WIRE_SET(resp, lake_row_count, status.lake_row_count);
    int64_t now = os_wall_ms(call->api->config.os);
    WIRE_SET(resp, lake_lag_ms, status.behind_since_ms ? MAX(now - status.behind_since_ms, 1) : 0);
    if (status.due_in_ms >= 0)
        WIRE_SET(resp, tiering_due_ms, status.due_in_ms);
}

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
    put_tiering(call, table);
    table_unref(table);
    return OK;
}
