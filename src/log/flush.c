/* Group commit: what is not durable at the begin is synced without the lock, then the durable offset moves. From time
 * to time a flush also writes index entries and a checkpoint, and removes the files of trimmed segments.
 *
 * The order on disk: batches, names of new segments, index entries, checkpoint, removals. Each step only leans on those
 * before it, so a crash between any two of them leaves what the recovery understands. */
#include "log/log_int.h"

enum { UNLISTED_MIN = 16, UNLISTED_MAX = 1000 };

struct part {
    struct log_segment *segment; /* counted */
    bool syncs;                  /* has bytes that are not durable */
    bool cuts;                   /* sealed: the preallocated rest goes */
    bool names;                  /* the file's name is not durable */
    uint64_t size;
    int64_t next_offset;
    uint32_t index_from;
    VEC(struct log_index_entry) entries; /* to be written from there on */
};

struct log_flush {
    struct os *os;
    char *dir;
    char *checkpoint_path;
    VEC(struct part) parts; /* oldest first */
    VEC(struct log_segment *) trimmed;
    struct buf checkpoint; /* empty: none this time */
    int64_t end_offset;
    uint64_t unchecked_bytes;
    size_t unlisted_count;
    int64_t checkpointed_base; /* of the last segment in the checkpoint on disk */
    int64_t active_base;       /* the same in the new one */
    bool checkpointed;
    enum err_code code; /* of what must not fail */
    struct err err;
};

static void add_part(struct log_flush *flush, struct log_segment *segment, bool sealed, bool checkpoints)
{
    struct part *part = vec_add(&flush->parts);
    *part = (struct part){.segment = log_segment_ref(segment),
                          .syncs = !segment->synced,
                          .cuts = sealed && !segment->synced,
                          .names = !segment->named,
                          .size = segment->size,
                          .next_offset = segment->next_offset,
                          .index_from = segment->index.persisted};
    for (uint32_t i = segment->index.persisted; checkpoints && i < segment->index.count; i++)
        vec_push(&part->entries, segment->index.entries.ptr[i]);
}

/* All segments that have something to write; they are the newest ones. */
static void add_parts(struct log_flush *flush, const struct log *log, bool checkpoints, bool closing)
{
    size_t first = log->segments.len;
    while (first > 0) {
        const struct log_segment *segment = log->segments.ptr[first - 1];
        if (segment->synced && segment->index.persisted == segment->index.count)
            break;
        first--;
    }
    for (size_t i = first; i < log->segments.len; i++)
        add_part(flush, log->segments.ptr[i], closing || i + 1 < log->segments.len, checkpoints);
}

static void encode_checkpoint(struct log_flush *flush, const struct log *log)
{
    struct log_checkpoint checkpoint = {.start_offset = log_start_offset(log),
                                        .max_timestamp_ms = log->max_timestamp_ms,
                                        .rows_end_offset = log_rows_end_offset(log)};
    for (size_t i = 0; i < log->segments.len; i++) {
        const struct log_segment *segment = log->segments.ptr[i];
        struct log_checkpoint_segment listed = {segment->base_offset, segment->next_offset, segment->size,
                                                segment->max_timestamp_ms, segment->index.count};
        vec_push(&checkpoint.segments, listed);
    }
    log_checkpoint_encode(&flush->checkpoint, &checkpoint, &log->writers);
    vec_deinit(&checkpoint.segments);
}

static char *text_dup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size), text, size);
}

/* A checkpoint lists all segments, so it comes more rarely the more there are: of segments of one small batch each, one
 * at every roll would write more and more. A start after a crash reads what is not listed. The first comes early: on a
 * full disk segments can only go that some checkpoint lists. */
static bool unlisted_are_many(const struct log *log)
{
    if (log->unlisted_count && log->checkpointed_base == 0)
        return true;
    return log->unlisted_count > MIN(UNLISTED_MIN + log->segments.len / 8, UNLISTED_MAX);
}

static struct log_flush *begin(struct log *log, bool closing)
{
    bool due = closing || log->checkpoint_due || log->unchecked_bytes >= log->options.checkpoint_bytes ||
               unlisted_are_many(log);
    if (log->failed || log->flushing || (!due && log->durable_offset == log->end_offset))
        return NULL;
    struct log_flush *flush = mem_zalloc(sizeof *flush);
    flush->os = log->os;
    flush->dir = text_dup(log->dir);
    flush->checkpoint_path = text_dup(log->checkpoint_path);
    flush->end_offset = log->end_offset;
    flush->unchecked_bytes = log->unchecked_bytes;
    flush->unlisted_count = log->unlisted_count;
    add_parts(flush, log, due, closing);
    if (due) {
        encode_checkpoint(flush, log);
        log->checkpoint_due = false;
        flush->checkpointed_base = log->checkpointed_base;
        flush->active_base = log_active(log)->base_offset;
        for (size_t i = 0; i < log->trimmed.len; i++)
            vec_push(&flush->trimmed, log->trimmed.ptr[i]);
        vec_reset(&log->trimmed);
    }
    log->flushing = true;
    return flush;
}

struct log_flush *log_flush_begin(struct log *log)
{
    return begin(log, false);
}

static enum err_code sync_parts(struct log_flush *flush, struct err *err)
{
    bool names = false;
    for (size_t i = 0; i < flush->parts.len; i++) {
        struct part *part = &flush->parts.ptr[i];
        if (part->cuts)
            TRY(os_file_truncate(part->segment->file->file, part->size, err));
        if (part->syncs)
            TRY(os_file_sync(part->segment->file->file, err));
        names |= part->names;
    }
    return names ? os_dir_sync(flush->os, flush->dir, err) : OK;
}

static enum err_code write_checkpoint(struct log_flush *flush, struct err *err)
{
    for (size_t i = 0; i < flush->parts.len; i++) {
        struct part *part = &flush->parts.ptr[i];
        if (part->entries.len)
            TRY(log_index_write(flush->os, part->segment->index_path, part->index_from, part->entries.ptr,
                                (uint32_t)part->entries.len, err));
    }
    TRY(os_write_durable(flush->os, flush->checkpoint_path, buf_view(&flush->checkpoint), err));
    flush->checkpointed = true;
    return OK;
}

/* Removes the files of trimmed segments that begin below the offset. Oldest first, each durably before the next:
 * whatever a crash leaves of them, no segment is missing between two others. What cannot be removed stays for another
 * time. */
static void remove_trimmed(struct log_flush *flush, int64_t below)
{
    while (flush->trimmed.len && flush->trimmed.ptr[0]->base_offset < below) {
        struct log_segment *segment = flush->trimmed.ptr[0];
        (void)!os_unlink(flush->os, segment->index_path, NULL);
        if (os_unlink(flush->os, segment->log_path, NULL) != OK || os_dir_sync(flush->os, flush->dir, NULL) != OK)
            break;
        log_segment_unref(segment);
        vec_remove(&flush->trimmed, 0);
    }
}

/* A segment goes when a checkpoint on disk no longer lists it. On a full disk the checkpoint may lack the room that the
 * removal would give: then those go that the old checkpoint lists as sealed, since it has the writers of their batches
 * and a recovery allows the oldest to be missing. */
void log_flush_run(struct log_flush *flush)
{
    flush->code = sync_parts(flush, &flush->err);
    if (flush->code != OK || !flush->checkpoint.len)
        return;
    enum err_code code = write_checkpoint(flush, &flush->err);
    if (code == ERR_DISK_FULL && flush->trimmed.len) {
        remove_trimmed(flush, flush->checkpointed_base);
        code = write_checkpoint(flush, &flush->err);
    }
    if (code == OK)
        remove_trimmed(flush, INT64_MAX);
    else if (code != ERR_DISK_FULL) /* the batches are safe; the checkpoint comes later */
        flush->code = code;
}

void log_flush_fail(struct log_flush *flush, const struct err *err)
{
    flush->err = *err;
    flush->code = err->code;
}

static void mark_part(struct log_segment *segment, const struct part *part, bool checkpointed)
{
    if (part->syncs) {
        segment->durable_offset = part->next_offset;
        segment->durable_size = part->size;
    }
    segment->named = true;
    if (part->cuts)
        log_segment_settle(segment);
    if (checkpointed)
        segment->index.persisted = part->index_from + (uint32_t)part->entries.len;
}

/* A sealed segment whose index is on disk needs no memory for it. */
static void drop_entries(const struct log *log, struct log_segment *segment)
{
    if (segment != log_active(log) && segment->synced && segment->index.persisted == segment->index.count)
        vec_deinit(&segment->index.entries);
}

static void flush_free(struct log_flush *flush)
{
    for (size_t i = 0; i < flush->parts.len; i++) {
        vec_deinit(&flush->parts.ptr[i].entries);
        log_segment_unref(flush->parts.ptr[i].segment);
    }
    for (size_t i = 0; i < flush->trimmed.len; i++)
        log_segment_unref(flush->trimmed.ptr[i]);
    vec_deinit(&flush->parts);
    vec_deinit(&flush->trimmed);
    buf_deinit(&flush->checkpoint);
    mem_free(flush->dir);
    mem_free(flush->checkpoint_path);
    mem_free(flush);
}

/* In front of what was trimmed meanwhile. */
static void keep_trimmed(struct log *log, struct log_flush *flush)
{
    for (size_t i = 0; i < log->trimmed.len; i++)
        vec_push(&flush->trimmed, log->trimmed.ptr[i]);
    vec_reset(&log->trimmed);
    for (size_t i = 0; i < flush->trimmed.len; i++)
        vec_push(&log->trimmed, flush->trimmed.ptr[i]);
    vec_reset(&flush->trimmed);
}

enum err_code log_flush_end(struct log *log, struct log_flush *flush, struct err *err)
{
    ASSERT(log->flushing);
    log->flushing = false;
    enum err_code code = flush->code;
    if (code == OK) {
        for (size_t i = 0; i < flush->parts.len; i++) {
            mark_part(flush->parts.ptr[i].segment, &flush->parts.ptr[i], flush->checkpointed);
            drop_entries(log, flush->parts.ptr[i].segment);
        }
        log->durable_offset = flush->end_offset;
        if (flush->checkpointed)
            log->checkpointed_base = flush->active_base;
        if (flush->checkpoint.len) {
            log->unchecked_bytes -= flush->unchecked_bytes;
            log->unlisted_count -= flush->unlisted_count;
        }
    } else {
        log->failed = true;
        code = err_set(err, ERR_FAILED_STORAGE, "%s", flush->err.text);
    }
    keep_trimmed(log, flush);
    flush_free(flush);
    log_check(log);
    return code;
}

static enum err_code run_and_end(struct log *log, struct log_flush *flush, struct err *err)
{
    if (!flush)
        return log->failed ? err_set(err, ERR_FAILED_STORAGE, "an earlier sync of %s failed", log->dir) : OK;
    log_flush_run(flush);
    return log_flush_end(log, flush, err);
}

enum err_code log_flush(struct log *log, struct err *err)
{
    ASSERT(!log->flushing);
    return run_and_end(log, begin(log, false), err);
}

enum err_code log_flush_closing(struct log *log, struct err *err)
{
    ASSERT(!log->flushing);
    return run_and_end(log, begin(log, true), err);
}
