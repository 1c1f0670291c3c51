/* PUT_KV: rows become changes, changes one batch of the log, the log the state. */
#include "bucket/put_int.h"

/* ---- what a put needs to know of the table ---- */

const struct state_schema *state_schema_find(const struct state *state, int32_t schema_id)
{
    for (uint32_t i = state->schema_count; i-- > 0;)
        if (state->schemas[i].schema_id == schema_id)
            return &state->schemas[i];
    return NULL;
}

static void schemas_prepare(struct state *state)
{
    const struct table_info *table = state->table;
    const struct schema *newest = &table->descriptor->schema;
    state->schemas = ARENA_NEW_ARRAY(&state->arena, struct state_schema, table->schema_count);
    state->schema_count = table->schema_count;
    for (uint32_t i = 0; i < table->schema_count; i++) {
        struct state_schema *schema = &state->schemas[i];
        schema->schema_id = table->schemas[i].schema_id;
        schema->row = row_type(&state->arena, table->schemas[i].schema);
        row_mapping_init(&schema->to_newest, &state->arena, table->schemas[i].schema, newest);
    }
    mem_free(state->old_row);
    mem_free(state->new_row);
    state->old_row = mem_zalloc(newest->column_count * sizeof *state->old_row);
    state->new_row = mem_zalloc(newest->column_count * sizeof *state->new_row);
}

static void aggregates_prepare(struct state *state)
{
    const struct schema *schema = &state->table->descriptor->schema;
    state->aggregates = NULL;
    if (state->table->settings.merge_engine != MERGE_AGGREGATION)
        return;
    state->aggregates = ARENA_NEW_ARRAY(&state->arena, struct agg, schema->column_count);
    for (uint32_t i = 0; i < schema->column_count; i++)
        agg_init(&state->aggregates[i], &schema->columns[i], schema_in_key(schema, i));
}

static struct arrow_options compression_of(const struct table_settings *settings)
{
    static const enum arrow_compression by_setting[] = {
        [COMPRESSION_NONE] = ARROW_NONE, [COMPRESSION_LZ4_FRAME] = ARROW_LZ4_FRAME, [COMPRESSION_ZSTD] = ARROW_ZSTD};
    return (struct arrow_options){by_setting[settings->log_compression], settings->zstd_level};
}

enum err_code state_prepare(struct bucket *bucket, struct err *err)
{
    struct state *state = bucket->state;
    const struct table_info *table = bucket_table(bucket);
    if (table == state->table) {
        table_unref(table);
        return OK;
    }
    if (state->table)
        log_batch_builder_deinit(&state->changelog);
    table_unref(state->table);
    arena_reset(&state->arena);
    state->table = table;
    schemas_prepare(state);
    aggregates_prepare(state);
    struct log_batch_options options = {.format = table->settings.log_format,
                                        .layout = LOG_BATCH_V0,
                                        .schema_id = (int16_t)table->schema_id,
                                        .arrow = compression_of(&table->settings)};
    log_batch_builder_init(&state->changelog, &options, state_schema_find(state, table->schema_id)->row);
    state->version_column = schema_find(&table->descriptor->schema, table->settings.version_column);
    return table_keys_init(&state->keys, &state->arena, table->descriptor, err);
}

enum err_code state_row_decode(struct state *state, struct slice value, struct datum *row, struct err *err)
{
    int16_t schema_id;
    struct slice bytes;
    TRY(kv_value_split(value, &schema_id, &bytes, err));
    const struct state_schema *schema = state_schema_find(state, schema_id);
    if (!schema)
        return err_set(err, ERR_KV_STORAGE_EXCEPTION, "a stored row has the unknown schema %d", schema_id);
    return row_decode_mapped(state->table->settings.kv_format, &schema->to_newest, bytes, &state->scratch, row, err);
}

/* ---- one put ---- */

/* write_lock is held, so nobody changes the active delta meanwhile. */
enum err_code put_newest_get(struct put *put, struct slice key, struct slice *value, struct err *err)
{
    const struct delta_version *version = delta_get(put->state->active, key, INT64_MAX);
    if (!version)
        version = delta_get(put->frozen, key, INT64_MAX);
    if (!version)
        version = delta_get(put->written, key, INT64_MAX);
    if (version) {
        *value = version->deleted ? (struct slice){0} : version->value;
        return OK;
    }
    if (!put->engine)
        TRY(state_engine_take(put->state, true, &put->engine, err));
    return state_engine_get(put->engine, key, true, &put->state->scratch, value, err);
}

enum err_code put_change(struct put *put, enum change_type change, const struct datum *row, struct err *err)
{
    TRY(log_batch_builder_append(&put->state->changelog, change, row, err));
    put->next_offset++;
    return OK;
}

void put_store(struct put *put, struct slice key, struct slice value)
{
    /* The version belongs to the last row of its change: with that row below the watermark it is durable. */
    size_t prefix_len = state_prefix_len(put->state, key, &put->state->scratch);
    os_mutex_lock(&put->bucket->mutex);
    delta_put(put->state->active, key, prefix_len, put->next_offset - 1, value, &put->undo);
    os_mutex_unlock(&put->bucket->mutex);
}

static enum err_code record_put(struct put *put, const struct kv_record *record, struct err *err)
{
    if (record->key.len == 0 || record->key.len > BUCKET_KEY_BYTES_MAX)
        return err_set(err, ERR_RECORD_TOO_LARGE_EXCEPTION, "a key of %zu bytes: 1 to %u are possible", record->key.len,
                       BUCKET_KEY_BYTES_MAX);
    if (record->row.len > BUCKET_VALUE_BYTES_MAX)
        return err_set(err, ERR_RECORD_TOO_LARGE_EXCEPTION, "a row of %zu bytes: %u are possible", record->row.len,
                       BUCKET_VALUE_BYTES_MAX);
    return record->row.ptr ? put_upsert(put, record, err) : put_delete(put, record->key, err);
}

#define PUT_AHEAD 24 /* records whose place in the deltas is fetched while others are being put */

/* The records that come next. What a put touches lies anywhere in memory, so it is asked for ahead, step by step. */
struct coming {
    struct slice rest;
    uint64_t hashes[PUT_AHEAD];
    uint32_t count;
};

static void prefetch(const struct put *put, const struct coming *coming, uint32_t n, enum delta_step step)
{
    if (n >= coming->count)
        return;
    uint64_t hash = coming->hashes[n % PUT_AHEAD];
    delta_prefetch(put->state->active, hash, step);
    delta_prefetch(put->frozen, hash, step);
    delta_prefetch(put->written, hash, step);
}

/* Before record n is put. */
static void look_ahead(const struct put *put, struct coming *coming, uint32_t n)
{
    struct kv_record record;
    for (; coming->count < n + PUT_AHEAD && kv_batch_next(&coming->rest, &record); coming->count++)
        coming->hashes[coming->count % PUT_AHEAD] = delta_hash(record.key);
    prefetch(put, coming, n + PUT_AHEAD - 1, DELTA_SLOT);
    prefetch(put, coming, n + PUT_AHEAD * 2 / 3, DELTA_ENTRY);
    prefetch(put, coming, n + PUT_AHEAD / 3, DELTA_VERSION);
}

static enum err_code records_put(struct put *put, struct err *err)
{
    struct slice rest = put->batch.records;
    struct coming coming = {.rest = rest};
    struct kv_record record;
    for (uint32_t n = 0; kv_batch_next(&rest, &record); n++) {
        look_ahead(put, &coming, n);
        enum err_code code = record_put(put, &record, err);
        /* Whatever a value can't be written for is the sender's: a stored row was written once. The checksum was right,
         * so the same bytes would come again: no code that clients repeat a request for. */
        if (code == ERR_CORRUPT)
            return err_set(err, ERR_INVALID_ARGUMENT, "a row of the batch can't be decoded with schema %d",
                           put->batch.schema_id);
        TRY(code);
    }
    return OK;
}

/* ---- around it ---- */

static enum err_code begin_locked(struct put *put, bool *duplicate, struct bucket_append *append, struct err *err)
{
    struct log_appended appended;
    TRY(bucket_check_writable_locked(put->bucket, err));
    TRY(bucket_begin_locked(put->bucket, err));
    TRY(log_writer_check(put->bucket->log, put->batch.writer_id, put->batch.batch_sequence, &appended, err));
    *duplicate = appended.duplicate;
    if (appended.duplicate)
        *append = (struct bucket_append){appended.base_offset, appended.next_offset};
    put->next_offset = log_end_offset(put->bucket->log);
    put->row_count = put->state->row_count;
    put->frozen = delta_ref(put->state->frozen);
    put->written = delta_ref(put->state->written);
    return OK;
}

/* The changelog goes to the log; only then does the put count. */
static enum err_code commit_locked(struct put *put, struct bucket_append *append, struct bucket_waiter **woken,
                                   struct err *err)
{
    struct bucket *bucket = put->bucket;
    struct log_appended appended;
    TRY(bucket_check_writable_locked(bucket, err));
    TRY(log_append(bucket->log, buf_view(&put->state->batch), &appended, err));
    ASSERT(appended.next_offset == MAX(put->next_offset, appended.base_offset + 1));
    *append = (struct bucket_append){appended.base_offset, appended.next_offset};
    if (put->state->table->settings.changelog_image == IMAGE_FULL)
        put->state->row_count = put->row_count;
    metric_add(bucket->metrics.rows_in, put->next_offset - appended.base_offset);
    state_count_locked(bucket);
    bucket_appended_locked(bucket, woken);
    return OK;
}

static enum err_code changelog_append(struct put *put, struct bucket_append *append, struct err *err)
{
    struct state *state = put->state;
    struct bucket_waiter *woken = NULL;
    /* A put without a change leaves an empty batch, which carries the writer's sequence; without a writer nothing. */
    if (state->changelog.count == 0 && put->batch.writer_id < 0) {
        *append = (struct bucket_append){put->next_offset, put->next_offset};
        return OK;
    }
    buf_reset(&state->batch);
    log_batch_builder_finish(&state->changelog, &state->codec, put->batch.writer_id, put->batch.batch_sequence,
                             &state->batch);
    os_mutex_lock(&put->bucket->mutex);
    enum err_code code = commit_locked(put, append, &woken, err);
    os_mutex_unlock(&put->bucket->mutex);
    bucket_tell_refused(put->bucket, code, err);
    bucket_wake(woken);
    return code;
}

static enum err_code put_under_lock(struct put *put, const struct bucket_put *what, struct bucket_append *append,
                                    struct err *err)
{
    struct state *state = put->state;
    bool duplicate;
    TRY(state_prepare(put->bucket, err));
    TRY(put_targets_set(put, what, err));
    put->schema = state_schema_find(state, put->batch.schema_id);
    if (!put->schema)
        return err_set(err, ERR_SCHEMA_NOT_EXIST, "table %.*s.%.*s has no schema %d",
                       SLICE_ARGS(state->table->database), SLICE_ARGS(state->table->name), put->batch.schema_id);
    os_mutex_lock(&put->bucket->mutex);
    enum err_code code = begin_locked(put, &duplicate, append, err);
    os_mutex_unlock(&put->bucket->mutex);
    if (code != OK || duplicate)
        return code;
    code = records_put(put, err);
    if (code == OK)
        code = changelog_append(put, append, err);
    if (code != OK) {
        os_mutex_lock(&put->bucket->mutex);
        delta_undo(&put->undo);
        os_mutex_unlock(&put->bucket->mutex);
        log_batch_builder_reset(&state->changelog);
    }
    return code;
}

enum err_code bucket_put(struct bucket *bucket, const struct bucket_put *what, struct bucket_append *append,
                         struct err *err)
{
    struct put put = {.bucket = bucket, .state = bucket->state};
    if (!bucket->state)
        return bucket_has_no_key(bucket, err);
    if (what->records.len == 0) {
        *append = (struct bucket_append){0, 0};
        return OK;
    }
    metric_add(bucket->metrics.puts, 1);
    metric_add(bucket->metrics.bytes_in, (int64_t)what->records.len);
    TRY(kv_batch_check(what->records, &put.batch, err));
    os_mutex_lock(&bucket->state->write_lock);
    enum err_code code = put_under_lock(&put, what, append, err);
    arena_reset(&bucket->state->scratch);
    os_mutex_unlock(&bucket->state->write_lock);
    state_engine_release(put.state, put.engine);
    delta_unref(put.frozen);
    delta_unref(put.written);
    vec_deinit(&put.undo.steps);
    buf_deinit(&put.key);
    buf_deinit(&put.value);
    return code;
}
