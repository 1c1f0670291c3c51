/* Shared by the files of bucket; see bucket.h.
 *
 * Three locks, in this order:
 * - state_lock: one at a time writes the delta to the engine; held over disk work;
 * - write_lock: one at a time puts to a primary-key bucket; held over engine reads;
 * - mutex: everything below that is not said to be another's; held for microseconds. */
#ifndef WEIR_BUCKET_BUCKET_INT_H
#define WEIR_BUCKET_BUCKET_INT_H

#include "bucket/bucket.h"
#include "bucket/state_int.h"

enum flush_state {
    FLUSH_IDLE,
    FLUSH_QUEUED,       /* bucket_flush will be called */
    FLUSH_RUNNING,      /* it runs */
    FLUSH_RUNNING_AGAIN /* it runs, and more came meanwhile */
};

/* Of a home, so that the names in it fit behind. */
#define BUCKET_DIR_MAX (OS_PATH_MAX - 64)

struct bucket_home {
    struct bucket_env *env;
    unsigned ref_count;   /* atomic */
    bool parents_durable; /* atomic: the names of the directories above, and of the home's own */
    int64_t table_id;
    int64_t partition_id; /* -1: the table has no partitions */
    char dir[];
};

struct bucket {
    struct bucket_env *env;
    struct bucket_home *home;       /* counted */
    const struct table_info *table; /* counted; another one after ALTER TABLE, so others take it by bucket_table() */
    struct tiering_part *tiering;
    int32_t number;
    unsigned ref_count; /* atomic */
    struct os_mutex mutex;
    struct log *log; /* NULL before the first write: a bucket that nobody wrote to has no files */
    bool names_due;  /* its directory's name is not durable yet */
    int64_t high_watermark;
    enum flush_state flush;
    bool closed;
    bool sealed; /* takes no writes */
    struct bucket_waiter *waiters;
    struct state *state; /* NULL: a log table */
    struct bucket_metrics metrics;
};

/* ---- buckets that are not served: refused.c ---- */

struct refusal {
    int64_t table_id;
    int64_t partition_id;
    int32_t number;
    struct err err;
};

/* Few; zero value: none. */
struct refusals {
    VEC(struct refusal) list;
};

void refusals_add(struct refusals *refusals, const struct refusal *refusal);
const struct refusal *refusals_find(const struct refusals *refusals, int64_t table_id, int64_t partition_id,
                                    int32_t number);
/* Of a table, or of one of its partitions (-1: all). */
void refusals_drop(struct refusals *refusals, int64_t table_id, int64_t partition_id);
/* The reason as clients are told it, and a line in the trace. */
struct refusal refusal_of(const struct bucket_env *env, const struct table_info *table, int64_t partition_id,
                          int32_t number, const struct err *why);

/* The answer to who wants the state of a log table. */
MUST_CHECK enum err_code bucket_has_no_key(struct bucket *bucket, struct err *err);

/* ---- metrics.c ---- */

void bucket_metrics_take(struct bucket *bucket);
void bucket_metrics_release(struct bucket *bucket);

/* ---- files and their order: home.c ---- */

MUST_CHECK enum err_code bucket_home_dir(const struct bucket_env *env, const struct table_info *table,
                                         const struct partition_info *partition, char out[BUCKET_DIR_MAX],
                                         struct err *err);
/* Makes the names in the home durable, and the home's own (blocks). */
MUST_CHECK enum err_code bucket_home_sync(struct bucket_home *home, struct err *err);
/* Where log and engine are, into out (OS_PATH_MAX). */
void bucket_path(const struct bucket *bucket, const char *kind, char *out);
/* Before the first write: makes directory and log, without waiting for the disk; the first flush does that. */
MUST_CHECK enum err_code bucket_begin_locked(struct bucket *bucket, struct err *err);
/* Opens the log if there is one (blocks). */
MUST_CHECK enum err_code bucket_log_open(struct bucket *bucket, struct err *err);

/* ---- the log, which may not be there yet; under the mutex ---- */

static inline int64_t bucket_log_start(const struct bucket *bucket)
{
    return bucket->log ? log_start_offset(bucket->log) : 0;
}

static inline int64_t bucket_log_durable(const struct bucket *bucket)
{
    return bucket->log ? log_durable_offset(bucket->log) : 0;
}

static inline int64_t bucket_log_end(const struct bucket *bucket)
{
    return bucket->log ? log_end_offset(bucket->log) : 0;
}

/* Where readers have all rows: the watermark, less the batches without rows just below it. */
static inline int64_t bucket_rows_end_locked(const struct bucket *bucket)
{
    return bucket->log ? MIN(log_rows_end_offset(bucket->log), bucket->high_watermark) : 0;
}

static inline uint64_t bucket_log_bytes(const struct bucket *bucket)
{
    return bucket->log ? log_bytes(bucket->log) : 0;
}

static inline bool bucket_log_failed(const struct bucket *bucket)
{
    return bucket->log && log_failed(bucket->log);
}

/* ---- watermark: watermark.c ---- */

/* errors: NOT_LEADER_OR_FOLLOWER. */
MUST_CHECK enum err_code bucket_check_open_locked(const struct bucket *bucket, struct err *err);
MUST_CHECK enum err_code bucket_check_writable_locked(const struct bucket *bucket, struct err *err);
/* Something was appended: asks for a flush, or moves the watermark at once where the page cache is enough. The caller
 * calls bucket_wake with *woken after it has let the mutex go. */
void bucket_appended_locked(struct bucket *bucket, struct bucket_waiter **woken);
/* Asks for a flush. */
void bucket_want_flush_locked(struct bucket *bucket);
/* Takes out the waiters whose offset is reached, or all of a bucket that is closed or failed. */
struct bucket_waiter *bucket_take_waiters_locked(struct bucket *bucket);
void bucket_wake(struct bucket_waiter *woken);
/* Leaves a word in the trace, at most one a second, where the disk refused a write. */
void bucket_tell_refused(struct bucket *bucket, enum err_code code, const struct err *err);

/* ---- retention: retention.c ---- */

/* Drops segments that are old enough. */
void bucket_expire(struct bucket *bucket, bool roll_active);

/* ---- state: state.c, state_open.c ---- */

MUST_CHECK enum err_code state_open(struct bucket *bucket, struct err *err);
void state_close(struct bucket *bucket);
struct bucket_ticked {
    size_t active_bytes;  /* of rows that the engine does not have; 0: there are none */
    size_t written_bytes; /* of rows kept though it has them */
    int64_t written_ns;   /* since when */
};
/* Asks for a state flush where age or log to replay say so. */
void bucket_tick(struct bucket *bucket, int64_t now_ns, struct bucket_ticked *tick);
/* Lets go of rows kept though the engine has them. Giving back so much memory takes a while: under no mutex. */
void bucket_forget_written(struct bucket *bucket);
void bucket_want_state_flush(struct bucket *bucket);
/* Brings env->delta_bytes and env->written_bytes up to date. */
void state_count_locked(struct bucket *bucket);

#endif
