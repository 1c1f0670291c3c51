/* Parquet files, both ways, between bytes and struct column (format/value).
 *
 * What is written is what every reader of Paimon and Iceberg takes: data pages v1, PLAIN or dictionary, zstd, field
 * ids, exact statistics. What is read is what Java Paimon, pyarrow, Iceberg's writers and weir write: pages v1 and v2,
 * PLAIN and dictionary, RLE booleans, codecs none, snappy, gzip, zstd and LZ4_RAW. ORC, Brotli, LZO, the Hadoop form of
 * LZ4, DELTA and BYTE_STREAM_SPLIT encodings and encryption are refused by name (NOT_SUPPORTED).
 *
 * Format: apache/parquet-format (parquet.thrift, Encodings.md, LogicalTypes.md); docs/formats/parquet.md.
 * thread: a writer or a reader belongs to one thread at a time; the calls block only in the caller's sink or source. */
#ifndef WEIR_FORMAT_PARQUET_PARQUET_H
#define WEIR_FORMAT_PARQUET_PARQUET_H

#include "format/codec/codec.h"
#include "format/value/value.h"

#define PARQUET_ROW_GROUP_BYTES \
    (128u << 20)                      /* the usual size of a row group, compressed, and the most memory of a writer */
#define PARQUET_PAGE_BYTES (1u << 20) /* of a data page, before compression */
#define PARQUET_FOOTER_BYTES_MAX (64u << 20) /* of a file that is read */
#define PARQUET_PAGE_BYTES_MAX (512u << 20)  /* of a page that is read, decompressed */
#define PARQUET_PAGE_VALUES_MAX (64u << 20)  /* of a page that is read */
#define PARQUET_SLICE_BYTES_MAX (1u << 30)   /* of one column in one slice of rows that is read */
#define PARQUET_LEAVES_MAX 16384             /* columns without children, of a file */
#define PARQUET_DEPTH_MAX 64                 /* of groups within one another in a file */
#define PARQUET_STAT_BYTES_MAX 256 /* a string or bytes column with a longer least or greatest has no bounds */

/* ---- schemas ---- */

/* Numbers as in parquet.thrift. */
enum parquet_physical {
    PARQUET_BOOLEAN = 0,
    PARQUET_INT32 = 1,
    PARQUET_INT64 = 2,
    PARQUET_INT96 = 3,
    PARQUET_FLOAT = 4,
    PARQUET_DOUBLE = 5,
    PARQUET_BYTE_ARRAY = 6,
    PARQUET_FIXED = 7,
    PARQUET_PHYSICAL_COUNT
};

enum parquet_repetition { PARQUET_REQUIRED = 0, PARQUET_OPTIONAL = 1, PARQUET_REPEATED = 2 };

enum parquet_logical {
    PARQUET_PLAIN_TYPE, /* none, or one that weir has no use for */
    PARQUET_STRING,
    PARQUET_DECIMAL,
    PARQUET_DATE,
    PARQUET_TIME,
    PARQUET_TIMESTAMP,
    PARQUET_INT,
    PARQUET_LIST,
    PARQUET_MAP
};

enum parquet_unit { PARQUET_MILLIS, PARQUET_MICROS, PARQUET_NANOS };

struct parquet_node {
    struct slice name;
    enum parquet_repetition repetition;
    bool is_group;
    enum parquet_physical physical; /* of a leaf */
    uint32_t type_length;           /* FIXED */
    enum parquet_logical logical;
    enum parquet_unit unit; /* TIME, TIMESTAMP */
    bool utc;               /* TIME, TIMESTAMP: isAdjustedToUTC */
    int32_t precision;      /* DECIMAL */
    int32_t scale;          /* DECIMAL */
    int32_t bit_width;      /* INT */
    bool is_unsigned;       /* INT */
    int32_t field_id;       /* -1: none */
    struct parquet_node *children;
    uint32_t child_count;
    /* made from the above */
    uint8_t max_def;     /* the definition level at which this node is there */
    uint8_t max_rep;     /* repeated nodes from the root to here */
    uint32_t leaf_index; /* of the leaf, or of the first leaf below */
    uint32_t leaf_count; /* leaves below; 1 for a leaf */
};

struct parquet_schema {
    struct parquet_node root;
    const struct parquet_node **leaves;
    uint32_t leaf_count;
};

/* Which forms the types take.
 *
 *                 PAIMON                                      ICEBERG
 *   TINYINT..     INT32 with INT(8), INT(16)                  INT32
 *   TIME          INT32, millis                               INT64, micros
 *   TIMESTAMP     0..3 INT64 millis, 4..6 micros, 7..9 INT96  INT64 micros
 *   nested ids    by Paimon's formula from the column's id    the ids in the types (struct field)
 *   root          paimon_schema                               table
 *
 * The same in both: DECIMAL INT32 to 9 digits, INT64 to 18, else FIXED of the fewest bytes; CHAR and STRING as UTF8;
 * BINARY and BYTES as BYTE_ARRAY; LIST list.element; MAP key_value.key/value with a required key; REQUIRED for NOT
 * NULL. */
enum parquet_profile { PARQUET_PAIMON, PARQUET_ICEBERG };

/* The file's schema for columns with these names, types and ids (id -1: none is written). All of it lives in the arena,
 * names and types are borrowed from the columns. errors: LIMIT for too many leaves. */
MUST_CHECK enum err_code parquet_schema_build(struct arena *arena, enum parquet_profile profile,
                                              const struct schema_column *columns, uint32_t column_count,
                                              struct parquet_schema *schema, struct err *err);

/* ---- writing ---- */

/* Takes the next bytes of the file, in order. */
typedef enum err_code parquet_sink_fn(void *arg, struct slice bytes, struct err *err);

struct parquet_writer;

struct parquet_writer_options {
    enum codec codec;
    int level;              /* of zstd and gzip */
    size_t row_group_bytes; /* the writer holds about this much, compressed, and a page of each column */
    size_t page_bytes;
    bool dictionary;                    /* columns with few distinct values get a dictionary */
    const struct key_value *properties; /* of the footer; borrowed until the finish */
    uint32_t property_count;
};

/* zstd level 1, row groups and pages of the usual sizes, dictionaries. */
struct parquet_writer_options parquet_writer_options_usual(void);

/* columns and schema are those of parquet_schema_build() and, like sink's arg, must outlive the writer. options NULL:
 * the usual ones. Nothing is written yet. errors: NOT_SUPPORTED for a codec that Parquet has not. */
MUST_CHECK enum err_code parquet_writer_create(const struct schema_column *columns, uint32_t column_count,
                                               const struct parquet_schema *schema,
                                               const struct parquet_writer_options *options, parquet_sink_fn *sink,
                                               void *arg, struct parquet_writer **writer, struct err *err);
void parquet_writer_destroy(struct parquet_writer *writer); /* NULL is fine; what was not finished is no file */
/* The next rows: column_count columns of row_count values, of the types given at the creation; borrowed for the call.
 * A time that the file's unit can't hold becomes the nearest that it can: a value is never a reason to stop.
 * errors: INVALID_ARGUMENT for a null in a NOT NULL column, or a DECIMAL with more digits than its precision, naming
 * the column; and what the sink says. The writer can then only be destroyed. */
MUST_CHECK enum err_code parquet_writer_write(struct parquet_writer *writer, const struct column *columns,
                                              uint32_t row_count, struct err *err);
/* Writes what is held and the footer. errors: what the sink says. */
MUST_CHECK enum err_code parquet_writer_finish(struct parquet_writer *writer, struct err *err);

uint64_t parquet_writer_file_bytes(const struct parquet_writer *writer); /* given to the sink so far */
uint64_t parquet_writer_held_bytes(const struct parquet_writer *writer); /* not yet given */
uint64_t parquet_writer_row_count(const struct parquet_writer *writer);

/* What the whole file holds of a leaf (a top-level column of a simple type is one leaf), for manifests; right after the
 * finish. */
struct parquet_leaf_stats {
    int64_t value_count; /* nulls included */
    int64_t null_count;
    uint64_t packed_bytes; /* in the file */
    bool has_bounds;       /* exact ones: never with a NaN, nor for INT96, nor past PARQUET_STAT_BYTES_MAX */
    struct datum min;      /* as the file holds them; bytes are borrowed from the writer */
    struct datum max;
};
void parquet_writer_leaf_stats(const struct parquet_writer *writer, uint32_t leaf_index,
                               struct parquet_leaf_stats *out);

/* ---- reading ---- */

/* Fills ptr with exactly len bytes of the file from offset on. */
typedef enum err_code parquet_source_fn(void *arg, uint64_t offset, void *ptr, size_t len, struct err *err);

struct parquet_reader;

enum parquet_match {
    PARQUET_BY_NAME, /* as Paimon's readers do */
    PARQUET_BY_ID    /* as Iceberg's: the column's id, for nested fields that of struct field */
};

/* Reads the footer. source's arg must outlive the reader.
 * errors: CORRUPT, NOT_SUPPORTED, LIMIT, and what the source says. */
MUST_CHECK enum err_code parquet_reader_open(parquet_source_fn *source, void *arg, uint64_t file_bytes,
                                             struct parquet_reader **reader, struct err *err);
void parquet_reader_close(struct parquet_reader *reader); /* NULL is fine */
/* A source over a slice, which arg points to. */
enum err_code parquet_source_memory(void *arg, uint64_t offset, void *ptr, size_t len, struct err *err);

uint64_t parquet_reader_row_count(const struct parquet_reader *reader);
const struct parquet_schema *parquet_reader_schema(const struct parquet_reader *reader);
/* A property of the footer; NULL where there is none. */
const struct slice *parquet_reader_property(const struct parquet_reader *reader, const char *key);

/* The columns of the file, in the types that hold what it has; names are borrowed from the reader, the rest is in the
 * arena. errors: LIMIT for types nested too deeply. */
MUST_CHECK enum err_code parquet_schema_infer(struct arena *arena, const struct parquet_schema *schema,
                                              struct schema_column **columns, uint32_t *column_count, struct err *err);
/* The columns to read, in the order and types wanted; borrowed until the close or the next select, which starts at the
 * first row again. A column, or a field within a ROW, that the file does not have is null in every row. errors:
 * NOT_SUPPORTED for a type that can't be made from the file's (named), or is encoded as weir does not read. */
MUST_CHECK enum err_code parquet_reader_select(struct parquet_reader *reader, const struct schema_column *columns,
                                               uint32_t column_count, enum parquet_match match, struct err *err);
/* The next rows, at most row_count_max of them and fewer where they are large or a row group ends; *row_count is 0 at
 * the end. columns has a place for each selected column; the views live until the next call on the reader. errors:
 * CORRUPT (also for values that the wanted type can't hold), NOT_SUPPORTED, LIMIT, and what the source says. The reader
 * can then only be closed. */
MUST_CHECK enum err_code parquet_reader_next(struct parquet_reader *reader, uint32_t row_count_max,
                                             struct column *columns, uint32_t *row_count, struct err *err);

#endif
