/* Values by the file's own types. */
#include "format/avro/avro_int.h"

static enum err_code cut_off(struct err *err)
{
    return err_set(err, ERR_CORRUPT, "an Avro record ends before its last field");
}

static struct slice take_bytes(struct reader *in)
{
    int64_t len = reader_zigzag(in);
    if (len < 0 || (uint64_t)len > reader_left(in))
        reader_fail(in);
    return reader_ok(in) ? reader_slice(in, (size_t)len) : (struct slice){0};
}

/* Every value costs memory even where it costs no bytes (null): a record may hold only so many. */
static enum err_code spend(uint32_t *left, uint64_t count, struct err *err)
{
    if (count > *left)
        return err_set(err, ERR_LIMIT, "an Avro record holds more than %u values", AVRO_RECORD_VALUES_MAX);
    *left -= (uint32_t)count;
    return OK;
}

static enum err_code decode_record(struct arena *arena, const struct avro_type *type, struct reader *in, unsigned depth,
                                   uint32_t *left, struct avro_value *out, struct err *err)
{
    TRY(spend(left, type->field_count, err));
    struct avro_value *items = ARENA_NEW_ARRAY(arena, struct avro_value, type->field_count);
    for (uint32_t i = 0; i < type->field_count; i++)
        TRY(avro_value_decode(arena, type->fields[i].type, in, depth + 1, left, &items[i], err));
    out->list.items = items;
    out->list.keys = NULL;
    out->list.count = type->field_count;
    return OK;
}

/* The count of a block of items: a negative one is followed by the block's length in bytes, which readers may skip by.
 */
static int64_t take_count(struct reader *in)
{
    int64_t count = reader_zigzag(in);
    if (count >= 0)
        return count;
    reader_zigzag(in);
    if (count == INT64_MIN)
        reader_fail(in);
    return reader_ok(in) ? -count : 0;
}

/* Whether any value of the type has at least one byte, so that a count can be checked against the bytes that are left.
 */
static bool has_bytes(const struct avro_type *type)
{
    return type->kind != AVRO_NULL && type->kind != AVRO_RECORD && (type->kind != AVRO_FIXED || type->size);
}

static void grow(struct arena *arena, struct avro_value *out, uint32_t extra, bool keyed)
{
    uint32_t count = out->list.count;
    struct avro_value *items = ARENA_NEW_ARRAY(arena, struct avro_value, count + extra);
    if (count)
        memcpy(items, out->list.items, count * sizeof *items);
    out->list.items = items;
    if (!keyed)
        return;
    struct slice *keys = ARENA_NEW_ARRAY(arena, struct slice, count + extra);
    if (count)
        memcpy(keys, out->list.keys, count * sizeof *keys);
    out->list.keys = keys;
}

static enum err_code decode_items(struct arena *arena, const struct avro_type *type, struct reader *in, unsigned depth,
                                  uint32_t *left, struct avro_value *out, struct err *err)
{
    bool keyed = type->kind == AVRO_MAP;
    out->list.items = NULL;
    out->list.keys = NULL;
    out->list.count = 0;
    for (;;) {
        int64_t count = take_count(in);
        if (!reader_ok(in))
            return cut_off(err);
        if (count == 0)
            return OK;
        if ((keyed || has_bytes(type->fields[0].type)) && (uint64_t)count > reader_left(in))
            return cut_off(err);
        /* Growing copies what is there: it is paid for like new values, so that many small blocks stay cheap. */
        TRY(spend(left, (uint64_t)count + out->list.count / 16, err));
        grow(arena, out, (uint32_t)count, keyed);
        for (int64_t i = 0; i < count; i++) {
            if (keyed)
                out->list.keys[out->list.count] = take_bytes(in);
            TRY(avro_value_decode(arena, type->fields[0].type, in, depth + 1, left, &out->list.items[out->list.count++],
                                  err));
        }
    }
}

static enum err_code decode_scalar(const struct avro_type *type, struct reader *in, struct avro_value *out,
                                   struct err *err)
{
    switch (type->kind) {
    case AVRO_BOOLEAN:
        out->boolean = reader_u8(in) != 0;
        break;
    case AVRO_INT:
    case AVRO_LONG:
        out->i64 = reader_zigzag(in);
        break;
    case AVRO_ENUM:
        out->i64 = reader_zigzag(in);
        if (reader_ok(in) && (out->i64 < 0 || out->i64 >= type->field_count))
            return err_set(err, ERR_CORRUPT, "an Avro enum has no symbol %lld", (long long)out->i64);
        break;
    case AVRO_FLOAT: {
        uint32_t bits = reader_u32(in);
        memcpy(&out->f32, &bits, sizeof bits);
        break;
    }
    case AVRO_DOUBLE: {
        uint64_t bits = reader_u64(in);
        memcpy(&out->f64, &bits, sizeof bits);
        break;
    }
    case AVRO_BYTES:
    case AVRO_STRING:
        out->bytes = take_bytes(in);
        break;
    case AVRO_FIXED:
        out->bytes = reader_slice(in, type->size);
        break;
    default:
        break; /* null has no bytes */
    }
    return reader_ok(in) ? OK : cut_off(err);
}

enum err_code avro_value_decode(struct arena *arena, const struct avro_type *type, struct reader *in, unsigned depth,
                                uint32_t *left, struct avro_value *out, struct err *err)
{
    if (depth > AVRO_SCHEMA_DEPTH_MAX)
        return err_set(err, ERR_LIMIT, "more than %d Avro values within one another", AVRO_SCHEMA_DEPTH_MAX);
    if (type->kind == AVRO_UNION) {
        int64_t branch = reader_zigzag(in);
        if (!reader_ok(in))
            return cut_off(err);
        if (branch < 0 || branch >= type->field_count)
            return err_set(err, ERR_CORRUPT, "an Avro union has no branch %lld", (long long)branch);
        type = type->fields[branch].type;
    }
    *out = (struct avro_value){.type = type};
    if (type->kind == AVRO_RECORD)
        return decode_record(arena, type, in, depth, left, out, err);
    if (type->kind == AVRO_ARRAY || type->kind == AVRO_MAP)
        return decode_items(arena, type, in, depth, left, out, err);
    return decode_scalar(type, in, out, err);
}

const struct avro_value *avro_field(const struct avro_value *value, const char *name)
{
    if (!value || value->type->kind != AVRO_RECORD)
        return NULL;
    for (uint32_t i = 0; i < value->list.count; i++)
        if (slice_is(value->type->fields[i].name, name))
            return &value->list.items[i];
    return NULL;
}

const struct avro_value *avro_field_id(const struct avro_value *value, int64_t field_id)
{
    if (!value || value->type->kind != AVRO_RECORD)
        return NULL;
    for (uint32_t i = 0; i < value->list.count; i++)
        if (value->type->fields[i].field_id == field_id)
            return &value->list.items[i];
    return NULL;
}

bool avro_get_i64(const struct avro_value *value, int64_t *out)
{
    if (!value || (value->type->kind != AVRO_INT && value->type->kind != AVRO_LONG))
        return false;
    *out = value->i64;
    return true;
}

bool avro_get_i32(const struct avro_value *value, int32_t *out)
{
    int64_t v;
    if (!avro_get_i64(value, &v) || v < INT32_MIN || v > INT32_MAX)
        return false;
    *out = (int32_t)v;
    return true;
}

bool avro_get_bytes(const struct avro_value *value, struct slice *out)
{
    if (!value ||
        (value->type->kind != AVRO_BYTES && value->type->kind != AVRO_STRING && value->type->kind != AVRO_FIXED))
        return false;
    *out = value->bytes;
    return true;
}
