#include "api/alter_int.h"

enum { POSITION_LAST = 0 }; /* of PbAddColumn.column_position_type; others are no more than planned in Fluss */

static enum err_code column_read(struct api_call *call, const struct wire_pb_add_column *from,
                                 struct schema_column *column, struct err *err)
{
    int shown = (int)MIN(from->column_name.len, 100);
    if (from->column_position_type != POSITION_LAST)
        return err_set(err, ERR_NOT_SUPPORTED, "the column \"%.*s\" can be added as the last one only", shown,
                       (const char *)from->column_name.ptr);
    TRY(api_config_changes_check(from->agg_function_params_count, err));
    *column = (struct schema_column){.name = from->column_name, .id = -1};
    if (from->has_comment)
        column->comment = from->comment;
    if (from->has_agg_function_type)
        column->agg_function = from->agg_function_type;
    for (size_t i = 0; i < from->agg_function_params_count; i++)
        properties_set(&call->arena, &column->agg_parameters, from->agg_function_params[i].key,
                       from->agg_function_params[i].value);
    return type_from_json(&call->arena, from->data_type_json, &column->type, err);
}

/* Everything that a text of a schema must hold, names above all; aggregation functions get their usual spelling. */
static enum err_code reread(struct api_call *call, struct schema *schema, struct err *err)
{
    struct buf json = {0};
    schema_to_json(schema, &json);
    enum err_code code = schema_from_json(&call->arena, arena_dup(&call->arena, buf_view(&json)), schema, err);
    buf_deinit(&json);
    return code;
}

enum err_code alter_add_columns(struct api_call *call, struct schema *schema, struct err *err)
{
    const struct wire_alter_table_request *req = call->request;
    for (size_t i = 0; i < req->add_columns_count; i++) {
        struct schema_column column;
        TRY(column_read(call, &req->add_columns[i], &column, err));
        TRY(schema_add_column(&call->arena, schema, &column, err));
    }
    return req->add_columns_count ? reread(call, schema, err) : OK;
}
