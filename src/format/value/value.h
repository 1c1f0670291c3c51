/* Values in memory: one at a time (struct datum) and by column (struct column).
 *
 * A datum has no type of its own; the type travels beside it. A column is a view in the layout of Apache Arrow with the
 * units of rows.md 1, so that an Arrow record batch becomes columns without a copy and columns go into Parquet without
 * one; a column_builder grows the same thing row by row. Row codecs, JSON, comparison, hashing and SQL work on datums.
 */
#ifndef WEIR_FORMAT_VALUE_VALUE_H
#define WEIR_FORMAT_VALUE_VALUE_H

#include "format/schema/schema.h"

/* ---- one value ---- */

struct datum {
    bool is_null;
    union {
        bool boolean;
        int64_t i64; /* TINYINT..BIGINT, DATE (days), TIME (milliseconds of the day) */
        float f32;
        double f64;
        __int128 decimal;   /* unscaled */
        struct slice bytes; /* CHAR, STRING, BINARY, BYTES; borrowed */
        struct {
            int64_t millis; /* since 1970 */
            int32_t nanos;  /* within the millisecond, 0..999999 */
        } ts;
        struct {
            struct datum *items; /* ARRAY: elements; ROW: fields */
            uint32_t count;
        } list;
        struct {
            struct datum *keys;
            struct datum *values;
            uint32_t count;
        } map;
    };
};

/* A total order for values of one type: null first, numbers by value (FLOAT and DOUBLE in Java's total order: -0.0
 * below 0.0, NaN greatest), bytes unsigned, nested element by element. */
int datum_compare(const struct type *type, const struct datum *a, const struct datum *b);
bool datum_equal(const struct type *type, const struct datum *a, const struct datum *b);
/* Deep copy. */
void datum_dup(struct arena *arena, const struct type *type, const struct datum *from, struct datum *to);

/* Canonical bytes of a value, for digests: equal values of one type have equal bytes, different ones different bytes.
 * A row's trailing nulls contribute nothing, so that adding a column changes no old row's digest. */
void datum_canonical(const struct type *type, const struct datum *value, struct buf *out);
void row_canonical(const struct schema *schema, const struct datum *row, uint32_t column_count, struct buf *out);

/* The JSON that people and scripts see: numbers as numbers, DECIMAL as a number with its scale, FLOAT and DOUBLE
 * shortest form that reads back equal, bytes as hex, DATE "2024-02-29", TIME "12:34:56.789", TIMESTAMP "2024-02-29
 * 12:34:56.789", LTZ the same with "Z", ARRAY [..], MAP {"k":v} for character keys and [[k,v],..] for others, ROW {..}.
 * NaN and infinities are strings. Fractions of a second have 0, 3, 6 or 9 digits, as many as the value needs; years
 * above 9999 a '+' before them. */
void datum_to_json(const struct type *type, const struct datum *value, struct buf *out);
void row_to_json(const struct schema *schema, const struct datum *row, struct buf *out);
/* The reverse; strings are also taken for numbers, 'T' for the space in timestamps, LTZ with or without "Z". Nothing is
 * rounded: a value with more digits than its type holds is refused. A missing column is null; an unknown name is
 * refused with the nearest one. errors: INVALID_ARGUMENT naming the column. row has schema->column_count places. */
MUST_CHECK enum err_code row_from_json(struct arena *arena, const struct schema *schema, struct slice json,
                                       struct datum *row, struct err *err);

/* ---- by column ---- */

/* Read-only view; the bytes belong to somebody else and may be unaligned: use load_u32 and friends, never a cast.
 *
 *   kind                         data                               offsets
 *   BOOLEAN                      bits, least significant first      -
 *   TINYINT..BIGINT, FLOAT..     1, 2, 4, 8 bytes each, LE          -
 *   CHAR, STRING, BYTES          the bytes back to back             length + 1 of i32
 *   BINARY(n)                    n bytes each                       -
 *   DECIMAL                      16 bytes each, LE                  -
 *   DATE                         i32 days                           -
 *   TIME(p)                      p 0: i32 s; 1..3: i32 ms; 4..6: i64 us; 7..9: i64 ns
 *   TIMESTAMP(p), LTZ(p)         i64 in s, ms, us, ns by the same p -
 *   ARRAY                        children[0]: elements              length + 1 of i32, into the child
 *   MAP                          children[0], [1]: keys, values     length + 1 of i32, into both
 *   ROW                          children, one a field              -
 */
struct column {
    const struct type *type;
    uint32_t length;
    uint32_t null_count;
    const uint8_t *validity; /* bit set = value there; NULL = all there */
    const uint8_t *offsets;
    const uint8_t *data;
    size_t data_len;
    struct column *children;
};

static inline bool column_is_null(const struct column *c, uint32_t i)
{
    return c->validity && !(c->validity[i >> 3] >> (i & 7) & 1);
}

/* Value i; nested parts go into the arena, bytes stay borrowed from the column. */
void column_get(const struct column *column, uint32_t i, struct arena *arena, struct datum *out);
/* Bytes of one value in data for the fixed-width kinds, 0 for the others and for BOOLEAN. */
size_t column_width(const struct type *type);
/* Deep copy. */
void column_dup(struct arena *arena, const struct column *from, struct column *to);
/* A column of length nulls, in the arena. */
void column_nulls(struct arena *arena, const struct type *type, uint32_t length, struct column *out);

/* CHAR and STRING are to be UTF-8, those within nested values too: are they? */
bool datum_text_is_valid(const struct type *type, const struct datum *value);
/* One value a field of the ROW type: is something null that is NOT NULL, or a text not UTF-8? What is within nested
 * values may be null. errors: INVALID_ARGUMENT naming the column. */
MUST_CHECK enum err_code datum_row_check(const struct type *row, const struct datum *values, struct err *err);
bool column_text_is_valid(const struct column *column);
/* Makes them so, with U+FFFD for what is none (buf_put_text); nearly always there is nothing to do. Children are
 * altered in place. */
void column_text_repair(struct arena *arena, struct column *column);

#define COLUMN_BYTES_MAX INT32_MAX /* offsets are i32 */

struct column_builder {
    const struct type *type;
    uint32_t length;
    uint32_t null_count;
    struct buf validity; /* empty while there is no null */
    struct buf offsets;
    struct buf data;
    struct column_builder *children; /* owned */
};

void column_builder_init(struct column_builder *b, const struct type *type);
void column_builder_deinit(struct column_builder *b);
void column_builder_reset(struct column_builder *b);
/* The value as the column's unit holds it: what is finer is dropped toward the past, never rounded away from it
 * (TIMESTAMP of precision 7..9 outside 1677..2262 is ERR_INVALID_ARGUMENT, as are wrong lengths of BINARY and more than
 * COLUMN_BYTES_MAX of bytes or elements; the builder is then as before). Integers are taken to be in range. */
MUST_CHECK enum err_code column_builder_append(struct column_builder *b, const struct datum *value, struct err *err);
void column_builder_append_null(struct column_builder *b);
/* Value i of a column of an equal type, without going through a datum. The caller stays below COLUMN_BYTES_MAX. */
void column_builder_append_from(struct column_builder *b, const struct column *from, uint32_t i);
/* Forgets everything from value length on: how a row is taken back when one of its columns refuses its value. */
void column_builder_truncate(struct column_builder *b, uint32_t length);
/* Bytes of what was appended as a record batch holds it: full validity and children included. */
size_t column_builder_bytes(const struct column_builder *b);
/* A view of what was appended; valid until the next append. Child views go into the arena. */
void column_builder_view(const struct column_builder *b, struct arena *arena, struct column *out);

#endif
