/* Hudi bucket keys: 4 bytes BE of h, where h = 1, then for each column h = 31 * h + (Java's hash of its text).
 *
 *   BOOLEAN true, false; integers, DATE (days), TIME (milliseconds) decimal; FLOAT, DOUBLE as Java prints them; DECIMAL
 * with its scale; characters as they are; TIMESTAMP 2024-01-02T03:04, with :05 and .123 where they are not 0; LTZ the
 * same, always with seconds, and Z
 *
 * A null counts as "__null__" in a key of one column and as 0 in one of several.
 * Golden: keys.jsonl key/hudi/... */
#include "base/civil.h"
#include "base/number.h"
#include "format/row/key_int.h"

static void timestamp_put(struct buf *out, const struct datum *value, bool utc)
{
    int32_t millis;
    civil_put_date(out, civil_day_of_millis(value->ts.millis, &millis));
    buf_put_u8(out, 'T');
    if (!utc && millis % 60000 == 0 && value->ts.nanos == 0)
        buf_printf(out, "%02d:%02d", millis / 3600000, millis / 60000 % 60);
    else
        civil_put_time(out, millis, value->ts.nanos);
    if (utc)
        buf_put_u8(out, 'Z');
}

static bool text_put(struct sink *s, const struct type *type, const struct datum *value, struct buf *out)
{
    switch (type->kind) {
    case TYPE_BOOLEAN:
        buf_put_slice(out, value->boolean ? SLICE("true") : SLICE("false"));
        return true;
    case TYPE_FLOAT:
        number_put_java_float(out, value->f32);
        return true;
    case TYPE_DOUBLE:
        number_put_java_double(out, value->f64);
        return true;
    case TYPE_CHAR:
    case TYPE_STRING:
        buf_put_slice(out, value->bytes);
        return true;
    case TYPE_DECIMAL:
        number_put_decimal(out, value->decimal, type->scale);
        return true;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        timestamp_put(out, value, type->kind == TYPE_TIMESTAMP_LTZ);
        return true;
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INTEGER:
    case TYPE_BIGINT:
    case TYPE_DATE:
    case TYPE_TIME:
        buf_printf(out, "%lld", (long long)value->i64);
        return true;
    default:
        return sink_fail(s, "Hudi can not spread rows by a column of this type");
    }
}

/* The code point of the sequence at the front; what is not UTF-8 counts as U+FFFD, byte by byte. */
static uint32_t take_code_point(struct slice *text)
{
    static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    ASSERT(text->ptr && text->len > 0);
    size_t len = slice_utf8_sequence(*text);
    uint32_t point = len ? text->ptr[0] & masks[len] : 0xfffd;
    for (size_t i = 1; i < len; i++)
        point = point << 6 | (text->ptr[i] & 0x3f);
    len = MAX(len, (size_t)1);
    *text = slice_of(text->ptr + len, text->len - len);
    return point;
}

/* Java's String.hashCode, which runs over UTF-16 units. */
static uint32_t java_hash(struct slice text)
{
    uint32_t h = 0;
    while (text.len > 0) {
        uint32_t point = take_code_point(&text);
        if (point >= 0x10000) {
            h = 31 * h + (0xd800 + ((point - 0x10000) >> 10));
            point = 0xdc00 + ((point - 0x10000) & 0x3ff);
        }
        h = 31 * h + point;
    }
    return h;
}

/* Several columns are joined by commas in Hudi, with two words for what has no text. */
static bool is_ambiguous(struct slice text)
{
    return text.ptr && (memchr(text.ptr, ',', text.len) || slice_is(text, "__null__") || slice_is(text, "__empty__"));
}

static bool column_hash(struct sink *s, const struct type *type, const struct datum *value, bool alone, uint32_t *hash)
{
    struct buf text = {0};
    *hash = alone ? java_hash(SLICE("__null__")) : 0;
    if (value->is_null)
        return true;
    bool done = text_put(s, type, value, &text);
    if (done && !alone && is_ambiguous(buf_view(&text)))
        done = sink_fail(s, "a value of a Hudi key of several columns holds a comma or one of Hudi's own words");
    *hash = java_hash(buf_view(&text));
    buf_deinit(&text);
    return done;
}

bool hudi_key_encode(struct sink *s, const struct type *key, const struct datum *values, const uint32_t *positions)
{
    uint32_t h = 1;
    for (uint32_t i = 0; i < key->field_count; i++) {
        uint32_t hash;
        if (!column_hash(s, key->fields[i].type, key_value(values, positions, i), key->field_count == 1, &hash))
            return false;
        h = 31 * h + hash;
    }
    buf_put_u32_be(s->out, h);
    return true;
}
