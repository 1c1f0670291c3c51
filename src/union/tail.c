/* The end of a primary-key table's log, folded: what became of each key since V. Kept in memory within a budget; where
 * it is too small only the keys of one share of all are kept, by their hash, and the shares are read in turns. */
#include "union/union_int.h"

#include "base/hash.h"
#include "base/map.h"
#include "union/read_int.h"

struct kept {
    bool is_there; /* false: the key was deleted */
    int32_t bucket;
    int32_t partition;
    uint32_t len;
    uint8_t bytes[];
};

struct tail {
    struct client_table *table;
    struct tail_share share;
    struct map rows; /* struct kept by key */
    uint64_t bytes;
    uint64_t bytes_max;
    bool overflowed;
    struct buf key;
    struct buf row;
};

#define KEPT_BYTES (sizeof(struct kept) + 48) /* and the map's slot, about */

/* Keys are unique within a partition, and do not hold its columns. */
static enum err_code make_key(struct tail *tail, const struct union_row *row, struct err *err)
{
    const struct table_keys *keys = &tail->table->keys;
    struct buf key = {0};
    buf_reset(&tail->key);
    TRY(key_encode(keys->primary_encoder, keys->primary_type, row->values, keys->primary, &tail->key, err));
    if (!tail->table->is_partitioned)
        return OK;
    buf_put_u32(&key, (uint32_t)row->partition);
    buf_put_slice(&key, buf_view(&tail->key));
    buf_deinit(&tail->key);
    tail->key = key;
    return OK;
}

static bool in_share(const struct tail *tail)
{
    return tail->share.count == 1 || hash64(buf_view(&tail->key)) % tail->share.count == tail->share.index;
}

static void forget(struct tail *tail, struct kept *kept)
{
    if (!kept)
        return;
    tail->bytes -= kept->len + tail->key.len + KEPT_BYTES;
    mem_free(kept);
}

static enum err_code keep_row(void *arg, const struct union_row *row, bool *enough, struct err *err)
{
    struct tail *tail = arg;
    TRY(make_key(tail, row, err));
    if (!in_share(tail))
        return OK;
    buf_reset(&tail->row);
    if (row->weight > 0)
        TRY(row_encode(ROW_COMPACTED, tail->table->schema.row, row->values, &tail->row, err));
    struct kept *kept = mem_alloc(sizeof *kept + tail->row.len);
    *kept = (struct kept){row->weight > 0, row->bucket, row->partition, (uint32_t)tail->row.len};
    if (tail->row.len)
        memcpy(kept->bytes, tail->row.ptr, tail->row.len);
    tail->bytes += kept->len + tail->key.len + KEPT_BYTES;
    forget(tail, map_put(&tail->rows, buf_view(&tail->key), kept));
    if (tail->bytes > tail->bytes_max && tail->share.count < TAIL_SHARES_MAX)
        *enough = tail->overflowed = true;
    return OK;
}

enum err_code tail_read(struct client_table *table, const struct union_plan *plan, struct tail_share share,
                        uint64_t bytes_max, struct tail **out, bool *overflowed, struct err *err)
{
    struct tail *tail = mem_zalloc(sizeof *tail);
    tail->table = table;
    tail->share = share;
    tail->bytes_max = bytes_max;
    enum err_code code = union_log_read(table, plan->offsets, plan->stops, plan->place_count, keep_row, tail, err);
    *overflowed = tail->overflowed;
    if (code == OK && !tail->overflowed)
        *out = tail;
    else
        tail_destroy(tail);
    return code;
}

void tail_destroy(struct tail *tail)
{
    size_t at = 0;
    struct slice key;
    void *value;
    if (!tail)
        return;
    while (map_next(&tail->rows, &at, &key, &value))
        mem_free(value);
    map_deinit(&tail->rows);
    buf_deinit(&tail->key);
    buf_deinit(&tail->row);
    mem_free(tail);
}

enum err_code tail_hides(struct tail *tail, const struct union_row *row, bool *hides, struct err *err)
{
    *hides = false;
    if (tail->share.count == 1 && !tail->rows.count)
        return OK;
    TRY(make_key(tail, row, err));
    *hides = !in_share(tail) || map_get(&tail->rows, buf_view(&tail->key));
    return OK;
}

enum err_code tail_give(struct tail *tail, union_row_fn *fn, void *arg, bool *enough, struct err *err)
{
    enum err_code code = OK;
    struct arena arena = {0};
    struct datum *values = mem_zalloc(tail->table->schema.schema.column_count * sizeof *values);
    size_t at = 0;
    struct slice key;
    void *value;
    while (!*enough && map_next(&tail->rows, &at, &key, &value)) {
        const struct kept *kept = value;
        if (!kept->is_there)
            continue;
        arena_reset(&arena);
        TRY_OR_FAIL(
            row_decode(ROW_COMPACTED, tail->table->schema.row, slice_of(kept->bytes, kept->len), &arena, values, err));
        struct union_row row = {values, kept->bucket, kept->partition, 1};
        TRY_OR_FAIL(fn(arg, &row, enough, err));
    }
fail:
    arena_deinit(&arena);
    mem_free(values);
    return code;
}
