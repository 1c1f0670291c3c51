/* Sorts the changes of a round by bucket, key and arrival, within a budget of memory.
 *
 *   fold_create(&options, &fold)
 *   fold_add(fold, bucket, &rows, &err)   each batch of the log, those of a bucket in the log's order
 *   fold_sort(fold, &err)
 *   fold_next(fold, &change, &have, &err) until there is none
 *   fold_destroy(fold)
 *
 * What is added lies by column in chunks; sorting moves entries of 24 bytes that begin with the first 8 bytes of the
 * key (fold_key.c), so most comparisons touch nothing else. When chunks and entries pass the budget they are written as
 * one sorted run to a file and memory is empty again; runs are merged while they are read, FOLD_RUNS_MAX at a time.
 *
 * A run is a file of blocks: u32 length, then an Arrow message of that length with the columns of a chunk (LZ4). It is
 * scratch space: it belongs to one fold of one process, and means nothing after it.
 * thread: one at a time; blocks on the disk. */
#ifndef WEIR_TIER_FOLD_INT_H
#define WEIR_TIER_FOLD_INT_H

#include "base/vec.h"
#include "format/arrow/arrow.h"
#include "lake/paimon/paimon.h"
#include "os/os.h"

#define FOLD_CHUNK_BYTES (4u << 20)
#define FOLD_BLOCK_BYTES (1u << 20) /* of a run; what each run that is merged holds in memory, about */
#define FOLD_RUNS_MAX 64
#define FOLD_BYTES_MIN (1u << 20)

struct fold;

struct fold_options {
    struct os *os;
    const char *dir;        /* where runs go: a directory of this fold alone, made when the first is written */
    size_t bytes_max;       /* of memory; at least FOLD_BYTES_MIN */
    const struct type *row; /* ROW of the table's columns; borrowed */
    const uint32_t *key;    /* positions of the key's columns in it, in key order; borrowed */
    uint32_t key_count;
    int32_t bucket_count; /* any numbers below it are buckets: of a partitioned table its places */
};

/* The rows [first, end) of a batch. */
struct fold_rows {
    const struct column *columns;
    const uint8_t *kinds; /* enum paimon_kind of each; NULL: all are PAIMON_INSERT */
    uint32_t first;
    uint32_t end;
    int64_t base_offset; /* of row 0 */
    int64_t timestamp_ms;
};

struct fold_change {
    struct paimon_change change; /* position counts the bucket's rows in the order they were added */
    const struct column *columns;
    uint32_t i;
};

void fold_create(const struct fold_options *options, struct fold **fold);
void fold_destroy(struct fold *fold); /* removes the directory; NULL is fine */
/* Copies the rows. errors: of the disk, when memory is full. */
MUST_CHECK enum err_code fold_add(struct fold *fold, int32_t bucket, const struct fold_rows *rows, struct err *err);
/* After the last fold_add, once. */
MUST_CHECK enum err_code fold_sort(struct fold *fold, struct err *err);
/* The next change in order; it lives until the next call. */
MUST_CHECK enum err_code fold_next(struct fold *fold, struct fold_change *change, bool *have, struct err *err);
uint64_t fold_spilled_bytes(const struct fold *fold);

/* ---- fold_key.c ---- */

/* Appends bytes whose order (memcmp, then length) is that of paimon_key_compare for row i of columns. */
void fold_key_put(const struct column *columns, const uint32_t *key, uint32_t key_count, uint32_t i, struct buf *out);
/* Its first 8 bytes as a number, in the same order; short keys are filled up with zeros. */
uint64_t fold_key_prefix(struct slice key);

/* ---- shared by fold.c and fold_run.c ---- */

/* What stands in front of the table's columns in a chunk and in a block. */
enum { FOLD_META, FOLD_KEY, FOLD_COLUMNS };

struct fold_meta { /* the bytes of the BINARY column FOLD_META */
    int64_t position;
    int64_t offset;
    int64_t timestamp_ms;
    int32_t bucket;
    int32_t kind;
};
_Static_assert(sizeof(struct fold_meta) == 32, "one size everywhere");

static inline struct fold_meta fold_meta_at(const struct column *columns, uint32_t i)
{
    struct fold_meta meta;
    memcpy(&meta, columns[FOLD_META].data + sizeof meta * (size_t)i, sizeof meta);
    return meta;
}

static inline struct slice fold_key_at(const struct column *columns, uint32_t i)
{
    uint32_t from = load_u32(columns[FOLD_KEY].offsets + 4 * (size_t)i);
    uint32_t to = load_u32(columns[FOLD_KEY].offsets + 4 * (size_t)i + 4);
    return slice_of(columns[FOLD_KEY].data + from, to - from);
}

/* Builders for the columns of a chunk or block. */
struct fold_builders {
    struct column_builder *columns;
    uint32_t count;
    uint32_t length;
};

void fold_builders_init(struct fold_builders *builders, const struct type *row);
void fold_builders_deinit(struct fold_builders *builders);
void fold_builders_reset(struct fold_builders *builders);
size_t fold_builders_bytes(const struct fold_builders *builders);
/* In the arena. */
struct column *fold_builders_view(const struct fold_builders *builders, struct arena *arena);
/* Row i of columns of the same shape. */
void fold_builders_copy(struct fold_builders *builders, const struct column *columns, uint32_t i);

/* ---- fold_run.c ---- */

struct fold_run_writer {
    struct os_file *file;
    uint64_t size;
    struct fold_builders builders;
    struct arrow_codec codec;
    struct buf block;
};

MUST_CHECK enum err_code fold_run_create(struct fold_run_writer *writer, struct os *os, const char *path,
                                         const struct type *row, struct err *err);
MUST_CHECK enum err_code fold_run_put(struct fold_run_writer *writer, const struct column *columns, uint32_t i,
                                      struct err *err);
MUST_CHECK enum err_code fold_run_end(struct fold_run_writer *writer, struct err *err);
void fold_run_writer_deinit(struct fold_run_writer *writer);

/* A run while it is read: always at one row, until it ends. */
struct fold_run {
    struct os_file *file;
    uint64_t offset;
    uint64_t size;
    const struct type *row;
    struct arrow_codec codec;
    struct arena arena;
    struct buf block;
    struct column *columns;
    uint32_t length;
    uint32_t i;
    bool ended;
    /* Of the row it is at, for the merge. */
    struct fold_meta meta;
    struct slice key;
    uint64_t prefix;
};

MUST_CHECK enum err_code fold_run_open(struct fold_run *run, struct os *os, const char *path, const struct type *row,
                                       struct err *err);
void fold_run_close(struct fold_run *run);
MUST_CHECK enum err_code fold_run_step(struct fold_run *run, struct err *err);
/* Both at a row: less than 0 where a's comes first. */
int fold_run_compare(const struct fold_run *a, const struct fold_run *b);

#endif
