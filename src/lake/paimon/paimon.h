/* Paimon tables in a local directory (Paimon's file-system catalog): create, read, write, compact, expire.
 *
 *   paimon_table_create(os, place, &descriptor, PAIMON_MUST_BE_EMPTY, &err)       the server, at CREATE TABLE
 *
 *   paimon_sweep(os, rounds_dir, &swept, &err)                                    the tiering service, at its start
 *   paimon_table_open(os, place, &table, &err)
 *   paimon_snapshot_newest_of(table, PAIMON_TIERING_USER, &arena, &snapshot, &err)  what was tiered last, with its V
 *   paimon_round_begin(table, &options, &round, &err)                             a round of tiering
 *   paimon_round_bucket(round, NULL, 0, &bucket, &err)
 *   paimon_bucket_append(bucket, &rows, &err), or paimon_bucket_change(bucket, &change, columns, i, &err)
 *   paimon_round_commit(round, &properties, &committed, &err)
 *   paimon_round_destroy(round)                                                   takes back what was not committed
 *
 * What is on disk, and why: docs/formats/paimon.md. What is written is what Apache Fluss's own tiering job writes, so
 * that it and weir can take turns on one table; what is read is also what Java Paimon and pypaimon write. Data files
 * are Parquet; others are refused by name.
 *
 * A commit is the appearance of snapshot/snapshot-N. Everything it names is on disk before it appears, and it appears
 * under its name only if that is free; so several processes may write to one table.
 *
 * errors  LAKE: the table is not as Paimon's rules say, or is one that weir does not write (naming the option);
 *         NOT_SUPPORTED a type or file format; CORRUPT bytes that are none of Paimon's; what the disk says.
 * thread  a struct paimon_table, and all that is made with it, belongs to one thread at a time; every thread opens the
 *         table for itself. All calls here block on the disk. */
#ifndef WEIR_LAKE_PAIMON_PAIMON_H
#define WEIR_LAKE_PAIMON_PAIMON_H

#include "base/vec.h"
#include "format/value/value.h"
#include "os/os.h"

#define PAIMON_TIERING_USER "__fluss_lake_tiering" /* commit user of Fluss's tiering; its snapshots carry V */
#define PAIMON_OFFSETS_PROPERTY "fluss-offsets"    /* of those snapshots: the path of the offsets file */

#define PAIMON_JSON_BYTES_MAX (4u << 20)   /* of a schema or a snapshot that is read */
#define PAIMON_AVRO_BYTES_MAX (256u << 20) /* of a manifest or a list of manifests that is read */
#define PAIMON_FILES_MAX (4u << 20)        /* of live data files of a table */
#define PAIMON_FILE_BYTES (128u << 20)     /* a data file is cut at about this; option target-file-size */
#define PAIMON_ROUND_BYTES (256u << 20)    /* what the open files of a round hold in memory, at most about this */
#define PAIMON_MANIFESTS_MAX 30            /* a commit that would leave this many merges them */

/* ---- catalog ---- */

/* Where a table stands: WAREHOUSE/DATABASE.db/TABLE. Borrowed for the call. */
struct paimon_place {
    struct slice warehouse; /* a directory; made at need */
    struct slice database;
    struct slice table;
};

/* The directory that a file-system catalog's options name: those of options that begin with prefix, metastore
 * ("filesystem", or not there) and warehouse (a path from the root, or a file: URI). Borrowed from options.
 * errors: INVALID_CONFIG_EXCEPTION no warehouse, or one relative to nobody knows what; NOT_SUPPORTED another metastore
 * or file system. */
MUST_CHECK enum err_code paimon_warehouse(const struct properties *options, const char *prefix, struct slice *directory,
                                          struct err *err);

enum paimon_existing {
    PAIMON_MUST_BE_EMPTY, /* CREATE TABLE: a table that is there must fit, and must have no snapshot */
    PAIMON_MAY_HOLD_ROWS  /* ALTER TABLE ... enable the lake: it must fit, or lack the last columns, which it then gets
                           */
};

/* Makes the table that belongs to a Fluss table (database included), as Fluss 0.9.1 makes it: the columns one to one,
 * then __bucket, __offset and __timestamp. descriptor is normalized, with its defaults and stored properties. One that
 * is there is taken if it is equal in columns, keys, comment and every option that would be set.
 * errors  LAKE_TABLE_ALREADY_EXIST (does not fit, or is not empty); INVALID_CONFIG_EXCEPTION and others as
 *         paimon_table_check(). */
MUST_CHECK enum err_code paimon_table_create(struct os *os, const struct paimon_place *place,
                                             const struct table_descriptor *descriptor, enum paimon_existing existing,
                                             struct err *err);
/* Can this Fluss table have a Paimon table that weir writes? Touches nothing.
 * errors  INVALID_CONFIG_EXCEPTION: an option that Fluss sets itself (bucket, bucket-key, partition.legacy-name, path),
 *         with the prefix "paimon." or without, or a Paimon option under which weir can't write (named);
 *         INVALID_TABLE_EXCEPTION: a column named like a system column. */
MUST_CHECK enum err_code paimon_table_check(const struct table_descriptor *descriptor, struct err *err);
/* Brings the lake table to the shape of the altered Fluss table: new columns (nullable, behind the user's others,
 * before the system columns) and options. A table that is in that shape already is left as it is. errors: NOT_FOUND
 * where there is no lake table; LAKE_TABLE_ALREADY_EXIST where anything else differs. */
MUST_CHECK enum err_code paimon_table_alter(struct os *os, const struct paimon_place *place,
                                            const struct table_descriptor *descriptor, struct err *err);

struct paimon_schema {
    int64_t id;
    struct schema_column *columns; /* with Paimon's ids; TIME(p) reads as TIME(3): its values have milliseconds */
    uint32_t column_count;
    uint32_t *primary_key; /* column positions; partition keys included */
    uint32_t primary_key_count;
    uint32_t *trimmed_key; /* the same without partition keys: what rows are sorted by */
    uint32_t trimmed_key_count;
    uint32_t *partition_keys;
    uint32_t partition_key_count;
    const struct type *partition_row; /* of the partition keys, with the types on disk */
    struct properties options;
    struct slice comment; /* ptr NULL: none */
    int32_t bucket_count; /* option bucket: -1 = one bucket without a key */
    int32_t highest_field_id;
    bool has_system_columns; /* the last three columns are __bucket, __offset, __timestamp */
};

struct paimon_table;

/* errors: NOT_FOUND where there is no table. */
MUST_CHECK enum err_code paimon_table_open(struct os *os, const struct paimon_place *place, struct paimon_table **table,
                                           struct err *err);
/* The same for the directory of a table. */
MUST_CHECK enum err_code paimon_table_open_dir(struct os *os, struct slice dir, struct paimon_table **table,
                                               struct err *err);
void paimon_table_close(struct paimon_table *table); /* NULL is fine; rounds, scans and compactions must be gone */
/* The newest schema at the opening or at the last refresh; lives until the close. */
const struct paimon_schema *paimon_table_schema(const struct paimon_table *table);
/* Looks for a newer schema. Rounds and scans that are at work keep theirs. */
MUST_CHECK enum err_code paimon_table_refresh(struct paimon_table *table, struct err *err);
/* The order of rows within a bucket: by the trimmed primary key, each column in Paimon's order of its type. a and b are
 * values of the key's columns, in key order. */
int paimon_key_compare(const struct paimon_schema *schema, const struct datum *a, const struct datum *b);

/* ---- snapshots ---- */

enum paimon_commit_kind { PAIMON_APPEND, PAIMON_COMPACT, PAIMON_OVERWRITE, PAIMON_ANALYZE };

struct paimon_snapshot {
    int64_t id; /* from 1 */
    int64_t schema_id;
    enum paimon_commit_kind kind;
    struct slice commit_user;
    int64_t commit_identifier;
    int64_t time_ms;
    int64_t total_record_count; /* of unmerged rows */
    struct slice base_list;     /* names in manifest/ */
    struct slice delta_list;
    struct slice changelog_list; /* ptr NULL: none, as below */
    struct slice index_manifest;
    struct slice statistics;
    struct properties properties;
};

/* All of a snapshot lies in the arena. errors: NOT_FOUND where it is not there (or not any more). */
MUST_CHECK enum err_code paimon_snapshot_read(struct paimon_table *table, int64_t id, struct arena *arena,
                                              struct paimon_snapshot *snapshot, struct err *err);
/* The ids of the oldest and newest snapshot; 0 and 0 where there is none. */
MUST_CHECK enum err_code paimon_snapshot_range(struct paimon_table *table, int64_t *earliest, int64_t *latest,
                                               struct err *err);
/* Whether the table at this place has, or had, a snapshot of this id. Cheap: the table is not opened. */
MUST_CHECK enum err_code paimon_snapshot_was_made(struct os *os, const struct paimon_place *place, int64_t id,
                                                  bool *made, struct err *err);
/* The newest snapshot of a commit user; id 0 where there is none. */
MUST_CHECK enum err_code paimon_snapshot_newest_of(struct paimon_table *table, const char *user, struct arena *arena,
                                                   struct paimon_snapshot *snapshot, struct err *err);

/* What a snapshot holds, from its manifests. */
struct paimon_bucket_stat {
    int32_t bucket;
    uint32_t file_count;
    uint32_t run_count; /* sorted runs: files of level 0, and levels above that hold files */
    uint64_t bytes;
    int64_t row_count;    /* unmerged */
    int64_t delete_count; /* of those, rows that say that a key is gone */
    int64_t sequence_max; /* -1: no file */
};

struct paimon_stat {
    struct paimon_bucket_stat *buckets; /* those that hold files, by partition and bucket; in the arena */
    uint32_t bucket_count;
};

MUST_CHECK enum err_code paimon_snapshot_stat(struct paimon_table *table, int64_t snapshot_id, struct arena *arena,
                                              struct paimon_stat *stat, struct err *err);

/* ---- a round of tiering ---- */

struct paimon_round;
struct paimon_bucket; /* one bucket's files of a round */

struct paimon_round_options {
    /* Of the Fluss table: what the rows given have; borrowed until the destroy. Columns that were added to the lake
     * table behind these, and that may be null, are null in every row: the lake hears of ALTER TABLE first. */
    const struct schema_column *columns;
    uint32_t column_count;
    /* A directory of this tiering service alone, which is there. The round leaves its name there before it writes
     * anything, so that paimon_sweep() finds what a killed round left. ptr NULL: no such record (tests). */
    struct slice rounds_dir;
    const char *commit_user; /* NULL: PAIMON_TIERING_USER */
};

/* Starts from the newest snapshot: sequence numbers go on from its files.
 * errors  LAKE where the columns are not those of the lake table, or an option of it asks for what weir can't write. */
MUST_CHECK enum err_code paimon_round_begin(struct paimon_table *table, const struct paimon_round_options *options,
                                            struct paimon_round **round, struct err *err);
/* The id of that snapshot, 0 where there was none. */
int64_t paimon_round_base(const struct paimon_round *round);
/* A bucket to write to; lives as long as the round. partition: values of the partition keys, or NULL. A table with
 * bucket -1 has bucket 0 only. The same bucket asked for again is the same pointer. */
MUST_CHECK enum err_code paimon_round_bucket(struct paimon_round *round, const struct datum *partition, int32_t bucket,
                                             struct paimon_bucket **out, struct err *err);

/* Rows of a log table: a record batch. */
struct paimon_rows {
    const struct column *columns; /* options.column_count of them */
    uint32_t row_count;
    int32_t fluss_bucket; /* for __bucket, also where Paimon's bucket is another (-1) */
    int64_t base_offset;  /* __offset of the first row; each next is one more */
    int64_t timestamp_ms; /* __timestamp of all of them */
};

/* Appends to a table without primary key, in the order of the calls. Borrowed for the call. */
MUST_CHECK enum err_code paimon_bucket_append(struct paimon_bucket *bucket, const struct paimon_rows *rows,
                                              struct err *err);

enum paimon_kind { PAIMON_INSERT, PAIMON_UPDATE_BEFORE, PAIMON_UPDATE_AFTER, PAIMON_DELETE };

struct paimon_change {
    enum paimon_kind kind;
    int64_t position;     /* among the round's changes of this bucket in the order of arrival, from 0; each once */
    int32_t fluss_bucket; /* __bucket */
    int64_t offset;       /* __offset; -1 for rows of a kv snapshot */
    int64_t timestamp_ms; /* __timestamp; -1 likewise */
};

/* One change of a primary-key table: row i of columns. Changes come sorted by key (paimon_key_compare), those of one
 * key by position. All of them go to the changelog files (where the table has changelog-producer = input), the last one
 * of each key to the data files. errors: INTERNAL where the order is another. */
MUST_CHECK enum err_code paimon_bucket_change(struct paimon_bucket *bucket, const struct paimon_change *change,
                                              const struct column *columns, uint32_t i, struct err *err);

/* Of a table without primary key: the file that is open is ended, and its memory given back; more rows make another. */
MUST_CHECK enum err_code paimon_bucket_roll(struct paimon_bucket *bucket, struct err *err);
/* No more rows come for this bucket: its files are ended and its memory is given back. (The commit does it for all; a
 * caller that goes bucket by bucket holds one at a time.) Twice is fine. */
MUST_CHECK enum err_code paimon_bucket_end(struct paimon_bucket *bucket, struct err *err);

struct paimon_committed {
    int64_t snapshot_id;
    int64_t followed_id; /* the snapshot before it; 0: none */
    uint32_t file_count; /* data and changelog files */
    uint64_t bytes;
};

/* Ends all files, puts them on disk, commits them. A round without rows makes an empty snapshot that carries the
 * properties. properties may be NULL.
 * errors  LAKE_CONFLICT: since the begin, somebody else added rows or replaced them: V is not what the caller thinks.
 *         Compactions by others are no conflict. After any error the round can only be destroyed. */
MUST_CHECK enum err_code paimon_round_commit(struct paimon_round *round, const struct properties *properties,
                                             struct paimon_committed *committed, struct err *err);
/* NULL is fine. Removes the files of a round that was not committed. */
void paimon_round_destroy(struct paimon_round *round);

/* Removes what rounds and compactions of this directory left when their process was killed: files that no snapshot or
 * tag of their table names. For the start of the service, while no round with this directory is at work. Tables that
 * are gone, and files that are, are fine. *swept: files removed. */
MUST_CHECK enum err_code paimon_sweep(struct os *os, struct slice rounds_dir, uint32_t *swept, struct err *err);

/* ---- compaction ---- */

struct paimon_compaction_policy {
    bool full;              /* a table at rest: everything to one sorted run, whatever the sizes */
    uint32_t run_count_max; /* a primary-key bucket with more sorted runs is compacted; 0: 5 as in Paimon */
    uint32_t small_count;   /* an append bucket with this many small files has them joined; 0: 16 */
};

struct paimon_compaction;

struct paimon_compaction_options {
    struct paimon_compaction_policy policy;
    struct slice rounds_dir; /* as in paimon_round_options */
    const unsigned *cancel;  /* read now and then, atomically: not 0 ends the run with SHUTTING_DOWN; or NULL */
};

typedef VEC(struct paimon_compaction *) paimon_compactions;

/* Chooses buckets by size-tiered rules (primary key: Paimon's universal compaction), those that need it most first,
 * until there are count_max or they read bytes_max together: one look at the files of the table. They are appended to
 * list, on failure too, for the caller to destroy; none where no bucket needs it. */
MUST_CHECK enum err_code paimon_compactions_pick(struct paimon_table *table,
                                                 const struct paimon_compaction_options *options, size_t count_max,
                                                 uint64_t bytes_max, paimon_compactions *list, struct err *err);
/* The one bucket that needs it most. *compaction is NULL where none needs it. */
MUST_CHECK enum err_code paimon_compaction_pick(struct paimon_table *table,
                                                const struct paimon_compaction_options *options,
                                                struct paimon_compaction **compaction, struct err *err);
uint64_t paimon_compaction_input_bytes(const struct paimon_compaction *compaction);
/* Writes the merged files aside; rounds may commit meanwhile. Memory: a slice of each input and a row group. */
MUST_CHECK enum err_code paimon_compaction_run(struct paimon_compaction *compaction, struct err *err);
/* Makes its own snapshot of kind COMPACT, of the tiering user, with the properties of the newest snapshot of that user
 * (so it carries the same V and must be registered like it). errors: LAKE_CONFLICT: an input is gone. */
MUST_CHECK enum err_code paimon_compaction_commit(struct paimon_compaction *compaction,
                                                  struct paimon_committed *committed, struct err *err);
/* The same for several of one table, each of another bucket: one snapshot. */
MUST_CHECK enum err_code paimon_compactions_commit(struct paimon_compaction *const *list, size_t count,
                                                   struct paimon_committed *committed, struct err *err);
void paimon_compaction_destroy(struct paimon_compaction *compaction); /* as paimon_round_destroy() */

/* ---- expiry ---- */

struct paimon_expire_policy {
    int64_t retain_ms;   /* a snapshot may go when the next one is older than this */
    uint32_t retain_min; /* this many newest stay; at least 1 */
    uint32_t retain_max; /* more than this many go whatever their age; 0: no such bound */
    uint32_t delete_max; /* in one call; 0: all */
    const int64_t *keep; /* these, and all newer than the least of them, stay: registered in the server, in use */
    uint32_t keep_count;
};

/* Removes the oldest snapshots and the files that only they needed. What tags and consumers need stays. *expired: how
 * many went. Safe to kill at any point: the next call goes on. */
MUST_CHECK enum err_code paimon_expire(struct paimon_table *table, const struct paimon_expire_policy *policy,
                                       uint32_t *expired, struct err *err);

/* ---- reading ---- */

struct paimon_scan;

struct paimon_scan_options {
    int64_t snapshot_id;
    int32_t bucket; /* Paimon's bucket; -1: all, one after the other */
    /* What to read, by name, system columns included; a column that the lake has not is null. Types are those wanted
     * (a Fluss TIME(6) is one); borrowed until the close. */
    const struct schema_column *columns;
    uint32_t column_count;
};

#define PAIMON_SCAN_ROWS 4096 /* at most, of one slice */

/* The rows of a snapshot: merged by key for a primary-key table, in key order within a bucket; a slice of each file in
 * memory. errors: NOT_FOUND where the snapshot is gone; NOT_SUPPORTED for deletion vectors. */
MUST_CHECK enum err_code paimon_scan_open(struct paimon_table *table, const struct paimon_scan_options *options,
                                          struct paimon_scan **scan, struct err *err);
/* The next rows; *row_count 0 at the end. columns has column_count places; the views live until the next call. */
MUST_CHECK enum err_code paimon_scan_next(struct paimon_scan *scan, struct column *columns, uint32_t *row_count,
                                          struct err *err);
int32_t paimon_scan_bucket(const struct paimon_scan *scan); /* of the last slice */
/* Values of the partition keys of the last slice, in their order; they live until the next call that gives another.
 * NULL for a table without partitions. */
const struct datum *paimon_scan_partition(const struct paimon_scan *scan);
void paimon_scan_close(struct paimon_scan *scan); /* NULL is fine */

#endif
