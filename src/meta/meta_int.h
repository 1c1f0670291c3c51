/* Private to meta: the mirror in memory, and what its files share.
 *
 * Locks, in this order: `write` for a whole change (SQLite is used under it only), then `read` for the moment in which
 * the mirror changes or is looked at. Who holds `write` may look at the mirror without `read`. */
#ifndef WEIR_META_META_INT_H
#define WEIR_META_META_INT_H

#include "base/map.h"
#include "meta/db_int.h"
#include "meta/meta.h"

struct database {
    struct arena arena; /* of this struct too */
    struct slice name;
    struct slice json;
    int64_t created_ms;
    int64_t modified_ms;
    int32_t table_count;
};

/* A registered lake snapshot. Owns itself: one arena. */
struct lake_entry {
    struct arena arena;
    int64_t position; /* in the list, growing */
    int64_t snapshot_id;
    struct slice tiered_file; /* the offsets file's name, without its directory */
    struct lake_offsets tiered;
    struct slice readable_file; /* ptr NULL: not readable yet */
    struct lake_offsets readable;
};

/* What is known of a table's lake. */
struct lake {
    VEC(struct lake_entry *) entries;          /* by position; the last is the latest */
    VEC(struct lake_bucket_progress) progress; /* by partition, bucket */
};

/* A table that was dropped and whose files may still be there. */
struct pending_delete {
    struct arena arena;
    int64_t table_id;
    struct slice database;
    struct slice name;
};

/* The partitions of a table. */
struct table_partitions {
    struct map by_name; /* -> struct partition */
    struct map kept;    /* names of dropped ones of which the lake keeps rows -> the map itself */
};

/* One partition, there or dropped. Owns itself: one arena. */
struct partition {
    struct arena arena;
    struct partition_info info;
};

struct meta {
    struct os *os;
    char remote_dir[OS_PATH_MAX]; /* absolute */
    struct os_mutex write;
    struct os_mutex read;
    struct db db;

    struct map databases; /* name -> struct database */
    struct map tables;    /* id -> const struct table_info, one count each */
    struct map paths;     /* database '/' name -> the same, without a count */
    struct map lakes;     /* id -> struct lake, for every table that has one */
    VEC(struct pending_delete *) deletes;
    struct map partitions;                      /* id -> struct partition */
    struct map partitioned;                     /* table id -> struct table_partitions, of every table that has some */
    VEC(struct partition *) dropped_partitions; /* of tables that are there: files may be left */
    struct acl_set acls;
    VEC(struct meta_option) options;
    struct arena options_arena;
    int64_t partition_id_next;
    int64_t table_id_next;
    int64_t writer_id_next; /* under `read` */
    int64_t writer_id_end;
    int64_t run; /* how many runs there were before this one */
};

/* ---- table_info.c ---- */

/* A handle with one count, built from what is stored. schemas: the JSON of each version, from 1 on.
 * errors: as the parsers give them. */
struct table_row {
    int64_t table_id;
    struct slice database;
    struct slice name;
    struct slice json;
    int64_t created_ms;
    int64_t modified_ms;
};
struct schema_row {
    int32_t schema_id;
    struct slice json;
};
MUST_CHECK enum err_code table_info_create(const struct table_row *row, const struct schema_row *schemas,
                                           uint32_t schema_count, const struct table_info **table, struct err *err);
/* Name of a table within the server, as a key of meta.paths: in room for two names. */
#define TABLE_PATH_BYTES_MAX (2 * NAME_BYTES_MAX + 1)
struct table_path {
    uint8_t bytes[TABLE_PATH_BYTES_MAX];
    size_t len;
};
/* False where a name is longer than names may be: then there is no such table. */
bool table_path_make(struct table_path *path, struct slice database, struct slice name);
/* The table in the mirror or NULL, without a count; a lock is held. */
const struct table_info *table_find_locked(struct meta *meta, struct slice database, struct slice name);
void table_put_locked(struct meta *meta, const struct table_info *table); /* takes the count */
void table_remove_locked(struct meta *meta, const struct table_info *table);

/* ---- partition.c ---- */

MUST_CHECK enum err_code partition_load(struct meta *meta, struct err *err);
/* The offsets of buckets that are there: not of dropped partitions. In the arena. A lock is held. */
struct lake_offsets partition_live_offsets_locked(const struct meta *meta, struct lake_offsets offsets,
                                                  struct arena *arena);
bool partition_is_live_locked(const struct meta *meta, int64_t partition_id); /* -1: yes */
/* The table has this bucket, or may have had it: partitions that were dropped are not remembered for ever. errors:
 * UNKNOWN_TABLE_OR_BUCKET_EXCEPTION; PARTITION_NOT_EXISTS: a partition of another table, or of none. */
MUST_CHECK enum err_code partition_check_bucket(struct meta *meta, const struct table_info *table, int64_t partition_id,
                                                int32_t bucket, struct err *err);
/* All that the mirror knows of a dropped table's partitions; `read` is held. */
void partition_forget_table_locked(struct meta *meta, int64_t table_id);
void partition_forget_all(struct meta *meta);

/* ---- others ---- */

MUST_CHECK enum err_code acl_load(struct meta *meta, struct err *err);
MUST_CHECK enum err_code option_load(struct meta *meta, struct err *err);

struct database *database_create(struct slice name, struct slice json, int64_t created_ms, int64_t modified_ms);
void database_destroy(struct database *database);
struct pending_delete *pending_delete_create(int64_t table_id, struct slice database, struct slice name);
void pending_delete_destroy(struct pending_delete *pending);
/* sequence.c: the table's counters go; in a transaction. */
MUST_CHECK enum err_code sequence_drop_rows(struct meta *meta, int64_t table_id, struct err *err);
/* Moves a table's rows to the pending deletes; in a transaction. */
MUST_CHECK enum err_code table_drop_rows(struct meta *meta, const struct table_info *table, int64_t now_ms,
                                         struct err *err);
/* The same in the mirror. */
void table_drop_locked(struct meta *meta, const struct table_info *table);
/* Fills the mirror from the file. errors: CORRUPT with the row that can't be understood. */
MUST_CHECK enum err_code meta_load(struct meta *meta, struct err *err);

void lake_entry_destroy(struct lake_entry *entry);
void lake_destroy(struct lake *lake); /* NULL is fine */
/* The table's lake in the mirror, made if need be; `read` is held, or `write`. */
struct lake *lake_of_locked(struct meta *meta, int64_t table_id);
void lake_raise(struct lake *lake, const struct lake_bucket_progress *progress);
/* Does it tell more than is known? */
bool lake_is_news(const struct lake *lake, const struct lake_bucket_progress *progress);
void lake_forget_partition(struct lake *lake, int64_t partition_id);
MUST_CHECK enum err_code lake_load(struct meta *meta, struct err *err);

/* ---- lake_path.c: where offset files are, and which paths of a worker are believed ---- */

#define OFFSETS_NAME_BYTES 44 /* uuid, ".offsets" */
/* {remote}/lake/{database}/{name}-{table id}, and "/metadata" behind it. errors: LIMIT (path too long). */
MUST_CHECK enum err_code lake_table_dir(const struct meta *meta, int64_t table_id, struct slice database,
                                        struct slice name, char out[OS_PATH_MAX], struct err *err);
MUST_CHECK enum err_code lake_file_path(const struct meta *meta, int64_t table_id, struct slice database,
                                        struct slice name, struct slice file, char out[OS_PATH_MAX], struct err *err);
bool offsets_name_is_valid(struct slice file);
/* The file's name in a path that PREPARE once gave for this table. What lies before "lake/..." is not looked at, so
 * that a data directory can be moved. errors: INVALID_ARGUMENT. */
MUST_CHECK enum err_code lake_path_file(const struct table_info *table, struct slice path, struct slice *file,
                                        struct err *err);

/* ---- lake_offsets.c ---- */

int lake_offset_compare(const void *a, const void *b); /* by partition, bucket */
/* over laid on base: over wins. Both in order; the result in arena. */
struct lake_offsets lake_offsets_merge(struct arena *arena, struct lake_offsets base, struct lake_offsets over);
struct lake_offsets lake_offsets_dup(struct arena *arena, struct lake_offsets offsets);
bool lake_offsets_equal(struct lake_offsets a, struct lake_offsets b);
/* Is there a bucket of b that a has less of, or not at all? */
bool lake_offsets_behind(struct lake_offsets a, struct lake_offsets b);
/* Fluss's JSON, format in lake_offsets.c. */
void lake_offsets_to_json(int64_t table_id, struct lake_offsets offsets, struct buf *out);
/* errors: CORRUPT. The table id in it must be this one. */
MUST_CHECK enum err_code lake_offsets_from_json(struct arena *arena, int64_t table_id, struct slice json,
                                                struct lake_offsets *offsets, struct err *err);
/* In order, each bucket once, buckets below META_LAKE_BUCKETS_MAX, partitioned or not: errors INVALID_ARGUMENT. Unknown
 * ones (-1) are left out. */
MUST_CHECK enum err_code lake_offsets_check(struct arena *arena, const struct lake_offsets *given,
                                            struct lake_offsets *offsets, struct err *err);

/* Writes offsets to a new file of the table, durably, and gives its name and path (blocks). */
MUST_CHECK enum err_code lake_file_write(struct meta *meta, const struct table_info *table, struct lake_offsets offsets,
                                         struct arena *arena, struct slice *file, struct slice *path, struct err *err);
/* Removes the files of entries that went, and the oldest of those that no snapshot took if there are too many. What
 * can't be removed stays for the next time. */
void lake_retire_files(struct meta *meta, const struct table_info *table, const struct lake *lake,
                       const struct lake *gone);
/* Offsets that the latest entry holds, in arena; none: count 0. */
struct lake_offsets lake_latest_offsets(struct meta *meta, int64_t table_id, struct arena *arena);

#endif
