/* An os that keeps what is written to standard output and standard error; everything else is the machine's. */
#ifndef WEIR_TEST_LIB_CAPTURED_H
#define WEIR_TEST_LIB_CAPTURED_H

#include "base/buf.h"
#include "os/os.h"

struct os *test_captured_os(void);
/* What was written since the last call. One thread at a time, and nobody else writes meanwhile. */
void test_captured_take(struct buf *out);

#endif
