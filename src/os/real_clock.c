#include "os/real_int.h"

#include <errno.h>
#include <sys/random.h>

static int64_t now_ns(clockid_t clock)
{
    struct timespec ts;
    int rc = clock_gettime(clock, &ts);
    ASSERT(rc == 0);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t real_mono_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

struct timespec real_timespec(int64_t ns)
{
    ns = MAX(ns, 0);
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

int real_timeout_ms(int64_t deadline_mono_ns)
{
    if (deadline_mono_ns == INT64_MAX)
        return -1;
    int64_t now = real_mono_ns();
    if (deadline_mono_ns <= now)
        return 0;
    int64_t left_ns = deadline_mono_ns - now;
    return (int)MIN(left_ns / 1000000 + (left_ns % 1000000 != 0), INT32_MAX);
}

static int64_t clock_mono_ns(struct os *os)
{
    (void)os;
    return real_mono_ns();
}

static int64_t clock_wall_ms(struct os *os)
{
    (void)os;
    return now_ns(CLOCK_REALTIME) / 1000000;
}

static void clock_sleep_ns(struct os *os, int64_t ns)
{
    (void)os;
    struct timespec until = real_timespec(real_mono_ns() + ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}

static void clock_random(struct os *os, void *ptr, size_t len)
{
    (void)os;
    for (size_t done = 0; done < len;) {
        ssize_t n = getrandom((char *)ptr + done, len - done, 0);
        ASSERT(n > 0 || errno == EINTR); /* of Linux it can fail in no other way */
        done += n > 0 ? (size_t)n : 0;
    }
}

const struct os_clock_ops real_clock_ops = {clock_mono_ns, clock_wall_ms, clock_sleep_ns, clock_random};
