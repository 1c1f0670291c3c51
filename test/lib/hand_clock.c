#include "lib/hand_clock.h"

static int64_t mono_ns(struct os *os)
{
    return CONTAINER_OF(os, struct hand_clock, os)->now_ns;
}

static int64_t wall_ms(struct os *os)
{
    const struct hand_clock *clock = CONTAINER_OF(os, struct hand_clock, os);
    return clock->wall_ms_at_zero + clock->now_ns / 1000000;
}

static void sleep_ns(struct os *os, int64_t ns)
{
    CONTAINER_OF(os, struct hand_clock, os)->now_ns += ns;
}

static void machine_random(struct os *os, void *ptr, size_t len)
{
    (void)os;
    os_random(os_real(), ptr, len);
}

void hand_clock_init(struct hand_clock *clock, int64_t now_ns, int64_t wall_ms_at_zero)
{
    static const struct os_clock_ops ops = {mono_ns, wall_ms, sleep_ns, machine_random};
    *clock = (struct hand_clock){.os = *os_real(), .now_ns = now_ns, .wall_ms_at_zero = wall_ms_at_zero};
    clock->os.clock = &ops;
}
