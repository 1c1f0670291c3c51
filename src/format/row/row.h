/* Rows as bytes, keys as bytes, and the bucket of a key.
 *
 * A row codec works on a type of kind ROW: the columns of a schema (row_type), some of them (row_type_of), or any
 * nested ROW. Values are an array of datums, one a field. Formats: docs/formats/rows.md, drawn at the top of
 * compacted.c, indexed.c, aligned.c, array.c; golden vectors rows.jsonl, keys.jsonl, paimon_rows.jsonl. thread: any;
 * nothing is kept. */
#ifndef WEIR_FORMAT_ROW_ROW_H
#define WEIR_FORMAT_ROW_ROW_H

#include "format/value/value.h"

enum row_format {
    ROW_COMPACTED, /* kv and log format COMPACTED */
    ROW_INDEXED,   /* kv and log format INDEXED */
    ROW_ALIGNED,   /* batch statistics, Paimon keys as Fluss writes them */
    ROW_PAIMON,    /* Paimon's BinaryRow: ROW_ALIGNED, but nulls keep their place in the variable part */
};

/* Of an encoded row. */
#define ROW_BYTES_MAX (1u << 30)
/* Nested values (elements, entries, fields) of one row; also never more than eight for each of its bytes, so that a row
 * whose parts overlap does not unfold without end. */
#define ROW_VALUES_MAX (4u << 20)

/* The ROW type of all columns, and of some in this order; read-only, in the arena, as long as the schema. */
const struct type *row_type(struct arena *arena, const struct schema *schema);
const struct type *row_type_of(struct arena *arena, const struct schema *schema, const uint32_t *positions,
                               uint32_t count);

/* values   out: one a field; undefined on failure. Bytes stay borrowed from the row, nested parts go into the arena: a
 * row of plain columns allocates nothing. Nulls are taken where the type forbids them: partial writes leave them (kv.md
 * 1). errors   CORRUPT: cut off, too long (not the aligned ones), or an offset that leads out; LIMIT: ROW_VALUES_MAX.
 */
MUST_CHECK enum err_code row_decode(enum row_format format, const struct type *row, struct slice bytes,
                                    struct arena *arena, struct datum *values, struct err *err);
/* Appends the row. errors, out is then as before: INVALID_ARGUMENT where a value does not fit the format (INDEXED:
 * longer than CHAR(n) or BINARY(n) says); RECORD_TOO_LARGE_EXCEPTION: ROW_BYTES_MAX. */
MUST_CHECK enum err_code row_encode(enum row_format format, const struct type *row, const struct datum *values,
                                    struct buf *out, struct err *err);

/* Rows of an older schema read as rows of a newer one: columns meet by id, those that the old one lacks are null. */
struct row_mapping {
    const struct type *from;
    const int32_t *places; /* of each old column in the new row, -1: dropped; NULL: each in its own place */
    uint32_t width;        /* of the new row */
};

void row_mapping_init(struct row_mapping *mapping, struct arena *arena, const struct schema *from,
                      const struct schema *to);
/* As row_decode; values has mapping->width places. */
MUST_CHECK enum err_code row_decode_mapped(enum row_format format, const struct row_mapping *mapping,
                                           struct slice bytes, struct arena *arena, struct datum *values,
                                           struct err *err);

/* ---- stored values of a primary-key table: i16 schema id, row ---- */

void kv_value_put_header(struct buf *out, int16_t schema_id);
/* errors: CORRUPT where not even the schema id is there. */
MUST_CHECK enum err_code kv_value_split(struct slice value, int16_t *schema_id, struct slice *row, struct err *err);

/* ---- keys ---- */

enum key_encoder {
    KEY_COMPACTED,
    KEY_PAIMON,
    KEY_ICEBERG,
    KEY_HUDI, /* lossy: for buckets only */
};

/* Appends the key of a row: values[positions[i]] for each field of the key's ROW type; positions NULL: values[i].
 * errors, out is then as before: INVALID_ARGUMENT for a null or a type that the encoder does not take. */
MUST_CHECK enum err_code key_encode(enum key_encoder encoder, const struct type *key, const struct datum *values,
                                    const uint32_t *positions, struct buf *out, struct err *err);
/* The values of a key, one a field. errors: CORRUPT; NOT_SUPPORTED for KEY_HUDI. */
MUST_CHECK enum err_code key_decode(enum key_encoder encoder, const struct type *key, struct slice bytes,
                                    struct arena *arena, struct datum *values, struct err *err);

/* How a table makes its keys: from "table.kv.format-version" and "table.datalake.format" of its properties. */
struct table_keys {
    enum lake_format lake;
    enum key_encoder primary_encoder; /* kv keys, look-ups, prefixes */
    enum key_encoder bucket_encoder;
    const uint32_t *primary; /* physical primary key: column positions; none for a log table */
    uint32_t primary_count;
    const struct type *primary_type;
    const uint32_t *bucket; /* bucket key: column positions; may be none for a log table */
    uint32_t bucket_count;
    const struct type *bucket_type;
    bool bucket_is_primary; /* one encoding serves both */
    bool prefix_lookup;     /* the bucket key is a proper prefix of the primary key */
};

/* table must be normalized. errors: INVALID_TABLE_EXCEPTION (Iceberg with a key of several columns),
 * INVALID_CONFIG_EXCEPTION (an unknown lake format or kv format version). */
MUST_CHECK enum err_code table_keys_init(struct table_keys *keys, struct arena *arena,
                                         const struct table_descriptor *table, struct err *err);

/* The bucket of an encoded bucket key, by the lake format's function. bucket_count > 0. (An empty Iceberg key, on which
 * stock clients throw, has one too.) */
int32_t key_bucket(enum lake_format lake, struct slice key, int32_t bucket_count);
/* Murmur as Fluss and Paimon have it: 32 bits, seed 42, each leftover byte mixed as a word. */
int32_t murmur_fluss(struct slice bytes);

/* ---- partition names: rows.md 9; golden schemas.jsonl partition_value/..., partition_spec/... ---- */

/* The text of a value in a partition's name. errors: INVALID_ARGUMENT for a null, a DECIMAL and nested types. */
MUST_CHECK enum err_code partition_value_put(const struct type *type, const struct datum *value, struct buf *out,
                                             struct err *err);
/* The value that such a text stands for; CHAR and STRING borrow it. Fractions that the type does not hold are taken, as
 * the writer prints them. errors: PARTITION_SPEC_INVALID_EXCEPTION. */
MUST_CHECK enum err_code partition_value_parse(const struct type *type, struct slice text, struct arena *arena,
                                               struct datum *value, struct err *err);
/* "us$2024-01-02": the values in the order of the partition keys. */
void partition_name_put(const struct slice *values, uint32_t count, struct buf *out);
/* The reverse; values borrow from name. errors: PARTITION_SPEC_INVALID_EXCEPTION unless there are count of them. */
MUST_CHECK enum err_code partition_name_split(struct slice name, uint32_t count, struct slice *values, struct err *err);

#endif
