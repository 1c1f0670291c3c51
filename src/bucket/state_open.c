/* Opening a bucket's state: the engine as far as its mark says, then the changelog from there.
 *
 * kv-{n}.mark, 32 bytes, little-endian, written whole under a new name and renamed:
 *
 *   0  u32  magic "WKVM"
 *   4  u32  version 1
 *   8  i64  applied: the engine holds the changelog below this offset
 *  16  i64  row count at that offset
 *  24  u32  0
 *  28  u32  CRC-32C of the 28 bytes before
 *
 * Replaying from an older offset is harmless, so the mark may lag behind the engine, and a missing one means 0. */
#include "base/hash.h"
#include "base/reader.h"
#include "bucket/bucket_int.h"

#include <stdio.h>

#define MARK_MAGIC 0x4d564b57u
#define MARK_VERSION 1
#define MARK_BYTES 32
#define REPLAY_BYTES (4u << 20) /* of log read at once */

static void mark_path(const struct bucket *bucket, char *out)
{
    bucket_path(bucket, "kv", out);
    size_t len = strlen(out);
    snprintf(out + len, OS_PATH_MAX - len, ".mark");
}

enum err_code state_mark_write(struct bucket *bucket, int64_t applied, int64_t row_count, struct err *err)
{
    char path[OS_PATH_MAX];
    struct buf mark = {0};
    buf_put_u32(&mark, MARK_MAGIC);
    buf_put_u32(&mark, MARK_VERSION);
    buf_put_u64(&mark, (uint64_t)applied);
    buf_put_u64(&mark, (uint64_t)row_count);
    buf_put_u32(&mark, 0);
    buf_put_u32(&mark, crc32c(0, buf_view(&mark)));
    ASSERT(mark.len == MARK_BYTES);
    mark_path(bucket, path);
    enum err_code code = os_write_durable(bucket->env->os, path, buf_view(&mark), err);
    buf_deinit(&mark);
    return code;
}

static enum err_code mark_parse(const char *path, struct slice bytes, int64_t *applied, int64_t *row_count,
                                struct err *err)
{
    struct reader r = reader_of(bytes);
    uint32_t magic = reader_u32(&r), version = reader_u32(&r);
    int64_t offset = (int64_t)reader_u64(&r), rows = (int64_t)reader_u64(&r);
    reader_u32(&r);
    uint32_t crc = reader_u32(&r);
    if (!reader_done(&r) || magic != MARK_MAGIC || crc != crc32c(0, slice_of(bytes.ptr, MARK_BYTES - 4)))
        return err_set(err, ERR_CORRUPT, "%s is damaged", path);
    if (version != MARK_VERSION)
        return err_set(err, ERR_FORMAT_VERSION, "%s has version %u, this weir reads %d", path, version, MARK_VERSION);
    if (offset < 0 || rows < 0)
        return err_set(err, ERR_CORRUPT, "%s is damaged", path);
    *applied = offset;
    *row_count = rows;
    return OK;
}

/* The engine is only there once something was written to it, and opened when it is asked. */
static enum err_code engine_find(struct bucket *bucket, struct err *err)
{
    char path[OS_PATH_MAX];
    struct buf mark = {0};
    struct state *state = bucket->state;
    struct os_stat stat;
    mark_path(bucket, path);
    enum err_code code = os_read_whole(bucket->env->os, path, MARK_BYTES, &mark, err);
    if (code == ERR_NOT_FOUND) {
        /* An engine without a mark was written by a run that did not come so far; it is replayed over. */
        bucket_path(bucket, "kv", path);
        code = OK;
        state->engine_exists = os_stat(bucket->env->os, path, &stat, NULL) == OK;
    } else if (code == OK) {
        state->engine_exists = true;
        code = mark_parse(path, buf_view(&mark), &state->applied, &state->row_count, err);
    }
    buf_deinit(&mark);
    bucket_path(bucket, "kv", path);
    if (state->engine_exists)
        kv_slot_init(&state->engine, bucket->env->kv, path);
    return code;
}

/* ---- replay ---- */

struct replay {
    struct bucket *bucket;
    struct arena arena;
    struct buf key, value;
};

static enum err_code row_replay(struct replay *replay, const struct log_batch_rows *rows, uint32_t i, int64_t offset,
                                const struct state_schema *schema, struct err *err)
{
    struct state *state = replay->bucket->state;
    enum change_type change = log_batch_change(rows, i);
    if (change == CHANGE_UPDATE_BEFORE)
        return OK;
    uint32_t width = state->table->descriptor->schema.column_count;
    for (uint32_t c = 0; c < width; c++)
        state->new_row[c] = (struct datum){.is_null = true};
    for (uint32_t c = 0; c < rows->column_count; c++) {
        int32_t place = schema->to_newest.places ? schema->to_newest.places[c] : (int32_t)c;
        if (place >= 0)
            column_get(&rows->columns[c], i, &replay->arena, &state->new_row[place]);
    }
    buf_reset(&replay->key);
    TRY(key_encode(state->keys.primary_encoder, state->keys.primary_type, state->new_row, state->keys.primary,
                   &replay->key, err));
    buf_reset(&replay->value);
    if (change != CHANGE_DELETE) {
        kv_value_put_header(&replay->value, (int16_t)state->table->schema_id);
        TRY(row_encode(state->table->settings.kv_format, state_schema_find(state, state->table->schema_id)->row,
                       state->new_row, &replay->value, err));
    }
    size_t prefix_len = state_prefix_len(state, buf_view(&replay->key), &replay->arena);
    delta_put(state->active, buf_view(&replay->key), prefix_len, offset,
              change == CHANGE_DELETE ? (struct slice){0} : buf_view(&replay->value), NULL);
    if (state->table->settings.changelog_image == IMAGE_FULL)
        state->row_count += change == CHANGE_INSERT ? 1 : change == CHANGE_DELETE ? -1 : 0;
    return OK;
}

static enum err_code batch_replay(struct replay *replay, struct slice bytes, int64_t from, struct err *err)
{
    struct state *state = replay->bucket->state;
    struct log_batch batch;
    struct log_batch_rows rows;
    TRY(log_batch_read(bytes, &batch, err));
    if (batch.record_count == 0)
        return OK;
    const struct state_schema *schema = state_schema_find(state, batch.schema_id);
    if (!schema)
        return err_set(err, ERR_CORRUPT, "a batch of the changelog has the unknown schema %d", batch.schema_id);
    arena_reset(&replay->arena);
    TRY(log_batch_decode(&state->codec, &batch, state->table->settings.log_format, schema->row, &replay->arena, &rows,
                         err));
    for (uint32_t i = 0; i < rows.count; i++)
        if (batch.base_offset + i >= from)
            TRY(row_replay(replay, &rows, i, batch.base_offset + i, schema, err));
    return OK;
}

static enum err_code view_replay(struct replay *replay, struct log_view *view, int64_t from, struct err *err)
{
    struct buf bytes = {0};
    enum err_code code = log_view_locate(view, true, err);
    if (code == OK)
        code = log_view_read(view, &bytes, err);
    struct slice rest = buf_view(&bytes), batch;
    while (code == OK) {
        code = log_batch_next(&rest, &batch, err);
        if (code != OK || batch.len == 0)
            break;
        code = batch_replay(replay, batch, from, err);
    }
    buf_deinit(&bytes);
    return code;
}

static enum err_code changelog_replay(struct replay *replay, struct err *err)
{
    struct bucket *bucket = replay->bucket;
    int64_t end = log_end_offset(bucket->log);
    int64_t at = MAX(bucket->state->applied, log_start_offset(bucket->log));
    if (bucket->state->applied > end)
        return err_set(err, ERR_CORRUPT, "the state of bucket %d is at offset %lld, beyond its log's end %lld",
                       bucket->number, (long long)bucket->state->applied, (long long)end);
    while (at < end) {
        struct log_view view;
        TRY(log_view_at(bucket->log, at, end, REPLAY_BYTES, &view, err));
        enum err_code code = view_replay(replay, &view, at, err);
        int64_t next = view.next_offset;
        log_view_release(&view);
        TRY(code);
        ASSERT(next > at);
        at = next;
    }
    return OK;
}

/* Then there is no state either, and nothing to prepare before the first write. */
static enum err_code never_written(const struct bucket *bucket, struct err *err)
{
    if (bucket->state->engine_exists)
        return err_set(err, ERR_CORRUPT, "bucket %d has a state in %s and no log", bucket->number, bucket->home->dir);
    return OK;
}

static struct state *state_of(struct strand *strand)
{
    return CONTAINER_OF(strand, struct state, strand);
}

static void strand_hold(struct strand *strand)
{
    bucket_ref(state_of(strand)->bucket);
}

static void strand_release(struct strand *strand)
{
    bucket_unref(state_of(strand)->bucket);
}

enum err_code state_open(struct bucket *bucket, struct err *err)
{
    struct state *state = mem_zalloc(sizeof *state);
    bucket->state = state;
    state->bucket = bucket;
    os_mutex_init(&state->state_lock, bucket->env->os);
    os_mutex_init(&state->write_lock, bucket->env->os);
    strand_init(&state->strand, bucket->env->os, strand_hold, strand_release);
    state->number_column = bucket->table->descriptor->schema.auto_increment;
    state->active = delta_create();
    state->active_since_ns = os_mono_ns(bucket->env->os);
    TRY(state_prefix_init(bucket, err));
    TRY(engine_find(bucket, err));
    if (!bucket->log)
        return never_written(bucket, err);
    TRY(state_prepare(bucket, err));
    struct replay replay = {.bucket = bucket};
    enum err_code code = changelog_replay(&replay, err);
    arena_deinit(&replay.arena);
    arrow_codec_deinit(&state->codec); /* a hundred kilobytes that an idle bucket should not keep */
    buf_deinit(&replay.key);
    buf_deinit(&replay.value);
    state_count_locked(bucket);
    return code;
}

void state_close(struct bucket *bucket)
{
    struct state *state = bucket->state;
    __atomic_sub_fetch(&bucket->env->delta_bytes, state->counted_bytes, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&bucket->env->written_bytes, state->written_bytes, __ATOMIC_RELAXED);
    kv_slot_deinit(&state->engine);
    delta_unref(state->active);
    delta_unref(state->frozen);
    delta_unref(state->written);
    if (state->table)
        log_batch_builder_deinit(&state->changelog);
    table_unref(state->table);
    arrow_codec_deinit(&state->codec);
    arena_deinit(&state->arena);
    arena_deinit(&state->prefix_arena);
    table_unref(state->prefix_table);
    arena_deinit(&state->scratch);
    buf_deinit(&state->batch);
    mem_free(state->old_row);
    mem_free(state->new_row);
    strand_deinit(&state->strand);
    os_mutex_deinit(&state->write_lock);
    os_mutex_deinit(&state->state_lock);
    mem_free(state);
}
