/* One table as one thing: the rows that the lake holds and those that only the log holds, read together; and the
 * oracle, which compares the two sides row by row (weir verify).
 *
 *   union_lake_open(table, &lake, &err)                       the lake table, where table.datalake.* says
 *   union_lake_read(lake, &options, fn, arg, &err)            the rows of one snapshot
 *   union_log_read(table, starts, stops, fn, arg, &err)       the changes of a part of the log
 *   union_plan(table, &arena, &plan, &err)                    a snapshot with its V, and the end of the log
 *   union_read(table, lake, &plan, 0, fn, arg, &err)          snapshot at V + log from V
 *   union_wait(table, offsets, deadline, NULL, NULL, &err)    until the lake holds the log up to there
 *   union_verify(table, &options, &arena, &verdict, &err)
 *   union_lake_close(lake)
 *
 * It works with a weir server and a stock cluster alike, as long as the lake is a Paimon warehouse in a directory that
 * can be read here. What is read follows Fluss's rules
 * (LakeSplitGenerator and the lake readers of fluss-flink-common).
 *
 * errors  those of client.h and paimon.h; NOT_SUPPORTED: another lake format or a warehouse that is not a directory.
 * thread  that of the table's client; all calls block. */
#ifndef WEIR_UNION_UNION_H
#define WEIR_UNION_UNION_H

#include "client/client.h"
#include "lake/paimon/paimon.h"

/* One row, or one change of a primary-key table. */
struct union_row {
    const struct datum *values; /* of the columns of table->schema; they live for the call */
    int32_t bucket;             /* -1: not known (a lake table without system columns and without bucket key) */
    int32_t partition;          /* index in table->partitions; -1: without, or the partition is in the lake only. Where
                                 * several names stand for the same values it is the first of them */
    int32_t weight;             /* 1; -1 takes back a row that was given before (-U and -D of a changelog) */
};

/* Called for each row. Setting *enough ends the reading early, with OK. */
typedef enum err_code union_row_fn(void *arg, const struct union_row *row, bool *enough, struct err *err);
/* Told now and then; total 0: not known. */
typedef void union_progress_fn(void *arg, const char *what, int64_t done, int64_t total);

/* ---- the lake ---- */

struct union_lake;

/* The table is kept. errors: LAKE_STORAGE_NOT_CONFIGURED_EXCEPTION where the table has no lake; NOT_FOUND where there
 * is no such lake table here. */
MUST_CHECK enum err_code union_lake_open(struct client_table *table, struct union_lake **lake, struct err *err);
void union_lake_close(struct union_lake *lake); /* NULL is fine */
/* The newest snapshot that is there, registered or not; 0: none. */
MUST_CHECK enum err_code union_lake_newest(struct union_lake *lake, int64_t *snapshot_id, struct err *err);

#define UNION_SYSTEM_COLUMNS 3 /* __bucket, __offset, __timestamp */

/* Rows of a snapshot, as its worker left it written; -1: the worker was another's, or could not tell. errors:
 * NOT_FOUND, CORRUPT. */
MUST_CHECK enum err_code union_lake_row_count(struct union_lake *lake, int64_t snapshot_id, int64_t *count,
                                              struct err *err);

struct union_lake_options {
    int64_t snapshot_id;
    /* Three more values behind the table's columns, as the lake has them; refused where it has none. */
    bool system_columns;
    /* By place: rows of lower offsets are left out, and counted in *left_out; refused where the lake has no system
     * columns. NULL: all rows. */
    const int64_t *from;
    size_t from_count;
    int64_t *left_out;
};

/* Bucket by bucket, each in key order for a primary-key table.
 * errors: NOT_FOUND where the snapshot has expired; LAKE where it has not, and can't be read whole. */
MUST_CHECK enum err_code union_lake_read(struct union_lake *lake, const struct union_lake_options *options,
                                         union_row_fn *fn, void *arg, struct err *err);
/* The columns of the rows of system_columns: name and type, in the order of the values. */
const struct schema_column *union_system_columns(const struct union_lake *lake);

/* ---- the log ---- */

/* The rows of [starts, stops) of the first place_count places, in the order of each; a start below 0 counts as 0.
 * Places of partitions that are dropped meanwhile end there. */
MUST_CHECK enum err_code union_log_read(struct client_table *table, const int64_t *starts, const int64_t *stops,
                                        size_t place_count, union_row_fn *fn, void *arg, struct err *err);

/* ---- both ---- */

struct union_plan {
    size_t place_count;  /* of the arrays */
    int64_t snapshot_id; /* 0: the lake has none, the log is read alone */
    int64_t *offsets;    /* V, by place; -1: the snapshot says nothing of it */
    int64_t *starts;     /* where the log begins */
    int64_t *stops;      /* the high watermark when it was planned */
    bool from_starts;    /* of a log table: lake rows that are older than the log are left out */
};

MUST_CHECK enum err_code union_plan(struct client_table *table, struct arena *arena, struct union_plan *plan,
                                    struct err *err);

#define UNION_TAIL_BYTES (256u << 20) /* what the end of the log may take in memory, keys and rows */

/* The table up to plan->stops: lake rows and, for a log table, the log behind them; for a primary-key table the last
 * change of each key since V in place of the lake's row. All weights are 1. As in Fluss, partitions that only the lake
 * has are read there, and of a primary-key table lake rows of a bucket of which V says nothing don't count. Where the
 * changes since V are larger than tail_bytes (0: UNION_TAIL_BYTES), the keys are read in several turns. lake may be
 * NULL where the plan has no snapshot. */
MUST_CHECK enum err_code union_read(struct client_table *table, struct union_lake *lake, const struct union_plan *plan,
                                    uint64_t tail_bytes, union_row_fn *fn, void *arg, struct err *err);

/* ---- waiting ---- */

struct union_watch {
    union_progress_fn *progress;
    void *arg;
};

/* Until the registered lake snapshot reaches wanted at each place that there is now; places of partitions that are
 * dropped meanwhile don't count. snapshot_id: out, its id, 0 where nothing is wanted and nothing is there; may be NULL.
 * errors: DEADLINE, with how far the lake is behind and what the server says of the tiering;
 * LAKE_STORAGE_NOT_CONFIGURED_EXCEPTION where the table has no lake. */
MUST_CHECK enum err_code union_wait(struct client_table *table, const int64_t *wanted, int64_t deadline_mono_ns,
                                    const struct union_watch *watch, int64_t *snapshot_id, struct err *err);

/* ---- the oracle ----
 *
 * For every snapshot with offsets V: rows(lake) == fold(changelog up to V), as multisets; and the union read up to the
 * high watermark U == fold(changelog up to U). The fold is a sum: each change adds its row or takes it back, so that
 * nothing has to be held, and a changelog that takes back what it never gave is found out too. (A table whose changelog
 * lacks the old rows is folded by key, one bucket in memory.)
 *
 * Rows of partitions that only the lake has are history: there is no stream to compare them with. They are read and
 * counted apart (kept_rows), not compared. So are all rows of a partition that was dropped and made anew under its
 * name, where the server tells (weir's do): what the lake holds of it is of both
 *.
 *
 * Rows of a log table that are older than its log still is (table.log.ttl) are only in the lake: they are counted apart
 * (trimmed_rows); what is compared begins where the log does. A changelog without its beginning can't be folded.
 *
 * The digest of a side is the sum of the 128-bit hashes (hash128 under the numbers of partition and bucket) of its
 * rows' canonical bytes (row_canonical); sides are compared by digest and number of rows in 4096 parts by hash. Only
 * where they differ are both read again, to find the rows. */

#define UNION_DIFFERENCES 10 /* rows shown of those that differ */

struct union_side {
    int64_t row_count;
    unsigned __int128 digest;
};

struct union_difference {
    int32_t bucket;    /* -1: not known */
    int64_t in_stream; /* how often the row is there; below 0: the changelog takes back more than it gave */
    int64_t in_other;
    struct slice row; /* as JSON */
};

enum union_verdict_kind {
    UNION_EQUAL,
    UNION_LAKE_DIFFERS,   /* differences are those between stream and lake, up to V */
    UNION_READ_DIFFERS,   /* ... between stream and union read, up to U */
    UNION_LAKE_UNREADABLE /* why tells it; the lake does not hold what was registered */
};

struct union_verdict {
    enum union_verdict_kind kind;
    int64_t snapshot_id;      /* 0: the table is empty and was never tiered */
    struct union_side stream; /* up to V */
    struct union_side lake;
    struct union_side stream_now; /* up to U */
    struct union_side read_now;
    struct union_difference *differences; /* in the arena */
    size_t difference_count;
    int64_t differing_rows; /* distinct rows; of all where differing_all */
    bool differing_all;
    struct slice why;
    int64_t kept_rows;    /* of the lake, no stream is there for (docs/decisions/0022) */
    int64_t trimmed_rows; /* of the lake, that are older than what the log still holds */
    int64_t rows_read;    /* of all sides, for the rate */
};

struct union_verify_options {
    bool no_wait;             /* take the snapshot that is there */
    int64_t deadline_mono_ns; /* else: of the waiting until the lake holds what the log held at the call */
    struct union_watch watch;
};

/* errors: DEADLINE as union_wait; NOT_YET with no_wait where there is no snapshot; NOT_SUPPORTED for a changelog whose
 * beginning is gone, and for a log's where the lake does not have the offsets of its rows. Sides that are not equal are
 * no error but a verdict. */
MUST_CHECK enum err_code union_verify(struct client_table *table, const struct union_verify_options *options,
                                      struct arena *arena, struct union_verdict *verdict, struct err *err);

#endif
