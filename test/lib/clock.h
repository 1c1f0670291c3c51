/* An os whose clocks stand where the test puts them; everything else is the machine's. For tests of what depends on
 * time but not on waiting: a condition or a poller would still wait for the machine's clock. */
#ifndef WEIR_TEST_LIB_CLOCK_H
#define WEIR_TEST_LIB_CLOCK_H

#include "os/os.h"

struct os *test_clock_os(void);
void test_clock_set(int64_t mono_ns, int64_t wall_ms);
/* Moves the monotonic clock on, as os_sleep_ns of this os does; the wall clock stands. */
void test_clock_pass(int64_t ns);

#endif
