/* epoll, with an eventfd for the wake-up. The eventfd's tag is the poller itself. */
#include "os/real_int.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS_MAX 256 /* of one epoll_wait */

struct real_poller {
    struct os_poller head;
    int epoll_fd;
    int wake_fd;
};

static struct real_poller *real(struct os_poller *poller)
{
    return CONTAINER_OF(poller, struct real_poller, head);
}

static enum err_code open_fds(struct real_poller *p, struct err *err)
{
    p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (p->epoll_fd < 0)
        return real_socket_error(err, errno, "epoll");
    p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = p};
    if (p->wake_fd >= 0 && epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, p->wake_fd, &event) == 0)
        return OK;
    enum err_code code = real_socket_error(err, errno, "eventfd");
    if (p->wake_fd >= 0)
        close(p->wake_fd);
    close(p->epoll_fd);
    return code;
}

static enum err_code poller_create(struct os *os, struct os_poller **poller, struct err *err)
{
    struct real_poller *p = mem_zalloc(sizeof *p);
    p->head.os = os;
    enum err_code code = open_fds(p, err);
    if (code == OK)
        *poller = &p->head;
    else
        mem_free(p);
    return code;
}

static void poller_destroy(struct os_poller *poller)
{
    close(real(poller)->epoll_fd);
    close(real(poller)->wake_fd);
    mem_free(real(poller));
}

static enum err_code control(struct os_poller *poller, int verb, struct os_socket *socket, unsigned ready, void *tag,
                             struct err *err)
{
    struct epoll_event event = {.data.ptr = tag};
    event.events = (ready & OS_READABLE ? (uint32_t)EPOLLIN : 0) | (ready & OS_WRITABLE ? (uint32_t)EPOLLOUT : 0) |
                   (ready & OS_HANGUP ? (uint32_t)EPOLLRDHUP : 0);
    if (epoll_ctl(real(poller)->epoll_fd, verb, CONTAINER_OF(socket, struct real_socket, head)->fd, &event) != 0)
        return real_socket_error(err, errno, "epoll_ctl");
    return OK;
}

static enum err_code poller_add(struct os_poller *poller, struct os_socket *socket, unsigned ready, void *tag,
                                struct err *err)
{
    return control(poller, EPOLL_CTL_ADD, socket, ready, tag, err);
}

static enum err_code poller_change(struct os_poller *poller, struct os_socket *socket, unsigned ready, void *tag,
                                   struct err *err)
{
    return control(poller, EPOLL_CTL_MOD, socket, ready, tag, err);
}

static void poller_remove(struct os_poller *poller, struct os_socket *socket)
{
    enum err_code code = control(poller, EPOLL_CTL_DEL, socket, 0, NULL, NULL);
    ASSERT(code == OK); /* it was added */
}

static unsigned ready_of(uint32_t events)
{
    return (events & EPOLLIN ? OS_READABLE : 0u) | (events & EPOLLOUT ? OS_WRITABLE : 0u) |
           (events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP) ? OS_HANGUP : 0u);
}

static void drain_wake(struct real_poller *p)
{
    uint64_t count;
    ssize_t n = read(p->wake_fd, &count, sizeof count);
    ASSERT(n == sizeof count || errno == EAGAIN || errno == EINTR);
}

static size_t poller_wait(struct os_poller *poller, int64_t deadline_mono_ns, struct os_event *events, size_t event_max)
{
    struct real_poller *p = real(poller);
    struct epoll_event got[EVENTS_MAX];
    /* One more than asked for, since the wake-up takes a place. */
    int got_max = (int)MIN(event_max, EVENTS_MAX - 1) + 1;
    for (;;) {
        int n = epoll_wait(p->epoll_fd, got, got_max, real_timeout_ms(deadline_mono_ns));
        ASSERT(n >= 0 || errno == EINTR);
        size_t count = 0;
        bool woken = false;
        for (int i = 0; i < n; i++)
            if (got[i].data.ptr == p)
                woken = true;
            else if (count < event_max)
                events[count++] = (struct os_event){ready_of(got[i].events), got[i].data.ptr};
        if (woken)
            drain_wake(p);
        if (count || woken || real_mono_ns() >= deadline_mono_ns)
            return count;
    }
}

static void poller_wake(struct os_poller *poller)
{
    uint64_t one = 1;
    ssize_t n;
    do
        n = write(real(poller)->wake_fd, &one, sizeof one);
    while (n < 0 && errno == EINTR);
    ASSERT(n == sizeof one || errno == EAGAIN); /* EAGAIN: woken 2^64 times already */
}

const struct os_poller_ops real_poller_ops = {
    .create = poller_create,
    .destroy = poller_destroy,
    .add = poller_add,
    .change = poller_change,
    .remove = poller_remove,
    .wait = poller_wait,
    .wake = poller_wake,
};
