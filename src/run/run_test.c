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

/* One sender has queued more than there are threads, all of it slow; another one comes with a single task. */
struct lane_probe {
    struct os_mutex mutex;
    unsigned running, most, begun, begun_before; /* of the first sender */
    struct probe all;
};

struct lane_job {
    struct task task;
    struct lane_probe *probe;
};

static void slow_job_run(struct task *task)
{
    struct lane_probe *probe = CONTAINER_OF(task, struct lane_job, task)->probe;
    os_mutex_lock(&probe->mutex);
    probe->begun++;
    probe->running++;
    probe->most = MAX(probe->most, probe->running);
    os_mutex_unlock(&probe->mutex);
    os_sleep_ns(os_real(), 2000000);
    os_mutex_lock(&probe->mutex);
    probe->running--;
    os_mutex_unlock(&probe->mutex);
    probe_hit(&probe->all);
}

static void single_job_run(struct task *task)
{
    struct lane_probe *probe = CONTAINER_OF(task, struct lane_job, task)->probe;
    os_mutex_lock(&probe->mutex);
    probe->begun_before = probe->begun;
    os_mutex_unlock(&probe->mutex);
    probe_hit(&probe->all);
}

static void lanes_take_turns_and_none_has_all_threads(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 4, 7};
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        struct err err;
        struct pool *pool;
        struct lane_probe probe = {0};
        struct lane_job slow[200], one = {{.fn = single_job_run}, &probe};
        os_mutex_init(&probe.mutex, os_real());
        probe_init(&probe.all, ARRAY_LEN(slow) + 1);
        MUST(pool_create(os_real(), "test", threads[i], &pool, &err));
        struct pool_lane *first = pool_lane_create(pool), *second = pool_lane_create(pool);
        for (size_t k = 0; k < ARRAY_LEN(slow); k++) {
            slow[k] = (struct lane_job){{.fn = slow_job_run}, &probe};
            pool_lane_submit(first, &slow[k].task);
        }
        os_mutex_lock(&probe.mutex);
        unsigned begun = probe.begun;
        os_mutex_unlock(&probe.mutex);
        pool_lane_submit(second, &one.task);
        pool_lane_unref(first); /* what is queued runs all the same */
        pool_lane_unref(second);
        probe_wait(&probe.all);
        assert_in_range(probe.most, 1, MAX(threads[i] / 2, 1));
        assert_in_range(probe.begun_before, begun, begun + 60); /* 200 without turns; a thread may be late */
        pool_destroy(pool);
        os_mutex_deinit(&probe.mutex);
    }
}

struct endless {
    struct task task, end;
    struct strand strand;
    struct pool *pool;
    unsigned ended; /* atomic */
    struct probe done;
};

static void endless_hold(struct strand *strand)
{
    (void)strand;
}

static void endless_release(struct strand *strand)
{
    probe_hit(&CONTAINER_OF(strand, struct endless, strand)->done);
}

static void endless_run(struct task *task)
{
    struct endless *endless = CONTAINER_OF(task, struct endless, task);
    if (!__atomic_load_n(&endless->ended, __ATOMIC_ACQUIRE))
        strand_submit(&endless->strand, endless->pool, task);
}

static void endless_end(struct task *task)
{
    __atomic_store_n(&CONTAINER_OF(task, struct endless, end)->ended, 1, __ATOMIC_RELEASE);
}

/* A bucket that always has one more put must not keep a thread for itself. */
static void a_strand_without_end_lets_others_run(void **state)
{
    (void)state;
    struct err err;
    struct endless endless = {.task.fn = endless_run, .end.fn = endless_end};
    MUST(pool_create(os_real(), "test", 1, &endless.pool, &err));
    strand_init(&endless.strand, os_real(), endless_hold, endless_release);
    probe_init(&endless.done, 1);
    strand_submit(&endless.strand, endless.pool, &endless.task);
    pool_submit(endless.pool, &endless.end);
    probe_wait(&endless.done);
    pool_destroy(endless.pool);
    strand_deinit(&endless.strand);
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

TESTS("run", TEST(pool_runs_every_task_and_drains_at_the_end), TEST(lanes_take_turns_and_none_has_all_threads),
      TEST(a_strand_without_end_lets_others_run), TEST(loop_ends_when_a_task_came_just_before),
      TEST(loop_runs_posted_tasks_and_timers), TEST(timers_fire_in_order_and_stopped_ones_never))
