/* Between the files of this folder. */
#ifndef WEIR_FORMAT_PARQUET_PARQUET_INT_H
#define WEIR_FORMAT_PARQUET_PARQUET_INT_H

#include "base/vec.h"
#include "format/parquet/parquet.h"
#include "format/parquet/thrift.h"

#define PARQUET_MAGIC "PAR1"
#define PARQUET_JULIAN_EPOCH_DAY 2440588 /* 1970-01-01 as INT96 counts days */

/* Numbers as in parquet.thrift. */
enum parquet_encoding {
    PARQUET_ENC_PLAIN = 0,
    PARQUET_ENC_PLAIN_DICTIONARY = 2,
    PARQUET_ENC_RLE = 3,
    PARQUET_ENC_RLE_DICTIONARY = 8
};

enum parquet_page_type {
    PARQUET_PAGE_DATA = 0,
    PARQUET_PAGE_INDEX = 1,
    PARQUET_PAGE_DICTIONARY = 2,
    PARQUET_PAGE_DATA_V2 = 3
};

/* ---- schema.c ---- */

/* Computes levels and leaf numbers of the whole tree, and schema->leaves. errors: LIMIT. */
MUST_CHECK enum err_code parquet_schema_number(struct arena *arena, struct parquet_schema *schema, struct err *err);
/* Milliseconds, microseconds, ... in a second for the unit that struct column has at this precision of TIME, TIMESTAMP.
 */
int64_t parquet_ticks_of_precision(int32_t precision);
int64_t parquet_ticks_of_unit(enum parquet_unit unit);
/* Bytes of a physical type's value in PLAIN; 0 for BYTE_ARRAY and BOOLEAN. */
uint32_t parquet_physical_width(const struct parquet_node *leaf);
const char *parquet_physical_name(enum parquet_physical physical);

/* ---- codec numbers of the format, in footer_write.c and footer_read.c ---- */

/* -1: Parquet has no such codec. */
int parquet_codec_number(enum codec codec);
/* errors: NOT_SUPPORTED, by name. */
MUST_CHECK enum err_code parquet_codec_from_number(int32_t number, enum codec *codec, struct err *err);

/* ---- hybrid.c: runs and bit-packed groups, of levels and dictionary indices ---- */

unsigned parquet_bit_width(uint32_t max);
/* Appends the values, each below 1 << width. */
void parquet_hybrid_put(struct buf *out, const uint32_t *values, size_t count, unsigned width);
void parquet_hybrid_put_levels(struct buf *out, const uint8_t *levels, size_t count, unsigned width);

/* Where a reader of such values stands. */
struct parquet_hybrid {
    struct reader in;
    unsigned width;
    uint64_t run_left; /* of one value */
    uint32_t run_value;
    uint64_t packed_left; /* values in bit-packed groups */
    uint64_t bits;        /* of the packed bytes taken, not yet given */
    unsigned bit_count;
};

void parquet_hybrid_init(struct parquet_hybrid *h, struct slice in, unsigned width);
/* The next count values; false where the input ends before. */
MUST_CHECK bool parquet_hybrid_get(struct parquet_hybrid *h, uint32_t *out, size_t count);
MUST_CHECK bool parquet_hybrid_get_levels(struct parquet_hybrid *h, uint8_t *out, size_t count);

/* ---- writer ---- */

/* Least and greatest of what a leaf's values were. */
struct parquet_bounds {
    enum { PARQUET_BOUNDS_EMPTY, PARQUET_BOUNDS_THERE, PARQUET_BOUNDS_UNKNOWN } state;
    __int128 min_int; /* BOOLEAN, INT32, INT64, DECIMAL */
    __int128 max_int;
    double min_real; /* FLOAT, DOUBLE */
    double max_real;
    struct buf min_bytes; /* BYTE_ARRAY */
    struct buf max_bytes;
};

void parquet_bounds_deinit(struct parquet_bounds *b);
void parquet_bounds_reset(struct parquet_bounds *b);
/* Takes in PLAIN values (booleans one a byte). */
void parquet_bounds_add(struct parquet_bounds *b, const struct parquet_node *leaf, struct slice plain, uint32_t count);
void parquet_bounds_merge(struct parquet_bounds *b, const struct parquet_node *leaf, const struct parquet_bounds *from);
/* The bound as the footer has it: PLAIN, without a length before bytes. */
void parquet_bounds_put(const struct parquet_bounds *b, const struct parquet_node *leaf, bool max, struct buf *out);

/* The distinct values of a column chunk so far, by hash. */
struct parquet_dictionary {
    struct buf plain;      /* the dictionary page */
    VEC(uint32_t) offsets; /* of each value in plain */
    uint32_t *slots;       /* value number + 1, or 0 */
    uint32_t slot_count;
};

void parquet_dictionary_deinit(struct parquet_dictionary *d);
void parquet_dictionary_reset(struct parquet_dictionary *d);
/* The number of each of the PLAIN values, new ones added; false when it grew past what is worth it: then what indices
 * holds is void, and the dictionary as large as it became. */
MUST_CHECK bool parquet_dictionary_add(struct parquet_dictionary *d, uint32_t width, struct slice plain, uint32_t count,
                                       uint32_t *indices);

/* A leaf while its column chunk is made. */
struct parquet_leaf_writer {
    const struct parquet_node *node;
    const struct type *type;
    const struct parquet_writer_options *options;
    struct codec_state *codecs;
    /* the page */
    struct buf def; /* a byte an entry; empty where max_def is 0 */
    struct buf rep;
    struct buf values; /* PLAIN; booleans one a byte */
    uint32_t entry_count;
    uint32_t value_count;
    /* the chunk */
    struct buf chunk; /* finished pages */
    struct parquet_dictionary dictionary;
    enum { PARQUET_DICT_UNDECIDED, PARQUET_DICT_ON, PARQUET_DICT_OFF } dictionary_state;
    bool has_dictionary_pages;
    bool has_plain_pages;
    int64_t entries; /* of the chunk */
    int64_t nulls;
    uint64_t plain_bytes; /* pages with their headers, before compression */
    struct parquet_bounds bounds;
    /* the file */
    struct parquet_bounds file_bounds;
    int64_t file_entries;
    int64_t file_nulls;
    uint64_t file_packed_bytes;
};

void parquet_leaf_writer_deinit(struct parquet_leaf_writer *leaf);
/* Bytes that the leaf holds in memory. */
size_t parquet_leaf_writer_held(const struct parquet_leaf_writer *leaf);
/* Ends the page, if it has entries. */
MUST_CHECK enum err_code parquet_page_close(struct parquet_leaf_writer *leaf, struct err *err);
/* The dictionary page with its header, for the front of the chunk; nothing where no page uses it. */
MUST_CHECK enum err_code parquet_dictionary_page(struct parquet_leaf_writer *leaf, struct buf *out, struct err *err);

/* Appends values [from, from + count) of a column of a leaf's type, none of them null, to leaf->values. errors:
 * INVALID_ARGUMENT for a decimal with too many digits. */
MUST_CHECK enum err_code parquet_plain_put(struct parquet_leaf_writer *leaf, const struct column *column, uint32_t from,
                                           uint32_t count, struct err *err);
/* Adds rows [from, from + count) of a top-level column to one of its leaves: levels and values. */
MUST_CHECK enum err_code parquet_shred(struct parquet_leaf_writer *leaf, const struct column *column,
                                       const struct parquet_node *top, uint32_t from, uint32_t count, struct err *err);

/* A finished column chunk and row group, for the footer. */
struct parquet_chunk_meta {
    uint64_t start; /* of its first page */
    uint64_t data_start;
    bool has_dictionary;
    bool has_plain;
    int64_t entries;
    int64_t nulls;
    uint64_t packed_bytes;
    uint64_t plain_bytes;
    bool has_bounds;
    struct slice min; /* in the writer's arena */
    struct slice max;
};

struct parquet_group_meta {
    int64_t rows;
    struct parquet_chunk_meta *chunks; /* one a leaf */
};

typedef VEC(struct parquet_group_meta) parquet_group_vec;

void parquet_footer_put(struct buf *out, const struct parquet_schema *schema, const struct parquet_group_meta *groups,
                        size_t group_count, const struct parquet_writer_options *options);

/* ---- reader ---- */

struct parquet_chunk {
    uint64_t start;
    uint64_t packed_bytes;
    int64_t entries;
    int32_t codec;  /* the format's number */
    bool elsewhere; /* in another file */
};

struct parquet_group {
    int64_t rows;
    uint64_t plain_bytes;
    struct parquet_chunk *chunks; /* one a leaf */
};

struct parquet_footer {
    struct parquet_schema schema;
    struct parquet_group *groups;
    uint32_t group_count;
    int64_t rows;
    struct properties properties;
};

/* Takes the Thrift bytes apart; names and properties go into the arena. file_bytes bounds the places of the chunks. */
MUST_CHECK enum err_code parquet_footer_parse(struct arena *arena, struct slice bytes, uint64_t file_bytes,
                                              struct parquet_footer *footer, struct err *err);

struct parquet_page_header {
    int32_t type;
    uint32_t plain_bytes;
    uint32_t packed_bytes;
    uint32_t entries;
    int32_t encoding;
    int32_t def_encoding; /* v1 */
    int32_t rep_encoding;
    uint32_t def_bytes; /* v2 */
    uint32_t rep_bytes;
    bool is_compressed; /* v2 */
};

/* Takes a header from r; false where it is cut off or not one. */
MUST_CHECK bool parquet_page_header_parse(struct reader *r, struct parquet_page_header *header);

/* How the file's values become those of a struct column. */
enum parquet_convert_kind {
    PARQUET_CONV_NONE, /* levels only */
    PARQUET_CONV_BOOL, /* one a byte, for now */
    PARQUET_CONV_COPY, /* fixed width as it is */
    PARQUET_CONV_INT,  /* INT32 to 1, 2 or 8 bytes */
    PARQUET_CONV_REAL, /* FLOAT to 8 bytes */
    PARQUET_CONV_BYTES,
    PARQUET_CONV_BINARY, /* BYTE_ARRAY of one length */
    PARQUET_CONV_DECIMAL,
    PARQUET_CONV_TIME, /* integers by multiplication or division */
    PARQUET_CONV_INT96
};

struct parquet_convert {
    enum parquet_convert_kind kind;
    enum parquet_physical physical;
    uint32_t from_width; /* of a PLAIN value; 0: BYTE_ARRAY, BOOLEAN */
    uint32_t to_width;   /* 0: bytes with offsets */
    int64_t times;       /* TIME: value * times / by, toward the past; INT96: ticks of a second */
    int64_t by;
    int32_t precision; /* DECIMAL */
};

/* errors: NOT_SUPPORTED, naming the column and both types. */
MUST_CHECK enum err_code parquet_convert_choose(const struct parquet_node *leaf, const struct type *type,
                                                struct slice column, struct parquet_convert *convert, struct err *err);

/* Values one after another, without places for nulls. */
struct parquet_values {
    struct buf data;
    struct buf offsets; /* where to_width is 0: count + 1 of u32 */
    uint32_t count;
};

void parquet_values_deinit(struct parquet_values *v);
void parquet_values_reset(struct parquet_values *v);
/* Appends count PLAIN values. errors: CORRUPT, LIMIT. */
MUST_CHECK enum err_code parquet_plain_get(const struct parquet_convert *c, struct reader *in, uint32_t count,
                                           struct parquet_values *out, struct err *err);
/* Appends those that the indices name. errors: CORRUPT for an index that there is not, LIMIT. */
MUST_CHECK enum err_code parquet_dictionary_get(const struct parquet_convert *c,
                                                const struct parquet_values *dictionary, const uint32_t *indices,
                                                uint32_t count, struct parquet_values *out, struct err *err);

/* A leaf while its column chunks are read. */
struct parquet_leaf_reader {
    const struct parquet_node *node;
    struct parquet_convert convert;
    parquet_source_fn *source;
    void *arg;
    struct codec_state *codecs;
    /* the chunk */
    enum codec codec;
    uint64_t offset; /* in the file, of what is not yet in the window */
    uint64_t left;   /* bytes of the chunk from there on */
    struct buf window;
    size_t window_at;
    int64_t entries_left; /* of the chunk, not yet in a page that was read */
    bool has_dictionary;
    struct parquet_values dictionary;
    /* the page */
    struct buf plain;
    struct buf page_def;
    struct buf page_rep;
    uint32_t page_entries;
    uint32_t page_at;
    enum { PARQUET_IN_PLAIN, PARQUET_IN_INDICES, PARQUET_IN_RLE } form;
    struct reader in;
    struct parquet_hybrid indices;
    uint32_t bool_bit; /* of PLAIN booleans: the next bit in the first byte of in */
    /* the slice of rows */
    struct buf def; /* a byte an entry, where max_def is not 0 */
    struct buf rep;
    uint32_t entry_count;
    struct parquet_values values;
    struct buf scratch;
};

void parquet_leaf_reader_deinit(struct parquet_leaf_reader *leaf);
/* Starts a chunk. errors: NOT_SUPPORTED for its codec. */
MUST_CHECK enum err_code parquet_leaf_start(struct parquet_leaf_reader *leaf, const struct parquet_chunk *chunk,
                                            struct err *err);
/* The next page, dictionary pages gone through. errors: as parquet_reader_next(). */
MUST_CHECK enum err_code parquet_page_read(struct parquet_leaf_reader *leaf, struct err *err);
/* Fills the slice with the entries of the next rows; CORRUPT where the chunk has fewer rows. */
MUST_CHECK enum err_code parquet_leaf_read(struct parquet_leaf_reader *leaf, uint32_t rows, struct err *err);

/* What is wanted, beside what the file has. */
struct parquet_want {
    const struct type *type;
    const struct parquet_node *node; /* NULL: the file does not have it */
    struct parquet_want *children;   /* ARRAY 1, MAP 2, ROW its fields */
    uint32_t leaf; /* place among the leaves that are read: whose values (a scalar) or levels it has */
};

struct parquet_leaf_choice {
    const struct parquet_node *node;
    struct parquet_convert convert;
};

typedef VEC(struct parquet_leaf_choice) parquet_choice_vec;

/* Finds the wanted columns in the file, and the leaves to read for them. errors: NOT_SUPPORTED. */
MUST_CHECK enum err_code parquet_want_match(struct arena *arena, const struct parquet_schema *schema,
                                            const struct schema_column *columns, uint32_t column_count,
                                            enum parquet_match match, struct parquet_want *wants,
                                            parquet_choice_vec *choices, struct err *err);
/* The element of a LIST group with one child, in any of the shapes that lists have had. */
const struct parquet_node *parquet_list_element(const struct parquet_node *list);
/* Makes a column of the slice that the leaves hold. rows: of the slice. */
MUST_CHECK enum err_code parquet_assemble(struct arena *arena, const struct parquet_want *want,
                                          struct parquet_leaf_reader *leaves, uint32_t rows, struct column *out,
                                          struct err *err);

#endif
