/* Reading data files: one, and several merged by key. */
#ifndef WEIR_LAKE_PAIMON_READ_INT_H
#define WEIR_LAKE_PAIMON_READ_INT_H

#include "lake/paimon/write_int.h"

/* ---- one file (data_read.c) ---- */

struct data_reader {
    struct slice name; /* of the file; lives as long as the entry */
    struct os_file *file;
    struct parquet_reader *parquet;
    struct schema_column *wanted; /* with the names that the file has */
    struct column *columns;
    uint32_t column_count;
};

/* columns: by their names in this schema of the table, or of what Paimon adds (_SEQUENCE_NUMBER); found in the file by
 * field id. errors: NOT_SUPPORTED for other formats than Parquet. */
MUST_CHECK enum err_code paimon_data_reader_open(struct paimon_table *table, const struct paimon_schema *schema,
                                                 const struct entry *entry, const struct schema_column *columns,
                                                 uint32_t column_count, struct data_reader *reader, struct err *err);
void paimon_data_reader_close(struct data_reader *reader);
/* At most row_count_max rows in reader->columns, until the next call; 0 at the end. */
MUST_CHECK enum err_code paimon_data_reader_next(struct data_reader *reader, uint32_t row_count_max,
                                                 uint32_t *row_count, struct err *err);

/* ---- sorted runs merged (merge.c) ---- */

struct merge;

struct merge_options {
    struct paimon_table *table;
    const struct paimon_schema *schema;
    const struct schema_column *columns; /* wanted; borrowed */
    uint32_t column_count;
    const struct entry *const *files; /* of one bucket, in the order of paimon_live_sorted(); borrowed */
    size_t file_count;
    bool drop_deletes;
};

/* The newest row of each key, in key order. Memory: a slice of one file of each sorted run. */
MUST_CHECK enum err_code paimon_merge_open(const struct merge_options *options, struct merge **merge, struct err *err);
void paimon_merge_close(struct merge *merge); /* NULL is fine */

struct merged {
    const struct column *columns; /* wanted */
    struct slice sequences;       /* 8 bytes each */
    struct slice kinds;           /* 1 byte each */
    uint32_t row_count;           /* 0 at the end */
};

/* The views live until the next call. */
MUST_CHECK enum err_code paimon_merge_next(struct merge *merge, uint32_t row_count_max, struct merged *out,
                                           struct err *err);

#endif
