/* One bucket of a table: its log, for a primary-key table its state, the high watermark, and who waits for it.
 *
 * The high watermark is the durable end of the log: what readers see. It moves when a flush (group commit) has come
 * back, or, with weir.log.flush=async, with the append. Below it nothing ever changes.
 *
 * A primary-key bucket's state is delta + engine: the delta (memory) holds what is newer than the engine, every version
 * with the changelog offset that made it, so writers merge with the newest and readers see the durable one. The
 * changelog is the state's write-ahead log: replaying it from the engine's offset, or from an older one, gives the
 * state, so the two need no common commit, and the state is never ahead of the log.
 *
 * locks    one mutex a bucket, held for microseconds, never across anything that blocks; after the registry's, before
 *          the log's and engine's own.
 * thread   every call from any thread unless it says otherwise; (blocks) marks those that wait for a disk. */
#ifndef WEIR_BUCKET_BUCKET_H
#define WEIR_BUCKET_BUCKET_H

#include "format/batch/batch.h"
#include "kv/kv.h"
#include "log/log.h"
#include "meta/meta.h"
#include "meta/tiering/tiering.h"
#include "metric/metric.h"
#include "run/run.h"
#include "trace/trace.h"

#define BUCKET_KEY_BYTES_MAX (64u << 10)
#define BUCKET_VALUE_BYTES_MAX (32u << 20)

struct bucket;
struct bucket_home; /* the directory that the buckets of a table, or of one of its partitions, share; counted */

/* What all buckets of a server share; lives longer than they. */
struct bucket_env {
    struct os *os;
    const char *data_dir;
    bool flush_async;              /* weir.log.flush=async: the page cache is enough for the watermark */
    uint64_t segment_bytes;        /* log.segment.file-size */
    uint32_t index_interval_bytes; /* log.index.interval-size */
    size_t delta_bytes_max;        /* of all buckets together, of rows that no engine has: the largest is written to its
                                      engine above it; and once more of rows kept after that, the oldest go above it */
    uint64_t replay_bytes_max;     /* log to replay above which a bucket's delta is written */
    int64_t delta_age_ms_max;      /* the same by age */
    int64_t writer_expiry_ms;      /* server.writer-id.expiration-time */
    struct trace *trace;           /* may be NULL */
    struct kv_env *kv;             /* block cache and threads of all engines */
    /* Have bucket_flush (or bucket_state_flush) called soon, on a thread that may block. Called under the bucket's
     * mutex: must only pass the word on. The bucket counts as wanted until the call. */
    void (*flush_wanted)(void *arg, struct bucket *bucket);
    void (*state_flush_wanted)(void *arg, struct bucket *bucket);
    void *arg;
    size_t delta_bytes;        /* now held by all of rows that no engine has; atomic */
    size_t written_bytes;      /* the same of rows that an engine got last and that are kept for reads */
    struct meta *meta;         /* gives numbers for auto-increment columns; NULL where there are none */
    struct metrics *metrics;   /* may be NULL */
    struct metric *flush_time; /* METRIC_LOG_FLUSH_TIME; may be NULL */
};

/* What is counted of a bucket: the series of its table, shared by its buckets. */
struct bucket_metrics {
    struct metric *rows_in;
    struct metric *bytes_in, *bytes_out;
    struct metric *produces, *puts, *lookups;
};

/* ---- life ---- */

/* partition NULL: of a table without partitions. Touches no file. errors: LIMIT (the path is too long). */
MUST_CHECK enum err_code bucket_home_create(struct bucket_env *env, const struct table_info *table,
                                            const struct partition_info *partition, struct bucket_home **home,
                                            struct err *err);
struct bucket_home *bucket_home_ref(struct bucket_home *home);
void bucket_home_unref(struct bucket_home *home); /* NULL is fine */

/* Recovers what is there: torn tail cut, writers known, state replayed (blocks). A bucket that was never written to has
 * no files, and gets them with its first write: so opening one costs next to nothing. One count is the caller's.
 * tiering may be NULL.
 * errors   IO, DISK_FULL, CORRUPT, FORMAT_VERSION. */
MUST_CHECK enum err_code bucket_open(struct bucket_env *env, const struct table_info *table, struct bucket_home *home,
                                     int32_t number, struct tiering_part *tiering, struct bucket **bucket,
                                     struct err *err);
struct bucket *bucket_ref(struct bucket *bucket);
void bucket_unref(struct bucket *bucket); /* NULL is fine; the last one frees (blocks if it was not closed) */
enum bucket_end {
    BUCKET_DROP,  /* its files are about to go, or must stay as they are */
    BUCKET_KEEP,  /* what was written is made durable */
    BUCKET_SETTLE /* and the log is left so that the next opening reads none of it */
};
/* No further writes or reads (NOT_LEADER_OR_FOLLOWER from now on), waiters are called (blocks). */
void bucket_close(struct bucket *bucket, enum bucket_end how);

int64_t bucket_table_id(const struct bucket *bucket);
int64_t bucket_partition_id(const struct bucket *bucket); /* -1: the table has no partitions */
int32_t bucket_number(const struct bucket *bucket);
bool bucket_has_key(const struct bucket *bucket); /* of a primary-key table */
const struct bucket_metrics *bucket_metrics(const struct bucket *bucket);
/* The table as this bucket knows it; the handle is the caller's. */
const struct table_info *bucket_table(struct bucket *bucket);
/* After ALTER TABLE. */
void bucket_set_table(struct bucket *bucket, const struct table_info *table);
void bucket_set_tiering(struct bucket *bucket, struct tiering_part *tiering);

/* Stops writes (NOT_LEADER_OR_FOLLOWER from now on) if the log ends at end_offset or before; false: it has more. Reads
 * go on. For who wants to drop a bucket of which nothing is missing elsewhere. */
MUST_CHECK bool bucket_seal(struct bucket *bucket, int64_t end_offset);
void bucket_unseal(struct bucket *bucket);

struct bucket_offsets {
    int64_t start;          /* of the log */
    int64_t high_watermark; /* readers see below it */
    int64_t end;            /* of the log */
    /* Keys of a primary-key table, with what is not durable yet; -1: not known, since the changelog does not tell
     * inserts from updates (table.changelog.image WAL). Of a log table its rows below the watermark. */
    int64_t row_count;
    uint64_t log_bytes;
};
void bucket_offsets(struct bucket *bucket, struct bucket_offsets *offsets);

/* ---- writing ---- */

struct bucket_append {
    int64_t base_offset; /* of the first batch; -1: nothing was in `records` */
    int64_t end_offset;  /* behind the last: wait for the watermark to reach it */
};

/* PRODUCE_LOG: zero or more whole batches, kept as they are. All of them or none.
 * errors   CORRUPT_MESSAGE, CORRUPT_RECORD_EXCEPTION, SCHEMA_NOT_EXIST, OUT_OF_ORDER_SEQUENCE_EXCEPTION,
 * INVALID_TABLE_EXCEPTION (a primary-key table), DISK_FULL, FAILED_STORAGE, NOT_LEADER_OR_FOLLOWER. A repeated batch is
 * OK, with its old offsets. */
MUST_CHECK enum err_code bucket_append(struct bucket *bucket, struct slice records, struct bucket_append *append,
                                       struct err *err);

struct bucket_put {
    struct slice records;           /* one kv batch, or none */
    const uint32_t *target_columns; /* partial update: positions in the newest schema; count 0: all */
    size_t target_column_count;
    bool overwrite; /* agg_mode OVERWRITE */
};

/* PUT_KV: the whole batch or nothing. May read the engine (blocks, when its cache does not have it).
 * append->base_offset is the first changelog row's; end_offset as above.
 * errors   as bucket_append; NON_PRIMARY_KEY_TABLE_EXCEPTION, INVALID_TARGET_COLUMN, KV_STORAGE_EXCEPTION. */
MUST_CHECK enum err_code bucket_put(struct bucket *bucket, const struct bucket_put *put, struct bucket_append *append,
                                    struct err *err);

struct bucket_insert {
    const struct slice *keys; /* encoded, as for bucket_lookup */
    size_t key_count;
    struct slice partition_name; /* of a partitioned table */
};

/* A row for each key that has none durable: the columns of the key, null in the others, a number in the auto-increment
 * column; a put of the key's columns (blocks). With the watermark at append->end_offset all keys have a row.
 * errors   as bucket_put; INVALID_ARGUMENT: a key is none of the table. */
MUST_CHECK enum err_code bucket_insert(struct bucket *bucket, const struct bucket_insert *what,
                                       struct bucket_append *append, struct err *err);

/* The state of a primary-key bucket is in memory as a whole, and a put needs nothing else, so it does no disk work. */
bool bucket_in_memory(const struct bucket *bucket);
/* Puts run one at a time and in order: who calls bucket_put does so from here. */
struct strand *bucket_strand(struct bucket *bucket);

/* Makes the log durable and moves the watermark (blocks). What env->flush_wanted asks for. */
void bucket_flush(struct bucket *bucket);
/* Writes the delta to the engine (blocks). What env->state_flush_wanted asks for. */
void bucket_state_flush(struct bucket *bucket);

/* ---- waiting ---- */

/* A call when the watermark reaches an offset. fn runs once, on whatever thread moved the watermark, with no lock held.
 */
struct bucket_waiter {
    void (*fn)(struct bucket_waiter *waiter);
    int64_t offset;
    struct bucket_waiter *next, **at; /* the bucket's; at NULL: not waiting */
};

/* False: it is there already (or the bucket is closed or failed: bucket_wait_result tells);
 * fn will not be called. */
bool bucket_wait(struct bucket *bucket, struct bucket_waiter *waiter, int64_t offset);
/* True: it waited, and fn will not be called any more. False: fn was called, or is just being called. */
bool bucket_unwait(struct bucket *bucket, struct bucket_waiter *waiter);
/* After a wait: OK if the watermark is there, else why it will not get there: FAILED_STORAGE after a failed sync,
 * NOT_LEADER_OR_FOLLOWER when the bucket was closed. */
MUST_CHECK enum err_code bucket_wait_result(struct bucket *bucket, int64_t offset, struct err *err);
/* Everything below offset is on disk when it returns OK (blocks). */
MUST_CHECK enum err_code bucket_make_durable(struct bucket *bucket, int64_t offset, struct err *err);

/* ---- reading the log ---- */

/* A range of the log below the watermark that stays readable as long as it is held, whatever rolls or is deleted. */
struct bucket_range {
    struct log_view view; /* length 0: nothing at or above the offset */
    int64_t next_offset;  /* behind the last batch */
    int64_t high_watermark;
    int64_t start_offset;
};

/* From the batch that holds offset (-2: earliest) on, whole batches of one segment, at most bytes_max (one batch at
 * least if force_one). Release with log_view_release.
 * errors   LOG_OFFSET_OUT_OF_RANGE_EXCEPTION, NOT_LEADER_OR_FOLLOWER, LOG_STORAGE_EXCEPTION (blocks only for page-cache
 *          misses while it looks for the position). */
MUST_CHECK enum err_code bucket_fetch(struct bucket *bucket, int64_t offset, size_t bytes_max, bool force_one,
                                      struct bucket_range *range, struct err *err);

enum bucket_offset_kind { BUCKET_EARLIEST, BUCKET_LATEST, BUCKET_TIMESTAMP };
/* LIST_OFFSETS. Latest is behind the last row that readers see: batches without rows may follow up to the watermark,
 * and a bounded reader of Fluss 0.9.1 that had to pass one would wait for a row behind it. timestamp_ms only for
 * BUCKET_TIMESTAMP; one in the future is INVALID_TIMESTAMP_EXCEPTION. */
MUST_CHECK enum err_code bucket_list_offset(struct bucket *bucket, enum bucket_offset_kind kind, int64_t timestamp_ms,
                                            int64_t *offset, struct err *err);

/* ---- reading the state ---- */

/* The durable value of a key (schema id + row) into arena; ptr NULL: none. May read the engine (blocks on a miss, if
 * it may).
 * errors   WOULD_BLOCK: not in memory, and may_block is not set; NON_PRIMARY_KEY_TABLE_EXCEPTION,
 *          NOT_LEADER_OR_FOLLOWER, KV_STORAGE_EXCEPTION. */
MUST_CHECK enum err_code bucket_lookup(struct bucket *bucket, struct slice key, bool may_block, struct arena *arena,
                                       struct slice *value, struct err *err);

/* All durable values in key order as of one moment (blocks). */
struct bucket_scan;
/* log_offset: what the scan shows is the changelog below it. prefix empty: all keys.
 * errors: WOULD_BLOCK: all keys must be looked at to find those, and may_block is not set. */
MUST_CHECK enum err_code bucket_scan_open(struct bucket *bucket, struct slice prefix, bool may_block,
                                          struct bucket_scan **scan, int64_t *log_offset, struct err *err);
/* The next one; *more false at the end. Key and value are valid until the next call. */
MUST_CHECK enum err_code bucket_scan_next(struct bucket_scan *scan, bool *more, struct slice *key, struct slice *value,
                                          struct err *err);
void bucket_scan_close(struct bucket_scan *scan); /* NULL is fine */

/* ---- all buckets of a server ---- */

struct buckets;

void buckets_create(struct bucket_env *env, struct buckets **buckets);
/* Closes all, many side by side, and settles those that it comes to before the time (blocks); NULL is fine. */
void buckets_destroy(struct buckets *buckets, int64_t settle_until_mono_ns);
/* Opens all buckets of a table, or none (blocks). A partitioned table has none before its partitions are opened.
 * tiering: of partition -1; may be NULL. */
MUST_CHECK enum err_code buckets_open_table(struct buckets *buckets, const struct table_info *table,
                                            struct tiering_part *tiering, struct err *err);
/* The same for one partition of a table that is open.
 * errors   as bucket_open; TABLE_NOT_EXIST: the table was dropped meanwhile. */
MUST_CHECK enum err_code buckets_open_partition(struct buckets *buckets, const struct table_info *table,
                                                const struct partition_info *partition, struct tiering_part *tiering,
                                                struct err *err);
/* Takes a table out: closes its buckets, those of its partitions too, and removes its directory (blocks). Fine if it is
 * not there. */
MUST_CHECK enum err_code buckets_drop_table(struct buckets *buckets, int64_t table_id, struct err *err);
MUST_CHECK enum err_code buckets_drop_partition(struct buckets *buckets, int64_t partition_id, struct err *err);
/* While it is set, a bucket that can't be opened is refused and left out, and its table opens all the same: one damaged
 * file must not keep a server from all its other tables. For the start of a server. */
void buckets_set_forgiving(struct buckets *buckets, bool forgiving);
/* Takes a bucket out for good, closed and with its files as they are: writing on would make things worse (blocks). */
void buckets_refuse(struct buckets *buckets, int64_t table_id, int64_t partition_id, int32_t number,
                    const struct err *why);
/* Why buckets_find does not give it: BUCKET_DAMAGED, or what the system said (IO, DISK_FULL, ...). OK: not refused. */
MUST_CHECK enum err_code buckets_check_refused(struct buckets *buckets, int64_t table_id, int64_t partition_id,
                                               int32_t number, struct err *err);
/* The bucket with one count more, or NULL: there is none, or it is refused. partition_id -1: of a table without
 * partitions. */
struct bucket *buckets_find(struct buckets *buckets, int64_t table_id, int64_t partition_id, int32_t number);
size_t buckets_count(struct buckets *buckets);
/* Whether a data directory has files of any bucket (blocks). */
MUST_CHECK enum err_code buckets_have_files(struct os *os, const char *data_dir, bool *have, struct err *err);
/* Removes the files of a dropped table that no registry has open, as a crash may leave them (blocks). */
MUST_CHECK enum err_code buckets_remove_files(const struct bucket_env *env, int64_t table_id, struct err *err);
/* The same of one partition. */
MUST_CHECK enum err_code buckets_remove_partition_files(const struct bucket_env *env, const struct table_info *table,
                                                        const struct partition_info *partition, struct err *err);
/* To be called some times a second: asks for the state flushes that are due by age, by log to replay, or because all
 * deltas together are over their budget. */
void buckets_tick(struct buckets *buckets);
/* Drops log segments that are older than their table says. roll_active: also the newest segment of a log, if all of it
 * is old. */
void buckets_expire(struct buckets *buckets, bool roll_active);

#endif
