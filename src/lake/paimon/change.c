/* Changes of a primary-key table: all of them to the changelog, the last one of a key to the data file. */
#include "lake/paimon/round_int.h"

static void block_init(struct paimon_round *r, struct block *block)
{
    *block = (struct block){.columns = ARENA_NEW_ARRAY(&r->arena, struct column_builder, r->options.column_count)};
    for (uint32_t i = 0; i < r->options.column_count; i++)
        column_builder_init(&block->columns[i], r->layout.columns[r->layout.value_first + i].type);
}

static void block_deinit(struct paimon_round *r, struct block *block)
{
    for (uint32_t i = 0; i < r->options.column_count; i++)
        column_builder_deinit(&block->columns[i]);
    buf_deinit(&block->sequences);
    buf_deinit(&block->kinds);
    for (int i = 0; i < SYSTEM_COLUMN_COUNT; i++)
        buf_deinit(&block->system[i]);
}

static void block_reset(struct paimon_round *r, struct block *block)
{
    for (uint32_t i = 0; i < r->options.column_count; i++)
        column_builder_reset(&block->columns[i]);
    buf_reset(&block->sequences);
    buf_reset(&block->kinds);
    for (int i = 0; i < SYSTEM_COLUMN_COUNT; i++)
        buf_reset(&block->system[i]);
    block->row_count = 0;
}

static void block_drop_last(struct paimon_round *r, struct block *block)
{
    static const size_t widths[SYSTEM_COLUMN_COUNT] = {4, 8, 8};
    block->row_count--;
    for (uint32_t i = 0; i < r->options.column_count; i++)
        column_builder_truncate(&block->columns[i], block->row_count);
    block->sequences.len -= 8;
    block->kinds.len -= 1;
    for (int i = 0; i < SYSTEM_COLUMN_COUNT; i++)
        block->system[i].len -= widths[i];
}

static bool block_is_full(struct paimon_round *r, const struct block *block)
{
    size_t bytes = 0;
    if (block->row_count >= BLOCK_ROWS)
        return true;
    for (uint32_t i = 0; i < r->options.column_count; i++)
        bytes += type_is_nested(block->columns[i].type) ? column_builder_bytes(&block->columns[i])
                                                        : block->columns[i].data.len;
    return bytes >= BLOCK_BYTES;
}

static void block_add(struct paimon_round *r, struct block *block, const struct paimon_change *change, int64_t sequence,
                      const struct column *columns, uint32_t row)
{
    int64_t ticks = change->timestamp_ms;
    if (r->schema->has_system_columns && r->schema->columns[r->schema->column_count - 1].type->precision > 3)
        ticks *= 1000;
    for (uint32_t i = 0; i < r->options.column_count; i++)
        column_builder_append_from(&block->columns[i], &columns[i], row);
    buf_put_u64(&block->sequences, (uint64_t)sequence);
    buf_put_u8(&block->kinds, (uint8_t)change->kind);
    buf_put_u32(&block->system[0], (uint32_t)change->fluss_bucket);
    buf_put_u64(&block->system[1], (uint64_t)change->offset);
    buf_put_u64(&block->system[2], (uint64_t)ticks);
    block->row_count++;
}

static enum err_code block_write(struct paimon_round *r, struct block *block, struct data_files *files, struct err *err)
{
    const struct layout *l = &r->layout;
    struct arena arena = {0};
    if (block->row_count == 0)
        return OK;
    struct column *views = ARENA_NEW_ARRAY(&arena, struct column, l->column_count);
    for (uint32_t i = 0; i < r->options.column_count; i++)
        column_builder_view(&block->columns[i], &arena, &views[l->value_first + i]);
    paimon_round_null_views(r, &arena, block->row_count, &views[l->value_first + r->options.column_count]);
    if (r->schema->has_system_columns)
        paimon_round_system_view(r, block->system, block->row_count, &views[l->column_count - SYSTEM_COLUMN_COUNT]);
    paimon_layout_fill(l, views, buf_view(&block->sequences), buf_view(&block->kinds), block->row_count);
    enum err_code code = paimon_data_files_write(files, views, block->row_count, err);
    block_reset(r, block);
    arena_deinit(&arena);
    return code == OK ? paimon_round_bound_memory(r, err) : code;
}

/* ---- the bucket ---- */

void paimon_changes_init(struct paimon_bucket *b)
{
    struct paimon_round *r = b->round;
    block_init(r, &b->rows);
    block_init(r, &b->changes);
    b->next_key = ARENA_NEW_ARRAY(&r->arena, struct datum, r->layout.key_count);
}

void paimon_changes_deinit(struct paimon_bucket *b)
{
    block_deinit(b->round, &b->rows);
    block_deinit(b->round, &b->changes);
    arena_deinit(&b->key_arena);
}

enum err_code paimon_changes_flush(struct paimon_bucket *b, struct err *err)
{
    TRY(block_write(b->round, &b->rows, &b->data, err));
    return block_write(b->round, &b->changes, &b->changelog, err);
}

static void keep_key(struct paimon_bucket *b)
{
    struct paimon_round *r = b->round;
    arena_reset(&b->key_arena);
    b->key = ARENA_NEW_ARRAY(&b->key_arena, struct datum, r->layout.key_count);
    for (uint32_t i = 0; i < r->layout.key_count; i++)
        datum_dup(&b->key_arena, r->layout.columns[i].type, &b->next_key[i], &b->key[i]);
}

/* <0: a new key, 0: the same; anything else is not the order that was asked for. */
static enum err_code compare_key(struct paimon_bucket *b, const struct paimon_change *change,
                                 const struct column *columns, uint32_t row, bool *same, struct err *err)
{
    struct paimon_round *r = b->round;
    for (uint32_t i = 0; i < r->layout.key_count; i++)
        column_get(&columns[r->schema->trimmed_key[i]], row, &b->key_arena, &b->next_key[i]);
    int order = b->key ? paimon_key_compare(r->schema, b->key, b->next_key) : -1;
    *same = order == 0;
    if (order > 0 || (order == 0 && change->position <= b->position) || change->position < 0)
        return err_set(err, ERR_INTERNAL, "the changes of bucket %d are not in the order of keys", b->bucket);
    return OK;
}

enum err_code paimon_bucket_change(struct paimon_bucket *b, const struct paimon_change *change,
                                   const struct column *columns, uint32_t i, struct err *err)
{
    struct paimon_round *r = b->round;
    int64_t sequence = b->sequence_base + change->position;
    bool same;
    ASSERT(r->layout.key_count && !b->is_ended);
    TRY(compare_key(b, change, columns, i, &same, err));
    if (same) {
        block_drop_last(r, &b->rows);
    } else {
        keep_key(b);
        if (block_is_full(r, &b->rows))
            TRY(block_write(r, &b->rows, &b->data, err));
    }
    b->position = change->position;
    block_add(r, &b->rows, change, sequence, columns, i);
    if (!r->file_options.changelog)
        return OK;
    block_add(r, &b->changes, change, sequence, columns, i);
    return block_is_full(r, &b->changes) ? block_write(r, &b->changes, &b->changelog, err) : OK;
}
