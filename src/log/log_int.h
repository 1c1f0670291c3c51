/* Private to src/log: how a log is made. */
#ifndef WEIR_LOG_LOG_INT_H
#define WEIR_LOG_LOG_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "log/log.h"

#include <stdatomic.h>

/* ---- batch headers: what a log needs of them ---- */

enum {
    LOG_HEADER_BYTES_MAX = 56, /* enough to read any header */
    LOG_STAMP_BYTES = 21       /* base offset, length, magic, commit time: the same in every layout */
};

struct log_head {
    int64_t base_offset;
    uint64_t bytes; /* whole size */
    int64_t timestamp_ms;
    uint32_t offset_delta;
    bool has_rows;
    int64_t writer_id;
    int32_t sequence;
};

/* The fields of the header that bytes begins with; the batch itself may be cut off. False if it cannot be one. */
MUST_CHECK bool log_head_read(struct slice bytes, struct log_head *head);
/* The header says what the bytes are: whole, and the CRC matches. */
MUST_CHECK bool log_head_intact(struct slice bytes, const struct log_head *head);
static inline int64_t log_head_next(const struct log_head *head)
{
    return head->base_offset + head->offset_delta + 1;
}

/* ---- index ---- */

struct log_index_entry {
    uint32_t offset; /* less the segment's base */
    uint32_t position;
    int64_t timestamp_ms;
};
#define LOG_INDEX_ENTRY_BYTES 16
_Static_assert(sizeof(struct log_index_entry) == LOG_INDEX_ENTRY_BYTES, "index entries lie on disk as they are");

struct log_index {
    VEC(struct log_index_entry) entries; /* of a segment whose index is not wholly on disk */
    uint32_t count;                      /* of all */
    uint32_t persisted;                  /* of these in the file, synced */
};

/* ---- segments ---- */

/* An open file of a segment, shared by the segment and the views of it. */
struct log_file {
    atomic_uint refs;
    struct os_file *file;
};

struct log_segment {
    atomic_uint refs;
    struct os *os;
    char *log_path;
    char *index_path;
    struct log_file *file; /* while there is something to write: the active segment's, and those not synced yet. Of the
                              others only views hold one, so that segments cost no descriptors. Under the lock. */
    int64_t base_offset;
    int64_t next_offset;
    uint64_t size;            /* of whole batches; the file may go on with zeros */
    uint64_t allocated;       /* of the file */
    int64_t max_timestamp_ms; /* -1: empty */
    struct log_index index;
    int64_t durable_offset; /* where the last sync ended, and the size then: reads mostly end there */
    uint64_t durable_size;
    bool synced; /* its bytes are on disk; only for sealed ones */
    bool named;  /* its name is */
};

struct log_segment *log_segment_create(struct os *os, const char *dir, int64_t base_offset);
struct log_segment *log_segment_ref(struct log_segment *segment);
void log_segment_unref(struct log_segment *segment);
MUST_CHECK enum err_code log_segment_open(struct log_segment *segment, unsigned flags, struct err *err);
/* The segment's file, or one opened for the caller, who lets it go; blocks for the second. */
MUST_CHECK enum err_code log_segment_borrow(const struct log_segment *segment, struct log_file **file, struct err *err);
void log_file_unref(struct log_file *file); /* NULL is fine */
/* All that was written is on the disk, and nothing more will be. */
void log_segment_settle(struct log_segment *segment);
/* Takes a batch at position into account: index, offsets, greatest time. */
void log_segment_note(struct log_segment *segment, const struct log_head *batch, uint64_t position,
                      uint32_t index_interval_bytes);
/* Room for size bytes, in steps that grow with the segment; less if the disk is near its end. */
MUST_CHECK enum err_code log_segment_reserve(struct log_segment *segment, uint64_t size, uint64_t size_max,
                                             struct err *err);
/* Writes index entries [persisted, count) to the index file and syncs it (blocks). */
MUST_CHECK enum err_code log_index_write(struct os *os, const char *path, uint32_t persisted,
                                         const struct log_index_entry *entries, uint32_t count, struct err *err);
/* Reads all entries of the file; false if it does not have so many, or they are not in order (blocks). */
MUST_CHECK bool log_index_load(struct log_segment *segment, uint32_t count);

/* What a view asks of an index: where to begin, and how far its bytes reach at least. */
struct log_seek {
    uint32_t offset;      /* less the base: the last entry at or before it, or */
    int64_t timestamp_ms; /* the last entry before this time, if by_time */
    bool by_time;
    uint32_t limit_offset; /* less the base */
    uint64_t bytes_max;
    uint64_t from, jump; /* out: positions of batches, from <= jump <= from + bytes_max */
};
void log_index_seek(const struct log_segment *segment, struct log_seek *seek);
/* The same in the index file of a sealed segment (blocks). */
MUST_CHECK enum err_code log_index_seek_file(const struct log_segment *segment, struct log_seek *seek, struct err *err);

/* ---- writers ---- */

struct log_writer_batch {
    int32_t sequence;
    uint32_t offset_delta;
    int64_t base_offset;
    int64_t timestamp_ms;
};

struct log_writer {
    int64_t id;
    struct log_writer *older, *newer; /* by last append */
    uint32_t count;
    struct log_writer_batch batches[LOG_WRITER_BATCHES_MAX]; /* oldest first */
};

struct log_writers {
    struct map by_id;
    struct log_writer *oldest, *newest;
    size_t count;
};

void log_writers_deinit(struct log_writers *writers);
/* The verdict of log_writer_check; last_sequence >= 0 stands for a batch that goes just before in the same append. */
MUST_CHECK enum err_code log_writers_check(const struct log_writers *writers, int64_t writer_id, int32_t sequence,
                                           int32_t last_sequence, const struct log_writer_batch **duplicate,
                                           struct err *err);
/* Without validation: what is in the log happened. */
void log_writers_note(struct log_writers *writers, int64_t writer_id, struct log_writer_batch batch);
void log_writers_expire(struct log_writers *writers, int64_t before_ms);
/* Forgets batches at or beyond offset: a checkpoint can be ahead of a log that was cut from outside. */
void log_writers_cut(struct log_writers *writers, int64_t offset);

/* ---- checkpoint ---- */

struct log_checkpoint_segment {
    int64_t base_offset;
    int64_t next_offset;
    uint64_t size;
    int64_t max_timestamp_ms;
    uint32_t index_count;
};

struct log_checkpoint {
    int64_t start_offset;
    int64_t max_timestamp_ms;
    int64_t rows_end_offset; /* INT64_MAX: not known, from version 1 */
    VEC(struct log_checkpoint_segment) segments;
};

#define LOG_CHECKPOINT_BYTES_MAX (64 << 20)

void log_checkpoint_encode(struct buf *out, const struct log_checkpoint *checkpoint, const struct log_writers *writers);
/* CORRUPT, or FORMAT_VERSION; both out-parameters are filled from empty. */
MUST_CHECK enum err_code log_checkpoint_decode(struct slice bytes, struct log_checkpoint *checkpoint,
                                               struct log_writers *writers, struct err *err);

/* ---- the log ---- */

struct log {
    struct os *os;
    char *dir;
    char *checkpoint_path;
    struct log_options options;
    VEC(struct log_segment *) segments; /* oldest first; the last one is written to; never empty once open */
    VEC(struct log_segment *) trimmed;  /* their files wait for the next flush */
    int64_t durable_offset;
    int64_t end_offset;
    int64_t rows_end_offset;
    int64_t max_timestamp_ms;
    uint64_t bytes;            /* of all segments */
    uint64_t unchecked_bytes;  /* appended since the last checkpoint */
    size_t unlisted_count;     /* segments begun since then */
    int64_t checkpointed_base; /* of the last segment that the checkpoint on disk lists; 0: none is there */
    bool checkpoint_due;       /* at the next flush: segments were trimmed or recovered */
    bool flushing;
    bool failed;
    bool tail_dirty; /* a failed append may have left bytes behind the end */
    struct log_writers writers;
    struct buf stamps;        /* scratch of append */
    VEC(struct slice) pieces; /* scratch of append */
};

/* log_flush, with the preallocated rest cut and a checkpoint in any case. */
MUST_CHECK enum err_code log_flush_closing(struct log *log, struct err *err);

static inline struct log_segment *log_active(const struct log *log)
{
    return log->segments.ptr[log->segments.len - 1];
}

/* Seals the active segment and begins another at the end offset. */
MUST_CHECK enum err_code log_roll(struct log *log, struct err *err);
/* Asserts what always holds. */
void log_check(const struct log *log);
MUST_CHECK enum err_code log_recover(struct log *log, int64_t base_offset, struct log_recovery *recovery,
                                     struct err *err);

#endif
