#include "run/run.h"

#include "lib/test.h"

struct probe {
    struct task task;
    struct timer timer;
    struct loop *loop;
    struct os_mutex mutex;
    struct os_cond done;
    int count, want;
    int64_t order[8];
};

static void probe_init(struct probe *p, int want)
{
    *p = (struct probe){.want = want};
    os_mutex_init(&p->mutex, os_real());
    os_cond_init(&p->done, os_real());
}

static void probe_hit(struct probe *p)
{
    os_mutex_lock(&p->mutex);
    p->count++;
    os_cond_signal(&p->done);
    os_mutex_unlock(&p->mutex);
}

static void probe_wait(struct probe *p)
{
    int64_t deadline = os_mono_ns(os_real()) + 10000000000;
    os_mutex_lock(&p->mutex);
    while (p->count < p->want)
        assert_true(os_cond_wait_until(&p->done, &p->mutex, deadline));
    os_mutex_unlock(&p->mutex);
    os_cond_deinit(&p->done);
    os_mutex_deinit(&p->mutex);
}

struct pool_job {
    struct task task;
    struct probe *probe;
};

static void pool_job_run(struct task *task)
{
    os_sleep_ns(os_real(), 1000000);
    probe_hit(CONTAINER_OF(task, struct pool_job, task)->probe);
}

static void pool_runs_every_task_and_drains_at_the_end(void **state)
{
    (void)state;
    struct err err;
    struct pool *pool;
    struct probe probe;
    struct pool_job jobs[100];
    probe_init(&probe, 100);
    MUST(pool_create(os_real(), "test", 4, &pool, &err));
    for (int i = 0; i < 100; i++) {
        jobs[i] = (struct pool_job){.task.fn = pool_job_run, .probe = &probe};
        pool_submit(pool, &jobs[i].task);
    }
    pool_destroy(pool);
    probe_wait(&probe);
    assert_int_equal(probe.count, 100);
}

static void busy_job_run(struct task *task)
{
    probe_hit(CONTAINER_OF(task, struct pool_job, task)->probe);
    os_sleep_ns(os_real(), 50000000);
}

/* The second task and the end are asked for while the loop is busy, so that one wake-up stands for both. */
static void loop_ends_when_a_task_came_just_before(void **state)
{
    (void)state;
    struct err err;
    struct loop *loop;
    struct probe started, done;
    probe_init(&started, 1);
    probe_init(&done, 1);
    struct pool_job busy = {.task.fn = busy_job_run, .probe = &started};
    struct pool_job last = {.task.fn = pool_job_run, .probe = &done};
    MUST(loop_create(os_real(), "test", &loop, &err));
    loop_post(loop, &busy.task);
    probe_wait(&started);
    loop_post(loop, &last.task);
    loop_destroy(loop);
    probe_wait(&done);
    assert_int_equal(done.count, 1);
}

static void timer_fired(struct timer *timer)
{
    struct probe *p = CONTAINER_OF(timer, struct probe, timer);
    assert_true(loop_is_current(p->loop));
    probe_hit(p);
}

static void timer_posted(struct task *task)
{
    struct probe *p = CONTAINER_OF(task, struct probe, task);
    p->timer.fn = timer_fired;
    timer_start(p->loop, &p->timer, loop_now_ns(p->loop) + 3000000);
    timer_start(p->loop, &p->timer, loop_now_ns(p->loop) + 2000000); /* again: only the later call counts */
}

static void loop_runs_posted_tasks_and_timers(void **state)
{
    (void)state;
    struct err err;
    struct loop *loop;
    struct probe probe;
    probe_init(&probe, 1);
    MUST(loop_create(os_real(), "test", &loop, &err));
    probe.loop = loop;
    probe.task.fn = timer_posted;
    assert_false(loop_is_current(loop));
    loop_post(loop, &probe.task);
    probe_wait(&probe);
    loop_destroy(loop);
}

#define TIMERS 500

struct heap_probe {
    struct probe probe;
    struct {
        struct timer timer;
        struct heap_probe *all;
    } timers[TIMERS];
    int64_t last;
};

static void heap_timer_fired(struct timer *timer)
{
    struct heap_probe *all = *(struct heap_probe **)(timer + 1);
    assert_true(timer->deadline_mono_ns >= all->last);
    all->last = timer->deadline_mono_ns;
    probe_hit(&all->probe);
}

static void heap_posted(struct task *task)
{
    struct heap_probe *all = CONTAINER_OF(task, struct heap_probe, probe.task);
    for (int i = 0; i < TIMERS; i++) {
        all->timers[i].timer.fn = heap_timer_fired;
        all->timers[i].all = all;
        timer_start(all->probe.loop, &all->timers[i].timer, loop_now_ns(all->probe.loop) + i * 7919 % TIMERS * 1000);
    }
    for (int i = 0; i < TIMERS; i += 2)
        timer_stop(all->probe.loop, &all->timers[i].timer);
}

static void timers_fire_in_order_and_stopped_ones_never(void **state)
{
    (void)state;
    struct err err;
    static struct heap_probe all;
    probe_init(&all.probe, TIMERS / 2);
    MUST(loop_create(os_real(), "test", &all.probe.loop, &err));
    all.probe.task.fn = heap_posted;
    loop_post(all.probe.loop, &all.probe.task);
    struct loop *loop = all.probe.loop;
    probe_wait(&all.probe);
    loop_destroy(loop);
    assert_int_equal(all.probe.count, TIMERS / 2);
}

TESTS("run", TEST(pool_runs_every_task_and_drains_at_the_end), TEST(loop_ends_when_a_task_came_just_before),
      TEST(loop_runs_posted_tasks_and_timers), TEST(timers_fire_in_order_and_stopped_ones_never))
