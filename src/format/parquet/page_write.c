/* Pages, as written (data pages v1):
 *
 *   Thrift PageHeader   1 type, 2 plain bytes, 3 packed bytes, 5 data: {1 entries, 2 encoding, 3 and 4 encodings of
 * levels}, 7 dictionary: {1 values, 2 encoding} packed together     repetition levels (u32 length, runs), definition
 * levels (likewise), values
 *
 * PLAIN booleans are bits. With a dictionary the values are one byte of bit width and the indices as runs. */
#include "format/parquet/parquet_int.h"

#define DICTIONARY_SAMPLE 2048     /* values looked at before a dictionary is tried on a chunk */
#define DICTIONARY_VALUES_LEAST 64 /* in its first page; fewer are not worth the second page */

void parquet_leaf_writer_deinit(struct parquet_leaf_writer *leaf)
{
    buf_deinit(&leaf->def);
    buf_deinit(&leaf->rep);
    buf_deinit(&leaf->values);
    buf_deinit(&leaf->chunk);
    parquet_dictionary_deinit(&leaf->dictionary);
    parquet_bounds_deinit(&leaf->bounds);
    parquet_bounds_deinit(&leaf->file_bounds);
}

size_t parquet_leaf_writer_held(const struct parquet_leaf_writer *leaf)
{
    return leaf->def.len + leaf->rep.len + leaf->values.len + leaf->chunk.len + leaf->dictionary.plain.len;
}

static void put_levels(struct buf *body, const struct buf *levels, uint32_t count, uint8_t max)
{
    if (!max)
        return;
    size_t start = body->len;
    buf_put_u32(body, 0);
    parquet_hybrid_put_levels(body, levels->ptr, count, parquet_bit_width(max));
    store_u32(body->ptr + start, (uint32_t)(body->len - start - 4));
}

static void put_bits(struct buf *body, const uint8_t *bools, uint32_t count)
{
    uint8_t *to = buf_extend(body, (count + 7) / 8);
    memset(to, 0, (count + 7) / 8);
    for (uint32_t i = 0; i < count; i++)
        to[i >> 3] |= (uint8_t)(bools[i] << (i & 7));
}

/* Whether so many values of the first page are alike that a dictionary pays. */
static bool worth_a_dictionary(struct parquet_leaf_writer *leaf, uint32_t width, uint32_t *indices)
{
    if (!leaf->options->dictionary || leaf->node->physical == PARQUET_BOOLEAN ||
        leaf->value_count < DICTIONARY_VALUES_LEAST)
        return false;
    uint32_t sample = MIN(leaf->value_count, DICTIONARY_SAMPLE);
    bool few = parquet_dictionary_add(&leaf->dictionary, width, buf_view(&leaf->values), sample, indices) &&
               leaf->dictionary.offsets.len <= sample / 2;
    parquet_dictionary_reset(&leaf->dictionary);
    return few;
}

/* The values as indices; false where the page must be PLAIN, and all that follow. */
static bool put_indices(struct parquet_leaf_writer *leaf, struct buf *body)
{
    uint32_t width = parquet_physical_width(leaf->node);
    uint32_t *indices = mem_alloc((leaf->value_count + (size_t)1) * sizeof *indices);
    if (leaf->dictionary_state == PARQUET_DICT_UNDECIDED)
        leaf->dictionary_state = worth_a_dictionary(leaf, width, indices) ? PARQUET_DICT_ON : PARQUET_DICT_OFF;
    if (leaf->dictionary_state == PARQUET_DICT_ON &&
        !parquet_dictionary_add(&leaf->dictionary, width, buf_view(&leaf->values), leaf->value_count, indices))
        leaf->dictionary_state = PARQUET_DICT_OFF;
    bool on = leaf->dictionary_state == PARQUET_DICT_ON;
    if (on) {
        size_t distinct = leaf->dictionary.offsets.len;
        unsigned bits = parquet_bit_width(distinct ? (uint32_t)distinct - 1 : 0);
        buf_put_u8(body, (uint8_t)bits);
        parquet_hybrid_put(body, indices, leaf->value_count, bits);
    }
    mem_free(indices);
    return on;
}

static void put_header(struct buf *out, enum parquet_page_type type, size_t plain, size_t packed, uint32_t count,
                       enum parquet_encoding encoding)
{
    struct thrift_writer w = {.out = out};
    thrift_struct_begin(&w);
    thrift_field_i32(&w, 1, (int32_t)type);
    thrift_field_i32(&w, 2, (int32_t)plain);
    thrift_field_i32(&w, 3, (int32_t)packed);
    thrift_field_struct(&w, type == PARQUET_PAGE_DATA ? 5 : 7);
    thrift_field_i32(&w, 1, (int32_t)count);
    thrift_field_i32(&w, 2, (int32_t)encoding);
    if (type == PARQUET_PAGE_DATA) {
        thrift_field_i32(&w, 3, PARQUET_ENC_RLE);
        thrift_field_i32(&w, 4, PARQUET_ENC_RLE);
    }
    thrift_struct_end(&w);
    thrift_struct_end(&w);
}

static enum err_code put_page(struct parquet_leaf_writer *leaf, enum parquet_page_type type, uint32_t count,
                              enum parquet_encoding encoding, struct slice body, struct buf *out, struct err *err)
{
    if (body.len > INT32_MAX)
        return err_set(err, ERR_LIMIT, "column %.*s: a page of %zu bytes", SLICE_ARGS(leaf->node->name), body.len);
    struct buf packed = {0};
    size_t start = out->len;
    enum err_code code = codec_compress(leaf->codecs, leaf->options->codec, leaf->options->level, body, &packed, err);
    if (code == OK) {
        put_header(out, type, body.len, packed.len, count, encoding);
        leaf->plain_bytes += out->len - start + body.len;
        buf_put_slice(out, buf_view(&packed));
    }
    buf_deinit(&packed);
    return code;
}

enum err_code parquet_page_close(struct parquet_leaf_writer *leaf, struct err *err)
{
    if (!leaf->entry_count)
        return OK;
    struct buf body = {0};
    parquet_bounds_add(&leaf->bounds, leaf->node, buf_view(&leaf->values), leaf->value_count);
    put_levels(&body, &leaf->rep, leaf->entry_count, leaf->node->max_rep);
    put_levels(&body, &leaf->def, leaf->entry_count, leaf->node->max_def);
    bool indices = leaf->dictionary_state != PARQUET_DICT_OFF && put_indices(leaf, &body);
    if (!indices && leaf->node->physical == PARQUET_BOOLEAN)
        put_bits(&body, leaf->values.ptr, leaf->value_count);
    else if (!indices)
        buf_put_slice(&body, buf_view(&leaf->values));
    enum err_code code =
        put_page(leaf, PARQUET_PAGE_DATA, leaf->entry_count, indices ? PARQUET_ENC_RLE_DICTIONARY : PARQUET_ENC_PLAIN,
                 buf_view(&body), &leaf->chunk, err);
    buf_deinit(&body);
    leaf->has_dictionary_pages |= indices;
    leaf->has_plain_pages |= !indices;
    leaf->entries += leaf->entry_count;
    leaf->entry_count = leaf->value_count = 0;
    buf_reset(&leaf->def);
    buf_reset(&leaf->rep);
    buf_reset(&leaf->values);
    return code;
}

enum err_code parquet_dictionary_page(struct parquet_leaf_writer *leaf, struct buf *out, struct err *err)
{
    if (!leaf->has_dictionary_pages)
        return OK;
    return put_page(leaf, PARQUET_PAGE_DICTIONARY, (uint32_t)leaf->dictionary.offsets.len, PARQUET_ENC_PLAIN,
                    buf_view(&leaf->dictionary.plain), out, err);
}
