/* JSON as values: the reverse of datum_json.c, by the type that is expected. */
#include "base/civil.h"
#include "base/json_scan.h"
#include "base/number.h"
#include "base/vec.h"
#include "format/value/value.h"

struct input {
    struct json_scan scan;
    struct arena *arena;
    const char *fault;   /* of a value; the scan has its own */
    struct slice column; /* the top-level one being read */
    struct err *err;
};

static bool refuse(struct input *in, const char *fault)
{
    in->fault = fault;
    return false;
}

static bool value_read(struct input *in, const struct type *type, struct datum *out);

/* ---- scalars ---- */

/* A number as it stands, or the text of a string. */
static bool scalar_text(struct input *in, struct slice *text)
{
    if (json_scan_peek(&in->scan) == JSON_STRING)
        return json_scan_string(&in->scan, in->arena, text);
    return json_scan_number(&in->scan, text);
}

/* Shorter ones are stored as they are, as by other clients. */
static bool text_read(struct input *in, const struct type *type, struct datum *out)
{
    struct slice text = {0};
    if (!json_scan_string(&in->scan, in->arena, &text))
        return false;
    out->bytes = arena_dup(in->arena, text);
    return type->kind != TYPE_CHAR || slice_utf8_length(text) <= (size_t)type->length ||
           refuse(in, "the text has more characters than the type");
}

static bool boolean_read(struct input *in, struct datum *out)
{
    enum json_piece piece = json_scan_peek(&in->scan);
    struct slice text = {0};
    if (piece == JSON_STRING) {
        if (!json_scan_string(&in->scan, in->arena, &text))
            return false;
        out->boolean = slice_is(text, "true");
        return out->boolean || slice_is(text, "false") || refuse(in, "true or false is expected");
    }
    out->boolean = piece == JSON_TRUE;
    return (piece == JSON_TRUE || piece == JSON_FALSE) ? json_scan_word(&in->scan)
                                                       : refuse(in, "true or false is expected");
}

static bool integer_of(struct input *in, const struct type *type, struct slice text, struct datum *out)
{
    unsigned bits = type->kind == TYPE_TINYINT    ? 8
                    : type->kind == TYPE_SMALLINT ? 16
                    : type->kind == TYPE_INTEGER  ? 32
                                                  : 64;
    int64_t most = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
    if (!slice_to_i64(text, &out->i64))
        return refuse(in, "a whole number is expected");
    return (out->i64 <= most && out->i64 >= -most - 1) || refuse(in, "the number is out of the type's range");
}

static int hex_digit(uint8_t c)
{
    uint8_t folded = c | 0x20;
    return c >= '0' && c <= '9' ? c - '0' : folded >= 'a' && folded <= 'f' ? folded - 'a' + 10 : -1;
}

static bool bytes_of(struct input *in, const struct type *type, struct slice text, struct datum *out)
{
    uint8_t *bytes = arena_alloc(in->arena, text.len / 2);
    for (size_t i = 0; i + 1 < text.len; i += 2) {
        int high = hex_digit(text.ptr[i]), low = hex_digit(text.ptr[i + 1]);
        if (high < 0 || low < 0)
            return refuse(in, "bytes are written as hexadecimal digits");
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    if (text.len % 2)
        return refuse(in, "bytes are written as pairs of hexadecimal digits");
    if (type->kind == TYPE_BINARY && text.len / 2 != (size_t)type->length)
        return refuse(in, "the bytes are not as many as the type says");
    out->bytes = slice_of(bytes, text.len / 2);
    return true;
}

static bool date_of(struct input *in, struct slice text, struct datum *out)
{
    if (!civil_parse_date(text, &out->i64))
        return refuse(in, "a date like \"2024-02-29\" is expected");
    return (out->i64 >= INT32_MIN && out->i64 <= INT32_MAX) || refuse(in, "the date is out of range");
}

/* What the precision can not hold must be 0. */
static bool nanos_fit(int32_t precision, int32_t millis_of_day, int32_t nanos_of_milli)
{
    int64_t nanos = (int64_t)(millis_of_day % 1000) * 1000000 + nanos_of_milli, unit = 1;
    for (int32_t p = precision; p < 9; p++)
        unit *= 10;
    return nanos % unit == 0;
}

static bool time_of(struct input *in, const struct type *type, struct slice text, struct datum *out)
{
    int32_t millis, nanos;
    if (!civil_parse_time(text, &millis, &nanos))
        return refuse(in, "a time like \"12:34:56.789\" is expected");
    out->i64 = millis;
    if (nanos)
        return refuse(in, "a TIME holds milliseconds, no more digits");
    return nanos_fit(type->precision, millis, 0) || refuse(in, "the time has more digits than the type's precision");
}

static bool timestamp_of(struct input *in, const struct type *type, struct slice text, struct datum *out)
{
    static const int64_t days_max = INT64_MAX / CIVIL_DAY_MS - 1;
    int64_t days;
    int32_t millis;
    size_t split = 0;
    if (type->kind == TYPE_TIMESTAMP_LTZ && slice_ends_with(text, SLICE("Z")))
        text.len--;
    while (split < text.len && text.ptr[split] != ' ' && text.ptr[split] != 'T')
        split++;
    struct slice date = slice_of(text.ptr, split), time = slice_of(text.ptr + split, text.len - split);
    if (time.len == 0 || !civil_parse_date(date, &days) ||
        !civil_parse_time(slice_of(time.ptr + 1, time.len - 1), &millis, &out->ts.nanos))
        return refuse(in, "a timestamp like \"2024-02-29 12:34:56.789\" is expected");
    if (days < -days_max || days > days_max)
        return refuse(in, "the timestamp is out of range");
    out->ts.millis = days * CIVIL_DAY_MS + millis;
    return nanos_fit(type->precision, millis, out->ts.nanos) ||
           refuse(in, "the timestamp has more digits than the type's precision");
}

static bool scalar_of(struct input *in, const struct type *type, struct slice text, struct datum *out)
{
    switch (type->kind) {
    case TYPE_FLOAT:
        return number_to_float(text, &out->f32) || refuse(in, "a number is expected");
    case TYPE_DOUBLE:
        return number_to_double(text, &out->f64) || refuse(in, "a number is expected");
    case TYPE_BINARY:
    case TYPE_BYTES:
        return bytes_of(in, type, text, out);
    case TYPE_DECIMAL:
        return number_to_decimal(text, type->precision, type->scale, &out->decimal) ||
               refuse(in, "a number with no more digits than the type has is expected");
    case TYPE_DATE:
        return date_of(in, text, out);
    case TYPE_TIME:
        return time_of(in, type, text, out);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        return timestamp_of(in, type, text, out);
    default:
        return integer_of(in, type, text, out);
    }
}

/* ---- nested ---- */

struct datums {
    struct datum *ptr;
    size_t len;
    size_t cap;
};

static struct datum *kept(struct input *in, const struct datums *list)
{
    struct datum *items = ARENA_NEW_ARRAY(in->arena, struct datum, list->len);
    if (list->len)
        memcpy(items, list->ptr, list->len * sizeof *items);
    return items;
}

static bool array_items(struct input *in, const struct type *element, struct datums *items)
{
    bool first = true;
    if (!json_scan_byte(&in->scan, '['))
        return false;
    while (json_scan_more(&in->scan, ']', &first)) {
        struct datum item;
        if (!value_read(in, element, &item))
            return false;
        vec_push(items, item);
    }
    return !in->scan.fault;
}

static bool array_read(struct input *in, const struct type *type, struct datum *out)
{
    struct datums items = {0};
    bool done = array_items(in, type->fields[0].type, &items);
    out->list.items = kept(in, &items);
    out->list.count = (uint32_t)items.len;
    vec_deinit(&items);
    return done;
}

static bool object_entry(struct input *in, const struct type *type, struct datum *key, struct datum *value)
{
    *key = (struct datum){0};
    return text_read(in, type->fields[0].type, key) && json_scan_byte(&in->scan, ':') &&
           value_read(in, type->fields[1].type, value);
}

static bool pair_entry(struct input *in, const struct type *type, struct datum *key, struct datum *value)
{
    if (!json_scan_byte(&in->scan, '[') || !value_read(in, type->fields[0].type, key))
        return false;
    if (key->is_null)
        return refuse(in, "a key of a map is null");
    return json_scan_byte(&in->scan, ',') && value_read(in, type->fields[1].type, value) &&
           json_scan_byte(&in->scan, ']');
}

static bool map_entries(struct input *in, const struct type *type, struct datums *keys, struct datums *values)
{
    enum type_kind kind = type->fields[0].type->kind;
    bool object = (kind == TYPE_CHAR || kind == TYPE_STRING) && json_scan_peek(&in->scan) == JSON_OBJECT;
    bool first = true;
    if (!json_scan_byte(&in->scan, object ? '{' : '['))
        return false;
    while (json_scan_more(&in->scan, object ? '}' : ']', &first)) {
        struct datum key, value;
        if (!(object ? object_entry(in, type, &key, &value) : pair_entry(in, type, &key, &value)))
            return false;
        vec_push(keys, key);
        vec_push(values, value);
    }
    return !in->scan.fault;
}

static bool map_read(struct input *in, const struct type *type, struct datum *out)
{
    struct datums keys = {0}, values = {0};
    bool done = map_entries(in, type, &keys, &values);
    out->map.keys = kept(in, &keys);
    out->map.values = kept(in, &values);
    out->map.count = (uint32_t)keys.len;
    vec_deinit(&keys);
    vec_deinit(&values);
    return done;
}

static int32_t field_find(const struct type *row, struct slice name)
{
    for (uint32_t i = 0; i < row->field_count; i++)
        if (slice_equal(row->fields[i].name, name))
            return (int32_t)i;
    return -1;
}

static bool row_read(struct input *in, const struct type *type, struct datum *out)
{
    bool first = true;
    out->list.items = ARENA_NEW_ARRAY(in->arena, struct datum, type->field_count);
    out->list.count = type->field_count;
    for (uint32_t i = 0; i < type->field_count; i++)
        out->list.items[i].is_null = true;
    if (!json_scan_byte(&in->scan, '{'))
        return false;
    while (json_scan_more(&in->scan, '}', &first)) {
        struct slice name;
        if (!json_scan_string(&in->scan, in->arena, &name) || !json_scan_byte(&in->scan, ':'))
            return false;
        int32_t i = field_find(type, name);
        if (i < 0)
            return refuse(in, "a ROW has a field that its type lacks");
        if (!value_read(in, type->fields[i].type, &out->list.items[i]))
            return false;
    }
    return !in->scan.fault;
}

static bool value_read(struct input *in, const struct type *type, struct datum *out)
{
    struct slice text;
    *out = (struct datum){.is_null = json_scan_peek(&in->scan) == JSON_NULL};
    if (out->is_null)
        return json_scan_word(&in->scan);
    switch (type->kind) {
    case TYPE_BOOLEAN:
        return boolean_read(in, out);
    case TYPE_CHAR:
    case TYPE_STRING:
        return text_read(in, type, out);
    case TYPE_ARRAY:
        return array_read(in, type, out);
    case TYPE_MAP:
        return map_read(in, type, out);
    case TYPE_ROW:
        return row_read(in, type, out);
    default:
        return scalar_text(in, &text) && scalar_of(in, type, text, out);
    }
}

/* ---- rows ---- */

static enum err_code unknown_column(struct input *in, const struct schema *schema)
{
    size_t least = SIZE_MAX;
    struct slice nearest = {0};
    for (uint32_t i = 0; i < schema->column_count; i++) {
        size_t distance = slice_distance(schema->columns[i].name, in->column);
        if (distance < least) {
            least = distance;
            nearest = schema->columns[i].name;
        }
    }
    if (!nearest.ptr)
        return err_set(in->err, ERR_INVALID_ARGUMENT, "there is no column \"%.*s\"", SLICE_ARGS(in->column));
    return err_set(in->err, ERR_INVALID_ARGUMENT, "there is no column \"%.*s\"; did you mean \"%.*s\"?",
                   SLICE_ARGS(in->column), SLICE_ARGS(nearest));
}

static enum err_code refused(struct input *in)
{
    const char *fault = in->fault ? in->fault : in->scan.fault ? in->scan.fault : "something stands behind the row";
    if (!in->column.ptr)
        return err_set(in->err, ERR_INVALID_ARGUMENT, "the row is not a JSON object: %s, at byte %zu", fault,
                       in->scan.at);
    return err_set(in->err, ERR_INVALID_ARGUMENT, "column \"%.*s\": %s, at byte %zu", SLICE_ARGS(in->column), fault,
                   in->scan.at);
}

static enum err_code column_read(struct input *in, const struct schema *schema, bool *seen, struct datum *row)
{
    if (!json_scan_string(&in->scan, in->arena, &in->column) || !json_scan_byte(&in->scan, ':'))
        return refused(in);
    int32_t i = schema_find(schema, in->column);
    if (i < 0)
        return unknown_column(in, schema);
    if (seen[i])
        return err_set(in->err, ERR_INVALID_ARGUMENT, "the column \"%.*s\" is there twice", SLICE_ARGS(in->column));
    seen[i] = true;
    return value_read(in, schema->columns[i].type, &row[i]) ? OK : refused(in);
}

enum err_code row_from_json(struct arena *arena, const struct schema *schema, struct slice json, struct datum *row,
                            struct err *err)
{
    struct input in = {.scan = json_scan_of(json), .arena = arena, .err = err};
    bool *seen = ARENA_NEW_ARRAY(arena, bool, schema->column_count), first = true;
    for (uint32_t i = 0; i < schema->column_count; i++)
        row[i] = (struct datum){.is_null = true};
    if (!json_scan_byte(&in.scan, '{'))
        return refused(&in);
    while (json_scan_more(&in.scan, '}', &first))
        TRY(column_read(&in, schema, seen, row));
    return json_scan_done(&in.scan) ? OK : refused(&in);
}
