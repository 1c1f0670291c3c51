/* The machine's side of os_ops.h, in pieces by thought; real.c puts them together. */
#ifndef WEIR_OS_REAL_INT_H
#define WEIR_OS_REAL_INT_H

#include "os/os_ops.h"

#include <time.h>

extern const struct os_file_ops real_file_ops;
extern const struct os_name_ops real_name_ops;
extern const struct os_clock_ops real_clock_ops;
extern const struct os_lock_ops real_lock_ops;
extern const struct os_thread_ops real_thread_ops;
extern const struct os_socket_ops real_socket_ops;
extern const struct os_poller_ops real_poller_ops;
extern const struct os_process_ops real_process_ops;

struct real_socket {
    struct os_socket head;
    int fd;
};

int real_file_fd(struct os_file *file);
/* The ways of file systems that lack fallocate and RENAME_NOREPLACE; here so that they can be tested on others. */
enum err_code real_allocate_zeros(struct os_file *file, uint64_t end, struct err *err);
enum err_code real_rename_by_link(const char *from, const char *to, struct err *err);
int64_t real_mono_ns(void);
struct timespec real_timespec(int64_t ns);
/* What is left until a deadline, as poll and epoll_wait take it: whole milliseconds, rounded up, -1 for INT64_MAX. */
int real_timeout_ms(int64_t deadline_mono_ns);
/* A socket around a descriptor that is non-blocking and close-on-exec already; takes it over. */
struct os_socket *real_socket_wrap(struct os *os, int fd);
/* A refusal about a connection: ERR_CLOSED where the peer is gone, ERR_LIMIT where descriptors or memory ran out. */
enum err_code real_socket_error(struct err *err, int os_errno, const char *verb);
/* listen and connect of real_address.c, which holds what has to do with names and ports. */
enum err_code real_listen(struct os *os, const char *host, uint16_t port, struct os_socket **socket,
                          uint16_t *port_taken, struct err *err);
enum err_code real_connect(struct os *os, const char *host, uint16_t port, int64_t deadline_mono_ns,
                           struct os_socket **socket, struct err *err);
struct sockaddr_storage;
void real_address_text(const struct sockaddr_storage *address, char text[64]);

#endif
