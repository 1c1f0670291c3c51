/* A compaction: what it reads, what it leaves, what it writes. */
#ifndef WEIR_LAKE_PAIMON_COMPACT_INT_H
#define WEIR_LAKE_PAIMON_COMPACT_INT_H

#include "lake/paimon/read_int.h"

/* Files whose key ranges hang together, or small ones side by side: merged into files of their own. */
struct group {
    const struct entry **files; /* in the order of paimon_live_sorted() */
    size_t count;
};

struct paimon_compaction {
    struct paimon_table *table;
    const struct paimon_schema *schema;
    struct paimon_compaction_options options;
    struct arena arena;
    struct file_options file_options;
    struct file_names names;
    struct layout layout;
    int64_t base_id;
    const struct entry **inputs; /* copies, in the order of paimon_live_sorted() */
    size_t input_count;
    int32_t output_level;
    bool drop_deletes;
    VEC(struct group) groups;           /* rewritten */
    VEC(const struct entry *) upgraded; /* given another level as they are */
    VEC(const struct entry *) kept;     /* of the output level, left alone */
    struct data_files output;
    bool is_begun;
    bool is_over;
    bool is_published;
    bool is_recorded_no_more;
};

/* What to take of one bucket: the first count of files, as they stand in the order given. */
struct choice {
    size_t count; /* 0: nothing */
    int32_t output_level;
    bool drop_deletes;
    uint32_t need; /* how much it is wanted: sorted runs, or small files */
};

/* Sorted runs of a primary-key bucket, newest first: what Paimon's universal compaction does with them. */
struct run_size {
    int32_t level;
    uint64_t bytes;
};
/* How many of the runs, from the newest, go together; 0: none. */
size_t paimon_universal_pick(const struct run_size *runs, size_t count, uint32_t run_count_max);

/* How many of the last files of an append bucket (by sequence number, sizes in bytes) are joined; 0: none. */
size_t paimon_tail_pick(const uint64_t *sizes, size_t count, uint64_t file_bytes, uint32_t small_count, bool full);

/* Sorts the inputs of a primary-key bucket into groups, upgraded and kept ones. */
MUST_CHECK enum err_code paimon_plan_groups(struct paimon_compaction *c, struct err *err);

#endif
