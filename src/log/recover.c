/* Opening: what the checkpoint covers is believed, what lies behind it is read, checked batch by batch, and cut at the
 * first byte that is not a whole batch with the next offset.
 *
 * What was read is also written again in place before it is synced: after a failed sync the page cache may show bytes
 * that are not on the disk and that no later sync would write. The files of a log that was closed in order have nothing
 * behind the checkpoint. */
#include "log/log_int.h"

#include <stdio.h>
#include <stdlib.h>

enum { WINDOW_BYTES = 1 << 20 };

struct scan {
    struct os_file *file;
    uint64_t file_size;
    struct buf window;
    uint64_t window_at;
};

struct recover {
    struct log *log;
    struct log_recovery *found;
    VEC(int64_t) bases;   /* of segment files, sorted */
    VEC(int64_t) indexes; /* of index files */
    struct log_checkpoint checkpoint;
    bool has_checkpoint;
    bool bad_checkpoint;
    int64_t covered; /* the end of what the checkpoint lists */
    struct scan scan;
};

/* ---- the directory ---- */

static bool base_of(const char *name, const char *ext, int64_t *base)
{
    struct slice s = slice_str(name);
    struct slice digits = slice_of(s.ptr, MIN(s.len, 20));
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return false;
    }
    return s.len > 20 && !strcmp(name + 20, ext) && slice_to_i64(digits, base);
}

static enum err_code note_name(void *arg, const char *name, bool is_dir, struct err *err)
{
    (void)err;
    struct recover *recover = arg;
    int64_t base;
    if (is_dir)
        return OK;
    if (base_of(name, ".log", &base))
        vec_push(&recover->bases, base);
    else if (base_of(name, ".index", &base))
        vec_push(&recover->indexes, base);
    return OK;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool has_base(const struct recover *recover, int64_t base)
{
    return recover->bases.len && bsearch(&base, recover->bases.ptr, recover->bases.len, sizeof base, by_value) != NULL;
}

static enum err_code not_found_is_fine(enum err_code code)
{
    return code == ERR_NOT_FOUND ? OK : code;
}

static enum err_code remove_file(const struct recover *recover, int64_t base, const char *ext, struct err *err)
{
    char path[OS_PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/%020lld.%s", recover->log->dir, (long long)base, ext) >= sizeof path)
        return err_set(err, ERR_LIMIT, "path longer than %d bytes", OS_PATH_MAX);
    return not_found_is_fine(os_unlink(recover->log->os, path, err));
}

/* ---- reading and checking ---- */

/* len bytes at position, or fewer at the end of the file; valid until the next call. */
static enum err_code scan_bytes(struct scan *scan, uint64_t position, uint64_t len, struct slice *bytes,
                                struct err *err)
{
    uint64_t left = scan->file_size - MIN(position, scan->file_size);
    len = MIN(len, left);
    if (position < scan->window_at || position + len > scan->window_at + scan->window.len) {
        size_t wanted = (size_t)MIN(MAX(len, WINDOW_BYTES), left), got;
        buf_reset(&scan->window);
        TRY(os_file_read(scan->file, position, buf_extend(&scan->window, wanted), wanted, &got, err));
        scan->window.len = got;
        scan->window_at = position;
        len = MIN(len, got);
    }
    *bytes = slice_of(scan->window.ptr ? scan->window.ptr + (position - scan->window_at) : NULL, (size_t)len);
    return OK;
}

/* A whole batch with the offset that comes next, or not (batch->bytes 0). */
static enum err_code scan_batch(struct scan *scan, uint64_t position, int64_t offset, struct log_head *batch,
                                struct err *err)
{
    struct slice bytes;
    struct log_head read;
    batch->bytes = 0;
    TRY(scan_bytes(scan, position, LOG_HEADER_BYTES_MAX, &bytes, err));
    if (!log_head_read(bytes, &read) || read.base_offset != offset || read.bytes > scan->file_size - position ||
        position + read.bytes > LOG_SEGMENT_BYTES_MAX)
        return OK;
    TRY(scan_bytes(scan, position, read.bytes, &bytes, err));
    if (log_head_intact(bytes, &read))
        *batch = read;
    return OK;
}

/* Writes [from, to) of the file over itself. */
static enum err_code rewrite(struct scan *scan, uint64_t from, uint64_t to, struct err *err)
{
    while (from < to) {
        struct slice bytes;
        TRY(scan_bytes(scan, from, MIN(to - from, WINDOW_BYTES), &bytes, err));
        if (!bytes.len)
            return err_set(err, ERR_IO, "a segment became shorter while it was read");
        TRY(os_file_write(scan->file, from, bytes, err));
        from += bytes.len;
    }
    return OK;
}

/* How many bytes behind from are more than preallocated zeros. */
static enum err_code torn_bytes(struct scan *scan, uint64_t from, uint64_t *torn, struct err *err)
{
    *torn = 0;
    for (uint64_t at = from; at < scan->file_size;) {
        struct slice bytes;
        TRY(scan_bytes(scan, at, WINDOW_BYTES, &bytes, err));
        if (!bytes.len)
            break;
        for (size_t i = 0; i < bytes.len; i++) {
            if (bytes.ptr[i])
                *torn = at + i + 1 - from;
        }
        at += bytes.len;
    }
    return OK;
}

static void note_batch(struct recover *recover, struct log_segment *segment, const struct log_head *batch)
{
    struct log *log = recover->log;
    log_segment_note(segment, batch, segment->size, log->options.index_interval_bytes);
    log->max_timestamp_ms = MAX(log->max_timestamp_ms, batch->timestamp_ms);
    if (batch->has_rows)
        log->rows_end_offset = MAX(log->rows_end_offset, segment->next_offset);
    if (batch->writer_id >= 0 && batch->base_offset >= recover->covered)
        log_writers_note(
            &log->writers, batch->writer_id,
            (struct log_writer_batch){batch->sequence, batch->offset_delta, batch->base_offset, batch->timestamp_ms});
    recover->found->scanned_bytes += batch->bytes;
}

/* Reads the segment from its size on, up to upto bytes, and cuts what is not whole. */
static enum err_code scan_segment(struct recover *recover, struct log_segment *segment, uint64_t upto, struct err *err)
{
    struct scan *scan = &recover->scan;
    uint64_t from = segment->size, torn;
    TRY(log_segment_open(segment, OS_WRITE | OS_CREATE, err));
    scan->file = segment->file->file;
    buf_reset(&scan->window);
    scan->window_at = 0;
    TRY(os_file_size(scan->file, &scan->file_size, err));
    while (segment->size < upto) {
        struct log_head batch;
        TRY(scan_batch(scan, segment->size, segment->next_offset, &batch, err));
        if (!batch.bytes)
            break;
        note_batch(recover, segment, &batch);
    }
    TRY(rewrite(scan, from, segment->size, err));
    TRY(torn_bytes(scan, segment->size, &torn, err));
    recover->found->cut_bytes += torn;
    if (segment->size < scan->file_size)
        TRY(os_file_truncate(scan->file, segment->size, err));
    segment->allocated = segment->size;
    return OK;
}

/* ---- what the checkpoint covers ---- */

static enum err_code read_checkpoint(struct recover *recover, struct err *err)
{
    struct log *log = recover->log;
    struct buf bytes = {0};
    enum err_code code = os_read_whole(log->os, log->checkpoint_path, LOG_CHECKPOINT_BYTES_MAX, &bytes, err);
    if (code == OK)
        code = log_checkpoint_decode(buf_view(&bytes), &recover->checkpoint, &log->writers, err);
    buf_deinit(&bytes);
    recover->has_checkpoint = code == OK;
    if (code == OK) {
        log->checkpointed_base = recover->checkpoint.segments.ptr[recover->checkpoint.segments.len - 1].base_offset;
        log->max_timestamp_ms = recover->checkpoint.max_timestamp_ms;
        log->rows_end_offset = recover->checkpoint.rows_end_offset;
        recover->covered = recover->checkpoint.segments.ptr[recover->checkpoint.segments.len - 1].next_offset;
        return OK;
    }
    if (code != ERR_NOT_FOUND && code != ERR_CORRUPT && code != ERR_LIMIT)
        return code;
    recover->bad_checkpoint = code != ERR_NOT_FOUND;
    vec_reset(&recover->checkpoint.segments);
    log_writers_deinit(&log->writers);
    log->writers = (struct log_writers){0};
    return OK;
}

static enum err_code file_size(const struct log_segment *segment, uint64_t *size, struct err *err)
{
    struct os_stat stat;
    enum err_code code = os_stat(segment->os, segment->log_path, &stat, err);
    *size = code == OK ? stat.size : 0;
    return not_found_is_fine(code);
}

static void believe(struct log_segment *segment, const struct log_checkpoint_segment *listed)
{
    segment->next_offset = listed->next_offset;
    segment->size = listed->size;
    segment->max_timestamp_ms = listed->max_timestamp_ms;
}

/* What was read of a segment that another follows; its file is not kept open, there may be more of them than
 * descriptors. */
static enum err_code sync_sealed(struct log_segment *segment, struct err *err)
{
    TRY(os_file_sync(segment->file->file, err));
    log_segment_settle(segment);
    return OK;
}

/* A flush looks only at the newest segments, so an older one is settled here. */
static enum err_code remake_index(struct log_segment *segment, struct err *err)
{
    struct log_index *index = &segment->index;
    TRY(sync_sealed(segment, err));
    segment->named = true;
    enum err_code code = log_index_write(segment->os, segment->index_path, 0, index->entries.ptr, index->count, err);
    if (code == ERR_DISK_FULL) /* it stays in memory */
        return OK;
    if (code == OK) {
        index->persisted = index->count;
        vec_deinit(&index->entries);
    }
    return code;
}

/* A sealed segment is as it was listed; its index may have to be made again. */
static enum err_code add_sealed(struct recover *recover, const struct log_checkpoint_segment *listed, struct err *err)
{
    struct log *log = recover->log;
    struct log_segment *segment = log_segment_create(log->os, log->dir, listed->base_offset);
    vec_push(&log->segments, segment);
    uint64_t size;
    TRY(file_size(segment, &size, err));
    if (size < listed->size)
        return err_set(err, ERR_CORRUPT, "%s has %llu bytes, %llu were on disk", segment->log_path,
                       (unsigned long long)size, (unsigned long long)listed->size);
    believe(segment, listed);
    if (log_index_load(segment, listed->index_count)) {
        vec_deinit(&segment->index.entries);
        segment->synced = segment->named = true;
        return OK;
    }
    segment->next_offset = segment->base_offset;
    segment->size = 0;
    TRY(scan_segment(recover, segment, listed->size, err));
    if (segment->next_offset != listed->next_offset)
        return err_set(err, ERR_CORRUPT, "%s holds offsets up to %lld, %lld were on disk", segment->log_path,
                       (long long)segment->next_offset, (long long)listed->next_offset);
    return remake_index(segment, err);
}

/* The segment that was written to at the checkpoint: believed so far, read from there. */
static enum err_code add_last(struct recover *recover, const struct log_checkpoint_segment *listed, struct err *err)
{
    struct log *log = recover->log;
    struct log_segment *segment = log_segment_create(log->os, log->dir, listed->base_offset);
    vec_push(&log->segments, segment);
    uint64_t size;
    TRY(file_size(segment, &size, err));
    if (size >= listed->size) {
        believe(segment, listed);
        if (!log_index_load(segment, listed->index_count)) {
            segment->next_offset = segment->base_offset;
            segment->size = 0;
        }
    }
    TRY(scan_segment(recover, segment, UINT64_MAX, err));
    recover->found->lost_offsets = MAX(listed->next_offset - segment->next_offset, 0);
    return OK;
}

/* Oldest segments may be missing: a trim that no checkpoint has seen. Those below the start are leftovers of a trim. */
static enum err_code add_listed(struct recover *recover, struct err *err)
{
    size_t i = 0, count = recover->checkpoint.segments.len;
    const struct log_checkpoint_segment *listed = recover->checkpoint.segments.ptr;
    while (i + 1 < count && !has_base(recover, listed[i].base_offset))
        i++;
    for (; i + 1 < count; i++)
        TRY(add_sealed(recover, &listed[i], err));
    return add_last(recover, &listed[i], err);
}

/* ---- what lies behind ---- */

static enum err_code add_unlisted(struct recover *recover, int64_t base, struct err *err)
{
    struct log *log = recover->log;
    if (log->segments.len)
        TRY(sync_sealed(log_active(log), err));
    struct log_segment *segment = log_segment_create(log->os, log->dir, base);
    vec_push(&log->segments, segment);
    return scan_segment(recover, segment, UINT64_MAX, err);
}

/* A segment that does not go on where the one before ended belongs to a tail that was never whole on the disk. */
static enum err_code drop(struct recover *recover, int64_t base, struct err *err)
{
    struct log_segment *segment = log_segment_create(recover->log->os, recover->log->dir, base);
    uint64_t size;
    enum err_code code = file_size(segment, &size, err);
    log_segment_unref(segment);
    TRY(code);
    if (recover->bad_checkpoint)
        return err_set(err, ERR_CORRUPT,
                       "the checkpoint of %s is unreadable and segment %lld does not follow the one before it",
                       recover->log->dir, (long long)base);
    recover->found->cut_bytes += size;
    return remove_file(recover, base, "log", err);
}

static enum err_code add_rest(struct recover *recover, struct err *err)
{
    struct log *log = recover->log;
    for (size_t i = 0; i < recover->bases.len; i++) {
        int64_t base = recover->bases.ptr[i];
        bool first = log->segments.len == 0;
        if (!first && base <= log_active(log)->base_offset) {
            if (base < log_start_offset(log))
                TRY(remove_file(recover, base, "log", err));
            continue;
        }
        if (first || (base == log_active(log)->next_offset && log_active(log)->size))
            TRY(add_unlisted(recover, base, err));
        else
            TRY(drop(recover, base, err));
    }
    return OK;
}

/* Index files of no segment, and a checkpoint that was being written. */
static enum err_code remove_leftovers(struct recover *recover, struct err *err)
{
    struct log *log = recover->log;
    char path[OS_PATH_MAX];
    for (size_t i = 0; i < recover->indexes.len; i++) {
        if (!has_base(recover, recover->indexes.ptr[i]))
            TRY(remove_file(recover, recover->indexes.ptr[i], "index", err));
    }
    if ((size_t)snprintf(path, sizeof path, "%s.tmp", log->checkpoint_path) >= sizeof path)
        return err_set(err, ERR_LIMIT, "path longer than %d bytes", OS_PATH_MAX);
    return not_found_is_fine(os_unlink(log->os, path, err));
}

/* The first name of a log is durable from the start: so without a checkpoint a log begins where it did then, and a
 * first segment that is missing is not the work of a crash. */
static enum err_code begin_log(struct log *log, struct err *err)
{
    TRY(log_roll(log, err));
    TRY(os_dir_sync(log->os, log->dir, err));
    log_active(log)->named = true;
    return OK;
}

static enum err_code settle(struct recover *recover, int64_t base_offset, struct err *err)
{
    struct log *log = recover->log;
    for (size_t i = 0; i < log->segments.len; i++)
        log->bytes += log->segments.ptr[i]->size;
    log->end_offset = log->durable_offset = log->segments.len ? log_active(log)->next_offset : base_offset;
    log->rows_end_offset = MIN(log->rows_end_offset, log->end_offset); /* a log cut from outside, or of version 1 */
    if (!log->segments.len)
        TRY(begin_log(log, err));
    TRY(remove_leftovers(recover, err));
    log_writers_cut(&log->writers, log->end_offset);
    log->checkpoint_due = recover->found->scanned_bytes || recover->found->cut_bytes || recover->found->lost_offsets ||
                          recover->bad_checkpoint;
    log->durable_offset = log_start_offset(log);
    return log_flush(log, err);
}

static enum err_code recover_all(struct recover *recover, int64_t base_offset, struct err *err)
{
    struct log *log = recover->log;
    TRY(os_dir_list(log->os, log->dir, note_name, recover, err));
    if (recover->bases.len)
        qsort(recover->bases.ptr, recover->bases.len, sizeof(int64_t), by_value);
    TRY(read_checkpoint(recover, err));
    if (recover->has_checkpoint)
        TRY(add_listed(recover, err));
    else if (!recover->bad_checkpoint && recover->bases.len && recover->bases.ptr[0] != base_offset)
        return err_set(err, ERR_CORRUPT, "%s has neither a checkpoint nor the segment it began with, %lld", log->dir,
                       (long long)base_offset);
    TRY(add_rest(recover, err));
    return settle(recover, base_offset, err);
}

enum err_code log_recover(struct log *log, int64_t base_offset, struct log_recovery *found, struct err *err)
{
    struct recover recover = {.log = log, .found = found};
    enum err_code code = recover_all(&recover, base_offset, err);
    vec_deinit(&recover.bases);
    vec_deinit(&recover.indexes);
    vec_deinit(&recover.checkpoint.segments);
    buf_deinit(&recover.scan.window);
    return code;
}
