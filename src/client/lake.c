/* What the server keeps of lake snapshots, and the calls of the tiering service (docs/formats/meta.md). */
#include "client/client_int.h"

/* Partitions that we have not met are asked for once; what is unknown then was dropped. */
static enum err_code meet_partitions(struct client_table *table, const struct wire_get_lake_snapshot_response *response,
                                     struct err *err)
{
    for (size_t i = 0; table->is_partitioned && i < response->bucket_snapshots_count; i++)
        if (!table_partition(table, response->bucket_snapshots[i].partition_id))
            return client_partitions_refresh(table, err);
    return OK;
}

enum err_code client_lake_snapshot(struct client_table *table, enum client_lake_which which, int64_t id,
                                   struct arena *arena, struct client_lake_snapshot *snapshot, struct err *err)
{
    struct wire_get_lake_snapshot_request request = {.table_path = {table->path.database, table->path.table}};
    struct wire_get_lake_snapshot_response response;
    if (which == CLIENT_LAKE_READABLE)
        WIRE_SET(&request, readable, true);
    if (which == CLIENT_LAKE_BY_ID)
        WIRE_SET(&request, snapshot_id, id);
    TRY(client_call(table->client, CLIENT_TABLET, WIRE_GET_LAKE_SNAPSHOT, true, &request, arena, &response, err));
    TRY(meet_partitions(table, &response, err));
    int64_t *offsets = client_unknown_offsets(table, arena);
    for (size_t i = 0; i < response.bucket_snapshots_count; i++) {
        const struct wire_pb_lake_snapshot_for_bucket *b = &response.bucket_snapshots[i];
        int32_t place;
        if (table->is_partitioned && b->has_partition_id && !table_partition(table, b->partition_id))
            continue;
        TRY(table_place(table, b->has_partition_id, b->partition_id, b->bucket_id, &place, err));
        if (b->has_log_offset)
            offsets[place] = b->log_offset;
    }
    *snapshot = (struct client_lake_snapshot){response.snapshot_id, offsets};
    return OK;
}

int64_t *client_unknown_offsets(const struct client_table *table, struct arena *arena)
{
    size_t count = client_place_count(table);
    int64_t *offsets = ARENA_NEW_ARRAY(arena, int64_t, count);
    for (size_t i = 0; i < count; i++)
        offsets[i] = -1;
    return offsets;
}

static size_t told_buckets(const struct client_table *table, const int64_t *offsets)
{
    size_t count = 0, places = client_place_count(table);
    for (size_t i = 0; offsets && i < places; i++)
        count += offsets[i] >= 0;
    return count;
}

enum err_code client_lake_prepare(struct client_table *table, const int64_t *offsets, struct arena *arena,
                                  struct slice *offsets_path, struct err *err)
{
    size_t count = told_buckets(table, offsets);
    struct wire_pb_bucket_offset *buckets = ARENA_NEW_ARRAY(arena, struct wire_pb_bucket_offset, count);
    struct wire_pb_bucket_offset *b = buckets;
    for (size_t i = 0, places = client_place_count(table); i < places; i++) {
        if (offsets[i] < 0)
            continue;
        *b = (struct wire_pb_bucket_offset){.bucket_id = client_place_bucket(table, (int32_t)i)};
        WIRE_SET(b, log_end_offset, offsets[i]);
        TABLE_SET_PARTITION(b, table, (int32_t)i);
        b++;
    }
    struct wire_pb_table_offsets entry = {
        .table_id = table->id,
        .table_path = {table->path.database, table->path.table},
        .bucket_offsets = buckets,
        .bucket_offsets_count = count,
    };
    struct wire_prepare_lake_table_snapshot_request request = {.bucket_offsets = &entry, .bucket_offsets_count = 1};
    struct wire_prepare_lake_table_snapshot_response response;
    TRY(client_call(table->client, CLIENT_COORDINATOR, WIRE_PREPARE_LAKE_TABLE_SNAPSHOT, true, &request, arena,
                    &response, err));
    if (response.prepare_lake_table_resp_count != 1)
        return err_set(err, ERR_CORRUPT_MESSAGE, "prepare of a lake snapshot: %zu answers for one table",
                       response.prepare_lake_table_resp_count);
    const struct wire_pb_prepare_lake_table_resp_for_table *answer = &response.prepare_lake_table_resp[0];
    if (answer->has_error_code)
        return client_entry_error(answer->error_code, answer->has_error_message, answer->error_message, err);
    if (!answer->has_lake_table_offsets_path)
        return err_set(err, ERR_CORRUPT_MESSAGE, "prepare of a lake snapshot: an answer without a path");
    *offsets_path = answer->lake_table_offsets_path;
    return OK;
}

static void fill_offsets(const struct client_table *table, const struct client_lake_commit *commit,
                         struct wire_pb_lake_table_offset_for_bucket *buckets)
{
    struct wire_pb_lake_table_offset_for_bucket *b = buckets;
    for (size_t i = 0, places = client_place_count(table); commit->offsets && i < places; i++) {
        if (commit->offsets[i] < 0)
            continue;
        *b = (struct wire_pb_lake_table_offset_for_bucket){.bucket_id = client_place_bucket(table, (int32_t)i)};
        TABLE_SET_PARTITION(b, table, (int32_t)i);
        WIRE_SET(b, log_end_offset, commit->offsets[i]);
        if (commit->timestamps_ms && commit->timestamps_ms[i] >= 0)
            WIRE_SET(b, max_timestamp, commit->timestamps_ms[i]);
        b++;
    }
}

enum err_code client_lake_commit(struct client_table *table, const struct client_lake_commit *commit, struct err *err)
{
    enum err_code code;
    struct arena arena = {0};
    size_t count = told_buckets(table, commit->offsets);
    struct wire_pb_lake_table_snapshot_info info = {.snapshot_id = commit->snapshot_id, .buckets_req_count = count};
    info.buckets_req = ARENA_NEW_ARRAY(&arena, struct wire_pb_lake_table_offset_for_bucket, count);
    fill_offsets(table, commit, info.buckets_req);
    WIRE_SET(&info, table_id, table->id);
    struct wire_pb_lake_table_snapshot_metadata metadata = {
        .table_id = table->id,
        .snapshot_id = commit->snapshot_id,
        .tiered_bucket_offsets_file_path = commit->offsets_path,
    };
    if (commit->readable)
        WIRE_SET(&metadata, readable_bucket_offsets_file_path, commit->offsets_path);
    if (commit->has_keep)
        WIRE_SET(&metadata, earliest_snapshot_id_to_keep, commit->keep_snapshot_id);
    struct wire_commit_lake_table_snapshot_request request = {
        .tables_req = &info,
        .tables_req_count = commit->offsets ? 1 : 0,
        .lake_table_snapshot_metadata = &metadata,
        .lake_table_snapshot_metadata_count = 1,
    };
    struct wire_commit_lake_table_snapshot_response response;
    TRY_OR_FAIL(client_call(table->client, CLIENT_COORDINATOR, WIRE_COMMIT_LAKE_TABLE_SNAPSHOT, false, &request, &arena,
                            &response, err));
    for (size_t i = 0; i < response.table_resp_count; i++)
        if (response.table_resp[i].has_error_code)
            TRY_OR_FAIL(client_entry_error(response.table_resp[i].error_code, response.table_resp[i].has_error_message,
                                           response.table_resp[i].error_message, err));
fail:
    arena_deinit(&arena);
    return code;
}
