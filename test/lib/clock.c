#include "lib/clock.h"

#include "os/os_ops.h"

static int64_t now_mono_ns, now_wall_ms;

static int64_t mono_ns(struct os *os)
{
    (void)os;
    return now_mono_ns;
}

static int64_t wall_ms(struct os *os)
{
    (void)os;
    return now_wall_ms;
}

static void sleep_ns(struct os *os, int64_t ns)
{
    (void)os;
    test_clock_pass(ns);
}

static void random_of_machine(struct os *os, void *ptr, size_t len)
{
    (void)os;
    os_random(os_real(), ptr, len);
}

struct os *test_clock_os(void)
{
    static const struct os_clock_ops clock = {mono_ns, wall_ms, sleep_ns, random_of_machine};
    static struct os os;
    if (!os.clock) {
        os = *os_real();
        os.clock = &clock;
    }
    return &os;
}

void test_clock_set(int64_t mono_ns_now, int64_t wall_ms_now)
{
    now_mono_ns = mono_ns_now;
    now_wall_ms = wall_ms_now;
}

void test_clock_pass(int64_t ns)
{
    now_mono_ns += ns;
}
