#include "os/real_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Standard output may be a pipe that somebody else made non-blocking. */
static void wait_for_fd(int fd, short events)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};
    poll(&poll_fd, 1, -1);
}

static enum err_code process_write_fd(struct os *os, int fd, struct slice bytes, struct err *err)
{
    (void)os;
    for (size_t done = 0; done < bytes.len;) {
        ssize_t n = write(fd, bytes.ptr + done, bytes.len - done);
        if (n > 0)
            done += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            wait_for_fd(fd, POLLOUT);
        else if (n < 0 && errno == EPIPE)
            return err_set(err, ERR_UNREAD, "nobody reads descriptor %d any more", fd);
        else if (n == 0 || errno != EINTR)
            return err_set_errno(err, n ? errno : EIO, "write to descriptor %d", fd);
    }
    return OK;
}

static enum err_code process_read_stdin(struct os *os, void *ptr, size_t len, size_t *got, struct err *err)
{
    (void)os;
    for (;;) {
        ssize_t n = read(STDIN_FILENO, ptr, len);
        if (n >= 0) {
            *got = (size_t)n;
            return OK;
        }
        if (errno == EAGAIN)
            wait_for_fd(STDIN_FILENO, POLLIN);
        else if (errno != EINTR)
            return err_set_errno(err, errno, "read of standard input");
    }
}

static bool process_is_terminal(struct os *os, int fd)
{
    (void)os;
    return isatty(fd) == 1;
}

static int process_pid(struct os *os)
{
    (void)os;
    return (int)getpid();
}

static const char *process_environment(struct os *os, const char *name)
{
    (void)os;
    return getenv(name);
}

/* The second word of "1234 567 ...": resident pages. */
static bool resident_pages(struct slice statm, int64_t *pages)
{
    const uint8_t *from = memchr(statm.ptr, ' ', statm.len);
    const uint8_t *to = from ? memchr(from + 1, ' ', (size_t)(statm.ptr + statm.len - from - 1)) : NULL;
    return to && slice_to_i64(slice_of(from + 1, (size_t)(to - from - 1)), pages) && *pages >= 0;
}

static uint64_t process_resident_bytes(struct os *os)
{
    (void)os;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0; /* no /proc: unknown */
    char text[128];
    ssize_t n = read(fd, text, sizeof text);
    close(fd);
    int64_t pages;
    if (n <= 0 || !resident_pages(slice_of(text, (size_t)n), &pages))
        return 0;
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int64_t process_cpu_ns(struct os *os)
{
    (void)os;
    struct timespec ts;
    int rc = clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    ASSERT(rc == 0);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static uint64_t process_open_files_max(struct os *os)
{
    (void)os;
    struct rlimit limit;
    int rc = getrlimit(RLIMIT_NOFILE, &limit);
    ASSERT(rc == 0);
    struct rlimit raised = {limit.rlim_max, limit.rlim_max};
    return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

const struct os_process_ops real_process_ops = {
    process_write_fd,       process_read_stdin, process_is_terminal,    process_pid, process_environment,
    process_resident_bytes, process_cpu_ns,     process_open_files_max, NULL,
};
