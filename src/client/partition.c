/* The partitions of a table: which there are, which place their buckets have, which one a row is of. */
#include "client/client_int.h"

static enum err_code call_admin(struct client *client, enum wire_key key, void *request, void *response,
                                struct err *err)
{
    struct arena arena = {0};
    enum err_code code = client_call(client, CLIENT_COORDINATOR, key, false, request, &arena, response, err);
    arena_deinit(&arena);
    return code;
}

static struct wire_pb_partition_spec spec_of(const struct properties *spec, struct arena *arena)
{
    struct wire_pb_partition_spec out = {.partition_key_values_count = spec->count};
    out.partition_key_values = ARENA_NEW_ARRAY(arena, struct wire_pb_key_value, spec->count);
    for (uint32_t i = 0; i < spec->count; i++)
        out.partition_key_values[i] = (struct wire_pb_key_value){spec->items[i].key, spec->items[i].value};
    return out;
}

enum err_code client_partition_create(struct client *client, struct client_path path, const struct properties *spec,
                                      bool ignore_if_exists, struct err *err)
{
    struct arena arena = {0};
    struct wire_create_partition_response response;
    /* The wire's name of the flag is wrong: it means, fine where it is there. */
    struct wire_create_partition_request request = {
        {path.database, path.table}, spec_of(spec, &arena), .ignore_if_not_exists = ignore_if_exists};
    enum err_code code = call_admin(client, WIRE_CREATE_PARTITION, &request, &response, err);
    arena_deinit(&arena);
    return code;
}

enum err_code client_partition_drop(struct client *client, struct client_path path, const struct properties *spec,
                                    bool ignore_if_not_exists, struct err *err)
{
    struct arena arena = {0};
    struct wire_drop_partition_response response;
    struct wire_drop_partition_request request = {
        {path.database, path.table}, spec_of(spec, &arena), .ignore_if_not_exists = ignore_if_not_exists};
    enum err_code code = call_admin(client, WIRE_DROP_PARTITION, &request, &response, err);
    arena_deinit(&arena);
    return code;
}

/* ---- what is known ---- */

void table_partitions_deinit(struct client_table *table)
{
    map_deinit(&table->state->partitions_by_id);
    map_deinit(&table->state->partitions_by_name);
    map_deinit(&table->state->partitions_by_values);
    buf_deinit(&table->state->partition_name);
    mem_free(table->partitions);
}

struct client_partition *table_partition(const struct client_table *table, int64_t partition_id)
{
    return map_get_i64(&table->state->partitions_by_id, partition_id);
}

enum err_code table_place(const struct client_table *table, bool has_partition, int64_t partition_id, int32_t bucket,
                          int32_t *place, struct err *err)
{
    const struct client_partition *partition = NULL;
    if (has_partition != table->is_partitioned || bucket < 0 || bucket >= table->bucket_count)
        return err_set(err, ERR_CORRUPT_MESSAGE, "an answer about bucket %d%s", bucket,
                       has_partition ? " of a partition" : "");
    if (table->is_partitioned && !(partition = table_partition(table, partition_id)))
        return err_set(err, ERR_CORRUPT_MESSAGE, "an answer about partition %lld", (long long)partition_id);
    *place = (partition ? (int32_t)partition->index * table->bucket_count : 0) + bucket;
    return OK;
}

static const struct type *key_type(const struct client_table *table, uint32_t key)
{
    return table->schema.schema.columns[table->descriptor.partition_keys[key]].type;
}

/* ---- twins ---- */

/* The one name that stands for the values; false where there is none. */
static bool values_name(const struct client_table *table, const struct datum *values, struct buf *name)
{
    bool ok = values != NULL;
    for (uint32_t i = 0; ok && i < table->descriptor.partition_key_count; i++) {
        if (i)
            buf_put_u8(name, '$');
        ok = !values[i].is_null && partition_value_put(key_type(table, i), &values[i], name, NULL) == OK;
    }
    return ok;
}

static struct client_partition *first_twin(const struct client_table *table, const struct datum *values)
{
    struct buf name = {0};
    struct client_partition *first = NULL;
    if (values_name(table, values, &name))
        first = map_get(&table->state->partitions_by_values, buf_view(&name));
    buf_deinit(&name);
    return first;
}

const struct client_partition *client_partition_by_values(const struct client_table *table, const struct datum *values)
{
    return first_twin(table, values);
}

static void join_twins(struct client_table *table, struct client_partition *partition)
{
    struct buf name = {0};
    const struct client_partition *first = first_twin(table, partition->values);
    partition->twin = first ? first->index : partition->index;
    if (!first && values_name(table, partition->values, &name))
        map_put(&table->state->partitions_by_values, buf_view(&name), partition);
    buf_deinit(&name);
}

/* It is gone: the next of its twins is the first one now. */
static void leave_twins(struct client_table *table, struct client_partition *partition)
{
    struct buf name = {0};
    if (first_twin(table, partition->values) != partition)
        return;
    if (values_name(table, partition->values, &name))
        map_remove(&table->state->partitions_by_values, buf_view(&name));
    buf_deinit(&name);
    for (uint32_t i = partition->index + 1; i < table->partition_count; i++)
        if (table->partitions[i]->twin == partition->index && !table->partitions[i]->is_gone)
            join_twins(table, table->partitions[i]);
}

/* ---- what is listed ---- */

/* Typed values; NULL where a text is none of its type: the partition can be read and written, but not tiered. */
static const struct datum *parse_values(struct client_table *table, const struct slice *texts)
{
    uint32_t count = table->descriptor.partition_key_count;
    struct datum *values = ARENA_NEW_ARRAY(&table->state->arena, struct datum, count);
    for (uint32_t i = 0; i < count; i++)
        if (partition_value_parse(key_type(table, i), texts[i], &table->state->arena, &values[i], NULL) != OK)
            return NULL;
    return values;
}

static enum err_code read_texts(struct client_table *table, const struct wire_pb_partition_info *info,
                                struct slice *texts, struct err *err)
{
    const struct table_descriptor *d = &table->descriptor;
    const struct wire_pb_partition_spec *spec = &info->partition_spec;
    for (uint32_t i = 0; i < d->partition_key_count; i++) {
        texts[i] = (struct slice){0};
        for (size_t k = 0; k < spec->partition_key_values_count; k++)
            if (slice_equal(spec->partition_key_values[k].key, d->schema.columns[d->partition_keys[i]].name))
                texts[i] = spec->partition_key_values[k].value;
        if (!texts[i].ptr)
            return err_set(err, ERR_CORRUPT_MESSAGE, "partition %lld lacks the value of %.*s",
                           (long long)info->partition_id, SLICE_ARGS(d->schema.columns[d->partition_keys[i]].name));
    }
    if (info->has_bucket_count && info->bucket_count > 0 && info->bucket_count != table->bucket_count)
        return err_set(err, ERR_NOT_SUPPORTED,
                       "partition %lld of %.*s.%.*s has %d buckets and the table %d, which weir does not do yet",
                       (long long)info->partition_id, SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table),
                       info->bucket_count, table->bucket_count);
    return OK;
}

static enum err_code make_room(struct client_table *table, struct err *err)
{
    struct client_table_state *state = table->state;
    size_t buckets = (size_t)table->bucket_count;
    if (table->partition_count < state->partition_cap)
        return OK;
    uint32_t cap = MAX(state->partition_cap * 2, 8u);
    if (cap * buckets > CLIENT_PLACES_MAX)
        cap = (uint32_t)(CLIENT_PLACES_MAX / buckets);
    if (table->partition_count >= cap)
        return err_set(err, ERR_LIMIT, "%.*s.%.*s has more than %u partitions of %d buckets",
                       SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table), cap, table->bucket_count);
    table->partitions = mem_realloc(table->partitions, cap * sizeof *table->partitions);
    state->leaders = mem_realloc(state->leaders, cap * buckets * sizeof *state->leaders);
    state->partition_cap = cap;
    return OK;
}

static enum err_code add(struct client_table *table, const struct wire_pb_partition_info *info,
                         struct client_partition **out, struct err *err)
{
    struct client_table_state *state = table->state;
    uint32_t count = table->descriptor.partition_key_count;
    size_t buckets = (size_t)table->bucket_count;
    struct slice *texts = ARENA_NEW_ARRAY(&state->arena, struct slice, count);
    TRY(read_texts(table, info, texts, err));
    TRY(make_room(table, err));
    for (uint32_t i = 0; i < count; i++)
        texts[i] = arena_dup(&state->arena, texts[i]);
    buf_reset(&state->partition_name);
    partition_name_put(texts, count, &state->partition_name);
    struct client_partition *partition = ARENA_NEW(&state->arena, struct client_partition);
    *partition = (struct client_partition){
        .id = info->partition_id,
        .name = arena_dup(&state->arena, buf_view(&state->partition_name)),
        .texts = texts,
        .values = parse_values(table, texts),
        .index = table->partition_count,
        .is_remade = info->lake_has_earlier,
    };
    memset(state->leaders + partition->index * buckets, 0, buckets * sizeof *state->leaders);
    table->partitions[table->partition_count++] = partition;
    map_put_i64(&state->partitions_by_id, partition->id, partition);
    map_put(&state->partitions_by_name, partition->name, partition);
    join_twins(table, partition);
    *out = partition;
    return OK;
}

static void set_gone(struct client_table *table, struct client_partition *partition)
{
    struct map *by_name = &table->state->partitions_by_name;
    if (partition->is_gone)
        return;
    partition->is_gone = true;
    table->state->gone_count++;
    if (map_get(by_name, partition->name) == partition)
        map_remove(by_name, partition->name);
    leave_twins(table, partition);
}

/* ---- asking ---- */

static enum err_code list(struct client_table *table, struct wire_pb_partition_spec *some, struct arena *arena,
                          struct wire_list_partition_infos_response *response, struct err *err)
{
    struct wire_list_partition_infos_request request = {.table_path = {table->path.database, table->path.table},
                                                        .partial_partition_spec = some};
    return client_call(table->client, CLIENT_TABLET, WIRE_LIST_PARTITION_INFOS, true, &request, arena, response, err);
}

/* Ids are never given twice, so what is not among the listed ones will not come back. */
static enum err_code take_all(struct client_table *table, const struct wire_list_partition_infos_response *response,
                              bool with_new, struct arena *arena, struct err *err)
{
    bool *seen = arena_zalloc(arena, table->partition_count + response->partitions_info_count + 1);
    for (size_t i = 0; i < response->partitions_info_count; i++) {
        struct client_partition *partition = table_partition(table, response->partitions_info[i].partition_id);
        if (!partition && with_new)
            TRY(add(table, &response->partitions_info[i], &partition, err));
        if (partition)
            seen[partition->index] = true;
    }
    for (uint32_t i = 0; i < table->partition_count; i++)
        if (!seen[i])
            set_gone(table, table->partitions[i]);
    return OK;
}

static enum err_code look(struct client_table *table, bool with_new, struct err *err)
{
    struct arena arena = {0};
    struct wire_list_partition_infos_response response;
    if (!table->is_partitioned)
        return OK;
    enum err_code code = list(table, NULL, &arena, &response, err);
    if (code == OK)
        code = take_all(table, &response, with_new, &arena, err);
    arena_deinit(&arena);
    return code;
}

enum err_code client_partitions_refresh(struct client_table *table, struct err *err)
{
    return look(table, true, err);
}

enum err_code table_lost_partitions(struct client_table *table, enum err_code code, bool *lost, struct err *err)
{
    uint32_t before = table->state->gone_count;
    *lost = false;
    if (!table->is_partitioned || (code != ERR_PARTITION_NOT_EXISTS && code != ERR_UNKNOWN_TABLE_OR_BUCKET_EXCEPTION))
        return OK;
    TRY(look(table, false, err)); /* callers hold arrays by place */
    *lost = table->state->gone_count > before;
    return OK;
}

/* ---- the partition of a row ---- */

static enum err_code row_texts(struct client_table *table, const struct datum *row, struct arena *arena,
                               struct slice *texts, struct err *err)
{
    enum err_code code = OK;
    struct buf text = {0};
    for (uint32_t i = 0; i < table->descriptor.partition_key_count && code == OK; i++) {
        uint32_t column = table->descriptor.partition_keys[i];
        buf_reset(&text);
        if (row[column].is_null)
            code = err_set(err, ERR_INVALID_ARGUMENT, "column %.*s is null, and names the row's partition",
                           SLICE_ARGS(table->schema.schema.columns[column].name));
        else
            code = partition_value_put(key_type(table, i), &row[column], &text, err);
        texts[i] = arena_dup(arena, buf_view(&text));
    }
    buf_deinit(&text);
    return code;
}

static struct properties row_spec(const struct client_table *table, struct slice *texts, struct arena *arena)
{
    struct properties spec = {.count = table->descriptor.partition_key_count};
    spec.items = ARENA_NEW_ARRAY(arena, struct key_value, spec.count);
    for (uint32_t i = 0; i < spec.count; i++)
        spec.items[i] =
            (struct key_value){table->schema.schema.columns[table->descriptor.partition_keys[i]].name, texts[i]};
    return spec;
}

/* One that is not known here: made by others since, or not there. */
static enum err_code ask_for(struct client_table *table, const struct properties *spec, struct arena *arena,
                             const struct client_partition **out, struct err *err)
{
    struct wire_list_partition_infos_response response;
    struct wire_pb_partition_spec some = spec_of(spec, arena);
    *out = NULL;
    TRY(list(table, &some, arena, &response, err));
    if (!response.partitions_info_count)
        return OK;
    struct client_partition *partition = table_partition(table, response.partitions_info[0].partition_id);
    if (!partition)
        TRY(add(table, &response.partitions_info[0], &partition, err));
    *out = partition;
    return OK;
}

static enum err_code find_or_make(struct client_table *table, const struct datum *row, bool create, struct arena *arena,
                                  const struct client_partition **out, struct err *err)
{
    struct buf *name = &table->state->partition_name;
    struct slice *texts = ARENA_NEW_ARRAY(arena, struct slice, table->descriptor.partition_key_count);
    TRY(row_texts(table, row, arena, texts, err));
    buf_reset(name);
    partition_name_put(texts, table->descriptor.partition_key_count, name);
    *out = map_get(&table->state->partitions_by_name, buf_view(name));
    if (*out)
        return OK;
    struct properties spec = row_spec(table, texts, arena);
    TRY(ask_for(table, &spec, arena, out, err));
    if (*out || !create)
        return OK;
    TRY(client_partition_create(table->client, table->path, &spec, true, err));
    TRY(ask_for(table, &spec, arena, out, err));
    if (!*out)
        return err_set(err, ERR_PARTITION_NOT_EXISTS, "the partition of a row was made, and dropped again at once");
    return OK;
}

enum err_code client_partition_of(struct client_table *table, const struct datum *row, bool create,
                                  const struct client_partition **partition, struct err *err)
{
    struct arena arena = {0};
    *partition = NULL;
    if (!table->is_partitioned)
        return OK;
    enum err_code code = find_or_make(table, row, create, &arena, partition, err);
    arena_deinit(&arena);
    return code;
}
