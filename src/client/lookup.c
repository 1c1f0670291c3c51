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
    struct group *groups; /* by place */
    struct arena *arena;  /* the caller's */
    struct datum **rows;
};

static void lookup_request(void *arg, const struct table_share *share, struct arena *arena, void *message)
{
    struct lookup *lookup = arg;
    struct wire_lookup_request *request = message;
    request->table_id = lookup->table->id;
    request->buckets_req_count = share->place_count;
    request->buckets_req = ARENA_NEW_ARRAY(arena, struct wire_pb_lookup_req_for_bucket, share->place_count);
    for (uint32_t i = 0; i < share->place_count; i++) {
        struct group *group = &lookup->groups[share->places[i]];
        request->buckets_req[i] = (struct wire_pb_lookup_req_for_bucket){
            .bucket_id = client_place_bucket(lookup->table, share->places[i]),
            .keys = group->keys,
            .keys_count = group->count,
        };
        TABLE_SET_PARTITION(&request->buckets_req[i], lookup->table, share->places[i]);
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
        int32_t place;
        TRY(table_place(lookup->table, b->has_partition_id, b->partition_id, b->bucket_id, &place, err));
        TRY(take_values(lookup, &lookup->groups[place], b, err));
        answered++;
    }
    if (answered != share->place_count)
        return err_set(err, ERR_CORRUPT_MESSAGE, "%u buckets asked for, %zu answered", share->place_count, answered);
    return OK;
}

/* The place of each key; -1: its partition is not there. Places may be added. */
static enum err_code place_keys(struct client_table *table, const struct datum *const *keys, size_t count,
                                int32_t *places, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct client_partition *partition;
        int32_t bucket;
        TRY(client_table_bucket(table, keys[i], &bucket, err));
        TRY(client_partition_of(table, keys[i], false, &partition, err));
        places[i] = table->is_partitioned && !partition
                        ? -1
                        : (partition ? (int32_t)partition->index * table->bucket_count : 0) + bucket;
    }
    return OK;
}

static void make_groups(struct lookup *lookup, const int32_t *places, size_t count, bool *wanted, struct arena *arena)
{
    size_t place_count = client_place_count(lookup->table);
    for (size_t i = 0; i < count; i++) {
        if (places[i] < 0)
            continue;
        lookup->groups[places[i]].count++;
        wanted[places[i]] = true;
    }
    for (size_t p = 0; p < place_count; p++) {
        struct group *group = &lookup->groups[p];
        if (!group->count)
            continue;
        group->keys = ARENA_NEW_ARRAY(arena, struct slice, group->count);
        group->places = ARENA_NEW_ARRAY(arena, size_t, group->count);
        group->count = 0;
    }
}

static enum err_code group_keys(struct lookup *lookup, const struct datum *const *keys, const int32_t *places,
                                size_t count, struct arena *arena, struct err *err)
{
    const struct table_keys *how = &lookup->table->keys;
    struct buf key = {0};
    enum err_code code = OK;
    for (size_t i = 0; i < count && code == OK; i++) {
        lookup->rows[i] = NULL;
        if (places[i] < 0)
            continue;
        struct group *group = &lookup->groups[places[i]];
        buf_reset(&key);
        code = key_encode(how->primary_encoder, how->primary_type, keys[i], how->primary, &key, err);
        group->keys[group->count] = arena_dup(arena, buf_view(&key));
        group->places[group->count++] = i;
    }
    buf_deinit(&key);
    return code;
}

static enum err_code look_up(struct client_table *table, const struct datum *const *keys, size_t count,
                             struct arena *arena, struct datum **rows, struct err *err)
{
    enum err_code code;
    struct arena scratch = {0};
    struct lookup lookup = {table, NULL, arena, rows};
    int32_t *places = ARENA_NEW_ARRAY(&scratch, int32_t, count);
    TRY_OR_FAIL(place_keys(table, keys, count, places, err));
    lookup.groups = arena_zalloc(&scratch, client_place_count(table) * sizeof *lookup.groups + 1);
    bool *wanted = arena_zalloc(&scratch, client_place_count(table) + 1);
    make_groups(&lookup, places, count, wanted, &scratch);
    TRY_OR_FAIL(group_keys(&lookup, keys, places, count, &scratch, err));
    struct table_fan fan = {
        .key = WIRE_LOOKUP, .wanted = wanted, .request = lookup_request, .response = lookup_response, .arg = &lookup};
    /* Rows borrow from the answers, so those go into the caller's arena. */
    TRY_OR_FAIL(table_fan_out(table, &fan, arena, err));
fail:
    arena_deinit(&scratch);
    return code;
}

enum err_code client_lookup(struct client_table *table, const struct datum *const *keys, size_t count,
                            struct arena *arena, struct datum **rows, struct err *err)
{
    uint32_t gone_count;
    if (!table->has_primary_key)
        return err_set(err, ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION, "%.*s.%.*s has no primary key to look up by",
                       SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table));
    do { /* a partition that turns out to be gone may have been made anew */
        gone_count = table->state->gone_count;
        TRY(look_up(table, keys, count, arena, rows, err));
    } while (table->state->gone_count != gone_count);
    return OK;
}
