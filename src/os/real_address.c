/* Names, addresses and ports: how a socket comes to listen or to be connected. */
#include "os/real_int.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024

void real_address_text(const struct sockaddr_storage *address, char text[64])
{
    char host[48] = "?", port[8] = "0";
    socklen_t len = address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (address->ss_family == AF_INET || address->ss_family == AF_INET6)
        getnameinfo((const struct sockaddr *)address, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(text, 64, address->ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* The addresses of a name; the caller frees them with freeaddrinfo. */
static enum err_code resolve(const char *host, uint16_t port, struct addrinfo **list, struct err *err)
{
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    if (!*host)
        hints.ai_flags |= AI_PASSIVE;
    int rc = getaddrinfo(*host ? host : NULL, service, &hints, list);
    if (rc != 0)
        return err_set(err, ERR_UNREACHABLE, "%s cannot be resolved: %s", host, gai_strerror(rc));
    return OK;
}

static int listen_at(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off); /* "::" takes IPv4 as well */
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int os_errno = errno;
    close(fd);
    errno = os_errno;
    return -1;
}

/* IPv4 first: of "localhost" clients mean 127.0.0.1, where the resolver puts ::1 before it. */
static int listen_at_first(const struct addrinfo *list)
{
    int fd = -1, os_errno = EADDRNOTAVAIL;
    for (int pass = 0; pass < 2 && fd < 0; pass++)
        for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
            if ((a->ai_family == AF_INET) == (pass == 0)) {
                fd = listen_at(a);
                os_errno = fd < 0 && os_errno != EADDRINUSE ? errno : os_errno;
            }
    errno = os_errno;
    return fd;
}

static uint16_t port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in ipv4;
        struct sockaddr_in6 ipv6;
    } address;
    memset(&address, 0, sizeof address);
    socklen_t len = sizeof address;
    int rc = getsockname(fd, &address.any, &len);
    ASSERT(rc == 0);
    return ntohs(address.any.sa_family == AF_INET6 ? address.ipv6.sin6_port : address.ipv4.sin_port);
}

enum err_code real_listen(struct os *os, const char *host, uint16_t port, struct os_socket **socket,
                          uint16_t *port_taken, struct err *err)
{
    struct addrinfo *list;
    TRY(resolve(host, port, &list, err));
    int fd = listen_at_first(list), os_errno = errno;
    freeaddrinfo(list);
    if (fd < 0 && os_errno == EADDRINUSE)
        return err_set(err, ERR_PORT_TAKEN, "%s:%u is taken by another program", host, port);
    if (fd < 0)
        return err_set_errno(err, os_errno, "listen on %s:%u", host, port);
    *port_taken = port_of(fd);
    *socket = real_socket_wrap(os, fd);
    return OK;
}

/* 0, ETIMEDOUT when the deadline passed, or why not. */
static int finish_connect(int fd, int64_t deadline_mono_ns)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    for (;;) {
        int n = poll(&poll_fd, 1, real_timeout_ms(deadline_mono_ns));
        if (n == 0 && real_mono_ns() >= deadline_mono_ns)
            return ETIMEDOUT;
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0)
            break;
    }
    int os_errno = 0;
    socklen_t len = sizeof os_errno;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &os_errno, &len);
    return os_errno;
}

static int connect_to(const struct addrinfo *address, int64_t deadline_mono_ns, int *fd_out)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int os_errno = connect(fd, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    if (os_errno == EINPROGRESS || os_errno == EINTR)
        os_errno = finish_connect(fd, deadline_mono_ns);
    if (os_errno == 0)
        *fd_out = fd;
    else
        close(fd);
    return os_errno;
}

enum err_code real_connect(struct os *os, const char *host, uint16_t port, int64_t deadline_mono_ns,
                           struct os_socket **socket, struct err *err)
{
    struct addrinfo *list;
    TRY(resolve(host, port, &list, err));
    int fd = -1, os_errno = EADDRNOTAVAIL;
    for (const struct addrinfo *a = list; a && os_errno; a = a->ai_next)
        os_errno = connect_to(a, deadline_mono_ns, &fd);
    freeaddrinfo(list);
    if (os_errno == ETIMEDOUT && real_mono_ns() >= deadline_mono_ns)
        return err_set(err, ERR_DEADLINE, "no answer from %s:%u in time", host, port);
    if (os_errno) {
        err_set_errno(err, os_errno, "connect to %s:%u", host, port);
        if (err)
            err->code = ERR_UNREACHABLE;
        return ERR_UNREACHABLE;
    }
    *socket = real_socket_wrap(os, fd);
    return OK;
}
