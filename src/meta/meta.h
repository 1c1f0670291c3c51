/* The metadata of a server: databases, tables, their schemas and partitions, lake snapshots, access lists, counters.
 *
 * One SQLite file, meta.db in the data directory (docs/formats/meta.md), mirrored in memory: readers never touch the
 * disk, writers are one at a time and durable when they return. After a crash each write is there whole or not at all.
 * Anyone can look into the file with sqlite3 while the server is down.
 *
 * Rules that hold between calls:
 * - table ids, partition ids and writer ids come from counters that start at 0 and are never given twice;
 * - a dropped table is gone from every answer at once; its directories are the caller's to remove, and the id stays on
 * a list (meta_deletes_pending) until they are, so that a crash in between leaves no orphan;
 * - every schema of a table is kept as long as the table: rows written with it may still be in log and state.
 *
 * thread   every call from any thread. Calls marked (blocks) write to the disk and wait for it: not from a loop.
 * errors   besides those named: IO, DISK_FULL; FAILED_STORAGE after a failed sync, until the process starts again. */
#ifndef WEIR_META_META_H
#define WEIR_META_META_H

#include "acl/acl.h"
#include "base/vec.h"
#include "meta/table/table.h"
#include "os/os.h"

#define META_DEFAULT_DATABASE "fluss"
#define META_DATABASES_MAX 10000
#define META_TABLES_MAX 100000
#define META_DESCRIPTOR_BYTES_MAX SCHEMA_JSON_BYTES_MAX
#define META_SCHEMAS_MAX INT16_MAX /* of a table: batches and stored rows name theirs in 16 bits */

struct meta;

struct meta_config {
    const char *data_dir;   /* is there; meta.db goes into it */
    const char *remote_dir; /* remote.data.dir as a local path, made if need be: lake offset files go below it */
    bool must_exist;        /* there are files of tables: a new meta.db would give their ids again */
};

/* Opens or makes the file (blocks).
 * errors   LOCKED: another process has it; FORMAT_VERSION: written by another version, or not by weir; CORRUPT: it is
 *          damaged; META_MISSING: it is missing or empty, and must not be. Each with a sentence that names the file. */
MUST_CHECK enum err_code meta_open(struct os *os, const struct meta_config *config, struct meta **meta,
                                   struct err *err);
/* (blocks). No table handle may be left with others than their counts say; they stay valid. NULL is fine. */
void meta_close(struct meta *meta);
/* Grows with each meta_open, at least by 2^32: for tiering epochs that no earlier run has given. 0 in the first run. */
int64_t meta_run_epoch_base(const struct meta *meta);

/* ---- databases ---- */

struct database_info {
    struct slice name;
    struct slice json; /* the descriptor */
    int64_t created_ms;
    int64_t modified_ms;
    int32_t table_count;
};

struct meta_ids { /* use with vec_push, vec_deinit */
    int64_t *ptr;
    size_t len;
    size_t cap;
};

/* json: the descriptor; an empty slice is one with nothing in it. ignore_if_exists: OK where it is there (blocks).
 * errors   INVALID_DATABASE_EXCEPTION (name or JSON), DATABASE_ALREADY_EXIST, LIMIT. */
MUST_CHECK enum err_code meta_database_create(struct meta *meta, struct slice name, struct slice json,
                                              bool ignore_if_exists, struct err *err);
/* With cascade its tables go too, all or none; their ids are appended to dropped, and are pending deletes (blocks).
 * errors   DATABASE_NOT_EXIST, DATABASE_NOT_EMPTY. */
MUST_CHECK enum err_code meta_database_drop(struct meta *meta, struct slice name, bool ignore_if_not_exists,
                                            bool cascade, struct meta_ids *dropped, struct err *err);
/* Another descriptor (blocks). errors: INVALID_DATABASE_EXCEPTION (JSON), DATABASE_NOT_EXIST. */
MUST_CHECK enum err_code meta_database_alter(struct meta *meta, struct slice name, struct slice json, struct err *err);
bool meta_database_exists(struct meta *meta, struct slice name);
/* Copied into arena. errors: DATABASE_NOT_EXIST. */
MUST_CHECK enum err_code meta_database_info(struct meta *meta, struct arena *arena, struct slice name,
                                            struct database_info *info, struct err *err);
/* All, by name, copied into arena. */
void meta_database_list(struct meta *meta, struct arena *arena, struct database_info **items, size_t *count);

/* ---- tables ---- */

struct schema_version {
    int32_t schema_id; /* 1 for the first */
    struct slice json;
    const struct schema *schema;
};

/* One table as it is at one moment: read-only and counted, so it can be used without a lock for as long as one likes.
 * A change of the table makes a new one. */
struct table_info {
    int64_t table_id;
    struct slice database;
    struct slice name;
    struct slice json; /* the descriptor after defaults, with the newest schema */
    const struct table_descriptor *descriptor;
    struct table_settings settings;
    int32_t schema_id;                    /* the newest */
    const struct schema_version *schemas; /* all, oldest first */
    uint32_t schema_count;
    int64_t created_ms;
    int64_t modified_ms;
};

const struct table_info *table_ref(const struct table_info *table);
void table_unref(const struct table_info *table); /* NULL is fine */
/* NULL where there is no such version. */
const struct schema_version *table_schema(const struct table_info *table, int32_t schema_id);

struct meta_tables { /* VEC of handles; meta_tables_deinit gives them back */
    const struct table_info **ptr;
    size_t len;
    size_t cap;
};
void meta_tables_deinit(struct meta_tables *tables);

/* What CREATE TABLE asks before the lake table is made: names well-formed, database there, name free.
 * exists: out, may be NULL; when given, a taken name is OK and *exists true.
 * errors   INVALID_DATABASE_EXCEPTION, INVALID_TABLE_EXCEPTION, DATABASE_NOT_EXIST, TABLE_ALREADY_EXIST, LIMIT. */
MUST_CHECK enum err_code meta_table_check_new(struct meta *meta, struct slice database, struct slice name, bool *exists,
                                              struct err *err);
/* Stores a table (blocks). descriptor: after defaults and validation. The handle is the caller's.
 * errors   as meta_table_check_new; a descriptor whose JSON is over META_DESCRIPTOR_BYTES_MAX: INVALID_TABLE_EXCEPTION.
 */
MUST_CHECK enum err_code meta_table_create(struct meta *meta, struct slice database, struct slice name,
                                           const struct table_descriptor *descriptor, const struct table_info **table,
                                           struct err *err);
/* A new version of the table with another description; id and path stay (blocks). descriptor: after validation. Where
 * its schema is another than the newest, it becomes the next one, of the next id; those before stay. An alteration that
 * was begun is done with it. The handle is the caller's; older ones stay as they are.
 * errors   TABLE_NOT_EXIST; INVALID_TABLE_EXCEPTION as meta_table_create; LIMIT: the table has had META_SCHEMAS_MAX. */
MUST_CHECK enum err_code meta_table_alter(struct meta *meta, int64_t table_id,
                                          const struct table_descriptor *descriptor, const struct table_info **table,
                                          struct err *err);

/* An alteration that the lake hears of first, so that a crash between the two is made good by the next start. Begun
 * (blocks) before the lake is touched, done by meta_table_alter, or cancelled (blocks) where the lake refuses it; one
 * that was not begun is cancelled as well.
 * errors of begin: TABLE_NOT_EXIST; INVALID_TABLE_EXCEPTION and LIMIT as meta_table_alter, so that the lake never
 * learns of what the metadata would refuse. */
MUST_CHECK enum err_code meta_alter_begin(struct meta *meta, int64_t table_id,
                                          const struct table_descriptor *descriptor, struct err *err);
MUST_CHECK enum err_code meta_alter_cancel(struct meta *meta, int64_t table_id, struct err *err);
struct pending_alter {
    int64_t table_id;
    struct slice json; /* the descriptor that the table is to have */
};
/* Those begun and neither done nor cancelled, of one table, or of all where table_id is -1; in arena (blocks). */
MUST_CHECK enum err_code meta_alters_pending(struct meta *meta, int64_t table_id, struct arena *arena,
                                             struct pending_alter **items, size_t *count, struct err *err);

/* Takes it out; its id becomes a pending delete (blocks). dropped_id: -1 where it was not there and that is ignored.
 * errors   TABLE_NOT_EXIST. */
MUST_CHECK enum err_code meta_table_drop(struct meta *meta, struct slice database, struct slice name,
                                         bool ignore_if_not_exists, int64_t *dropped_id, struct err *err);
bool meta_table_exists(struct meta *meta, struct slice database, struct slice name);
/* The handle is the caller's. errors: TABLE_NOT_EXIST. */
MUST_CHECK enum err_code meta_table_get(struct meta *meta, struct slice database, struct slice name,
                                        const struct table_info **table, struct err *err);
MUST_CHECK enum err_code meta_table_get_by_id(struct meta *meta, int64_t table_id, const struct table_info **table,
                                              struct err *err);
/* The tables of a database, by name; of all databases where it is empty. errors: DATABASE_NOT_EXIST. */
MUST_CHECK enum err_code meta_table_list(struct meta *meta, struct slice database, struct meta_tables *tables,
                                         struct err *err);

/* Ids of dropped tables whose directories may still be there: at start, and after a drop. Appended. */
void meta_deletes_pending(struct meta *meta, struct meta_ids *table_ids);
/* The caller has removed the table's data; removes its lake offset files and takes it off the list (blocks). */
MUST_CHECK enum err_code meta_delete_done(struct meta *meta, int64_t table_id, struct err *err);

/* ---- partitions (docs/formats/rows.md) ---- */

/* One partition of a table; its values are in its name (partition_name_split). Its buckets are those of the table. */
struct partition_info {
    int64_t partition_id;
    int64_t table_id;
    struct slice name;
    int64_t created_ms;
    bool is_remade; /* one of this name was dropped before, and the lake may keep rows of it */
};

/* Stores a partition (blocks). name: from table_partition_name(). partition_max: of one table.
 * info: out, in arena, of the partition that is there afterwards. *created false: it was there, and that is ignored.
 * errors   TABLE_NOT_EXIST (dropped meanwhile), PARTITION_ALREADY_EXISTS, PARTITION_MAX_NUM_EXCEPTION. */
MUST_CHECK enum err_code meta_partition_create(struct meta *meta, int64_t table_id, struct slice name,
                                               size_t partition_max, bool ignore_if_exists, struct arena *arena,
                                               struct partition_info *info, bool *created, struct err *err);
/* Takes it out; it becomes a pending delete (blocks). What is known of its progress in the lake is forgotten; with
 * lake_keeps the lake has rows of it, or may get some yet, which is remembered with its name. dropped_id: -1 where it
 * was not there and that is ignored. errors: PARTITION_NOT_EXISTS. */
MUST_CHECK enum err_code meta_partition_drop(struct meta *meta, int64_t table_id, struct slice name, bool lake_keeps,
                                             bool ignore_if_not_exists, int64_t *dropped_id, struct err *err);
/* errors: PARTITION_NOT_EXISTS. */
MUST_CHECK enum err_code meta_partition_find(struct meta *meta, int64_t table_id, struct slice name,
                                             int64_t *partition_id, struct err *err);
/* In arena. errors: PARTITION_NOT_EXISTS. */
MUST_CHECK enum err_code meta_partition_get(struct meta *meta, int64_t partition_id, struct arena *arena,
                                            struct partition_info *info, struct err *err);
/* Those of a table, oldest first, in arena; none, or no such table: count 0. */
void meta_partition_list(struct meta *meta, int64_t table_id, struct arena *arena, struct partition_info **items,
                         size_t *count);

/* Dropped partitions of tables that are still there, whose directories may be too. Those of a dropped table go with it.
 * In arena. */
void meta_partition_deletes_pending(struct meta *meta, struct arena *arena, struct partition_info **items,
                                    size_t *count);
/* The caller has removed the partition's data (blocks). Fine if it is not on the list any more. */
MUST_CHECK enum err_code meta_partition_delete_done(struct meta *meta, int64_t partition_id, struct err *err);

/* An id for INIT_WRITER, never given before. Every META_WRITER_IDS_BLOCK-th call (blocks). */
#define META_WRITER_IDS_BLOCK 1000
MUST_CHECK enum err_code meta_writer_id(struct meta *meta, int64_t *writer_id, struct err *err);

/* count numbers for a column of a table, from *first on, that nobody gets again; the table's first is 1 (blocks).
 * count: 1 to META_SEQUENCE_COUNT_MAX. */
#define META_SEQUENCE_COUNT_MAX (1ll << 32)
MUST_CHECK enum err_code meta_sequence_take(struct meta *meta, int64_t table_id, int32_t column_id, int64_t count,
                                            int64_t *first, struct err *err);

/* ---- offsets of producers ---- */

/* What a writer that wants exactly once leaves with the server: where the buckets ended when it began, so that it can
 * undo after a failure. Not mirrored: each call reads the file (blocks). */
#define META_PRODUCERS_MAX 10000        /* that have not expired */
#define META_PRODUCER_BUCKETS_MAX 65536 /* of one */

struct producer_offset {
    int64_t table_id;
    int64_t partition_id; /* -1: not partitioned */
    int32_t bucket;
    int64_t end_offset;
};

struct producer_offsets {
    int64_t expires_ms;
    struct producer_offset *items; /* by table, partition, bucket */
    size_t count;
};

/* Keeps them, unless there are some of this producer that have not expired: *created tells. Of a bucket given twice the
 * last counts. What has expired goes.
 * errors   INVALID_PRODUCER_ID_EXCEPTION, LIMIT. */
MUST_CHECK enum err_code meta_producer_register(struct meta *meta, struct slice producer_id,
                                                const struct producer_offset *items, size_t count, int64_t ttl_ms,
                                                bool *created, struct err *err);
/* In arena; *found false: there are none, or they have expired. errors: INVALID_PRODUCER_ID_EXCEPTION. */
MUST_CHECK enum err_code meta_producer_offsets(struct meta *meta, struct slice producer_id, struct arena *arena,
                                               bool *found, struct producer_offsets *offsets, struct err *err);
/* Fine if there are none. errors: INVALID_PRODUCER_ID_EXCEPTION. */
MUST_CHECK enum err_code meta_producer_delete(struct meta *meta, struct slice producer_id, struct err *err);

/* ---- lake snapshots (docs/formats/meta.md) ---- */

#define META_LAKE_SNAPSHOTS_MAX 500            /* registered at once for a table; older ones go */
#define META_LAKE_ORPHANS_MAX 1000             /* prepared files of a table that no snapshot took; the oldest go */
#define META_LAKE_OFFSETS_BYTES_MAX (8u << 20) /* of an offsets file */
#define META_LAKE_BUCKETS_MAX 131072           /* in one */

struct lake_offset {
    int64_t partition_id; /* -1: not partitioned */
    int32_t bucket;
    int64_t end_offset; /* exclusive: the next one to read; -1: not known */
};

struct lake_offsets {
    struct lake_offset *items; /* by partition, then bucket; each once */
    size_t count;
};

/* PREPARE: merges offsets over those of the latest registered snapshot (unless ignore_previous), less those of
 * partitions that are gone, writes them to a new file and gives its absolute path, in arena. Registers nothing
 * (blocks). database, name: as the worker knows the table.
 * errors   TABLE_NOT_EXIST: the id is not that table's any more; UNKNOWN_TABLE_OR_BUCKET_EXCEPTION,
 * PARTITION_NOT_EXISTS: a bucket that the table never had; FENCED_TIERING_EPOCH_EXCEPTION: an offset below the latest's
 * (not with ignore_previous, nor where the lake table has deletion vectors); INVALID_ARGUMENT. */
MUST_CHECK enum err_code meta_lake_prepare(struct meta *meta, int64_t table_id, struct slice database,
                                           struct slice name, const struct lake_offsets *offsets, bool ignore_previous,
                                           struct arena *arena, struct slice *path, struct err *err);

struct lake_bucket_progress {
    int64_t partition_id; /* -1: not partitioned */
    int32_t bucket;
    int64_t end_offset;    /* -1: not told */
    int64_t max_timestamp; /* of the rows in the lake; -1: not told */
};

struct lake_commit {
    int64_t table_id;
    int64_t snapshot_id;
    struct slice tiered_path;   /* as PREPARE gave it; empty: the old form, offsets only in progress */
    struct slice readable_path; /* empty: not readable yet */
    bool has_earliest;          /* earliest_snapshot_id_to_keep was there */
    int64_t earliest_snapshot_id;
    const struct lake_bucket_progress *progress; /* tables_req of the same table */
    size_t progress_count;
};

/* COMMIT: registers a lake snapshot (blocks). A snapshot that is registered already, with these offsets, is recognised
 * and changes nothing but a missing readable path. Offsets below those of the latest never become the latest: such an
 * entry goes before it. Entries that go lose their files, never the one just named.
 * errors   TABLE_NOT_EXIST; INVALID_ARGUMENT: the path is not one of this table's, the snapshot is registered with
 * other offsets, or has a lower id than the latest and yet holds more; of buckets in progress as PREPARE; NOT_FOUND,
 *          CORRUPT: the path's file. */
MUST_CHECK enum err_code meta_lake_commit(struct meta *meta, const struct lake_commit *commit, struct err *err);

enum lake_which { LAKE_LATEST, LAKE_READABLE, LAKE_BY_ID };

struct lake_snapshot_info {
    int64_t snapshot_id;
    struct lake_offsets offsets; /* without unknown ones */
};

/* In arena. snapshot_id only for LAKE_BY_ID. errors: TABLE_NOT_EXIST, LAKE_SNAPSHOT_NOT_EXIST. */
MUST_CHECK enum err_code meta_lake_snapshot(struct meta *meta, int64_t table_id, enum lake_which which,
                                            int64_t snapshot_id, struct arena *arena,
                                            struct lake_snapshot_info *snapshot, struct err *err);
/* How far each bucket is in the lake: greatest end offset and timestamp ever registered. In arena; none: count 0. What
 * the log may be trimmed to, and lag is measured from. */
void meta_lake_progress(struct meta *meta, int64_t table_id, struct arena *arena, struct lake_bucket_progress **buckets,
                        size_t *count);

/* ---- access lists ---- */

#define META_ACLS_MAX 100000

/* Stores entries that acl_check took, all or none; those that are there stay (blocks). errors: LIMIT. */
MUST_CHECK enum err_code meta_acls_create(struct meta *meta, const struct acl *acls, size_t count, struct err *err);
/* Takes these entries out, all or none; those that are not there are no error (blocks). */
MUST_CHECK enum err_code meta_acls_drop(struct meta *meta, const struct acl *acls, size_t count, struct err *err);
/* Those that match, in order, in arena. */
void meta_acl_list(struct meta *meta, const struct acl_filter *filter, struct arena *arena, struct acl **items,
                   size_t *count);
bool meta_acl_allows(struct meta *meta, const struct acl_user *user, bool ignore_case, enum acl_operation operation,
                     const struct acl_resource *resource);

/* ---- options that clients have altered ---- */

struct meta_option {
    struct slice name;
    struct slice value;
};

/* By name, in arena. */
void meta_options(struct meta *meta, struct arena *arena, struct meta_option **items, size_t *count);
/* These and no others from now on (blocks). */
MUST_CHECK enum err_code meta_options_set(struct meta *meta, const struct meta_option *options, size_t count,
                                          struct err *err);

#endif
