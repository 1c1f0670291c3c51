/* One table: what its descriptor says, its schemas, the leaders of its buckets. */
#include "client/client_int.h"

static bool property_is(const struct table_descriptor *table, const char *key, const char *value)
{
    const struct slice *set = properties_get(&table->properties, key);
    return set && slice_equal_nocase(*set, slice_str(value));
}

static void read_formats(struct client_table *table)
{
    const struct table_descriptor *d = &table->descriptor;
    table->log_format = property_is(d, "table.log.format", "INDEXED")     ? LOG_FORMAT_INDEXED
                        : property_is(d, "table.log.format", "COMPACTED") ? LOG_FORMAT_COMPACTED
                                                                          : LOG_FORMAT_ARROW;
    table->kv_format = property_is(d, "table.kv.format", "INDEXED") ? ROW_INDEXED : ROW_COMPACTED;
    table->arrow.compression = property_is(d, "table.log.arrow.compression.type", "NONE")        ? ARROW_NONE
                               : property_is(d, "table.log.arrow.compression.type", "LZ4_FRAME") ? ARROW_LZ4_FRAME
                                                                                                 : ARROW_ZSTD;
    table->arrow.level = 3;
    const struct slice *level = properties_get(&d->properties, "table.log.arrow.compression.zstd.level");
    int64_t value;
    if (level && slice_to_i64(*level, &value) && value >= 1 && value <= 22)
        table->arrow.level = (int)value;
    table->lake_enabled = property_is(d, "table.datalake.enabled", "true");
}

static void want_statistics(struct client_table *table, uint32_t position)
{
    if (log_batch_has_bounds(table->descriptor.schema.columns[position].type->kind) &&
        table->statistics_count < table->descriptor.schema.column_count)
        table->statistics[table->statistics_count++] = position;
}

static void read_statistics(struct client_table *table)
{
    const struct schema *schema = &table->descriptor.schema;
    const struct slice *set = properties_get(&table->descriptor.properties, "table.statistics.columns");
    struct slice rest = set ? *set : (struct slice){0}, name;
    if (table->log_format != LOG_FORMAT_ARROW || table->has_primary_key)
        return;
    table->statistics = ARENA_NEW_ARRAY(&table->state->arena, uint32_t, schema->column_count);
    while (slice_list_next(&rest, &name)) {
        int32_t position = schema_find(schema, name);
        for (uint32_t i = 0; slice_is(name, "*") && i < schema->column_count; i++)
            want_statistics(table, i);
        if (position >= 0)
            want_statistics(table, (uint32_t)position);
    }
}

static enum err_code check_shape(const struct client_table *table, struct err *err)
{
    if (table->bucket_count < 1 || table->bucket_count > CLIENT_BUCKETS_MAX)
        return err_set(err, ERR_LIMIT, "%.*s.%.*s has %d buckets; weir takes 1 to %d", SLICE_ARGS(table->path.database),
                       SLICE_ARGS(table->path.table), table->bucket_count, CLIENT_BUCKETS_MAX);
    return OK;
}

static enum err_code read_info(struct client_table *table, const struct wire_get_table_info_response *info,
                               struct err *err)
{
    struct arena *arena = &table->state->arena;
    struct table_descriptor *d = &table->descriptor;
    TRY(table_descriptor_from_json(arena, info->table_json, d, err));
    TRY(table_descriptor_normalize(arena, d, err));
    TRY(table_keys_init(&table->keys, arena, d, err));
    table->id = info->table_id;
    table->schema = (struct client_schema){info->schema_id, d->schema, row_type(arena, &d->schema)};
    table->bucket_count = d->bucket_count;
    table->created_ms = info->created_time;
    table->modified_ms = info->modified_time;
    table->has_primary_key = d->schema.primary_key_count > 0;
    table->is_partitioned = d->partition_key_count > 0;
    table->tiering_state = info->has_tiering_state ? info->tiering_state : (struct slice){0};
    table->tiering_error = info->has_tiering_error ? info->tiering_error : (struct slice){0};
    table->lake_row_count = info->has_lake_row_count ? info->lake_row_count : -1;
    table->lake_lag_ms = info->has_lake_lag_ms ? info->lake_lag_ms : -1;
    table->tiering_due_ms = info->has_tiering_due_ms ? info->tiering_due_ms : -1;
    read_formats(table);
    read_statistics(table);
    return check_shape(table, err);
}

enum err_code client_table_open(struct client *client, struct client_path path, struct client_table **out,
                                struct err *err)
{
    enum err_code code;
    struct client_table *table = mem_zalloc(sizeof *table);
    struct client_table_state *state = mem_zalloc(sizeof *state);
    table->client = client;
    table->state = state;
    state->refs = 1;
    table->path = client_path(arena_dup(&state->arena, path.database), arena_dup(&state->arena, path.table));
    struct wire_get_table_info_request request = {{path.database, path.table}};
    struct wire_get_table_info_response response;
    TRY_OR_FAIL(client_call(client, CLIENT_TABLET, WIRE_GET_TABLE_INFO, true, &request, &state->arena, &response, err));
    TRY_OR_FAIL(read_info(table, &response, err));
    if (table->is_partitioned)
        TRY_OR_FAIL(client_partitions_refresh(table, err));
    else
        state->leaders = mem_zalloc((size_t)table->bucket_count * sizeof *state->leaders);
    *out = table;
    return OK;
fail:
    client_table_unref(table);
    return code;
}

struct client_table *client_table_ref(struct client_table *table)
{
    table->state->refs++;
    return table;
}

void client_table_unref(struct client_table *table)
{
    if (!table || --table->state->refs)
        return;
    map_deinit(&table->state->schemas);
    table_partitions_deinit(table);
    mem_free(table->state->leaders);
    arena_deinit(&table->state->arena);
    mem_free(table->state);
    mem_free(table);
}

enum err_code client_table_schema(struct client_table *table, int32_t schema_id, const struct client_schema **out,
                                  struct err *err)
{
    if (schema_id == table->schema.id) {
        *out = &table->schema;
        return OK;
    }
    struct client_schema *schema = map_get_i64(&table->state->schemas, schema_id);
    if (!schema) {
        struct arena *arena = &table->state->arena;
        struct wire_get_table_schema_request request = {.table_path = {table->path.database, table->path.table}};
        WIRE_SET(&request, schema_id, schema_id);
        struct wire_get_table_schema_response response;
        TRY(client_call(table->client, CLIENT_TABLET, WIRE_GET_TABLE_SCHEMA, true, &request, arena, &response, err));
        if (response.schema_id != schema_id)
            return err_set(err, ERR_CORRUPT_MESSAGE, "asked for schema %d of %.*s.%.*s, got schema %d", schema_id,
                           SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table), response.schema_id);
        schema = ARENA_NEW(arena, struct client_schema);
        schema->id = schema_id;
        TRY(schema_from_json(arena, response.schema_json, &schema->schema, err));
        schema->row = row_type(arena, &schema->schema);
        map_put_i64(&table->state->schemas, schema_id, schema);
    }
    *out = schema;
    return OK;
}

enum err_code client_table_bucket(const struct client_table *table, const struct datum *row, int32_t *bucket,
                                  struct err *err)
{
    if (table->keys.bucket_count == 0) {
        *bucket = -1;
        return OK;
    }
    struct buf key = {0};
    enum err_code code =
        key_encode(table->keys.bucket_encoder, table->keys.bucket_type, row, table->keys.bucket, &key, err);
    if (code == OK)
        *bucket = key_bucket(table->keys.lake, buf_view(&key), table->bucket_count);
    buf_deinit(&key);
    return code;
}

/* ---- leaders ---- */

#define LEADERS_AT_ONCE 256 /* partitions that one exchange asks about */

/* The partition of the place, and others behind it whose leaders are not known either. */
static size_t choose_partitions(const struct client_table *table, int32_t place, int64_t ids[LEADERS_AT_ONCE])
{
    size_t count = 0;
    uint32_t first = (uint32_t)(place / table->bucket_count);
    for (uint32_t i = first; i < table->partition_count && count < LEADERS_AT_ONCE; i++)
        if (!table->partitions[i]->is_gone && !table->state->leaders[(size_t)i * (size_t)table->bucket_count])
            ids[count++] = table->partitions[i]->id;
    return count;
}

static void learn_leaders(struct client_table *table, size_t first_place, const struct wire_pb_bucket_metadata *buckets,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (buckets[i].has_leader_id && buckets[i].bucket_id >= 0 && buckets[i].bucket_id < table->bucket_count)
            table->state->leaders[first_place + (size_t)buckets[i].bucket_id] =
                client_tablet(table->client, buckets[i].leader_id);
}

static enum err_code read_leaders(struct client_table *table, const struct wire_metadata_response *response,
                                  struct err *err)
{
    for (size_t i = 0; i < response->table_metadata_count; i++) {
        const struct wire_pb_table_metadata *theirs = &response->table_metadata[i];
        if (!slice_equal(theirs->table_path.table_name, table->path.table))
            continue;
        if (theirs->table_id != table->id)
            return err_set(err, ERR_TABLE_NOT_EXIST, "%.*s.%.*s was dropped and made anew meanwhile",
                           SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table));
        if (!table->is_partitioned)
            learn_leaders(table, 0, theirs->bucket_metadata, theirs->bucket_metadata_count);
    }
    for (size_t i = 0; table->is_partitioned && i < response->partition_metadata_count; i++) {
        const struct wire_pb_partition_metadata *theirs = &response->partition_metadata[i];
        const struct client_partition *partition = table_partition(table, theirs->partition_id);
        if (partition)
            learn_leaders(table, (size_t)partition->index * (size_t)table->bucket_count, theirs->bucket_metadata,
                          theirs->bucket_metadata_count);
    }
    return OK;
}

static enum err_code refresh_leaders(struct client_table *table, int32_t place, struct err *err)
{
    struct arena arena = {0};
    struct wire_metadata_response response;
    int64_t ids[LEADERS_AT_ONCE];
    size_t count = table->is_partitioned ? choose_partitions(table, place, ids) : 0;
    enum err_code code = client_metadata(table->client, &table->path, ids, count, &arena, &response, err);
    if (code == OK)
        code = read_leaders(table, &response, err);
    arena_deinit(&arena);
    return code;
}

static enum err_code look_up_leader(struct client_table *table, int32_t place, struct err *err)
{
    bool lost;
    enum err_code code = refresh_leaders(table, place, err);
    if (code == OK)
        return OK;
    /* One partition that is gone fails the request for all of them. */
    TRY(table_lost_partitions(table, code, &lost, err));
    if (!lost)
        return code;
    return client_place_is_gone(table, place) ? OK : refresh_leaders(table, place, err);
}

enum err_code table_leader(struct client_table *table, int32_t place, struct conn **conn, struct err *err)
{
    ASSERT(place >= 0 && (size_t)place < client_place_count(table));
    struct client *client = table->client;
    bool asked = client->adopted || client_place_is_gone(table, place); /* one server plays all roles */
    if (!asked && !table->state->leaders[place])
        TRY(look_up_leader(table, place, err));
    if (client_place_is_gone(table, place)) {
        struct slice name = client_place_partition(table, place)->name;
        return err_set(err, ERR_PARTITION_NOT_EXISTS, "partition %.*s of %.*s.%.*s was dropped", SLICE_ARGS(name),
                       SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table));
    }
    struct node *node = client->adopted ? client->nodes.ptr[0] : table->state->leaders[place];
    if (!node)
        return err_set(err, ERR_LEADER_NOT_AVAILABLE_EXCEPTION, "bucket %d of %.*s.%.*s has no leader now",
                       client_place_bucket(table, place), SLICE_ARGS(table->path.database),
                       SLICE_ARGS(table->path.table));
    return client_node_conn(client, node, conn, err);
}

void table_forget_leaders(struct client_table *table)
{
    memset(table->state->leaders, 0, client_place_count(table) * sizeof *table->state->leaders);
}

bool table_may_retry(const struct client_table *table, enum err_code code)
{
    switch (code) {
    case ERR_CLOSED:
    case ERR_UNREACHABLE:
        return !table->client->adopted;
    case ERR_DEADLINE:
        return false;
    default:
        return err_retriable(code);
    }
}
