#include "run/run.h"

#define STRAND_AT_ONCE 16 /* tasks; then other strands and lanes have their turn at the thread */

static void strand_run(struct task *runner);

void strand_init(struct strand *strand, struct os *os, void (*hold)(struct strand *strand),
                 void (*release)(struct strand *strand))
{
    *strand = (struct strand){.last = &strand->first, .runner.fn = strand_run, .hold = hold, .release = release};
    os_mutex_init(&strand->mutex, os);
}

void strand_deinit(struct strand *strand)
{
    ASSERT(!strand->busy && !strand->first);
    os_mutex_deinit(&strand->mutex);
}

/* The next task, or NULL and the strand is idle. */
static struct task *strand_next(struct strand *strand)
{
    os_mutex_lock(&strand->mutex);
    struct task *task = strand->first;
    if (task) {
        strand->first = task->next;
        if (!strand->first)
            strand->last = &strand->first;
    } else {
        strand->busy = false;
    }
    os_mutex_unlock(&strand->mutex);
    return task;
}

static void strand_run(struct task *runner)
{
    struct strand *strand = CONTAINER_OF(runner, struct strand, runner);
    for (int i = 0; i < STRAND_AT_ONCE; i++) {
        struct task *task = strand_next(strand);
        if (!task) {
            strand->release(strand);
            return;
        }
        task->fn(task);
    }
    os_mutex_lock(&strand->mutex);
    struct pool *pool = strand->pool;
    os_mutex_unlock(&strand->mutex);
    pool_submit(pool, &strand->runner);
}

void strand_submit(struct strand *strand, struct pool *pool, struct task *task)
{
    task->next = NULL;
    os_mutex_lock(&strand->mutex);
    *strand->last = task;
    strand->last = &task->next;
    strand->pool = pool;
    bool start = !strand->busy;
    strand->busy = true;
    os_mutex_unlock(&strand->mutex);
    if (start) {
        strand->hold(strand);
        pool_submit(pool, &strand->runner);
    }
}

bool strand_try_enter(struct strand *strand)
{
    os_mutex_lock(&strand->mutex);
    bool entered = !strand->busy;
    strand->busy = true;
    os_mutex_unlock(&strand->mutex);
    if (entered)
        strand->hold(strand);
    return entered;
}

void strand_leave(struct strand *strand)
{
    os_mutex_lock(&strand->mutex);
    ASSERT(strand->busy);
    struct pool *pool = strand->first ? strand->pool : NULL;
    strand->busy = pool != NULL;
    os_mutex_unlock(&strand->mutex);
    if (pool)
        pool_submit(pool, &strand->runner);
    else
        strand->release(strand);
}
