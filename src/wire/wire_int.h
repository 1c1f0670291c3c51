/* What the files of wire share among themselves. */
#ifndef WEIR_WIRE_WIRE_INT_H
#define WEIR_WIRE_WIRE_INT_H

#include "wire/wire.h"

/* Wire types of protobuf: the low three bits of a tag. 3 and 4 (groups) are not used by the protocol and refused. */
enum wire_format { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_DELIMITED = 2, WIRE_FIXED32 = 5 };

enum wire_format wire_format_of(enum wire_type type);
/* Bytes that an element of a list takes in memory. */
size_t wire_element_size(const struct wire_field *field);

static inline void *wire_at(void *message, uint16_t offset)
{
    return (uint8_t *)message + offset;
}

static inline const void *wire_at_const(const void *message, uint16_t offset)
{
    return (const uint8_t *)message + offset;
}

static inline void *wire_pointer_at(const void *message, uint16_t offset)
{
    return *(void *const *)wire_at_const(message, offset);
}

static inline size_t wire_count_at(const void *message, uint16_t offset)
{
    return *(const size_t *)wire_at_const(message, offset);
}

static inline bool wire_is_list(const struct wire_field *field)
{
    return field->label == WIRE_REPEATED || field->label == WIRE_PACKED;
}

/* The field is written: always for a required one, else when it is set. A list is when its pointer is: an empty packed
 * one goes out as a field of length 0 then, as Java writes it. */
bool wire_field_present(const struct wire_field *field, const void *message);
/* The value of a present field that is no list; for a message the struct itself. */
const void *wire_field_value(const struct wire_field *field, const void *message);

/* Encoded bytes were added to out->bytes: makes them part of what is to be sent. */
void wire_out_flush(struct wire_out *out);
/* The piece goes behind everything that was flushed; out owns it now. */
void wire_out_push(struct wire_out *out, struct wire_piece piece);

/* The encoder in two steps, so that a frame's length can be written before the message: first the length of the
 * message, which leaves the lengths of its inner ones in out->sizes, then the message itself with those. */
uint64_t wire_message_measure(struct wire_out *out, const struct wire_desc *desc, const void *message);
void wire_message_write(struct wire_out *out, const struct wire_desc *desc, void *message);

#endif
