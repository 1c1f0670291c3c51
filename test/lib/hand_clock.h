/* The machine with a clock that stands until the test moves it: for code that waits by looking at the time. Sleeping
 * moves it too; nothing else does, so it is not for code that waits on a condition with a deadline (that is test/sim).
 */
#ifndef WEIR_TEST_LIB_HAND_CLOCK_H
#define WEIR_TEST_LIB_HAND_CLOCK_H

#include "os/os_ops.h"

struct hand_clock {
    struct os os; /* give &clock.os to the code under test */
    int64_t now_ns;
    int64_t wall_ms_at_zero;
};

void hand_clock_init(struct hand_clock *clock, int64_t now_ns, int64_t wall_ms_at_zero);

#endif
