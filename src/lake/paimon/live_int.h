/* The live files of a snapshot. */
#ifndef WEIR_LAKE_PAIMON_LIVE_INT_H
#define WEIR_LAKE_PAIMON_LIVE_INT_H

#include "lake/paimon/entry_int.h"
#include "lake/paimon/snapshot_int.h"

struct live {
    int64_t snapshot_id; /* 0: the empty table */
    struct arena arena;
    struct map by_identity;         /* to struct entry */
    VEC(struct manifest) manifests; /* of base and delta, in order */
    struct arena manifest_arena;
    size_t forgotten; /* entries that were taken out and still lie in the arena */
};

/* Everything from the lists of the snapshot. errors: NOT_FOUND where a file is not there any more. */
MUST_CHECK enum err_code paimon_live_load(struct paimon_table *table, const struct paimon_snapshot *snapshot,
                                          struct live **live, struct err *err);
void paimon_live_destroy(struct live *live); /* NULL is fine */
/* The table's own, brought to this snapshot (id 0: none yet): the next one costs its delta only. */
MUST_CHECK enum err_code paimon_table_live(struct paimon_table *table, const struct paimon_snapshot *snapshot,
                                           struct live **live, struct err *err);

/* ---- where files are (place.c) ---- */

/* The directory of a bucket. partition: a row with its arity in front, as in entries. errors: CORRUPT for a row that is
 * none. */
MUST_CHECK enum err_code paimon_bucket_dir(const struct paimon_table *table, struct slice partition, int32_t bucket,
                                           struct path *path, struct err *err);
/* What the manifest must say of a file's path, in the arena: its path where readers may think of another, else ptr
 * NULL.
 */
MUST_CHECK enum err_code paimon_told_path(const struct paimon_table *table, struct slice partition, int32_t bucket,
                                          struct slice name, struct arena *arena, struct slice *told, struct err *err);
/* The path of a data or changelog file, or of one of its extra files (name). */
MUST_CHECK enum err_code paimon_entry_path(const struct paimon_table *table, const struct entry *entry,
                                           struct slice name, struct path *path, struct err *err);

/* All entries, sorted by partition, bucket, level, then least sequence number, name; mem_free. */
struct entry **paimon_live_sorted(const struct live *live, size_t *count);
const struct entry *paimon_live_find(const struct live *live, const struct entry *entry);

/* Reads a file of manifest/ and walks over it. */
MUST_CHECK enum err_code paimon_manifest_file_each(struct paimon_table *table, struct slice name, entry_fn *fn,
                                                   void *arg, struct err *err);
MUST_CHECK enum err_code paimon_list_file_each(struct paimon_table *table, struct slice name, manifest_fn *fn,
                                               void *arg, struct err *err);

#endif
