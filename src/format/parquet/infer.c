/* The columns of a file in weir's types, for those who have no other schema of it. */
#include "format/parquet/parquet_int.h"

struct infer {
    struct arena *arena;
    struct err *err;
};

static enum err_code infer_type(const struct infer *x, const struct parquet_node *n, bool nullable, unsigned depth,
                                const struct type **out);

static enum type_kind int_kind(const struct parquet_node *n)
{
    if (n->physical == PARQUET_INT64)
        return TYPE_BIGINT;
    if (n->logical != PARQUET_INT)
        return TYPE_INTEGER;
    int32_t bits = n->bit_width + n->is_unsigned; /* an unsigned one needs a bit more */
    return bits <= 8 ? TYPE_TINYINT : bits <= 16 ? TYPE_SMALLINT : TYPE_INTEGER;
}

static void infer_number(const struct parquet_node *n, struct type *type)
{
    static const int32_t precisions[] = {3, 6, 9};
    if (n->logical == PARQUET_DECIMAL) {
        type->kind = TYPE_DECIMAL;
        type->precision = n->precision < 1 ? 1 : n->precision > 38 ? 38 : n->precision;
        type->scale = n->scale;
    } else if (n->logical == PARQUET_DATE) {
        type->kind = TYPE_DATE;
    } else if (n->logical == PARQUET_TIME || n->logical == PARQUET_TIMESTAMP) {
        bool is_time = n->logical == PARQUET_TIME;
        type->kind = is_time ? TYPE_TIME : n->utc ? TYPE_TIMESTAMP_LTZ : TYPE_TIMESTAMP;
        type->precision = precisions[n->unit];
    } else {
        type->kind = int_kind(n);
    }
}

static void infer_leaf(const struct parquet_node *n, struct type *type)
{
    switch (n->physical) {
    case PARQUET_BOOLEAN:
        type->kind = TYPE_BOOLEAN;
        break;
    case PARQUET_INT32:
    case PARQUET_INT64:
        infer_number(n, type);
        break;
    case PARQUET_INT96:
        type->kind = TYPE_TIMESTAMP;
        type->precision = 9;
        break;
    case PARQUET_FLOAT:
        type->kind = TYPE_FLOAT;
        break;
    case PARQUET_DOUBLE:
        type->kind = TYPE_DOUBLE;
        break;
    default:
        if (n->logical == PARQUET_DECIMAL) {
            infer_number(n, type);
        } else if (n->physical == PARQUET_FIXED) {
            type->kind = TYPE_BINARY;
            type->length = (int32_t)n->type_length;
        } else {
            type->kind = n->logical == PARQUET_STRING ? TYPE_STRING : TYPE_BYTES;
        }
    }
}

static enum err_code infer_fields(const struct infer *x, const struct parquet_node *nodes, uint32_t count,
                                  const char *const *names, unsigned depth, struct type *type)
{
    struct field *fields = ARENA_NEW_ARRAY(x->arena, struct field, count);
    for (uint32_t i = 0; i < count; i++) {
        fields[i].name = names ? slice_str(names[i]) : nodes[i].name;
        fields[i].id = nodes[i].field_id;
        TRY(infer_type(x, &nodes[i], nodes[i].repetition != PARQUET_REQUIRED, depth + 1, &fields[i].type));
    }
    type->fields = fields;
    type->field_count = count;
    return OK;
}

static enum err_code infer_group(const struct infer *x, const struct parquet_node *n, unsigned depth, struct type *type)
{
    static const char *const element[] = {"element"}, *const entry[] = {"key", "value"};
    const struct parquet_node *inner = n->child_count == 1 ? &n->children[0] : NULL;
    bool repeated = inner && inner->repetition == PARQUET_REPEATED;
    if (repeated && n->logical == PARQUET_MAP && inner->child_count == 2) {
        type->kind = TYPE_MAP;
        return infer_fields(x, inner->children, 2, entry, depth, type);
    }
    if (repeated) {
        type->kind = TYPE_ARRAY;
        const struct parquet_node *item = parquet_list_element(n);
        TRY(infer_fields(x, item, 1, element, depth, type));
        return OK;
    }
    type->kind = TYPE_ROW;
    return infer_fields(x, n->children, n->child_count, NULL, depth, type);
}

static enum err_code infer_type(const struct infer *x, const struct parquet_node *n, bool nullable, unsigned depth,
                                const struct type **out)
{
    struct type *type = ARENA_NEW(x->arena, struct type);
    if (depth > SCHEMA_DEPTH_MAX)
        return err_set(x->err, ERR_LIMIT, "Parquet: more than %d types within one another", SCHEMA_DEPTH_MAX);
    type->nullable = nullable;
    *out = type;
    if (n->is_group)
        return infer_group(x, n, depth, type);
    infer_leaf(n, type);
    return OK;
}

enum err_code parquet_schema_infer(struct arena *arena, const struct parquet_schema *schema,
                                   struct schema_column **columns, uint32_t *column_count, struct err *err)
{
    struct infer x = {arena, err};
    uint32_t count = schema->root.child_count;
    struct schema_column *list = ARENA_NEW_ARRAY(arena, struct schema_column, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct parquet_node *n = &schema->root.children[i];
        list[i].name = n->name;
        list[i].id = n->field_id;
        TRY(infer_type(&x, n, n->repetition != PARQUET_REQUIRED, 1, &list[i].type));
    }
    *columns = list;
    *column_count = count;
    return OK;
}
