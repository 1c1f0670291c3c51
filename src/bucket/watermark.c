/* Group commit, the high watermark, and who waits for it. */
#include "bucket/bucket_int.h"

enum err_code bucket_check_open_locked(const struct bucket *bucket, struct err *err)
{
    if (bucket->closed)
        return err_set(err, ERR_NOT_LEADER_OR_FOLLOWER, "bucket %d of table %lld is closed", bucket->number,
                       (long long)bucket->table->table_id);
    return OK;
}

enum err_code bucket_check_writable_locked(const struct bucket *bucket, struct err *err)
{
    if (bucket->sealed)
        return err_set(err, ERR_NOT_LEADER_OR_FOLLOWER, "bucket %d of table %lld is about to be dropped",
                       bucket->number, (long long)bucket->table->table_id);
    return bucket_check_open_locked(bucket, err);
}

struct bucket_waiter *bucket_take_waiters_locked(struct bucket *bucket)
{
    struct bucket_waiter *woken = NULL, **last = &woken;
    bool all = bucket->closed || bucket_log_failed(bucket);
    for (struct bucket_waiter *waiter = bucket->waiters, *next; waiter; waiter = next) {
        next = waiter->next;
        if (!all && waiter->offset > bucket->high_watermark)
            continue;
        *waiter->at = waiter->next;
        if (waiter->next)
            waiter->next->at = waiter->at;
        waiter->at = NULL;
        *last = waiter;
        last = &waiter->next;
    }
    *last = NULL;
    return woken;
}

void bucket_wake(struct bucket_waiter *woken)
{
    while (woken) {
        struct bucket_waiter *next = woken->next;
        woken->fn(woken);
        woken = next;
    }
}

static struct bucket_waiter *watermark_set_locked(struct bucket *bucket, int64_t offset)
{
    ASSERT(offset >= bucket->high_watermark && offset <= bucket_log_end(bucket));
    if (offset > bucket->high_watermark) {
        bucket->high_watermark = offset;
        tiering_note_end(bucket->tiering, bucket->number, bucket_rows_end_locked(bucket));
    }
    return bucket_take_waiters_locked(bucket);
}

void bucket_want_flush_locked(struct bucket *bucket)
{
    if (bucket->flush == FLUSH_IDLE) {
        bucket->flush = FLUSH_QUEUED;
        bucket->env->flush_wanted(bucket->env->arg, bucket);
    } else if (bucket->flush == FLUSH_RUNNING) {
        bucket->flush = FLUSH_RUNNING_AGAIN;
    }
}

void bucket_appended_locked(struct bucket *bucket, struct bucket_waiter **woken)
{
    *woken = NULL;
    if (bucket->env->flush_async) {
        *woken = watermark_set_locked(bucket, bucket_log_end(bucket));
        return;
    }
    bucket_want_flush_locked(bucket);
}

/* One sync; the caller is the one that runs. */
static void flush_once(struct bucket *bucket)
{
    struct err err;
    os_mutex_lock(&bucket->mutex);
    struct log_flush *flush = bucket->log ? log_flush_begin(bucket->log) : NULL;
    bool names = bucket->names_due;
    os_mutex_unlock(&bucket->mutex);
    if (!flush)
        return;
    int64_t begun_ns = os_mono_ns(bucket->env->os);
    if (names && bucket_home_sync(bucket->home, &err) != OK)
        log_flush_fail(flush, &err);
    else
        log_flush_run(flush);
    metric_observe(bucket->env->flush_time, (os_mono_ns(bucket->env->os) - begun_ns) / 1000);
    os_mutex_lock(&bucket->mutex);
    bucket->names_due = false; /* or the log has failed */
    struct bucket_waiter *woken;
    if (log_flush_end(bucket->log, flush, &err) == OK)
        woken = watermark_set_locked(bucket, MAX(bucket_log_durable(bucket), bucket->high_watermark));
    else
        woken = bucket_take_waiters_locked(bucket);
    os_mutex_unlock(&bucket->mutex);
    bucket_wake(woken);
}

/* One runs at a time; who comes meanwhile leaves word that there is more. */
static bool flush_enter(struct bucket *bucket)
{
    os_mutex_lock(&bucket->mutex);
    bool running = bucket->flush == FLUSH_RUNNING || bucket->flush == FLUSH_RUNNING_AGAIN;
    bucket->flush = running ? FLUSH_RUNNING_AGAIN : FLUSH_RUNNING;
    os_mutex_unlock(&bucket->mutex);
    return !running;
}

static bool flush_leave(struct bucket *bucket)
{
    os_mutex_lock(&bucket->mutex);
    bool again = bucket->flush == FLUSH_RUNNING_AGAIN;
    bucket->flush = again ? FLUSH_RUNNING : FLUSH_IDLE;
    os_mutex_unlock(&bucket->mutex);
    return !again;
}

static bool flush_run(struct bucket *bucket)
{
    if (!flush_enter(bucket))
        return false;
    do
        flush_once(bucket);
    while (!flush_leave(bucket));
    return true;
}

void bucket_flush(struct bucket *bucket)
{
    (void)flush_run(bucket);
}

static enum err_code durable_check(struct bucket *bucket, int64_t offset, bool *done, struct err *err)
{
    enum err_code code = OK;
    os_mutex_lock(&bucket->mutex);
    *done = bucket_log_durable(bucket) >= offset;
    if (!*done && bucket_log_failed(bucket))
        code = err_set(err, ERR_FAILED_STORAGE, "an earlier sync of the log failed");
    else if (!*done && offset > bucket_log_end(bucket))
        code = err_set(err, ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION, "offset %lld is beyond the log's end %lld",
                       (long long)offset, (long long)bucket_log_end(bucket));
    os_mutex_unlock(&bucket->mutex);
    return code;
}

enum err_code bucket_make_durable(struct bucket *bucket, int64_t offset, struct err *err)
{
    for (;;) {
        bool done;
        TRY(durable_check(bucket, offset, &done, err));
        if (done)
            return OK;
        /* Where another thread runs the flush this one only waits for it. */
        if (!flush_run(bucket))
            os_sleep_ns(bucket->env->os, 200000);
    }
}

bool bucket_wait(struct bucket *bucket, struct bucket_waiter *waiter, int64_t offset)
{
    os_mutex_lock(&bucket->mutex);
    bool waits = offset > bucket->high_watermark && !bucket->closed && !bucket_log_failed(bucket);
    if (waits) {
        waiter->offset = offset;
        waiter->next = bucket->waiters;
        waiter->at = &bucket->waiters;
        if (waiter->next)
            waiter->next->at = &waiter->next;
        bucket->waiters = waiter;
    }
    os_mutex_unlock(&bucket->mutex);
    return waits;
}

bool bucket_unwait(struct bucket *bucket, struct bucket_waiter *waiter)
{
    os_mutex_lock(&bucket->mutex);
    bool waited = waiter->at != NULL;
    if (waited) {
        *waiter->at = waiter->next;
        if (waiter->next)
            waiter->next->at = waiter->at;
        waiter->at = NULL;
    }
    os_mutex_unlock(&bucket->mutex);
    return waited;
}

void bucket_tell_refused(struct bucket *bucket, enum err_code code, const struct err *err)
{
    if (!err || (code != ERR_DISK_FULL && code != ERR_IO && code != ERR_FAILED_STORAGE && code != ERR_CORRUPT))
        return;
    const struct table_info *table = bucket_table(bucket);
    trace_warn_limited(bucket->env->trace, "bucket", "write_refused", trace_slice("table", table->name),
                       trace_i64("bucket", bucket->number), trace_err(err));
    table_unref(table);
}

enum err_code bucket_wait_result(struct bucket *bucket, int64_t offset, struct err *err)
{
    enum err_code code = OK;
    os_mutex_lock(&bucket->mutex);
    if (bucket->high_watermark < offset) {
        code = bucket_check_open_locked(bucket, err);
        if (code == OK)
            code = err_set(err, ERR_FAILED_STORAGE, "the log could not be made durable");
    }
    os_mutex_unlock(&bucket->mutex);
    return code;
}
