/* The tiering schedule: which table is to be brought to the lake next, and who is at it.
 *
 * It keeps Fluss's protocol (LakeTableTieringManager): a worker's heartbeat reports tables that it runs, has finished
 * or has failed at, and may take one table that is due; each time a table becomes due its tiering epoch grows, and a
 * report with another epoch is refused. What is weir's own:
 * - a table with nothing new is never due; the first change after a quiet spell is due at once, and under steady writes
 *   a round starts once per freshness;
 * - a table that failed twice in a row waits (1 s, doubling up to 1 min) before it is due again, so that a table that
 *   can't be tiered does not keep a worker busy; due tables are handed out in the order in which they became due;
 * - the schedule says when the next thing happens and calls back when that moves, so a heartbeat can be held open.
 *
 * Nothing here is on disk: what is new is known from the buckets' offsets and the offsets of the last lake snapshot.
 *
 *   state      meaning                                      goes to
 *   IDLE       the lake holds everything                    SCHEDULED, PENDING
 *   SCHEDULED  something is new, due at a known time        PENDING, IDLE
 *   PENDING    due; in the queue                            RUNNING, IDLE
 *   RUNNING    a worker has it, heard of within 2 min       IDLE, SCHEDULED, PENDING
 *
 * Disabling or dropping a table takes it out, from any state.
 *
 * thread   every call from any thread; none blocks on a disk or a peer. */
#ifndef WEIR_META_TIERING_TIERING_H
#define WEIR_META_TIERING_TIERING_H

#include "base/arena.h"
#include "base/err.h"
#include "os/os.h"

#define TIERING_SILENCE_MS_MAX 120000 /* a table not heard of that long is taken from its worker */
#define TIERING_RETRY_MS_MIN 1000
#define TIERING_RETRY_MS_MAX 60000
#define TIERING_REPORTS_MAX 4096    /* in one heartbeat; more is ERR_LIMIT */
#define TIERING_COORDINATOR_EPOCH 0 /* for ever: stock 0.9.1 jobs never look again */

struct tiering;       /* the schedule */
struct tiering_table; /* one table in it; counted */
struct tiering_part;  /* the buckets of one partition of it, or of a table without partitions; counted, so that buckets
                       * may keep one */

/* Called without the schedule's lock when a table became due or tiering_tick() should run earlier than it last said.
 * It must only pass the word on. */
typedef void tiering_wake_fn(void *arg);

/* epoch_base: the first epoch given is epoch_base + 1. Different in each run of a server, so that a worker of an
 * earlier run is told 50 and not believed (meta_run_epoch_base()). */
struct tiering *tiering_create(struct os *os, int64_t epoch_base, tiering_wake_fn *wake, void *wake_arg);
/* Takes out the tables that are in it; all handles have been given back. NULL is fine. */
void tiering_destroy(struct tiering *tiering);

/* A lake-enabled table enters, IDLE, with bucket_count buckets at 0 in log and lake; those of a partitioned table,
 * which has none of its own, come with tiering_part_add. The handle is the caller's, one count. database and name are
 * copied. The table must not be in it. Tell what the lake holds (tiering_note_lake) before what the log holds
 * (tiering_note_end), else it is due for nothing. */
struct tiering_table *tiering_add(struct tiering *tiering, int64_t table_id, struct slice database, struct slice name,
                                  int32_t bucket_count, int64_t freshness_ms);
/* Out: disabled or dropped. Handles stay valid and have no effect. Fine if it is not in it. */
void tiering_remove(struct tiering *tiering, int64_t table_id);
struct tiering_table *tiering_table_ref(struct tiering_table *table);
void tiering_table_unref(struct tiering_table *table); /* NULL is fine */
void tiering_set_freshness(struct tiering *tiering, int64_t table_id, int64_t freshness_ms);

/* A partition enters, with as many buckets as the table was added with. It must not be there. The handle is the
 * caller's; it keeps the table's. */
struct tiering_part *tiering_part_add(struct tiering_table *table, int64_t partition_id);
/* Out: dropped. Its news are none any more. Fine if it is not there. */
void tiering_part_remove(struct tiering_table *table, int64_t partition_id);
/* With one count more; partition -1: the buckets of a table without partitions. NULL where there is none. */
struct tiering_part *tiering_part_find(struct tiering_table *table, int64_t partition_id);
struct tiering_part *tiering_part_ref(struct tiering_part *part);
void tiering_part_unref(struct tiering_part *part); /* NULL is fine */

/* The bucket's readable end (high watermark) is now at least end_offset. Called at each append: two atomic steps unless
 * this is the first thing new of an idle table. part NULL is fine. */
void tiering_note_end(struct tiering_part *part, int32_t bucket, int64_t end_offset);
/* The lake holds the bucket up to end_offset (registered). Only growing values count; buckets and partitions that are
 * not there have no effect. */
void tiering_note_lake(struct tiering_table *table, int64_t partition_id, int32_t bucket, int64_t end_offset);
/* Up to where the lake holds the bucket, as far as it was told; 0 for part NULL. */
int64_t tiering_lake_end(const struct tiering_part *part, int32_t bucket);
/* The handle of a table in the schedule with one count more, or NULL. */
struct tiering_table *tiering_find(struct tiering *tiering, int64_t table_id);

/* ---- heartbeats ---- */

struct tiering_report {
    int64_t table_id;
    int32_t coordinator_epoch;
    int64_t tiering_epoch;
    struct slice error_text; /* of a failed one: why; may be empty */
    bool has_row_count;
    int64_t row_count; /* of a finished one: rows that the lake table holds now */
};

struct tiering_reports {
    const struct tiering_report *items;
    size_t count;
};

struct tiering_heartbeat {
    struct tiering_reports running;
    struct tiering_reports finished;
    struct tiering_reports failed;
    const int64_t *force_finished; /* ids, in finished too: more is waiting, due again at once */
    size_t force_finished_count;
    bool request_table;
};

struct tiering_result {
    int64_t table_id;
    enum err_code code; /* OK, or INVALID_COORDINATOR_EXCEPTION, TABLE_NOT_EXIST, FENCED_TIERING_EPOCH_EXCEPTION, ... */
    struct slice text;
};

struct tiering_results {
    struct tiering_result *items;
    size_t count;
};

struct tiering_answer {
    bool has_table;
    int64_t table_id;
    struct slice database;
    struct slice name;
    int64_t tiering_epoch;
    struct tiering_results running; /* one for each report, in their order */
    struct tiering_results finished;
    struct tiering_results failed;
};

/* Failed ones first, then running, finished, then the hand-out of the table that has been due longest. Everything in
 * answer lives in arena. errors: LIMIT. */
MUST_CHECK enum err_code tiering_heartbeat(struct tiering *tiering, const struct tiering_heartbeat *heartbeat,
                                           struct arena *arena, struct tiering_answer *answer, struct err *err);

/* Does what is due by now and gives the time (os_mono_ns) of the next call, INT64_MAX if nothing is to come; the wake
 * callback may ask for an earlier one. */
int64_t tiering_tick(struct tiering *tiering);
/* Tables due and not handed out: a held heartbeat need only be answered when this is not 0. */
size_t tiering_pending_count(struct tiering *tiering);

/* ---- what people see ---- */

enum tiering_state { TIERING_IDLE, TIERING_SCHEDULED, TIERING_PENDING, TIERING_RUNNING, TIERING_STATE_COUNT };

struct tiering_status {
    enum tiering_state state;
    int64_t tiering_epoch;
    int64_t due_in_ms;         /* SCHEDULED: until it is due; else -1 */
    int64_t behind_since_ms;   /* wall clock at which the oldest change that the lake has not came; 0: it has all. No
                                * later   than that: of changes that came during a round it is the round's start */
    int64_t lake_row_count;    /* as the last finished report had it; -1: none told */
    int64_t round_started_ms;  /* wall clock of the last hand-out; 0: none yet */
    int64_t round_finished_ms; /* of the last finished report */
    int64_t failed_ms;         /* of the last failure; 0: none since the last finished round */
    uint32_t failures_in_row;
    char failed_text[240];
};

const char *tiering_state_name(enum tiering_state state); /* "idle" */
/* False if the table is not in the schedule: lake off. */
bool tiering_status(struct tiering *tiering, int64_t table_id, struct tiering_status *status);
/* A worker holds it: for DROP TABLE's and PREPARE's decisions. */
bool tiering_is_running(struct tiering *tiering, int64_t table_id);

#endif
