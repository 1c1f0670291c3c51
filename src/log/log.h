/* One bucket's log: batches in segments, indexes, group commit, recovery, writer sequences.
 *
 * A log is a run of record batches with consecutive offsets, kept as they came: only base offset and commit time are
 * stamped, into a copy of the first bytes of the header (the CRC does not cover them). It lives in a directory of its
 * own (docs/formats/log.md draws the files). Three offsets: start <= durable <= end. [start, end) is there; below
 * durable it is on the disk. The end of a batch is a batch boundary; every offset handed to limit a read must be one.
 *
 * thread  A log has no lock of its own: calls marked [lock] are made under the mutex of its bucket. Calls marked
 * (blocks) may wait for the disk. What may be made without the lock says so: the batches below the end never change, so
 *         views are read, and flushes run, beside appends, rolls and trims.
 * errors  ERR_DISK_FULL: the log is as it was, try again when there is room. ERR_FAILED_STORAGE: a sync failed earlier;
 *         reads go on, writes are refused until the log is opened again. */
#ifndef WEIR_LOG_LOG_H
#define WEIR_LOG_LOG_H

#include "os/os.h"

struct log;
struct log_segment;
struct log_file;

/* Batches in one append; a `records` field with more is refused with ERR_LIMIT. */
#define LOG_APPEND_BATCHES_MAX 256
/* Largest segment; offsets and positions inside one are 32-bit numbers in the index. */
#define LOG_SEGMENT_BYTES_MAX 0x7fffffff
/* The batches of a writer that are remembered: as many as a client has in flight. */
#define LOG_WRITER_BATCHES_MAX 5
/* Writers that one log remembers; beyond, the one that was quiet for longest is forgotten. */
#define LOG_WRITERS_MAX 100000

struct log_options {
    uint32_t segment_bytes;        /* a new segment begins before an append that would pass it; at most the MAX above */
    uint32_t index_interval_bytes; /* between two index entries */
    uint32_t checkpoint_bytes;     /* of log between two checkpoints: what a start after a crash has to read */
    int64_t writer_expiry_ms;      /* a writer quiet for so long is forgotten */
};

/* 1 GiB, 4 KiB, 16 MiB, 7 days: Fluss's where it has them. */
struct log_options log_options_default(void);

/* What opening found; for the trace. */
struct log_recovery {
    uint64_t scanned_bytes; /* read and checked, because no checkpoint covered them */
    uint64_t cut_bytes;     /* of a torn tail, without preallocated zeros */
    int64_t lost_offsets;   /* offsets that a checkpoint had promised and that are not there: 0, unless a file was cut
                               from outside */
};

/* Opens the log in dir, an existing directory that the caller made durable; an empty one is a new log. A torn tail is
 * cut to whole batches, everything left is made durable, so that durable == end (blocks).
 * base_offset  the first offset of a log that does not exist yet; the same at each opening.
 * errors       CORRUPT (a sealed segment is not as its checkpoint says, or gone: nothing is changed), FORMAT_VERSION,
 *              IO, DISK_FULL. */
MUST_CHECK enum err_code log_open(struct os *os, const char *dir, const struct log_options *options,
                                  int64_t base_offset, struct log **log, struct log_recovery *recovery,
                                  struct err *err);
/* A new log at offset 0 in dir, an empty directory, without waiting for the disk: nothing of it, the names of its files
 * included, is durable before the first flush; the directory's own name is the caller's. errors: IO, DISK_FULL. */
MUST_CHECK enum err_code log_create(struct os *os, const char *dir, const struct log_options *options, struct log **log,
                                    struct err *err);
/* Makes everything durable, cuts the preallocated rest, leaves a checkpoint, frees (blocks). A failed log is only
 * freed, its files stay as they are; the call says OK then, since the failure was told before. Frees on failure too.
 * log may be NULL. Views may outlive the log. */
MUST_CHECK enum err_code log_close(struct log *log, struct err *err);
/* [lock] Leaves the log as a close does, so that the next open reads no batch: everything durable, the preallocated
 * rest cut, a checkpoint, as far as there is any of it to do (blocks). Reads go on; nothing may be appended any more,
 * and no flush may be running. errors: as of a flush. */
MUST_CHECK enum err_code log_settle(struct log *log, struct err *err);
/* Frees without a word to the disk: what a crash does, for logs of dropped buckets. */
void log_abandon(struct log *log);

/* ---- [lock] state ---- */

int64_t log_start_offset(const struct log *log);
int64_t log_durable_offset(const struct log *log);
int64_t log_end_offset(const struct log *log);
/* Behind the last batch that has rows, or the start: what follows below the end are batches without any. */
int64_t log_rows_end_offset(const struct log *log);
/* The greatest commit time; -1 for a log that never held a batch. */
int64_t log_max_timestamp_ms(const struct log *log);
uint64_t log_bytes(const struct log *log);
size_t log_segment_count(const struct log *log);
bool log_failed(const struct log *log);

/* ---- [lock] append ---- */

struct log_appended {
    int64_t base_offset;  /* of the first batch */
    int64_t next_offset;  /* behind the last */
    int64_t timestamp_ms; /* commit time of all of them */
    bool duplicate;       /* a writer's repeated batch: nothing was appended, offsets are those of the first time */
};

/* Appends one or more batches that lie back to back, all of them or none.
 * batches  borrowed for the call; well-formed, CRC checked before (only lengths are looked at again: CORRUPT_RECORD).
 * time     commit time is the greater of the wall clock and the log's greatest time.
 * errors   OUT_OF_ORDER_SEQUENCE_EXCEPTION, LIMIT, DISK_FULL, IO, FAILED_STORAGE; on any of them the log is as before.
 * does not sync: durable only after a flush. */
MUST_CHECK enum err_code log_append(struct log *log, struct slice batches, struct log_appended *appended,
                                    struct err *err);

/* What log_append would say of a writer's batch, before it is made (primary-key tables). OK with duplicate set, or OK
 * with duplicate not set, or OUT_OF_ORDER_SEQUENCE_EXCEPTION. A writer below 0 is never checked. */
MUST_CHECK enum err_code log_writer_check(const struct log *log, int64_t writer_id, int32_t sequence,
                                          struct log_appended *appended, struct err *err);
size_t log_writer_count(const struct log *log);

/* ---- flush: begin [lock], run without it (blocks), end [lock] ---- */

/* A flush takes what is not durable at its begin: syncs of different logs run side by side, and appends go on
 * meanwhile. */
struct log_flush;

/* NULL: nothing to do, one is running, or the log has failed. */
struct log_flush *log_flush_begin(struct log *log);
/* On the pool; touches no state of the log. It also leaves checkpoints and removes trimmed segments. */
void log_flush_run(struct log_flush *flush);
/* Instead of the run: what the caller had to make durable before it could not be. The log fails at the end. */
void log_flush_fail(struct log_flush *flush, const struct err *err);
/* Moves the durable offset, or fails the log for good; frees the flush. */
MUST_CHECK enum err_code log_flush_end(struct log *log, struct log_flush *flush, struct err *err);
/* The three in one, for callers that may block under the lock. */
MUST_CHECK enum err_code log_flush(struct log *log, struct err *err);

/* ---- read: take a view [lock], locate and read it without ---- */

/* A range of whole batches in one segment. Counts its segment: the bytes stay readable whatever happens to the log. */
struct log_view {
    struct log_segment *segment; /* NULL: an empty view, of a reader that is at the limit */
    struct os_file *file;        /* open as long as the view is held */
    uint64_t position;           /* of the first batch in the file; after log_view_locate */
    uint64_t length;             /* bytes; 0 when not even one batch fits */
    int64_t base_offset;         /* of the first batch, which may begin before the offset asked for */
    int64_t next_offset;         /* behind the last batch */
    struct log_file *held;       /* private, as is what locate starts from; positions are UINT64_MAX when not known */
    int64_t seek_offset, seek_timestamp_ms, limit_offset;
    uint64_t bytes_max, from_position, jump_position, limit_position;
};

/* [lock] The batch that holds offset and what follows it, below limit_offset, within its segment, at most bytes_max.
 * errors  LOG_OFFSET_OUT_OF_RANGE_EXCEPTION below the start or above the end; IO (a segment's file is opened at need).
 */
MUST_CHECK enum err_code log_view_at(struct log *log, int64_t offset, int64_t limit_offset, uint64_t bytes_max,
                                     struct log_view *view, struct err *err);
/* [lock] The same from the first batch whose commit time is at least timestamp_ms; empty if there is none below the
 * limit, with base_offset == limit_offset. */
MUST_CHECK enum err_code log_view_at_time(struct log *log, int64_t timestamp_ms, int64_t limit_offset,
                                          uint64_t bytes_max, struct log_view *view, struct err *err);
/* Without the lock, once: finds the bytes (blocks when the page cache does not have them). Whole batches; with
 * at_least_one the first is given however large it is. errors  CORRUPT, IO. */
MUST_CHECK enum err_code log_view_locate(struct log_view *view, bool at_least_one, struct err *err);
/* After locate: there is no more of its segment below the limit; what follows is in the next one. */
static inline bool log_view_is_whole(const struct log_view *view)
{
    return view->next_offset >= view->limit_offset;
}
/* Appends the view's bytes to out (blocks likewise). */
struct buf;
MUST_CHECK enum err_code log_view_read(const struct log_view *view, struct buf *out, struct err *err);
/* Any thread; the zero view is fine. */
void log_view_release(struct log_view *view);

/* ---- [lock] retention ---- */

/* Drops whole segments that end at or below offset, never the newest one; their files go with the next flush, which has
 * work to do then. offset must not pass durable. */
void log_trim(struct log *log, int64_t offset);
/* The same by age: the end of the last segment whose newest batch is older than before_ms, or the start. */
int64_t log_offset_before(const struct log *log, int64_t before_ms);
/* Seals the newest segment if all its batches are older than before_ms, so that it can be dropped too. errors: IO,
 * DISK_FULL; the log is as before. */
MUST_CHECK enum err_code log_roll_before(struct log *log, int64_t before_ms, struct err *err);

#endif
