/* The doors to the row codecs, and what they share. */
#include "format/row/row_int.h"

const struct type *row_type(struct arena *arena, const struct schema *schema)
{
    return row_type_of(arena, schema, NULL, schema->column_count);
}

const struct type *row_type_of(struct arena *arena, const struct schema *schema, const uint32_t *positions,
                               uint32_t count)
{
    struct field *fields = ARENA_NEW_ARRAY(arena, struct field, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct schema_column *column = &schema->columns[positions ? positions[i] : i];
        fields[i] = (struct field){column->name, column->type, column->id, column->comment};
    }
    struct type *row = ARENA_NEW(arena, struct type);
    *row = (struct type){.kind = TYPE_ROW, .fields = fields, .field_count = count};
    return row;
}

static bool decode(struct source *s, const struct type *row, struct slice bytes, const int32_t *places,
                   struct datum *values)
{
    switch (s->format) {
    case ROW_COMPACTED:
        return compacted_decode(s, row, bytes, places, values);
    case ROW_INDEXED:
        return indexed_decode(s, row, bytes, places, values);
    default:
        return aligned_decode(s, row, bytes, places, values);
    }
}

static enum err_code decode_any(enum row_format format, const struct type *row, struct slice bytes,
                                const int32_t *places, struct arena *arena, struct datum *values, struct err *err)
{
    struct source s = {format, arena, MIN((uint64_t)ROW_VALUES_MAX, (uint64_t)bytes.len * 8), NULL, false};
    if (decode(&s, row, bytes, places, values))
        return OK;
    enum err_code code = s.limit ? ERR_LIMIT : ERR_CORRUPT;
    return err_set(err, code, "%s (row of %zu bytes, %u columns)", s.fault, bytes.len, row->field_count);
}

enum err_code row_decode(enum row_format format, const struct type *row, struct slice bytes, struct arena *arena,
                         struct datum *values, struct err *err)
{
    return decode_any(format, row, bytes, NULL, arena, values, err);
}

enum err_code row_decode_mapped(enum row_format format, const struct row_mapping *mapping, struct slice bytes,
                                struct arena *arena, struct datum *values, struct err *err)
{
    if (mapping->places || mapping->width > mapping->from->field_count)
        for (uint32_t i = 0; i < mapping->width; i++)
            values[i].is_null = true;
    return decode_any(format, mapping->from, bytes, mapping->places, arena, values, err);
}

void row_mapping_init(struct row_mapping *mapping, struct arena *arena, const struct schema *from,
                      const struct schema *to)
{
    bool straight = from->column_count <= to->column_count;
    int32_t *places = ARENA_NEW_ARRAY(arena, int32_t, from->column_count);
    for (uint32_t i = 0; i < from->column_count; i++) {
        places[i] = schema_find_id(to, from->columns[i].id);
        straight &= places[i] == (int32_t)i;
    }
    *mapping = (struct row_mapping){row_type(arena, from), straight ? NULL : places, to->column_count};
}

static bool encode(struct sink *s, const struct type *row, const struct datum *values)
{
    switch (s->format) {
    case ROW_COMPACTED:
        return compacted_encode(s, row, values);
    case ROW_INDEXED:
        return indexed_encode(s, row, values);
    default:
        return aligned_encode(s, row, values);
    }
}

enum err_code row_encode(enum row_format format, const struct type *row, const struct datum *values, struct buf *out,
                         struct err *err)
{
    struct sink s = {format, out, NULL};
    size_t start = out->len;
    if (!encode(&s, row, values)) {
        out->len = start;
        return err_set(err, ERR_INVALID_ARGUMENT, "%s", s.fault);
    }
    size_t len = out->len - start;
    if (len <= ROW_BYTES_MAX)
        return OK;
    out->len = start;
    return err_set(err, ERR_RECORD_TOO_LARGE_EXCEPTION, "the row has %zu bytes, more than %u", len, ROW_BYTES_MAX);
}

void kv_value_put_header(struct buf *out, int16_t schema_id)
{
    buf_put_u16(out, (uint16_t)schema_id);
}

enum err_code kv_value_split(struct slice value, int16_t *schema_id, struct slice *row, struct err *err)
{
    struct reader r = reader_of(value);
    uint16_t id = reader_u16(&r);
    if (!reader_ok(&r))
        return err_set(err, ERR_CORRUPT, "a stored value of %zu bytes has no schema id", value.len);
    *schema_id = (int16_t)id;
    *row = reader_rest(&r);
    return OK;
}

/* ---- decimals as bytes ---- */

size_t decimal_to_bytes(__int128 value, uint8_t bytes[DECIMAL_BYTES_MAX])
{
    size_t len = 1;
    while (len < DECIMAL_BYTES_MAX && value >> (8 * len - 1) != (value < 0 ? -1 : 0))
        len++;
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(value >> (8 * (len - 1 - i)));
    return len;
}

bool decimal_from_bytes(struct source *s, struct slice bytes, __int128 *value)
{
    if (bytes.len < 1 || bytes.len > DECIMAL_BYTES_MAX)
        return source_fail(s, "a decimal has no bytes, or more than 16");
    unsigned __int128 bits = bytes.ptr[0] & 0x80 ? ~(unsigned __int128)0 : 0;
    for (size_t i = 0; i < bytes.len; i++)
        bits = bits << 8 | bytes.ptr[i];
    *value = (__int128)bits;
    return true;
}
