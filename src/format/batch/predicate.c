/* Which batches of a log can't hold a row that meets a condition, as their column statistics tell. */
#include "format/batch/batch.h"

#include "format/row/row.h"

/* The statistics of one batch, its columns named by their positions in its schema. */
struct bounds {
    const struct schema *schema;
    struct log_batch_statistics statistics;
    const struct datum *min, *max; /* one a column of the statistics */
    int64_t row_count;
};

/* What one leaf is asked about. */
struct leaf {
    const struct predicate *predicate;
    const struct datum *min, *max; /* null: not known */
    int64_t row_count, null_count;
};

/* False where nothing is known of the column. One that this schema does not have could be taken for null everywhere;
 * Fluss does not, and neither does this. */
static bool leaf_find(const struct bounds *bounds, const struct predicate *predicate, struct leaf *leaf)
{
    int32_t position = schema_find_id(bounds->schema, predicate->column_id);
    if (position < 0 || !type_equal(bounds->schema->columns[position].type, predicate->type, false))
        return false;
    for (uint32_t i = 0; i < bounds->statistics.count; i++) {
        if (load_u16(bounds->statistics.positions + 2 * (size_t)i) != position)
            continue;
        *leaf = (struct leaf){predicate, &bounds->min[i], &bounds->max[i], bounds->row_count,
                              (int32_t)load_u32(bounds->statistics.null_counts + 4 * (size_t)i)};
        return leaf->null_count >= 0 && leaf->null_count <= leaf->row_count;
    }
    return false;
}

static bool is_nan(const struct type *type, const struct datum *value)
{
    return (type->kind == TYPE_FLOAT && value->f32 != value->f32) ||
           (type->kind == TYPE_DOUBLE && value->f64 != value->f64);
}

/* Where a NaN is among them nothing is said: engines disagree on what it equals and where it is in the order. */
static bool any_nan(const struct leaf *leaf)
{
    const struct predicate *p = leaf->predicate;
    bool found = is_nan(p->type, leaf->min) || is_nan(p->type, leaf->max);
    for (uint32_t i = 0; i < p->literal_count; i++)
        found |= !p->literals[i].is_null && is_nan(p->type, &p->literals[i]);
    return found;
}

/* Numbers compare as SQL has them: -0.0 and 0.0 are equal, though they lie side by side in the statistics' order. */
static int compare(const struct type *type, const struct datum *a, const struct datum *b)
{
    if (type->kind == TYPE_FLOAT)
        return (a->f32 > b->f32) - (a->f32 < b->f32);
    if (type->kind == TYPE_DOUBLE)
        return (a->f64 > b->f64) - (a->f64 < b->f64);
    return datum_compare(type, a, b);
}

static int min_to(const struct leaf *leaf, const struct datum *literal)
{
    return compare(leaf->predicate->type, leaf->min, literal);
}

static int max_to(const struct leaf *leaf, const struct datum *literal)
{
    return compare(leaf->predicate->type, leaf->max, literal);
}

static struct slice front(const struct datum *text, size_t len)
{
    return slice_of(text->bytes.ptr, MIN(text->bytes.len, len));
}

/* Some text between min and max begins with the prefix. */
static bool may_start_with(const struct leaf *leaf, struct slice prefix)
{
    return slice_compare(front(leaf->min, prefix.len), prefix) <= 0 &&
           slice_compare(front(leaf->max, prefix.len), prefix) >= 0;
}

static bool may_be_in(const struct leaf *leaf)
{
    const struct predicate *p = leaf->predicate;
    for (uint32_t i = 0; i < p->literal_count; i++)
        if (!p->literals[i].is_null && min_to(leaf, &p->literals[i]) <= 0 && max_to(leaf, &p->literals[i]) >= 0)
            return true;
    return false;
}

/* Not if all rows are one value, and that is listed; a null in the list makes NOT IN true for no row. */
static bool may_be_outside(const struct leaf *leaf)
{
    const struct predicate *p = leaf->predicate;
    for (uint32_t i = 0; i < p->literal_count; i++)
        if (p->literals[i].is_null || (min_to(leaf, &p->literals[i]) == 0 && max_to(leaf, &p->literals[i]) == 0))
            return false;
    return true;
}

/* The column has values, and its bounds are known; literals that must be there are, and are not null. */
static bool bounds_may_match(const struct leaf *leaf)
{
    const struct datum *literal = leaf->predicate->literals;
    switch (leaf->predicate->kind) {
    case PREDICATE_EQUAL:
        return min_to(leaf, literal) <= 0 && max_to(leaf, literal) >= 0;
    case PREDICATE_NOT_EQUAL:
        return min_to(leaf, literal) != 0 || max_to(leaf, literal) != 0;
    case PREDICATE_LESS:
        return min_to(leaf, literal) < 0;
    case PREDICATE_LESS_OR_EQUAL:
        return min_to(leaf, literal) <= 0;
    case PREDICATE_GREATER:
        return max_to(leaf, literal) > 0;
    case PREDICATE_GREATER_OR_EQUAL:
        return max_to(leaf, literal) >= 0;
    case PREDICATE_STARTS_WITH:
        return may_start_with(leaf, literal->bytes);
    case PREDICATE_IN:
        return may_be_in(leaf);
    case PREDICATE_NOT_IN:
        return may_be_outside(leaf);
    default:
        return true; /* CONTAINS, ENDS_WITH: least and greatest say nothing */
    }
}

static bool leaf_may_match(const struct bounds *bounds, const struct predicate *p)
{
    struct leaf leaf;
    if (!leaf_find(bounds, p, &leaf))
        return true;
    if (p->kind == PREDICATE_IS_NULL)
        return leaf.null_count > 0;
    if (leaf.null_count == leaf.row_count)
        return false; /* nothing but nulls meets nothing but IS NULL */
    if (p->kind == PREDICATE_IS_NOT_NULL)
        return true;
    bool takes_list = p->kind == PREDICATE_IN || p->kind == PREDICATE_NOT_IN;
    if (!takes_list && p->literals[0].is_null)
        return false;
    if (leaf.min->is_null || leaf.max->is_null || any_nan(&leaf))
        return true;
    return bounds_may_match(&leaf);
}

static bool may_match(const struct bounds *bounds, const struct predicate *p)
{
    if (p->kind != PREDICATE_AND && p->kind != PREDICATE_OR)
        return leaf_may_match(bounds, p);
    bool all = p->kind == PREDICATE_AND;
    for (uint32_t i = 0; i < p->child_count; i++)
        if (may_match(bounds, &p->children[i]) != all)
            return !all;
    return all;
}

static bool bounds_read(const struct log_batch *batch, const struct schema *schema, struct arena *scratch,
                        struct bounds *bounds)
{
    bool present = false;
    struct log_batch_statistics *s = &bounds->statistics;
    if (!batch->statistics.len || log_batch_statistics_read(batch, schema->column_count, &present, s, NULL) != OK ||
        !present)
        return false;
    uint32_t *positions = ARENA_NEW_ARRAY(scratch, uint32_t, s->count);
    for (uint32_t i = 0; i < s->count; i++)
        positions[i] = load_u16(s->positions + 2 * (size_t)i);
    const struct type *row = row_type_of(scratch, schema, positions, s->count);
    struct datum *min = ARENA_NEW_ARRAY(scratch, struct datum, s->count);
    struct datum *max = ARENA_NEW_ARRAY(scratch, struct datum, s->count);
    bounds->schema = schema;
    bounds->min = min;
    bounds->max = max;
    bounds->row_count = batch->record_count;
    return row_decode(ROW_ALIGNED, row, s->min, scratch, min, NULL) == OK &&
           row_decode(ROW_ALIGNED, row, s->max, scratch, max, NULL) == OK;
}

bool log_batch_may_match(const struct log_batch *batch, const struct schema *schema, const struct predicate *predicate,
                         struct arena *scratch)
{
    struct bounds bounds;
    return !bounds_read(batch, schema, scratch, &bounds) || may_match(&bounds, predicate);
}
