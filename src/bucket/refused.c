/* Buckets that could not be opened, or must not go on. */
#include "bucket/bucket_int.h"

void refusals_add(struct refusals *refusals, const struct refusal *refusal)
{
    vec_push(&refusals->list, *refusal);
}

const struct refusal *refusals_find(const struct refusals *refusals, int64_t table_id, int64_t partition_id,
                                    int32_t number)
{
    for (size_t i = 0; i < refusals->list.len; i++) {
        const struct refusal *r = &refusals->list.ptr[i];
        if (r->table_id == table_id && r->partition_id == partition_id && r->number == number)
            return r;
    }
    return NULL;
}

void refusals_drop(struct refusals *refusals, int64_t table_id, int64_t partition_id)
{
    for (size_t i = refusals->list.len; i > 0; i--) {
        const struct refusal *r = &refusals->list.ptr[i - 1];
        if (r->table_id == table_id && (partition_id < 0 || r->partition_id == partition_id))
            vec_remove(&refusals->list, i - 1);
    }
}

/* Damage does not go away by asking again; what the system refused may, but only the next start looks. */
struct refusal refusal_of(const struct bucket_env *env, const struct table_info *table, int64_t partition_id,
                          int32_t number, const struct err *why)
{
    struct refusal refusal = {table->table_id, partition_id, number, *why};
    if (why->code == ERR_CORRUPT || why->code == ERR_FORMAT_VERSION)
        refusal.err.code = ERR_BUCKET_DAMAGED;
    trace_error(env->trace, "bucket", "refused", trace_slice("database", table->database),
                trace_slice("table", table->name), trace_i64("partition_id", partition_id), trace_i64("bucket", number),
                trace_err(&refusal.err));
    return refusal;
}
