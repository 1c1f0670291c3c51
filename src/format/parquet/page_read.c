/* Pages of a column chunk, one at a time, whoever wrote them; page_write.c has the shape of v1.
 *
 *   PageHeader v2    8: {1 entries, 2 nulls, 3 rows, 4 encoding, 5 bytes of definition, 6 of repetition levels, 7 is
 * packed} page v2          repetition levels (runs, without a length), definition levels, values; only the values are
 * packed
 *
 * Booleans may come as runs (u32 length, width 1) instead of bits. */
#include "format/parquet/parquet_int.h"

#define READ_AHEAD_BYTES (256u << 10)
#define PAGE_HEADER_BYTES_MAX (4u << 20) /* statistics of long strings may be in it */

void parquet_leaf_reader_deinit(struct parquet_leaf_reader *leaf)
{
    buf_deinit(&leaf->window);
    parquet_values_deinit(&leaf->dictionary);
    buf_deinit(&leaf->plain);
    buf_deinit(&leaf->page_def);
    buf_deinit(&leaf->page_rep);
    buf_deinit(&leaf->def);
    buf_deinit(&leaf->rep);
    parquet_values_deinit(&leaf->values);
    buf_deinit(&leaf->scratch);
}

static enum err_code bad(const struct parquet_leaf_reader *leaf, struct err *err, const char *what)
{
    return err_set(err, ERR_CORRUPT, "Parquet column %.*s: %s", SLICE_ARGS(leaf->node->name), what);
}

/* ---- headers ---- */

static void parse_data(struct reader *r, struct parquet_page_header *h)
{
    struct thrift_field f = {0};
    while (thrift_next(r, &f)) {
        if (f.id == 1)
            h->entries = (uint32_t)thrift_i32(r, &f);
        else if (f.id == 2)
            h->encoding = thrift_i32(r, &f);
        else if (f.id == 3 && h->type != PARQUET_PAGE_DICTIONARY) /* there it is a boolean: sorted or not */
            h->def_encoding = thrift_i32(r, &f);
        else if (f.id == 4)
            h->rep_encoding = thrift_i32(r, &f);
        else
            thrift_skip(r, &f);
    }
}

static void parse_data_v2(struct reader *r, struct parquet_page_header *h)
{
    struct thrift_field f = {0};
    while (thrift_next(r, &f)) {
        if (f.id == 1)
            h->entries = (uint32_t)thrift_i32(r, &f);
        else if (f.id == 4)
            h->encoding = thrift_i32(r, &f);
        else if (f.id == 5)
            h->def_bytes = (uint32_t)thrift_i32(r, &f);
        else if (f.id == 6)
            h->rep_bytes = (uint32_t)thrift_i32(r, &f);
        else if (f.id == 7)
            h->is_compressed = thrift_bool(r, &f);
        else
            thrift_skip(r, &f);
    }
}

bool parquet_page_header_parse(struct reader *r, struct parquet_page_header *h)
{
    struct thrift_field f = {0};
    *h = (struct parquet_page_header){.type = -1, .is_compressed = true};
    while (thrift_next(r, &f)) {
        if (f.id == 1)
            h->type = thrift_i32(r, &f);
        else if (f.id == 2)
            h->plain_bytes = (uint32_t)thrift_i32(r, &f);
        else if (f.id == 3)
            h->packed_bytes = (uint32_t)thrift_i32(r, &f);
        else if ((f.id == 5 || f.id == 7) && thrift_is_struct(r, &f))
            parse_data(r, h);
        else if (f.id == 8 && thrift_is_struct(r, &f))
            parse_data_v2(r, h);
        else
            thrift_skip(r, &f);
    }
    return reader_ok(r);
}

/* ---- bytes of the chunk ---- */

/* Makes len bytes of the chunk be in the window, or as many as there are; gives how many. */
static enum err_code fill(struct parquet_leaf_reader *leaf, size_t len, size_t *there, struct err *err)
{
    size_t have = leaf->window.len - leaf->window_at;
    buf_reserve(&leaf->window, 1); /* there is a place, even for no bytes */
    if (have < len && leaf->left) {
        if (leaf->window_at) {
            memmove(leaf->window.ptr, leaf->window.ptr + leaf->window_at, have);
            leaf->window.len = have;
            leaf->window_at = 0;
        }
        size_t more = (size_t)MIN((uint64_t)MAX(len - have, READ_AHEAD_BYTES), leaf->left);
        buf_reserve(&leaf->window, more);
        TRY(leaf->source(leaf->arg, leaf->offset, leaf->window.ptr + have, more, err));
        leaf->window.len += more;
        leaf->offset += more;
        leaf->left -= more;
        have += more;
    }
    *there = MIN(have, len);
    return OK;
}

static enum err_code read_header(struct parquet_leaf_reader *leaf, struct parquet_page_header *h, struct err *err)
{
    for (size_t len = 512, there; len <= PAGE_HEADER_BYTES_MAX; len *= 4) {
        TRY(fill(leaf, len, &there, err));
        struct reader r = reader_of(slice_of(leaf->window.ptr + leaf->window_at, there));
        if (parquet_page_header_parse(&r, h)) {
            leaf->window_at += there - reader_left(&r);
            if (h->plain_bytes > PARQUET_PAGE_BYTES_MAX || h->packed_bytes > PARQUET_PAGE_BYTES_MAX ||
                h->entries > PARQUET_PAGE_VALUES_MAX)
                return err_set(err, ERR_LIMIT, "Parquet column %.*s: a page of %u bytes, %u values",
                               SLICE_ARGS(leaf->node->name), h->plain_bytes, h->entries);
            return OK;
        }
        if (there < len)
            break;
    }
    return bad(leaf, err, "a page's header is damaged");
}

static enum err_code unpack(struct parquet_leaf_reader *leaf, bool is_compressed, struct slice packed,
                            size_t plain_bytes, struct err *err)
{
    enum codec codec = is_compressed ? leaf->codec : CODEC_NONE;
    if (plain_bytes == 0 && packed.len == 0)
        return OK;
    return codec_decompress(leaf->codecs, codec, packed, plain_bytes, &leaf->plain, err);
}

/* ---- what is in a page ---- */

static enum err_code refuse_encoding(const struct parquet_leaf_reader *leaf, int32_t encoding, struct err *err)
{
    static const char *const names[] = {"PLAIN",
                                        "1",
                                        "PLAIN_DICTIONARY",
                                        "RLE",
                                        "BIT_PACKED",
                                        "DELTA_BINARY_PACKED",
                                        "DELTA_LENGTH_BYTE_ARRAY",
                                        "DELTA_BYTE_ARRAY",
                                        "RLE_DICTIONARY",
                                        "BYTE_STREAM_SPLIT"};
    bool known = encoding >= 0 && (size_t)encoding < ARRAY_LEN(names);
    return err_set(err, ERR_NOT_SUPPORTED, "Parquet column %.*s: the encoding %s is not read here",
                   SLICE_ARGS(leaf->node->name), known ? names[encoding] : "of an unknown number");
}

static enum err_code start_values(struct parquet_leaf_reader *leaf, struct slice values, int32_t encoding,
                                  struct err *err)
{
    leaf->in = reader_of(values);
    leaf->bool_bit = 0;
    if (leaf->convert.kind == PARQUET_CONV_NONE)
        return OK;
    if (encoding == PARQUET_ENC_PLAIN) {
        leaf->form = PARQUET_IN_PLAIN;
    } else if (encoding == PARQUET_ENC_PLAIN_DICTIONARY || encoding == PARQUET_ENC_RLE_DICTIONARY) {
        unsigned width = values.len ? reader_u8(&leaf->in) : 0; /* a page of nulls may have nothing */
        if (!leaf->has_dictionary || width > 32)
            return bad(leaf, err, "a page's dictionary is missing");
        leaf->form = PARQUET_IN_INDICES;
        parquet_hybrid_init(&leaf->indices, reader_rest(&leaf->in), width);
    } else if (encoding == PARQUET_ENC_RLE && leaf->node->physical == PARQUET_BOOLEAN) {
        leaf->form = PARQUET_IN_RLE;
        if (values.len)
            parquet_hybrid_init(&leaf->indices, reader_slice(&leaf->in, reader_u32(&leaf->in)), 1);
        else
            parquet_hybrid_init(&leaf->indices, values, 1);
    } else {
        return refuse_encoding(leaf, encoding, err);
    }
    return reader_ok(&leaf->in) ? OK : bad(leaf, err, "a page is cut off");
}

static enum err_code read_levels(struct parquet_leaf_reader *leaf, struct slice bytes, uint8_t max, struct buf *out,
                                 struct err *err)
{
    struct parquet_hybrid h;
    buf_reset(out);
    parquet_hybrid_init(&h, bytes, parquet_bit_width(max));
    if (!parquet_hybrid_get_levels(&h, buf_extend(out, leaf->page_entries), leaf->page_entries))
        return bad(leaf, err, "a page's levels are damaged");
    return OK;
}

static enum err_code read_data(struct parquet_leaf_reader *leaf, const struct parquet_page_header *h,
                               struct slice packed, struct err *err)
{
    TRY(unpack(leaf, true, packed, h->plain_bytes, err));
    struct reader r = reader_of(buf_view(&leaf->plain));
    const struct parquet_node *n = leaf->node;
    if (n->max_rep && h->rep_encoding != PARQUET_ENC_RLE)
        return refuse_encoding(leaf, h->rep_encoding, err);
    if (n->max_def && h->def_encoding != PARQUET_ENC_RLE)
        return refuse_encoding(leaf, h->def_encoding, err);
    if (n->max_rep)
        TRY(read_levels(leaf, reader_slice(&r, reader_u32(&r)), n->max_rep, &leaf->page_rep, err));
    if (n->max_def)
        TRY(read_levels(leaf, reader_slice(&r, reader_u32(&r)), n->max_def, &leaf->page_def, err));
    return start_values(leaf, reader_rest(&r), h->encoding, err);
}

static enum err_code read_data_v2(struct parquet_leaf_reader *leaf, const struct parquet_page_header *h,
                                  struct slice packed, struct err *err)
{
    struct reader r = reader_of(packed);
    struct slice rep = reader_slice(&r, h->rep_bytes), def = reader_slice(&r, h->def_bytes);
    size_t level_bytes = (size_t)h->rep_bytes + h->def_bytes;
    if (!reader_ok(&r) || level_bytes > h->plain_bytes)
        return bad(leaf, err, "a page's levels are cut off");
    TRY(unpack(leaf, h->is_compressed, reader_rest(&r), h->plain_bytes - level_bytes, err));
    if (leaf->node->max_rep)
        TRY(read_levels(leaf, rep, leaf->node->max_rep, &leaf->page_rep, err));
    if (leaf->node->max_def)
        TRY(read_levels(leaf, def, leaf->node->max_def, &leaf->page_def, err));
    return start_values(leaf, buf_view(&leaf->plain), h->encoding, err);
}

static enum err_code read_dictionary(struct parquet_leaf_reader *leaf, const struct parquet_page_header *h,
                                     struct slice packed, struct err *err)
{
    if (leaf->has_dictionary)
        return bad(leaf, err, "it has two dictionaries");
    if (h->encoding != PARQUET_ENC_PLAIN && h->encoding != PARQUET_ENC_PLAIN_DICTIONARY)
        return refuse_encoding(leaf, h->encoding, err);
    if (leaf->node->physical == PARQUET_BOOLEAN)
        return bad(leaf, err, "a dictionary of booleans");
    TRY(unpack(leaf, true, packed, h->plain_bytes, err));
    struct reader r = reader_of(buf_view(&leaf->plain));
    TRY(parquet_plain_get(&leaf->convert, &r, h->entries, &leaf->dictionary, err));
    leaf->has_dictionary = true;
    return OK;
}

static enum err_code read_page(struct parquet_leaf_reader *leaf, const struct parquet_page_header *h,
                               struct slice packed, struct err *err)
{
    buf_reset(&leaf->plain);
    if (h->type == PARQUET_PAGE_DICTIONARY)
        return read_dictionary(leaf, h, packed, err);
    if (h->type != PARQUET_PAGE_DATA && h->type != PARQUET_PAGE_DATA_V2)
        return OK; /* an index page, or one that came later: readers skip it */
    if (h->entries > leaf->entries_left)
        return bad(leaf, err, "its pages have more values than it");
    leaf->page_entries = h->entries;
    leaf->page_at = 0;
    leaf->entries_left -= h->entries;
    return h->type == PARQUET_PAGE_DATA ? read_data(leaf, h, packed, err) : read_data_v2(leaf, h, packed, err);
}

enum err_code parquet_page_read(struct parquet_leaf_reader *leaf, struct err *err)
{
    leaf->page_at = leaf->page_entries = 0;
    while (leaf->page_entries == 0) {
        struct parquet_page_header h;
        size_t there;
        if (leaf->entries_left <= 0)
            return bad(leaf, err, "it has fewer rows than its row group");
        TRY(read_header(leaf, &h, err));
        TRY(fill(leaf, h.packed_bytes, &there, err));
        if (there < h.packed_bytes)
            return bad(leaf, err, "a page is cut off");
        struct slice packed = slice_of(leaf->window.ptr + leaf->window_at, there);
        leaf->window_at += there;
        TRY(read_page(leaf, &h, packed, err));
    }
    return OK;
}
