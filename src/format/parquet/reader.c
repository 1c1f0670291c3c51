/* Opening a file, choosing columns, and going through its rows. */
#include "format/parquet/parquet_int.h"

#define TAIL_BYTES 8                  /* the footer's length and the magic */
#define SLICE_BYTES_USUAL (64u << 20) /* rows are given in slices of about this size, going by the footer */

struct parquet_reader {
    parquet_source_fn *source;
    void *arg;
    uint64_t file_bytes;
    struct arena arena; /* the footer */
    struct parquet_footer footer;
    struct codec_state codecs;
    /* the choice */
    struct arena choice;
    struct parquet_want *wants;
    uint32_t want_count;
    struct parquet_leaf_reader *leaves;
    uint32_t leaf_count;
    /* where it stands */
    uint32_t group;    /* the next row group */
    int64_t rows_left; /* of the one before */
    struct arena slice;
};

enum err_code parquet_source_memory(void *arg, uint64_t offset, void *ptr, size_t len, struct err *err)
{
    const struct slice *file = arg;
    if (offset > file->len || len > file->len - offset)
        return err_set(err, ERR_CORRUPT, "a file in memory has %zu bytes, not %llu", file->len,
                       (unsigned long long)(offset + len));
    if (len)
        memcpy(ptr, file->ptr + offset, len);
    return OK;
}

static enum err_code refuse_others(struct parquet_reader *r, struct slice end, struct err *err)
{
    char start[4] = {0};
    if (r->file_bytes >= 4)
        TRY(r->source(r->arg, 0, start, 4, err));
    if (memcmp(start, "ORC", 3) == 0)
        return err_set(err, ERR_NOT_SUPPORTED, "this is an ORC file; only Parquet is read");
    if (slice_equal(end, SLICE("PARE")))
        return err_set(err, ERR_NOT_SUPPORTED, "Parquet: encrypted files are not read");
    return err_set(err, ERR_CORRUPT, "this is no Parquet file: it does not end with PAR1");
}

static enum err_code read_footer(struct parquet_reader *r, struct err *err)
{
    uint8_t tail[TAIL_BYTES] = {0};
    if (r->file_bytes < TAIL_BYTES + 4)
        return refuse_others(r, (struct slice){0}, err);
    TRY(r->source(r->arg, r->file_bytes - TAIL_BYTES, tail, TAIL_BYTES, err));
    if (memcmp(tail + 4, PARQUET_MAGIC, 4) != 0)
        return refuse_others(r, slice_of(tail + 4, 4), err);
    uint32_t len = load_u32(tail);
    if (len > r->file_bytes - TAIL_BYTES - 4)
        return err_set(err, ERR_CORRUPT, "Parquet: the footer of %u bytes is larger than the file", len);
    if (len > PARQUET_FOOTER_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "Parquet: a footer of %u bytes", len);
    struct buf bytes = {0};
    enum err_code code =
        r->source(r->arg, r->file_bytes - TAIL_BYTES - len, buf_extend(&bytes, len + (size_t)1), len, err);
    if (code == OK)
        code = parquet_footer_parse(&r->arena, slice_of(bytes.ptr, len), r->file_bytes, &r->footer, err);
    buf_deinit(&bytes);
    return code;
}

enum err_code parquet_reader_open(parquet_source_fn *source, void *arg, uint64_t file_bytes,
                                  struct parquet_reader **reader, struct err *err)
{
    struct parquet_reader *r = mem_zalloc(sizeof *r);
    r->source = source;
    r->arg = arg;
    r->file_bytes = file_bytes;
    enum err_code code = read_footer(r, err);
    if (code != OK)
        parquet_reader_close(r);
    else
        *reader = r;
    return code;
}

static void drop_choice(struct parquet_reader *r)
{
    for (uint32_t i = 0; i < r->leaf_count; i++)
        parquet_leaf_reader_deinit(&r->leaves[i]);
    mem_free(r->leaves);
    r->leaves = NULL;
    r->leaf_count = r->want_count = 0;
    arena_deinit(&r->choice);
}

void parquet_reader_close(struct parquet_reader *r)
{
    if (!r)
        return;
    drop_choice(r);
    codec_state_deinit(&r->codecs);
    arena_deinit(&r->slice);
    arena_deinit(&r->arena);
    mem_free(r);
}

uint64_t parquet_reader_row_count(const struct parquet_reader *r)
{
    return (uint64_t)r->footer.rows;
}

const struct parquet_schema *parquet_reader_schema(const struct parquet_reader *r)
{
    return &r->footer.schema;
}

const struct slice *parquet_reader_property(const struct parquet_reader *r, const char *key)
{
    return properties_get(&r->footer.properties, key);
}

static void init_leaves(struct parquet_reader *r, const parquet_choice_vec *choices)
{
    r->leaf_count = (uint32_t)choices->len;
    r->leaves = mem_zalloc((r->leaf_count + (size_t)1) * sizeof *r->leaves);
    for (uint32_t i = 0; i < r->leaf_count; i++) {
        r->leaves[i].node = choices->ptr[i].node;
        r->leaves[i].convert = choices->ptr[i].convert;
        r->leaves[i].source = r->source;
        r->leaves[i].arg = r->arg;
        r->leaves[i].codecs = &r->codecs;
    }
}

enum err_code parquet_reader_select(struct parquet_reader *r, const struct schema_column *columns,
                                    uint32_t column_count, enum parquet_match match, struct err *err)
{
    parquet_choice_vec choices = {0};
    drop_choice(r);
    r->group = 0;
    r->rows_left = 0;
    r->wants = ARENA_NEW_ARRAY(&r->choice, struct parquet_want, column_count);
    enum err_code code =
        parquet_want_match(&r->choice, &r->footer.schema, columns, column_count, match, r->wants, &choices, err);
    if (code == OK) {
        init_leaves(r, &choices);
        r->want_count = column_count;
    }
    vec_deinit(&choices);
    return code;
}

/* To the next row group with rows, if there is one. */
static enum err_code next_group(struct parquet_reader *r, struct err *err)
{
    while (r->rows_left == 0 && r->group < r->footer.group_count) {
        const struct parquet_group *g = &r->footer.groups[r->group++];
        r->rows_left = g->rows;
        for (uint32_t i = 0; i < r->leaf_count; i++)
            TRY(parquet_leaf_start(&r->leaves[i], &g->chunks[r->leaves[i].node->leaf_index], err));
    }
    return OK;
}

static uint32_t rows_of_slice(const struct parquet_reader *r, uint32_t row_count_max)
{
    uint64_t rows = MIN((uint64_t)r->rows_left, row_count_max);
    if (!rows)
        return 0;
    const struct parquet_group *g = &r->footer.groups[r->group - 1];
    uint64_t row_bytes = MAX(g->plain_bytes / (uint64_t)g->rows, (uint64_t)1); /* the footer may say anything */
    return (uint32_t)MIN(rows, MAX(SLICE_BYTES_USUAL / row_bytes, (uint64_t)1));
}

enum err_code parquet_reader_next(struct parquet_reader *r, uint32_t row_count_max, struct column *columns,
                                  uint32_t *row_count, struct err *err)
{
    arena_reset(&r->slice);
    TRY(next_group(r, err));
    uint32_t rows = rows_of_slice(r, row_count_max);
    for (uint32_t i = 0; i < r->leaf_count && rows; i++)
        TRY(parquet_leaf_read(&r->leaves[i], rows, err));
    for (uint32_t i = 0; i < r->want_count && rows; i++)
        TRY(parquet_assemble(&r->slice, &r->wants[i], r->leaves, rows, &columns[i], err));
    r->rows_left -= rows;
    *row_count = rows;
    return OK;
}
