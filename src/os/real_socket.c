/* Streams between two sockets; how they come to be is in real_address.c. */
#include "os/real_int.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECES_MAX 64           /* of one sendmsg; the rest goes with the next call */
#define SEND_FILE_MAX (1 << 30) /* of one sendfile, which takes no more than 2 GiB */

static int fd_of(struct os_socket *socket)
{
    return CONTAINER_OF(socket, struct real_socket, head)->fd;
}

struct os_socket *real_socket_wrap(struct os *os, int fd)
{
    /* sendfile has no MSG_NOSIGNAL. Said again for each socket, since nothing tells us that we are the first. */
    signal(SIGPIPE, SIG_IGN);
    struct real_socket *s = mem_alloc(sizeof *s);
    s->head.os = os;
    s->fd = fd;
    return &s->head;
}

enum err_code real_socket_error(struct err *err, int os_errno, const char *verb)
{
    enum err_code code = err_set_errno(err, os_errno, "%s", verb);
    switch (os_errno) {
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
        code = ERR_CLOSED;
        break;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
        code = ERR_LIMIT;
        break;
    }
    if (err)
        err->code = code;
    return code;
}

static bool not_now(int os_errno)
{
    return os_errno == EAGAIN; /* EWOULDBLOCK is the same number */
}

static enum err_code socket_accept(struct os_socket *listener, struct os_socket **socket, char peer[64],
                                   struct err *err)
{
    struct sockaddr_storage address = {0};
    socklen_t address_len = sizeof address;
    int fd;
    do
        fd = accept4(fd_of(listener), (struct sockaddr *)&address, &address_len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    if (fd < 0 && !not_now(errno))
        return real_socket_error(err, errno, "accept");
    if (fd < 0) {
        *socket = NULL;
        return OK;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    real_address_text(&address, peer);
    *socket = real_socket_wrap(listener->os, fd);
    return OK;
}

static enum err_code socket_pair(struct os *os, struct os_socket *pair[2], struct err *err)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0)
        return real_socket_error(err, errno, "socket pair");
    pair[0] = real_socket_wrap(os, fds[0]);
    pair[1] = real_socket_wrap(os, fds[1]);
    return OK;
}

static void socket_close(struct os_socket *socket)
{
    close(fd_of(socket));
    mem_free(CONTAINER_OF(socket, struct real_socket, head));
}

static int socket_detach(struct os_socket *socket)
{
    int fd = fd_of(socket);
    mem_free(CONTAINER_OF(socket, struct real_socket, head));
    return fd;
}

static void socket_shutdown(struct os_socket *socket)
{
    shutdown(fd_of(socket), SHUT_RDWR); /* fails only where the peer is gone already */
}

static enum err_code socket_recv(struct os_socket *socket, void *ptr, size_t len, size_t *got, bool *closed,
                                 struct err *err)
{
    ASSERT(len > 0); /* the kernel's answer to nothing looks like the end */
    ssize_t n;
    do
        n = recv(fd_of(socket), ptr, len, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0 && !not_now(errno))
        return real_socket_error(err, errno, "receive");
    *got = n > 0 ? (size_t)n : 0;
    *closed = n == 0;
    return OK;
}

static enum err_code socket_send(struct os_socket *socket, const struct slice *pieces, size_t piece_count, size_t *sent,
                                 struct err *err)
{
    struct iovec vec[PIECES_MAX];
    struct msghdr message = {.msg_iov = vec};
    for (size_t i = 0; i < piece_count && message.msg_iovlen < PIECES_MAX; i++)
        if (pieces[i].len)
            vec[message.msg_iovlen++] = (struct iovec){(void *)(uintptr_t)pieces[i].ptr, pieces[i].len};
    ssize_t n = 0;
    if (message.msg_iovlen)
        do
            n = sendmsg(fd_of(socket), &message, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
    if (n < 0 && !not_now(errno))
        return real_socket_error(err, errno, "send");
    *sent = n > 0 ? (size_t)n : 0;
    return OK;
}

static enum err_code socket_send_file(struct os_socket *socket, struct os_file *file, uint64_t offset, size_t len,
                                      size_t *sent, struct err *err)
{
    off_t at = (off_t)offset;
    ssize_t n;
    do
        n = sendfile(fd_of(socket), real_file_fd(file), &at, MIN(len, SEND_FILE_MAX));
    while (n < 0 && errno == EINTR);
    if (n < 0 && !not_now(errno))
        return real_socket_error(err, errno, "send of a file");
    if (n == 0 && len)
        return err_set(err, ERR_IO, "send of a file: it ends before %llu", (unsigned long long)offset + len);
    *sent = n > 0 ? (size_t)n : 0;
    return OK;
}

static enum err_code socket_wait(struct os_socket *socket, unsigned ready, int64_t deadline_mono_ns, struct err *err)
{
    struct pollfd poll_fd = {.fd = fd_of(socket)};
    poll_fd.events = (short)((ready & OS_READABLE ? POLLIN : 0) | (ready & OS_WRITABLE ? POLLOUT : 0) |
                             (ready & OS_HANGUP ? POLLRDHUP : 0));
    for (;;) {
        int n = poll(&poll_fd, 1, real_timeout_ms(deadline_mono_ns));
        if (n > 0)
            return OK;
        if (n < 0 && errno != EINTR)
            return real_socket_error(err, errno, "poll");
        if (n == 0 && real_mono_ns() >= deadline_mono_ns)
            return err_set(err, ERR_DEADLINE, "the other side did not answer in time");
    }
}

const struct os_socket_ops real_socket_ops = {
    .listen = real_listen,
    .accept = socket_accept,
    .connect = real_connect,
    .pair = socket_pair,
    .close = socket_close,
    .detach = socket_detach,
    .shutdown = socket_shutdown,
    .recv = socket_recv,
    .send = socket_send,
    .send_file = socket_send_file,
    .wait = socket_wait,
};
