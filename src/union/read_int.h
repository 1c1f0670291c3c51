/* The folded end of a primary-key table's log (tail.c). */
#ifndef WEIR_UNION_READ_INT_H
#define WEIR_UNION_READ_INT_H

#include "union/union_int.h"

/* Keys whose hash modulo count is index. */
struct tail_share {
    uint64_t count; /* a power of two; 1: all keys */
    uint64_t index;
};

#define TAIL_SHARES_MAX 65536 /* then the budget is exceeded rather than halved again */

struct tail;

/* *overflowed: there is more than bytes_max, and no tail. */
MUST_CHECK enum err_code tail_read(struct client_table *table, const struct union_plan *plan, struct tail_share share,
                                   uint64_t bytes_max, struct tail **out, bool *overflowed, struct err *err);
void tail_destroy(struct tail *tail); /* NULL is fine */
/* Whether the lake's row is not to be given: the key was changed or deleted since V, or is of another share. */
MUST_CHECK enum err_code tail_hides(struct tail *tail, const struct union_row *row, bool *hides, struct err *err);
/* The rows that the tail itself has, in no order. */
MUST_CHECK enum err_code tail_give(struct tail *tail, union_row_fn *fn, void *arg, bool *enough, struct err *err);

#endif
