/* Directories of partitions: NAME=TEXT/ for each column, the text that of a cast to a string in SQL.
 * Null, and a text of nothing but white space, is __DEFAULT_PARTITION__. Both name and text are escaped: %XX for
 * control bytes and for those that stand for something in paths. Golden: paimon_rows.jsonl partition/..., plain_path.
 */
#include "base/civil.h"
#include "base/number.h"
#include "lake/paimon/row_int.h"

#include <stdio.h>

static void escape(struct buf *out, struct slice text)
{
    static const char special[] = "\"#%'*/:=?\\{}[]^\x7f";
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c < 0x20 || strchr(special, c))
            buf_printf(out, "%%%02X", c);
        else
            buf_put_u8(out, c);
    }
}

/* digits of the fraction of a second, cut. */
static void put_fraction(struct buf *out, int32_t millis, int32_t nanos, int32_t digits)
{
    char text[16];
    snprintf(text, sizeof text, "%03d%06d", millis, nanos);
    buf_put_u8(out, '.');
    buf_put(out, text, (size_t)digits);
}

static void put_seconds(struct buf *out, int32_t millis_of_day)
{
    int32_t seconds = millis_of_day / 1000;
    buf_printf(out, "%02d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

/* As Paimon prints a time: up to precision digits, zeros at the end left out but for the first. */
static void put_time(struct buf *out, const struct type *type, int32_t millis_of_day)
{
    int32_t rest = millis_of_day % 1000, digits = MIN(type->precision, 3);
    put_seconds(out, millis_of_day);
    if (digits == 0)
        return;
    put_fraction(out, rest, 0, digits);
    for (; digits > 1 && out->ptr[out->len - 1] == '0'; digits--)
        out->len--;
}

static void put_timestamp(struct buf *out, const struct type *type, const struct datum *value)
{
    int32_t millis;
    civil_put_date(out, civil_day_of_millis(value->ts.millis, &millis));
    buf_put_u8(out, ' ');
    put_seconds(out, millis);
    if (type->precision > 0)
        put_fraction(out, millis % 1000, value->ts.nanos, type->precision);
}

static void put_text(struct buf *out, const struct type *type, const struct datum *value)
{
    switch (type->kind) {
    case TYPE_BOOLEAN:
        buf_put_slice(out, value->boolean ? SLICE("true") : SLICE("false"));
        break;
    case TYPE_FLOAT:
        number_put_java_float(out, value->f32);
        break;
    case TYPE_DOUBLE:
        number_put_java_double(out, value->f64);
        break;
    case TYPE_CHAR:
    case TYPE_STRING:
        buf_put_slice(out, value->bytes);
        break;
    case TYPE_BINARY:
    case TYPE_BYTES:
        buf_put_text(out, value->bytes);
        break;
    case TYPE_DECIMAL:
        number_put_decimal(out, value->decimal, type->scale);
        break;
    case TYPE_DATE:
        civil_put_date(out, value->i64);
        break;
    case TYPE_TIME:
        put_time(out, type, (int32_t)value->i64);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        put_timestamp(out, type, value);
        break;
    default:
        ASSERT(!type_is_nested(type));
        buf_printf(out, "%lld", (long long)value->i64);
    }
}

static bool is_blank(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < 9 || (text.ptr[i] > 13 && text.ptr[i] < 28) || text.ptr[i] > ' ')
            return false;
    return true;
}

bool paimon_partition_is_obscure(const struct type *partition)
{
    for (uint32_t i = 0; i < partition->field_count; i++) {
        enum type_kind kind = partition->fields[i].type->kind;
        if (kind == TYPE_TIMESTAMP_LTZ || kind == TYPE_BINARY || kind == TYPE_BYTES)
            return true;
    }
    return false;
}

void paimon_partition_path(const struct type *partition, const struct datum *values, struct buf *out)
{
    struct buf text = {0};
    for (uint32_t i = 0; i < partition->field_count; i++) {
        buf_reset(&text);
        if (!values[i].is_null)
            put_text(&text, partition->fields[i].type, &values[i]);
        escape(out, partition->fields[i].name);
        buf_put_u8(out, '=');
        escape(out, is_blank(buf_view(&text)) ? SLICE("__DEFAULT_PARTITION__") : buf_view(&text));
        buf_put_u8(out, '/');
    }
    buf_deinit(&text);
}
