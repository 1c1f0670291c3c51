/* Lines of manifests and of lists of manifests: structs and their Avro. */
#ifndef WEIR_LAKE_PAIMON_ENTRY_INT_H
#define WEIR_LAKE_PAIMON_ENTRY_INT_H

#include "lake/paimon/paimon_int.h"

#define ENTRY_ADD 0
#define ENTRY_DELETE 1
#define SOURCE_APPEND 0
#define SOURCE_COMPACT 1

struct optional_i64 {
    bool there;
    int64_t value;
};

/* Least and greatest values as rows with their arity in front (docs/formats/paimon.md). */
struct entry_stats {
    struct slice min_values;
    struct slice max_values;
    struct optional_i64 *null_counts; /* NULL: the array is null */
    uint32_t null_count_count;
};

struct entry_names {
    struct slice *items; /* NULL: the array is null */
    uint32_t count;
};

/* A data file, added or deleted. Its bytes live where it was made: arena of the reader, or of a live set. */
struct entry {
    int kind;
    struct slice partition; /* row with its arity in front */
    int32_t bucket;
    int32_t total_buckets;
    struct slice name;
    int64_t size;
    int64_t row_count;
    struct slice min_key;
    struct slice max_key;
    struct entry_stats key_stats;
    struct entry_stats value_stats;
    int64_t sequence_min;
    int64_t sequence_max;
    int64_t schema_id;
    int32_t level;
    struct entry_names extra_files;
    struct optional_i64 creation_ms;
    struct optional_i64 delete_count;
    struct slice embedded_index; /* ptr NULL: none */
    struct optional_i64 source;
    struct entry_names value_stats_columns;
    struct slice external_path; /* ptr NULL: none */
    struct optional_i64 first_row_id;
    struct entry_names write_columns;
};

/* A row of no columns, as manifests store it. */
extern const struct slice paimon_entry_empty_row;

/* errors: CORRUPT naming the field. Everything is borrowed from value. */
MUST_CHECK enum err_code paimon_entry_read(const struct avro_value *value, struct arena *arena, struct entry *entry,
                                           struct err *err);
void paimon_entry_dup(struct arena *arena, const struct entry *from, struct entry *to);
/* Identity for pairing additions with deletions. */
void paimon_entry_identity(const struct entry *entry, struct buf *out);

/* A manifest, as a list of manifests has it. */
struct manifest {
    struct slice name;
    int64_t size;
    int64_t added_count;
    int64_t deleted_count;
    struct entry_stats partition_stats;
    int64_t schema_id;
    struct optional_i64 bucket_min;
    struct optional_i64 bucket_max;
    struct optional_i64 level_min;
    struct optional_i64 level_max;
};

MUST_CHECK enum err_code paimon_manifest_read(const struct avro_value *value, struct arena *arena,
                                              struct manifest *manifest, struct err *err);
void paimon_manifest_dup(struct arena *arena, const struct manifest *from, struct manifest *to);

/* Walks over the file of a manifest (or of a list of them). fn's struct lives for the call. */
typedef enum err_code entry_fn(void *arg, const struct entry *entry, struct err *err);
MUST_CHECK enum err_code paimon_entries_each(struct slice file, entry_fn *fn, void *arg, struct err *err);
typedef enum err_code manifest_fn(void *arg, const struct manifest *manifest, struct err *err);
MUST_CHECK enum err_code paimon_manifests_each(struct slice file, manifest_fn *fn, void *arg, struct err *err);

/* Whole files, appended to out. */
MUST_CHECK enum err_code paimon_entries_put(struct os *os, const struct entry *const *entries, const int *kinds,
                                            size_t count, struct buf *out, struct err *err);
MUST_CHECK enum err_code paimon_manifests_put(struct os *os, const struct manifest *manifests, size_t count,
                                              struct buf *out, struct err *err);

#endif
