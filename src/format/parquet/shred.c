/* Rows into one leaf's levels and values (the striping of the Dremel paper).
 *
 * An entry stands for one value, or for one place where it ends early: the definition level tells how many optional and
 * repeated nodes of the path are there, the repetition level at which repeated node a new item begins (0: a new row).
 */
#include "format/parquet/parquet_int.h"

static void put_entries(struct parquet_leaf_writer *leaf, uint32_t count, uint8_t rep, uint8_t def)
{
    if (leaf->node->max_def)
        memset(buf_extend(&leaf->def, count), def, count);
    if (leaf->node->max_rep)
        memset(buf_extend(&leaf->rep, count), rep, count);
    leaf->entry_count += count;
    if (def < leaf->node->max_def)
        leaf->nulls += count;
}

static enum err_code null_refused(const struct parquet_node *node, struct err *err)
{
    return err_set(err, ERR_INVALID_ARGUMENT, "column %.*s: a null in a column that is NOT NULL",
                   SLICE_ARGS(node->name));
}

/* A leaf without anything repeated above it: runs of values and of nulls at a time. */
static enum err_code shred_flat(struct parquet_leaf_writer *leaf, const struct column *c, uint32_t from, uint32_t count,
                                uint8_t rep, uint8_t def, struct err *err)
{
    uint8_t max_def = leaf->node->max_def;
    for (uint32_t end = from + count; from < end;) {
        bool null = column_is_null(c, from);
        uint32_t next = from + 1;
        if (!c->validity || !c->null_count)
            null = false, next = end;
        while (next < end && column_is_null(c, next) == null)
            next++;
        if (null && leaf->node->repetition == PARQUET_REQUIRED)
            return null_refused(leaf->node, err);
        put_entries(leaf, next - from, rep, null ? def : max_def);
        if (!null)
            TRY(parquet_plain_put(leaf, c, from, next - from, err));
        from = next;
    }
    return OK;
}

static bool holds(const struct parquet_node *node, const struct parquet_leaf_writer *leaf)
{
    return leaf->node->leaf_index - node->leaf_index < node->leaf_count;
}

static enum err_code shred_one(struct parquet_leaf_writer *leaf, const struct column *c,
                               const struct parquet_node *node, uint32_t i, uint8_t rep, uint8_t def, struct err *err);

/* ARRAY and MAP: node is the LIST or MAP group, its only child the repeated group. */
static enum err_code shred_items(struct parquet_leaf_writer *leaf, const struct column *c,
                                 const struct parquet_node *node, uint32_t i, uint8_t rep, uint8_t def, struct err *err)
{
    const struct parquet_node *repeated = &node->children[0];
    uint32_t start = load_u32(c->offsets + i * (size_t)4), end = load_u32(c->offsets + (i + (size_t)1) * 4);
    if (start == end) {
        put_entries(leaf, 1, rep, def);
        return OK;
    }
    uint32_t side = 0;
    while (!holds(&repeated->children[side], leaf))
        side++;
    for (uint32_t k = start; k < end; k++)
        TRY(shred_one(leaf, &c->children[side], &repeated->children[side], k, k == start ? rep : repeated->max_rep,
                      repeated->max_def, err));
    return OK;
}

/* Value i of a column; def is the level at which its parent is there. */
static enum err_code shred_one(struct parquet_leaf_writer *leaf, const struct column *c,
                               const struct parquet_node *node, uint32_t i, uint8_t rep, uint8_t def, struct err *err)
{
    if (!node->is_group)
        return shred_flat(leaf, c, i, 1, rep, def, err);
    if (column_is_null(c, i)) {
        if (node->repetition == PARQUET_REQUIRED)
            return null_refused(node, err);
        put_entries(leaf, 1, rep, def);
        return OK;
    }
    if (c->type->kind == TYPE_ARRAY || c->type->kind == TYPE_MAP)
        return shred_items(leaf, c, node, i, rep, node->max_def, err);
    uint32_t child = 0;
    while (!holds(&node->children[child], leaf))
        child++;
    return shred_one(leaf, &c->children[child], &node->children[child], i, rep, node->max_def, err);
}

enum err_code parquet_shred(struct parquet_leaf_writer *leaf, const struct column *column,
                            const struct parquet_node *top, uint32_t from, uint32_t count, struct err *err)
{
    if (!top->is_group)
        return shred_flat(leaf, column, from, count, 0, 0, err);
    for (uint32_t i = from; i < from + count; i++)
        TRY(shred_one(leaf, column, top, i, 0, 0, err));
    return OK;
}
