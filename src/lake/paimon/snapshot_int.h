/* snapshot/snapshot-N. */
#ifndef WEIR_LAKE_PAIMON_SNAPSHOT_INT_H
#define WEIR_LAKE_PAIMON_SNAPSHOT_INT_H

#include "lake/paimon/paimon_int.h"

/* errors: CORRUPT. */
MUST_CHECK enum err_code paimon_snapshot_parse(struct slice text, struct arena *arena, struct paimon_snapshot *snapshot,
                                               struct err *err);

/* A snapshot that is to be written: what readers need, and sizes where they are known (-1: left out). */
struct snapshot_text {
    struct paimon_snapshot snapshot;
    int64_t base_bytes;
    int64_t delta_bytes;
    int64_t changelog_bytes;
    int64_t delta_record_count;
    int64_t changelog_record_count;
};

void paimon_snapshot_put(struct buf *out, const struct snapshot_text *text);

/* The newest snapshot; id 0: none. */
MUST_CHECK enum err_code paimon_snapshot_newest(struct paimon_table *table, struct arena *arena,
                                                struct paimon_snapshot *snapshot, struct err *err);
/* Overwrites snapshot/LATEST or EARLIEST, which are hints: a failure is none of the caller's. */
void paimon_snapshot_hint(struct paimon_table *table, const char *name, int64_t id);

#endif
