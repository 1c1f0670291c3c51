/* The end of the file:  Thrift FileMetaData | its length, 4 bytes LE | "PAR1"
 *
 *   FileMetaData   1 version, 2 schema (list of SchemaElement, the tree depth first), 3 rows, 4 row groups, 5
 * properties, 6 created_by, 7 column orders RowGroup       1 chunks, 2 plain bytes, 3 rows, 5 place in the file, 6
 * packed bytes, 7 number ColumnChunk    2 place in the file, 3 ColumnMetaData */
#include "format/parquet/parquet_int.h"

enum converted {
    CONV_NONE = -1,
    CONV_UTF8 = 0,
    CONV_MAP = 1,
    CONV_LIST = 3,
    CONV_DECIMAL = 5,
    CONV_DATE = 6,
    CONV_TIME_MILLIS = 7,
    CONV_TIMESTAMP_MILLIS = 9,
    CONV_INT_8 = 15
};

int parquet_codec_number(enum codec codec)
{
    static const int numbers[CODEC_COUNT] = {[CODEC_NONE] = 0, [CODEC_SNAPPY] = 1,  [CODEC_GZIP] = 2,
                                             [CODEC_ZSTD] = 6, [CODEC_LZ4_RAW] = 7, [CODEC_DEFLATE] = -1};
    return numbers[codec];
}

/* What readers from before logical types look at. */
static int converted_type(const struct parquet_node *n)
{
    switch (n->logical) {
    case PARQUET_STRING:
        return CONV_UTF8;
    case PARQUET_DECIMAL:
        return CONV_DECIMAL;
    case PARQUET_DATE:
        return CONV_DATE;
    case PARQUET_TIME:
        return CONV_TIME_MILLIS + (n->unit == PARQUET_MICROS);
    case PARQUET_TIMESTAMP:
        return CONV_TIMESTAMP_MILLIS + (n->unit == PARQUET_MICROS);
    case PARQUET_INT:
        return CONV_INT_8 + (n->bit_width == 16);
    case PARQUET_LIST:
        return CONV_LIST;
    case PARQUET_MAP:
        return CONV_MAP;
    default:
        return CONV_NONE;
    }
}

static void put_empty_struct(struct thrift_writer *w, int16_t id)
{
    thrift_field_struct(w, id);
    thrift_struct_end(w);
}

static void put_time(struct thrift_writer *w, const struct parquet_node *n)
{
    thrift_field_struct(w, n->logical == PARQUET_TIME ? 7 : 8);
    thrift_field_bool(w, 1, n->utc);
    thrift_field_struct(w, 2);
    put_empty_struct(w, (int16_t)(1 + n->unit));
    thrift_struct_end(w);
    thrift_struct_end(w);
}

static void put_logical(struct thrift_writer *w, const struct parquet_node *n)
{
    thrift_field_struct(w, 10);
    switch (n->logical) {
    case PARQUET_STRING:
        put_empty_struct(w, 1);
        break;
    case PARQUET_MAP:
        put_empty_struct(w, 2);
        break;
    case PARQUET_LIST:
        put_empty_struct(w, 3);
        break;
    case PARQUET_DECIMAL:
        thrift_field_struct(w, 5);
        thrift_field_i32(w, 1, n->scale);
        thrift_field_i32(w, 2, n->precision);
        thrift_struct_end(w);
        break;
    case PARQUET_DATE:
        put_empty_struct(w, 6);
        break;
    case PARQUET_TIME:
    case PARQUET_TIMESTAMP:
        put_time(w, n);
        break;
    default: /* PARQUET_INT */
        thrift_field_struct(w, 10);
        thrift_field_byte(w, 1, (int8_t)n->bit_width);
        thrift_field_bool(w, 2, !n->is_unsigned);
        thrift_struct_end(w);
    }
    thrift_struct_end(w);
}

static void put_element(struct thrift_writer *w, const struct parquet_node *n, bool is_root)
{
    thrift_struct_begin(w);
    if (!n->is_group)
        thrift_field_i32(w, 1, (int32_t)n->physical);
    if (!n->is_group && n->physical == PARQUET_FIXED)
        thrift_field_i32(w, 2, (int32_t)n->type_length);
    if (!is_root)
        thrift_field_i32(w, 3, (int32_t)n->repetition);
    thrift_field_binary(w, 4, n->name);
    if (n->is_group)
        thrift_field_i32(w, 5, (int32_t)n->child_count);
    if (converted_type(n) != CONV_NONE)
        thrift_field_i32(w, 6, converted_type(n));
    if (n->logical == PARQUET_DECIMAL) {
        thrift_field_i32(w, 7, n->scale);
        thrift_field_i32(w, 8, n->precision);
    }
    if (n->field_id >= 0)
        thrift_field_i32(w, 9, n->field_id);
    if (n->logical != PARQUET_PLAIN_TYPE)
        put_logical(w, n);
    thrift_struct_end(w);
    for (uint32_t i = 0; i < n->child_count; i++)
        put_element(w, &n->children[i], false);
}

static uint32_t count_nodes(const struct parquet_node *n)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < n->child_count; i++)
        count += count_nodes(&n->children[i]);
    return count;
}

/* The names from below the root down to the leaf. */
static uint32_t path_of(const struct parquet_schema *schema, uint32_t leaf, struct slice *path)
{
    uint32_t len = 0;
    for (const struct parquet_node *n = &schema->root; n->is_group;) {
        const struct parquet_node *child = n->children;
        while (leaf >= child->leaf_index + child->leaf_count || leaf < child->leaf_index)
            child++;
        path[len++] = child->name;
        n = child;
    }
    return len;
}

static void put_stats(struct thrift_writer *w, const struct parquet_chunk_meta *c)
{
    thrift_field_struct(w, 12);
    thrift_field_i64(w, 3, c->nulls);
    if (c->has_bounds) {
        thrift_field_binary(w, 5, c->max);
        thrift_field_binary(w, 6, c->min);
        thrift_field_bool(w, 7, true); /* both are exact */
        thrift_field_bool(w, 8, true);
    }
    thrift_struct_end(w);
}

static void put_encodings(struct thrift_writer *w, const struct parquet_chunk_meta *c)
{
    thrift_field_list(w, 2, THRIFT_I32, 2 + c->has_dictionary);
    thrift_item_i32(w, PARQUET_ENC_PLAIN); /* also that of the dictionary page */
    thrift_item_i32(w, PARQUET_ENC_RLE);
    if (c->has_dictionary)
        thrift_item_i32(w, PARQUET_ENC_RLE_DICTIONARY);
}

static void put_chunk(struct thrift_writer *w, const struct parquet_schema *schema, uint32_t leaf,
                      const struct parquet_chunk_meta *c, int codec)
{
    struct slice path[PARQUET_DEPTH_MAX];
    uint32_t path_len = path_of(schema, leaf, path);
    thrift_struct_begin(w);
    thrift_field_i64(w, 2, (int64_t)c->start);
    thrift_field_struct(w, 3);
    thrift_field_i32(w, 1, (int32_t)schema->leaves[leaf]->physical);
    put_encodings(w, c);
    thrift_field_list(w, 3, THRIFT_BINARY, path_len);
    for (uint32_t i = 0; i < path_len; i++)
        thrift_item_binary(w, path[i]);
    thrift_field_i32(w, 4, codec);
    thrift_field_i64(w, 5, c->entries);
    thrift_field_i64(w, 6, (int64_t)c->plain_bytes);
    thrift_field_i64(w, 7, (int64_t)c->packed_bytes);
    thrift_field_i64(w, 9, (int64_t)c->data_start);
    if (c->has_dictionary)
        thrift_field_i64(w, 11, (int64_t)c->start);
    put_stats(w, c);
    thrift_struct_end(w);
    thrift_struct_end(w);
}

static void put_group(struct thrift_writer *w, const struct parquet_schema *schema, const struct parquet_group_meta *g,
                      size_t number, int codec)
{
    uint64_t plain = 0, packed = 0;
    thrift_struct_begin(w);
    thrift_field_list(w, 1, THRIFT_STRUCT, schema->leaf_count);
    for (uint32_t i = 0; i < schema->leaf_count; i++) {
        put_chunk(w, schema, i, &g->chunks[i], codec);
        plain += g->chunks[i].plain_bytes;
        packed += g->chunks[i].packed_bytes;
    }
    thrift_field_i64(w, 2, (int64_t)plain);
    thrift_field_i64(w, 3, g->rows);
    if (schema->leaf_count)
        thrift_field_i64(w, 5, (int64_t)g->chunks[0].start);
    thrift_field_i64(w, 6, (int64_t)packed);
    if (number <= INT16_MAX)
        thrift_field_i16(w, 7, (int16_t)number);
    thrift_struct_end(w);
}

static void put_properties(struct thrift_writer *w, const struct parquet_writer_options *options)
{
    if (!options->property_count)
        return;
    thrift_field_list(w, 5, THRIFT_STRUCT, options->property_count);
    for (uint32_t i = 0; i < options->property_count; i++) {
        thrift_struct_begin(w);
        thrift_field_binary(w, 1, options->properties[i].key);
        thrift_field_binary(w, 2, options->properties[i].value);
        thrift_struct_end(w);
    }
}

void parquet_footer_put(struct buf *out, const struct parquet_schema *schema, const struct parquet_group_meta *groups,
                        size_t group_count, const struct parquet_writer_options *options)
{
    size_t start = out->len;
    int64_t rows = 0;
    struct thrift_writer w = {.out = out};
    for (size_t i = 0; i < group_count; i++)
        rows += groups[i].rows;
    thrift_struct_begin(&w);
    thrift_field_i32(&w, 1, 1);
    thrift_field_list(&w, 2, THRIFT_STRUCT, count_nodes(&schema->root));
    put_element(&w, &schema->root, true);
    thrift_field_i64(&w, 3, rows);
    thrift_field_list(&w, 4, THRIFT_STRUCT, (uint32_t)group_count);
    for (size_t i = 0; i < group_count; i++)
        put_group(&w, schema, &groups[i], i, parquet_codec_number(options->codec));
    put_properties(&w, options);
    thrift_field_binary(&w, 6, SLICE("weir version " WEIR_VERSION));
    /* Bounds are in the order of the types (TypeDefinedOrder): without this, readers must not use them. */
    thrift_field_list(&w, 7, THRIFT_STRUCT, schema->leaf_count);
    for (uint32_t i = 0; i < schema->leaf_count; i++) {
        thrift_struct_begin(&w);
        put_empty_struct(&w, 1);
        thrift_struct_end(&w);
    }
    thrift_struct_end(&w);
    buf_put_u32(out, (uint32_t)(out->len - start));
    buf_put(out, PARQUET_MAGIC, 4);
}
