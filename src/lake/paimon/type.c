/* Types as Paimon's schema files have them.
 *
 *   "DECIMAL(10, 2) NOT NULL"                                     a plain type
 *   {"type":"ARRAY NOT NULL","element":TYPE}
 *   {"type":"MAP","key":TYPE,"value":TYPE}
 *   {"type":"ROW","fields":[{"id":5,"name":"x","type":TYPE,"description":"..."}, ...]}
 *
 * Source: Apache Paimon, paimon-api, DataTypeJsonParser and the types' serializeJson. */
#include "base/json.h"
#include "lake/paimon/paimon_int.h"

/* ---- Fluss to Paimon ---- */

static const struct type *convert(struct arena *arena, const struct type *type, int32_t time_precision,
                                  int32_t *next_id)
{
    struct type *copy = ARENA_NEW(arena, struct type);
    *copy = *type;
    if (type->kind == TYPE_TIME)
        copy->precision = time_precision;
    struct field *fields = ARENA_NEW_ARRAY(arena, struct field, type->field_count);
    for (uint32_t i = 0; i < type->field_count; i++) {
        fields[i] = type->fields[i];
        if (next_id)
            fields[i].id = type->kind == TYPE_ROW ? (*next_id)++ : -1;
        fields[i].type = convert(arena, type->fields[i].type, time_precision, next_id);
    }
    copy->fields = fields;
    return copy;
}

const struct type *paimon_type_of(struct arena *arena, const struct type *type, int32_t *next_id)
{
    return convert(arena, type, 0, next_id);
}

const struct type *paimon_type_in_memory(struct arena *arena, const struct type *type)
{
    return convert(arena, type, 3, NULL);
}

bool paimon_type_same(const struct type *a, const struct type *b)
{
    if (a->kind != b->kind || a->nullable != b->nullable || a->field_count != b->field_count ||
        a->length != b->length || a->scale != b->scale || (a->kind != TYPE_TIME && a->precision != b->precision))
        return false;
    for (uint32_t i = 0; i < a->field_count; i++)
        if ((a->kind == TYPE_ROW && !slice_equal(a->fields[i].name, b->fields[i].name)) ||
            !paimon_type_same(a->fields[i].type, b->fields[i].type))
            return false;
    return true;
}

/* ---- writing ---- */

static void put_plain(struct buf *out, const struct type *type)
{
    struct type bare = *type;
    bare.nullable = true;
    if (type->kind == TYPE_TIMESTAMP_LTZ) {
        buf_printf(out, "TIMESTAMP(%d) WITH LOCAL TIME ZONE", type->precision);
        return;
    }
    if (type->length && (type->kind == TYPE_STRING || type->kind == TYPE_BYTES))
        buf_printf(out, "%s(%d)", type->kind == TYPE_STRING ? "VARCHAR" : "VARBINARY", type->length);
    else
        type_to_sql(&bare, out);
}

static void put_fields(struct buf *out, const struct type *row)
{
    buf_put_slice(out, SLICE(",\"fields\":["));
    for (uint32_t i = 0; i < row->field_count; i++) {
        const struct field *f = &row->fields[i];
        buf_printf(out, "%s{\"id\":%d,\"name\":", i ? "," : "", f->id);
        json_put_string(out, f->name);
        buf_put_slice(out, SLICE(",\"type\":"));
        paimon_type_put(out, f->type);
        if (f->description.ptr) {
            buf_put_slice(out, SLICE(",\"description\":"));
            json_put_string(out, f->description);
        }
        buf_put_u8(out, '}');
    }
    buf_put_u8(out, ']');
}

void paimon_type_put(struct buf *out, const struct type *type)
{
    const char *end = type->nullable ? "\"" : " NOT NULL\"";
    switch (type->kind) {
    case TYPE_ARRAY:
        buf_printf(out, "{\"type\":\"ARRAY%s,\"element\":", end);
        paimon_type_put(out, type->fields[0].type);
        buf_put_u8(out, '}');
        break;
    case TYPE_MAP:
        buf_printf(out, "{\"type\":\"MAP%s,\"key\":", end);
        paimon_type_put(out, type->fields[0].type);
        buf_put_slice(out, SLICE(",\"value\":"));
        paimon_type_put(out, type->fields[1].type);
        buf_put_u8(out, '}');
        break;
    case TYPE_ROW:
        buf_printf(out, "{\"type\":\"ROW%s", end);
        put_fields(out, type);
        buf_put_u8(out, '}');
        break;
    default:
        buf_put_u8(out, '"');
        put_plain(out, type);
        buf_put_slice(out, slice_str(end));
    }
}

/* ---- reading ---- */

/* VARCHAR(n) and VARBINARY(n), which Fluss has not, read as STRING and BYTES with a length. */
static bool read_limited(struct slice text, const char *word, enum type_kind kind, struct type *type)
{
    struct slice rest = {text.ptr + strlen(word), text.len - MIN(text.len, strlen(word))};
    int64_t length;
    if (!slice_starts_with(text, slice_str(word)) || rest.len < 3 || rest.ptr[0] != '(')
        return false;
    const uint8_t *close = memchr(rest.ptr, ')', rest.len);
    if (!close || !slice_to_i64(slice_of(rest.ptr + 1, (size_t)(close - rest.ptr) - 1), &length))
        return false;
    rest = slice_of(close + 1, rest.len - (size_t)(close + 1 - rest.ptr));
    if (length < 1 || length >= INT32_MAX || (rest.len && !slice_is(rest, " NOT NULL")))
        return false;
    *type = (struct type){.kind = kind, .nullable = rest.len == 0, .length = (int32_t)length};
    return true;
}

static enum err_code read_plain(struct arena *arena, struct slice text, const struct type **out, struct err *err)
{
    struct type *limited = ARENA_NEW(arena, struct type);
    if (read_limited(text, "VARCHAR", TYPE_STRING, limited) || read_limited(text, "VARBINARY", TYPE_BYTES, limited)) {
        *out = limited;
        return OK;
    }
    const struct type *type;
    struct err why;
    if (type_from_sql(arena, text, &type, &why) != OK || type_is_nested(type))
        return err_set(err, ERR_NOT_SUPPORTED, "a column of the lake table has the type \"%.*s\"",
                       (int)MIN(text.len, 100), (const char *)text.ptr);
    *out = type;
    return OK;
}

static enum err_code read_type(struct arena *arena, json_t *json, int depth, const struct type **out, struct err *err);

static enum err_code read_field(struct arena *arena, json_t *json, int depth, struct field *f, struct err *err)
{
    int64_t id = -1;
    *f = (struct field){0};
    if (!json_is_object(json))
        return err_set(err, ERR_CORRUPT, "a field of a ROW is not an object");
    TRY(paimon_text_i64(json, "id", &id, err));
    if (id < 0 || id > INT32_MAX)
        return err_set(err, ERR_CORRUPT, "a field of a ROW has the id %" PRId64, id);
    f->id = (int32_t)id;
    TRY(paimon_text_string(json, "name", arena, &f->name, err));
    TRY(paimon_text_optional_string(json, "description", arena, &f->description, err));
    return read_type(arena, json_object_get(json, "type"), depth, &f->type, err);
}

static enum err_code read_row(struct arena *arena, json_t *json, int depth, struct type *type, struct err *err)
{
    json_t *list = json_object_get(json, "fields");
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > SCHEMA_FIELDS_MAX)
        return err_set(err, ERR_CORRUPT, "a ROW has no list of fields, or too many");
    struct field *fields = ARENA_NEW_ARRAY(arena, struct field, count);
    for (size_t i = 0; i < count; i++)
        TRY(read_field(arena, json_array_get(list, i), depth, &fields[i], err));
    type->fields = fields;
    type->field_count = (uint32_t)count;
    return OK;
}

static enum err_code read_members(struct arena *arena, json_t *json, int depth, struct type *type, struct err *err)
{
    static const char *const names[2][2] = {{"element"}, {"key", "value"}};
    bool map = type->kind == TYPE_MAP;
    struct field *fields = ARENA_NEW_ARRAY(arena, struct field, 2);
    for (uint32_t i = 0; i < 1u + map; i++) {
        fields[i] = (struct field){.name = slice_str(names[map][i]), .id = -1};
        TRY(read_type(arena, json_object_get(json, names[map][i]), depth, &fields[i].type, err));
    }
    type->fields = fields;
    type->field_count = 1u + map;
    return OK;
}

static enum err_code read_nested(struct arena *arena, json_t *json, int depth, const struct type **out, struct err *err)
{
    static const struct {
        const char *word;
        const char *not_null;
        enum type_kind kind;
    } kinds[] = {
        {"ARRAY", "ARRAY NOT NULL", TYPE_ARRAY}, {"MAP", "MAP NOT NULL", TYPE_MAP}, {"ROW", "ROW NOT NULL", TYPE_ROW}};
    struct slice word;
    TRY(paimon_text_string(json, "type", arena, &word, err));
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!slice_is(word, kinds[i].word) && !slice_is(word, kinds[i].not_null))
            continue;
        struct type *type = ARENA_NEW(arena, struct type);
        *type = (struct type){.kind = kinds[i].kind, .nullable = slice_is(word, kinds[i].word)};
        *out = type;
        return type->kind == TYPE_ROW ? read_row(arena, json, depth, type, err)
                                      : read_members(arena, json, depth, type, err);
    }
    return err_set(err, ERR_NOT_SUPPORTED, "a column of the lake table has the type %.*s", (int)MIN(word.len, 100),
                   (const char *)word.ptr);
}

static enum err_code read_type(struct arena *arena, json_t *json, int depth, const struct type **out, struct err *err)
{
    if (depth > SCHEMA_DEPTH_MAX)
        return err_set(err, ERR_LIMIT, "types of the lake table are nested deeper than %d", SCHEMA_DEPTH_MAX);
    if (json_is_object(json))
        return read_nested(arena, json, depth + 1, out, err);
    if (!json_is_string(json))
        return err_set(err, ERR_CORRUPT, "a type of the lake table is missing");
    return read_plain(arena, slice_of(json_string_value(json), json_string_length(json)), out, err);
}

enum err_code paimon_type_read(struct arena *arena, json_t *json, const struct type **type, struct err *err)
{
    return read_type(arena, json, 1, type, err);
}
