#include "api/api_int.h"

/* The offsets become a file, and the file a promise: they may only name what is on disk, also where acknowledged rows
 * need not be (weir.log.flush=async). */
static enum err_code offsets_make_durable(struct api_call *call, int64_t table_id, const struct lake_offsets *offsets,
                                          struct err *err)
{
    for (size_t i = 0; i < offsets->count; i++) {
        const struct lake_offset *offset = &offsets->items[i];
        struct bucket *bucket;
        enum err_code code = api_bucket_of(call, table_id, offset->partition_id, offset->bucket, &bucket, err);
        /* A partition that was dropped during the round is no reason to do the round again: nothing of it is left to
         * be lost. */
        if (code != OK && offset->partition_id >= 0)
            continue;
        TRY(code);
        code = bucket_make_durable(bucket, offsets->items[i].end_offset, err);
        bucket_unref(bucket);
        TRY(code);
    }
    return OK;
}

static void offsets_read(struct api_call *call, const struct wire_pb_table_offsets *req, struct lake_offsets *offsets)
{
    offsets->items = ARENA_NEW_ARRAY(&call->arena, struct lake_offset, req->bucket_offsets_count);
    offsets->count = 0;
    for (size_t i = 0; i < req->bucket_offsets_count; i++) {
        const struct wire_pb_bucket_offset *in = &req->bucket_offsets[i];
        if (in->has_log_end_offset)
            offsets->items[offsets->count++] =
                (struct lake_offset){in->has_partition_id ? in->partition_id : -1, in->bucket_id, in->log_end_offset};
    }
}

static enum err_code lake_check(struct api_call *call, int64_t table_id, struct err *err)
{
    const struct table_info *table;
    TRY(meta_table_get_by_id(call->api->config.meta, table_id, &table, err));
    enum err_code code = OK;
    if (!table->settings.lake_enabled)
        code = err_set(err, ERR_INVALID_TABLE_EXCEPTION,
                       "table %.*s.%.*s is not for the lake: "
                       "table.datalake.enabled is not true",
                       SLICE_ARGS(table->database), SLICE_ARGS(table->name));
    table_unref(table);
    return code;
}

static enum err_code prepare(struct api_call *call, const struct wire_pb_table_offsets *req, struct slice *path,
                             struct err *err)
{
    const struct wire_prepare_lake_table_snapshot_request *all = call->request;
    struct lake_offsets offsets;
    TRY(api_check_table_id(call, ACL_WRITE, req->table_id, err));
    TRY(lake_check(call, req->table_id, err));
    offsets_read(call, req, &offsets);
    TRY(offsets_make_durable(call, req->table_id, &offsets, err));
    return meta_lake_prepare(call->api->config.meta, req->table_id, req->table_path.database_name,
                             req->table_path.table_name, &offsets, all->ignore_previous_table_offsets, &call->arena,
                             path, err);
}

enum err_code prepare_lake_table_snapshot(struct api_call *call, struct err *err)
{
    const struct wire_prepare_lake_table_snapshot_request *req = call->request;
    struct wire_prepare_lake_table_snapshot_response *resp = call->response;
    size_t count = req->bucket_offsets_count;
    (void)err;
    resp->prepare_lake_table_resp =
        ARENA_NEW_ARRAY(&call->arena, struct wire_pb_prepare_lake_table_resp_for_table, count);
    resp->prepare_lake_table_resp_count = count;
    for (size_t i = 0; i < count; i++) {
        struct wire_pb_prepare_lake_table_resp_for_table *answer = &resp->prepare_lake_table_resp[i];
        struct err part_err = {0};
        struct slice path;
        WIRE_SET(answer, table_id, req->bucket_offsets[i].table_id);
        enum err_code code = prepare(call, &req->bucket_offsets[i], &path, &part_err);
        if (code != OK)
            API_BUCKET_ERROR(call, answer, code, &part_err);
        else
            WIRE_SET(answer, lake_table_offsets_path, path);
    }
    return OK;
}
