/* The rows of a primary-key table out of its changelog: the last change of each key. One bucket at a time is held in
 * memory, rows encoded; each bucket's rows are given out in the order of their keys' bytes. */
#include "client/client_int.h"

#include <stdlib.h>

struct kept {
    struct slice key; /* what the map has; for sorting */
    size_t len;
    uint8_t bytes[];
};

struct fold {
    struct client_table *table;
    struct map rows; /* struct kept by key */
    uint64_t bytes;
    struct buf key;
    struct buf row;
    struct datum *values;
};

static void drop(struct fold *fold, struct kept *kept, size_t key_len)
{
    if (!kept)
        return;
    fold->bytes -= kept->len + key_len;
    mem_free(kept);
}

static enum err_code keep(struct fold *fold, struct err *err)
{
    struct client_table *table = fold->table;
    buf_reset(&fold->row);
    TRY(row_encode(ROW_COMPACTED, table->schema.row, fold->values, &fold->row, err));
    struct kept *kept = mem_alloc(sizeof *kept + fold->row.len);
    kept->len = fold->row.len;
    memcpy(kept->bytes, fold->row.ptr, fold->row.len);
    fold->bytes += kept->len + fold->key.len;
    drop(fold, map_put(&fold->rows, buf_view(&fold->key), kept), fold->key.len);
    if (fold->bytes > CLIENT_FOLD_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "a bucket of %.*s.%.*s holds more than %llu MB of keys and rows",
                       SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table), CLIENT_FOLD_BYTES_MAX >> 20);
    return OK;
}

static enum err_code apply_row(struct fold *fold, const struct client_batch *batch, uint32_t i, struct arena *arena,
                               struct err *err)
{
    const struct table_keys *keys = &fold->table->keys;
    for (uint32_t c = 0; c < batch->rows.column_count; c++)
        column_get(&batch->rows.columns[c], i, arena, &fold->values[c]);
    buf_reset(&fold->key);
    TRY(key_encode(keys->primary_encoder, keys->primary_type, fold->values, keys->primary, &fold->key, err));
    switch (log_batch_change(&batch->rows, i)) {
    case CHANGE_UPDATE_BEFORE:
    case CHANGE_DELETE:
        drop(fold, map_remove(&fold->rows, buf_view(&fold->key)), fold->key.len);
        return OK;
    default:
        return keep(fold, err);
    }
}

static enum err_code fold_bucket(struct fold *fold, int32_t place, int64_t stop, struct err *err)
{
    enum err_code code;
    struct client_scanner *scanner = NULL;
    struct client_scan_bucket range = {place, 0, stop};
    struct arena arena = {0};
    TRY_OR_FAIL(client_scanner_create(fold->table, &range, 1, NULL, &scanner, err));
    while (!client_scanner_done(scanner)) {
        struct client_batch batch;
        bool have;
        TRY_OR_FAIL(client_scanner_next(scanner, &batch, &have, err));
        for (uint32_t i = have ? batch.first : 0; have && i < batch.end; i++) {
            arena_reset(&arena);
            TRY_OR_FAIL(apply_row(fold, &batch, i, &arena, err));
        }
    }
fail:
    arena_deinit(&arena);
    client_scanner_destroy(scanner);
    return code;
}

static int compare_kept(const void *a, const void *b)
{
    return slice_compare((*(struct kept *const *)a)->key, (*(struct kept *const *)b)->key);
}

static enum err_code give_out(struct fold *fold, int32_t place, client_row_fn *fn, void *arg, struct err *err)
{
    enum err_code code = OK;
    struct arena arena = {0};
    size_t at = 0, count = 0;
    struct slice key;
    void *value;
    struct kept **all = mem_alloc(fold->rows.count * sizeof *all + 1);
    while (map_next(&fold->rows, &at, &key, &value)) {
        all[count] = value;
        all[count++]->key = key;
    }
    qsort(all, count, sizeof *all, compare_kept);
    for (size_t i = 0; i < count; i++) {
        arena_reset(&arena);
        TRY_OR_FAIL(row_decode(ROW_COMPACTED, fold->table->schema.row, slice_of(all[i]->bytes, all[i]->len), &arena,
                               fold->values, err));
        TRY_OR_FAIL(fn(arg, place, fold->values, err));
    }
fail:
    mem_free(all);
    arena_deinit(&arena);
    return code;
}

static void empty(struct fold *fold)
{
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&fold->rows, &at, &key, &value))
        mem_free(value);
    map_deinit(&fold->rows);
    fold->rows = (struct map){0};
    fold->bytes = 0;
}

enum err_code client_fold(struct client_table *table, const int64_t *stops, client_row_fn *fn, void *arg,
                          struct err *err)
{
    enum err_code code = OK;
    struct fold fold = {.table = table};
    if (!table->has_primary_key)
        return err_set(err, ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION, "%.*s.%.*s has no primary key to fold by",
                       SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table));
    fold.values = mem_zalloc(table->schema.schema.column_count * sizeof *fold.values);
    size_t count = client_place_count(table);
    for (size_t place = 0; place < count; place++) {
        if (stops[place] <= 0)
            continue;
        TRY_OR_FAIL(fold_bucket(&fold, (int32_t)place, stops[place], err));
        TRY_OR_FAIL(give_out(&fold, (int32_t)place, fn, arg, err));
        empty(&fold);
    }
fail:
    empty(&fold);
    buf_deinit(&fold.key);
    buf_deinit(&fold.row);
    mem_free(fold.values);
    return code;
}
