/* Reading the log, below the watermark. */
#include "bucket/bucket_int.h"

#define OFFSET_EARLIEST (-2) /* as clients ask for it in FETCH_LOG */

/* Under the mutex: the view to locate, and the offsets of the answer. */
static enum err_code view_locked(struct bucket *bucket, int64_t offset, size_t bytes_max, struct bucket_range *range,
                                 struct err *err)
{
    TRY(bucket_check_open_locked(bucket, err));
    range->high_watermark = bucket->high_watermark;
    range->start_offset = bucket_log_start(bucket);
    if (offset == OFFSET_EARLIEST)
        offset = range->start_offset;
    if (offset < range->start_offset || offset > bucket_log_end(bucket))
        return err_set(err, ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION, "offset %lld is not in [%lld, %lld] of bucket %d",
                       (long long)offset, (long long)range->start_offset, (long long)bucket_log_end(bucket),
                       bucket->number);
    range->next_offset = offset;
    if (offset >= range->high_watermark)
        return OK;
    return log_view_at(bucket->log, offset, range->high_watermark, bytes_max, &range->view, err);
}

enum err_code bucket_fetch(struct bucket *bucket, int64_t offset, size_t bytes_max, bool force_one,
                           struct bucket_range *range, struct err *err)
{
    *range = (struct bucket_range){0};
    os_mutex_lock(&bucket->mutex);
    enum err_code code = view_locked(bucket, offset, bytes_max, range, err);
    os_mutex_unlock(&bucket->mutex);
    TRY(code);
    if (!range->view.segment)
        return OK;
    code = log_view_locate(&range->view, force_one, err);
    if (code != OK) {
        log_view_release(&range->view);
        return code;
    }
    if (range->view.length > 0)
        range->next_offset = range->view.next_offset;
    return OK;
}

static enum err_code offset_by_time(struct bucket *bucket, int64_t timestamp_ms, int64_t *offset, struct err *err)
{
    struct log_view view = {0};
    if (timestamp_ms > os_wall_ms(bucket->env->os))
        return err_set(err, ERR_INVALID_TIMESTAMP_EXCEPTION, "timestamp %lld is in the future",
                       (long long)timestamp_ms);
    os_mutex_lock(&bucket->mutex);
    enum err_code code = bucket_check_open_locked(bucket, err);
    if (code == OK && bucket->log)
        code = log_view_at_time(bucket->log, timestamp_ms, bucket->high_watermark, 1, &view, err);
    os_mutex_unlock(&bucket->mutex);
    TRY(code);
    code = view.segment ? log_view_locate(&view, true, err) : OK;
    if (code == OK)
        *offset = view.base_offset;
    log_view_release(&view);
    return code;
}

enum err_code bucket_list_offset(struct bucket *bucket, enum bucket_offset_kind kind, int64_t timestamp_ms,
                                 int64_t *offset, struct err *err)
{
    if (kind == BUCKET_TIMESTAMP)
        return offset_by_time(bucket, timestamp_ms, offset, err);
    os_mutex_lock(&bucket->mutex);
    enum err_code code = bucket_check_open_locked(bucket, err);
    if (code == OK)
        *offset = kind == BUCKET_EARLIEST ? bucket_log_start(bucket) : bucket_rows_end_locked(bucket);
    os_mutex_unlock(&bucket->mutex);
    return code;
}

void bucket_offsets(struct bucket *bucket, struct bucket_offsets *offsets)
{
    os_mutex_lock(&bucket->mutex);
    *offsets = (struct bucket_offsets){.start = bucket_log_start(bucket),
                                       .high_watermark = bucket->high_watermark,
                                       .end = bucket_log_end(bucket),
                                       .log_bytes = bucket_log_bytes(bucket)};
    if (!bucket->state)
        offsets->row_count = offsets->high_watermark - offsets->start;
    else
        offsets->row_count = bucket->table->settings.changelog_image == IMAGE_FULL ? bucket->state->row_count : -1;
    os_mutex_unlock(&bucket->mutex);
}
