/* Levels and values of a slice into a struct column.
 *
 * A place is a value or null of a column: one for each row at the top, one for each item within a list. An entry of a
 * leaf stands for a place of a node above it where nothing closer begins anew (repetition level at most that of the
 * repeated node around) and that repeated node has an item there (definition level at least the repeated node's own).
 */
#include "format/parquet/parquet_int.h"

struct around {
    uint8_t rep; /* levels of the nearest repeated node around; 0, 0 at the top */
    uint8_t def;
};

struct assembly {
    struct arena *arena;
    struct parquet_leaf_reader *leaves;
    struct err *err;
};

static uint8_t level(const struct buf *levels, uint32_t i)
{
    return levels->len ? levels->ptr[i] : 0;
}

static bool is_place(const struct parquet_leaf_reader *leaf, uint32_t i, struct around a)
{
    return level(&leaf->rep, i) <= a.rep && level(&leaf->def, i) >= a.def;
}

static uint32_t count_places(const struct parquet_leaf_reader *leaf, struct around a)
{
    uint32_t n = 0;
    if (!leaf->rep.len && !a.def)
        return leaf->entry_count;
    for (uint32_t i = 0; i < leaf->entry_count; i++)
        n += is_place(leaf, i, a);
    return n;
}

static enum err_code lengths_differ(const struct assembly *x, const struct parquet_node *n)
{
    return err_set(x->err, ERR_CORRUPT, "Parquet column %.*s: its parts do not have the same number of values",
                   SLICE_ARGS(n->name));
}

/* A bit for each place: whether the node is there. */
static void make_validity(const struct assembly *x, const struct parquet_leaf_reader *leaf, uint8_t node_def,
                          struct around a, struct column *out)
{
    if (node_def == a.def)
        return; /* as required as what is around it */
    uint8_t *bits = arena_zalloc(x->arena, (out->length + (size_t)7) / 8);
    uint32_t place = 0, there = 0;
    for (uint32_t i = 0; i < leaf->entry_count; i++) {
        if (!is_place(leaf, i, a))
            continue;
        bool valid = level(&leaf->def, i) >= node_def;
        bits[place >> 3] |= (uint8_t)(valid << (place & 7));
        there += valid;
        place++;
    }
    out->null_count = out->length - there;
    out->validity = out->null_count ? bits : NULL;
}

/* ---- values ---- */

static void pack_bools(const struct assembly *x, const struct parquet_values *v, struct column *out)
{
    uint8_t *bits = arena_zalloc(x->arena, (out->length + (size_t)7) / 8);
    for (uint32_t i = 0, k = 0; i < out->length; i++)
        if (!column_is_null(out, i))
            bits[i >> 3] |= (uint8_t)(v->data.ptr[k++] << (i & 7));
    out->data = bits;
    out->data_len = (out->length + (size_t)7) / 8;
}

/* Moves values apart, from the last to the first, so that nulls have a place. */
static void spread(struct parquet_values *v, size_t width, struct column *out)
{
    if (out->null_count) {
        buf_reserve(&v->data, out->null_count * width);
        uint8_t *p = v->data.ptr;
        size_t k = v->count;
        for (size_t i = out->length; i-- > 0;) {
            if (column_is_null(out, (uint32_t)i))
                memset(p + i * width, 0, width);
            else if (--k != i)
                memcpy(p + i * width, p + k * width, width);
        }
        v->data.len = out->length * width;
    }
    out->data = v->data.ptr;
    out->data_len = v->data.len;
}

static void spread_offsets(const struct assembly *x, struct parquet_values *v, struct column *out)
{
    if (!v->offsets.len)
        buf_put_u32(&v->offsets, 0);
    out->data = v->data.ptr;
    out->data_len = v->data.len;
    out->offsets = v->offsets.ptr;
    if (!out->null_count)
        return;
    uint8_t *offsets = arena_alloc(x->arena, (out->length + (size_t)1) * 4);
    store_u32(offsets, 0);
    for (uint32_t i = 0, k = 0; i < out->length; i++) {
        k += !column_is_null(out, i);
        store_u32(offsets + (i + (size_t)1) * 4, load_u32(v->offsets.ptr + k * (size_t)4));
    }
    out->offsets = offsets;
}

static enum err_code make_scalar(const struct assembly *x, const struct parquet_want *want, struct around a,
                                 struct column *out)
{
    struct parquet_leaf_reader *leaf = &x->leaves[want->leaf];
    make_validity(x, leaf, want->node->max_def, a, out);
    if (leaf->values.count != out->length - out->null_count)
        return lengths_differ(x, want->node);
    if (leaf->convert.kind == PARQUET_CONV_BOOL)
        pack_bools(x, &leaf->values, out);
    else if (leaf->convert.to_width)
        spread(&leaf->values, leaf->convert.to_width, out);
    else
        spread_offsets(x, &leaf->values, out);
    return OK;
}

/* ---- groups ---- */

static enum err_code make(const struct assembly *x, const struct parquet_want *want, struct around a, uint32_t places,
                          struct column *out);

static enum err_code make_row(const struct assembly *x, const struct parquet_want *want, struct around a,
                              struct column *out)
{
    make_validity(x, &x->leaves[want->leaf], want->node->max_def, a, out);
    out->children = ARENA_NEW_ARRAY(x->arena, struct column, want->type->field_count);
    for (uint32_t i = 0; i < want->type->field_count; i++)
        TRY(make(x, &want->children[i], a, out->length, &out->children[i]));
    return OK;
}

/* Where each place's items begin; gives how many there are. */
static uint32_t make_offsets(const struct assembly *x, const struct parquet_leaf_reader *leaf, struct around a,
                             struct around items, struct column *out)
{
    uint8_t *offsets = arena_alloc(x->arena, (out->length + (size_t)1) * 4);
    uint32_t place = 0, item = 0;
    for (uint32_t i = 0; i < leaf->entry_count; i++) {
        if (is_place(leaf, i, a))
            store_u32(offsets + place++ * (size_t)4, item);
        item += is_place(leaf, i, items);
    }
    store_u32(offsets + place * (size_t)4, item);
    out->offsets = offsets;
    return item;
}

static enum err_code make_items(const struct assembly *x, const struct parquet_want *want, struct around a,
                                struct column *out)
{
    const struct parquet_leaf_reader *leaf = &x->leaves[want->leaf];
    const struct parquet_node *repeated = &want->node->children[0];
    struct around items = {repeated->max_rep, repeated->max_def};
    uint32_t side_count = want->type->kind == TYPE_MAP ? 2 : 1;
    make_validity(x, leaf, want->node->max_def, a, out);
    uint32_t item_count = make_offsets(x, leaf, a, items, out);
    out->children = ARENA_NEW_ARRAY(x->arena, struct column, side_count);
    for (uint32_t i = 0; i < side_count; i++)
        TRY(make(x, &want->children[i], items, item_count, &out->children[i]));
    return OK;
}

static enum err_code make(const struct assembly *x, const struct parquet_want *want, struct around a, uint32_t places,
                          struct column *out)
{
    *out = (struct column){.type = want->type, .length = places};
    if (!want->node) {
        column_nulls(x->arena, want->type, places, out);
        return OK;
    }
    if (count_places(&x->leaves[want->leaf], a) != places)
        return lengths_differ(x, want->node);
    if (want->type->kind == TYPE_ROW)
        return make_row(x, want, a, out);
    if (want->type->kind == TYPE_ARRAY || want->type->kind == TYPE_MAP)
        return make_items(x, want, a, out);
    return make_scalar(x, want, a, out);
}

enum err_code parquet_assemble(struct arena *arena, const struct parquet_want *want, struct parquet_leaf_reader *leaves,
                               uint32_t rows, struct column *out, struct err *err)
{
    struct assembly x = {arena, leaves, err};
    return make(&x, want, (struct around){0, 0}, rows, out);
}
