/* The file's schema from the table's columns, and the levels of any schema. */
#include "format/parquet/parquet_int.h"

/* Paimon's ids of what has none in its own schema (SpecialFields.java): elements, keys and values by the column's id.
 */
#define PAIMON_NESTED_ID_BASE 536870911
#define PAIMON_NESTED_ID_STEP 1024

struct build {
    struct arena *arena;
    enum parquet_profile profile;
};

/* Where in a column a node stands: the column's id, and how many ARRAY and MAP are around it. */
struct place {
    int32_t column_id;
    int32_t depth;
};

int64_t parquet_ticks_of_precision(int32_t precision)
{
    return precision <= 0 ? 1 : precision <= 3 ? 1000 : precision <= 6 ? 1000000 : 1000000000;
}

int64_t parquet_ticks_of_unit(enum parquet_unit unit)
{
    return unit == PARQUET_MILLIS ? 1000 : unit == PARQUET_MICROS ? 1000000 : 1000000000;
}

uint32_t parquet_physical_width(const struct parquet_node *leaf)
{
    switch (leaf->physical) {
    case PARQUET_INT32:
    case PARQUET_FLOAT:
        return 4;
    case PARQUET_INT64:
    case PARQUET_DOUBLE:
        return 8;
    case PARQUET_INT96:
        return 12;
    case PARQUET_FIXED:
        return leaf->type_length;
    default:
        return 0;
    }
}

const char *parquet_physical_name(enum parquet_physical physical)
{
    static const char *const names[PARQUET_PHYSICAL_COUNT] = {
        "BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
    return names[physical];
}

static void make_decimal(struct parquet_node *n, const struct type *type)
{
    n->logical = PARQUET_DECIMAL;
    n->precision = type->precision;
    n->scale = type->scale;
    if (type->precision <= 9) {
        n->physical = PARQUET_INT32;
    } else if (type->precision <= 18) {
        n->physical = PARQUET_INT64;
    } else {
        n->physical = PARQUET_FIXED;
        /* The fewest bytes whose signed range holds 10^precision - 1. */
        __int128 most = 1;
        for (int32_t i = 0; i < type->precision; i++)
            most *= 10;
        for (n->type_length = 9; n->type_length < 16 && most - 1 > ((__int128)1 << (8 * n->type_length - 1)) - 1;)
            n->type_length++;
    }
}

static void make_int(const struct build *b, struct parquet_node *n, int32_t bit_width)
{
    n->physical = PARQUET_INT32;
    if (b->profile == PARQUET_PAIMON) {
        n->logical = PARQUET_INT;
        n->bit_width = bit_width;
    }
}

static void make_time(const struct build *b, struct parquet_node *n)
{
    bool paimon = b->profile == PARQUET_PAIMON;
    n->logical = PARQUET_TIME;
    n->physical = paimon ? PARQUET_INT32 : PARQUET_INT64;
    n->unit = paimon ? PARQUET_MILLIS : PARQUET_MICROS;
    n->utc = paimon; /* as Java Paimon marks it */
}

static void make_timestamp(const struct build *b, struct parquet_node *n, const struct type *type)
{
    if (b->profile == PARQUET_PAIMON && type->precision > 6) {
        n->physical = PARQUET_INT96;
        return;
    }
    n->physical = PARQUET_INT64;
    n->logical = PARQUET_TIMESTAMP;
    n->unit = b->profile == PARQUET_PAIMON && type->precision <= 3 ? PARQUET_MILLIS : PARQUET_MICROS;
    n->utc = type->kind == TYPE_TIMESTAMP_LTZ;
}

static void make_leaf(const struct build *b, struct parquet_node *n, const struct type *type)
{
    static const enum parquet_physical physical[TYPE_KIND_COUNT] = {
        [TYPE_BOOLEAN] = PARQUET_BOOLEAN,   [TYPE_INTEGER] = PARQUET_INT32,     [TYPE_BIGINT] = PARQUET_INT64,
        [TYPE_FLOAT] = PARQUET_FLOAT,       [TYPE_DOUBLE] = PARQUET_DOUBLE,     [TYPE_CHAR] = PARQUET_BYTE_ARRAY,
        [TYPE_STRING] = PARQUET_BYTE_ARRAY, [TYPE_BINARY] = PARQUET_BYTE_ARRAY, [TYPE_BYTES] = PARQUET_BYTE_ARRAY,
        [TYPE_DATE] = PARQUET_INT32};
    n->physical = physical[type->kind];
    switch (type->kind) {
    case TYPE_TINYINT:
        make_int(b, n, 8);
        break;
    case TYPE_SMALLINT:
        make_int(b, n, 16);
        break;
    case TYPE_CHAR:
    case TYPE_STRING:
        n->logical = PARQUET_STRING;
        break;
    case TYPE_DECIMAL:
        make_decimal(n, type);
        break;
    case TYPE_DATE:
        n->logical = PARQUET_DATE;
        break;
    case TYPE_TIME:
        make_time(b, n);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        make_timestamp(b, n, type);
        break;
    default:
        break;
    }
}

static void make_node(const struct build *b, struct parquet_node *n, struct slice name, const struct type *type,
                      int32_t id, struct place place);

/* The id of an ARRAY's element (side 1), a MAP's key (side -1) or value (side 1). */
static int32_t nested_id(const struct build *b, const struct field *field, struct place place, int side)
{
    if (b->profile == PARQUET_ICEBERG)
        return field->id;
    if (place.column_id < 0)
        return -1;
    int64_t id =
        PAIMON_NESTED_ID_BASE + (int64_t)side * (place.column_id * (int64_t)PAIMON_NESTED_ID_STEP + place.depth);
    return id < 0 || id > INT32_MAX ? -1 : (int32_t)id;
}

/* The repeated group within a LIST or MAP group, with room for its children. */
static struct parquet_node *make_repeated(const struct build *b, struct parquet_node *n, enum parquet_logical logical,
                                          struct slice name, uint32_t child_count)
{
    struct parquet_node *inner = ARENA_NEW_ARRAY(b->arena, struct parquet_node, 1);
    n->is_group = true;
    n->logical = logical;
    n->children = inner;
    n->child_count = 1;
    inner->name = name;
    inner->repetition = PARQUET_REPEATED;
    inner->is_group = true;
    inner->field_id = -1;
    inner->children = ARENA_NEW_ARRAY(b->arena, struct parquet_node, child_count);
    inner->child_count = child_count;
    return inner;
}

static void make_group(const struct build *b, struct parquet_node *n, const struct type *type, struct place place)
{
    struct place inside = {place.column_id, place.depth + 1};
    const struct field *f = type->fields;
    if (type->kind == TYPE_ARRAY) {
        struct parquet_node *list = make_repeated(b, n, PARQUET_LIST, SLICE("list"), 1);
        make_node(b, &list->children[0], SLICE("element"), f[0].type, nested_id(b, &f[0], inside, 1), inside);
    } else if (type->kind == TYPE_MAP) {
        struct parquet_node *kv = make_repeated(b, n, PARQUET_MAP, SLICE("key_value"), 2);
        make_node(b, &kv->children[0], SLICE("key"), f[0].type, nested_id(b, &f[0], inside, -1), inside);
        kv->children[0].repetition = PARQUET_REQUIRED;
        make_node(b, &kv->children[1], SLICE("value"), f[1].type, nested_id(b, &f[1], inside, 1), inside);
    } else {
        n->is_group = true;
        n->children = ARENA_NEW_ARRAY(b->arena, struct parquet_node, type->field_count);
        n->child_count = type->field_count;
        for (uint32_t i = 0; i < type->field_count; i++)
            make_node(b, &n->children[i], f[i].name, f[i].type, f[i].id, (struct place){f[i].id, 0});
    }
}

static void make_node(const struct build *b, struct parquet_node *n, struct slice name, const struct type *type,
                      int32_t id, struct place place)
{
    n->name = name;
    n->repetition = type->nullable ? PARQUET_OPTIONAL : PARQUET_REQUIRED;
    n->field_id = id;
    if (type->kind == TYPE_ARRAY || type->kind == TYPE_MAP || type->kind == TYPE_ROW)
        make_group(b, n, type, place);
    else
        make_leaf(b, n, type);
}

enum err_code parquet_schema_build(struct arena *arena, enum parquet_profile profile,
                                   const struct schema_column *columns, uint32_t column_count,
                                   struct parquet_schema *schema, struct err *err)
{
    struct build b = {arena, profile};
    *schema = (struct parquet_schema){0};
    schema->root.name = profile == PARQUET_PAIMON ? SLICE("paimon_schema") : SLICE("table");
    schema->root.is_group = true;
    schema->root.field_id = -1;
    schema->root.children = ARENA_NEW_ARRAY(arena, struct parquet_node, column_count);
    schema->root.child_count = column_count;
    for (uint32_t i = 0; i < column_count; i++)
        make_node(&b, &schema->root.children[i], columns[i].name, columns[i].type, columns[i].id,
                  (struct place){columns[i].id, 0});
    return parquet_schema_number(arena, schema, err);
}

static uint32_t count_leaves(const struct parquet_node *n)
{
    if (!n->is_group)
        return 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->child_count; i++)
        count += count_leaves(&n->children[i]);
    return count;
}

/* Levels grow by at most one a node, and files have at most PARQUET_DEPTH_MAX nodes within one another. */
static void number(struct parquet_schema *schema, struct parquet_node *n, uint8_t def, uint8_t rep)
{
    n->max_def = (uint8_t)(def + (n->repetition != PARQUET_REQUIRED));
    n->max_rep = (uint8_t)(rep + (n->repetition == PARQUET_REPEATED));
    n->leaf_index = schema->leaf_count;
    if (!n->is_group)
        schema->leaves[schema->leaf_count++] = n;
    for (uint32_t i = 0; i < n->child_count; i++)
        number(schema, &n->children[i], n->max_def, n->max_rep);
    n->leaf_count = schema->leaf_count - n->leaf_index;
}

enum err_code parquet_schema_number(struct arena *arena, struct parquet_schema *schema, struct err *err)
{
    uint32_t count = count_leaves(&schema->root);
    if (count > PARQUET_LEAVES_MAX)
        return err_set(err, ERR_LIMIT, "%u columns are more than a Parquet file may have here", count);
    schema->leaves = ARENA_NEW_ARRAY(arena, const struct parquet_node *, count);
    schema->leaf_count = 0;
    number(schema, &schema->root, 0, 0);
    return OK;
}
