/* All rows of a primary-key bucket as of one moment: what the deltas held then, merged into what the engine held. */
#include "bucket/bucket_int.h"

struct bucket_scan {
    struct bucket *bucket;         /* counted */
    struct delta *active, *frozen; /* counted: the items point into them */
    struct delta_item *items;      /* in key order, each key once */
    size_t item_count, item_at;
    struct kv *engine;    /* NULL: there was none */
    struct kv_iter *iter; /* of it */
    struct slice engine_key, engine_value;
    bool engine_more, engine_loaded;
};

/* The newer generation's version wins. Both are in key order; the result is in a. */
static size_t merge_older(struct delta_item *a, size_t a_count, const struct delta_item *b, size_t b_count,
                          struct delta_item *out)
{
    size_t i = 0, k = 0, count = 0;
    while (i < a_count || k < b_count) {
        int order = i == a_count ? 1 : k == b_count ? -1 : delta_item_compare(&a[i], &b[k]);
        out[count++] = order <= 0 ? a[i] : b[k];
        i += order <= 0;
        k += order >= 0;
    }
    return count;
}

static void items_make(struct bucket_scan *scan, struct delta_item *newer, size_t newer_count, struct delta_item *older,
                       size_t older_count)
{
    delta_sort(newer, newer_count);
    delta_sort(older, older_count);
    scan->items = mem_alloc((newer_count + older_count) * sizeof *scan->items);
    scan->item_count = merge_older(newer, newer_count, older, older_count, scan->items);
    mem_free(newer);
    mem_free(older);
}

static size_t prefix_keep(struct delta_item *items, size_t count, struct slice prefix)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (slice_starts_with(items[i].key, prefix))
            items[kept++] = items[i];
    return kept;
}

/* By prefix only a whole one is found at once; for others everything is looked at. */
static struct delta_item *delta_part(const struct delta *delta, struct slice prefix, bool whole, int64_t below,
                                     size_t *count)
{
    return whole ? delta_collect_prefix(delta, prefix, below, count) : delta_collect(delta, below, count);
}

/* Opening the engine takes its time, so it comes before the mutex; meanwhile one may come to be. */
static enum err_code engine_take_and_lock(struct bucket *bucket, bool may_block, struct kv **engine, struct err *err)
{
    for (;;) {
        enum err_code code = state_engine_take(bucket->state, may_block, engine, err);
        os_mutex_lock(&bucket->mutex);
        if (code != OK || *engine || !bucket->state->engine_exists)
            return code;
        os_mutex_unlock(&bucket->mutex);
    }
}

enum err_code bucket_scan_open(struct bucket *bucket, struct slice prefix, bool may_block, struct bucket_scan **out,
                               int64_t *log_offset, struct err *err)
{
    struct state *state = bucket->state;
    if (!state)
        return bucket_has_no_key(bucket, err);
    bool whole = prefix.len > 0 && state_prefix_is_whole(state, prefix);
    if (!whole && !may_block)
        return err_set(err, ERR_WOULD_BLOCK, "every key of the bucket is looked at");
    struct bucket_scan *scan = mem_zalloc(sizeof *scan);
    size_t newer_count = 0, older_count = 0;
    struct delta_item *newer = NULL, *older = NULL;
    scan->bucket = bucket_ref(bucket);
    enum err_code code = engine_take_and_lock(bucket, may_block, &scan->engine, err);
    if (code == OK)
        code = bucket_check_open_locked(bucket, err);
    /* Under the mutex, so that engine and frozen generation are of the same moment. */
    if (code == OK && scan->engine)
        code = kv_iter_open(scan->engine, (struct slice){0}, prefix, &scan->iter, err);
    if (code == OK) {
        scan->active = delta_ref(state->active);
        scan->frozen = delta_ref(state->frozen);
        newer = delta_part(scan->active, prefix, whole, bucket->high_watermark, &newer_count);
        older = delta_part(scan->frozen, prefix, whole, bucket->high_watermark, &older_count);
        *log_offset = bucket->high_watermark;
    }
    os_mutex_unlock(&bucket->mutex);
    if (code != OK) {
        bucket_scan_close(scan);
        return code;
    }
    items_make(scan, newer, prefix_keep(newer, newer_count, prefix), older, prefix_keep(older, older_count, prefix));
    scan->engine_more = scan->iter != NULL;
    *out = scan;
    return OK;
}

static enum err_code engine_load(struct bucket_scan *scan, struct err *err)
{
    if (scan->engine_loaded || !scan->engine_more)
        return OK;
    TRY(kv_iter_next(scan->iter, &scan->engine_more, &scan->engine_key, &scan->engine_value, err));
    scan->engine_loaded = scan->engine_more;
    return OK;
}

/* Which side comes next: <0 the engine, >0 the delta, 0 both have the key. */
static int side(const struct bucket_scan *scan)
{
    if (scan->item_at == scan->item_count)
        return -1;
    if (!scan->engine_loaded)
        return 1;
    return slice_compare(scan->engine_key, scan->items[scan->item_at].key);
}

enum err_code bucket_scan_next(struct bucket_scan *scan, bool *more, struct slice *key, struct slice *value,
                               struct err *err)
{
    for (;;) {
        TRY(engine_load(scan, err));
        *more = scan->engine_loaded || scan->item_at < scan->item_count;
        if (!*more)
            return OK;
        int order = side(scan);
        scan->engine_loaded = scan->engine_loaded && order > 0;
        if (order < 0) {
            *key = scan->engine_key;
            *value = scan->engine_value;
            return OK;
        }
        const struct delta_item *item = &scan->items[scan->item_at++];
        *key = item->key;
        *value = item->version->value;
        if (!item->version->deleted)
            return OK;
    }
}

void bucket_scan_close(struct bucket_scan *scan)
{
    if (!scan)
        return;
    struct bucket *bucket = scan->bucket;
    kv_iter_close(scan->iter);
    state_engine_release(bucket->state, scan->engine);
    delta_unref(scan->active);
    delta_unref(scan->frozen);
    mem_free(scan->items);
    mem_free(scan);
    bucket_unref(bucket);
}
