/* Offsets and row counts of a table's buckets. */
#include "client/client_int.h"

struct ask {
    struct client_table *table;
    enum client_offset kind;
    int64_t timestamp_ms;
    int64_t *out; /* by place */
    bool *answered;
};

/* Those of partitions that go meanwhile stay -1. */
static void ask_init(struct ask *ask, struct arena *arena)
{
    size_t count = client_place_count(ask->table);
    ask->answered = arena_zalloc(arena, count + 1);
    for (size_t i = 0; i < count; i++)
        ask->out[i] = -1;
}

/* Bucket numbers of a share's places. */
static int32_t *share_buckets(const struct ask *ask, const struct table_share *share, struct arena *arena)
{
    int32_t *buckets = ARENA_NEW_ARRAY(arena, int32_t, share->place_count);
    for (uint32_t i = 0; i < share->place_count; i++)
        buckets[i] = client_place_bucket(ask->table, share->places[i]);
    return buckets;
}

static void offsets_request(void *arg, const struct table_share *share, struct arena *arena, void *message)
{
    struct ask *ask = arg;
    struct wire_list_offsets_request *request = message;
    request->follower_server_id = -1;
    request->offset_type = (int32_t)ask->kind;
    request->table_id = ask->table->id;
    TABLE_SET_PARTITION(request, ask->table, share->places[0]);
    request->bucket_id = share_buckets(ask, share, arena);
    request->bucket_id_count = share->place_count;
    if (ask->kind == CLIENT_TIMESTAMP)
        WIRE_SET(request, start_timestamp, ask->timestamp_ms);
}

static enum err_code note(struct ask *ask, bool has_partition, int64_t partition_id, int32_t bucket, bool has_value,
                          int64_t value, struct err *err)
{
    int32_t place;
    TRY(table_place(ask->table, has_partition, partition_id, bucket, &place, err));
    if (!has_value)
        return err_set(err, ERR_CORRUPT_MESSAGE, "an answer about bucket %d without a value", bucket);
    ask->out[place] = value;
    ask->answered[place] = true;
    return OK;
}

static enum err_code all_answered(const struct ask *ask, const struct table_share *share, struct err *err)
{
    for (uint32_t i = 0; i < share->place_count; i++)
        if (!ask->answered[share->places[i]])
            return err_set(err, ERR_CORRUPT_MESSAGE, "an answer without bucket %d",
                           client_place_bucket(ask->table, share->places[i]));
    return OK;
}

static enum err_code offsets_response(void *arg, const struct table_share *share, const void *message, struct err *err)
{
    struct ask *ask = arg;
    const struct wire_list_offsets_response *response = message;
    const struct client_partition *partition = client_place_partition(ask->table, share->places[0]);
    for (size_t i = 0; i < response->buckets_resp_count; i++) {
        const struct wire_pb_list_offsets_resp_for_bucket *b = &response->buckets_resp[i];
        if (b->has_error_code)
            return client_entry_error(b->error_code, b->has_error_message, b->error_message, err);
        /* The partition is the request's; answers do not name it. */
        TRY(note(ask, partition != NULL, partition ? partition->id : -1, b->bucket_id, b->has_offset, b->offset, err));
    }
    return all_answered(ask, share, err);
}

enum err_code client_offsets_of(struct client_table *table, enum client_offset kind, int64_t timestamp_ms,
                                const bool *wanted, int64_t *offsets, struct err *err)
{
    struct arena arena = {0};
    struct ask ask = {table, kind, timestamp_ms, offsets, NULL};
    ask_init(&ask, &arena);
    struct table_fan fan = {.key = WIRE_LIST_OFFSETS,
                            .wanted = wanted,
                            .by_partition = true,
                            .request = offsets_request,
                            .response = offsets_response,
                            .arg = &ask};
    enum err_code code = table_fan_out(table, &fan, &arena, err);
    arena_deinit(&arena);
    return code;
}

enum err_code client_offsets(struct client_table *table, enum client_offset kind, int64_t timestamp_ms,
                             int64_t *offsets, struct err *err)
{
    return client_offsets_of(table, kind, timestamp_ms, NULL, offsets, err);
}

static void stats_request(void *arg, const struct table_share *share, struct arena *arena, void *message)
{
    struct ask *ask = arg;
    struct wire_get_table_stats_request *request = message;
    request->table_id = ask->table->id;
    request->buckets_req_count = share->place_count;
    request->buckets_req = ARENA_NEW_ARRAY(arena, struct wire_pb_table_stats_req_for_bucket, share->place_count);
    for (uint32_t i = 0; i < share->place_count; i++) {
        request->buckets_req[i] =
            (struct wire_pb_table_stats_req_for_bucket){.bucket_id = client_place_bucket(ask->table, share->places[i])};
        TABLE_SET_PARTITION(&request->buckets_req[i], ask->table, share->places[i]);
    }
}

static enum err_code stats_response(void *arg, const struct table_share *share, const void *message, struct err *err)
{
    struct ask *ask = arg;
    const struct wire_get_table_stats_response *response = message;
    for (size_t i = 0; i < response->buckets_resp_count; i++) {
        const struct wire_pb_table_stats_resp_for_bucket *b = &response->buckets_resp[i];
        if (b->has_error_code)
            return client_entry_error(b->error_code, b->has_error_message, b->error_message, err);
        TRY(note(ask, b->has_partition_id, b->partition_id, b->bucket_id, b->has_row_count, b->row_count, err));
    }
    return all_answered(ask, share, err);
}

enum err_code client_row_count(struct client_table *table, int64_t *rows, struct err *err)
{
    struct arena arena = {0};
    size_t count = client_place_count(table);
    struct ask ask = {.table = table, .out = ARENA_NEW_ARRAY(&arena, int64_t, count)};
    ask_init(&ask, &arena);
    struct table_fan fan = {
        .key = WIRE_GET_TABLE_STATS, .request = stats_request, .response = stats_response, .arg = &ask};
    enum err_code code = table_fan_out(table, &fan, &arena, err);
    if (code == OK) {
        *rows = 0;
        for (size_t i = 0; i < count; i++)
            *rows += MAX(ask.out[i], 0);
    }
    arena_deinit(&arena);
    return code;
}
