/* Append: check, stamp, write. Nothing of the log changes before its bytes are in the file. */
#include "log/log_int.h"

struct append {
    struct log_head batches[LOG_APPEND_BATCHES_MAX];
    const uint8_t *places[LOG_APPEND_BATCHES_MAX];
    uint32_t count;
    uint64_t bytes;
    uint64_t offset_count; /* of all batches */
    int64_t timestamp_ms;
};

static enum err_code split(struct slice batches, struct append *append, struct err *err)
{
    append->bytes = batches.len;
    while (batches.len) {
        if (append->count == LOG_APPEND_BATCHES_MAX)
            return err_set(err, ERR_LIMIT, "more than %d batches in one append", LOG_APPEND_BATCHES_MAX);
        struct log_head *batch = &append->batches[append->count];
        if (!log_head_read(batches, batch) || batch->bytes > batches.len)
            return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION, "batch %u of an append is not whole", append->count);
        append->places[append->count++] = batches.ptr;
        append->offset_count += (uint64_t)batch->offset_delta + 1;
        batches = slice_of(batches.ptr + batch->bytes, batches.len - batch->bytes);
    }
    if (!append->count)
        return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION, "an append without a batch");
    if (append->bytes > LOG_SEGMENT_BYTES_MAX || append->offset_count > INT32_MAX)
        return err_set(err, ERR_LIMIT, "an append of %llu bytes, %llu records", (unsigned long long)append->bytes,
                       (unsigned long long)append->offset_count);
    return OK;
}

/* The sequence of the batch that the writer of batch i has before it in this append, or -1. */
static int32_t sequence_before(const struct append *append, uint32_t i)
{
    for (uint32_t j = i; j-- > 0;) {
        if (append->batches[j].writer_id == append->batches[i].writer_id)
            return append->batches[j].sequence;
    }
    return -1;
}

static void answer_duplicate(struct log_appended *appended, const struct log_writer_batch *first)
{
    *appended = (struct log_appended){first->base_offset, first->base_offset + first->offset_delta + 1,
                                      first->timestamp_ms, true};
}

/* One repeated batch makes the whole append a repeated one, as in Fluss; its clients send one batch at a time. */
static enum err_code check_writers(const struct log *log, const struct append *append, struct log_appended *appended,
                                   struct err *err)
{
    for (uint32_t i = 0; i < append->count; i++) {
        const struct log_head *batch = &append->batches[i];
        const struct log_writer_batch *first = NULL;
        if (batch->writer_id >= 0)
            TRY(log_writers_check(&log->writers, batch->writer_id, batch->sequence, sequence_before(append, i), &first,
                                  err));
        if (!first)
            continue;
        answer_duplicate(appended, first);
        break;
    }
    return OK;
}

enum err_code log_writer_check(const struct log *log, int64_t writer_id, int32_t sequence,
                               struct log_appended *appended, struct err *err)
{
    const struct log_writer_batch *first = NULL;
    if (writer_id >= 0)
        TRY(log_writers_check(&log->writers, writer_id, sequence, -1, &first, err));
    *appended = (struct log_appended){0};
    if (first)
        answer_duplicate(appended, first);
    return OK;
}

size_t log_writer_count(const struct log *log)
{
    return log->writers.count;
}

/* Bytes that a failed append left behind the end could be whole batches with the offsets that come next: they go before
 * anything else is written, else a later recovery might take them for appended. */
static enum err_code clean_tail(struct log *log, struct err *err)
{
    struct log_segment *active = log_active(log);
    if (!log->tail_dirty)
        return OK;
    TRY(os_file_truncate(active->file->file, active->size, err));
    active->allocated = active->size;
    log->tail_dirty = false;
    return OK;
}

static bool fits(const struct log *log, const struct append *append)
{
    const struct log_segment *active = log_active(log);
    uint64_t offsets = (uint64_t)(active->next_offset - active->base_offset);
    return active->size == 0 ||
           (active->size + append->bytes <= log->options.segment_bytes && offsets + append->offset_count <= INT32_MAX);
}

/* The first bytes of each header, with base offset and commit time set, then the rest as it came. */
static void stamp(struct log *log, const struct append *append)
{
    buf_reset(&log->stamps);
    vec_reset(&log->pieces);
    uint8_t *at = buf_extend(&log->stamps, (size_t)append->count * LOG_STAMP_BYTES);
    int64_t offset = log->end_offset;
    for (uint32_t i = 0; i < append->count; i++, at += LOG_STAMP_BYTES) {
        const struct log_head *batch = &append->batches[i];
        memcpy(at, append->places[i], LOG_STAMP_BYTES);
        store_u64(at, (uint64_t)offset);
        store_u64(at + 13, (uint64_t)append->timestamp_ms);
        vec_push(&log->pieces, slice_of(at, LOG_STAMP_BYTES));
        vec_push(&log->pieces, slice_of(append->places[i] + LOG_STAMP_BYTES, batch->bytes - LOG_STAMP_BYTES));
        offset += batch->offset_delta + 1;
    }
}

static enum err_code write_batches(struct log *log, const struct append *append, struct err *err)
{
    TRY(clean_tail(log, err));
    if (!fits(log, append))
        TRY(log_roll(log, err));
    struct log_segment *active = log_active(log);
    TRY(log_segment_reserve(active, active->size + append->bytes, log->options.segment_bytes, err));
    stamp(log, append);
    enum err_code code = os_file_writev(active->file->file, active->size, log->pieces.ptr, log->pieces.len, err);
    if (code == OK)
        return OK;
    log->tail_dirty = true;
    (void)!clean_tail(log, NULL); /* else before the next append */
    return code;
}

static void note_batches(struct log *log, const struct append *append)
{
    struct log_segment *active = log_active(log);
    for (uint32_t i = 0; i < append->count; i++) {
        struct log_head batch = append->batches[i];
        batch.base_offset = log->end_offset;
        batch.timestamp_ms = append->timestamp_ms;
        log_segment_note(active, &batch, active->size, log->options.index_interval_bytes);
        if (batch.writer_id >= 0)
            log_writers_note(
                &log->writers, batch.writer_id,
                (struct log_writer_batch){batch.sequence, batch.offset_delta, batch.base_offset, batch.timestamp_ms});
        log->end_offset = active->next_offset;
        if (batch.has_rows)
            log->rows_end_offset = log->end_offset;
    }
    log->max_timestamp_ms = append->timestamp_ms;
    log->bytes += append->bytes;
    log->unchecked_bytes += append->bytes;
}

enum err_code log_append(struct log *log, struct slice batches, struct log_appended *appended, struct err *err)
{
    struct append append;
    append.count = 0;
    append.offset_count = 0;
    if (log->failed)
        return err_set(err, ERR_FAILED_STORAGE, "an earlier sync of %s failed", log->dir);
    append.timestamp_ms = MAX(log->max_timestamp_ms, os_wall_ms(log->os));
    log_writers_expire(&log->writers, append.timestamp_ms - log->options.writer_expiry_ms);
    TRY(split(batches, &append, err));
    struct log_appended result = {0};
    TRY(check_writers(log, &append, &result, err));
    if (!result.duplicate) {
        TRY(write_batches(log, &append, err));
        int64_t base = log->end_offset;
        note_batches(log, &append);
        result = (struct log_appended){base, log->end_offset, append.timestamp_ms, false};
        log_check(log);
    }
    *appended = result;
    return OK;
}
