/* Keys.
 *
 *   KEY_COMPACTED  the values of a compacted row without its null bitmap, back to back; no nulls
 *   KEY_PAIMON     an aligned row of the key columns (row kind 0), nulls allowed
 *   KEY_ICEBERG    one column, no null: the single-value form of the Iceberg specification, where
 *                  INTEGER, BIGINT, DATE: i64 LE; TIME, TIMESTAMP: i64 LE microseconds; FLOAT, DOUBLE: LE;
 *                  DECIMAL: big-endian two's complement; CHAR, STRING, BINARY, BYTES: the bytes
 *   KEY_HUDI       key_hudi.c
 *
 * Golden: keys.jsonl key/... */
#include "format/row/key_int.h"

static bool compacted_key_encode(struct sink *s, const struct type *key, const struct datum *values,
                                 const uint32_t *positions)
{
    for (uint32_t i = 0; i < key->field_count; i++) {
        const struct datum *value = key_value(values, positions, i);
        if (value->is_null)
            return sink_fail(s, "a key column is null");
        if (!compacted_field_encode(s, key->fields[i].type, value))
            return false;
    }
    return true;
}

static bool paimon_key_encode(struct sink *s, const struct type *key, const struct datum *values,
                              const uint32_t *positions)
{
    struct datum *picked = mem_alloc(key->field_count * sizeof *picked);
    for (uint32_t i = 0; i < key->field_count; i++) {
        picked[i] = *key_value(values, positions, i);
        if (type_is_nested(key->fields[i].type))
            s->fault = "a value of a nested type can not be part of a Paimon key";
    }
    bool done = !s->fault && aligned_encode(s, key, picked);
    mem_free(picked);
    return done;
}

/* ---- Iceberg ---- */

static int64_t micros_of(const struct datum *value)
{
    return (int64_t)((uint64_t)value->ts.millis * 1000u) + value->ts.nanos / 1000;
}

static bool iceberg_value_encode(struct sink *s, const struct type *type, const struct datum *value)
{
    uint8_t bytes[DECIMAL_BYTES_MAX];
    switch (type->kind) {
    case TYPE_INTEGER:
    case TYPE_BIGINT:
    case TYPE_DATE:
        buf_put_u64(s->out, (uint64_t)value->i64);
        return true;
    case TYPE_TIME:
        buf_put_u64(s->out, (uint64_t)value->i64 * 1000u);
        return true;
    case TYPE_TIMESTAMP:
        buf_put_u64(s->out, (uint64_t)micros_of(value));
        return true;
    case TYPE_FLOAT:
        buf_put(s->out, &value->f32, 4);
        return true;
    case TYPE_DOUBLE:
        buf_put(s->out, &value->f64, 8);
        return true;
    case TYPE_DECIMAL:
        buf_put(s->out, bytes, decimal_to_bytes(value->decimal, bytes));
        return true;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_BYTES:
        buf_put_slice(s->out, value->bytes);
        return true;
    default:
        return sink_fail(s, "Iceberg can not spread rows by a column of this type");
    }
}

static bool iceberg_key_encode(struct sink *s, const struct type *key, const struct datum *values,
                               const uint32_t *positions)
{
    if (key->field_count != 1)
        return sink_fail(s, "a key of an Iceberg table has exactly one column");
    const struct datum *value = key_value(values, positions, 0);
    if (value->is_null)
        return sink_fail(s, "a key column is null");
    return iceberg_value_encode(s, key->fields[0].type, value);
}

static void micros_decode(int64_t micros, struct datum *out)
{
    int64_t rest = micros % 1000;
    out->ts.millis = micros / 1000 - (rest < 0);
    out->ts.nanos = (int32_t)(rest < 0 ? rest + 1000 : rest) * 1000;
}

static bool iceberg_value_decode(struct source *s, const struct type *type, struct slice bytes, struct datum *out)
{
    struct reader r = reader_of(bytes);
    uint32_t bits32;
    uint64_t bits64;
    out->is_null = false;
    switch (type->kind) {
    case TYPE_INTEGER:
    case TYPE_BIGINT:
    case TYPE_DATE:
        out->i64 = (int64_t)reader_u64(&r);
        break;
    case TYPE_TIME:
        out->i64 = (int64_t)reader_u64(&r) / 1000;
        break;
    case TYPE_TIMESTAMP:
        micros_decode((int64_t)reader_u64(&r), out);
        break;
    case TYPE_FLOAT:
        bits32 = reader_u32(&r);
        memcpy(&out->f32, &bits32, 4);
        break;
    case TYPE_DOUBLE:
        bits64 = reader_u64(&r);
        memcpy(&out->f64, &bits64, 8);
        break;
    case TYPE_DECIMAL:
        return decimal_from_bytes(s, bytes, &out->decimal);
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_BYTES:
        out->bytes = bytes;
        return true;
    default:
        return source_fail(s, "Iceberg can not spread rows by a column of this type");
    }
    if (!reader_done(&r))
        return source_fail(s, "a key is not of the length of its type");
    bool narrow = type->kind == TYPE_INTEGER || type->kind == TYPE_DATE;
    return !narrow || out->i64 == (int32_t)out->i64 || source_fail(s, "a key of 32 bits holds more");
}

/* ---- the doors ---- */

static bool encode(struct sink *s, enum key_encoder encoder, const struct type *key, const struct datum *values,
                   const uint32_t *positions)
{
    switch (encoder) {
    case KEY_PAIMON:
        return paimon_key_encode(s, key, values, positions);
    case KEY_ICEBERG:
        return iceberg_key_encode(s, key, values, positions);
    case KEY_HUDI:
        return hudi_key_encode(s, key, values, positions);
    default:
        return compacted_key_encode(s, key, values, positions);
    }
}

enum err_code key_encode(enum key_encoder encoder, const struct type *key, const struct datum *values,
                         const uint32_t *positions, struct buf *out, struct err *err)
{
    struct sink s = {encoder == KEY_PAIMON ? ROW_ALIGNED : ROW_COMPACTED, out, NULL};
    size_t start = out->len;
    if (encode(&s, encoder, key, values, positions))
        return OK;
    out->len = start;
    return err_set(err, ERR_INVALID_ARGUMENT, "%s", s.fault);
}

static bool compacted_key_decode(struct source *s, const struct type *key, struct slice bytes, struct datum *values)
{
    struct reader r = reader_of(bytes);
    for (uint32_t i = 0; i < key->field_count; i++)
        if (!compacted_field_decode(s, &r, key->fields[i].type, &values[i]))
            return source_fail(s, s->fault ? s->fault : "a key is cut off");
    return reader_done(&r) || source_fail(s, "a key is cut off, or bytes are left behind it");
}

static bool decode(struct source *s, enum key_encoder encoder, const struct type *key, struct slice bytes,
                   struct datum *values)
{
    if (encoder == KEY_PAIMON)
        return aligned_decode(s, key, bytes, NULL, values);
    if (encoder == KEY_COMPACTED)
        return compacted_key_decode(s, key, bytes, values);
    return key->field_count == 1 ? iceberg_value_decode(s, key->fields[0].type, bytes, values)
                                 : source_fail(s, "a key of an Iceberg table has exactly one column");
}

enum err_code key_decode(enum key_encoder encoder, const struct type *key, struct slice bytes, struct arena *arena,
                         struct datum *values, struct err *err)
{
    struct source s = {encoder == KEY_PAIMON ? ROW_ALIGNED : ROW_COMPACTED, arena,
                       MIN((uint64_t)ROW_VALUES_MAX, (uint64_t)bytes.len * 8), NULL, false};
    if (encoder == KEY_HUDI)
        return err_set(err, ERR_NOT_SUPPORTED, "a Hudi key is a hash: its values can not be had back");
    if (decode(&s, encoder, key, bytes, values))
        return OK;
    return err_set(err, ERR_CORRUPT, "%s (key of %zu bytes)", s.fault, bytes.len);
}
