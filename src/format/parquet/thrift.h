/* Thrift's compact protocol, as far as Parquet's metadata needs it.
 *
 * A struct is its fields, each one byte (delta to the field before << 4 | type; or type, then the id zig-zag) and a
 * value, and a zero byte. Booleans are in the type. Integers are zig-zag varints, binaries have their length before
 * them, lists one byte (count << 4 | type; count 15: as a varint behind it). Private to this folder. */
#ifndef WEIR_FORMAT_PARQUET_THRIFT_H
#define WEIR_FORMAT_PARQUET_THRIFT_H

#include "base/reader.h"

#define THRIFT_DEPTH_MAX 16

enum thrift_type {
    THRIFT_STOP = 0,
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_BYTE = 3,
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_DOUBLE = 7,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_SET = 10,
    THRIFT_MAP = 11,
    THRIFT_STRUCT = 12
};

struct thrift_writer {
    struct buf *out;
    int16_t last[THRIFT_DEPTH_MAX]; /* id of the last field of each open struct */
    unsigned depth;
};

void thrift_struct_begin(struct thrift_writer *w); /* the outermost, or one in a list */
void thrift_struct_end(struct thrift_writer *w);
void thrift_field_struct(struct thrift_writer *w, int16_t id); /* ended by thrift_struct_end */
void thrift_field_bool(struct thrift_writer *w, int16_t id, bool v);
void thrift_field_byte(struct thrift_writer *w, int16_t id, int8_t v);
void thrift_field_i16(struct thrift_writer *w, int16_t id, int16_t v);
void thrift_field_i32(struct thrift_writer *w, int16_t id, int32_t v);
void thrift_field_i64(struct thrift_writer *w, int16_t id, int64_t v);
void thrift_field_binary(struct thrift_writer *w, int16_t id, struct slice v);
void thrift_field_list(struct thrift_writer *w, int16_t id, enum thrift_type item, uint32_t count);
/* Items of a list. */
void thrift_item_i32(struct thrift_writer *w, int32_t v);
void thrift_item_binary(struct thrift_writer *w, struct slice v);

/* A field while a struct is read: start with {0}. */
struct thrift_field {
    int16_t id;
    uint8_t type;
};

/* The next field of the struct; false at its end, and when the reader failed. */
bool thrift_next(struct reader *r, struct thrift_field *field);
/* The field's value; the reader fails where the field is of another type. */
bool thrift_bool(struct reader *r, const struct thrift_field *field);
int32_t thrift_i32(struct reader *r, const struct thrift_field *field);
int64_t thrift_i64(struct reader *r, const struct thrift_field *field);
struct slice thrift_binary(struct reader *r, const struct thrift_field *field);
/* The count of a list of items of the type; at least one byte an item is left then. */
uint32_t thrift_list(struct reader *r, const struct thrift_field *field, enum thrift_type item);
/* Whether the field is a struct; the reader fails where it is not. */
bool thrift_is_struct(struct reader *r, const struct thrift_field *field);
struct slice thrift_item(struct reader *r); /* a binary item */
void thrift_skip(struct reader *r, const struct thrift_field *field);

#endif
