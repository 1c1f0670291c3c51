/* One PUT_KV batch on its way; shared by put.c and merge.c. All of it under the bucket's write_lock. */
#ifndef WEIR_BUCKET_PUT_INT_H
#define WEIR_BUCKET_PUT_INT_H

#include "bucket/bucket_int.h"

struct put {
    struct bucket *bucket;
    struct state *state;
    struct kv_batch batch;
    const struct state_schema *schema; /* of the batch */
    const bool *targets;               /* partial update: one a column of the newest schema; NULL: all are written */
    bool targets_are_key;              /* nothing but the primary key */
    bool overwrite;                    /* no merge engine, deletes allowed */
    int64_t next_offset;               /* of the next changelog row */
    int64_t row_count;
    struct delta *frozen, *written; /* the state's when the put began, counted: values are borrowed from them */
    struct kv *engine;              /* from the first look there on */
    struct delta_undo undo;
    struct buf key, value;
};

/* ---- put.c ---- */

/* The newest value of a key, durable or not; ptr NULL: none. */
MUST_CHECK enum err_code put_newest_get(struct put *put, struct slice key, struct slice *value, struct err *err);
MUST_CHECK enum err_code put_change(struct put *put, enum change_type change, const struct datum *row, struct err *err);
/* The new value of a key, after its changes; ptr NULL deletes. */
void put_store(struct put *put, struct slice key, struct slice value);

/* ---- auto_increment.c ---- */

/* The number of a new row, if the table numbers its rows. errors: LIMIT (INT: they are used up); those of the
 * metadata's disk. */
MUST_CHECK enum err_code put_number(struct put *put, struct err *err);
/* errors: INVALID_TARGET_COLUMN: the number would be the client's. */
MUST_CHECK enum err_code put_number_targets_check(const struct put *put, const struct bucket_put *what,
                                                  struct err *err);

/* ---- merge.c: the rules (Fluss: KvTablet and its RowMergers) ---- */

/* errors: INVALID_TARGET_COLUMN; NOT_SUPPORTED with a merge engine that takes whole rows only. */
MUST_CHECK enum err_code put_targets_set(struct put *put, const struct bucket_put *what, struct err *err);
/* errors: CORRUPT of the row; INVALID_ARGUMENT, which no client sends again by itself: the key is another one than the
 * row's, or a column that is NOT NULL holds null. */
MUST_CHECK enum err_code put_upsert(struct put *put, const struct kv_record *record, struct err *err);
/* errors: DELETION_DISABLED_EXCEPTION. */
MUST_CHECK enum err_code put_delete(struct put *put, struct slice key, struct err *err);

#endif
