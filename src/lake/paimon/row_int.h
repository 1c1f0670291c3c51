/* Paimon's rows as its files hold them: partitions, keys and bounds in manifests, directories of partitions.
 * Formats: docs/formats/paimon.md, Paimon's BinaryRow; golden vectors paimon_rows.jsonl. Private to src/lake/paimon. */
#ifndef WEIR_LAKE_PAIMON_ROW_INT_H
#define WEIR_LAKE_PAIMON_ROW_INT_H

#include "format/row/row.h"

/* A row in manifests: i32 BE number of fields, BinaryRow. */
MUST_CHECK enum err_code paimon_row_encode(const struct type *row, const struct datum *values, struct buf *out,
                                           struct err *err);
/* errors: CORRUPT; also where the number of fields is not the type's. */
MUST_CHECK enum err_code paimon_row_decode(const struct type *row, struct slice bytes, struct arena *arena,
                                           struct datum *values, struct err *err);

/* "dt=2024-01-01/hour=3/": the directory of a partition below its table, option partition.legacy-name = false.
 * values: one a partition column. LTZ values are written in UTC. */
void paimon_partition_path(const struct type *partition, const struct datum *values, struct buf *out);
/* Readers may come to another directory: an instant's text is that of the reader's time zone, and pypaimon has another
 * one for bytes. Files of such partitions carry their path in the manifest, which all readers prefer. */
bool paimon_partition_is_obscure(const struct type *partition);

#endif
