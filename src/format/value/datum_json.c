/* Values as JSON for people and scripts (the forms: value.h). */
#include "base/civil.h"
#include "base/json.h"
#include "base/number.h"
#include "format/value/value.h"

static bool is_character(const struct type *type)
{
    return type->kind == TYPE_CHAR || type->kind == TYPE_STRING;
}

static void put_hex(struct buf *out, struct slice bytes)
{
    buf_put_u8(out, '"');
    buf_put_hex(out, bytes);
    buf_put_u8(out, '"');
}

static void put_timestamp(struct buf *out, const struct datum *value, bool utc)
{
    int32_t millis;
    buf_put_u8(out, '"');
    civil_put_date(out, civil_day_of_millis(value->ts.millis, &millis));
    buf_put_u8(out, ' ');
    civil_put_time(out, millis, value->ts.nanos);
    buf_put_slice(out, utc ? SLICE("Z\"") : SLICE("\""));
}

/* JSON has no NaN and no infinity. */
static void put_floating(struct buf *out, const struct type *type, const struct datum *value)
{
    double wide = type->kind == TYPE_FLOAT ? (double)value->f32 : value->f64;
    bool special = wide - wide != 0;
    if (special)
        buf_put_u8(out, '"');
    if (type->kind == TYPE_FLOAT)
        number_put_float(out, value->f32);
    else
        number_put_double(out, value->f64);
    if (special)
        buf_put_u8(out, '"');
}

static void put_array(struct buf *out, const struct type *type, const struct datum *value)
{
    buf_put_u8(out, '[');
    for (uint32_t i = 0; i < value->list.count; i++) {
        if (i > 0)
            buf_put_u8(out, ',');
        datum_to_json(type->fields[0].type, &value->list.items[i], out);
    }
    buf_put_u8(out, ']');
}

static void put_row(struct buf *out, const struct type *type, const struct datum *value)
{
    buf_put_u8(out, '{');
    for (uint32_t i = 0; i < value->list.count; i++) {
        if (i > 0)
            buf_put_u8(out, ',');
        json_put_string(out, type->fields[i].name);
        buf_put_u8(out, ':');
        datum_to_json(type->fields[i].type, &value->list.items[i], out);
    }
    buf_put_u8(out, '}');
}

static void put_map(struct buf *out, const struct type *type, const struct datum *value)
{
    bool object = is_character(type->fields[0].type);
    buf_put_u8(out, object ? '{' : '[');
    for (uint32_t i = 0; i < value->map.count; i++) {
        if (i > 0)
            buf_put_u8(out, ',');
        if (!object)
            buf_put_u8(out, '[');
        datum_to_json(type->fields[0].type, &value->map.keys[i], out);
        buf_put_u8(out, object ? ':' : ',');
        datum_to_json(type->fields[1].type, &value->map.values[i], out);
        if (!object)
            buf_put_u8(out, ']');
    }
    buf_put_u8(out, object ? '}' : ']');
}

static void put_scalar(struct buf *out, const struct type *type, const struct datum *value)
{
    switch (type->kind) {
    case TYPE_BOOLEAN:
        buf_put_slice(out, value->boolean ? SLICE("true") : SLICE("false"));
        break;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        put_floating(out, type, value);
        break;
    case TYPE_CHAR:
    case TYPE_STRING:
        json_put_string(out, value->bytes);
        break;
    case TYPE_BINARY:
    case TYPE_BYTES:
        put_hex(out, value->bytes);
        break;
    case TYPE_DECIMAL:
        number_put_decimal(out, value->decimal, type->scale);
        break;
    case TYPE_DATE:
        buf_put_u8(out, '"');
        civil_put_date(out, value->i64);
        buf_put_u8(out, '"');
        break;
    case TYPE_TIME:
        buf_put_u8(out, '"');
        civil_put_time(out, (int32_t)value->i64, 0);
        buf_put_u8(out, '"');
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        put_timestamp(out, value, type->kind == TYPE_TIMESTAMP_LTZ);
        break;
    default:
        buf_printf(out, "%lld", (long long)value->i64);
    }
}

void datum_to_json(const struct type *type, const struct datum *value, struct buf *out)
{
    if (value->is_null)
        buf_put_slice(out, SLICE("null"));
    else if (type->kind == TYPE_ARRAY)
        put_array(out, type, value);
    else if (type->kind == TYPE_MAP)
        put_map(out, type, value);
    else if (type->kind == TYPE_ROW)
        put_row(out, type, value);
    else
        put_scalar(out, type, value);
}

void row_to_json(const struct schema *schema, const struct datum *row, struct buf *out)
{
    buf_put_u8(out, '{');
    for (uint32_t i = 0; i < schema->column_count; i++) {
        if (i > 0)
            buf_put_u8(out, ',');
        json_put_string(out, schema->columns[i].name);
        buf_put_u8(out, ':');
        datum_to_json(schema->columns[i].type, &row[i], out);
    }
    buf_put_u8(out, '}');
}
