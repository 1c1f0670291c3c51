/* Batches: what clients send and logs keep. Three kinds, all integers little-endian.
 *
 *   log batch     rows with change types, of one schema; ARROW, INDEXED or COMPACTED by the table (log.md 1, 2)
 *   kv batch      puts and deletes of a primary-key table on their way to the server (kv.md 1)
 *   value batch   stored values as scans answer them (kv.md 5)
 *
 * Batches lie back to back in a log and in a request; nothing of a batch says whether its body is Arrow or rows.
 * Golden vectors: log_batches.jsonl, kv_batches.jsonl.
 * thread: any; a builder and a struct arrow_codec one at a time. Nothing blocks. */
#ifndef WEIR_FORMAT_BATCH_BATCH_H
#define WEIR_FORMAT_BATCH_BATCH_H

#include "format/arrow/arrow.h"

#define BATCH_BYTES_MAX (256u << 20)  /* of one batch of any kind; frames are smaller */
#define LOG_BATCH_HEADER_BYTES 48     /* as weir writes it */
#define LOG_BATCH_HEADER_BYTES_MAX 56 /* of all layouts */
#define LOG_BATCH_STATISTICS_VERSION 1

enum change_type {
    CHANGE_APPEND,        /* +A */
    CHANGE_INSERT,        /* +I */
    CHANGE_UPDATE_BEFORE, /* -U */
    CHANGE_UPDATE_AFTER,  /* +U */
    CHANGE_DELETE,        /* -D */
    CHANGE_TYPE_COUNT
};

enum log_format { LOG_FORMAT_ARROW, LOG_FORMAT_INDEXED, LOG_FORMAT_COMPACTED };

/* Where the header's fields lie. Magic 1 has two meanings: Fluss 0.9 defined it with a leader epoch (and never wrote
 * it), later versions with column statistics. */
enum log_batch_layout { LOG_BATCH_V0, LOG_BATCH_V1_EPOCH, LOG_BATCH_V1_STATISTICS, LOG_BATCH_V2 };

/* One batch as read: the header's fields, and views of its parts. */
struct log_batch {
    struct slice bytes; /* the batch, or as much of it as was given */
    size_t size;        /* of the whole batch */
    enum log_batch_layout layout;
    size_t header_bytes;
    int64_t base_offset;
    int64_t commit_timestamp_ms;
    int32_t leader_epoch; /* -1: none */
    uint32_t crc;
    int16_t schema_id;
    bool append_only;
    int32_t last_offset_delta; /* 0 for an empty batch, which still takes one offset */
    int64_t writer_id;         /* -1: none */
    int32_t batch_sequence;    /* -1: none */
    uint32_t record_count;
    size_t body_offset;      /* behind header and statistics */
    struct slice statistics; /* empty where there are none */
    struct slice body;       /* empty for an empty batch */
};

/* ---- reading log batches ---- */

/* The next whole batch off the front of *rest. At the end, and where only a cut-off tail is left, *batch is empty and
 * *rest what is left. errors: CORRUPT_RECORD for a length that no batch has. */
MUST_CHECK enum err_code log_batch_next(struct slice *rest, struct slice *batch, struct err *err);

/* The header of a batch; its CRC is not looked at, except to tell the two kinds of magic 1 apart where their counts do
 * not. bytes may end anywhere behind the header (the views are then cut short), or hold more than the batch.
 * errors: CORRUPT_RECORD for an unknown magic, counts that contradict each other, or what is too short. */
MUST_CHECK enum err_code log_batch_read(struct slice bytes, struct log_batch *batch, struct err *err);

/* The same for a whole batch, with its CRC: what a server asks of a batch that arrives, and recovery of one on disk.
 * Bytes behind the batch are refused. The body is not decoded. */
MUST_CHECK enum err_code log_batch_check(struct slice bytes, struct log_batch *batch, struct err *err);

static inline int64_t log_batch_next_offset(const struct log_batch *batch)
{
    return batch->base_offset + batch->last_offset_delta + 1;
}

/* Offset and time set in place, the leader epoch too where the layout has one; the CRC covers none of them. batch is a
 * checked one. */
void log_batch_stamp(uint8_t *batch, enum log_batch_layout layout, int64_t base_offset, int64_t commit_timestamp_ms,
                     int32_t leader_epoch);

/* The records of a batch, by column. Views into the batch, or in the arena. */
struct log_batch_rows {
    uint32_t count;
    const uint8_t *change_types; /* NULL: all are CHANGE_APPEND */
    struct column *columns;
    uint32_t column_count;
};

static inline enum change_type log_batch_change(const struct log_batch_rows *rows, uint32_t i)
{
    return rows->change_types ? (enum change_type)rows->change_types[i] : CHANGE_APPEND;
}

/* type is the ROW of the batch's schema id (less what a projection left out). errors: CORRUPT, LIMIT; of
 * INDEXED and COMPACTED batches also INVALID_ARGUMENT for a value that a column can't hold (log_batch_record_next can).
 */
MUST_CHECK enum err_code log_batch_decode(struct arrow_codec *codec, const struct log_batch *batch,
                                          enum log_format format, const struct type *type, struct arena *arena,
                                          struct log_batch_rows *rows, struct err *err);

/* What a server asks of the records of an ARROW batch that arrives (arrow_check); one without records is fine.
 * errors: CORRUPT, LIMIT, INVALID_ARGUMENT. */
MUST_CHECK enum err_code log_batch_check_arrow(const struct log_batch *batch, const struct type *type,
                                               struct arena *arena, struct err *err);

/* The same of an INDEXED or COMPACTED batch: what log_batch_decode takes, without nulls where there must be none, and
 * with texts that are UTF-8. errors: CORRUPT, LIMIT, INVALID_ARGUMENT. */
MUST_CHECK enum err_code log_batch_check_rows(const struct log_batch *batch, enum log_format format,
                                              const struct type *type, struct err *err);

/* One record of an INDEXED or COMPACTED batch, its row still encoded (row_decode). This way keeps what columns can't
 * hold: times finer or further than their unit. Call it record_count times with *rest = batch->body at first. errors:
 * CORRUPT. */
struct log_record {
    enum change_type change;
    struct slice row;
};

MUST_CHECK enum err_code log_batch_record_next(struct slice *rest, struct log_record *record, struct err *err);

/* Column statistics: for each of some columns how many nulls, the least and the greatest value (null if all are). */
struct log_batch_statistics {
    uint32_t count;
    const uint8_t *positions;   /* i16 each, in the batch's schema */
    const uint8_t *null_counts; /* i32 each */
    struct slice min;           /* ROW_ALIGNED rows of count fields (row.h) */
    struct slice max;
};

/* Columns of this kind may be in them: their values have an order. */
bool log_batch_has_bounds(enum type_kind kind);

/* False for a batch without statistics, or with those of an unknown version: readers then do without.
 * errors: CORRUPT. */
MUST_CHECK enum err_code log_batch_statistics_read(const struct log_batch *batch, uint32_t column_count, bool *present,
                                                   struct log_batch_statistics *statistics, struct err *err);

/* ---- conditions on rows, asked of statistics (log.md 5) ---- */

/* By their numbers in requests; then what joins conditions. */
enum predicate_kind {
    PREDICATE_EQUAL,
    PREDICATE_NOT_EQUAL,
    PREDICATE_LESS,
    PREDICATE_LESS_OR_EQUAL,
    PREDICATE_GREATER,
    PREDICATE_GREATER_OR_EQUAL,
    PREDICATE_IS_NULL,
    PREDICATE_IS_NOT_NULL,
    PREDICATE_STARTS_WITH,
    PREDICATE_CONTAINS,
    PREDICATE_ENDS_WITH,
    PREDICATE_IN,
    PREDICATE_NOT_IN,
    PREDICATE_AND,
    PREDICATE_OR
};

struct predicate {
    enum predicate_kind kind;
    int32_t column_id; /* of a leaf, as all up to the literals */
    const struct type *type;
    const struct datum *literals; /* of the type; any number for IN and NOT IN, none for IS (NOT) NULL, else one */
    uint32_t literal_count;
    const struct predicate *children; /* of AND and OR */
    uint32_t child_count;
};

/* False: no record of the batch meets the predicate. True also where its statistics do not tell, are missing, or can't
 * be read. batch was read from bytes that go beyond its statistics; schema is that of its id; scratch is the caller's
 * to reset. */
bool log_batch_may_match(const struct log_batch *batch, const struct schema *schema, const struct predicate *predicate,
                         struct arena *scratch);

/* ---- projection of ARROW batches (log.md 5) ---- */

/* How many bytes of a batch log_batch_project must see, as far as the first bytes tell: ask again with as many as it
 * says until it says no more than there are. bytes are the batch's first, at least LOG_BATCH_HEADER_BYTES_MAX or all.
 */
MUST_CHECK enum err_code log_batch_head_bytes(struct slice bytes, size_t *head_bytes, struct err *err);

/* A batch of some of its columns, undecoded: new bytes to send first, then parts of the old batch as they are.
 * head        the batch's first bytes, log_batch_head_bytes() of them or more.
 * type        the ROW of the batch's schema.
 * selection   what is wanted, of the same ROW or that of a later schema: columns that were added behind are all null.
 * out         header, change types and metadata are appended; a batch without records is copied whole.
 * ranges      the parts of the body, offsets from the start of the batch, are appended.
 * The header keeps its CRC, which is then wrong, as stock servers do; statistics are left out.
 * errors: INVALID_COLUMN_PROJECTION for positions that are not strictly increasing or beyond the fields of the
 * selection's ROW, or for none; CORRUPT_RECORD, CORRUPT, LIMIT. */
MUST_CHECK enum err_code log_batch_project(struct slice head, const struct type *type,
                                           const struct arrow_selection *selection, struct buf *out,
                                           arrow_ranges *ranges, struct err *err);

/* ---- building log batches ---- */

struct log_batch_options {
    enum log_format format;
    enum log_batch_layout layout; /* V0 for whatever others read */
    bool append_only;             /* ARROW: no change types, all rows are CHANGE_APPEND */
    int16_t schema_id;
    struct arrow_options arrow; /* ARROW only */
    /* ARROW in a layout that holds them: the columns, of types with an order, whose null counts, least and greatest
     * values go in; borrowed. */
    const uint32_t *statistics;
    uint32_t statistics_count;
};

/* Rows of one coming batch. One builder makes many batches, keeping its memory. */
struct log_batch_builder {
    struct log_batch_options options;
    const struct type *type; /* of kind ROW; borrowed */
    uint32_t count;
    struct buf change_types;
    struct column_builder *columns; /* ARROW */
    struct buf rows;                /* INDEXED, COMPACTED */
    struct arena scratch;
};

void log_batch_builder_init(struct log_batch_builder *builder, const struct log_batch_options *options,
                            const struct type *type);
void log_batch_builder_deinit(struct log_batch_builder *builder);
void log_batch_builder_reset(struct log_batch_builder *builder);
/* One row, a value for each field. errors: INVALID_ARGUMENT for a value that its column can't hold
 * (column_builder_append), LIMIT beyond BATCH_BYTES_MAX; the builder is then as before. */
MUST_CHECK enum err_code log_batch_builder_append(struct log_batch_builder *builder, enum change_type change,
                                                  const struct datum *row, struct err *err);
/* Row i of columns of equal types. */
MUST_CHECK enum err_code log_batch_builder_append_from(struct log_batch_builder *builder, enum change_type change,
                                                       const struct column *columns, uint32_t i, struct err *err);
/* About the size of the batch so far, before compression. */
size_t log_batch_builder_bytes(const struct log_batch_builder *builder);
/* Appends the batch to out, base offset and time 0, and empties the builder. Without rows it is a header alone.
 * writer_id and batch_sequence are -1 where there is no idempotent writer. */
void log_batch_builder_finish(struct log_batch_builder *builder, struct arrow_codec *codec, int64_t writer_id,
                              int32_t batch_sequence, struct buf *out);

/* ---- kv batches ---- */

#define KV_BATCH_HEADER_BYTES 28

struct kv_batch {
    int16_t schema_id;
    int64_t writer_id;      /* -1: none */
    int32_t batch_sequence; /* -1: none */
    uint32_t record_count;
    struct slice records;
};

struct kv_record {
    struct slice key;
    struct slice row; /* in the table's kv format; ptr NULL: delete */
};

/* A whole batch with its CRC and every record's bounds. errors: CORRUPT_MESSAGE. */
MUST_CHECK enum err_code kv_batch_check(struct slice bytes, struct kv_batch *batch, struct err *err);
/* The next record of a checked batch; false at the end. Start with *rest = batch->records. */
bool kv_batch_next(struct slice *rest, struct kv_record *record);

struct kv_batch_builder {
    struct buf buf;
    uint32_t count;
    int16_t schema_id;
};

void kv_batch_builder_init(struct kv_batch_builder *builder, int16_t schema_id);
void kv_batch_builder_deinit(struct kv_batch_builder *builder);
/* errors: LIMIT beyond BATCH_BYTES_MAX. */
MUST_CHECK enum err_code kv_batch_builder_put(struct kv_batch_builder *builder, struct slice key, struct slice row,
                                              struct err *err);
MUST_CHECK enum err_code kv_batch_builder_delete(struct kv_batch_builder *builder, struct slice key, struct err *err);
/* Appends the batch to out and empties the builder. */
void kv_batch_builder_finish(struct kv_batch_builder *builder, int64_t writer_id, int32_t batch_sequence,
                             struct buf *out);

/* ---- value batches; the values themselves are in row.h ---- */

#define VALUE_BATCH_HEADER_BYTES 9

/* Starts a value batch at the end of out, gives its place there for the next two. */
size_t value_batch_start(struct buf *out);
/* value: schema id and row. The caller stays below BATCH_BYTES_MAX. */
void value_batch_put(struct buf *out, size_t start, struct slice value);

/* Checks header and every record's bounds; *rest is then for value_batch_next. errors: CORRUPT. */
MUST_CHECK enum err_code value_batch_check(struct slice bytes, uint32_t *count, struct slice *rest, struct err *err);
/* The next value (schema id and row) of a checked batch; false at the end. */
bool value_batch_next(struct slice *rest, struct slice *value);

#endif
