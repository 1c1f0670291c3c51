/* The life of a bucket. */
#include "bucket/bucket_int.h"

#include <stdio.h>

void bucket_path(const struct bucket *bucket, const char *kind, char *out)
{
    int len = snprintf(out, OS_PATH_MAX, "%s/%s-%d", bucket->home->dir, kind, bucket->number);
    ASSERT(len > 0 && len < OS_PATH_MAX);
}

int64_t bucket_table_id(const struct bucket *bucket)
{
    return bucket->home->table_id;
}

int64_t bucket_partition_id(const struct bucket *bucket)
{
    return bucket->home->partition_id;
}

int32_t bucket_number(const struct bucket *bucket)
{
    return bucket->number;
}

bool bucket_has_key(const struct bucket *bucket)
{
    return bucket->state != NULL;
}

struct strand *bucket_strand(struct bucket *bucket)
{
    return bucket->state ? &bucket->state->strand : NULL;
}

const struct table_info *bucket_table(struct bucket *bucket)
{
    os_mutex_lock(&bucket->mutex);
    const struct table_info *table = table_ref(bucket->table);
    os_mutex_unlock(&bucket->mutex);
    return table;
}

enum err_code bucket_has_no_key(struct bucket *bucket, struct err *err)
{
    const struct table_info *table = bucket_table(bucket);
    err_set(err, ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION, "table %.*s.%.*s has no primary key", SLICE_ARGS(table->database),
            SLICE_ARGS(table->name));
    table_unref(table);
    return ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION;
}

void bucket_set_table(struct bucket *bucket, const struct table_info *table)
{
    os_mutex_lock(&bucket->mutex);
    const struct table_info *old = bucket->table;
    ASSERT(table->table_id == old->table_id);
    bucket->table = table_ref(table);
    os_mutex_unlock(&bucket->mutex);
    table_unref(old);
}

void bucket_set_tiering(struct bucket *bucket, struct tiering_part *tiering)
{
    os_mutex_lock(&bucket->mutex);
    struct tiering_part *old = bucket->tiering;
    bucket->tiering = tiering ? tiering_part_ref(tiering) : NULL;
    tiering_note_end(tiering, bucket->number, bucket_rows_end_locked(bucket));
    os_mutex_unlock(&bucket->mutex);
    tiering_part_unref(old);
}

bool bucket_seal(struct bucket *bucket, int64_t end_offset)
{
    os_mutex_lock(&bucket->mutex);
    bool all = bucket_log_end(bucket) <= end_offset;
    bucket->sealed = all;
    os_mutex_unlock(&bucket->mutex);
    return all;
}

void bucket_unseal(struct bucket *bucket)
{
    os_mutex_lock(&bucket->mutex);
    bucket->sealed = false;
    os_mutex_unlock(&bucket->mutex);
}

static void bucket_free(struct bucket *bucket)
{
    bucket_metrics_release(bucket);
    if (bucket->state)
        state_close(bucket);
    if (bucket->log)
        log_abandon(bucket->log);
    table_unref(bucket->table);
    tiering_part_unref(bucket->tiering);
    bucket_home_unref(bucket->home);
    os_mutex_deinit(&bucket->mutex);
    mem_free(bucket);
}

struct bucket *bucket_ref(struct bucket *bucket)
{
    __atomic_add_fetch(&bucket->ref_count, 1, __ATOMIC_RELAXED);
    return bucket;
}

void bucket_unref(struct bucket *bucket)
{
    if (bucket && __atomic_sub_fetch(&bucket->ref_count, 1, __ATOMIC_ACQ_REL) == 0)
        bucket_free(bucket);
}

enum err_code bucket_open(struct bucket_env *env, const struct table_info *table, struct bucket_home *home,
                          int32_t number, struct tiering_part *tiering, struct bucket **out, struct err *err)
{
    enum err_code code;
    struct bucket *bucket = mem_zalloc(sizeof *bucket);
    bucket->env = env;
    bucket->home = bucket_home_ref(home);
    bucket->table = table_ref(table);
    bucket->number = number;
    bucket->ref_count = 1;
    os_mutex_init(&bucket->mutex, env->os);
    TRY_OR_FAIL(bucket_log_open(bucket, err));
    if (table->descriptor->schema.primary_key_count > 0)
        TRY_OR_FAIL(state_open(bucket, err));
    bucket_set_tiering(bucket, tiering);
    bucket_metrics_take(bucket);
    *out = bucket;
    return OK;
fail:
    bucket_free(bucket);
    return code;
}

/* The flush that runs, if one does, is waited for, so that nobody writes into the directory afterwards. */
static void flush_settle(struct bucket *bucket)
{
    for (;;) {
        os_mutex_lock(&bucket->mutex);
        bool idle = bucket->flush == FLUSH_IDLE || bucket->flush == FLUSH_QUEUED;
        os_mutex_unlock(&bucket->mutex);
        if (idle)
            return;
        os_sleep_ns(bucket->env->os, 200000);
    }
}

/* Nobody appends or flushes any more, so the mutex holds up only those who look at offsets. A log that cannot be left
 * well is read by the next opening. */
static void log_leave(struct bucket *bucket)
{
    os_mutex_lock(&bucket->mutex);
    if (bucket->log)
        (void)!log_settle(bucket->log, NULL);
    os_mutex_unlock(&bucket->mutex);
}

void bucket_close(struct bucket *bucket, enum bucket_end how)
{
    /* Writes that are in work first, so that the log's last state is one that a flush can reach. */
    if (bucket->state) {
        os_mutex_lock(&bucket->state->state_lock);
        os_mutex_lock(&bucket->state->write_lock);
    }
    os_mutex_lock(&bucket->mutex);
    bool was_closed = bucket->closed;
    bool flush = how != BUCKET_DROP && !was_closed && bucket_log_durable(bucket) < bucket_log_end(bucket);
    int64_t end = bucket_log_end(bucket);
    os_mutex_unlock(&bucket->mutex);
    if (flush)
        (void)!bucket_make_durable(bucket, end, NULL); /* a failure was told to the writers */
    os_mutex_lock(&bucket->mutex);
    bucket->closed = true;
    struct bucket_waiter *woken = bucket_take_waiters_locked(bucket);
    os_mutex_unlock(&bucket->mutex);
    bucket_wake(woken);
    flush_settle(bucket);
    if (how == BUCKET_SETTLE)
        log_leave(bucket);
    if (bucket->state) {
        os_mutex_unlock(&bucket->state->write_lock);
        os_mutex_unlock(&bucket->state->state_lock);
    }
}
