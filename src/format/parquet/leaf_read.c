/* The entries of some rows of one leaf, across pages, into one slice. */
#include "format/parquet/parquet_int.h"

#define SLICE_ENTRIES_MAX (1u << 27)

enum err_code parquet_leaf_start(struct parquet_leaf_reader *leaf, const struct parquet_chunk *chunk, struct err *err)
{
    TRY(parquet_codec_from_number(chunk->codec, &leaf->codec, err));
    leaf->offset = chunk->start;
    leaf->left = chunk->packed_bytes;
    leaf->entries_left = chunk->entries;
    leaf->has_dictionary = false;
    leaf->page_entries = leaf->page_at = 0;
    leaf->window_at = 0;
    buf_reset(&leaf->window);
    parquet_values_reset(&leaf->dictionary);
    return OK;
}

static enum err_code cut_off(const struct parquet_leaf_reader *leaf, struct err *err)
{
    return err_set(err, ERR_CORRUPT, "Parquet column %.*s: a page ends before its last value",
                   SLICE_ARGS(leaf->node->name));
}

static enum err_code get_bits(struct parquet_leaf_reader *leaf, uint32_t count, uint8_t *to, struct err *err)
{
    const uint8_t *bits = leaf->in.ptr;
    if ((leaf->bool_bit + (uint64_t)count + 7) / 8 > reader_left(&leaf->in))
        return cut_off(leaf, err);
    for (uint32_t i = 0; i < count; i++, leaf->bool_bit++)
        to[i] = bits[leaf->bool_bit >> 3] >> (leaf->bool_bit & 7) & 1;
    return OK;
}

static enum err_code get_bools(struct parquet_leaf_reader *leaf, uint32_t count, struct err *err)
{
    uint8_t *to = buf_extend(&leaf->values.data, count);
    leaf->values.count += count;
    if (leaf->form == PARQUET_IN_PLAIN)
        return get_bits(leaf, count, to, err);
    return parquet_hybrid_get_levels(&leaf->indices, to, count) ? OK : cut_off(leaf, err);
}

static enum err_code get_values(struct parquet_leaf_reader *leaf, uint32_t count, struct err *err)
{
    if (leaf->convert.kind == PARQUET_CONV_NONE || !count)
        return OK;
    if (leaf->convert.kind == PARQUET_CONV_BOOL)
        return get_bools(leaf, count, err);
    if (leaf->form == PARQUET_IN_PLAIN)
        return parquet_plain_get(&leaf->convert, &leaf->in, count, &leaf->values, err);
    buf_reset(&leaf->scratch);
    uint32_t *indices = (uint32_t *)(void *)buf_extend(&leaf->scratch, count * sizeof(uint32_t));
    if (!parquet_hybrid_get(&leaf->indices, indices, count))
        return cut_off(leaf, err);
    return parquet_dictionary_get(&leaf->convert, &leaf->dictionary, indices, count, &leaf->values, err);
}

static uint32_t count_level(const uint8_t *levels, uint32_t count, uint8_t level)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += levels[i] == level;
    return n;
}

/* The next count entries of the page into the slice. */
static enum err_code take(struct parquet_leaf_reader *leaf, uint32_t count, struct err *err)
{
    uint32_t values = count;
    if (leaf->entry_count + (uint64_t)count > SLICE_ENTRIES_MAX)
        return err_set(err, ERR_LIMIT, "Parquet column %.*s: more than %u values in a few rows",
                       SLICE_ARGS(leaf->node->name), SLICE_ENTRIES_MAX);
    if (leaf->node->max_def) {
        const uint8_t *def = leaf->page_def.ptr + leaf->page_at;
        buf_put(&leaf->def, def, count);
        values = count_level(def, count, leaf->node->max_def);
    }
    if (leaf->node->max_rep)
        buf_put(&leaf->rep, leaf->page_rep.ptr + leaf->page_at, count);
    leaf->entry_count += count;
    leaf->page_at += count;
    return get_values(leaf, values, err);
}

static enum err_code read_flat(struct parquet_leaf_reader *leaf, uint32_t rows, struct err *err)
{
    while (rows) {
        if (leaf->page_at == leaf->page_entries)
            TRY(parquet_page_read(leaf, err));
        uint32_t count = MIN(rows, leaf->page_entries - leaf->page_at);
        TRY(take(leaf, count, err));
        rows -= count;
    }
    return OK;
}

/* A row ends where the next begins, which may be in a later page. */
static enum err_code read_repeated(struct parquet_leaf_reader *leaf, uint32_t rows, struct err *err)
{
    for (uint32_t begun = 0;;) {
        if (leaf->page_at == leaf->page_entries) {
            if (begun == rows && leaf->entries_left == 0)
                return OK;
            TRY(parquet_page_read(leaf, err));
        }
        const uint8_t *rep = leaf->page_rep.ptr;
        uint32_t at = leaf->page_at;
        while (at < leaf->page_entries && (rep[at] || begun < rows))
            begun += rep[at++] == 0;
        if (!begun && at > leaf->page_at)
            return err_set(err, ERR_CORRUPT, "Parquet column %.*s: values stand before the first row",
                           SLICE_ARGS(leaf->node->name));
        TRY(take(leaf, at - leaf->page_at, err));
        if (leaf->page_at < leaf->page_entries)
            return OK;
    }
}

enum err_code parquet_leaf_read(struct parquet_leaf_reader *leaf, uint32_t rows, struct err *err)
{
    buf_reset(&leaf->def);
    buf_reset(&leaf->rep);
    leaf->entry_count = 0;
    parquet_values_reset(&leaf->values);
    return leaf->node->max_rep ? read_repeated(leaf, rows, err) : read_flat(leaf, rows, err);
}
