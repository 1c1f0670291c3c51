/* What a primary-key bucket has beside its log; shared by the files of bucket. */
#ifndef WEIR_BUCKET_STATE_INT_H
#define WEIR_BUCKET_STATE_INT_H

#include "bucket/delta_int.h"
#include "format/agg/agg.h"
#include "format/batch/batch.h"
#include "format/row/row.h"
#include "kv/kv.h"
#include "run/run.h"

/* One schema of the table, ready to decode rows with. */
struct state_schema {
    int32_t schema_id;
    const struct type *row;
    struct row_mapping to_newest;
};

struct bucket;

struct state {
    struct bucket *bucket;
    struct os_mutex state_lock;
    struct os_mutex write_lock;
    struct strand strand;
    struct delta *active;            /* entries change under both write_lock and mutex, so either is enough to read */
    struct delta *frozen;            /* being written to the engine, or NULL; never changes */
    struct delta *written;           /* what the engine got last, kept to save looking there, or NULL; never changes */
    struct kv_slot engine;           /* not before engine_exists */
    bool engine_exists;              /* something was written to it; once set it stays; atomic */
    int64_t applied;                 /* the engine holds the changelog below it */
    uint64_t applied_bytes;          /* bytes of the log at that time */
    int64_t frozen_end, frozen_rows; /* what frozen will make applied and the row count */
    uint64_t frozen_bytes;
    int64_t active_since_ns; /* when the last generation was written, or the bucket opened */
    int64_t row_count;       /* with everything that was put; 0 where an insert looks like an update (image WAL) */
    size_t counted_bytes;    /* of env->delta_bytes */
    size_t written_bytes;    /* of env->written_bytes */
    bool flush_wanted;
    /* Where the bucket key is a proper prefix of the primary key, in columns and in bytes: */
    bool by_prefix;
    struct table_keys prefix_keys; /* for readers; never changes, since key columns don't */
    struct arena prefix_arena;
    const struct table_info *prefix_table; /* that they borrow their types from; counted */
    /* Under write_lock: */
    struct arena arena;             /* of the schemas and keys */
    const struct table_info *table; /* that they were made from; counted */
    struct state_schema *schemas;
    uint32_t schema_count;
    struct table_keys keys;
    int32_t number_column;           /* auto-increment; -1: none; never changes, it can't be added later */
    int64_t number_next, number_end; /* for it */
    int32_t version_column;          /* of the merge engine VERSIONED; -1: none */
    struct agg *aggregates;          /* of the merge engine AGGREGATION, one a column; NULL: another engine */
    struct log_batch_builder changelog;
    struct arrow_codec codec;
    struct arena scratch; /* of one put */
    struct buf batch;
    struct datum *old_row, *new_row; /* column_count places each */
};

/* Schemas, keys and builder for the table's newest version; nothing to do if they are. write_lock is held. */
MUST_CHECK enum err_code state_prepare(struct bucket *bucket, struct err *err);
const struct state_schema *state_schema_find(const struct state *state, int32_t schema_id);
/* A stored value (schema id, row) as a row of the newest schema, borrowed from it. */
MUST_CHECK enum err_code state_row_decode(struct state *state, struct slice value, struct datum *row, struct err *err);
/* Prepares for look-ups by prefix, if the table's keys allow them. */
MUST_CHECK enum err_code state_prefix_init(struct bucket *bucket, struct err *err);
/* The length of the key's part that the bucket key makes; 0: keys are not looked up by prefix, or it is no key. */
size_t state_prefix_len(struct state *state, struct slice key, struct arena *arena);
/* True: the bytes are a whole bucket key, so all keys that begin with them are the ones put under this prefix. */
bool state_prefix_is_whole(const struct state *state, struct slice prefix);
/* The engine until state_engine_release; NULL: there is none yet. errors: as kv_slot_take. */
MUST_CHECK enum err_code state_engine_take(struct state *state, bool may_block, struct kv **engine, struct err *err);
void state_engine_release(struct state *state, struct kv *engine); /* NULL is fine */
/* What an engine, or none, says of a key, into arena; ptr NULL: nothing. */
MUST_CHECK enum err_code state_engine_get(struct kv *engine, struct slice key, bool may_block, struct arena *arena,
                                          struct slice *value, struct err *err);
/* The file that says how far the engine is (blocks). */
MUST_CHECK enum err_code state_mark_write(struct bucket *bucket, int64_t applied, int64_t row_count, struct err *err);

#endif
