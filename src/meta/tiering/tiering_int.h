/* Private to meta/tiering: one table of the schedule, and the heap of deadlines.
 *
 * Locks: `mutex` guards everything but the atomics of struct tiering_table. The wake callback is called without it. */
#ifndef WEIR_META_TIERING_TIERING_INT_H
#define WEIR_META_TIERING_TIERING_INT_H

#include "base/map.h"
#include "base/vec.h"
#include "meta/tiering/tiering.h"

#include <stdatomic.h>

struct tiering_part {
    struct tiering_table *table; /* each count but the list's is one of the table's too */
    atomic_uint ref_count;
    int64_t partition_id; /* -1: the table has no partitions */
    /* One element a bucket, written without the lock. */
    _Atomic int64_t *ends;   /* readable end of the log */
    _Atomic int64_t *tiered; /* exclusive end in the lake */
};

struct tiering_table {
    struct tiering *tiering;
    atomic_uint ref_count;
    int32_t bucket_count; /* of each part */
    /* True: the schedule knows that something is new, or does not care (out). An append that finds it false must tell.
     */
    atomic_bool known_dirty;

    /* Under the lock. */
    struct map parts; /* partition id -> struct tiering_part; -1 is always there */
    bool in_schedule;
    int64_t table_id;
    struct slice database; /* in `names` */
    struct slice name;
    struct arena names;
    int64_t freshness_ns;
    enum tiering_state state;
    int64_t epoch;
    int64_t deadline_ns;        /* SCHEDULED: due; RUNNING: believed lost. INT64_MAX otherwise */
    size_t heap_at;             /* its place among the deadlines, or HEAP_NONE */
    struct tiering_table *next; /* in the queue of PENDING ones */
    int64_t started_ns;         /* of the last hand-out; INT64_MIN: none yet */
    int64_t started_ms;
    int64_t behind_since_ms; /* 0: not behind */
    int64_t lake_row_count;  /* -1: not told */
    int64_t finished_ms;
    int64_t failed_ms;
    uint32_t failures_in_row;
    char failed_text[240];
};

#define HEAP_NONE ((size_t)-1)

/* Tables by deadline, the earliest first. */
struct deadlines {
    VEC(struct tiering_table *) heap;
};

/* Puts the table at its deadline_ns: in, moved, or (INT64_MAX) out. */
void deadlines_set(struct deadlines *deadlines, struct tiering_table *table, int64_t deadline_ns);
struct tiering_table *deadlines_first(const struct deadlines *deadlines); /* NULL: none */

struct tiering {
    struct os *os;
    struct os_mutex mutex;
    int64_t epoch_base;
    tiering_wake_fn *wake;
    void *wake_arg;
    struct map tables; /* by id; one count each */
    struct deadlines deadlines;
    struct tiering_table *queue_first; /* PENDING, oldest first */
    struct tiering_table *queue_last;
    size_t pending_count;
};

/* The moves. Each checks the table of allowed ones and the invariants; the lock is held. */
void state_enter(struct tiering *tiering, struct tiering_table *table, enum tiering_state to, int64_t deadline_ns);
/* Out of queue and heap, whatever the state: the table leaves the schedule. */
void state_leave(struct tiering *tiering, struct tiering_table *table);
bool state_has_news(const struct tiering_table *table);
/* After a round, or when told of something new: where the table belongs now. */
void state_settle(struct tiering *tiering, struct tiering_table *table, int64_t now_ns, int64_t not_before_ns);
/* RUNNING ends in a failure: text and time are kept; the table waits its turn or, failing again, a while. */
void state_fail(struct tiering *tiering, struct tiering_table *table, struct slice text, int64_t now_ns,
                bool wait_when_repeated);
/* Does what the deadlines ask for by now. True if a table became due. */
bool state_expire(struct tiering *tiering, int64_t now_ns);

#endif
