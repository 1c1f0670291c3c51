/* A round and its buckets. */
#ifndef WEIR_LAKE_PAIMON_ROUND_INT_H
#define WEIR_LAKE_PAIMON_ROUND_INT_H

#include "lake/paimon/write_int.h"

struct paimon_round {
    struct paimon_table *table;
    const struct paimon_schema *schema;
    struct paimon_round_options options;
    struct arena arena;
    struct file_options file_options;
    struct file_names names;
    struct layout layout;
    struct live *live; /* the table's, of base_id */
    int64_t base_id;
    uint32_t more_count; /* columns of the lake table behind the caller's */
    VEC(struct paimon_bucket *) buckets;
    struct map by_place;  /* the same by partition and bucket */
    struct map sequences; /* int64_t in the arena: the greatest in the live files of a partition and bucket */
    struct buf place;     /* scratch: a key of both */
    struct buf system[SYSTEM_COLUMN_COUNT]; /* scratch */
    bool is_over;
    bool is_published;
    bool is_recorded_no_more;
};

/* Rows that wait to be given to a file. */
struct block {
    struct column_builder *columns; /* the caller's */
    struct buf sequences;
    struct buf kinds;
    struct buf system[SYSTEM_COLUMN_COUNT];
    uint32_t row_count;
};

struct paimon_bucket {
    struct paimon_round *round;
    struct slice partition;
    int32_t bucket;
    int64_t sequence_base;
    struct data_files data;
    struct data_files changelog;
    bool is_ended;
    /* primary key */
    struct block rows;    /* the last change of each key */
    struct block changes; /* all */
    struct arena key_arena;
    struct datum *key; /* of the last change; NULL: there was none */
    struct datum *next_key;
    int64_t position;
};

/* Ends the file that holds most where the round holds more than PAIMON_ROUND_BYTES. */
MUST_CHECK enum err_code paimon_round_bound_memory(struct paimon_round *round, struct err *err);
/* Views of the three system columns. */
void paimon_round_system_view(const struct paimon_round *round, const struct buf system[SYSTEM_COLUMN_COUNT],
                              uint32_t row_count, struct column *views);

/* Views of the columns that the caller does not know of, all null; in the arena. */
void paimon_round_null_views(const struct paimon_round *round, struct arena *arena, uint32_t row_count,
                             struct column *views);

void paimon_changes_init(struct paimon_bucket *bucket);
MUST_CHECK enum err_code paimon_changes_flush(struct paimon_bucket *bucket, struct err *err);
void paimon_changes_deinit(struct paimon_bucket *bucket);

#endif
