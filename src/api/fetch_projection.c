#include "api/fetch_log_int.h"

static enum err_code selected_read(const struct wire_pb_fetch_log_req_for_table *req,
                                   struct fetch_projection *projection, struct err *err)
{
    size_t count = req->projected_fields_count;
    if (count == 0 || count > SCHEMA_COLUMNS_MAX)
        return err_set(err, ERR_INVALID_COLUMN_PROJECTION, "a projection of %zu columns", count);
    uint32_t *selected = ARENA_NEW_ARRAY(&projection->arena, uint32_t, count);
    projection->selection.positions = selected;
    projection->selection.count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        int32_t field = req->projected_fields[i];
        if (field < 0 || (i > 0 && field <= req->projected_fields[i - 1]))
            return err_set(err, ERR_INVALID_COLUMN_PROJECTION,
                           "projected fields must be positions that increase, and %d does not", field);
        selected[i] = (uint32_t)field;
    }
    return OK;
}

const struct type *fetch_projection_row(struct fetch_projection *projection, int32_t schema_id)
{
    const struct table_info *table = projection->table;
    for (uint32_t i = 0; i < table->schema_count; i++) {
        if (table->schemas[i].schema_id != schema_id)
            continue;
        if (!projection->rows[i])
            projection->rows[i] = row_type(&projection->arena, table->schemas[i].schema);
        return projection->rows[i];
    }
    return NULL;
}

enum err_code fetch_projection_read(struct api_call *call, const struct wire_pb_fetch_log_req_for_table *req,
                                    struct fetch_projection *projection, struct err *err)
{
    *projection = (struct fetch_projection){0};
    TRY(selected_read(req, projection, err));
    if (meta_table_get_by_id(call->api->config.meta, req->table_id, &projection->table, NULL) != OK)
        return err_set(err, ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION, "there is no table with id %lld",
                       (long long)req->table_id);
    const struct table_info *table = projection->table;
    if (table->settings.log_format != LOG_FORMAT_ARROW)
        return err_set(err, ERR_INVALID_COLUMN_PROJECTION, "columns are read from logs of ARROW format only");
    projection->rows = ARENA_NEW_ARRAY(&projection->arena, const struct type *, table->schema_count);
    projection->selection.row = fetch_projection_row(projection, table->schemas[table->schema_count - 1].schema_id);
    return OK;
}

void fetch_projection_drop(struct fetch_projection *projection)
{
    table_unref(projection->table);
    projection->table = NULL;
    arena_deinit(&projection->arena);
}
