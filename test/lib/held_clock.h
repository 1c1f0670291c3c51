/* An os whose clocks the test moves (those of lib/clock.h stand): they go on like the machine's, from where they are
 * set. Everything else is the machine's. thread: any. */
#ifndef WEIR_TEST_LIB_HELD_CLOCK_H
#define WEIR_TEST_LIB_HELD_CLOCK_H

#include "os/os.h"

struct os *held_clock_os(void);
void held_clock_set(int64_t utc_s);
/* The wall clock alone is set forward or back. */
void held_clock_jump(int64_t ms);
/* Time passes. The two clocks can't move in one moment: who looks in between sees one of them ahead. */
void held_clock_pass(int64_t ms);

#endif
