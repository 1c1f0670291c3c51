/* Avro object container files, both ways: what the manifests of Paimon and Iceberg are.
 *
 * The writer puts the schema text it is given into the file as it stands (Iceberg's readers resolve by the `field-id`,
 * Java Paimon's need the `logicalType`, and no C library keeps those), and the caller puts the values in the order of
 * that schema. The reader takes the types from the file's own schema, so that files of other writers, with fewer, more
 * or differently ordered fields and unions, can be read by name.
 *
 * Format: Apache Avro specification 1.11, "Object Container Files" and "Binary Encoding"; docs/formats/avro.md.
 * thread: a writer or a reader belongs to one thread at a time; nothing here blocks. */
#ifndef WEIR_FORMAT_AVRO_AVRO_H
#define WEIR_FORMAT_AVRO_AVRO_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/reader.h"
#include "format/codec/codec.h"

#define AVRO_SYNC_BYTES 16
#define AVRO_BLOCK_BYTES (64u << 10)            /* a block is closed when its plain data reaches this */
#define AVRO_SCHEMA_BYTES_MAX (4u << 20)        /* of the schema text in a file that is read */
#define AVRO_SCHEMA_DEPTH_MAX 32                /* of types within types, and of values within values */
#define AVRO_BLOCK_PLAIN_BYTES_MAX (256u << 20) /* of one block, decompressed */
#define AVRO_RECORD_VALUES_MAX (1u << 20)       /* of values in one record, nested ones included */

/* ---- writing ---- */

struct avro_property {
    struct slice key;
    struct slice value;
};

struct avro_writer_options {
    struct slice schema;                    /* the JSON text, written as it stands */
    enum codec codec;                       /* NONE, DEFLATE, ZSTD or SNAPPY */
    int level;                              /* of deflate (1..9) and zstd (1..19); 0: the usual one */
    const struct avro_property *properties; /* of the header, besides avro.schema and avro.codec */
    uint32_t property_count;
    uint8_t sync[AVRO_SYNC_BYTES]; /* random, the caller's */
};

struct avro_writer {
    struct buf *out; /* the file so far; the caller's */
    struct buf block;
    int64_t block_records;
    int64_t record_count;
    enum codec codec;
    int level;
    uint8_t sync[AVRO_SYNC_BYTES];
    struct codec_state codecs;
};

/* Starts a file at the end of out, which must outlive the writer. errors: NOT_SUPPORTED for another codec. */
MUST_CHECK enum err_code avro_writer_init(struct avro_writer *writer, struct buf *out,
                                          const struct avro_writer_options *options, struct err *err);
void avro_writer_deinit(struct avro_writer *writer);

/* The values of a record, in the order of the schema. Nothing checks them against it: the golden tests do. */
void avro_put_bool(struct avro_writer *writer, bool value);
void avro_put_int(struct avro_writer *writer, int32_t value);
void avro_put_long(struct avro_writer *writer, int64_t value);
void avro_put_float(struct avro_writer *writer, float value);
void avro_put_double(struct avro_writer *writer, double value);
void avro_put_bytes(struct avro_writer *writer, struct slice value);
void avro_put_string(struct avro_writer *writer, struct slice value);
void avro_put_fixed(struct avro_writer *writer, struct slice value);
/* The branch of a union, by its place in the schema; the value follows (nothing for null). */
void avro_put_branch(struct avro_writer *writer, uint32_t branch);
/* An array or a map: its count (of items, or of key and value pairs), then the items, then the end. */
void avro_put_count(struct avro_writer *writer, uint32_t count);
void avro_put_end(struct avro_writer *writer);

/* Ends a record. errors: as codec_compress(). */
MUST_CHECK enum err_code avro_writer_end_record(struct avro_writer *writer, struct err *err);
/* Ends the file; the writer can then only be deinitialised. */
MUST_CHECK enum err_code avro_writer_finish(struct avro_writer *writer, struct err *err);

/* ---- reading ---- */

enum avro_kind {
    AVRO_NULL,
    AVRO_BOOLEAN,
    AVRO_INT,
    AVRO_LONG,
    AVRO_FLOAT,
    AVRO_DOUBLE,
    AVRO_BYTES,
    AVRO_STRING,
    AVRO_RECORD,
    AVRO_ENUM,
    AVRO_ARRAY,
    AVRO_MAP,
    AVRO_UNION,
    AVRO_FIXED,
    AVRO_KIND_COUNT
};

struct avro_type;

struct avro_type_field {
    struct slice name; /* RECORD: the field's; ENUM: the symbol */
    const struct avro_type *type;
    int64_t field_id; /* of Iceberg: "field-id"; -1 where there is none */
};

struct avro_type {
    enum avro_kind kind;
    struct slice name;         /* RECORD, ENUM, FIXED: with its namespace */
    struct slice logical_type; /* empty where there is none */
    uint32_t size;             /* FIXED */
    /* RECORD: its fields; UNION: its branches; ARRAY and MAP: one, the items; ENUM: its symbols, without a type */
    struct avro_type_field *fields;
    uint32_t field_count;
};

/* A value as the file has it; a union is gone through: its value stands here with the branch's type. */
struct avro_value {
    const struct avro_type *type;
    union {
        bool boolean;
        int64_t i64; /* INT, LONG; ENUM: the symbol's place */
        float f32;
        double f64;
        struct slice bytes; /* BYTES, STRING, FIXED; borrowed from the reader's block */
        struct {
            struct avro_value *items; /* RECORD: its fields in the schema's order; ARRAY, MAP: its items */
            struct slice *keys;       /* MAP only */
            uint32_t count;
        } list;
    };
};

static inline bool avro_is_null(const struct avro_value *value)
{
    return !value || value->type->kind == AVRO_NULL;
}

struct avro_reader {
    struct arena arena; /* schema and header */
    const struct avro_type *type;
    struct {
        struct avro_property *items;
        uint32_t count;
    } properties;
    enum codec codec;
    struct reader file; /* behind the last block read */
    uint8_t sync[AVRO_SYNC_BYTES];
    struct buf block;
    struct reader in;   /* the rest of the block */
    int64_t block_left; /* records */
    struct codec_state codecs;
};

/* Reads the header. file is the whole file, borrowed until the deinit.
 * errors: CORRUPT; NOT_SUPPORTED for a codec weir doesn't read (bzip2, xz); LIMIT. */
MUST_CHECK enum err_code avro_reader_init(struct avro_reader *reader, struct slice file, struct err *err);
void avro_reader_deinit(struct avro_reader *reader);
/* A property of the header; NULL where there is none. */
const struct slice *avro_reader_property(const struct avro_reader *reader, const char *key);
/* The next record, in the arena; *value is NULL at the end of the file. Slices in it live until the next call that
 * needs a new block: copy what must outlive the record. errors: CORRUPT, LIMIT; the reader is then of no more use. */
MUST_CHECK enum err_code avro_reader_next(struct avro_reader *reader, struct arena *arena, struct avro_value **value,
                                          struct err *err);

/* The types of a schema text. errors: CORRUPT with what is wrong, LIMIT. */
MUST_CHECK enum err_code avro_type_parse(struct arena *arena, struct slice schema, const struct avro_type **type,
                                         struct err *err);

/* A record's field by name or by Iceberg's id; NULL where the record has none (or value is NULL or no record). */
const struct avro_value *avro_field(const struct avro_value *value, const char *name);
const struct avro_value *avro_field_id(const struct avro_value *value, int64_t field_id);
/* What a field holds, checked: false where it is missing, null or of another kind, and *out stays as it was. INT and
 * LONG are both taken for i64 and i32 (in its range); BYTES, STRING and FIXED are all taken for bytes. */
bool avro_get_i64(const struct avro_value *value, int64_t *out);
bool avro_get_i32(const struct avro_value *value, int32_t *out);
bool avro_get_bytes(const struct avro_value *value, struct slice *out);

#endif
