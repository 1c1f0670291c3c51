/* For src/format/agg alone. */
#ifndef WEIR_FORMAT_AGG_AGG_INT_H
#define WEIR_FORMAT_AGG_AGG_INT_H

#include "format/agg/agg.h"

struct agg_call {
    const struct agg *agg;
    const struct datum *acc, *input; /* neither is null, unless the function says AGG_NULLS */
    struct arena *arena;
};

typedef enum err_code agg_fold_fn(const struct agg_call *call, struct datum *out, struct err *err);

/* numbers.c */
agg_fold_fn agg_sum, agg_product;
/* values.c */
agg_fold_fn agg_greatest, agg_least, agg_last, agg_first, agg_joined, agg_both, agg_either;
/* bitmap.c */
agg_fold_fn agg_union32, agg_union64;

/* ---- serialized bitmaps: bitmap.c, bitmap32.c, bitmap64.c ---- */

/* The values of a bitmap that share all but their 16 lowest bits, in the form that both widths keep them in:
 *
 *   ARRAY   count x u16, rising
 *   BITS    8192 bytes, bit v of byte v >> 3
 *   RUNS    u16 n, n x (u16 first, u16 length - 1), rising, not touching each other's values */
enum chunk_form { CHUNK_RUNS = 0, CHUNK_BITS = 1, CHUNK_ARRAY = 2 }; /* the numbers are those of the 64-bit form */

#define CHUNK_VALUES 65536u
#define CHUNK_BITS_BYTES (CHUNK_VALUES / 8)
#define CHUNK_ARRAY_MAX 4096u /* values of an ARRAY; the 32-bit form tells it from BITS by that */

struct chunk {
    uint64_t high; /* the other bits: 16 or 48 of them */
    enum chunk_form form;
    uint32_t count;     /* of values, 1 to CHUNK_VALUES */
    struct slice bytes; /* borrowed */
};

struct chunks {
    struct chunk *items; /* by rising high, in an arena */
    uint32_t count;
};

struct reader;

/* The next chunk's bytes out of r, checked; form, high, and for ARRAY and BITS count, are set. False: not of its form.
 */
MUST_CHECK bool chunk_read(struct reader *r, struct chunk *chunk);

/* False: the bytes are not such a bitmap. More bytes behind it are let be, as Java's reader does. */
MUST_CHECK bool bitmap32_read(struct slice bytes, struct arena *arena, struct chunks *chunks);
MUST_CHECK bool bitmap64_read(struct slice bytes, struct arena *arena, struct chunks *chunks);
void bitmap32_write(const struct chunks *chunks, struct buf *out);
void bitmap64_write(const struct chunks *chunks, struct buf *out);

#endif
