#include "tier/fold_int.h"

#include <stdio.h>

struct entry {
    uint64_t prefix;
    int32_t bucket;
    uint32_t chunk;
    uint32_t i;
};

struct fold {
    struct fold_options options;
    struct arena arena; /* of the shape of chunks */
    struct type row;    /* of a chunk: FOLD_META, FOLD_KEY, the table's columns */
    int64_t *positions; /* of each bucket: the next one */
    struct buf key;     /* scratch */
    /* What is in memory. */
    struct fold_builders open; /* the chunk that takes rows */
    VEC(struct fold_builders) chunks;
    size_t chunk_bytes; /* of the closed ones */
    VEC(struct entry) entries;
    struct arena views;
    struct column **columns; /* of each chunk, once sorted */
    size_t next;             /* entry that fold_next gives */
    /* Runs. */
    VEC(uint32_t) runs; /* numbers of their files, oldest first */
    uint32_t run_next;
    uint64_t spilled_bytes;
    struct fold_run **heap; /* those being merged; the least first */
    size_t heap_len;
    bool heap_moved; /* heap[0] has been given out */
};

/* ---- shape ---- */

static const struct type meta_type = {.kind = TYPE_BINARY, .length = sizeof(struct fold_meta)};
static const struct type key_type = {.kind = TYPE_BYTES};

static void make_row(struct fold *fold)
{
    const struct type *table = fold->options.row;
    struct field *fields = ARENA_NEW_ARRAY(&fold->arena, struct field, table->field_count + FOLD_COLUMNS);
    fields[FOLD_META] = (struct field){.name = SLICE("meta"), .type = &meta_type, .id = -1};
    fields[FOLD_KEY] = (struct field){.name = SLICE("key"), .type = &key_type, .id = -1};
    for (uint32_t f = 0; f < table->field_count; f++)
        fields[FOLD_COLUMNS + f] = table->fields[f];
    fold->row = (struct type){.kind = TYPE_ROW, .fields = fields, .field_count = table->field_count + FOLD_COLUMNS};
}

void fold_create(const struct fold_options *options, struct fold **out)
{
    struct fold *fold = mem_zalloc(sizeof *fold);
    fold->options = *options;
    fold->options.bytes_max = MAX(options->bytes_max, (size_t)FOLD_BYTES_MIN);
    make_row(fold);
    fold->positions = ARENA_NEW_ARRAY(&fold->arena, int64_t, (size_t)options->bucket_count);
    fold_builders_init(&fold->open, &fold->row);
    *out = fold;
}

static void drop_chunks(struct fold *fold)
{
    for (size_t c = 0; c < fold->chunks.len; c++)
        fold_builders_deinit(&fold->chunks.ptr[c]);
    vec_reset(&fold->chunks);
    vec_reset(&fold->entries);
    fold->chunk_bytes = 0;
    arena_reset(&fold->views);
    fold->columns = NULL;
}

static void drop_run(struct fold_run *run)
{
    fold_run_close(run);
    mem_free(run);
}

static void close_heap(struct fold *fold)
{
    while (fold->heap_len)
        drop_run(fold->heap[--fold->heap_len]);
    mem_free(fold->heap);
    fold->heap = NULL;
    fold->heap_len = 0;
}

void fold_destroy(struct fold *fold)
{
    if (!fold)
        return;
    close_heap(fold);
    if (fold->run_next)
        (void)!os_remove_tree(fold->options.os, fold->options.dir, NULL); /* else at the next start of the service */
    drop_chunks(fold);
    vec_deinit(&fold->chunks);
    vec_deinit(&fold->entries);
    vec_deinit(&fold->runs);
    fold_builders_deinit(&fold->open);
    arena_deinit(&fold->views);
    arena_deinit(&fold->arena);
    buf_deinit(&fold->key);
    mem_free(fold);
}

uint64_t fold_spilled_bytes(const struct fold *fold)
{
    return fold->spilled_bytes;
}

/* ---- sorting what is in memory ---- */

static struct slice entry_key(const struct fold *fold, const struct entry *entry)
{
    return fold_key_at(fold->columns[entry->chunk], entry->i);
}

/* a may stay in front of b, which came later. */
static inline bool in_order(const struct fold *fold, const struct entry *a, const struct entry *b)
{
    if (a->bucket != b->bucket)
        return a->bucket < b->bucket;
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix;
    return slice_compare(entry_key(fold, a), entry_key(fold, b)) <= 0;
}

#define SORT_PIECE 16

static void sort_piece(const struct fold *fold, struct entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct entry entry = entries[i];
        size_t at = i;
        for (; at > 0 && !in_order(fold, &entries[at - 1], &entry); at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

static void merge_pieces(const struct fold *fold, const struct entry *from, size_t middle, size_t end, struct entry *to)
{
    size_t a = 0, b = middle;
    for (size_t i = 0; i < end; i++)
        to[i] = b == end || (a < middle && in_order(fold, &from[a], &from[b])) ? from[a++] : from[b++];
}

/* A merge sort, since changes of one key must keep their order. */
static void sort_entries(struct fold *fold)
{
    size_t count = fold->entries.len;
    struct entry *from = fold->entries.ptr, *to = mem_alloc(count * sizeof *to + 1), *scratch = to;
    for (size_t i = 0; i < count; i += SORT_PIECE)
        sort_piece(fold, from + i, MIN((size_t)SORT_PIECE, count - i));
    for (size_t width = SORT_PIECE; width < count; width *= 2) {
        for (size_t i = 0; i < count; i += 2 * width)
            merge_pieces(fold, from + i, MIN(width, count - i), MIN(2 * width, count - i), to + i);
        struct entry *swap = from;
        from = to;
        to = swap;
    }
    if (from == scratch)
        memcpy(fold->entries.ptr, scratch, count * sizeof *scratch);
    mem_free(scratch);
}

static void close_chunk(struct fold *fold)
{
    if (!fold->open.length)
        return;
    fold->chunk_bytes += fold_builders_bytes(&fold->open);
    vec_push(&fold->chunks, fold->open);
    fold_builders_init(&fold->open, &fold->row);
}

static void sort_memory(struct fold *fold)
{
    close_chunk(fold);
    fold->columns = ARENA_NEW_ARRAY(&fold->views, struct column *, fold->chunks.len);
    for (size_t c = 0; c < fold->chunks.len; c++)
        fold->columns[c] = fold_builders_view(&fold->chunks.ptr[c], &fold->views);
    sort_entries(fold);
}

/* ---- runs ---- */

static enum err_code run_path(const struct fold *fold, uint32_t run, char path[OS_PATH_MAX], struct err *err)
{
    int len = snprintf(path, OS_PATH_MAX, "%s/run-%u", fold->options.dir, run);
    return len < OS_PATH_MAX ? OK : err_set(err, ERR_LIMIT, "the path is too long: %s", fold->options.dir);
}

static enum err_code start_run(struct fold *fold, struct fold_run_writer *writer, struct err *err)
{
    char path[OS_PATH_MAX];
    if (!fold->run_next)
        TRY(os_mkdirs(fold->options.os, fold->options.dir, err));
    TRY(run_path(fold, fold->run_next, path, err));
    TRY(fold_run_create(writer, fold->options.os, path, &fold->row, err));
    vec_push(&fold->runs, fold->run_next++);
    return OK;
}

/* Everything in memory becomes a run. */
static enum err_code spill(struct fold *fold, struct err *err)
{
    struct fold_run_writer writer = {0};
    enum err_code code;
    sort_memory(fold);
    TRY_OR_FAIL(start_run(fold, &writer, err));
    for (size_t e = 0; e < fold->entries.len; e++)
        TRY_OR_FAIL(fold_run_put(&writer, fold->columns[fold->entries.ptr[e].chunk], fold->entries.ptr[e].i, err));
    TRY_OR_FAIL(fold_run_end(&writer, err));
    fold->spilled_bytes += writer.size;
    drop_chunks(fold);
fail:
    fold_run_writer_deinit(&writer);
    return code;
}

static void sift_down(struct fold_run **heap, size_t len, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < len; child++)
            if (fold_run_compare(heap[child], heap[least]) < 0)
                least = child;
        if (least == at)
            return;
        struct fold_run *swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

static enum err_code open_heap(struct fold *fold, struct err *err)
{
    char path[OS_PATH_MAX];
    fold->heap = mem_zalloc(fold->runs.len * sizeof *fold->heap);
    for (size_t r = 0; r < fold->runs.len; r++) {
        TRY(run_path(fold, fold->runs.ptr[r], path, err));
        struct fold_run *run = fold->heap[fold->heap_len++] = mem_zalloc(sizeof *run);
        TRY(fold_run_open(run, fold->options.os, path, &fold->row, err));
        ASSERT(!run->ended); /* only what holds rows is written */
    }
    for (size_t at = fold->heap_len / 2; at-- > 0;)
        sift_down(fold->heap, fold->heap_len, at);
    fold->heap_moved = false;
    return OK;
}

/* heap[0] is at the next row, or the heap is empty. */
static enum err_code step_heap(struct fold *fold, struct err *err)
{
    if (!fold->heap_moved) {
        fold->heap_moved = true;
        return OK;
    }
    TRY(fold_run_step(fold->heap[0], err));
    if (fold->heap[0]->ended) {
        drop_run(fold->heap[0]);
        fold->heap[0] = fold->heap[--fold->heap_len];
    }
    sift_down(fold->heap, fold->heap_len, 0);
    return OK;
}

static enum err_code remove_runs(struct fold *fold, size_t count, struct err *err)
{
    char path[OS_PATH_MAX];
    for (size_t r = 0; r < count; r++) {
        TRY(run_path(fold, fold->runs.ptr[0], path, err));
        TRY(os_unlink(fold->options.os, path, err));
        vec_remove(&fold->runs, 0);
    }
    return OK;
}

/* All runs become one, so that never more than FOLD_RUNS_MAX are open. */
static enum err_code join_runs(struct fold *fold, struct err *err)
{
    struct fold_run_writer writer = {0};
    enum err_code code;
    size_t count = fold->runs.len;
    TRY_OR_FAIL(open_heap(fold, err));
    TRY_OR_FAIL(start_run(fold, &writer, err));
    for (;;) {
        TRY_OR_FAIL(step_heap(fold, err));
        if (!fold->heap_len)
            break;
        TRY_OR_FAIL(fold_run_put(&writer, fold->heap[0]->columns, fold->heap[0]->i, err));
    }
    TRY_OR_FAIL(fold_run_end(&writer, err));
    fold->spilled_bytes += writer.size;
    TRY_OR_FAIL(remove_runs(fold, count, err));
fail:
    close_heap(fold);
    fold_run_writer_deinit(&writer);
    return code;
}

static enum err_code make_room(struct fold *fold, struct err *err)
{
    size_t bytes = fold->chunk_bytes + fold_builders_bytes(&fold->open);
    if (fold_builders_bytes(&fold->open) >= FOLD_CHUNK_BYTES)
        close_chunk(fold);
    /* Sorting takes the entries twice. */
    if (bytes + 2 * fold->entries.len * sizeof *fold->entries.ptr < fold->options.bytes_max)
        return OK;
    TRY(spill(fold, err));
    return fold->runs.len == FOLD_RUNS_MAX ? join_runs(fold, err) : OK;
}

/* ---- adding ---- */

static void put_bytes(struct column_builder *column, struct slice bytes)
{
    enum err_code code = column_builder_append(column, &(struct datum){.bytes = bytes}, NULL);
    ASSERT(code == OK); /* a chunk is far below what a column may hold */
}

static void put_row(struct fold *fold, int32_t bucket, const struct fold_rows *rows, uint32_t i)
{
    struct fold_builders *open = &fold->open;
    struct fold_meta meta = {
        .position = fold->positions[bucket]++,
        .offset = rows->base_offset + i,
        .timestamp_ms = rows->timestamp_ms,
        .bucket = bucket,
        .kind = rows->kinds ? rows->kinds[i] : PAIMON_INSERT,
    };
    buf_reset(&fold->key);
    fold_key_put(rows->columns, fold->options.key, fold->options.key_count, i, &fold->key);
    struct entry entry = {fold_key_prefix(buf_view(&fold->key)), bucket, (uint32_t)fold->chunks.len, open->length};
    put_bytes(&open->columns[FOLD_META], slice_of(&meta, sizeof meta));
    put_bytes(&open->columns[FOLD_KEY], buf_view(&fold->key));
    for (uint32_t c = FOLD_COLUMNS; c < open->count; c++)
        column_builder_append_from(&open->columns[c], &rows->columns[c - FOLD_COLUMNS], i);
    open->length++;
    vec_push(&fold->entries, entry);
}

#define ROWS_UNTIL_LOOK 64 /* rows added before memory is looked at again */

enum err_code fold_add(struct fold *fold, int32_t bucket, const struct fold_rows *rows, struct err *err)
{
    ASSERT(bucket >= 0 && bucket < fold->options.bucket_count);
    for (uint32_t i = rows->first; i < rows->end; i++) {
        put_row(fold, bucket, rows, i);
        if (fold->open.length % ROWS_UNTIL_LOOK == 0)
            TRY(make_room(fold, err));
    }
    return OK;
}

/* ---- giving out ---- */

enum err_code fold_sort(struct fold *fold, struct err *err)
{
    if (fold->runs.len && fold->entries.len)
        TRY(spill(fold, err));
    if (fold->runs.len)
        return open_heap(fold, err);
    sort_memory(fold);
    return OK;
}

static void give(const struct column *columns, uint32_t i, struct fold_change *out)
{
    struct fold_meta meta = fold_meta_at(columns, i);
    out->change = (struct paimon_change){
        .kind = (enum paimon_kind)meta.kind,
        .position = meta.position,
        .fluss_bucket = meta.bucket,
        .offset = meta.offset,
        .timestamp_ms = meta.timestamp_ms,
    };
    out->columns = columns + FOLD_COLUMNS;
    out->i = i;
}

enum err_code fold_next(struct fold *fold, struct fold_change *change, bool *have, struct err *err)
{
    if (fold->heap) {
        *have = false;
        if (fold->heap_len)
            TRY(step_heap(fold, err));
        if (!fold->heap_len)
            return OK;
        give(fold->heap[0]->columns, fold->heap[0]->i, change);
        *have = true;
        return OK;
    }
    *have = fold->next < fold->entries.len;
    if (*have) {
        const struct entry *entry = &fold->entries.ptr[fold->next++];
        give(fold->columns[entry->chunk], entry->i, change);
    }
    return OK;
}
