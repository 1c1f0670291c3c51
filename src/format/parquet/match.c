/* What of the file makes what is wanted: columns by name or id, the shapes that lists have had, and types. */
#include "format/parquet/parquet_int.h"

struct match {
    struct arena *arena;
    enum parquet_match by;
    parquet_choice_vec *choices;
    struct slice column; /* top-level, for messages */
    struct err *err;
};

/* ---- types ---- */

static void scale_time(struct parquet_convert *c, int64_t from_ticks, int64_t to_ticks)
{
    c->kind = PARQUET_CONV_TIME;
    c->times = to_ticks >= from_ticks ? to_ticks / from_ticks : 1;
    c->by = to_ticks >= from_ticks ? 1 : from_ticks / to_ticks;
    if (from_ticks == to_ticks && c->from_width == c->to_width)
        c->kind = PARQUET_CONV_COPY;
}

static bool is_int(const struct parquet_node *n)
{
    return n->physical == PARQUET_INT32 || n->physical == PARQUET_INT64;
}

static bool choose_int(const struct parquet_node *n, struct parquet_convert *c)
{
    if (!is_int(n) || (n->logical != PARQUET_INT && n->logical != PARQUET_PLAIN_TYPE) ||
        (n->is_unsigned && n->bit_width >= 32) || (n->physical == PARQUET_INT64 && c->to_width < 8))
        return false;
    c->kind = c->from_width == c->to_width ? PARQUET_CONV_COPY : PARQUET_CONV_INT;
    return true;
}

static bool choose_real(const struct parquet_node *n, struct parquet_convert *c)
{
    bool same = n->physical == (c->to_width == 4 ? PARQUET_FLOAT : PARQUET_DOUBLE);
    if (!same && !(c->to_width == 8 && n->physical == PARQUET_FLOAT))
        return false;
    c->kind = same ? PARQUET_CONV_COPY : PARQUET_CONV_REAL;
    return true;
}

static bool choose_bytes(const struct parquet_node *n, const struct type *type, struct parquet_convert *c)
{
    bool bytes = n->physical == PARQUET_BYTE_ARRAY, fixed = n->physical == PARQUET_FIXED;
    if ((!bytes && !fixed) || n->logical == PARQUET_DECIMAL)
        return false;
    c->kind = PARQUET_CONV_BYTES;
    if (type->kind != TYPE_BINARY)
        return true;
    c->kind = fixed ? PARQUET_CONV_COPY : PARQUET_CONV_BINARY;
    return bytes || c->from_width == c->to_width;
}

static bool choose_decimal(const struct parquet_node *n, const struct type *type, struct parquet_convert *c)
{
    bool physical = is_int(n) || n->physical == PARQUET_FIXED || n->physical == PARQUET_BYTE_ARRAY;
    if (!physical || n->logical != PARQUET_DECIMAL || n->scale != type->scale)
        return false;
    c->kind = PARQUET_CONV_DECIMAL;
    c->precision = type->precision;
    return true;
}

static bool choose_time(const struct parquet_node *n, const struct type *type, struct parquet_convert *c)
{
    bool is_time = n->logical == PARQUET_TIME;
    if (!is_int(n) || (!is_time && n->logical != PARQUET_PLAIN_TYPE))
        return false;
    int64_t bare = n->physical == PARQUET_INT32 ? 1000 : 1000000;
    scale_time(c, is_time ? parquet_ticks_of_unit(n->unit) : bare, parquet_ticks_of_precision(type->precision));
    return true;
}

static bool choose_timestamp(const struct parquet_node *n, const struct type *type, struct parquet_convert *c)
{
    int64_t ticks = parquet_ticks_of_precision(type->precision);
    if (n->physical == PARQUET_INT96) {
        c->kind = PARQUET_CONV_INT96;
        c->times = ticks;
        return true;
    }
    bool is_timestamp = n->logical == PARQUET_TIMESTAMP;
    if (n->physical != PARQUET_INT64 || (!is_timestamp && n->logical != PARQUET_PLAIN_TYPE))
        return false;
    int64_t bare = type->precision <= 3 ? 1000 : 1000000; /* as Paimon takes it */
    scale_time(c, is_timestamp ? parquet_ticks_of_unit(n->unit) : bare, ticks);
    return true;
}

/* Bytes of a value in a column; booleans one until the column is made; 0 with offsets. */
static uint32_t width_of(const struct type *type)
{
    switch (type->kind) {
    case TYPE_BOOLEAN:
    case TYPE_TINYINT:
        return 1;
    case TYPE_SMALLINT:
        return 2;
    case TYPE_INTEGER:
    case TYPE_FLOAT:
    case TYPE_DATE:
        return 4;
    case TYPE_TIME:
        return type->precision <= 3 ? 4 : 8;
    case TYPE_BINARY:
        return (uint32_t)type->length;
    case TYPE_DECIMAL:
        return 16;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BYTES:
        return 0;
    default:
        return 8;
    }
}

static bool choose(const struct parquet_node *n, const struct type *type, struct parquet_convert *c)
{
    switch (type->kind) {
    case TYPE_BOOLEAN:
        c->kind = PARQUET_CONV_BOOL;
        return n->physical == PARQUET_BOOLEAN;
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INTEGER:
    case TYPE_BIGINT:
        return choose_int(n, c);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return choose_real(n, c);
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_BYTES:
        return choose_bytes(n, type, c);
    case TYPE_DECIMAL:
        return choose_decimal(n, type, c);
    case TYPE_DATE:
        c->kind = PARQUET_CONV_COPY;
        return n->physical == PARQUET_INT32 && (n->logical == PARQUET_DATE || n->logical == PARQUET_PLAIN_TYPE);
    case TYPE_TIME:
        return choose_time(n, type, c);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        return choose_timestamp(n, type, c);
    default:
        return false;
    }
}

static enum err_code refuse(struct slice column, const struct type *type, const char *physical, struct err *err)
{
    struct buf sql = {0};
    type_to_sql(type, &sql);
    enum err_code code = err_set(err, ERR_NOT_SUPPORTED, "Parquet column %.*s: %s of the file can't be read as %.*s",
                                 SLICE_ARGS(column), physical, SLICE_ARGS(buf_view(&sql)));
    buf_deinit(&sql);
    return code;
}

enum err_code parquet_convert_choose(const struct parquet_node *leaf, const struct type *type, struct slice column,
                                     struct parquet_convert *convert, struct err *err)
{
    struct parquet_convert c = {
        .physical = leaf->physical, .from_width = parquet_physical_width(leaf), .to_width = width_of(type)};
    if (!choose(leaf, type, &c))
        return refuse(column, type, parquet_physical_name(leaf->physical), err);
    *convert = c;
    return OK;
}

/* ---- columns ---- */

static enum err_code match_node(struct match *m, const struct parquet_node *n, const struct type *type,
                                struct parquet_want *want);

static uint32_t choose_leaf(struct match *m, const struct parquet_node *leaf, const struct parquet_convert *convert)
{
    vec_push(m->choices, ((struct parquet_leaf_choice){leaf, *convert}));
    return (uint32_t)m->choices->len - 1;
}

static const struct parquet_node *find_child(const struct match *m, const struct parquet_node *group, struct slice name,
                                             int32_t id)
{
    for (uint32_t i = 0; i < group->child_count; i++) {
        const struct parquet_node *child = &group->children[i];
        if (m->by == PARQUET_BY_ID ? id >= 0 && child->field_id == id : slice_equal(child->name, name))
            return child;
    }
    return NULL;
}

static const struct parquet_node *first_leaf(const struct parquet_node *n)
{
    while (n->is_group)
        n = &n->children[0];
    return n;
}

static enum err_code match_row(struct match *m, const struct parquet_node *n, const struct type *type,
                               struct parquet_want *want)
{
    want->children = ARENA_NEW_ARRAY(m->arena, struct parquet_want, type->field_count);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct field *f = &type->fields[i];
        TRY(match_node(m, find_child(m, n, f->name, f->id), f->type, &want->children[i]));
    }
    return OK;
}

/* The element of a list: below the repeated group, or, in files of old writers, the repeated node itself
 * (parquet-format, LogicalTypes.md, backward compatibility rules). */
const struct parquet_node *parquet_list_element(const struct parquet_node *list)
{
    const struct parquet_node *r = &list->children[0];
    if (!r->is_group || r->child_count != 1 || slice_is(r->name, "array"))
        return r;
    bool tuple = slice_ends_with(r->name, SLICE("_tuple")) && r->name.len == list->name.len + 6 &&
                 slice_starts_with(r->name, list->name);
    return tuple ? r : &r->children[0];
}

static enum err_code match_items(struct match *m, const struct parquet_node *n, const struct type *type,
                                 struct parquet_want *want)
{
    const struct parquet_node *r = n->child_count == 1 ? &n->children[0] : NULL;
    if (!r || r->repetition != PARQUET_REPEATED || (type->kind == TYPE_MAP && !r->is_group))
        return refuse(m->column, type, "a group", m->err);
    uint32_t count = type->kind == TYPE_MAP ? 2 : 1;
    want->children = ARENA_NEW_ARRAY(m->arena, struct parquet_want, count);
    if (count == 1)
        return match_node(m, parquet_list_element(n), type->fields[0].type, &want->children[0]);
    TRY(match_node(m, &r->children[0], type->fields[0].type, &want->children[0]));
    return match_node(m, r->child_count > 1 ? &r->children[1] : NULL, type->fields[1].type, &want->children[1]);
}

static enum err_code match_group(struct match *m, const struct parquet_node *n, const struct type *type,
                                 struct parquet_want *want)
{
    static const struct parquet_convert levels_only = {.kind = PARQUET_CONV_NONE};
    size_t before = m->choices->len;
    if (!n->is_group)
        return refuse(m->column, type, parquet_physical_name(n->physical), m->err);
    if (type->kind == TYPE_ROW)
        TRY(match_row(m, n, type, want));
    else
        TRY(match_items(m, n, type, want));
    want->leaf = m->choices->len > before ? (uint32_t)before : choose_leaf(m, first_leaf(n), &levels_only);
    return OK;
}

static enum err_code match_node(struct match *m, const struct parquet_node *n, const struct type *type,
                                struct parquet_want *want)
{
    want->type = type;
    want->node = n;
    if (!n)
        return OK;
    if (type_is_nested(type))
        return match_group(m, n, type, want);
    if (n->is_group)
        return refuse(m->column, type, "a group", m->err);
    struct parquet_convert convert;
    TRY(parquet_convert_choose(n, type, m->column, &convert, m->err));
    want->leaf = choose_leaf(m, n, &convert);
    return OK;
}

enum err_code parquet_want_match(struct arena *arena, const struct parquet_schema *schema,
                                 const struct schema_column *columns, uint32_t column_count, enum parquet_match match,
                                 struct parquet_want *wants, parquet_choice_vec *choices, struct err *err)
{
    for (uint32_t i = 0; i < column_count; i++) {
        struct match m = {arena, match, choices, columns[i].name, err};
        const struct parquet_node *n = find_child(&m, &schema->root, columns[i].name, columns[i].id);
        if (n && n->repetition == PARQUET_REPEATED)
            return refuse(columns[i].name, columns[i].type, "a repeated column", err);
        TRY(match_node(&m, n, columns[i].type, &wants[i]));
    }
    return OK;
}
