#include "base/vec.h"
#include "run/run.h"

#define EVENTS_MAX 128

struct loop {
    struct os *os;
    struct os_thread *thread;
    struct os_poller *poller;
    struct os_mutex mutex; /* guards the queue of tasks and stopping */
    struct task *first, **last;
    bool stopping;
    /* the rest is the loop thread's own */
    VEC(struct timer *) timers; /* a heap, the nearest at [1]; [0] is unused */
    struct loop_idle *idle;
    int64_t now_ns;
};

static _Thread_local const struct loop *current;

bool loop_is_current(const struct loop *loop)
{
    return current == loop;
}

int64_t loop_now_ns(const struct loop *loop)
{
    return loop->now_ns;
}

/* ---- timers ---- */

static void heap_set(struct loop *loop, size_t place, struct timer *timer)
{
    loop->timers.ptr[place] = timer;
    timer->place = place;
}

static void heap_up(struct loop *loop, size_t place, struct timer *timer)
{
    while (place > 1 && loop->timers.ptr[place / 2]->deadline_mono_ns > timer->deadline_mono_ns) {
        heap_set(loop, place, loop->timers.ptr[place / 2]);
        place /= 2;
    }
    heap_set(loop, place, timer);
}

static void heap_down(struct loop *loop, size_t place, struct timer *timer)
{
    for (;;) {
        size_t child = place * 2;
        if (child >= loop->timers.len)
            break;
        if (child + 1 < loop->timers.len &&
            loop->timers.ptr[child + 1]->deadline_mono_ns < loop->timers.ptr[child]->deadline_mono_ns)
            child++;
        if (loop->timers.ptr[child]->deadline_mono_ns >= timer->deadline_mono_ns)
            break;
        heap_set(loop, place, loop->timers.ptr[child]);
        place = child;
    }
    heap_set(loop, place, timer);
}

void timer_start(struct loop *loop, struct timer *timer, int64_t deadline_mono_ns)
{
    timer_stop(loop, timer);
    timer->deadline_mono_ns = deadline_mono_ns;
    if (loop->timers.len == 0)
        vec_push(&loop->timers, NULL);
    vec_push(&loop->timers, timer);
    heap_up(loop, loop->timers.len - 1, timer);
}

void timer_stop(struct loop *loop, struct timer *timer)
{
    if (!timer->place)
        return;
    ASSERT(loop->timers.ptr[timer->place] == timer);
    struct timer *moved = loop->timers.ptr[--loop->timers.len];
    if (moved != timer) {
        size_t place = timer->place;
        heap_down(loop, place, moved);
        heap_up(loop, moved->place, moved);
    }
    timer->place = 0;
}

static void timers_fire(struct loop *loop)
{
    while (loop->timers.len > 1 && loop->timers.ptr[1]->deadline_mono_ns <= loop->now_ns) {
        struct timer *timer = loop->timers.ptr[1];
        timer_stop(loop, timer);
        timer->fn(timer);
    }
}

/* ---- watches ---- */

enum err_code watch_start(struct loop *loop, struct watch *watch, unsigned ready, struct err *err)
{
    ASSERT(!watch->started);
    TRY(os_poller_add(loop->poller, watch->socket, ready, watch, err));
    watch->ready = ready;
    watch->started = true;
    return OK;
}

enum err_code watch_change(struct loop *loop, struct watch *watch, unsigned ready, struct err *err)
{
    ASSERT(watch->started);
    if (watch->ready == ready)
        return OK;
    TRY(os_poller_change(loop->poller, watch->socket, ready, watch, err));
    watch->ready = ready;
    return OK;
}

void watch_stop(struct loop *loop, struct watch *watch)
{
    if (watch->started)
        os_poller_remove(loop->poller, watch->socket);
    watch->started = false;
}

void loop_on_idle(struct loop *loop, struct loop_idle *idle)
{
    if (idle->queued)
        return;
    idle->queued = true;
    idle->next = loop->idle;
    loop->idle = idle;
}

/* ---- the thread ---- */

static struct task *tasks_take(struct loop *loop, bool *stopping)
{
    os_mutex_lock(&loop->mutex);
    struct task *task = loop->first;
    loop->first = NULL;
    loop->last = &loop->first;
    *stopping = loop->stopping;
    os_mutex_unlock(&loop->mutex);
    return task;
}

/* False when the loop is to end: asked to stop, and nothing posted is left. Once asked it must not wait again, since
 * the wake-up of the asking may have been used up together with that of a task. */
static bool tasks_run(struct loop *loop)
{
    for (;;) {
        bool stopping;
        struct task *task = tasks_take(loop, &stopping);
        bool any = task;
        while (task) {
            struct task *next = task->next;
            task->fn(task);
            task = next;
        }
        if (!stopping)
            return true;
        if (!any)
            return false;
    }
}

static void idles_run(struct loop *loop)
{
    while (loop->idle) {
        struct loop_idle *idle = loop->idle;
        loop->idle = idle->next;
        idle->queued = false;
        idle->fn(idle);
    }
}

static void run(void *arg)
{
    struct loop *loop = arg;
    struct os_event events[EVENTS_MAX];
    current = loop;
    loop->now_ns = os_mono_ns(loop->os);
    while (tasks_run(loop)) {
        idles_run(loop);
        int64_t deadline = loop->timers.len > 1 ? loop->timers.ptr[1]->deadline_mono_ns : INT64_MAX;
        size_t count = os_poller_wait(loop->poller, deadline, events, EVENTS_MAX);
        loop->now_ns = os_mono_ns(loop->os);
        for (size_t i = 0; i < count; i++) {
            struct watch *watch = events[i].tag;
            watch->fn(watch, events[i].ready);
        }
        timers_fire(loop);
    }
    idles_run(loop);
}

void loop_post(struct loop *loop, struct task *task)
{
    task->next = NULL;
    os_mutex_lock(&loop->mutex);
    bool was_empty = !loop->first;
    *loop->last = task;
    loop->last = &task->next;
    os_mutex_unlock(&loop->mutex);
    if (was_empty)
        os_poller_wake(loop->poller);
}

static void loop_free(struct loop *loop)
{
    os_poller_destroy(loop->poller);
    os_mutex_deinit(&loop->mutex);
    vec_deinit(&loop->timers);
    mem_free(loop);
}

enum err_code loop_create(struct os *os, const char *name, struct loop **out, struct err *err)
{
    enum err_code code;
    struct loop *loop = mem_zalloc(sizeof *loop);
    loop->os = os;
    loop->last = &loop->first;
    os_mutex_init(&loop->mutex, os);
    TRY_OR_FAIL(os_poller_create(os, &loop->poller, err));
    TRY_OR_FAIL(os_thread_start(os, name, run, loop, &loop->thread, err));
    *out = loop;
    return OK;
fail:
    loop_free(loop);
    return code;
}

void loop_destroy(struct loop *loop)
{
    if (!loop)
        return;
    ASSERT(!loop_is_current(loop));
    os_mutex_lock(&loop->mutex);
    loop->stopping = true;
    os_mutex_unlock(&loop->mutex);
    os_poller_wake(loop->poller);
    os_thread_join(loop->thread);
    ASSERT(loop->timers.len <= 1);
    loop_free(loop);
}
