/* Runs: sorted chunks in files. */
#include "tier/fold_int.h"

void fold_builders_init(struct fold_builders *builders, const struct type *row)
{
    *builders = (struct fold_builders){.count = row->field_count};
    builders->columns = mem_zalloc(row->field_count * sizeof *builders->columns);
    for (uint32_t c = 0; c < row->field_count; c++)
        column_builder_init(&builders->columns[c], row->fields[c].type);
}

void fold_builders_deinit(struct fold_builders *builders)
{
    for (uint32_t c = 0; c < builders->count; c++)
        column_builder_deinit(&builders->columns[c]);
    mem_free(builders->columns);
    *builders = (struct fold_builders){0};
}

void fold_builders_reset(struct fold_builders *builders)
{
    for (uint32_t c = 0; c < builders->count; c++)
        column_builder_reset(&builders->columns[c]);
    builders->length = 0;
}

size_t fold_builders_bytes(const struct fold_builders *builders)
{
    size_t bytes = 0;
    for (uint32_t c = 0; c < builders->count; c++)
        bytes += column_builder_bytes(&builders->columns[c]);
    return bytes;
}

struct column *fold_builders_view(const struct fold_builders *builders, struct arena *arena)
{
    struct column *columns = ARENA_NEW_ARRAY(arena, struct column, builders->count);
    for (uint32_t c = 0; c < builders->count; c++)
        column_builder_view(&builders->columns[c], arena, &columns[c]);
    return columns;
}

void fold_builders_copy(struct fold_builders *builders, const struct column *columns, uint32_t i)
{
    for (uint32_t c = 0; c < builders->count; c++)
        column_builder_append_from(&builders->columns[c], &columns[c], i);
    builders->length++;
}

/* ---- writing ---- */

enum err_code fold_run_create(struct fold_run_writer *writer, struct os *os, const char *path, const struct type *row,
                              struct err *err)
{
    *writer = (struct fold_run_writer){0};
    TRY(os_file_open(os, path, OS_WRITE | OS_CREATE | OS_TRUNC, &writer->file, err));
    fold_builders_init(&writer->builders, row);
    return OK;
}

static enum err_code write_block(struct fold_run_writer *writer, struct err *err)
{
    struct arena arena = {0};
    struct fold_builders *builders = &writer->builders;
    struct arrow_options options = {.compression = ARROW_LZ4_FRAME};
    struct column *columns = fold_builders_view(builders, &arena);
    buf_reset(&writer->block);
    buf_put_u32(&writer->block, 0);
    arrow_encode(&writer->codec, options, columns, builders->count, builders->length, &writer->block);
    store_u32(writer->block.ptr, (uint32_t)writer->block.len - 4);
    enum err_code code = os_file_write(writer->file, writer->size, buf_view(&writer->block), err);
    if (code == OK)
        writer->size += writer->block.len;
    fold_builders_reset(builders);
    arena_deinit(&arena);
    return code;
}

enum err_code fold_run_put(struct fold_run_writer *writer, const struct column *columns, uint32_t i, struct err *err)
{
    fold_builders_copy(&writer->builders, columns, i);
    if (fold_builders_bytes(&writer->builders) < FOLD_BLOCK_BYTES)
        return OK;
    return write_block(writer, err);
}

enum err_code fold_run_end(struct fold_run_writer *writer, struct err *err)
{
    return writer->builders.length ? write_block(writer, err) : OK;
}

void fold_run_writer_deinit(struct fold_run_writer *writer)
{
    os_file_close(writer->file);
    fold_builders_deinit(&writer->builders);
    arrow_codec_deinit(&writer->codec);
    buf_deinit(&writer->block);
    *writer = (struct fold_run_writer){0};
}

/* ---- reading ---- */

static enum err_code read_exactly(struct fold_run *run, void *ptr, size_t len, struct err *err)
{
    size_t got;
    TRY(os_file_read(run->file, run->offset, ptr, len, &got, err));
    if (got < len)
        return err_set(err, ERR_CORRUPT, "a file for sorting ends at %llu within a block",
                       (unsigned long long)(run->offset + got));
    run->offset += len;
    return OK;
}

static enum err_code read_block(struct fold_run *run, struct err *err)
{
    uint8_t head[4];
    run->ended = run->offset == run->size;
    if (run->ended)
        return OK;
    TRY(read_exactly(run, head, sizeof head, err));
    size_t len = load_u32(head);
    if (len > run->size - run->offset)
        return err_set(err, ERR_CORRUPT, "a file for sorting has a block of %zu bytes at %llu", len,
                       (unsigned long long)run->offset);
    buf_reset(&run->block);
    TRY(read_exactly(run, buf_extend(&run->block, len), len, err));
    arena_reset(&run->arena);
    run->columns = ARENA_NEW_ARRAY(&run->arena, struct column, run->row->field_count);
    TRY(arrow_decode(&run->codec, buf_view(&run->block), run->row, &run->arena, run->columns, &run->length, err));
    run->i = 0;
    return run->length ? OK : err_set(err, ERR_CORRUPT, "a file for sorting has an empty block");
}

static void look_at_row(struct fold_run *run)
{
    run->meta = fold_meta_at(run->columns, run->i);
    run->key = fold_key_at(run->columns, run->i);
    run->prefix = fold_key_prefix(run->key);
}

enum err_code fold_run_open(struct fold_run *run, struct os *os, const char *path, const struct type *row,
                            struct err *err)
{
    *run = (struct fold_run){.row = row};
    TRY(os_file_open(os, path, OS_READ, &run->file, err));
    TRY(os_file_size(run->file, &run->size, err));
    TRY(read_block(run, err));
    if (!run->ended)
        look_at_row(run);
    return OK;
}

void fold_run_close(struct fold_run *run)
{
    os_file_close(run->file);
    arrow_codec_deinit(&run->codec);
    arena_deinit(&run->arena);
    buf_deinit(&run->block);
    *run = (struct fold_run){.ended = true};
}

enum err_code fold_run_step(struct fold_run *run, struct err *err)
{
    ASSERT(!run->ended);
    if (++run->i == run->length)
        TRY(read_block(run, err));
    if (!run->ended)
        look_at_row(run);
    return OK;
}

int fold_run_compare(const struct fold_run *a, const struct fold_run *b)
{
    if (a->meta.bucket != b->meta.bucket)
        return a->meta.bucket < b->meta.bucket ? -1 : 1;
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    int order = slice_compare(a->key, b->key);
    if (order)
        return order;
    return (a->meta.position > b->meta.position) - (a->meta.position < b->meta.position);
}
