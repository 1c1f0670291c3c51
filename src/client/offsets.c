/* Offsets and row counts of a table's buckets. */
#include "client/client_int.h"

struct ask {
    struct client_table *table;
    enum client_offset kind;
    int64_t timestamp_ms;
    int64_t *out; /* by bucket */
    bool *answered;
};

static void offsets_request(void *arg, const struct table_share *share, struct arena *arena, void *message)
{
    (void)arena;
    struct ask *ask = arg;
    struct wire_list_offsets_request *request = message;
    request->follower_server_id = -1;
    request->offset_type = (int32_t)ask->kind;
    request->table_id = ask->table->id;
    request->bucket_id = share->buckets;
    request->bucket_id_count = share->bucket_count;
    if (ask->kind == CLIENT_TIMESTAMP)
        WIRE_SET(request, start_timestamp, ask->timestamp_ms);
}

static enum err_code note(struct ask *ask, int32_t bucket, bool has_value, int64_t value, struct err *err)
{
    if (bucket < 0 || bucket >= ask->table->bucket_count || !has_value)
        return err_set(err, ERR_CORRUPT_MESSAGE, "an answer about bucket %d without a value", bucket);
    ask->out[bucket] = value;
    ask->answered[bucket] = true;
    return OK;
}

static enum err_code all_answered(const struct ask *ask, const struct table_share *share, struct err *err)
{
    for (uint32_t i = 0; i < share->bucket_count; i++)
        if (!ask->answered[share->buckets[i]])
            return err_set(err, ERR_CORRUPT_MESSAGE, "an answer without bucket %d", share->buckets[i]);
    return OK;
}

static enum err_code offsets_response(void *arg, const struct table_share *share, const void *message, struct err *err)
{
    struct ask *ask = arg;
    const struct wire_list_offsets_response *response = message;
    for (size_t i = 0; i < response->buckets_resp_count; i++) {
        const struct wire_pb_list_offsets_resp_for_bucket *b = &response->buckets_resp[i];
        if (b->has_error_code)
            return client_entry_error(b->error_code, b->has_error_message, b->error_message, err);
        TRY(note(ask, b->bucket_id, b->has_offset, b->offset, err));
    }
    return all_answered(ask, share, err);
}

enum err_code client_offsets(struct client_table *table, enum client_offset kind, int64_t timestamp_ms,
                             int64_t *offsets, struct err *err)
{
    struct arena arena = {0};
    struct ask ask = {table, kind, timestamp_ms, offsets, NULL};
    ask.answered = ARENA_NEW_ARRAY(&arena, bool, (size_t)table->bucket_count);
    memset(ask.answered, 0, (size_t)table->bucket_count);
    struct table_fan fan = {WIRE_LIST_OFFSETS, NULL, offsets_request, offsets_response, &ask};
    enum err_code code = table_fan_out(table, &fan, &arena, err);
    arena_deinit(&arena);
    return code;
}

static void stats_request(void *arg, const struct table_share *share, struct arena *arena, void *message)
{
    struct ask *ask = arg;
    struct wire_get_table_stats_request *request = message;
    request->table_id = ask->table->id;
    request->buckets_req_count = share->bucket_count;
    request->buckets_req = ARENA_NEW_ARRAY(arena, struct wire_pb_table_stats_req_for_bucket, share->bucket_count);
    for (uint32_t i = 0; i < share->bucket_count; i++)
        request->buckets_req[i] = (struct wire_pb_table_stats_req_for_bucket){.bucket_id = share->buckets[i]};
}

static enum err_code stats_response(void *arg, const struct table_share *share, const void *message, struct err *err)
{
    struct ask *ask = arg;
    const struct wire_get_table_stats_response *response = message;
    for (size_t i = 0; i < response->buckets_resp_count; i++) {
        const struct wire_pb_table_stats_resp_for_bucket *b = &response->buckets_resp[i];
        if (b->has_error_code)
            return client_entry_error(b->error_code, b->has_error_message, b->error_message, err);
        TRY(note(ask, b->bucket_id, b->has_row_count, b->row_count, err));
    }
    return all_answered(ask, share, err);
}

enum err_code client_row_count(struct client_table *table, int64_t *rows, struct err *err)
{
    struct arena arena = {0};
    size_t count = (size_t)table->bucket_count;
    struct ask ask = {.table = table};
    ask.out = ARENA_NEW_ARRAY(&arena, int64_t, count);
    ask.answered = ARENA_NEW_ARRAY(&arena, bool, count);
    memset(ask.answered, 0, count);
    struct table_fan fan = {WIRE_GET_TABLE_STATS, NULL, stats_request, stats_response, &ask};
    enum err_code code = table_fan_out(table, &fan, &arena, err);
    if (code == OK) {
        *rows = 0;
        for (size_t i = 0; i < count; i++)
            *rows += ask.out[i];
    }
    arena_deinit(&arena);
    return code;
}
