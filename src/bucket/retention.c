/* Retention by time: whole segments of a log table go when their newest row is older than table.log.ttl, never past
 * what is on disk, nor, where the table has a lake, past what that holds. The changelog of a primary-key table stays
 * whole: there are no snapshots of the state from which a reader could begin instead (docs/decisions/0050). */
#include "bucket/bucket_int.h"

static int64_t limit_locked(const struct bucket *bucket)
{
    int64_t limit = MIN(bucket->high_watermark, log_durable_offset(bucket->log));
    if (bucket->table->settings.lake_enabled)
        limit = MIN(limit, tiering_lake_end(bucket->tiering, bucket->number));
    return limit;
}

static void expire_locked(struct bucket *bucket, bool roll_active)
{
    struct log *log = bucket->log;
    int64_t start = log_start_offset(log);
    int64_t before_ms = os_wall_ms(bucket->env->os) - bucket->table->settings.log_ttl_ms;
    /* A full disk may refuse the new segment: then the old one stays until the next time. */
    if (roll_active)
        (void)!log_roll_before(log, before_ms, NULL);
    int64_t old = log_offset_before(log, before_ms);
    log_trim(log, MIN(old, limit_locked(bucket)));
    /* The files go with a flush; without one (weir.log.flush=async) what is old may not be on disk yet. */
    if (log_start_offset(log) > start || old > log_durable_offset(log))
        bucket_want_flush_locked(bucket);
    if (log_start_offset(log) > start)
        trace_info(bucket->env->trace, "bucket", "log_trimmed", trace_slice("database", bucket->table->database),
                   trace_slice("table", bucket->table->name), trace_i64("partition", bucket->home->partition_id),
                   trace_i64("bucket", bucket->number), trace_i64("start", log_start_offset(log)));
}

void bucket_expire(struct bucket *bucket, bool roll_active)
{
    if (bucket->state || !__atomic_load_n(&bucket->log, __ATOMIC_ACQUIRE))
        return;
    os_mutex_lock(&bucket->mutex);
    if (!bucket->closed && !bucket_log_failed(bucket) && bucket->table->settings.log_ttl_ms > 0)
        expire_locked(bucket, roll_active);
    os_mutex_unlock(&bucket->mutex);
}
