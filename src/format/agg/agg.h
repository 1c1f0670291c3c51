/* The functions of the merge engine AGGREGATION: which types and parameters they take, and what they make of the value
 * that is there and the one that comes.
 *
 * One list: proto/agg_functions.def. Semantics are Apache Fluss's: docs/manual/merge-engines.md. thread: any;
 * nothing is kept. */
#ifndef WEIR_FORMAT_AGG_AGG_H
#define WEIR_FORMAT_AGG_AGG_H

#include "format/value/value.h"

#define AGG_TEXT_BYTES_MAX (32u << 20)   /* of what listagg and string_agg make */
#define AGG_BITMAP_BYTES_MAX (32u << 20) /* of what rbm32 and rbm64 make */

struct agg_function;

/* The function of one column, ready for use. */
struct agg {
    const struct agg_function *function;
    const struct type *type;
    struct slice delimiter; /* of listagg and string_agg; as long as the schema */
};

/* The column's type and parameters are such as its function takes; a column without one is fine.
 * errors: INVALID_CONFIG_EXCEPTION. */
MUST_CHECK enum err_code agg_check(const struct schema_column *column, struct err *err);
/* A column without a function takes last_value_ignore_nulls; one of the primary key last_value, whatever it says.
 * The column passed agg_check(), unless it is of the primary key. */
void agg_init(struct agg *agg, const struct schema_column *column, bool in_key);
/* out: acc with input taken in; borrows from both, or lies in arena.
 * errors   INVALID_ARGUMENT: a bitmap that can't be read; RECORD_TOO_LARGE_EXCEPTION: AGG_.._BYTES_MAX. */
MUST_CHECK enum err_code agg_fold(const struct agg *agg, const struct datum *acc, const struct datum *input,
                                  struct arena *arena, struct datum *out, struct err *err);

#endif
