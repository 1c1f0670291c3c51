#include "wire/wire_int.h"

enum wire_format wire_format_of(enum wire_type type)
{
    switch (type) {
    case WIRE_INT32:
    case WIRE_INT64:
    case WIRE_BOOL:
        return WIRE_VARINT;
    case WIRE_FLOAT:
        return WIRE_FIXED32;
    case WIRE_DOUBLE:
        return WIRE_FIXED64;
    case WIRE_STRING:
    case WIRE_BYTES:
    case WIRE_PIECES:
    case WIRE_MESSAGE:
        break;
    }
    return WIRE_DELIMITED;
}

size_t wire_element_size(const struct wire_field *field)
{
    switch ((enum wire_type)field->type) {
    case WIRE_BOOL:
        return sizeof(bool);
    case WIRE_INT32:
    case WIRE_FLOAT:
        return 4;
    case WIRE_INT64:
    case WIRE_DOUBLE:
        return 8;
    case WIRE_STRING:
    case WIRE_BYTES:
        return sizeof(struct slice);
    case WIRE_PIECES:
        return sizeof(struct wire_bytes);
    case WIRE_MESSAGE:
        break;
    }
    return field->message->size;
}

bool wire_field_present(const struct wire_field *field, const void *message)
{
    switch ((enum wire_label)field->label) {
    case WIRE_REQUIRED:
        return true;
    case WIRE_REPEATED:
        return wire_count_at(message, field->presence_offset) > 0;
    case WIRE_PACKED:
        return wire_pointer_at(message, field->offset) != NULL;
    case WIRE_OPTIONAL:
        break;
    }
    if (field->type == WIRE_MESSAGE)
        return wire_pointer_at(message, field->offset) != NULL;
    return *(const bool *)wire_at_const(message, field->presence_offset);
}

const void *wire_field_value(const struct wire_field *field, const void *message)
{
    if (field->type == WIRE_MESSAGE && field->label == WIRE_OPTIONAL)
        return wire_pointer_at(message, field->offset);
    return wire_at_const(message, field->offset);
}

size_t wire_bytes_len(const struct wire_bytes *bytes)
{
    size_t len = bytes->piece_count ? 0 : bytes->bytes.len;
    for (size_t i = 0; i < bytes->piece_count; i++)
        len += bytes->pieces[i].len;
    return len;
}

void wire_bytes_release(struct wire_bytes *bytes)
{
    for (size_t i = 0; i < bytes->piece_count; i++)
        if (bytes->pieces[i].release)
            bytes->pieces[i].release(bytes->pieces[i].owner);
    bytes->piece_count = 0;
}

static void field_release(const struct wire_field *field, void *value)
{
    if (field->type == WIRE_PIECES)
        wire_bytes_release(value);
    else if (field->type == WIRE_MESSAGE)
        wire_message_release(field->message, value);
}

void wire_message_release(const struct wire_desc *desc, void *message)
{
    for (size_t i = 0; i < desc->field_count; i++) {
        const struct wire_field *field = &desc->fields[i];
        if (field->type != WIRE_PIECES && field->type != WIRE_MESSAGE)
            continue;
        void *value = wire_at(message, field->offset);
        if (field->type == WIRE_MESSAGE && field->label != WIRE_REQUIRED)
            value = wire_pointer_at(message, field->offset);
        size_t count = wire_is_list(field) ? wire_count_at(message, field->presence_offset) : value != NULL;
        size_t size = wire_element_size(field);
        for (size_t k = 0; k < count; k++)
            field_release(field, (uint8_t *)value + k * size);
    }
}
