/* What every file of weir may lean on without asking: fixed-width types, an assert that is always on, and a few macros.
 *
 * base knows no I/O and no clock. Everything here is either a value or lives in memory that the caller named. */
#ifndef WEIR_BASE_BASE_H
#define WEIR_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A mistake of ours, never of the world: peers, disks and users are answered with struct err (err.h).
 * Prints the condition with its place to standard error and aborts; it is not compiled out in any build. */
#define ASSERT(cond) ((cond) ? (void)0 : assert_failed(#cond, __FILE__, __LINE__))
_Noreturn void assert_failed(const char *cond, const char *file, int line);

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Memory of the process. Never NULL: a machine that has no memory left ends the process with a sentence, since a
 * database that goes on after a failed allocation has not been tested in that state (decision 0002). Sizes that come
 * from outside are bounded by a named limit before they get here. */
void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);
void *mem_realloc(void *ptr, size_t size);
void mem_free(void *ptr);
/* Gives what was freed back to the system, which malloc by itself keeps; some milliseconds. For after large work. */
void mem_trim(void);

#endif
