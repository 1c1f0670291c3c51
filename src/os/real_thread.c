#include "os/real_int.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

struct real_thread {
    struct os_thread head;
    pthread_t id;
    os_thread_fn *fn;
    void *arg;
    char name[16]; /* what the kernel takes, NUL included */
};

static sigset_t stop_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

static void *run(void *arg)
{
    struct real_thread *t = arg;
    pthread_setname_np(pthread_self(), t->name);
    t->fn(t->arg);
    return NULL;
}

/* Threads are born with the stop signals blocked, so that only the thread of on_stop gets them. */
static int start_blocked(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    sigset_t blocked = stop_signals(), before;
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    int rc = pthread_create(id, attr, fn, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static enum err_code thread_start(struct os *os, const char *name, os_thread_fn *fn, void *arg,
                                  struct os_thread **thread, struct err *err)
{
    struct real_thread *t = mem_zalloc(sizeof *t);
    t->head.os = os;
    t->fn = fn;
    t->arg = arg;
    snprintf(t->name, sizeof t->name, "%s", name);
    int rc = start_blocked(&t->id, NULL, run, t);
    if (rc != 0) {
        mem_free(t);
        return err_set_errno(err, rc, "start of thread %s", name);
    }
    *thread = &t->head;
    return OK;
}

static void thread_join(struct os_thread *thread)
{
    struct real_thread *t = CONTAINER_OF(thread, struct real_thread, head);
    int rc = pthread_join(t->id, NULL);
    ASSERT(rc == 0);
    mem_free(t);
}

struct stop_watch {
    os_stop_fn *fn;
    void *arg;
};

static void *watch_stop(void *arg)
{
    struct stop_watch watch = *(struct stop_watch *)arg;
    mem_free(arg);
    pthread_setname_np(pthread_self(), "signals");
    sigset_t set = stop_signals();
    for (;;) {
        int signal_number;
        if (sigwait(&set, &signal_number) == 0)
            watch.fn(watch.arg);
    }
    return NULL;
}

static enum err_code thread_on_stop(struct os *os, os_stop_fn *fn, void *arg, struct err *err)
{
    (void)os;
    sigset_t set = stop_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    struct stop_watch *watch = mem_alloc(sizeof *watch);
    *watch = (struct stop_watch){fn, arg};
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_t id;
    int rc = start_blocked(&id, &attr, watch_stop, watch);
    pthread_attr_destroy(&attr);
    if (rc == 0)
        return OK;
    mem_free(watch);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return err_set_errno(err, rc, "start of the thread for signals");
}

const struct os_thread_ops real_thread_ops = {thread_start, thread_join, thread_on_stop};
