/* The state of a primary-key bucket: delta over engine. */
#include "bucket/bucket_int.h"

/* Asks a generation; true if it knows the key. */
static bool delta_answer(const struct delta *delta, struct slice key, int64_t below, struct arena *arena,
                         struct slice *value)
{
    const struct delta_version *version = delta_get(delta, key, below);
    if (!version)
        return false;
    *value = version->deleted ? (struct slice){0} : arena_dup(arena, version->value);
    return true;
}

enum err_code state_engine_take(struct state *state, bool may_block, struct kv **engine, struct err *err)
{
    *engine = NULL;
    if (!__atomic_load_n(&state->engine_exists, __ATOMIC_ACQUIRE))
        return OK;
    return kv_slot_take(&state->engine, may_block, engine, err);
}

void state_engine_release(struct state *state, struct kv *engine)
{
    if (engine)
        kv_slot_release(&state->engine);
}

enum err_code state_engine_get(struct kv *engine, struct slice key, bool may_block, struct arena *arena,
                               struct slice *value, struct err *err)
{
    struct kv_pin pin = {0};
    bool known = true;
    *value = (struct slice){0};
    if (!engine)
        return OK;
    if (may_block)
        TRY(kv_get(engine, key, &pin, err));
    else
        TRY(kv_get_cached(engine, key, &known, &pin, err));
    if (!known)
        return err_set(err, ERR_WOULD_BLOCK, "the key's block is on disk");
    if (pin.found)
        *value = arena_dup(arena, pin.value);
    kv_pin_release(&pin);
    return OK;
}

enum err_code bucket_lookup(struct bucket *bucket, struct slice key, bool may_block, struct arena *arena,
                            struct slice *value, struct err *err)
{
    struct state *state = bucket->state;
    if (!state)
        return bucket_has_no_key(bucket, err);
    os_mutex_lock(&bucket->mutex);
    enum err_code code = bucket_check_open_locked(bucket, err);
    bool found = code == OK && (delta_answer(state->active, key, bucket->high_watermark, arena, value) ||
                                delta_answer(state->frozen, key, bucket->high_watermark, arena, value) ||
                                delta_answer(state->written, key, bucket->high_watermark, arena, value));
    os_mutex_unlock(&bucket->mutex);
    if (code != OK || found)
        return code;
    /* The engine only gets newer, and what it says is durable. */
    struct kv *engine;
    TRY(state_engine_take(state, may_block, &engine, err));
    code = state_engine_get(engine, key, may_block, arena, value, err);
    state_engine_release(state, engine);
    return code;
}

bool bucket_in_memory(const struct bucket *bucket)
{
    const struct state *state = bucket->state;
    return !state || (!__atomic_load_n(&state->engine_exists, __ATOMIC_ACQUIRE) && state->number_column < 0);
}

static void count(size_t *total, size_t *counted, size_t bytes)
{
    __atomic_add_fetch(total, bytes - *counted, __ATOMIC_RELAXED);
    *counted = bytes;
}

void state_count_locked(struct bucket *bucket)
{
    struct state *state = bucket->state;
    count(&bucket->env->delta_bytes, &state->counted_bytes, delta_bytes(state->active) + delta_bytes(state->frozen));
    count(&bucket->env->written_bytes, &state->written_bytes, delta_bytes(state->written));
}

/* ---- when the delta is written ---- */

void bucket_want_state_flush(struct bucket *bucket)
{
    os_mutex_lock(&bucket->mutex);
    struct state *state = bucket->state;
    bool ask = state && !state->flush_wanted && !bucket->closed && state->active->entry_count > 0;
    if (ask)
        state->flush_wanted = true;
    os_mutex_unlock(&bucket->mutex);
    if (ask)
        bucket->env->state_flush_wanted(bucket->env->arg, bucket);
}

void bucket_tick(struct bucket *bucket, int64_t now_ns, struct bucket_ticked *tick)
{
    struct state *state = bucket->state;
    *tick = (struct bucket_ticked){0};
    if (!state || !__atomic_load_n(&bucket->log, __ATOMIC_ACQUIRE))
        return;
    os_mutex_lock(&bucket->mutex);
    size_t bytes = delta_bytes(state->active);
    bool some = state->active->entry_count > 0;
    bool old = now_ns - state->active_since_ns > bucket->env->delta_age_ms_max * 1000000;
    bool much = bucket_log_bytes(bucket) - state->applied_bytes > bucket->env->replay_bytes_max;
    tick->written_bytes = delta_bytes(state->written);
    tick->written_ns = state->active_since_ns;
    os_mutex_unlock(&bucket->mutex);
    if (some && (old || much))
        bucket_want_state_flush(bucket);
    tick->active_bytes = some ? bytes : 0;
}

void bucket_forget_written(struct bucket *bucket)
{
    struct state *state = bucket->state;
    os_mutex_lock(&bucket->mutex);
    struct delta *written = state->written;
    state->written = NULL;
    state_count_locked(bucket);
    os_mutex_unlock(&bucket->mutex);
    delta_unref(written);
}

/* ---- writing the delta to the engine ---- */

/* What is active becomes frozen; *end is what it covers the log up to. False: nothing to write. */
static bool freeze(struct bucket *bucket, int64_t *end, int64_t *row_count, uint64_t *bytes)
{
    struct state *state = bucket->state;
    struct delta *written = NULL;
    os_mutex_lock(&state->write_lock);
    os_mutex_lock(&bucket->mutex);
    state->flush_wanted = false;
    /* A generation that could not be written is still frozen: it is tried again, what came later waits. */
    bool some = state->frozen || (state->active->entry_count > 0 && !bucket->closed);
    if (some && !state->frozen) {
        written = state->written; /* its memory is needed now */
        state->written = NULL;
        state->frozen = state->active;
        state->active = delta_create();
        state->frozen_end = bucket_log_end(bucket);
        state->frozen_rows = state->row_count;
        state->frozen_bytes = bucket_log_bytes(bucket);
        state_count_locked(bucket);
    }
    *end = state->frozen_end;
    *row_count = state->frozen_rows;
    *bytes = state->frozen_bytes;
    os_mutex_unlock(&bucket->mutex);
    os_mutex_unlock(&state->write_lock);
    delta_unref(written);
    return some;
}

#define WRITE_AHEAD 8 /* items whose bytes, anywhere in memory, are asked for while others are written */

static void item_prefetch(const struct delta_item *item)
{
    __builtin_prefetch(item->key.ptr);
    __builtin_prefetch(item->version);
    __builtin_prefetch((const uint8_t *)item->version + 64); /* the value is behind it */
}

static enum err_code run_write(struct kv *kv, const struct delta_item *items, size_t count, bool with_deletes,
                               struct err *err)
{
    struct kv_run *run;
    bool any = false;
    enum err_code code = OK;
    TRY(kv_run_begin(kv, &run, err));
    for (size_t i = 0; i < count && code == OK; i++) {
        if (i + WRITE_AHEAD < count)
            item_prefetch(&items[i + WRITE_AHEAD]);
        bool deleted = items[i].version->deleted;
        if (deleted && !with_deletes)
            continue;
        any = true;
        code = deleted ? kv_run_delete(run, items[i].key, err)
                       : kv_run_put(run, items[i].key, items[i].version->value, err);
    }
    if (code == OK && any)
        return kv_run_finish(run, err);
    kv_run_drop(run);
    return code;
}

static enum err_code engine_write(struct bucket *bucket, struct err *err)
{
    struct state *state = bucket->state;
    char path[OS_PATH_MAX];
    struct kv *engine;
    size_t count;
    if (!state->engine.env) {
        bucket_path(bucket, "kv", path);
        kv_slot_init(&state->engine, bucket->env->kv, path);
    }
    TRY(kv_slot_take(&state->engine, true, &engine, err));
    struct delta_item *items = delta_collect(state->frozen, INT64_MAX, &count);
    delta_sort(items, count);
    enum err_code code = run_write(engine, items, count, state->engine_exists, err);
    mem_free(items);
    kv_slot_release(&state->engine);
    return code;
}

static enum err_code frozen_write(struct bucket *bucket, int64_t end, int64_t row_count, uint64_t bytes,
                                  struct err *err)
{
    struct state *state = bucket->state;
    /* The state is never ahead of the log. */
    TRY(bucket_make_durable(bucket, end, err));
    TRY(engine_write(bucket, err));
    os_mutex_lock(&bucket->mutex);
    __atomic_store_n(&state->engine_exists, true, __ATOMIC_RELEASE);
    state->written = state->frozen;
    state->frozen = NULL;
    state->applied = end;
    state->applied_bytes = bytes;
    state->active_since_ns = os_mono_ns(bucket->env->os);
    state_count_locked(bucket);
    os_mutex_unlock(&bucket->mutex);
    /* Later than the engine: a crash in between only makes the next start replay what the engine has. */
    return state_mark_write(bucket, end, row_count, err);
}

void bucket_state_flush(struct bucket *bucket)
{
    struct state *state = bucket->state;
    int64_t end, row_count;
    uint64_t bytes;
    os_mutex_lock(&state->state_lock);
    /* A failure leaves the generation frozen; the next tick asks again. */
    struct err err = {0};
    if (freeze(bucket, &end, &row_count, &bytes))
        bucket_tell_refused(bucket, frozen_write(bucket, end, row_count, bytes, &err), &err);
    os_mutex_unlock(&state->state_lock);
}
