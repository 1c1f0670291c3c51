#include "os/real_int.h"

#include <errno.h>
#include <pthread.h>

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(((struct os_mutex *)0)->impl), "a mutex has room");
_Static_assert(sizeof(pthread_cond_t) <= sizeof(((struct os_cond *)0)->impl), "a condition has room");

static pthread_mutex_t *mutex_of(struct os_mutex *mutex)
{
    return (pthread_mutex_t *)(void *)mutex->impl;
}

static pthread_cond_t *cond_of(struct os_cond *cond)
{
    return (pthread_cond_t *)(void *)cond->impl;
}

static void mutex_init(struct os_mutex *mutex)
{
    int rc = pthread_mutex_init(mutex_of(mutex), NULL);
    ASSERT(rc == 0);
}

static void mutex_deinit(struct os_mutex *mutex)
{
    int rc = pthread_mutex_destroy(mutex_of(mutex));
    ASSERT(rc == 0); /* nobody holds it */
}

static void mutex_lock(struct os_mutex *mutex)
{
    int rc = pthread_mutex_lock(mutex_of(mutex));
    ASSERT(rc == 0);
}

static void mutex_unlock(struct os_mutex *mutex)
{
    int rc = pthread_mutex_unlock(mutex_of(mutex));
    ASSERT(rc == 0);
}

static void cond_init(struct os_cond *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    int rc = pthread_cond_init(cond_of(cond), &attr);
    ASSERT(rc == 0);
    pthread_condattr_destroy(&attr);
}

static void cond_deinit(struct os_cond *cond)
{
    int rc = pthread_cond_destroy(cond_of(cond));
    ASSERT(rc == 0);
}

static void cond_wait(struct os_cond *cond, struct os_mutex *mutex)
{
    int rc = pthread_cond_wait(cond_of(cond), mutex_of(mutex));
    ASSERT(rc == 0);
}

static bool cond_wait_until(struct os_cond *cond, struct os_mutex *mutex, int64_t deadline_mono_ns)
{
    struct timespec until = real_timespec(deadline_mono_ns);
    int rc = pthread_cond_timedwait(cond_of(cond), mutex_of(mutex), &until);
    ASSERT(rc == 0 || rc == ETIMEDOUT);
    return rc == 0;
}

static void cond_signal(struct os_cond *cond)
{
    pthread_cond_signal(cond_of(cond));
}

static void cond_broadcast(struct os_cond *cond)
{
    pthread_cond_broadcast(cond_of(cond));
}

const struct os_lock_ops real_lock_ops = {
    mutex_init,  mutex_deinit, mutex_lock,      mutex_unlock, cond_init,
    cond_deinit, cond_wait,    cond_wait_until, cond_signal,  cond_broadcast,
};
