#include "run/run.h"

struct pool {
    struct os *os;
    const char *name;
    struct os_mutex mutex;
    struct os_cond wake;
    struct task *first, **last;
    struct os_thread *threads[POOL_THREADS_MAX];
    unsigned thread_count, threads_max, idle_count, queued_count;
    bool stopping;
};

static struct task *take_locked(struct pool *pool)
{
    struct task *task = pool->first;
    if (task) {
        pool->first = task->next;
        if (!pool->first)
            pool->last = &pool->first;
        pool->queued_count--;
    }
    return task;
}

static void work(void *arg)
{
    struct pool *pool = arg;
    os_mutex_lock(&pool->mutex);
    for (;;) {
        struct task *task = take_locked(pool);
        if (task) {
            os_mutex_unlock(&pool->mutex);
            task->fn(task);
            os_mutex_lock(&pool->mutex);
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
    ASSERT(!pool->first);
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

void pool_submit(struct pool *pool, struct task *task)
{
    task->next = NULL;
    os_mutex_lock(&pool->mutex);
    *pool->last = task;
    pool->last = &task->next;
    pool->queued_count++;
    thread_add_locked(pool);
    struct task *own = pool->thread_count == 0 ? take_locked(pool) : NULL;
    os_cond_signal(&pool->wake);
    os_mutex_unlock(&pool->mutex);
    if (own)
        own->fn(own);
}
