/* Rows by primary key, many at once. */
#include "client/client_int.h"

/* The keys of one bucket and which of the caller's they are. */
struct group {
    struct slice *keys;
    size_t *places;
    size_t count;
};

struct lookup {
    struct client_table *table;
    struct group *groups; /* by bucket */
    struct arena *arena;  /* the caller's */
    struct datum **rows;
};

static void lookup_request(void *arg, const struct table_share *share, struct arena *arena, void *message)
{
    struct lookup *lookup = arg;
    struct wire_lookup_request *request = message;
    request->table_id = lookup->table->id;
    request->buckets_req_count = share->bucket_count;
    request->buckets_req = ARENA_NEW_ARRAY(arena, struct wire_pb_lookup_req_for_bucket, share->bucket_count);
    for (uint32_t i = 0; i < share->bucket_count; i++) {
        struct group *group = &lookup->groups[share->buckets[i]];
        request->buckets_req[i] = (struct wire_pb_lookup_req_for_bucket){
            .bucket_id = share->buckets[i],
            .keys = group->keys,
            .keys_count = group->count,
        };
    }
}

static enum err_code take_values(struct lookup *lookup, const struct group *group,
                                 const struct wire_pb_lookup_resp_for_bucket *b, struct err *err)
{
    if (b->values_count != group->count)
        return err_set(err, ERR_CORRUPT_MESSAGE, "bucket %d: %zu keys asked for, %zu answered", b->bucket_id,
                       group->count, b->values_count);
    for (size_t i = 0; i < group->count; i++) {
        struct datum *row = NULL;
        if (b->values[i].has_values) {
            row = ARENA_NEW_ARRAY(lookup->arena, struct datum, lookup->table->schema.schema.column_count);
            TRY(table_value_decode(lookup->table, b->values[i].values, lookup->arena, row, err));
        }
        lookup->rows[group->places[i]] = row;
    }
    return OK;
}

static enum err_code lookup_response(void *arg, const struct table_share *share, const void *message, struct err *err)
{
    struct lookup *lookup = arg;
    const struct wire_lookup_response *response = message;
    size_t answered = 0;
    for (size_t i = 0; i < response->buckets_resp_count; i++) {
        const struct wire_pb_lookup_resp_for_bucket *b = &response->buckets_resp[i];
        if (b->has_error_code)
            return client_entry_error(b->error_code, b->has_error_message, b->error_message, err);
        if (b->bucket_id < 0 || b->bucket_id >= lookup->table->bucket_count)
            return err_set(err, ERR_CORRUPT_MESSAGE, "an answer about bucket %d", b->bucket_id);
        TRY(take_values(lookup, &lookup->groups[b->bucket_id], b, err));
        answered++;
    }
    if (answered != share->bucket_count)
        return err_set(err, ERR_CORRUPT_MESSAGE, "%u buckets asked for, %zu answered", share->bucket_count, answered);
    return OK;
}

static enum err_code group_keys(struct lookup *lookup, const struct datum *const *keys, size_t count, bool *wanted,
                                struct arena *arena, struct err *err)
{
    const struct table_keys *how = &lookup->table->keys;
    int32_t *buckets = ARENA_NEW_ARRAY(arena, int32_t, count);
    for (size_t i = 0; i < count; i++) {
        TRY(client_table_bucket(lookup->table, keys[i], &buckets[i], err));
        lookup->groups[buckets[i]].count++;
        wanted[buckets[i]] = true;
    }
    for (int32_t b = 0; b < lookup->table->bucket_count; b++) {
        struct group *group = &lookup->groups[b];
        group->keys = ARENA_NEW_ARRAY(arena, struct slice, group->count);
        group->places = ARENA_NEW_ARRAY(arena, size_t, group->count);
        group->count = 0;
    }
    struct buf key = {0};
    enum err_code code = OK;
    for (size_t i = 0; i < count && code == OK; i++) {
        struct group *group = &lookup->groups[buckets[i]];
        buf_reset(&key);
        code = key_encode(how->primary_encoder, how->primary_type, keys[i], how->primary, &key, err);
        group->keys[group->count] = arena_dup(arena, buf_view(&key));
        group->places[group->count++] = i;
    }
    buf_deinit(&key);
    return code;
}

enum err_code client_lookup(struct client_table *table, const struct datum *const *keys, size_t count,
                            struct arena *arena, struct datum **rows, struct err *err)
{
    enum err_code code;
    struct arena scratch = {0};
    struct lookup lookup = {table, NULL, arena, rows};
    if (!table->has_primary_key)
        return err_set(err, ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION, "%.*s.%.*s has no primary key to look up by",
                       SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table));
    lookup.groups = arena_zalloc(&scratch, (size_t)table->bucket_count * sizeof *lookup.groups);
    bool *wanted = arena_zalloc(&scratch, (size_t)table->bucket_count);
    TRY_OR_FAIL(group_keys(&lookup, keys, count, wanted, &scratch, err));
    struct table_fan fan = {WIRE_LOOKUP, wanted, lookup_request, lookup_response, &lookup};
    /* Rows borrow from the answers, so those go into the caller's arena. */
    TRY_OR_FAIL(table_fan_out(table, &fan, arena, err));
fail:
    arena_deinit(&scratch);
    return code;
}
