/* Data and changelog files of one bucket: Parquet, cut at a size, with what a manifest says about each.
 *
 *   bucket-B/data-UUID-N.parquet         level 0: a round's last change per key; append: rows in order
 *   bucket-B/changelog-UUID-N.parquet    all changes of a round
 *
 * A file is on disk, and so is its name in the directory, before anything names it. */
#include "lake/paimon/row_int.h"
#include "lake/paimon/write_int.h"

#define STAT_STRING_BYTES_MAX 64 /* longer bounds of strings are left out, so that manifests stay small */

static enum err_code sink(void *arg, struct slice bytes, struct err *err)
{
    struct data_files *files = arg;
    TRY(os_file_write(files->file, files->written, bytes, err));
    files->written += bytes.len;
    return OK;
}

static enum err_code file_path(struct data_files *files, struct slice name, struct path *dir, struct path *path,
                               struct err *err)
{
    TRY(paimon_bucket_dir(files->table, files->partition, files->bucket, dir, err));
    return paimon_path_set(path, err, "%s/%.*s", dir->text, SLICE_ARGS(name));
}

static enum err_code open_file(struct data_files *files, struct err *err)
{
    struct path dir, path;
    struct parquet_writer_options options = parquet_writer_options_usual();
    options.codec = files->options->codec;
    options.level = files->options->level;
    options.row_group_bytes = ROW_GROUP_BYTES;
    files->name =
        arena_printf(files->arena, "%s%s-%u.parquet", files->prefix, files->names->uuid, files->names->next++);
    TRY(file_path(files, files->name, &dir, &path, err));
    TRY(paimon_dir_make(files->table->os, dir.text, err));
    TRY(os_file_open(files->table->os, path.text, OS_WRITE | OS_CREATE | OS_EXCL, &files->file, err));
    files->written = 0;
    files->row_count = files->delete_count = 0;
    files->sequence_min = INT64_MAX;
    files->sequence_max = INT64_MIN;
    buf_reset(&files->min_key);
    buf_reset(&files->max_key);
    return parquet_writer_create(files->layout->columns, files->layout->column_count, &files->layout->parquet, &options,
                                 sink, files, &files->writer, err);
}

/* ---- what is known of the rows ---- */

static enum err_code put_key(const struct layout *layout, const struct column *columns, uint32_t row, struct buf *out,
                             struct err *err)
{
    struct arena arena = {0};
    struct datum *values = ARENA_NEW_ARRAY(&arena, struct datum, layout->key_count);
    for (uint32_t i = 0; i < layout->key_count; i++)
        column_get(&columns[i], row, &arena, &values[i]);
    buf_reset(out);
    enum err_code code = paimon_row_encode(layout->key_row, values, out, err);
    arena_deinit(&arena);
    return code;
}

static enum err_code note_keyed_rows(struct data_files *files, const struct column *columns, uint32_t row_count,
                                     struct err *err)
{
    const struct layout *layout = files->layout;
    const uint8_t *sequences = columns[layout->key_count].data, *kinds = columns[layout->key_count + 1].data;
    for (uint32_t i = 0; i < row_count; i++) {
        int64_t sequence = (int64_t)load_u64(sequences + 8 * (size_t)i);
        files->sequence_min = MIN(files->sequence_min, sequence);
        files->sequence_max = MAX(files->sequence_max, sequence);
        files->delete_count += kinds[i] == PAIMON_UPDATE_BEFORE || kinds[i] == PAIMON_DELETE;
    }
    if (files->row_count == 0)
        TRY(put_key(layout, columns, 0, &files->min_key, err));
    return put_key(layout, columns, row_count - 1, &files->max_key, err);
}

static void note_appended_rows(struct data_files *files, uint32_t row_count)
{
    files->sequence_min = MIN(files->sequence_min, files->next_sequence);
    files->next_sequence += row_count;
    files->sequence_max = files->next_sequence - 1;
}

enum err_code paimon_data_files_write(struct data_files *files, const struct column *columns, uint32_t row_count,
                                      struct err *err)
{
    if (row_count == 0)
        return OK;
    if (!files->file)
        TRY(open_file(files, err));
    if (files->layout->key_count)
        TRY(note_keyed_rows(files, columns, row_count, err));
    else
        note_appended_rows(files, row_count);
    files->row_count += row_count;
    TRY(parquet_writer_write(files->writer, columns, row_count, err));
    uint64_t bytes = parquet_writer_file_bytes(files->writer) + parquet_writer_held_bytes(files->writer);
    return bytes >= files->options->file_bytes ? paimon_data_files_end(files, err) : OK;
}

uint64_t paimon_data_files_held(const struct data_files *files)
{
    return files->writer ? parquet_writer_held_bytes(files->writer) : 0;
}

/* ---- statistics ---- */

static bool has_usable_bounds(const struct type *type, const struct parquet_leaf_stats *stats)
{
    switch (type->kind) {
    case TYPE_BINARY:
    case TYPE_BYTES:
        return false;
    case TYPE_CHAR:
    case TYPE_STRING:
        return stats->has_bounds && stats->min.bytes.len <= STAT_STRING_BYTES_MAX &&
               stats->max.bytes.len <= STAT_STRING_BYTES_MAX;
    default:
        return stats->has_bounds;
    }
}

/* Readers tell -0.0 from 0.0, the writer's bounds do not: take the wider. */
static void widen_zero(const struct type *type, struct datum *min, struct datum *max)
{
    if (type->kind == TYPE_DOUBLE) {
        min->f64 = min->f64 == 0 ? -0.0 : min->f64;
        max->f64 = max->f64 == 0 ? 0.0 : max->f64;
    } else if (type->kind == TYPE_FLOAT) {
        min->f32 = min->f32 == 0 ? -0.0f : min->f32;
        max->f32 = max->f32 == 0 ? 0.0f : max->f32;
    }
}

static enum err_code wrap(struct data_files *files, const struct type *row, const struct datum *values,
                          struct slice *out, struct err *err)
{
    struct buf bytes = {0};
    enum err_code code = paimon_row_encode(row, values, &bytes, err);
    if (code == OK)
        *out = arena_dup(files->arena, buf_view(&bytes));
    buf_deinit(&bytes);
    return code;
}

/* Of the columns at these places; places NULL: the first ones. */
static enum err_code make_stats(struct data_files *files, const struct type *row, const uint32_t *places,
                                struct entry_stats *stats, struct err *err)
{
    const struct layout *layout = files->layout;
    struct arena arena = {0};
    struct datum *min = ARENA_NEW_ARRAY(&arena, struct datum, row->field_count + 1);
    struct datum *max = ARENA_NEW_ARRAY(&arena, struct datum, row->field_count + 1);
    stats->null_counts = ARENA_NEW_ARRAY(files->arena, struct optional_i64, row->field_count + 1);
    stats->null_count_count = row->field_count;
    for (uint32_t i = 0; i < row->field_count; i++) {
        struct parquet_leaf_stats leaf;
        const struct parquet_node *node = &layout->parquet.root.children[places ? places[i] : i];
        parquet_writer_leaf_stats(files->writer, node->leaf_index, &leaf);
        stats->null_counts[i] = (struct optional_i64){true, leaf.null_count};
        min[i].is_null = max[i].is_null = true;
        if (has_usable_bounds(row->fields[i].type, &leaf)) {
            min[i] = leaf.min;
            max[i] = leaf.max;
            widen_zero(row->fields[i].type, &min[i], &max[i]);
        }
    }
    enum err_code code = wrap(files, row, min, &stats->min_values, err);
    if (code == OK)
        code = wrap(files, row, max, &stats->max_values, err);
    arena_deinit(&arena);
    return code;
}

static enum err_code make_entry(struct data_files *files, struct entry **out, struct err *err)
{
    const struct layout *layout = files->layout;
    bool keyed = layout->key_count > 0;
    struct entry *e = ARENA_NEW(files->arena, struct entry);
    *e = (struct entry){
        .kind = ENTRY_ADD,
        .partition = files->partition,
        .bucket = files->bucket,
        .total_buckets = layout->schema->bucket_count,
        .name = files->name,
        .size = (int64_t)files->written,
        .row_count = files->row_count,
        .min_key = keyed ? arena_dup(files->arena, buf_view(&files->min_key)) : paimon_entry_empty_row,
        .max_key = keyed ? arena_dup(files->arena, buf_view(&files->max_key)) : paimon_entry_empty_row,
        .sequence_min = files->sequence_min,
        .sequence_max = files->sequence_max,
        .schema_id = layout->schema->id,
        .level = files->level,
        .creation_ms = {true, os_wall_ms(files->table->os)},
        .delete_count = {true, files->delete_count},
        .source = {true, files->source},
        .value_stats_columns = {layout->stat_names, layout->stat_count},
    };
    TRY(paimon_told_path(files->table, files->partition, files->bucket, files->name, files->arena, &e->external_path,
                         err));
    TRY(make_stats(files, layout->key_row, NULL, &e->key_stats, err));
    TRY(make_stats(files, layout->stat_row, layout->stat_places, &e->value_stats, err));
    *out = e;
    return OK;
}

/* ---- the end of a file ---- */

static void close_file(struct data_files *files)
{
    parquet_writer_destroy(files->writer);
    os_file_close(files->file);
    files->writer = NULL;
    files->file = NULL;
}

static void remove_file(struct data_files *files, struct slice name)
{
    struct path dir, path;
    if (file_path(files, name, &dir, &path, NULL) == OK)
        (void)!paimon_file_remove(files->table->os, path.text, NULL);
}

enum err_code paimon_data_files_end(struct data_files *files, struct err *err)
{
    struct entry *entry;
    if (!files->file)
        return OK;
    TRY(parquet_writer_finish(files->writer, err));
    TRY(make_entry(files, &entry, err));
    TRY(os_file_sync(files->file, err));
    close_file(files);
    vec_push(&files->done, entry);
    return OK;
}

enum err_code paimon_data_files_sync_names(struct data_files *files, struct err *err)
{
    struct path dir;
    TRY(paimon_bucket_dir(files->table, files->partition, files->bucket, &dir, err));
    return os_dir_sync(files->table->os, dir.text, err);
}

void paimon_data_files_deinit(struct data_files *files, bool remove)
{
    bool any = files->file || (remove && files->done.len);
    if (files->file) {
        close_file(files);
        remove_file(files, files->name);
    }
    for (size_t i = 0; remove && i < files->done.len; i++)
        remove_file(files, files->done.ptr[i]->name);
    if (any) /* what was removed is gone before the record of the round is */
        (void)!paimon_data_files_sync_names(files, NULL);
    vec_deinit(&files->done);
    buf_deinit(&files->min_key);
    buf_deinit(&files->max_key);
}
