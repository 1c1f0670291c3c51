/* The sparse index of a segment: for each few kilobytes of batches where one begins. A cache of the log, which can
 * always be made again from it.
 *
 * File {base offset, 20 digits}.index, entries of 16 bytes, little-endian, in order:
 *
 *   0  u32  offset of the batch's first record, less the segment's base offset
 *   4  u32  position of the batch in the segment
 *   8  i64  commit time of the batch, ms
 *
 * The first batch of a segment always has an entry. How many entries count stands in the checkpoint; what lies behind
 * them means nothing. */
#include "log/log_int.h"

enum err_code log_index_write(struct os *os, const char *path, uint32_t persisted,
                              const struct log_index_entry *entries, uint32_t count, struct err *err)
{
    struct os_file *file = NULL;
    TRY(os_file_open(os, path, OS_WRITE | OS_CREATE, &file, err));
    uint64_t at = (uint64_t)persisted * LOG_INDEX_ENTRY_BYTES;
    enum err_code code = os_file_write(file, at, slice_of(entries, (size_t)count * LOG_INDEX_ENTRY_BYTES), err);
    if (code == OK)
        code = os_file_sync(file, err);
    os_file_close(file);
    return code;
}

/* Each batch begins behind the one before, within the segment, and time does not go back. */
static bool in_order(const struct log_segment *segment, const struct log_index_entry *entries, uint32_t count)
{
    if (count && (entries[0].offset || entries[0].position))
        return false;
    for (uint32_t i = 1; i < count; i++) {
        if (entries[i].offset <= entries[i - 1].offset || entries[i].position <= entries[i - 1].position ||
            entries[i].timestamp_ms < entries[i - 1].timestamp_ms)
            return false;
    }
    return !count || entries[count - 1].position < segment->size;
}

bool log_index_load(struct log_segment *segment, uint32_t count)
{
    struct log_index *index = &segment->index;
    struct os_file *file = NULL;
    uint64_t size = 0;
    size_t bytes = (size_t)count * LOG_INDEX_ENTRY_BYTES;
    size_t got = 0;
    ASSERT(index->count == 0);
    if (os_file_open(segment->os, segment->index_path, OS_READ, &file, NULL) != OK)
        return false;
    bool loaded = os_file_size(file, &size, NULL) == OK && size >= bytes;
    if (loaded) {
        for (uint32_t i = 0; i < count; i++)
            vec_push(&index->entries, (struct log_index_entry){0});
        loaded = os_file_read(file, 0, index->entries.ptr, bytes, &got, NULL) == OK && got == bytes &&
                 in_order(segment, index->entries.ptr, count);
    }
    os_file_close(file);
    if (!loaded)
        vec_reset(&index->entries);
    else
        index->count = index->persisted = count;
    return loaded;
}

/* Entries in memory or in a file. */
struct source {
    const struct log_index_entry *entries;
    struct os_file *file;
    uint32_t count;
};

static enum err_code entry_at(const struct source *source, uint32_t i, struct log_index_entry *entry, struct err *err)
{
    if (source->entries) {
        *entry = source->entries[i];
        return OK;
    }
    size_t got;
    TRY(os_file_read(source->file, (uint64_t)i * LOG_INDEX_ENTRY_BYTES, entry, sizeof *entry, &got, err));
    return got == sizeof *entry ? OK : err_set(err, ERR_CORRUPT, "an index ends at entry %u of %u", i, source->count);
}

static bool before_start(const struct log_seek *seek, const struct log_index_entry *entry)
{
    return seek->by_time ? entry->timestamp_ms < seek->timestamp_ms : entry->offset <= seek->offset;
}

static bool before_end(const struct log_seek *seek, const struct log_index_entry *entry)
{
    return entry->offset <= seek->limit_offset && entry->position <= seek->from + seek->bytes_max;
}

/* The position of the last of the entries from first on for which the test holds; they are ordered so that it holds up
 * to some entry and not behind. Keeps *position and *first if there is none. */
static enum err_code last_that(const struct source *source, const struct log_seek *seek,
                               bool (*test)(const struct log_seek *, const struct log_index_entry *), uint32_t *first,
                               uint64_t *position, struct err *err)
{
    uint32_t low = *first, high = source->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct log_index_entry entry;
        TRY(entry_at(source, middle, &entry, err));
        if (test(seek, &entry)) {
            *position = entry.position;
            *first = middle;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return OK;
}

static enum err_code seek_in(const struct source *source, struct log_seek *seek, struct err *err)
{
    uint32_t first = 0;
    seek->from = 0;
    TRY(last_that(source, seek, before_start, &first, &seek->from, err));
    seek->jump = seek->from;
    return last_that(source, seek, before_end, &first, &seek->jump, err);
}

void log_index_seek(const struct log_segment *segment, struct log_seek *seek)
{
    const struct source source = {segment->index.entries.ptr, NULL, segment->index.count};
    enum err_code code = seek_in(&source, seek, NULL);
    ASSERT(code == OK);
}

enum err_code log_index_seek_file(const struct log_segment *segment, struct log_seek *seek, struct err *err)
{
    struct source source = {NULL, NULL, segment->index.count};
    TRY(os_file_open(segment->os, segment->index_path, OS_READ, &source.file, err));
    enum err_code code = seek_in(&source, seek, err);
    os_file_close(source.file);
    return code;
}
