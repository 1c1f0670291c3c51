/* The rows of a snapshot, bucket by bucket. */
#include "lake/paimon/read_int.h"
#include "lake/paimon/row_int.h"

struct paimon_scan {
    struct paimon_table *table;
    const struct paimon_schema *schema; /* the newest at the opening */
    struct paimon_scan_options options;
    struct live *live;
    struct entry **files; /* of the buckets wanted, sorted */
    size_t file_count;
    size_t from; /* of the bucket that is being read */
    size_t to;
    bool merges;
    struct merge *merge;
    size_t next_file; /* where no merge is needed */
    bool is_open;
    struct data_reader reader;
    int32_t bucket;
    struct arena partition_arena;
    struct datum *partition; /* NULL: the table has none */
};

/* ---- open ---- */

static enum err_code check_index(struct paimon_table *table, struct slice name, struct err *err)
{
    struct path path;
    struct buf bytes = {0};
    struct arena arena = {0};
    struct avro_reader reader;
    struct avro_value *value = NULL;
    bool has_vectors = false;
    TRY(paimon_path_set(&path, err, "%s/manifest/%.*s", TABLE_DIR(table), SLICE_ARGS(name)));
    enum err_code code = paimon_file_read(table->os, path.text, PAIMON_AVRO_BYTES_MAX, &bytes, err);
    if (code == OK)
        code = avro_reader_init(&reader, buf_view(&bytes), err);
    if (code == OK) {
        do {
            struct slice type = {0};
            code = avro_reader_next(&reader, &arena, &value, err);
            if (code == OK && value && avro_get_bytes(avro_field(value, "_INDEX_TYPE"), &type))
                has_vectors |= slice_is(type, "DELETION_VECTORS");
        } while (code == OK && value);
        avro_reader_deinit(&reader);
    }
    buf_deinit(&bytes);
    arena_deinit(&arena);
    if (code == OK && has_vectors)
        code = err_set(err, ERR_NOT_SUPPORTED, "the lake table has deletion vectors, which weir does not read");
    return code;
}

static enum err_code check_options(const struct paimon_schema *schema, struct err *err)
{
    const struct slice *engine = properties_get(&schema->options, "merge-engine");
    if (schema->primary_key_count && engine && !slice_equal_nocase(*engine, SLICE("deduplicate")))
        return err_set(err, ERR_NOT_SUPPORTED, "the lake table has merge-engine = %.*s", (int)MIN(engine->len, 60),
                       (const char *)engine->ptr);
    const struct slice *sequence = properties_get(&schema->options, "sequence.field");
    if (schema->primary_key_count && sequence)
        return err_set(err, ERR_NOT_SUPPORTED, "the lake table has a sequence.field");
    const struct slice *evolution = properties_get(&schema->options, "data-evolution.enabled");
    if (evolution && slice_equal_nocase(*evolution, SLICE("true")))
        return err_set(err, ERR_NOT_SUPPORTED, "the lake table has data-evolution.enabled");
    return OK;
}

static void keep_bucket(struct paimon_scan *scan)
{
    size_t kept = 0;
    for (size_t i = 0; i < scan->file_count; i++)
        if (scan->options.bucket < 0 || scan->files[i]->bucket == scan->options.bucket)
            scan->files[kept++] = scan->files[i];
    scan->file_count = kept;
}

static enum err_code open_scan(struct paimon_scan *scan, struct err *err)
{
    struct arena arena = {0};
    struct paimon_snapshot snapshot;
    TRY(check_options(scan->schema, err));
    enum err_code code = paimon_snapshot_read(scan->table, scan->options.snapshot_id, &arena, &snapshot, err);
    if (code == OK && snapshot.index_manifest.ptr)
        code = check_index(scan->table, snapshot.index_manifest, err);
    if (code == OK)
        code = paimon_live_load(scan->table, &snapshot, &scan->live, err);
    arena_deinit(&arena);
    if (code == OK) {
        scan->files = paimon_live_sorted(scan->live, &scan->file_count);
        keep_bucket(scan);
    }
    return code;
}

enum err_code paimon_scan_open(struct paimon_table *table, const struct paimon_scan_options *options,
                               struct paimon_scan **out, struct err *err)
{
    struct paimon_scan *scan = mem_zalloc(sizeof *scan);
    scan->table = table;
    scan->schema = table->newest;
    scan->options = *options;
    scan->bucket = -1;
    enum err_code code = open_scan(scan, err);
    if (code == OK)
        *out = scan;
    else
        paimon_scan_close(scan);
    return code;
}

void paimon_scan_close(struct paimon_scan *scan)
{
    if (!scan)
        return;
    paimon_merge_close(scan->merge);
    if (scan->is_open)
        paimon_data_reader_close(&scan->reader);
    mem_free(scan->files);
    paimon_live_destroy(scan->live);
    arena_deinit(&scan->partition_arena);
    mem_free(scan);
}

/* ---- buckets ---- */

/* One sorted run without deletions holds each key once: its files can be read as they are. */
static bool needs_merge(const struct paimon_scan *scan)
{
    if (!scan->schema->primary_key_count)
        return false;
    const struct entry *first = scan->files[scan->from];
    for (size_t i = scan->from; i < scan->to; i++) {
        const struct entry *e = scan->files[i];
        if (!e->delete_count.there || e->delete_count.value || (i > scan->from && e->level == 0) ||
            e->level != first->level)
            return true;
    }
    return scan->to - scan->from > 1; /* files of a level have to be put in order */
}

static enum err_code read_partition(struct paimon_scan *scan, const struct entry *file, struct err *err)
{
    const struct type *row = scan->schema->partition_row;
    if (!scan->schema->partition_key_count)
        return OK;
    arena_reset(&scan->partition_arena);
    scan->partition = ARENA_NEW_ARRAY(&scan->partition_arena, struct datum, row->field_count);
    return paimon_row_decode(row, file->partition, &scan->partition_arena, scan->partition, err);
}

static enum err_code next_bucket(struct paimon_scan *scan, struct err *err)
{
    scan->from = scan->to;
    if (scan->from == scan->file_count)
        return OK;
    const struct entry *first = scan->files[scan->from];
    while (scan->to < scan->file_count && scan->files[scan->to]->bucket == first->bucket &&
           slice_equal(scan->files[scan->to]->partition, first->partition))
        scan->to++;
    scan->bucket = first->bucket;
    TRY(read_partition(scan, first, err));
    scan->merges = needs_merge(scan);
    scan->next_file = scan->from;
    if (!scan->merges)
        return OK;
    struct merge_options options = {.table = scan->table,
                                    .schema = scan->schema,
                                    .columns = scan->options.columns,
                                    .column_count = scan->options.column_count,
                                    .files = (const struct entry *const *)scan->files + scan->from,
                                    .file_count = scan->to - scan->from,
                                    .drop_deletes = true};
    return paimon_merge_open(&options, &scan->merge, err);
}

/* ---- rows ---- */

static enum err_code next_merged(struct paimon_scan *scan, struct column *columns, uint32_t *row_count, struct err *err)
{
    struct merged rows;
    TRY(paimon_merge_next(scan->merge, PAIMON_SCAN_ROWS, &rows, err));
    *row_count = rows.row_count;
    if (rows.row_count) {
        memcpy(columns, rows.columns, scan->options.column_count * sizeof *columns);
        return OK;
    }
    paimon_merge_close(scan->merge);
    scan->merge = NULL;
    scan->merges = false;
    scan->next_file = scan->to;
    return OK;
}

static enum err_code next_raw(struct paimon_scan *scan, struct column *columns, uint32_t *row_count, struct err *err)
{
    if (!scan->is_open) {
        TRY(paimon_data_reader_open(scan->table, scan->schema, scan->files[scan->next_file++], scan->options.columns,
                                    scan->options.column_count, &scan->reader, err));
        scan->is_open = true;
    }
    TRY(paimon_data_reader_next(&scan->reader, PAIMON_SCAN_ROWS, row_count, err));
    memcpy(columns, scan->reader.columns, scan->options.column_count * sizeof *columns);
    if (*row_count == 0) {
        paimon_data_reader_close(&scan->reader);
        scan->is_open = false;
    }
    return OK;
}

enum err_code paimon_scan_next(struct paimon_scan *scan, struct column *columns, uint32_t *row_count, struct err *err)
{
    *row_count = 0;
    while (*row_count == 0) {
        if (scan->merges)
            TRY(next_merged(scan, columns, row_count, err));
        else if (scan->is_open || scan->next_file < scan->to)
            TRY(next_raw(scan, columns, row_count, err));
        else if (scan->to < scan->file_count)
            TRY(next_bucket(scan, err));
        else
            return OK;
    }
    return OK;
}

int32_t paimon_scan_bucket(const struct paimon_scan *scan)
{
    return scan->bucket;
}

const struct datum *paimon_scan_partition(const struct paimon_scan *scan)
{
    return scan->partition;
}
