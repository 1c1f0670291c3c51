#include "lib/held_clock.h"

#include "os/os_ops.h"

static int64_t wall_shift_ms, mono_shift_ns; /* atomic */

static int64_t mono_ns(struct os *os)
{
    (void)os;
    return os_mono_ns(os_real()) + __atomic_load_n(&mono_shift_ns, __ATOMIC_RELAXED);
}

static int64_t wall_ms(struct os *os)
{
    (void)os;
    return os_wall_ms(os_real()) + __atomic_load_n(&wall_shift_ms, __ATOMIC_RELAXED);
}

/* Deadlines are of this clock, and the machine knows only its own. */
static int64_t real_deadline(int64_t deadline_mono_ns)
{
    return deadline_mono_ns == INT64_MAX ? INT64_MAX
                                         : deadline_mono_ns - __atomic_load_n(&mono_shift_ns, __ATOMIC_RELAXED);
}

static size_t poller_wait(struct os_poller *poller, int64_t deadline_mono_ns, struct os_event *events, size_t event_max)
{
    return os_real()->poller->wait(poller, real_deadline(deadline_mono_ns), events, event_max);
}

static bool cond_wait_until(struct os_cond *cond, struct os_mutex *mutex, int64_t deadline_mono_ns)
{
    return os_real()->lock->cond_wait_until(cond, mutex, real_deadline(deadline_mono_ns));
}

struct os *held_clock_os(void)
{
    static struct os_clock_ops clock;
    static struct os_poller_ops poller;
    static struct os_lock_ops lock;
    static struct os os;
    if (!os.clock) {
        os = *os_real();
        clock = *os.clock;
        clock.mono_ns = mono_ns;
        clock.wall_ms = wall_ms;
        os.clock = &clock;
        poller = *os.poller;
        poller.wait = poller_wait;
        os.poller = &poller;
        lock = *os.lock;
        lock.cond_wait_until = cond_wait_until;
        os.lock = &lock;
    }
    return &os;
}

void held_clock_set(int64_t utc_s)
{
    __atomic_store_n(&wall_shift_ms, utc_s * 1000 - os_wall_ms(os_real()), __ATOMIC_RELAXED);
}

void held_clock_jump(int64_t ms)
{
    __atomic_add_fetch(&wall_shift_ms, ms, __ATOMIC_RELAXED);
}

void held_clock_pass(int64_t ms)
{
    __atomic_add_fetch(&mono_shift_ns, ms * 1000000, __ATOMIC_RELAXED);
    held_clock_jump(ms);
}
