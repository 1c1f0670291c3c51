#include "run/run.h"

struct pool_lane {
    struct pool *pool;
    struct task *first, **last;
    unsigned running, running_max;
    unsigned refs;          /* atomic: of its owners, and of each task of it that is not over */
    struct pool_lane *next; /* of those that are ready */
    bool ready;             /* it has a task that may start: it is in the list */
};

struct pool {
    struct os *os;
    const char *name;
    struct os_mutex mutex;
    struct os_cond wake;
    struct pool_lane *first, **last; /* ready, in the order of their turns */
    struct pool_lane own;            /* of pool_submit */
    struct os_thread *threads[POOL_THREADS_MAX];
    unsigned thread_count, threads_max, idle_count, queued_count;
    bool stopping;
};

/* ---- lanes ---- */

static void lane_init(struct pool_lane *lane, struct pool *pool, unsigned running_max)
{
    *lane = (struct pool_lane){.pool = pool, .last = &lane->first, .running_max = running_max, .refs = 1};
}

/* To the end of the list, if it has a task that may start and is not there. */
static void lane_offer_locked(struct pool_lane *lane)
{
    struct pool *pool = lane->pool;
    if (lane->ready || !lane->first || lane->running == lane->running_max)
        return;
    lane->ready = true;
    lane->next = NULL;
    *pool->last = lane;
    pool->last = &lane->next;
}

struct pool_lane *pool_lane_create(struct pool *pool)
{
    struct pool_lane *lane = mem_alloc(sizeof *lane);
    lane_init(lane, pool, MAX(pool->threads_max / 2, 1));
    return lane;
}

struct pool_lane *pool_lane_ref(struct pool_lane *lane)
{
    __atomic_add_fetch(&lane->refs, 1, __ATOMIC_RELAXED);
    return lane;
}

void pool_lane_unref(struct pool_lane *lane)
{
    if (lane && __atomic_sub_fetch(&lane->refs, 1, __ATOMIC_ACQ_REL) == 0)
        mem_free(lane);
}

/* ---- threads ---- */

/* The next task of the lane whose turn it is, which counts as running; NULL: none may start. */
static struct task *take_locked(struct pool *pool, struct pool_lane **from)
{
    struct pool_lane *lane = pool->first;
    if (!lane)
        return NULL;
    pool->first = lane->next;
    if (!pool->first)
        pool->last = &pool->first;
    lane->ready = false;
    struct task *task = lane->first;
    lane->first = task->next;
    if (!lane->first)
        lane->last = &lane->first;
    lane->running++;
    pool->queued_count--;
    lane_offer_locked(lane);
    *from = lane;
    return task;
}

/* The mutex is given back while the task runs, which may free it. */
static void run_locked(struct pool *pool, struct pool_lane *lane, struct task *task)
{
    os_mutex_unlock(&pool->mutex);
    task->fn(task);
    os_mutex_lock(&pool->mutex);
    lane->running--;
    lane_offer_locked(lane);
    pool_lane_unref(lane);
}

static void work(void *arg)
{
    struct pool *pool = arg;
    struct pool_lane *lane;
    os_mutex_lock(&pool->mutex);
    for (;;) {
        struct task *task = take_locked(pool, &lane);
        if (task) {
            run_locked(pool, lane, task);
            continue;
        }
        if (pool->stopping)
            break;
        pool->idle_count++;
        os_cond_wait(&pool->wake, &pool->mutex);
        pool->idle_count--;
    }
    os_mutex_unlock(&pool->mutex);
}

enum err_code pool_create(struct os *os, const char *name, unsigned threads_max, struct pool **out, struct err *err)
{
    if (threads_max < 1 || threads_max > POOL_THREADS_MAX)
        return err_set(err, ERR_INVALID_ARGUMENT, "a pool of %u threads: 1 to %u are possible", threads_max,
                       POOL_THREADS_MAX);
    struct pool *pool = mem_zalloc(sizeof *pool);
    pool->os = os;
    pool->name = name;
    pool->threads_max = threads_max;
    pool->last = &pool->first;
    lane_init(&pool->own, pool, threads_max);
    os_mutex_init(&pool->mutex, os);
    os_cond_init(&pool->wake, os);
    *out = pool;
    return OK;
}

void pool_destroy(struct pool *pool)
{
    if (!pool)
        return;
    os_mutex_lock(&pool->mutex);
    pool->stopping = true;
    os_cond_broadcast(&pool->wake);
    os_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->thread_count; i++)
        os_thread_join(pool->threads[i]);
    ASSERT(!pool->first && !pool->queued_count);
    os_cond_deinit(&pool->wake);
    os_mutex_deinit(&pool->mutex);
    mem_free(pool);
}

/* One more thread when those that sleep are fewer than the tasks that wait. */
static void thread_add_locked(struct pool *pool)
{
    if (pool->queued_count <= pool->idle_count || pool->thread_count == pool->threads_max)
        return;
    if (os_thread_start(pool->os, pool->name, work, pool, &pool->threads[pool->thread_count], NULL) == OK)
        pool->thread_count++;
}

void pool_lane_submit(struct pool_lane *lane, struct task *task)
{
    struct pool *pool = lane->pool;
    task->next = NULL;
    os_mutex_lock(&pool->mutex);
    *lane->last = task;
    lane->last = &task->next;
    pool_lane_ref(lane);
    pool->queued_count++;
    lane_offer_locked(lane);
    thread_add_locked(pool);
    struct pool_lane *from;
    struct task *own = pool->thread_count == 0 ? take_locked(pool, &from) : NULL;
    if (own)
        run_locked(pool, from, own);
    os_cond_signal(&pool->wake);
    os_mutex_unlock(&pool->mutex);
}

void pool_submit(struct pool *pool, struct task *task)
{
    pool_lane_submit(&pool->own, task);
}
