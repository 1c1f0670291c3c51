/* Writing data files, rounds, commits. */
#ifndef WEIR_LAKE_PAIMON_WRITE_INT_H
#define WEIR_LAKE_PAIMON_WRITE_INT_H

#include "format/parquet/parquet.h"
#include "lake/paimon/live_int.h"

#define KEY_PREFIX "_KEY_"
#define SEQUENCE_COLUMN "_SEQUENCE_NUMBER"
#define KIND_COLUMN "_VALUE_KIND"
#define KEY_ID_BASE 1073741823 /* ids of what Paimon adds: SpecialFields.java */
#define SEQUENCE_ID 2147483646
#define KIND_ID 2147483645
#define BLOCK_ROWS 4096        /* rows that are given to a file at once */
#define BLOCK_BYTES (2u << 20) /* or when they reach this */
#define ROW_GROUP_BYTES (32u << 20)

/* ---- the columns of a data file (layout.c) ---- */

/* Append tables: the table's columns. Primary key: _KEY_c for each column of the trimmed key, _SEQUENCE_NUMBER,
 * _VALUE_KIND, then the table's columns. Read-only once made; lives in an arena. */
struct layout {
    const struct paimon_schema *schema;
    struct schema_column *columns;
    uint32_t column_count;
    uint32_t key_count;   /* of _KEY_ columns; 0: append table */
    uint32_t value_first; /* place of the table's first column */
    struct parquet_schema parquet;
    const struct type *key_row;
    /* value stats: the columns of plain types */
    struct slice *stat_names;
    uint32_t *stat_places;
    uint32_t stat_count;
    const struct type *stat_row;
};

/* types: of the table's columns as they are given (TIME of any precision); NULL: the schema's. Ids are the schema's. */
MUST_CHECK enum err_code paimon_layout_make(struct arena *arena, const struct paimon_schema *schema,
                                            const struct type *const *types, struct layout *layout, struct err *err);

/* Primary key: the views of the key columns, _SEQUENCE_NUMBER and _VALUE_KIND; those of the table's columns are there.
 * The key columns are views of the table's own: a key is held once. */
void paimon_layout_fill(const struct layout *layout, struct column *views, struct slice sequences, struct slice kinds,
                        uint32_t row_count);

/* ---- a series of files of one bucket (data_file.c) ---- */

/* What names all files of one round or compaction: data-UUID-N.parquet and so on. */
struct file_names {
    char uuid[37];
    uint32_t next;
};

struct data_files {
    struct paimon_table *table;
    const struct layout *layout;
    const struct file_options *options;
    struct file_names *names;
    const char *prefix; /* "data-" or "changelog-" */
    struct slice partition;
    int32_t bucket;
    int32_t level;
    int64_t source;
    int64_t next_sequence; /* append tables: of the next row */
    /* the file that is open */
    struct os_file *file;
    struct parquet_writer *writer;
    uint64_t written;
    struct slice name;
    int64_t row_count;
    int64_t delete_count;
    int64_t sequence_min;
    int64_t sequence_max;
    struct buf min_key;
    struct buf max_key;
    /* those that are whole, on disk, in the arena */
    struct arena *arena;
    VEC(struct entry *) done;
};

/* Rows in the layout's columns; for a primary key sorted by it. A file that reaches its size is ended. */
MUST_CHECK enum err_code paimon_data_files_write(struct data_files *files, const struct column *columns,
                                                 uint32_t row_count, struct err *err);
/* Ends the open file, if there is one: it is on disk. */
MUST_CHECK enum err_code paimon_data_files_end(struct data_files *files, struct err *err);
/* Makes the names of the files in the bucket's directory durable, which must be there. */
MUST_CHECK enum err_code paimon_data_files_sync_names(struct data_files *files, struct err *err);
/* What an open file holds in memory. */
uint64_t paimon_data_files_held(const struct data_files *files);
/* Drops the open file; the whole ones too if remove says so. */
void paimon_data_files_deinit(struct data_files *files, bool remove);

/* ---- the record of a round (intent.c) ---- */

/* Writes ROUNDS_DIR/UUID.round; nothing where dir.ptr is NULL. */
MUST_CHECK enum err_code paimon_intent_put(struct paimon_table *table, struct slice dir, const char *uuid,
                                           struct err *err);
void paimon_intent_remove(struct paimon_table *table, struct slice dir, const char *uuid);

/* ---- commits (commit.c) ---- */

struct commit {
    struct paimon_table *table;
    struct file_names *names;
    enum paimon_commit_kind kind;
    const char *user;
    const struct properties *properties; /* NULL with inherit */
    bool inherit;                        /* the properties of the newest snapshot of the user */
    bool alone;                          /* rows that others added or replaced since base_id are a conflict */
    int64_t base_id;
    const struct entry **entries; /* added and deleted */
    int *kinds;
    size_t entry_count;
    const struct entry **changelog; /* added */
    size_t changelog_count;
    const struct entry **kept; /* of a compaction: files of its output level that it leaves */
    size_t kept_count;
    /* out: the snapshot is there, or nobody knows: nothing that it names may be removed */
    bool published;
};

MUST_CHECK enum err_code paimon_commit_run(struct commit *commit, struct paimon_committed *committed, struct err *err);

/* Writes entries as one manifest (kinds NULL: all added). The name's bytes live in the arena. */
MUST_CHECK enum err_code paimon_manifest_write(struct paimon_table *table, struct file_names *names,
                                               struct arena *arena, const struct entry *const *entries,
                                               const int *kinds, size_t count, struct manifest *manifest,
                                               struct err *err);
MUST_CHECK enum err_code paimon_list_write(struct paimon_table *table, struct file_names *names, struct arena *arena,
                                           const struct manifest *manifests, size_t count, struct slice *name,
                                           int64_t *bytes, struct err *err);

#endif
