/* A Parquet file:  "PAR1" | row groups | footer (footer_write.c)
 *
 * A row group is its column chunks back to back, one a leaf; a chunk is a dictionary page, if any, and data pages
 * (page_write.c). Pages wait in memory, compressed, until their row group is large enough. */
#include "format/parquet/parquet_int.h"

#define SLICE_ROWS_MAX 8192 /* rows given to all leaves before sizes are looked at */
#define STEP_ROWS_FIRST 64
#define PAGE_ENTRIES_MAX (1u << 17)

struct parquet_writer {
    const struct schema_column *columns;
    uint32_t column_count;
    const struct parquet_schema *schema;
    struct parquet_writer_options options;
    parquet_sink_fn *sink;
    void *arg;
    struct arena arena; /* bounds of finished chunks */
    struct codec_state codecs;
    struct parquet_leaf_writer *leaves;
    parquet_group_vec groups;
    uint64_t file_bytes;
    uint64_t rows;       /* of the file */
    uint64_t group_rows; /* of the row group being made */
};

struct parquet_writer_options parquet_writer_options_usual(void)
{
    return (struct parquet_writer_options){.codec = CODEC_ZSTD,
                                           .level = 1,
                                           .row_group_bytes = PARQUET_ROW_GROUP_BYTES,
                                           .page_bytes = PARQUET_PAGE_BYTES,
                                           .dictionary = true};
}

/* The type of a leaf's values, down the tree of the schema and of the type together. */
static const struct type *leaf_type(const struct parquet_node *n, const struct type *type, uint32_t leaf)
{
    while (n->is_group) {
        const struct parquet_node *inner = type->kind == TYPE_ROW ? n : &n->children[0];
        uint32_t i = 0;
        while (leaf - inner->children[i].leaf_index >= inner->children[i].leaf_count)
            i++;
        n = &inner->children[i];
        type = type->fields[i].type;
    }
    return type;
}

static void init_leaves(struct parquet_writer *w)
{
    w->leaves = mem_zalloc((w->schema->leaf_count + (size_t)1) * sizeof *w->leaves);
    for (uint32_t i = 0; i < w->column_count; i++) {
        const struct parquet_node *top = &w->schema->root.children[i];
        for (uint32_t l = top->leaf_index; l < top->leaf_index + top->leaf_count; l++) {
            w->leaves[l].node = w->schema->leaves[l];
            w->leaves[l].type = leaf_type(top, w->columns[i].type, l);
            w->leaves[l].options = &w->options;
            w->leaves[l].codecs = &w->codecs;
        }
    }
}

enum err_code parquet_writer_create(const struct schema_column *columns, uint32_t column_count,
                                    const struct parquet_schema *schema, const struct parquet_writer_options *options,
                                    parquet_sink_fn *sink, void *arg, struct parquet_writer **writer, struct err *err)
{
    ASSERT(schema->root.child_count == column_count);
    struct parquet_writer_options chosen = options ? *options : parquet_writer_options_usual();
    if (parquet_codec_number(chosen.codec) < 0)
        return err_set(err, ERR_NOT_SUPPORTED, "Parquet has no codec %s", codec_name(chosen.codec));
    struct parquet_writer *w = mem_zalloc(sizeof *w);
    w->columns = columns;
    w->column_count = column_count;
    w->schema = schema;
    w->options = chosen;
    w->sink = sink;
    w->arg = arg;
    init_leaves(w);
    *writer = w;
    return OK;
}

void parquet_writer_destroy(struct parquet_writer *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; i < w->schema->leaf_count; i++)
        parquet_leaf_writer_deinit(&w->leaves[i]);
    for (size_t i = 0; i < w->groups.len; i++)
        mem_free(w->groups.ptr[i].chunks);
    mem_free(w->leaves);
    vec_deinit(&w->groups);
    codec_state_deinit(&w->codecs);
    arena_deinit(&w->arena);
    mem_free(w);
}

static enum err_code emit(struct parquet_writer *w, struct slice bytes, struct err *err)
{
    if (!bytes.len)
        return OK;
    TRY(w->sink(w->arg, bytes, err));
    w->file_bytes += bytes.len;
    return OK;
}

static enum err_code start_file(struct parquet_writer *w, struct err *err)
{
    return w->file_bytes ? OK : emit(w, SLICE(PARQUET_MAGIC), err);
}

static struct slice bound(struct parquet_writer *w, const struct parquet_leaf_writer *leaf, bool max)
{
    struct buf bytes = {0};
    parquet_bounds_put(&leaf->bounds, leaf->node, max, &bytes);
    struct slice kept = arena_dup(&w->arena, buf_view(&bytes));
    buf_deinit(&bytes);
    return kept;
}

static void start_chunk(struct parquet_leaf_writer *leaf)
{
    leaf->file_entries += leaf->entries;
    leaf->file_nulls += leaf->nulls;
    parquet_bounds_merge(&leaf->file_bounds, leaf->node, &leaf->bounds);
    parquet_bounds_reset(&leaf->bounds);
    parquet_dictionary_reset(&leaf->dictionary);
    leaf->dictionary_state = PARQUET_DICT_UNDECIDED;
    leaf->has_dictionary_pages = leaf->has_plain_pages = false;
    leaf->entries = leaf->nulls = 0;
    leaf->plain_bytes = 0;
    buf_reset(&leaf->chunk);
}

static enum err_code emit_chunk(struct parquet_writer *w, struct parquet_leaf_writer *leaf,
                                struct parquet_chunk_meta *meta, struct err *err)
{
    struct buf dictionary = {0};
    meta->start = w->file_bytes;
    enum err_code code = parquet_dictionary_page(leaf, &dictionary, err);
    if (code == OK)
        code = emit(w, buf_view(&dictionary), err);
    buf_deinit(&dictionary);
    TRY(code);
    meta->data_start = w->file_bytes;
    TRY(emit(w, buf_view(&leaf->chunk), err));
    meta->has_dictionary = leaf->has_dictionary_pages;
    meta->has_plain = leaf->has_plain_pages;
    meta->entries = leaf->entries;
    meta->nulls = leaf->nulls;
    meta->packed_bytes = w->file_bytes - meta->start;
    meta->plain_bytes = leaf->plain_bytes;
    meta->has_bounds = leaf->bounds.state == PARQUET_BOUNDS_THERE;
    if (meta->has_bounds) {
        meta->min = bound(w, leaf, false);
        meta->max = bound(w, leaf, true);
    }
    leaf->file_packed_bytes += meta->packed_bytes;
    start_chunk(leaf);
    return OK;
}

static enum err_code flush_group(struct parquet_writer *w, struct err *err)
{
    if (!w->group_rows)
        return OK;
    uint32_t count = w->schema->leaf_count;
    struct parquet_group_meta *group = vec_add(&w->groups);
    *group = (struct parquet_group_meta){.rows = (int64_t)w->group_rows,
                                         .chunks = mem_zalloc((count + (size_t)1) * sizeof *group->chunks)};
    TRY(start_file(w, err));
    for (uint32_t i = 0; i < count; i++) {
        TRY(parquet_page_close(&w->leaves[i], err));
        TRY(emit_chunk(w, &w->leaves[i], &group->chunks[i], err));
    }
    w->group_rows = 0;
    return OK;
}

/* Rows into one leaf, in steps of about an eighth of a page, so that pages end near their size. */
static enum err_code write_leaf(struct parquet_writer *w, struct parquet_leaf_writer *leaf, const struct column *column,
                                const struct parquet_node *top, uint32_t from, uint32_t count, struct err *err)
{
    uint32_t end = from + count;
    for (size_t step = STEP_ROWS_FIRST; from < end;) {
        uint32_t rows = (uint32_t)MIN(step, end - from);
        size_t before = leaf->values.len + leaf->entry_count;
        TRY(parquet_shred(leaf, column, top, from, rows, err));
        from += rows;
        size_t row_bytes = (leaf->values.len + leaf->entry_count - before) / rows + 1;
        step = MAX(w->options.page_bytes / 8 / row_bytes, 1);
        if (leaf->values.len >= w->options.page_bytes || leaf->entry_count >= PAGE_ENTRIES_MAX)
            TRY(parquet_page_close(leaf, err));
    }
    return OK;
}

enum err_code parquet_writer_write(struct parquet_writer *w, const struct column *columns, uint32_t row_count,
                                   struct err *err)
{
    for (uint32_t from = 0; from < row_count; from += SLICE_ROWS_MAX) {
        uint32_t count = MIN(row_count - from, SLICE_ROWS_MAX);
        for (uint32_t i = 0; i < w->column_count; i++) {
            const struct parquet_node *top = &w->schema->root.children[i];
            for (uint32_t l = top->leaf_index; l < top->leaf_index + top->leaf_count; l++)
                TRY(write_leaf(w, &w->leaves[l], &columns[i], top, from, count, err));
        }
        w->group_rows += count;
        w->rows += count;
        if (parquet_writer_held_bytes(w) >= w->options.row_group_bytes)
            TRY(flush_group(w, err));
    }
    return OK;
}

enum err_code parquet_writer_finish(struct parquet_writer *w, struct err *err)
{
    struct buf footer = {0};
    TRY(flush_group(w, err));
    TRY(start_file(w, err));
    parquet_footer_put(&footer, w->schema, w->groups.ptr, w->groups.len, &w->options);
    enum err_code code = emit(w, buf_view(&footer), err);
    buf_deinit(&footer);
    return code;
}

uint64_t parquet_writer_file_bytes(const struct parquet_writer *w)
{
    return w->file_bytes;
}

uint64_t parquet_writer_held_bytes(const struct parquet_writer *w)
{
    uint64_t held = 0;
    for (uint32_t i = 0; i < w->schema->leaf_count; i++)
        held += parquet_leaf_writer_held(&w->leaves[i]);
    return held;
}

uint64_t parquet_writer_row_count(const struct parquet_writer *w)
{
    return w->rows;
}

static void to_datum(const struct parquet_leaf_writer *leaf, bool max, struct datum *out)
{
    const struct parquet_bounds *b = &leaf->file_bounds;
    __int128 v = max ? b->max_int : b->min_int;
    *out = (struct datum){0};
    switch (leaf->type->kind) {
    case TYPE_BOOLEAN:
        out->boolean = v != 0;
        break;
    case TYPE_FLOAT:
        out->f32 = (float)(max ? b->max_real : b->min_real);
        break;
    case TYPE_DOUBLE:
        out->f64 = max ? b->max_real : b->min_real;
        break;
    case TYPE_DECIMAL:
        out->decimal = v;
        break;
    case TYPE_TIME:
        out->i64 = (int64_t)v / (parquet_ticks_of_unit(leaf->node->unit) / 1000);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: {
        int64_t a_milli = parquet_ticks_of_unit(leaf->node->unit) / 1000, ticks = (int64_t)v;
        out->ts.millis = ticks / a_milli - (ticks % a_milli < 0);
        int64_t rest = ticks % a_milli;
        out->ts.nanos = (int32_t)((rest < 0 ? rest + a_milli : rest) * (1000000 / a_milli));
        break;
    }
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_BYTES:
        out->bytes = buf_view(max ? &b->max_bytes : &b->min_bytes);
        break;
    default:
        out->i64 = (int64_t)v;
    }
}

void parquet_writer_leaf_stats(const struct parquet_writer *w, uint32_t leaf_index, struct parquet_leaf_stats *out)
{
    ASSERT(leaf_index < w->schema->leaf_count);
    const struct parquet_leaf_writer *leaf = &w->leaves[leaf_index];
    *out = (struct parquet_leaf_stats){.value_count = leaf->file_entries,
                                       .null_count = leaf->file_nulls,
                                       .packed_bytes = leaf->file_packed_bytes,
                                       .has_bounds = leaf->file_bounds.state == PARQUET_BOUNDS_THERE};
    if (!out->has_bounds)
        return;
    to_datum(leaf, false, &out->min);
    to_datum(leaf, true, &out->max);
}
