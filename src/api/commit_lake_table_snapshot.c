#include "api/api_int.h"

static void progress_read(struct api_call *call, const struct wire_pb_lake_table_snapshot_info *info,
                          struct lake_commit *commit)
{
    struct lake_bucket_progress *progress =
        ARENA_NEW_ARRAY(&call->arena, struct lake_bucket_progress, info->buckets_req_count);
    for (size_t i = 0; i < info->buckets_req_count; i++) {
        const struct wire_pb_lake_table_offset_for_bucket *in = &info->buckets_req[i];
        progress[i] = (struct lake_bucket_progress){.partition_id = in->has_partition_id ? in->partition_id : -1,
                                                    .bucket = in->bucket_id,
                                                    .end_offset = in->has_log_end_offset ? in->log_end_offset : -1,
                                                    .max_timestamp = in->has_max_timestamp ? in->max_timestamp : -1};
    }
    commit->progress = progress;
    commit->progress_count = info->buckets_req_count;
}

/* What the schedule knows of the lake follows what is registered. */
static void schedule_tell(struct api_call *call, int64_t table_id)
{
    struct lake_snapshot_info snapshot;
    struct tiering_table *table = tiering_find(call->api->config.tiering, table_id);
    if (table &&
        meta_lake_snapshot(call->api->config.meta, table_id, LAKE_LATEST, 0, &call->arena, &snapshot, NULL) == OK)
        for (size_t i = 0; i < snapshot.offsets.count; i++)
            tiering_note_lake(table, snapshot.offsets.items[i].partition_id, snapshot.offsets.items[i].bucket,
                              snapshot.offsets.items[i].end_offset);
    tiering_table_unref(table);
}

/* Offsets that come without a prepared file are promised here: they may only name what is on disk. Whether there are
 * such buckets is checked where they are stored. */
static enum err_code progress_make_durable(struct api_call *call, const struct lake_commit *commit, struct err *err)
{
    for (size_t i = 0; i < commit->progress_count && !commit->tiered_path.len; i++) {
        const struct lake_bucket_progress *progress = &commit->progress[i];
        struct bucket *bucket;
        if (api_bucket_of(call, commit->table_id, progress->partition_id, progress->bucket, &bucket, NULL) != OK)
            continue;
        enum err_code code = bucket_make_durable(bucket, progress->end_offset, err);
        bucket_unref(bucket);
        TRY(code);
    }
    return OK;
}

/* What the lake does not hold would pass for tiered, and never be. */
static enum err_code lake_check(struct api_call *call, const struct lake_commit *commit, struct err *err)
{
    const struct api_config *config = &call->api->config;
    const struct table_info *table;
    if (!config->lake_check_snapshot)
        return err_set(err, ERR_LAKE_STORAGE_NOT_CONFIGURED_EXCEPTION,
                       "this server has no lake: set datalake.format in its options");
    TRY(meta_table_get_by_id(config->meta, commit->table_id, &table, err));
    enum err_code code =
        config->lake_check_snapshot(config->lake_arg, table->database, table->name, commit->snapshot_id, err);
    table_unref(table);
    return code;
}

static void commit_one(struct api_call *call, const struct lake_commit *commit,
                       struct wire_pb_commit_lake_table_snapshot_resp_for_table *answer)
{
    struct err err = {0};
    answer->table_id = commit->table_id;
    enum err_code code = api_check_table_id(call, ACL_WRITE, commit->table_id, &err);
    if (code == OK)
        code = progress_make_durable(call, commit, &err);
    if (code == OK)
        code = lake_check(call, commit, &err);
    if (code == OK)
        code = meta_lake_commit(call->api->config.meta, commit, &err);
    if (code != OK)
        API_BUCKET_ERROR(call, answer, code, &err);
    else
        schedule_tell(call, commit->table_id);
}

static const struct wire_pb_lake_table_snapshot_info *info_of(const struct wire_commit_lake_table_snapshot_request *req,
                                                              int64_t table_id, int64_t snapshot_id)
{
    for (size_t i = 0; i < req->tables_req_count; i++)
        if (req->tables_req[i].table_id == table_id && req->tables_req[i].snapshot_id == snapshot_id)
            return &req->tables_req[i];
    return NULL;
}

static void commit_by_path(struct api_call *call, const struct wire_pb_lake_table_snapshot_metadata *in,
                           struct wire_pb_commit_lake_table_snapshot_resp_for_table *answer)
{
    struct lake_commit commit = {.table_id = in->table_id,
                                 .snapshot_id = in->snapshot_id,
                                 .tiered_path = in->tiered_bucket_offsets_file_path,
                                 .readable_path = in->readable_bucket_offsets_file_path,
                                 .has_earliest = in->has_earliest_snapshot_id_to_keep,
                                 .earliest_snapshot_id = in->earliest_snapshot_id_to_keep};
    const struct wire_pb_lake_table_snapshot_info *info = info_of(call->request, in->table_id, in->snapshot_id);
    if (info)
        progress_read(call, info, &commit);
    commit_one(call, &commit, answer);
}

enum err_code commit_lake_table_snapshot(struct api_call *call, struct err *err)
{
    const struct wire_commit_lake_table_snapshot_request *req = call->request;
    struct wire_commit_lake_table_snapshot_response *resp = call->response;
    (void)err;
    /* The form with paths; without any, the older one that carries the offsets themselves. */
    bool by_path = req->lake_table_snapshot_metadata_count > 0;
    size_t count = by_path ? req->lake_table_snapshot_metadata_count : req->tables_req_count;
    resp->table_resp = ARENA_NEW_ARRAY(&call->arena, struct wire_pb_commit_lake_table_snapshot_resp_for_table, count);
    resp->table_resp_count = count;
    for (size_t i = 0; i < count; i++) {
        if (by_path) {
            commit_by_path(call, &req->lake_table_snapshot_metadata[i], &resp->table_resp[i]);
            continue;
        }
        struct lake_commit commit = {.table_id = req->tables_req[i].table_id,
                                     .snapshot_id = req->tables_req[i].snapshot_id};
        progress_read(call, &req->tables_req[i], &commit);
        commit_one(call, &commit, &resp->table_resp[i]);
    }
    return OK;
}
