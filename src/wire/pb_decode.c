/* Bytes -> struct, driven by the table of the message. The encoding is that of protobuf (proto2):
 *
 *   message   = field*
 *   field     = tag value           tag = varint of number << 3 | format
 *   value     = varint              format 0: int32 and int64 (a negative one as the 64-bit two's complement), bool
 *             | 8 or 4 bytes, LE    format 1: double; format 5: float
 *             | varint length, bytes  format 2: string, bytes, message, packed list of varints
 *
 * Golden vectors: test/golden/frames.jsonl, test/golden/wire/frames.jsonl. */
#include "wire/wire_int.h"

#include "base/reader.h"

struct decoder {
    struct arena *arena;
    size_t bytes_left; /* of what lists and inner messages may take */
    struct err *err;
};

/* Where the pointer of an empty list leads. */
static const uint64_t no_elements[1];

static enum err_code refuse(const struct decoder *d, const struct wire_desc *desc, const struct wire_field *field,
                            const char *why)
{
    return err_set(d->err, ERR_CORRUPT_MESSAGE, "%s%s%s %s", desc->name, field ? "." : "", field ? field->name : "",
                   why);
}

static enum err_code take(struct decoder *d, const struct wire_desc *desc, size_t count, size_t size, void **ptr)
{
    size_t bytes =
        (count * size + 15) & ~(size_t)15; /* as the arena rounds; no overflow, count is less than the body */
    if (bytes > d->bytes_left)
        return err_set(d->err, ERR_LIMIT, "%s: its lists take more memory than a body of this size may", desc->name);
    d->bytes_left -= bytes;
    *ptr = arena_alloc(d->arena, bytes);
    return OK;
}

static void skip(struct reader *r, unsigned format)
{
    switch (format) {
    case WIRE_VARINT:
        reader_varint(r);
        break;
    case WIRE_FIXED64:
        reader_take(r, 8);
        break;
    case WIRE_DELIMITED:
        reader_take(r, reader_varint(r));
        break;
    case WIRE_FIXED32:
        reader_take(r, 4);
        break;
    default:
        reader_fail(r);
    }
}

static size_t varints_count(struct slice packed)
{
    size_t count = 0;
    for (size_t i = 0; i < packed.len; i++)
        count += packed.ptr[i] < 0x80;
    return count;
}

/* Lists of integers are read in both forms, however the field is declared. */
static bool is_packed(const struct wire_field *field, unsigned format)
{
    return format == WIRE_DELIMITED && (field->type == WIRE_INT32 || field->type == WIRE_INT64) && wire_is_list(field);
}

/* How many elements the field has from here to the end of the message, r being behind the first one's tag. Counting
 * before allocating costs a second walk over the tags, and saves growing: what is counted is never too little, as each
 * element is a tag, or a byte that ends a varint. */
static size_t elements_count(struct reader r, const struct wire_field *field, unsigned format)
{
    size_t count = 0;
    uint64_t tag = (uint64_t)field->number << 3 | format;
    for (;;) {
        if (tag >> 3 != field->number)
            skip(&r, tag & 7);
        else if (is_packed(field, tag & 7))
            count += varints_count(reader_slice(&r, reader_varint(&r)));
        else {
            skip(&r, tag & 7);
            count++;
        }
        if (!reader_left(&r))
            return count;
        tag = reader_varint(&r);
    }
}

static enum err_code message_decode(struct decoder *d, const struct wire_desc *desc, struct reader r, void *message,
                                    unsigned depth);

static enum err_code inner_decode(struct decoder *d, const struct wire_desc *desc, const struct wire_field *field,
                                  struct slice body, void *message, unsigned depth)
{
    if (depth == WIRE_DEPTH_MAX)
        return err_set(d->err, ERR_LIMIT, "%s.%s: more than %d messages within one another", desc->name, field->name,
                       WIRE_DEPTH_MAX);
    return message_decode(d, field->message, reader_of(body), message, depth + 1);
}

static enum err_code value_decode(struct decoder *d, const struct wire_desc *desc, const struct wire_field *field,
                                  struct reader *r, void *value, unsigned depth)
{
    struct slice bytes;
    switch ((enum wire_type)field->type) {
    case WIRE_INT32:
        *(int32_t *)value = (int32_t)reader_varint(r);
        return OK;
    case WIRE_INT64:
        *(int64_t *)value = (int64_t)reader_varint(r);
        return OK;
    case WIRE_BOOL:
        *(bool *)value = reader_varint(r) != 0;
        return OK;
    case WIRE_FLOAT:
        store_u32(value, reader_u32(r));
        return OK;
    case WIRE_DOUBLE:
        store_u64(value, reader_u64(r));
        return OK;
    case WIRE_STRING:
    case WIRE_BYTES:
    case WIRE_PIECES:
    case WIRE_MESSAGE:
        break;
    }
    bytes = reader_slice(r, reader_varint(r));
    if (!reader_ok(r))
        return refuse(d, desc, field, "is cut off");
    if (field->type == WIRE_MESSAGE)
        return inner_decode(d, desc, field, bytes, value, depth);
    if (field->type == WIRE_STRING && !slice_is_utf8(bytes))
        return refuse(d, desc, field, "is not UTF-8");
    if (field->type == WIRE_PIECES)
        *(struct wire_bytes *)value = wire_bytes_of(bytes);
    else
        *(struct slice *)value = bytes;
    return OK;
}

static enum err_code single_decode(struct decoder *d, const struct wire_desc *desc, const struct wire_field *field,
                                   struct reader *r, void *message, unsigned depth)
{
    void *value = wire_at(message, field->offset);
    if (field->label == WIRE_OPTIONAL && field->type == WIRE_MESSAGE) {
        void **inner = value;
        if (!*inner) /* one that comes again takes the place of the first */
            TRY(take(d, desc, 1, field->message->size, inner));
        value = *inner;
    } else if (field->label == WIRE_OPTIONAL) {
        *(bool *)wire_at(message, field->presence_offset) = true;
    }
    return value_decode(d, desc, field, r, value, depth);
}

static bool packed_decode(const struct wire_field *field, struct reader *r, uint8_t *elements, size_t *count)
{
    struct reader packed = reader_of(reader_slice(r, reader_varint(r)));
    while (reader_left(&packed)) {
        uint64_t v = reader_varint(&packed);
        if (!reader_ok(&packed))
            return false;
        if (field->type == WIRE_INT32)
            store_u32(elements + *count * 4, (uint32_t)v);
        else
            store_u64(elements + *count * 8, v);
        ++*count;
    }
    return reader_ok(r);
}

static enum err_code list_decode(struct decoder *d, const struct wire_desc *desc, const struct wire_field *field,
                                 struct reader *r, unsigned format, void *message, unsigned depth)
{
    void **list = wire_at(message, field->offset);
    size_t *count = wire_at(message, field->presence_offset);
    size_t size = wire_element_size(field);
    if (!*list) {
        size_t room = elements_count(*r, field, format);
        *list = (void *)(uintptr_t)no_elements;
        if (room)
            TRY(take(d, desc, room, size, list));
    }
    if (is_packed(field, format))
        return packed_decode(field, r, *list, count) ? OK : refuse(d, desc, field, "is cut off");
    TRY(value_decode(d, desc, field, r, (uint8_t *)*list + *count * size, depth));
    *count += reader_ok(r);
    return OK;
}

/* Fields come by number from all known writers: the one after the last is tried first. */
static const struct wire_field *field_find(const struct wire_desc *desc, uint64_t number, size_t *hint)
{
    for (size_t i = *hint; i < desc->field_count; i++)
        if (desc->fields[i].number == number)
            return &desc->fields[*hint = i];
    for (size_t i = 0; i < *hint; i++)
        if (desc->fields[i].number == number)
            return &desc->fields[*hint = i];
    return NULL;
}

static enum err_code field_decode(struct decoder *d, const struct wire_desc *desc, const struct wire_field *field,
                                  struct reader *r, unsigned format, void *message, unsigned depth)
{
    if (!is_packed(field, format) && format != wire_format_of(field->type))
        return refuse(d, desc, field, "has a wire type that is not its own");
    if (wire_is_list(field))
        return list_decode(d, desc, field, r, format, message, depth);
    return single_decode(d, desc, field, r, message, depth);
}

static enum err_code message_decode(struct decoder *d, const struct wire_desc *desc, struct reader r, void *message,
                                    unsigned depth)
{
    memset(message, 0, desc->size);
    uint64_t seen = 0;
    size_t hint = 0;
    while (reader_left(&r)) {
        uint64_t tag = reader_varint(&r);
        if (tag > UINT32_MAX || tag >> 3 == 0)
            reader_fail(&r);
        const struct wire_field *field = field_find(desc, tag >> 3, &hint);
        if (field) {
            TRY(field_decode(d, desc, field, &r, tag & 7, message, depth));
            seen |= 1ull << hint;
        } else {
            skip(&r, tag & 7);
        }
    }
    if (!reader_ok(&r))
        return refuse(d, desc, NULL, "is cut off or malformed");
    if ((seen & desc->required) != desc->required)
        return refuse(d, desc, &desc->fields[__builtin_ctzll(desc->required & ~seen)], "is required and missing");
    return OK;
}

enum err_code wire_decode(const struct wire_desc *desc, struct slice body, struct arena *arena, void *message,
                          struct err *err)
{
    struct decoder d = {arena, WIRE_DECODE_BYTES_BASE, err};
    if (body.len > (WIRE_DECODE_BYTES_MAX - WIRE_DECODE_BYTES_BASE) / WIRE_DECODE_BYTES_FACTOR)
        d.bytes_left = WIRE_DECODE_BYTES_MAX;
    else
        d.bytes_left += body.len * WIRE_DECODE_BYTES_FACTOR;
    return message_decode(&d, desc, reader_of(body), message, 0);
}
