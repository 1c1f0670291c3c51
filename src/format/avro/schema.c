/* The schema text into types. A named type may be used by name behind its definition, also within itself. */
#include "format/avro/avro_int.h"

#include <jansson.h>

struct parse {
    struct arena *arena;
    struct map named; /* full name -> struct avro_type */
    struct err *err;
};

#define BAD(p, ...) err_set((p)->err, ERR_CORRUPT, "Avro schema: " __VA_ARGS__)

static enum err_code parse_type(struct parse *p, json_t *json, struct slice space, unsigned depth,
                                const struct avro_type **type);

static struct slice string_of(struct parse *p, json_t *object, const char *key)
{
    json_t *s = json_object_get(object, key);
    if (!json_is_string(s))
        return (struct slice){0};
    return arena_dup(p->arena, slice_of(json_string_value(s), json_string_length(s)));
}

static bool has_dot(struct slice name)
{
    return name.len && memchr(name.ptr, '.', name.len);
}

static struct slice full_name(struct parse *p, struct slice name, struct slice space)
{
    if (has_dot(name) || !space.len)
        return name;
    return arena_printf(p->arena, "%.*s.%.*s", SLICE_ARGS(space), SLICE_ARGS(name));
}

static struct slice space_of(struct slice name)
{
    size_t len = name.len;
    while (len && name.ptr[len - 1] != '.')
        len--;
    return slice_of(name.ptr, len ? len - 1 : 0);
}

static struct avro_type *new_type(struct parse *p, enum avro_kind kind, uint32_t field_count)
{
    struct avro_type *type = ARENA_NEW(p->arena, struct avro_type);
    type->kind = kind;
    type->field_count = field_count;
    type->fields = ARENA_NEW_ARRAY(p->arena, struct avro_type_field, field_count);
    for (uint32_t i = 0; i < field_count; i++)
        type->fields[i] = (struct avro_type_field){.field_id = -1};
    return type;
}

static enum err_code add_name(struct parse *p, json_t *json, struct slice space, struct avro_type *type)
{
    struct slice name = string_of(p, json, "name"), own_space = string_of(p, json, "namespace");
    if (!name.len)
        return BAD(p, "a named type has no name");
    type->name = full_name(p, name, own_space.ptr ? own_space : space);
    if (map_put(&p->named, type->name, type))
        return BAD(p, "%.*s is defined twice", SLICE_ARGS(type->name));
    return OK;
}

static enum err_code parse_record(struct parse *p, json_t *json, struct slice space, unsigned depth,
                                  const struct avro_type **out)
{
    json_t *fields = json_object_get(json, "fields");
    if (!json_is_array(fields))
        return BAD(p, "a record has no fields");
    struct avro_type *type = new_type(p, AVRO_RECORD, (uint32_t)json_array_size(fields));
    TRY(add_name(p, json, space, type));
    for (uint32_t i = 0; i < type->field_count; i++) {
        json_t *field = json_array_get(fields, i), *id = json_object_get(field, "field-id");
        type->fields[i].name = string_of(p, field, "name");
        if (!type->fields[i].name.len)
            return BAD(p, "a field of %.*s has no name", SLICE_ARGS(type->name));
        if (json_is_integer(id))
            type->fields[i].field_id = json_integer_value(id);
        TRY(parse_type(p, json_object_get(field, "type"), space_of(type->name), depth + 1, &type->fields[i].type));
    }
    *out = type;
    return OK;
}

static enum err_code parse_enum(struct parse *p, json_t *json, struct slice space, const struct avro_type **out)
{
    json_t *symbols = json_object_get(json, "symbols");
    struct avro_type *type = new_type(p, AVRO_ENUM, (uint32_t)json_array_size(symbols));
    TRY(add_name(p, json, space, type));
    for (uint32_t i = 0; i < type->field_count; i++) {
        json_t *symbol = json_array_get(symbols, i);
        if (!json_is_string(symbol))
            return BAD(p, "a symbol of %.*s is no string", SLICE_ARGS(type->name));
        type->fields[i].name = arena_dup(p->arena, slice_str(json_string_value(symbol)));
    }
    *out = type;
    return OK;
}

static enum err_code parse_fixed(struct parse *p, json_t *json, struct slice space, const struct avro_type **out)
{
    json_t *size = json_object_get(json, "size");
    struct avro_type *type = new_type(p, AVRO_FIXED, 0);
    TRY(add_name(p, json, space, type));
    if (!json_is_integer(size) || json_integer_value(size) < 0 || json_integer_value(size) > INT32_MAX)
        return BAD(p, "the size of %.*s is no length", SLICE_ARGS(type->name));
    type->size = (uint32_t)json_integer_value(size);
    type->logical_type = string_of(p, json, "logicalType");
    *out = type;
    return OK;
}

static enum err_code parse_items(struct parse *p, json_t *json, enum avro_kind kind, struct slice space, unsigned depth,
                                 const struct avro_type **out)
{
    struct avro_type *type = new_type(p, kind, 1);
    type->logical_type = string_of(p, json, "logicalType");
    json_t *items = json_object_get(json, kind == AVRO_ARRAY ? "items" : "values");
    TRY(parse_type(p, items, space, depth + 1, &type->fields[0].type));
    *out = type;
    return OK;
}

static enum err_code parse_union(struct parse *p, json_t *json, struct slice space, unsigned depth,
                                 const struct avro_type **out)
{
    struct avro_type *type = new_type(p, AVRO_UNION, (uint32_t)json_array_size(json));
    for (uint32_t i = 0; i < type->field_count; i++) {
        TRY(parse_type(p, json_array_get(json, i), space, depth + 1, &type->fields[i].type));
        if (type->fields[i].type->kind == AVRO_UNION)
            return BAD(p, "a union within a union");
    }
    *out = type;
    return OK;
}

static const char *const kind_names[AVRO_KIND_COUNT] = {"null",   "boolean", "int",    "long",   "float",
                                                        "double", "bytes",   "string", "record", "enum",
                                                        "array",  "map",     "union",  "fixed"};

static bool kind_of(const char *name, enum avro_kind *kind)
{
    for (unsigned i = 0; i < AVRO_KIND_COUNT; i++)
        if (i != AVRO_UNION && strcmp(name, kind_names[i]) == 0) {
            *kind = (enum avro_kind)i;
            return true;
        }
    return false;
}

static enum err_code parse_name(struct parse *p, json_t *json, struct slice space, const struct avro_type **out)
{
    enum avro_kind kind;
    const char *text = json_string_value(json);
    if (kind_of(text, &kind) && kind < AVRO_RECORD) {
        *out = new_type(p, kind, 0);
        return OK;
    }
    const struct avro_type *type = map_get(&p->named, full_name(p, slice_str(text), space));
    if (!type)
        type = map_get(&p->named, slice_str(text));
    if (!type)
        return BAD(p, "the type %.100s is not defined", text);
    *out = type;
    return OK;
}

static enum err_code parse_object(struct parse *p, json_t *json, struct slice space, unsigned depth,
                                  const struct avro_type **out)
{
    json_t *inner = json_object_get(json, "type");
    enum avro_kind kind;
    if (!json_is_string(inner))
        return parse_type(p, inner, space, depth + 1, out); /* {"type": {"type": ..}} */
    if (!kind_of(json_string_value(inner), &kind))
        return parse_name(p, inner, space, out);
    switch (kind) {
    case AVRO_RECORD:
        return parse_record(p, json, space, depth, out);
    case AVRO_ENUM:
        return parse_enum(p, json, space, out);
    case AVRO_FIXED:
        return parse_fixed(p, json, space, out);
    case AVRO_ARRAY:
    case AVRO_MAP:
        return parse_items(p, json, kind, space, depth, out);
    default: {
        struct avro_type *type = new_type(p, kind, 0);
        type->logical_type = string_of(p, json, "logicalType");
        *out = type;
        return OK;
    }
    }
}

static enum err_code parse_type(struct parse *p, json_t *json, struct slice space, unsigned depth,
                                const struct avro_type **type)
{
    if (depth > AVRO_SCHEMA_DEPTH_MAX)
        return err_set(p->err, ERR_LIMIT, "Avro schema: more than %d types within one another", AVRO_SCHEMA_DEPTH_MAX);
    if (json_is_string(json))
        return parse_name(p, json, space, type);
    if (json_is_array(json))
        return parse_union(p, json, space, depth, type);
    if (json_is_object(json))
        return parse_object(p, json, space, depth, type);
    return BAD(p, "a type is neither name, object nor union");
}

enum err_code avro_type_parse(struct arena *arena, struct slice schema, const struct avro_type **type, struct err *err)
{
    if (schema.len > AVRO_SCHEMA_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "Avro schema of %zu bytes", schema.len);
    json_error_t why;
    json_t *json = json_loadb((const char *)schema.ptr, schema.len, JSON_DECODE_ANY, &why);
    if (!json)
        return err_set(err, ERR_CORRUPT, "Avro schema: %s at byte %d", why.text, why.position);
    struct parse p = {.arena = arena, .err = err};
    enum err_code code = parse_type(&p, json, (struct slice){0}, 0, type);
    map_deinit(&p.named);
    json_decref(json);
    return code;
}
