/* The log as a whole: open, close, roll, trim, and what always holds. */
#include "log/log_int.h"

struct log_options log_options_default(void)
{
    return (struct log_options){.segment_bytes = 1 << 30,
                                .index_interval_bytes = 4096,
                                .checkpoint_bytes = 16 << 20,
                                .writer_expiry_ms = (int64_t)7 * 24 * 3600 * 1000};
}

void log_check(const struct log *log)
{
    ASSERT(log->segments.len > 0);
    const struct log_segment *active = log_active(log);
    ASSERT(log_start_offset(log) <= log->durable_offset);
    ASSERT(log->durable_offset <= log->end_offset);
    ASSERT(active->next_offset == log->end_offset);
    ASSERT(log->rows_end_offset <= log->end_offset);
    ASSERT(active->base_offset <= active->next_offset);
    ASSERT((active->size == 0) == (active->base_offset == active->next_offset));
    ASSERT(active->index.count == active->index.entries.len);
    ASSERT(active->index.persisted <= active->index.count);
    ASSERT(active->max_timestamp_ms <= log->max_timestamp_ms);
    if (log->segments.len > 1)
        ASSERT(log->segments.ptr[log->segments.len - 2]->next_offset == active->base_offset);
}

static char *path_in(const char *dir, const char *name)
{
    struct buf path = {0};
    buf_printf(&path, "%s%s%s", dir, *name ? "/" : "", name);
    (void)buf_cstr(&path);
    return (char *)path.ptr;
}

static struct log *log_alloc(struct os *os, const char *dir, const struct log_options *options)
{
    ASSERT(options->segment_bytes > 0 && options->segment_bytes <= LOG_SEGMENT_BYTES_MAX);
    struct log *log = mem_zalloc(sizeof *log);
    log->os = os;
    log->dir = path_in(dir, "");
    log->checkpoint_path = path_in(dir, "checkpoint");
    log->options = *options;
    log->max_timestamp_ms = -1;
    return log;
}

enum err_code log_create(struct os *os, const char *dir, const struct log_options *options, struct log **log,
                         struct err *err)
{
    struct log *created = log_alloc(os, dir, options);
    enum err_code code = log_roll(created, err);
    if (code != OK) {
        log_abandon(created);
        return code;
    }
    log_check(created);
    *log = created;
    return OK;
}

enum err_code log_open(struct os *os, const char *dir, const struct log_options *options, int64_t base_offset,
                       struct log **log, struct log_recovery *recovery, struct err *err)
{
    ASSERT(base_offset >= 0);
    struct log *opened = log_alloc(os, dir, options);
    struct log_recovery found = {0};
    enum err_code code = log_recover(opened, base_offset, &found, err);
    if (code != OK) {
        log_abandon(opened);
        return code;
    }
    log_check(opened);
    *log = opened;
    *recovery = found;
    return OK;
}

void log_abandon(struct log *log)
{
    if (!log)
        return;
    ASSERT(!log->flushing);
    for (size_t i = 0; i < log->segments.len; i++)
        log_segment_unref(log->segments.ptr[i]);
    for (size_t i = 0; i < log->trimmed.len; i++)
        log_segment_unref(log->trimmed.ptr[i]);
    vec_deinit(&log->segments);
    vec_deinit(&log->trimmed);
    log_writers_deinit(&log->writers);
    buf_deinit(&log->stamps);
    vec_deinit(&log->pieces);
    mem_free(log->dir);
    mem_free(log->checkpoint_path);
    mem_free(log);
}

enum err_code log_settle(struct log *log, struct err *err)
{
    const struct log_segment *active = log_active(log);
    bool settled = log->durable_offset == log->end_offset && !log->checkpoint_due && log->unchecked_bytes == 0 &&
                   log->trimmed.len == 0 && active->allocated == active->size && active->named;
    return settled || log->failed ? OK : log_flush_closing(log, err);
}

enum err_code log_close(struct log *log, struct err *err)
{
    enum err_code code = OK;
    if (log)
        code = log_settle(log, err);
    log_abandon(log);
    return code;
}

enum err_code log_roll(struct log *log, struct err *err)
{
    ASSERT(!log->tail_dirty);
    /* Recovery takes a log whose first segment is missing for damaged; so there is no second one before that name is
     * durable. */
    if (log->segments.len == 1 && !log->segments.ptr[0]->named) {
        TRY(os_dir_sync(log->os, log->dir, err));
        log->segments.ptr[0]->named = true;
    }
    struct log_segment *segment = log_segment_create(log->os, log->dir, log->end_offset);
    enum err_code code = log_segment_open(segment, OS_WRITE | OS_CREATE | OS_TRUNC, err);
    if (code != OK) {
        log_segment_unref(segment);
        return code;
    }
    if (log->segments.len)
        log->unlisted_count++;
    vec_push(&log->segments, segment);
    return OK;
}

int64_t log_start_offset(const struct log *log)
{
    return log->segments.ptr[0]->base_offset;
}

int64_t log_durable_offset(const struct log *log)
{
    return log->durable_offset;
}

int64_t log_end_offset(const struct log *log)
{
    return log->end_offset;
}

int64_t log_rows_end_offset(const struct log *log)
{
    return MAX(log->rows_end_offset, log_start_offset(log));
}

int64_t log_max_timestamp_ms(const struct log *log)
{
    return log->max_timestamp_ms;
}

uint64_t log_bytes(const struct log *log)
{
    return log->bytes;
}

size_t log_segment_count(const struct log *log)
{
    return log->segments.len;
}

bool log_failed(const struct log *log)
{
    return log->failed;
}

void log_trim(struct log *log, int64_t offset)
{
    ASSERT(offset <= log->durable_offset);
    size_t count = 0;
    for (; count + 1 < log->segments.len && log->segments.ptr[count]->next_offset <= offset; count++) {
        vec_push(&log->trimmed, log->segments.ptr[count]);
        log->bytes -= log->segments.ptr[count]->size;
    }
    memmove(log->segments.ptr, log->segments.ptr + count, (log->segments.len - count) * sizeof *log->segments.ptr);
    log->segments.len -= count;
    log->checkpoint_due |= count > 0;
    log_check(log);
}

enum err_code log_roll_before(struct log *log, int64_t before_ms, struct err *err)
{
    const struct log_segment *active = log_active(log);
    if (!active->size || active->max_timestamp_ms >= before_ms || log->tail_dirty)
        return OK;
    TRY(log_roll(log, err));
    log_check(log);
    return OK;
}

int64_t log_offset_before(const struct log *log, int64_t before_ms)
{
    int64_t offset = log_start_offset(log);
    for (size_t i = 0; i < log->segments.len; i++) {
        const struct log_segment *segment = log->segments.ptr[i];
        if (!segment->size || segment->max_timestamp_ms >= before_ms)
            break;
        offset = segment->next_offset;
    }
    return offset;
}
