/* Reading: a view is taken under the lock, where the index in memory can be looked at, and located without it. */
#include "log/log_int.h"

#define UNKNOWN UINT64_MAX
enum { WINDOW_BYTES = 4096 };

static struct log_seek seek_of(const struct log_view *view)
{
    int64_t base = view->segment->base_offset;
    return (struct log_seek){.offset = (uint32_t)(MAX(view->seek_offset, base) - base),
                             .timestamp_ms = view->seek_timestamp_ms,
                             .by_time = view->seek_timestamp_ms >= 0,
                             .limit_offset = (uint32_t)(view->limit_offset - base),
                             .bytes_max = view->bytes_max};
}

static enum err_code take(struct log_segment *segment, struct log_view *view, struct err *err)
{
    TRY(log_segment_borrow(segment, &view->held, err));
    view->segment = log_segment_ref(segment);
    view->file = view->held->file;
    view->bytes_max = MIN(view->bytes_max, LOG_SEGMENT_BYTES_MAX);
    view->limit_offset = MIN(view->limit_offset, segment->next_offset);
    view->limit_position = view->limit_offset == segment->next_offset      ? segment->size
                           : view->limit_offset == segment->durable_offset ? segment->durable_size
                                                                           : UNKNOWN;
    view->from_position = view->jump_position = UNKNOWN;
    if (segment->index.entries.len) {
        struct log_seek seek = seek_of(view);
        log_index_seek(segment, &seek);
        view->from_position = seek.from;
        view->jump_position = seek.jump;
    }
    return OK;
}

/* The last segment that begins at or before offset. */
static struct log_segment *segment_of(const struct log *log, int64_t offset)
{
    size_t low = 0, high = log->segments.len;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (log->segments.ptr[middle]->base_offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return log->segments.ptr[low];
}

enum err_code log_view_at(struct log *log, int64_t offset, int64_t limit_offset, uint64_t bytes_max,
                          struct log_view *view, struct err *err)
{
    ASSERT(limit_offset <= log->end_offset);
    if (offset < log_start_offset(log) || offset > log->end_offset)
        return err_set(err, ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION, "offset %lld is not in [%lld, %lld]",
                       (long long)offset, (long long)log_start_offset(log), (long long)log->end_offset);
    struct log_view taken = {.base_offset = offset,
                             .next_offset = offset,
                             .seek_offset = offset,
                             .seek_timestamp_ms = -1,
                             .limit_offset = limit_offset,
                             .bytes_max = bytes_max};
    if (offset < limit_offset)
        TRY(take(segment_of(log, offset), &taken, err));
    *view = taken;
    return OK;
}

enum err_code log_view_at_time(struct log *log, int64_t timestamp_ms, int64_t limit_offset, uint64_t bytes_max,
                               struct log_view *view, struct err *err)
{
    ASSERT(limit_offset <= log->end_offset);
    struct log_view taken = {.base_offset = limit_offset,
                             .next_offset = limit_offset,
                             .seek_offset = -1,
                             .seek_timestamp_ms = MAX(timestamp_ms, 0),
                             .limit_offset = limit_offset,
                             .bytes_max = bytes_max};
    size_t low = 0, high = log->segments.len;
    while (low < high) { /* the first segment with a batch that is late enough; an empty one can only be the last */
        size_t middle = low + (high - low) / 2;
        const struct log_segment *segment = log->segments.ptr[middle];
        if (segment->size && segment->max_timestamp_ms < timestamp_ms)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < log->segments.len && log->segments.ptr[low]->base_offset < limit_offset)
        TRY(take(log->segments.ptr[low], &taken, err));
    *view = taken;
    return OK;
}

/* Walks over headers, reading the file a window at a time. */
struct walk {
    const struct log_view *view;
    uint64_t position; /* of batch */
    struct log_head batch;
    uint64_t window_at;
    size_t window_len;
    uint8_t window[WINDOW_BYTES];
};

static bool walk_ended(const struct walk *walk)
{
    return walk->batch.base_offset >= walk->view->limit_offset;
}

/* Loads the batch at position. Behind the last batch of the view there may be nothing: it counts as the limit. */
static enum err_code walk_to(struct walk *walk, uint64_t position, struct err *err)
{
    const struct log_view *view = walk->view;
    walk->position = position;
    if (position == view->limit_position) {
        walk->batch = (struct log_head){.base_offset = view->limit_offset};
        return OK;
    }
    if (position < walk->window_at || position + LOG_HEADER_BYTES_MAX > walk->window_at + walk->window_len) {
        TRY(os_file_read(view->file, position, walk->window, WINDOW_BYTES, &walk->window_len, err));
        walk->window_at = position;
    }
    size_t skip = position - walk->window_at;
    struct slice header = slice_of(walk->window + skip, walk->window_len - MIN(skip, walk->window_len));
    if (!log_head_read(header, &walk->batch))
        return err_set(err, ERR_CORRUPT, "no batch at %llu of %s", (unsigned long long)position,
                       view->segment->log_path);
    return OK;
}

static enum err_code walk_on(struct walk *walk, struct err *err)
{
    int64_t next = log_head_next(&walk->batch);
    TRY(walk_to(walk, walk->position + walk->batch.bytes, err));
    if (walk->batch.base_offset != next)
        return err_set(err, ERR_CORRUPT, "offset %lld, not %lld, at %llu of %s", (long long)walk->batch.base_offset,
                       (long long)next, (unsigned long long)walk->position, walk->view->segment->log_path);
    return OK;
}

static bool reached(const struct log_view *view, const struct log_head *batch)
{
    if (view->seek_timestamp_ms >= 0)
        return batch->timestamp_ms >= view->seek_timestamp_ms;
    return log_head_next(batch) > view->seek_offset;
}

/* From the first batch, as far as the bytes allow. */
static enum err_code measure(struct log_view *view, struct walk *walk, bool at_least_one, struct err *err)
{
    uint64_t start = walk->position;
    if (view->limit_position != UNKNOWN && view->limit_position - start <= view->bytes_max) {
        view->length = view->limit_position - start;
        view->next_offset = view->limit_offset;
        return OK;
    }
    if (at_least_one && walk->batch.bytes > view->bytes_max) {
        view->length = walk->batch.bytes;
        view->next_offset = log_head_next(&walk->batch);
        return OK;
    }
    if (view->jump_position > start)
        TRY(walk_to(walk, view->jump_position, err));
    while (!walk_ended(walk) && walk->position + walk->batch.bytes - start <= view->bytes_max)
        TRY(walk_on(walk, err));
    view->length = walk->position - start;
    view->next_offset = walk->batch.base_offset;
    return OK;
}

enum err_code log_view_locate(struct log_view *view, bool at_least_one, struct err *err)
{
    struct walk walk;
    if (!view->segment)
        return OK;
    if (view->from_position == UNKNOWN) {
        struct log_seek seek = seek_of(view);
        enum err_code code = log_index_seek_file(view->segment, &seek, err);
        if (code == ERR_NOT_FOUND) /* trimmed meanwhile: the batches are still there */
            seek.from = seek.jump = 0;
        else if (code != OK)
            return code;
        view->from_position = seek.from;
        view->jump_position = seek.jump;
    }
    walk.view = view;
    walk.window_at = walk.window_len = 0;
    TRY(walk_to(&walk, view->from_position, err));
    while (!walk_ended(&walk) && !reached(view, &walk.batch))
        TRY(walk_on(&walk, err));
    view->position = walk.position;
    view->base_offset = view->next_offset = walk.batch.base_offset;
    view->length = 0;
    return walk_ended(&walk) ? OK : measure(view, &walk, at_least_one, err);
}

enum err_code log_view_read(const struct log_view *view, struct buf *out, struct err *err)
{
    if (!view->length)
        return OK;
    size_t before = out->len, got = 0;
    uint8_t *to = buf_extend(out, view->length);
    enum err_code code = os_file_read(view->file, view->position, to, view->length, &got, err);
    if (code == OK && got < view->length)
        code = err_set(err, ERR_CORRUPT, "%s ends within its batches", view->segment->log_path);
    if (code != OK)
        out->len = before;
    return code;
}

void log_view_release(struct log_view *view)
{
    log_file_unref(view->held);
    log_segment_unref(view->segment);
    *view = (struct log_view){0};
}
