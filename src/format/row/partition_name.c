/* Texts of values in partition names: letters, digits, '-' and '_' as far as the type allows.
 *
 *   CHAR, STRING       as it is
 *   BOOLEAN, integers  true, false, decimal
 *   BINARY, BYTES      hexadecimal, lower case
 *   FLOAT, DOUBLE      as Java prints them with '_' for '.': 1_0E10; NaN, Inf, -Inf
 *   DATE               2024-01-02; years above 9999 without a '+'
 *   TIME               12-34-56_789
 *   TIMESTAMP, LTZ     2024-01-02-03-04-05_ and the fraction of a second without trailing zeros; LTZ in UTC
 *
 * A name is the values of all partition keys with '$' between them. */
#include "base/civil.h"
#include "base/number.h"
#include "format/row/row.h"

#include <stdio.h>

/* ---- writing ---- */

static void put_floating(const struct type *type, const struct datum *value, struct buf *out)
{
    double wide = type->kind == TYPE_FLOAT ? (double)value->f32 : value->f64;
    if (wide - wide != 0) {
        buf_put_slice(out, wide != wide ? SLICE("NaN") : wide > 0 ? SLICE("Inf") : SLICE("-Inf"));
        return;
    }
    size_t start = out->len;
    if (type->kind == TYPE_FLOAT)
        number_put_java_float(out, value->f32);
    else
        number_put_java_double(out, value->f64);
    for (size_t i = start; i < out->len; i++)
        if (out->ptr[i] == '.')
            out->ptr[i] = '_';
}

static void put_clock(struct buf *out, int32_t millis_of_day)
{
    int32_t seconds = millis_of_day / 1000;
    buf_printf(out, "%02d-%02d-%02d_", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

static void put_timestamp(const struct datum *value, struct buf *out)
{
    int32_t millis;
    char fraction[24];
    civil_put_date(out, civil_day_of_millis(value->ts.millis, &millis));
    buf_put_u8(out, '-');
    put_clock(out, millis);
    snprintf(fraction, sizeof fraction, "%03d%06d", millis % 1000, value->ts.nanos);
    size_t digits = 9;
    while (digits > 0 && fraction[digits - 1] == '0')
        digits--;
    buf_put(out, fraction, digits);
}

static void put_date(const struct datum *value, struct buf *out)
{
    struct buf text = {0};
    civil_put_date(&text, value->i64);
    struct slice plain = buf_view(&text);
    if (plain.ptr[0] == '+')
        plain = slice_of(plain.ptr + 1, plain.len - 1);
    buf_put_slice(out, plain);
    buf_deinit(&text);
}

enum err_code partition_value_put(const struct type *type, const struct datum *value, struct buf *out, struct err *err)
{
    if (value->is_null)
        return err_set(err, ERR_INVALID_ARGUMENT, "a partition key is null");
    switch (type->kind) {
    case TYPE_BOOLEAN:
        buf_put_slice(out, value->boolean ? SLICE("true") : SLICE("false"));
        return OK;
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INTEGER:
    case TYPE_BIGINT:
        buf_printf(out, "%lld", (long long)value->i64);
        return OK;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        put_floating(type, value, out);
        return OK;
    case TYPE_CHAR:
    case TYPE_STRING:
        buf_put_slice(out, value->bytes);
        return OK;
    case TYPE_BINARY:
    case TYPE_BYTES:
        buf_put_hex(out, value->bytes);
        return OK;
    case TYPE_DATE:
        put_date(value, out);
        return OK;
    case TYPE_TIME:
        put_clock(out, (int32_t)value->i64);
        buf_printf(out, "%03d", (int32_t)value->i64 % 1000);
        return OK;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        put_timestamp(value, out);
        return OK;
    default:
        return err_set(err, ERR_INVALID_ARGUMENT, "a partition key can not be of type %s",
                       type_kind_json_name(type->kind));
    }
}

/* ---- reading ---- */

static bool parse_integer(const struct type *type, struct slice text, struct datum *value)
{
    static const int64_t most[] = {
        [TYPE_TINYINT] = INT8_MAX, [TYPE_SMALLINT] = INT16_MAX, [TYPE_INTEGER] = INT32_MAX, [TYPE_BIGINT] = INT64_MAX};
    return slice_to_i64(text, &value->i64) && value->i64 <= most[type->kind] && value->i64 >= -most[type->kind] - 1;
}

static bool parse_floating(const struct type *type, struct slice text, struct datum *value)
{
    char plain[64];
    if (text.len >= sizeof plain)
        return false;
    for (size_t i = 0; i < text.len; i++)
        plain[i] = text.ptr[i] == '_' ? '.' : (char)text.ptr[i];
    struct slice number = slice_of(plain, text.len);
    if (slice_is(text, "Inf"))
        number = SLICE("Infinity");
    else if (slice_is(text, "-Inf"))
        number = SLICE("-Infinity");
    return type->kind == TYPE_FLOAT ? number_to_float(number, &value->f32) : number_to_double(number, &value->f64);
}

static int hex_digit(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_hex(struct slice text, struct arena *arena, struct datum *value)
{
    uint8_t *bytes = arena_alloc(arena, text.len / 2);
    for (size_t i = 0; i + 1 < text.len; i += 2) {
        int high = hex_digit(text.ptr[i]), low = hex_digit(text.ptr[i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    value->bytes = slice_of(bytes, text.len / 2);
    return text.len % 2 == 0;
}

/* "12-34-56_" and up to nine digits, of which there may be none. */
static bool parse_clock(struct slice text, int32_t *millis, int32_t *nanos)
{
    char plain[20];
    if (text.len < 9 || text.len > 18 || text.ptr[2] != '-' || text.ptr[5] != '-' || text.ptr[8] != '_')
        return false;
    memcpy(plain, text.ptr, text.len);
    plain[2] = plain[5] = ':';
    plain[8] = '.';
    return civil_parse_time(slice_of(plain, text.len == 9 ? 8 : text.len), millis, nanos);
}

static bool parse_time(struct slice text, struct datum *value)
{
    int32_t millis, nanos;
    if (!parse_clock(text, &millis, &nanos) || nanos != 0)
        return false;
    value->i64 = millis;
    return true;
}

static bool parse_timestamp(struct slice text, struct datum *value)
{
    static const int64_t days_max = INT64_MAX / CIVIL_DAY_MS - 1;
    int64_t days;
    int32_t millis;
    size_t end = text.len;
    while (end > 0 && text.ptr[end - 1] != '_')
        end--;
    if (end < 10) /* "-12-34-56_" and a date before it */
        return false;
    struct slice date = slice_of(text.ptr, end - 10), clock = slice_of(text.ptr + end - 9, text.len - (end - 9));
    if (text.ptr[end - 10] != '-' || !civil_parse_date(date, &days) || days < -days_max || days > days_max ||
        !parse_clock(clock, &millis, &value->ts.nanos))
        return false;
    value->ts.millis = days * CIVIL_DAY_MS + millis;
    return true;
}

static bool parse(const struct type *type, struct slice text, struct arena *arena, struct datum *value)
{
    switch (type->kind) {
    case TYPE_BOOLEAN:
        value->boolean = slice_is(text, "true");
        return value->boolean || slice_is(text, "false");
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INTEGER:
    case TYPE_BIGINT:
        return parse_integer(type, text, value);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return parse_floating(type, text, value);
    case TYPE_CHAR:
    case TYPE_STRING:
        value->bytes = text;
        return true;
    case TYPE_BINARY:
    case TYPE_BYTES:
        return parse_hex(text, arena, value);
    case TYPE_DATE:
        return civil_parse_date(text, &value->i64) && value->i64 >= INT32_MIN && value->i64 <= INT32_MAX;
    case TYPE_TIME:
        return parse_time(text, value);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        return parse_timestamp(text, value);
    default:
        return false;
    }
}

enum err_code partition_value_parse(const struct type *type, struct slice text, struct arena *arena,
                                    struct datum *value, struct err *err)
{
    struct datum read = {0};
    if (!parse(type, text, arena, &read))
        return err_set(err, ERR_PARTITION_SPEC_INVALID_EXCEPTION, "\"%.*s\" is not a partition value of type %s",
                       (int)MIN(text.len, (size_t)NAME_BYTES_MAX), (const char *)text.ptr,
                       type_kind_json_name(type->kind));
    *value = read;
    return OK;
}

/* ---- names ---- */

void partition_name_put(const struct slice *values, uint32_t count, struct buf *out)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buf_put_u8(out, '$');
        buf_put_slice(out, values[i]);
    }
}

enum err_code partition_name_split(struct slice name, uint32_t count, struct slice *values, struct err *err)
{
    uint32_t found = 1;
    for (size_t i = 0; i < name.len; i++)
        found += name.ptr[i] == '$';
    if (found != count)
        return err_set(err, ERR_PARTITION_SPEC_INVALID_EXCEPTION, "the partition name \"%.*s\" has %u values, not %u",
                       (int)MIN(name.len, (size_t)NAME_BYTES_MAX), (const char *)name.ptr, found, count);
    size_t start = 0;
    for (uint32_t v = 0; v < count; v++) {
        size_t end = start;
        while (end < name.len && name.ptr[end] != '$')
            end++;
        values[v] = slice_of(name.ptr + start, end - start);
        start = end + 1;
    }
    return OK;
}
