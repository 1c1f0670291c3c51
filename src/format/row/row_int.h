/* For src/format/row alone: what the codecs of rows, arrays and maps share. */
#ifndef WEIR_FORMAT_ROW_ROW_INT_H
#define WEIR_FORMAT_ROW_ROW_INT_H

#include "base/reader.h"
#include "format/row/row.h"

/* A row being read. Functions that read give false after saying what is wrong. */
struct source {
    enum row_format format;
    struct arena *arena;
    uint64_t values_left; /* nested ones that may still come */
    const char *fault;
    bool limit; /* the fault is that values_left was used up */
};

static inline bool source_fail(struct source *s, const char *fault)
{
    s->fault = fault;
    return false;
}

/* A row being written. */
struct sink {
    enum row_format format;
    struct buf *out;
    const char *fault;
};

static inline bool sink_fail(struct sink *s, const char *fault)
{
    s->fault = fault;
    return false;
}

/* places as in struct row_mapping. */
bool compacted_decode(struct source *s, const struct type *row, struct slice bytes, const int32_t *places,
                      struct datum *values);
bool compacted_encode(struct sink *s, const struct type *row, const struct datum *values);
bool indexed_decode(struct source *s, const struct type *row, struct slice bytes, const int32_t *places,
                    struct datum *values);
bool indexed_encode(struct sink *s, const struct type *row, const struct datum *values);
bool aligned_decode(struct source *s, const struct type *row, struct slice bytes, const int32_t *places,
                    struct datum *values);
bool aligned_encode(struct sink *s, const struct type *row, const struct datum *values);

/* One value of a compacted row, which is also its key form. */
bool compacted_field_decode(struct source *s, struct reader *r, const struct type *type, struct datum *out);
bool compacted_field_encode(struct sink *s, const struct type *type, const struct datum *value);

/* ARRAY, MAP, ROW in the source's format; bytes are exactly the value's. */
bool nested_decode(struct source *s, const struct type *type, struct slice bytes, struct datum *out);
bool nested_encode(struct sink *s, const struct type *type, const struct datum *value);
/* Room for count nested values, or NULL and a fault. */
struct datum *nested_values(struct source *s, uint64_t count);

/* A value in a fixed slot of at most 8 bytes, or behind it in the variable part of whole. */
bool slot_decode(struct source *s, const struct type *type, const uint8_t *slot, struct slice whole, struct datum *out);
/* The slot lies at out->ptr[slot] and is zero; the variable part grows at the end, in units of 8 bytes from base. */
bool slot_encode(struct sink *s, const struct type *type, const struct datum *value, size_t base, size_t slot);

/* DECIMAL beyond 18 digits as bytes: big-endian two's complement, as few as hold it. */
#define DECIMAL_BYTES_MAX 16
size_t decimal_to_bytes(__int128 value, uint8_t bytes[DECIMAL_BYTES_MAX]);
bool decimal_from_bytes(struct source *s, struct slice bytes, __int128 *value);

static inline bool decimal_is_compact(const struct type *type)
{
    return type->precision <= 18;
}

static inline bool timestamp_is_compact(const struct type *type)
{
    return type->precision <= 3;
}

static inline struct datum *place_of(const int32_t *places, uint32_t i, struct datum *values, struct datum *dropped)
{
    if (!places)
        return &values[i];
    return places[i] < 0 ? dropped : &values[places[i]];
}

static inline int64_t signed_byte(uint8_t byte)
{
    return (int64_t)(byte ^ 0x80u) - 0x80;
}

static inline bool nanos_are_valid(int64_t nanos)
{
    return nanos >= 0 && nanos <= 999999;
}

#endif
