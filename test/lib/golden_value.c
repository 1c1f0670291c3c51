#include "lib/golden_value.h"

json_t *golden_parse(struct slice line)
{
    json_error_t error;
    json_t *root = json_loadb((const char *)line.ptr, line.len, JSON_ALLOW_NUL, &error);
    if (!root)
        fail_msg("golden line: %s", error.text);
    return root;
}

const char *golden_text(json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    if (!text)
        fail_msg("golden line without \"%s\"", name);
    return text;
}

static unsigned hex_digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

struct slice golden_unhex(struct arena *arena, const char *hex)
{
    size_t len = strlen(hex) / 2;
    uint8_t *bytes = arena_alloc(arena, len);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
    return slice_of(bytes, len);
}

struct slice golden_hex(struct arena *arena, json_t *object, const char *name)
{
    const char *hex = json_string_value(json_object_get(object, name));
    return hex ? golden_unhex(arena, hex) : (struct slice){0};
}

const struct type *golden_type(struct arena *arena, const char *sql)
{
    struct err err = {0};
    const struct type *type = NULL;
    MUST(type_from_sql(arena, strncmp(sql, "VARCHAR", 7) == 0 ? SLICE("STRING") : slice_str(sql), &type, &err));
    return type;
}

void golden_schema(struct arena *arena, json_t *types, struct schema *schema)
{
    size_t count = json_array_size(types);
    *schema = (struct schema){.column_count = (uint32_t)count,
                              .auto_increment = -1,
                              .highest_field_id = (int32_t)count - 1,
                              .columns = ARENA_NEW_ARRAY(arena, struct schema_column, count)};
    for (size_t i = 0; i < count; i++)
        schema->columns[i] =
            (struct schema_column){.name = arena_printf(arena, "f%zu", i),
                                   .id = (int32_t)i,
                                   .type = golden_type(arena, json_string_value(json_array_get(types, i)))};
}

/* ---- reading ---- */

static int64_t i64_of(json_t *value)
{
    int64_t out = 0;
    if (json_is_integer(value))
        return json_integer_value(value);
    if (!slice_to_i64(slice_str(json_string_value(value)), &out))
        fail_msg("not an integer: %s", json_string_value(value));
    return out;
}

static __int128 decimal_of(const char *text)
{
    bool negative = *text == '-';
    __int128 out = 0;
    for (const char *c = text + negative; *c; c++)
        out = out * 10 + (*c - '0');
    return negative ? -out : out;
}

static void list_of(struct arena *arena, const struct type *type, json_t *value, struct datum *out)
{
    size_t count = json_array_size(value);
    out->list.items = ARENA_NEW_ARRAY(arena, struct datum, count);
    out->list.count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        golden_datum(arena, type->fields[type->kind == TYPE_ROW ? i : 0].type, json_array_get(value, i),
                     &out->list.items[i]);
}

static void map_of(struct arena *arena, const struct type *type, json_t *value, struct datum *out)
{
    size_t count = json_array_size(value);
    out->map.keys = ARENA_NEW_ARRAY(arena, struct datum, count);
    out->map.values = ARENA_NEW_ARRAY(arena, struct datum, count);
    out->map.count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        json_t *entry = json_array_get(value, i);
        golden_datum(arena, type->fields[0].type, json_array_get(entry, 0), &out->map.keys[i]);
        golden_datum(arena, type->fields[1].type, json_array_get(entry, 1), &out->map.values[i]);
    }
}

static void float_of(const struct type *type, json_t *value, struct datum *out)
{
    uint64_t bits = strtoull(golden_text(value, "bits"), NULL, 16);
    uint32_t half = (uint32_t)bits;
    if (type->kind == TYPE_FLOAT)
        memcpy(&out->f32, &half, 4);
    else
        memcpy(&out->f64, &bits, 8);
}

void golden_datum(struct arena *arena, const struct type *type, json_t *value, struct datum *out)
{
    *out = (struct datum){.is_null = !value || json_is_null(value)};
    if (out->is_null)
        return;
    switch (type->kind) {
    case TYPE_BOOLEAN:
        out->boolean = json_is_true(value);
        break;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        float_of(type, value, out);
        break;
    case TYPE_CHAR:
    case TYPE_STRING:
        out->bytes = arena_dup(arena, slice_of(json_string_value(value), json_string_length(value)));
        break;
    case TYPE_BINARY:
    case TYPE_BYTES:
        out->bytes = golden_unhex(arena, json_string_value(value));
        break;
    case TYPE_DECIMAL:
        out->decimal = decimal_of(json_string_value(value));
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        out->ts.millis = i64_of(json_object_get(value, "millis"));
        out->ts.nanos = (int32_t)i64_of(json_object_get(value, "nanos"));
        break;
    case TYPE_ARRAY:
    case TYPE_ROW:
        list_of(arena, type, value, out);
        break;
    case TYPE_MAP:
        map_of(arena, type, value, out);
        break;
    default:
        out->i64 = i64_of(value);
    }
}

struct datum *golden_row(struct arena *arena, const struct schema *schema, json_t *values)
{
    assert_int_equal(json_array_size(values), schema->column_count);
    struct datum *row = ARENA_NEW_ARRAY(arena, struct datum, schema->column_count);
    for (uint32_t i = 0; i < schema->column_count; i++)
        golden_datum(arena, schema->columns[i].type, json_array_get(values, i), &row[i]);
    return row;
}

/* ---- comparing ---- */

static void print_list(const struct type *type, const struct datum *value, struct buf *out)
{
    buf_put_u8(out, '[');
    for (uint32_t i = 0; i < value->list.count; i++) {
        if (i > 0)
            buf_put_u8(out, ' ');
        golden_print(type->fields[type->kind == TYPE_ROW ? i : 0].type, &value->list.items[i], out);
    }
    buf_put_u8(out, ']');
}

static void print_map(const struct type *type, const struct datum *value, struct buf *out)
{
    buf_put_u8(out, '{');
    for (uint32_t i = 0; i < value->map.count; i++) {
        golden_print(type->fields[0].type, &value->map.keys[i], out);
        buf_put_u8(out, ':');
        golden_print(type->fields[1].type, &value->map.values[i], out);
        buf_put_u8(out, ' ');
    }
    buf_put_u8(out, '}');
}

void golden_print(const struct type *type, const struct datum *value, struct buf *out)
{
    if (value->is_null) {
        buf_printf(out, "null");
        return;
    }
    switch (type->kind) {
    case TYPE_BOOLEAN:
        buf_printf(out, value->boolean ? "true" : "false");
        break;
    case TYPE_FLOAT:
        buf_printf(out, "%a", (double)value->f32);
        break;
    case TYPE_DOUBLE:
        buf_printf(out, "%a", value->f64);
        break;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_BYTES:
        buf_put_u8(out, 'x');
        buf_put_hex(out, value->bytes);
        break;
    case TYPE_DECIMAL:
        buf_printf(out, "%016llx%016llx", (unsigned long long)((unsigned __int128)value->decimal >> 64),
                   (unsigned long long)value->decimal);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        buf_printf(out, "%lld+%d", (long long)value->ts.millis, value->ts.nanos);
        break;
    case TYPE_ARRAY:
    case TYPE_ROW:
        print_list(type, value, out);
        break;
    case TYPE_MAP:
        print_map(type, value, out);
        break;
    default:
        buf_printf(out, "%lld", (long long)value->i64);
    }
}

void golden_assert_datum(const struct type *type, const struct datum *got, json_t *want)
{
    struct arena arena = {0};
    struct datum wanted;
    golden_datum(&arena, type, want, &wanted);
    struct buf got_text = {0}, want_text = {0};
    golden_print(type, got, &got_text);
    golden_print(type, &wanted, &want_text);
    if (!slice_equal(buf_view(&got_text), buf_view(&want_text)))
        fail_msg("got %s, want %s", buf_cstr(&got_text), buf_cstr(&want_text));
    buf_deinit(&got_text);
    buf_deinit(&want_text);
    arena_deinit(&arena);
}

void golden_assert_row(const struct schema *schema, const struct datum *got, json_t *values)
{
    for (uint32_t i = 0; i < schema->column_count; i++)
        golden_assert_datum(schema->columns[i].type, &got[i], json_array_get(values, i));
}
