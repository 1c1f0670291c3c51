/* Where work runs: event loops that own connections and timers, and a pool for whatever may block.
 *
 * A loop is one thread with a poller. Watches and timers belong to their loop's thread; tasks come from anywhere by
 * loop_post. The pool takes tasks that may wait for a disk or a peer, and starts threads as they are needed.
 * A task is a member of the structure that it works for, so posting allocates nothing and cannot fail. */
#ifndef WEIR_RUN_RUN_H
#define WEIR_RUN_RUN_H

#include "os/os.h"

struct task {
    void (*fn)(struct task *task); /* may free the task */
    struct task *next;             /* of the queue that it is in */
};

/* ---- pool ---- */

#define POOL_THREADS_MAX 256

struct pool;

/* threads_max at once; they start when first needed and stay. */
MUST_CHECK enum err_code pool_create(struct os *os, const char *name, unsigned threads_max, struct pool **pool,
                                     struct err *err);
/* Runs what is queued, then joins the threads (blocks). NULL is fine. */
void pool_destroy(struct pool *pool);
/* thread: any. Where no thread at all can be started the caller runs the task. */
void pool_submit(struct pool *pool, struct task *task);

/* A lane is what one sender wants of a pool: its tasks start in the order they came, lanes take turns, and a lane never
 * has more than half of the threads, so that no sender keeps the others out however much it sends. Tasks that come by
 * pool_submit are a lane of their own, which may have all threads. */
struct pool_lane;

struct pool_lane *pool_lane_create(struct pool *pool); /* counted; the pool must outlive it */
struct pool_lane *pool_lane_ref(struct pool_lane *lane);
void pool_lane_unref(struct pool_lane *lane); /* NULL is fine; tasks that are queued run all the same */
/* As pool_submit. The lane is held until the task is over. */
void pool_lane_submit(struct pool_lane *lane, struct task *task);

/* ---- strand ---- */

/* Tasks that must run one at a time and in order, on any thread of a pool. After some of them others have their turn.
 */
struct strand {
    struct os_mutex mutex;
    struct task *first, **last;
    struct pool *pool; /* of the last submit */
    struct task runner;
    bool busy; /* a thread runs a task of it, or is on its way */
    void (*hold)(struct strand *strand);
    void (*release)(struct strand *strand);
};

/* hold is called when the strand becomes busy and release when it has become idle again and is not touched any more,
 * so that its owner can keep itself alive in between. */
void strand_init(struct strand *strand, struct os *os, void (*hold)(struct strand *strand),
                 void (*release)(struct strand *strand));
void strand_deinit(struct strand *strand); /* must be idle */
void strand_submit(struct strand *strand, struct pool *pool, struct task *task);
/* True: the strand was idle and is the caller's now, who does the work itself and then calls strand_leave. */
bool strand_try_enter(struct strand *strand);
void strand_leave(struct strand *strand);

/* ---- loop ---- */

struct loop;

/* Something that happens later on the loop. Zero it before the first use; owner thread only. */
struct timer {
    int64_t deadline_mono_ns;
    void (*fn)(struct timer *timer);
    size_t place; /* in the heap, from 1; 0: not started */
};

/* A socket that the loop looks at. fn gets what is ready (OS_READABLE...); it may stop the watch, also free it. */
struct watch {
    struct os_socket *socket;
    void (*fn)(struct watch *watch, unsigned ready);
    unsigned ready; /* what it waits for now */
    bool started;
};

MUST_CHECK enum err_code loop_create(struct os *os, const char *name, struct loop **loop, struct err *err);
/* Ends the thread after the tasks posted so far (blocks); its watches and timers must be stopped. NULL is fine. */
void loop_destroy(struct loop *loop);
/* thread: any. */
void loop_post(struct loop *loop, struct task *task);
/* The calling thread is this loop's. */
bool loop_is_current(const struct loop *loop);
int64_t loop_now_ns(const struct loop *loop); /* os_mono_ns at the last wake-up: cheap */

void timer_start(struct loop *loop, struct timer *timer, int64_t deadline_mono_ns);
void timer_stop(struct loop *loop, struct timer *timer); /* fine if not started */

MUST_CHECK enum err_code watch_start(struct loop *loop, struct watch *watch, unsigned ready, struct err *err);
MUST_CHECK enum err_code watch_change(struct loop *loop, struct watch *watch, unsigned ready, struct err *err);
void watch_stop(struct loop *loop, struct watch *watch);

/* Called once after each round of events, before the loop sleeps: where a connection flushes what a round gathered. */
struct loop_idle {
    void (*fn)(struct loop_idle *idle);
    struct loop_idle *next;
    bool queued;
};
void loop_on_idle(struct loop *loop, struct loop_idle *idle); /* queued already: no effect */

#endif
