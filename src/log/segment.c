/* One segment: a file of batches and its index. Counted, since views outlive the log's interest in it. */
#include "log/log_int.h"

#include <stdio.h>

enum { RESERVE_STEP_MIN = 64 << 10, RESERVE_STEP_MAX = 4 << 20 };
/* Appends of fewer bytes go into zeros that were written before. */
enum { SMALL_APPEND_BYTES = 16 << 10, ZEROS_STEP = 128 << 10, ZEROS_BYTES = 16 << 10 };

static char *path_of(const char *dir, int64_t base_offset, const char *ext)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%020lld.%s", dir, (long long)base_offset, ext);
    (void)buf_cstr(&path);
    return (char *)path.ptr;
}

struct log_segment *log_segment_create(struct os *os, const char *dir, int64_t base_offset)
{
    ASSERT(base_offset >= 0);
    struct log_segment *segment = mem_zalloc(sizeof *segment);
    atomic_init(&segment->refs, 1);
    segment->os = os;
    segment->log_path = path_of(dir, base_offset, "log");
    segment->index_path = path_of(dir, base_offset, "index");
    segment->base_offset = segment->next_offset = segment->durable_offset = base_offset;
    segment->max_timestamp_ms = -1;
    return segment;
}

struct log_segment *log_segment_ref(struct log_segment *segment)
{
    atomic_fetch_add_explicit(&segment->refs, 1, memory_order_relaxed);
    return segment;
}

void log_segment_unref(struct log_segment *segment)
{
    if (!segment || atomic_fetch_sub_explicit(&segment->refs, 1, memory_order_acq_rel) > 1)
        return;
    log_file_unref(segment->file);
    vec_deinit(&segment->index.entries);
    mem_free(segment->log_path);
    mem_free(segment->index_path);
    mem_free(segment);
}

static enum err_code file_open(const struct log_segment *segment, unsigned flags, struct log_file **out,
                               struct err *err)
{
    struct os_file *file;
    TRY(os_file_open(segment->os, segment->log_path, flags, &file, err));
    *out = mem_alloc(sizeof **out);
    atomic_init(&(*out)->refs, 1);
    (*out)->file = file;
    return OK;
}

void log_file_unref(struct log_file *file)
{
    if (!file || atomic_fetch_sub_explicit(&file->refs, 1, memory_order_acq_rel) > 1)
        return;
    os_file_close(file->file);
    mem_free(file);
}

enum err_code log_segment_open(struct log_segment *segment, unsigned flags, struct err *err)
{
    return segment->file ? OK : file_open(segment, flags, &segment->file, err);
}

enum err_code log_segment_borrow(const struct log_segment *segment, struct log_file **file, struct err *err)
{
    if (!segment->file)
        return file_open(segment, OS_READ, file, err);
    atomic_fetch_add_explicit(&segment->file->refs, 1, memory_order_relaxed);
    *file = segment->file;
    return OK;
}

void log_segment_settle(struct log_segment *segment)
{
    segment->synced = true;
    segment->allocated = segment->size;
    log_file_unref(segment->file);
    segment->file = NULL;
}

void log_segment_note(struct log_segment *segment, const struct log_head *batch, uint64_t position,
                      uint32_t index_interval_bytes)
{
    struct log_index *index = &segment->index;
    ASSERT(batch->base_offset == segment->next_offset);
    ASSERT(position == segment->size);
    ASSERT(index->entries.len == index->count);
    if (!index->count || position - index->entries.ptr[index->count - 1].position >= index_interval_bytes) {
        struct log_index_entry entry = {(uint32_t)(batch->base_offset - segment->base_offset), (uint32_t)position,
                                        batch->timestamp_ms};
        vec_push(&index->entries, entry);
        index->count++;
    }
    segment->size = position + batch->bytes;
    segment->next_offset = log_head_next(batch);
    segment->max_timestamp_ms = MAX(segment->max_timestamp_ms, batch->timestamp_ms);
}

static enum err_code write_zeros(struct log_segment *segment, uint64_t from, uint64_t to, struct err *err)
{
    static const uint8_t zeros[ZEROS_BYTES];
    struct slice pieces[ZEROS_STEP / ZEROS_BYTES + SMALL_APPEND_BYTES / ZEROS_BYTES + 1];
    size_t count = 0;
    for (uint64_t left = to - from; left; left -= pieces[count++].len) {
        ASSERT(count < ARRAY_LEN(pieces));
        pieces[count] = slice_of(zeros, (size_t)MIN(left, ZEROS_BYTES));
    }
    return os_file_writev(segment->file->file, from, pieces, count, err);
}

/* A sync of bytes that overwrite zeros has no new size and no new extents to write: it costs about half as much, which
 * counts when appends are small. Large ones would only write everything twice. */
static enum err_code reserve_spare(struct log_segment *segment, uint64_t size, uint64_t size_max, uint64_t *reserved,
                                   struct err *err)
{
    bool small = size - segment->size < SMALL_APPEND_BYTES;
    uint64_t from = segment->allocated;
    uint64_t step = small ? ZEROS_STEP : MIN(MAX(segment->size, RESERVE_STEP_MIN), RESERVE_STEP_MAX);
    *reserved = MAX(size, MIN(from + step, size_max));
    if (small)
        return write_zeros(segment, from, *reserved, err);
    return os_file_allocate(segment->file->file, from, *reserved - from, err);
}

enum err_code log_segment_reserve(struct log_segment *segment, uint64_t size, uint64_t size_max, struct err *err)
{
    if (size <= segment->allocated)
        return OK;
    uint64_t reserved = 0;
    struct err first = {0};
    enum err_code code = reserve_spare(segment, size, size_max, &reserved, &first);
    if (code == ERR_DISK_FULL) { /* no room to spare is not yet no room */
        reserved = size;
        code = os_file_allocate(segment->file->file, segment->allocated, size - segment->allocated, &first);
    }
    if (code != OK)
        return err_set(err, code, "%s", first.text);
    segment->allocated = reserved;
    return OK;
}
