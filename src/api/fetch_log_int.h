/* Shared by the files of FETCH_LOG. */
#ifndef WEIR_API_FETCH_LOG_INT_H
#define WEIR_API_FETCH_LOG_INT_H

#include "api/api_int.h"
#include "format/row/row.h"

/* Which columns a fetch wants of a table. The table is counted; the memory is the projection's own, since one request
 * may name a table as often as it likes. */
struct fetch_projection {
    const struct table_info *table;
    struct arena arena;
    const struct type **rows;         /* of the table's schemas, each when a batch of it was met */
    struct arrow_selection selection; /* of the newest schema: its columns are those before, and those added behind */
};

/* errors: INVALID_COLUMN_PROJECTION, UNKNOWN_TABLE_OR_BUCKET_EXCEPTION. */
MUST_CHECK enum err_code fetch_projection_read(struct api_call *call, const struct wire_pb_fetch_log_req_for_table *req,
                                               struct fetch_projection *projection, struct err *err);
/* The columns of one schema of the table, as a ROW type; NULL: it never had this schema. */
const struct type *fetch_projection_row(struct fetch_projection *projection, int32_t schema_id);
void fetch_projection_drop(struct fetch_projection *projection);

/* Which batches a fetch wants of a table. Lives in the call's arena; the table is counted. */
struct fetch_filter {
    const struct table_info *table;
    struct predicate predicate;
    size_t parts; /* of the predicate: its leaves and their literals */
    struct arena scratch;
};

/* NULL: all of them. */
struct fetch_filter *fetch_filter_read(struct api_call *call, const struct wire_pb_fetch_log_req_for_table *req);
/* batch was read with its statistics. */
bool fetch_filter_keeps(struct fetch_filter *filter, const struct log_batch *batch);
void fetch_filter_drop(struct fetch_filter *filter); /* NULL is fine */

/* What a fetch wants of one bucket. */
struct fetch_wanted {
    int64_t offset; /* -2: earliest */
    size_t bytes_max;
    bool force_one;                      /* the first batch however large it is */
    struct fetch_projection *projection; /* NULL: all columns */
    struct fetch_filter *filter;         /* NULL: all batches */
    size_t *effort_left;                 /* of the whole answer; FETCH_EFFORT_MAX at its beginning */
};

/* What is done for one answer where batches are looked at one by one, so that a projection of little or a filter that
 * keeps nothing does not hold up the loop: a batch counts as one, and more with a filter of many parts. The answer then
 * says how far it came. */
#define FETCH_EFFORT_MAX 4096
#define FETCH_FILTER_PARTS 16 /* that count as much as reading a batch */

struct fetch_part {
    struct wire_bytes records;
    size_t bytes;        /* of them */
    int64_t next_offset; /* behind what was read */
    bool skipped;        /* and behind the last record there are batches that the filter left away */
    int64_t high_watermark;
    int64_t start_offset;
};

/* Whole batches from the one that holds the offset on. On failure there is nothing to release.
 * errors: as bucket_fetch; SCHEMA_NOT_EXIST, INVALID_COLUMN_PROJECTION. */
MUST_CHECK enum err_code fetch_part_read(struct api_call *call, struct bucket *bucket,
                                         const struct fetch_wanted *wanted, struct fetch_part *part, struct err *err);

/* ---- what is remembered of a connection: fetch_state.c ---- */

/* A client has one fetch in flight for each server. While it still holds rows of some buckets it asks for the others
 * alone, and if those are at their end a long poll would keep it from going on with the first. So a connection
 * remembers which of its buckets were behind when they were last read, and polls are short as long as there is one. */
void fetch_state_note(struct net_conn *conn, int64_t table_id, int64_t partition_id, int32_t bucket, bool behind,
                      int64_t now_ns);
/* A bucket other than those of req was left behind, lately. */
bool fetch_state_behind(struct net_conn *conn, int64_t now_ns);

#endif
