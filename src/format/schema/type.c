/* Types in memory: making, comparing, naming. */
#include "format/schema/schema_int.h"

static const struct {
    const char *json;
    struct type simple;
} kinds[TYPE_KIND_COUNT] = {
#define KIND(name, json, ...) [TYPE_##name] = {json, {.kind = TYPE_##name, .nullable = true, __VA_ARGS__}}
    KIND(BOOLEAN, "BOOLEAN"),
    KIND(TINYINT, "TINYINT"),
    KIND(SMALLINT, "SMALLINT"),
    KIND(INTEGER, "INTEGER"),
    KIND(BIGINT, "BIGINT"),
    KIND(FLOAT, "FLOAT"),
    KIND(DOUBLE, "DOUBLE"),
    KIND(CHAR, "CHAR", .length = 1),
    KIND(STRING, "STRING"),
    KIND(BINARY, "BINARY", .length = 1),
    KIND(BYTES, "BYTES"),
    KIND(DECIMAL, "DECIMAL", .precision = 10, .scale = 0),
    KIND(DATE, "DATE"),
    KIND(TIME, "TIME_WITHOUT_TIME_ZONE", .precision = 0),
    KIND(TIMESTAMP, "TIMESTAMP_WITHOUT_TIME_ZONE", .precision = 6),
    KIND(TIMESTAMP_LTZ, "TIMESTAMP_WITH_LOCAL_TIME_ZONE", .precision = 6),
    KIND(ARRAY, "ARRAY"),
    KIND(MAP, "MAP"),
    KIND(ROW, "ROW"),
#undef KIND
};

const char *type_kind_json_name(enum type_kind kind)
{
    ASSERT(kind < TYPE_KIND_COUNT);
    return kinds[kind].json;
}

bool type_is_nested(const struct type *type)
{
    return type->kind == TYPE_ARRAY || type->kind == TYPE_MAP || type->kind == TYPE_ROW;
}

const struct type *type_simple(enum type_kind kind)
{
    ASSERT(kind < TYPE_ARRAY);
    return &kinds[kind].simple;
}

bool type_has_length(enum type_kind kind)
{
    return kind == TYPE_CHAR || kind == TYPE_BINARY;
}

bool type_has_precision(enum type_kind kind)
{
    return kind == TYPE_DECIMAL || kind == TYPE_TIME || kind == TYPE_TIMESTAMP || kind == TYPE_TIMESTAMP_LTZ;
}

const char *type_fault(const struct type *type)
{
    if (type_has_length(type->kind) && (type->length < 1 || type->length > TYPE_LENGTH_MAX))
        return "the length must be from 1 to " ERR_STRINGIFY(TYPE_LENGTH_MAX);
    if (type->kind == TYPE_DECIMAL && (type->precision < 1 || type->precision > DECIMAL_PRECISION_MAX))
        return "the precision must be from 1 to " ERR_STRINGIFY(DECIMAL_PRECISION_MAX);
    if (type->kind == TYPE_DECIMAL && (type->scale < 0 || type->scale > type->precision))
        return "the scale must be from 0 to the precision";
    if (type->kind != TYPE_DECIMAL && type_has_precision(type->kind) && (type->precision < 0 || type->precision > 9))
        return "the precision must be from 0 to 9";
    return NULL;
}

struct type *type_new(struct arena *arena, enum type_kind kind)
{
    struct type *type = ARENA_NEW(arena, struct type);
    *type = kinds[kind].simple;
    return type;
}

const struct type *type_with_nullable(struct arena *arena, const struct type *type, bool nullable)
{
    if (type->nullable == nullable)
        return type;
    struct type *copy = ARENA_NEW(arena, struct type);
    *copy = *type;
    copy->nullable = nullable;
    return copy;
}

bool type_equal(const struct type *a, const struct type *b, bool with_nullability)
{
    if (a->kind != b->kind || (with_nullability && a->nullable != b->nullable) || a->field_count != b->field_count)
        return false;
    if (a->length != b->length || a->precision != b->precision || a->scale != b->scale)
        return false;
    for (uint32_t i = 0; i < a->field_count; i++)
        if (!slice_equal(a->fields[i].name, b->fields[i].name) ||
            !type_equal(a->fields[i].type, b->fields[i].type, with_nullability))
            return false;
    return true;
}

const struct type *type_dup(struct arena *arena, const struct type *type)
{
    struct type *copy = ARENA_NEW(arena, struct type);
    struct field *fields = ARENA_NEW_ARRAY(arena, struct field, type->field_count);
    *copy = *type;
    copy->fields = fields;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct field *from = &type->fields[i];
        fields[i] = (struct field){arena_dup(arena, from->name), type_dup(arena, from->type), from->id,
                                   from->description.ptr ? arena_dup(arena, from->description) : from->description};
    }
    return copy;
}
