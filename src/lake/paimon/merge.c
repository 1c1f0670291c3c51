/* Sorted runs of a primary-key bucket, merged: of each key the row with the greatest sequence number.
 *
 * A file of level 0 is a run; a level above is one run, its files one behind the other by key. The runs stand in a heap
 * by (key, sequence number from the greatest down): what comes out first of a key wins, the rest of it is skipped. */
#include "lake/paimon/read_int.h"

#include "lake/paimon/row_int.h"

#include <stdlib.h>

#define SLICE_ROWS 2048 /* of a file, in memory */

struct run {
    struct merge *merge;
    const struct entry **files; /* by key */
    size_t file_count;
    size_t next_file;
    bool is_open;
    struct data_reader reader;
    uint32_t row_count; /* of the slice */
    uint32_t row;
    struct arena arena; /* of the key, where it needs one */
    struct datum *key;
    int64_t sequence;
};

struct merge {
    struct merge_options options;
    const struct paimon_schema *schema;
    struct arena arena;
    /* what is read: the wanted columns, then key columns that are not among them, sequence and kind */
    struct schema_column *columns;
    uint32_t column_count;
    uint32_t *key_places;
    uint32_t sequence_place;
    uint32_t kind_place;
    struct run *runs;
    size_t run_count;
    struct run **heap;
    size_t heap_len;
    /* the output */
    struct column_builder *builders;
    struct column *views;
    struct arena view_arena;
    struct buf sequences;
    struct buf kinds;
    struct datum *last_key;
    struct arena last_arena;
    bool any_key;
};

/* ---- runs ---- */

static enum err_code run_load_row(struct run *run, struct err *err)
{
    struct merge *m = run->merge;
    struct datum value;
    arena_reset(&run->arena);
    for (uint32_t i = 0; i < m->schema->trimmed_key_count; i++) {
        column_get(&run->reader.columns[m->key_places[i]], run->row, &run->arena, &run->key[i]);
        if (run->key[i].is_null)
            return err_set(err, ERR_CORRUPT, "a row of the lake has a null in its primary key");
    }
    column_get(&run->reader.columns[m->sequence_place], run->row, &run->arena, &value);
    if (value.is_null)
        return err_set(err, ERR_CORRUPT, "a row of the lake has no sequence number");
    run->sequence = value.i64;
    return OK;
}

/* To the next row; *more is false behind the last. */
static enum err_code run_next(struct run *run, bool *more, struct err *err)
{
    struct merge *m = run->merge;
    run->row++;
    while (!run->is_open || run->row >= run->row_count) {
        run->row = 0;
        run->row_count = 0;
        if (!run->is_open) {
            *more = run->next_file < run->file_count;
            if (!*more)
                return OK;
            TRY(paimon_data_reader_open(m->options.table, m->schema, run->files[run->next_file++], m->columns,
                                        m->column_count, &run->reader, err));
            run->is_open = true;
        }
        TRY(paimon_data_reader_next(&run->reader, SLICE_ROWS, &run->row_count, err));
        if (run->row_count == 0) {
            paimon_data_reader_close(&run->reader);
            run->is_open = false;
        }
    }
    *more = true;
    return run_load_row(run, err);
}

/* ---- the heap ---- */

static bool comes_before(const struct merge *m, const struct run *a, const struct run *b)
{
    int order = paimon_key_compare(m->schema, a->key, b->key);
    return order ? order < 0 : a->sequence > b->sequence;
}

static void sift_down(struct merge *m, size_t at)
{
    for (;;) {
        size_t least = at, left = 2 * at + 1, right = left + 1;
        if (left < m->heap_len && comes_before(m, m->heap[left], m->heap[least]))
            least = left;
        if (right < m->heap_len && comes_before(m, m->heap[right], m->heap[least]))
            least = right;
        if (least == at)
            return;
        struct run *run = m->heap[at];
        m->heap[at] = m->heap[least];
        m->heap[least] = run;
        at = least;
    }
}

static enum err_code advance_top(struct merge *m, struct err *err)
{
    bool more;
    TRY(run_next(m->heap[0], &more, err));
    if (!more)
        m->heap[0] = m->heap[--m->heap_len];
    sift_down(m, 0);
    return OK;
}

/* ---- open ---- */

static uint32_t find_place(const struct merge *m, struct slice name, const struct type *type)
{
    for (uint32_t i = 0; i < m->options.column_count; i++)
        if (slice_equal(m->columns[i].name, name) && type_equal(m->columns[i].type, type, false))
            return i;
    return UINT32_MAX;
}

static uint32_t add_column(struct merge *m, struct slice name, const struct type *type)
{
    uint32_t found = find_place(m, name, type);
    if (found != UINT32_MAX)
        return found;
    m->columns[m->column_count] = (struct schema_column){.name = name, .type = type, .id = -1};
    return m->column_count++;
}

static void choose_columns(struct merge *m)
{
    uint32_t keys = m->schema->trimmed_key_count;
    m->columns = ARENA_NEW_ARRAY(&m->arena, struct schema_column, m->options.column_count + keys + 2);
    m->key_places = ARENA_NEW_ARRAY(&m->arena, uint32_t, keys);
    memcpy(m->columns, m->options.columns, m->options.column_count * sizeof *m->columns);
    m->column_count = m->options.column_count;
    for (uint32_t i = 0; i < keys; i++) {
        const struct schema_column *key = &m->schema->columns[m->schema->trimmed_key[i]];
        m->key_places[i] = add_column(m, key->name, key->type);
    }
    m->sequence_place = add_column(m, SLICE(SEQUENCE_COLUMN), type_simple(TYPE_BIGINT));
    m->kind_place = add_column(m, SLICE(KIND_COLUMN), type_simple(TYPE_TINYINT));
}

struct file_key {
    const struct merge *merge;
    const struct entry *entry;
    struct datum *min;
};

static int file_order(const void *a, const void *b)
{
    const struct file_key *x = a, *y = b;
    return paimon_key_compare(x->merge->schema, x->min, y->min);
}

/* The files of a level by their least keys. */
static enum err_code order_run(struct merge *m, struct run *run, struct err *err)
{
    const struct paimon_schema *schema = m->schema;
    struct type row = {.kind = TYPE_ROW, .field_count = schema->trimmed_key_count};
    struct field *fields = ARENA_NEW_ARRAY(&m->arena, struct field, row.field_count);
    struct file_key *keys = ARENA_NEW_ARRAY(&m->arena, struct file_key, run->file_count);
    for (uint32_t i = 0; i < row.field_count; i++)
        fields[i] = (struct field){.type = schema->columns[schema->trimmed_key[i]].type, .id = -1};
    row.fields = fields;
    for (size_t i = 0; i < run->file_count; i++) {
        keys[i] = (struct file_key){m, run->files[i], ARENA_NEW_ARRAY(&m->arena, struct datum, row.field_count)};
        TRY(paimon_row_decode(&row, run->files[i]->min_key, &m->arena, keys[i].min, err));
    }
    qsort(keys, run->file_count, sizeof *keys, file_order);
    for (size_t i = 0; i < run->file_count; i++)
        run->files[i] = keys[i].entry;
    return OK;
}

static enum err_code make_runs(struct merge *m, struct err *err)
{
    const struct entry *const *files = m->options.files;
    size_t count = m->options.file_count;
    m->runs = ARENA_NEW_ARRAY(&m->arena, struct run, count);
    for (size_t from = 0, to; from < count; from = to) {
        struct run *run = &m->runs[m->run_count++];
        for (to = from + 1; to < count && files[from]->level > 0 && files[to]->level == files[from]->level;)
            to++;
        *run = (struct run){.merge = m, .file_count = to - from};
        run->files = ARENA_NEW_ARRAY(&m->arena, const struct entry *, run->file_count);
        memcpy(run->files, files + from, run->file_count * sizeof *run->files);
        run->key = ARENA_NEW_ARRAY(&m->arena, struct datum, m->schema->trimmed_key_count);
        if (run->file_count > 1)
            TRY(order_run(m, run, err));
    }
    return OK;
}

static enum err_code fill_heap(struct merge *m, struct err *err)
{
    m->heap = ARENA_NEW_ARRAY(&m->arena, struct run *, m->run_count + 1);
    for (size_t i = 0; i < m->run_count; i++) {
        bool more;
        TRY(run_next(&m->runs[i], &more, err));
        if (more)
            m->heap[m->heap_len++] = &m->runs[i];
    }
    for (size_t i = m->heap_len; i-- > 0;)
        sift_down(m, i);
    return OK;
}

enum err_code paimon_merge_open(const struct merge_options *options, struct merge **out, struct err *err)
{
    struct merge *m = mem_zalloc(sizeof *m);
    enum err_code code;
    m->options = *options;
    m->schema = options->schema;
    choose_columns(m);
    m->last_key = ARENA_NEW_ARRAY(&m->arena, struct datum, m->schema->trimmed_key_count);
    m->views = ARENA_NEW_ARRAY(&m->arena, struct column, options->column_count + 1);
    m->builders = ARENA_NEW_ARRAY(&m->arena, struct column_builder, options->column_count + 1);
    for (uint32_t i = 0; i < options->column_count; i++)
        column_builder_init(&m->builders[i], options->columns[i].type);
    TRY_OR_FAIL(make_runs(m, err));
    TRY_OR_FAIL(fill_heap(m, err));
    *out = m;
    return OK;
fail:
    paimon_merge_close(m);
    return code;
}

void paimon_merge_close(struct merge *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->run_count; i++) {
        if (m->runs[i].is_open)
            paimon_data_reader_close(&m->runs[i].reader);
        arena_deinit(&m->runs[i].arena);
    }
    for (uint32_t i = 0; i < m->options.column_count; i++)
        column_builder_deinit(&m->builders[i]);
    buf_deinit(&m->sequences);
    buf_deinit(&m->kinds);
    arena_deinit(&m->view_arena);
    arena_deinit(&m->last_arena);
    arena_deinit(&m->arena);
    mem_free(m);
}

/* ---- rows ---- */

static bool is_last_key(const struct merge *m, const struct run *run)
{
    return m->any_key && paimon_key_compare(m->schema, m->last_key, run->key) == 0;
}

static void keep_last_key(struct merge *m, const struct run *run)
{
    arena_reset(&m->last_arena);
    for (uint32_t i = 0; i < m->schema->trimmed_key_count; i++)
        datum_dup(&m->last_arena, m->schema->columns[m->schema->trimmed_key[i]].type, &run->key[i], &m->last_key[i]);
    m->any_key = true;
}

static bool is_delete(int64_t kind)
{
    return kind == PAIMON_UPDATE_BEFORE || kind == PAIMON_DELETE;
}

static enum err_code take_row(struct merge *m, const struct run *run, size_t *bytes, struct err *err)
{
    struct datum kind;
    column_get(&run->reader.columns[m->kind_place], run->row, &m->view_arena, &kind);
    if (kind.is_null || kind.i64 < PAIMON_INSERT || kind.i64 > PAIMON_DELETE)
        return err_set(err, ERR_CORRUPT, "a row of the lake has no kind that there is");
    if (m->options.drop_deletes && is_delete(kind.i64))
        return OK;
    for (uint32_t i = 0; i < m->options.column_count; i++) {
        column_builder_append_from(&m->builders[i], &run->reader.columns[i], run->row);
        *bytes += type_is_nested(m->builders[i].type) ? column_builder_bytes(&m->builders[i]) : m->builders[i].data.len;
    }
    buf_put_u64(&m->sequences, (uint64_t)run->sequence);
    buf_put_u8(&m->kinds, (uint8_t)kind.i64);
    return OK;
}

static void reset_output(struct merge *m)
{
    for (uint32_t i = 0; i < m->options.column_count; i++)
        column_builder_reset(&m->builders[i]);
    buf_reset(&m->sequences);
    buf_reset(&m->kinds);
    arena_reset(&m->view_arena);
}

enum err_code paimon_merge_next(struct merge *m, uint32_t row_count_max, struct merged *out, struct err *err)
{
    size_t bytes = 0;
    reset_output(m);
    while (m->heap_len && m->kinds.len < row_count_max && bytes < BLOCK_BYTES) {
        struct run *run = m->heap[0];
        if (!is_last_key(m, run)) {
            keep_last_key(m, run);
            bytes = 0;
            TRY(take_row(m, run, &bytes, err));
        }
        TRY(advance_top(m, err));
    }
    for (uint32_t i = 0; i < m->options.column_count; i++)
        column_builder_view(&m->builders[i], &m->view_arena, &m->views[i]);
    *out = (struct merged){m->views, buf_view(&m->sequences), buf_view(&m->kinds), (uint32_t)m->kinds.len};
    return OK;
}
