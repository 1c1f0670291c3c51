/* What the files of union share: multisets of rows and how two of them differ. */
#ifndef WEIR_UNION_UNION_INT_H
#define WEIR_UNION_UNION_INT_H

#include "union/union.h"

/* The error of a table that is not tiered. */
enum err_code no_lake(const struct client_table *table, struct err *err);

/* ---- partitions ---- */

/* Of a place of the log: what struct union_row says. */
static inline int32_t place_partition(const struct client_table *table, int32_t place)
{
    const struct client_partition *partition = client_place_partition(table, place);
    return partition ? (int32_t)partition->twin : -1;
}

/* The place of a row, or -1. */
static inline int32_t row_place(const struct client_table *table, const struct union_row *row)
{
    if (row->bucket < 0 || row->bucket >= table->bucket_count || (table->is_partitioned && row->partition < 0))
        return -1;
    return (table->is_partitioned ? row->partition * table->bucket_count : 0) + row->bucket;
}

/* Where the log goes on behind the lake: at V, or where it begins if the lake says nothing of it. */
static inline int64_t plan_log_start(const struct union_plan *plan, size_t place)
{
    return plan->snapshot_id && plan->offsets[place] >= 0 ? plan->offsets[place] : plan->starts[place];
}

/* ---- bags (bag.c) ---- */

#define BAG_PARTS 4096

struct bag {
    struct union_side all;
    struct union_side parts[BAG_PARTS]; /* by the top bits of the hash */
};

/* scratch is for the canonical bytes. */
unsigned __int128 bag_hash(const struct schema *schema, const struct union_row *row, struct buf *scratch);
size_t bag_part(unsigned __int128 hash);
void bag_add(struct bag *bag, unsigned __int128 hash, int32_t weight);
bool bag_equal(const struct bag *a, const struct bag *b);

/* What gives all rows of a side, the same ones each time it is asked. */
struct bag_source {
    enum err_code (*read)(void *arg, union_row_fn *fn, void *fn_arg, struct err *err);
    void *arg;
};

struct bag_fill {
    const struct schema *schema;
    struct bag *bag;
    const struct union_watch *watch;
    const char *what; /* for the progress */
    int64_t total;    /* likewise; 0: not known */
    int64_t done;
    int64_t *rows_counted; /* over several fills */
    struct buf scratch;
};
/* A union_row_fn: adds the row. arg is a struct bag_fill; the scratch is for the caller to deinit. */
enum err_code bag_fill_row(void *arg, const struct union_row *row, bool *enough, struct err *err);

/* ---- what two sides differ in (difference.c) ---- */

#define DIFFERENCE_TALLIES (1u << 20) /* distinct rows held at once, unless a single part has more */

struct difference_task {
    const struct schema *schema;
    struct bag_source sources[2]; /* stream, other */
    const struct bag *bags[2];    /* what they came to */
    size_t tally_max;             /* 0: DIFFERENCE_TALLIES */
    size_t row_max;               /* 0: UNION_DIFFERENCES */
};

struct differences {
    struct union_difference *items; /* in the arena */
    size_t count;
    int64_t differing_rows;
    bool all; /* differing_rows is of all parts */
};

/* Reads both sides once or more to count rows, then as far as needed for those that differ. */
MUST_CHECK enum err_code differences_find(const struct difference_task *task, struct arena *arena,
                                          struct differences *out, struct err *err);

#endif
