/* Clock, locks, threads and sockets of the simulated machine: one thread in virtual time. */
#include "sim/sim_int.h"

static int64_t sim_mono_ns(struct os *os)
{
    return sim_disk_of(os)->mono_ns += SIM_STEP_NS;
}

static int64_t sim_wall_ms(struct os *os)
{
    sim_mono_ns(os);
    return sim_disk_wall_ms(sim_disk_of(os));
}

static void sim_sleep_ns(struct os *os, int64_t ns)
{
    sim_disk_of(os)->mono_ns += MAX(ns, 0);
}

static void sim_random_bytes(struct os *os, void *ptr, size_t len)
{
    uint8_t *out = ptr;
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)sim_next(&sim_disk_of(os)->random[1]);
}

const struct os_clock_ops sim_clock_ops = {
    .mono_ns = sim_mono_ns,
    .wall_ms = sim_wall_ms,
    .sleep_ns = sim_sleep_ns,
    .random = sim_random_bytes,
};

/* impl[0] of a mutex: NULL when free, else itself. */
static void mutex_init(struct os_mutex *mutex)
{
    mutex->impl[0] = NULL;
}

static void mutex_deinit(struct os_mutex *mutex)
{
    ASSERT(!mutex->impl[0]);
}

static void mutex_lock(struct os_mutex *mutex)
{
    ASSERT(!mutex->impl[0]); /* with one thread a taken lock is a deadlock */
    mutex->impl[0] = mutex;
}

static void mutex_unlock(struct os_mutex *mutex)
{
    ASSERT(mutex->impl[0] == mutex);
    mutex->impl[0] = NULL;
}

static void cond_nothing(struct os_cond *cond)
{
    (void)cond;
}

static void cond_wait(struct os_cond *cond, struct os_mutex *mutex)
{
    (void)cond;
    ASSERT(mutex->impl[0] == mutex);
    ASSERT(!"somebody to signal the condition that is waited for");
}

static bool cond_wait_until(struct os_cond *cond, struct os_mutex *mutex, int64_t deadline_mono_ns)
{
    ASSERT(mutex->impl[0] == mutex);
    if (deadline_mono_ns == INT64_MAX)
        cond_wait(cond, mutex);
    struct sim_disk *disk = sim_disk_of(cond->os);
    disk->mono_ns = MAX(disk->mono_ns, deadline_mono_ns);
    return false;
}

const struct os_lock_ops sim_lock_ops = {
    .mutex_init = mutex_init,
    .mutex_deinit = mutex_deinit,
    .mutex_lock = mutex_lock,
    .mutex_unlock = mutex_unlock,
    .cond_init = cond_nothing,
    .cond_deinit = cond_nothing,
    .cond_wait = cond_wait,
    .cond_wait_until = cond_wait_until,
    .cond_signal = cond_nothing,
    .cond_broadcast = cond_nothing,
};

static enum err_code refuse(struct err *err, const char *what)
{
    return err_set(err, ERR_NOT_SUPPORTED, "the simulator has no %s", what);
}

static enum err_code thread_start(struct os *os, const char *name, os_thread_fn *fn, void *arg,
                                  struct os_thread **thread, struct err *err)
{
    (void)os, (void)name, (void)fn, (void)arg, (void)thread;
    return refuse(err, "threads");
}

static void thread_join(struct os_thread *thread)
{
    (void)thread;
    ASSERT(!"a thread to join");
}

static enum err_code on_stop(struct os *os, os_stop_fn *fn, void *arg, struct err *err)
{
    (void)os, (void)fn, (void)arg;
    return refuse(err, "signals");
}

const struct os_thread_ops sim_thread_ops = {.start = thread_start, .join = thread_join, .on_stop = on_stop};

static enum err_code sock_listen(struct os *os, const char *host, uint16_t port, struct os_socket **sock,
                                 uint16_t *port_taken, struct err *err)
{
    (void)os, (void)host, (void)port, (void)sock, (void)port_taken;
    return refuse(err, "sockets");
}

static enum err_code sock_connect(struct os *os, const char *host, uint16_t port, int64_t deadline,
                                  struct os_socket **sock, struct err *err)
{
    (void)os, (void)host, (void)port, (void)deadline, (void)sock;
    return refuse(err, "sockets");
}

static enum err_code sock_pair(struct os *os, struct os_socket *pair[2], struct err *err)
{
    (void)os, (void)pair;
    return refuse(err, "sockets");
}

/* Without a socket the other calls cannot be reached. */
const struct os_socket_ops sim_socket_ops = {.listen = sock_listen, .connect = sock_connect, .pair = sock_pair};

static enum err_code poller_create(struct os *os, struct os_poller **poller, struct err *err)
{
    (void)os, (void)poller;
    return refuse(err, "pollers");
}

const struct os_poller_ops sim_poller_ops = {.create = poller_create};
