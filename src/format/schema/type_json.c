/* Types as JSON objects: {"type":"DECIMAL","nullable":false,"precision":10,"scale":2}. "nullable" is there only where
 * it is false. ARRAY has "element_type", MAP "key_type" and "value_type", ROW "fields" of {name, field_type,
 * description?, field_id}. Golden: schemas.jsonl schema/nested, rows.jsonl types_json. */
#include "base/map.h"
#include "format/schema/schema_int.h"

static enum err_code decode(struct doc *doc, json_t *node, unsigned depth, const struct type **out);

static enum err_code decode_member(struct doc *doc, json_t *node, const char *name, unsigned depth,
                                   const struct type **out)
{
    json_t *member = doc_member(node, name);
    return member ? decode(doc, member, depth, out) : doc_refuse(doc, "\"%s\" is missing", name);
}

static enum err_code decode_array(struct doc *doc, json_t *node, unsigned depth, struct type *type)
{
    struct field *fields = ARENA_NEW_ARRAY(doc->arena, struct field, 1);
    fields[0] = (struct field){.name = SLICE("element"), .id = -1};
    TRY(decode_member(doc, node, "element_type", depth, &fields[0].type));
    type->fields = fields;
    type->field_count = 1;
    return OK;
}

static enum err_code decode_map(struct doc *doc, json_t *node, unsigned depth, struct type *type)
{
    struct field *fields = ARENA_NEW_ARRAY(doc->arena, struct field, 2);
    fields[0] = (struct field){.name = SLICE("key"), .id = -1};
    fields[1] = (struct field){.name = SLICE("value"), .id = -1};
    TRY(decode_member(doc, node, "key_type", depth, &fields[0].type));
    TRY(decode_member(doc, node, "value_type", depth, &fields[1].type));
    fields[0].type = type_with_nullable(doc->arena, fields[0].type, false);
    type->fields = fields;
    type->field_count = 2;
    return OK;
}

static enum err_code decode_field(struct doc *doc, json_t *node, unsigned depth, struct field *field)
{
    if (!json_is_object(node))
        return doc_refuse(doc, "a field of a ROW is not an object");
    TRY(doc_text(doc, node, "name", &field->name));
    if (field->name.len == 0)
        return doc_refuse(doc, "a field of a ROW has no name");
    TRY(decode_member(doc, node, "field_type", depth, &field->type));
    TRY(doc_optional_text(doc, node, "description", &field->description));
    TRY(doc_optional_i32(doc, node, "field_id", -1, &field->id));
    return field->id >= -1 ? OK : doc_refuse(doc, "\"field_id\" is negative: %d", field->id);
}

static enum err_code check_field_names(struct doc *doc, const struct type *row)
{
    struct map names = {0};
    enum err_code code = OK;
    for (uint32_t i = 0; i < row->field_count && code == OK; i++) {
        struct slice name = row->fields[i].name;
        if (map_put(&names, name, &names))
            code = doc_refuse(doc, "a ROW has the field \"%.*s\" twice", SLICE_ARGS(name));
    }
    map_deinit(&names);
    return code;
}

static enum err_code decode_row(struct doc *doc, json_t *node, unsigned depth, struct type *type)
{
    json_t *array = NULL;
    TRY(doc_array(doc, node, "fields", &array));
    size_t count = json_array_size(array);
    if (count > SCHEMA_FIELDS_MAX)
        return doc_refuse(doc, "a ROW has %zu fields, more than %d", count, SCHEMA_FIELDS_MAX);
    struct field *fields = ARENA_NEW_ARRAY(doc->arena, struct field, count);
    for (size_t i = 0; i < count; i++)
        TRY(decode_field(doc, json_array_get(array, i), depth, &fields[i]));
    type->fields = fields;
    type->field_count = (uint32_t)count;
    return check_field_names(doc, type);
}

static enum err_code decode_parameters(struct doc *doc, json_t *node, unsigned depth, struct type *type)
{
    if (type_has_length(type->kind))
        TRY(doc_i32(doc, node, "length", &type->length));
    if (type_has_precision(type->kind))
        TRY(doc_i32(doc, node, "precision", &type->precision));
    if (type->kind == TYPE_DECIMAL)
        TRY(doc_i32(doc, node, "scale", &type->scale));
    const char *fault = type_fault(type);
    if (fault)
        return doc_refuse(doc, "%s: %s", type_kind_json_name(type->kind), fault);
    switch (type->kind) {
    case TYPE_ARRAY:
        return decode_array(doc, node, depth + 1, type);
    case TYPE_MAP:
        return decode_map(doc, node, depth + 1, type);
    case TYPE_ROW:
        return decode_row(doc, node, depth + 1, type);
    default:
        return OK;
    }
}

static enum type_kind kind_of(struct slice name)
{
    for (enum type_kind kind = 0; kind < TYPE_KIND_COUNT; kind++)
        if (slice_is(name, type_kind_json_name(kind)))
            return kind;
    return TYPE_KIND_COUNT;
}

static enum err_code decode(struct doc *doc, json_t *node, unsigned depth, const struct type **out)
{
    if (depth > SCHEMA_DEPTH_MAX)
        return doc_refuse(doc, "types are nested more than %d deep", SCHEMA_DEPTH_MAX);
    if (!json_is_object(node))
        return doc_refuse(doc, "a type is not an object");
    struct slice name = {0};
    TRY(doc_text(doc, node, "type", &name));
    enum type_kind kind = kind_of(name);
    if (kind == TYPE_KIND_COUNT)
        return doc_refuse(doc, "there is no type \"%.*s\"", SLICE_ARGS(name));
    struct type *type = type_new(doc->arena, kind);
    json_t *nullable = doc_member(node, "nullable");
    if (nullable && !json_is_boolean(nullable))
        return doc_refuse(doc, "\"nullable\" is not a boolean");
    type->nullable = !nullable || json_is_true(nullable);
    TRY(decode_parameters(doc, node, depth, type));
    *out = type;
    return OK;
}

enum err_code type_decode(struct doc *doc, json_t *node, const struct type **type)
{
    return decode(doc, node, 1, type);
}

enum err_code type_from_json(struct arena *arena, struct slice json, const struct type **type, struct err *err)
{
    struct doc doc = {arena, ERR_INVALID_TABLE_EXCEPTION, err, NULL};
    TRY(doc_open(&doc, json));
    enum err_code code = type_decode(&doc, doc.root, type);
    doc_close(&doc);
    return code;
}

static void put_fields(const struct type *row, struct buf *out)
{
    put_key(out, false, "fields");
    buf_put_u8(out, '[');
    for (uint32_t i = 0; i < row->field_count; i++) {
        const struct field *field = &row->fields[i];
        if (i > 0)
            buf_put_u8(out, ',');
        put_key(out, true, "name");
        json_put_string(out, field->name);
        put_key(out, false, "field_type");
        type_to_json(field->type, out);
        if (field->description.ptr) {
            put_key(out, false, "description");
            json_put_string(out, field->description);
        }
        buf_printf(out, ",\"field_id\":%d}", field->id);
    }
    buf_put_u8(out, ']');
}

void type_to_json(const struct type *type, struct buf *out)
{
    buf_printf(out, "{\"type\":\"%s\"%s", type_kind_json_name(type->kind), type->nullable ? "" : ",\"nullable\":false");
    if (type_has_length(type->kind))
        buf_printf(out, ",\"length\":%d", type->length);
    if (type_has_precision(type->kind))
        buf_printf(out, ",\"precision\":%d", type->precision);
    if (type->kind == TYPE_DECIMAL)
        buf_printf(out, ",\"scale\":%d", type->scale);
    if (type->kind == TYPE_ARRAY || type->kind == TYPE_MAP) {
        put_key(out, false, type->kind == TYPE_ARRAY ? "element_type" : "key_type");
        type_to_json(type->fields[0].type, out);
    }
    if (type->kind == TYPE_MAP) {
        put_key(out, false, "value_type");
        type_to_json(type->fields[1].type, out);
    }
    if (type->kind == TYPE_ROW)
        put_fields(type, out);
    buf_put_u8(out, '}');
}
