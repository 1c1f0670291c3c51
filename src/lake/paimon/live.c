/* Live files: what the manifests of a snapshot add, less what they delete. */
#include "lake/paimon/live_int.h"

#include <stdlib.h>

static enum err_code read_manifest_dir(struct paimon_table *table, struct slice name, struct buf *bytes,
                                       struct err *err)
{
    struct path path;
    TRY(paimon_path_set(&path, err, "%s/manifest/%.*s", TABLE_DIR(table), SLICE_ARGS(name)));
    return paimon_file_read(table->os, path.text, PAIMON_AVRO_BYTES_MAX, bytes, err);
}

enum err_code paimon_manifest_file_each(struct paimon_table *table, struct slice name, entry_fn *fn, void *arg,
                                        struct err *err)
{
    struct buf bytes = {0};
    enum err_code code = read_manifest_dir(table, name, &bytes, err);
    if (code == OK)
        code = paimon_entries_each(buf_view(&bytes), fn, arg, err);
    buf_deinit(&bytes);
    return code;
}

enum err_code paimon_list_file_each(struct paimon_table *table, struct slice name, manifest_fn *fn, void *arg,
                                    struct err *err)
{
    struct buf bytes = {0};
    enum err_code code = read_manifest_dir(table, name, &bytes, err);
    if (code == OK)
        code = paimon_manifests_each(buf_view(&bytes), fn, arg, err);
    buf_deinit(&bytes);
    return code;
}

/* ---- building ---- */

struct build {
    struct live *live;
    struct buf identity;
    /* deletions whose addition was not seen (yet): manifests need not be in order of time */
    struct map early;
};

static enum err_code add_entry(struct build *b, const struct entry *entry, struct err *err)
{
    struct live *live = b->live;
    if (live->by_identity.count >= PAIMON_FILES_MAX)
        return err_set(err, ERR_LIMIT, "the lake table has more than %u data files", PAIMON_FILES_MAX);
    struct entry *kept = ARENA_NEW(&live->arena, struct entry);
    paimon_entry_dup(&live->arena, entry, kept);
    kept->kind = ENTRY_ADD;
    if (map_put(&live->by_identity, buf_view(&b->identity), kept))
        live->forgotten++;
    return OK;
}

static enum err_code apply(void *arg, const struct entry *entry, struct err *err)
{
    struct build *b = arg;
    paimon_entry_identity(entry, &b->identity);
    if (entry->kind == ENTRY_ADD) {
        if (map_remove(&b->early, buf_view(&b->identity)))
            return OK;
        return add_entry(b, entry, err);
    }
    if (map_remove(&b->live->by_identity, buf_view(&b->identity)))
        b->live->forgotten++;
    else
        map_put(&b->early, buf_view(&b->identity), b);
    return OK;
}

static enum err_code note_manifest(void *arg, const struct manifest *manifest, struct err *err)
{
    (void)err;
    struct live *live = arg;
    paimon_manifest_dup(&live->manifest_arena, manifest, vec_add(&live->manifests));
    return OK;
}

static enum err_code apply_manifests(struct paimon_table *table, struct live *live, size_t from, struct err *err)
{
    struct build b = {.live = live};
    enum err_code code = OK;
    for (size_t i = from; i < live->manifests.len && code == OK; i++)
        code = paimon_manifest_file_each(table, live->manifests.ptr[i].name, apply, &b, err);
    buf_deinit(&b.identity);
    map_deinit(&b.early);
    return code;
}

enum err_code paimon_live_load(struct paimon_table *table, const struct paimon_snapshot *snapshot, struct live **out,
                               struct err *err)
{
    struct live *live = mem_zalloc(sizeof *live);
    enum err_code code = OK;
    live->snapshot_id = snapshot->id;
    if (snapshot->id) {
        TRY_OR_FAIL(paimon_list_file_each(table, snapshot->base_list, note_manifest, live, err));
        TRY_OR_FAIL(paimon_list_file_each(table, snapshot->delta_list, note_manifest, live, err));
        TRY_OR_FAIL(apply_manifests(table, live, 0, err));
    }
    *out = live;
    return OK;
fail:
    paimon_live_destroy(live);
    return code;
}

void paimon_live_destroy(struct live *live)
{
    if (!live)
        return;
    map_deinit(&live->by_identity);
    vec_deinit(&live->manifests);
    arena_deinit(&live->arena);
    arena_deinit(&live->manifest_arena);
    mem_free(live);
}

/* ---- the table's own ---- */

#define FORGOTTEN_MAX 1000 /* then it is loaded anew, so that what is gone does not pile up */

/* From one snapshot to the next: the delta's entries; the manifests may have been merged, so the lists are read. */
static enum err_code advance(struct paimon_table *table, struct live *live, const struct paimon_snapshot *next,
                             struct err *err)
{
    vec_reset(&live->manifests);
    arena_reset(&live->manifest_arena);
    TRY(paimon_list_file_each(table, next->base_list, note_manifest, live, err));
    size_t base_count = live->manifests.len;
    TRY(paimon_list_file_each(table, next->delta_list, note_manifest, live, err));
    TRY(apply_manifests(table, live, base_count, err));
    live->snapshot_id = next->id;
    return OK;
}

enum err_code paimon_table_live(struct paimon_table *table, const struct paimon_snapshot *snapshot, struct live **out,
                                struct err *err)
{
    struct live *live = table->live;
    if (live && live->forgotten > FORGOTTEN_MAX + live->by_identity.count)
        live = NULL;
    if (live && live->snapshot_id != snapshot->id &&
        (live->snapshot_id + 1 != snapshot->id || snapshot->kind == PAIMON_OVERWRITE))
        live = NULL;
    if (live && live->snapshot_id != snapshot->id && advance(table, live, snapshot, NULL) != OK)
        live = NULL;
    if (!live) {
        paimon_live_destroy(table->live);
        table->live = NULL;
        TRY(paimon_live_load(table, snapshot, &table->live, err));
    }
    *out = table->live;
    return OK;
}

/* ---- looking ---- */

static int entry_order(const void *a, const void *b)
{
    const struct entry *x = *(const struct entry *const *)a, *y = *(const struct entry *const *)b;
    int order = slice_compare(x->partition, y->partition);
    if (!order)
        order = (x->bucket > y->bucket) - (x->bucket < y->bucket);
    if (!order)
        order = (x->level > y->level) - (x->level < y->level);
    if (!order)
        order = (x->sequence_min > y->sequence_min) - (x->sequence_min < y->sequence_min);
    return order ? order : slice_compare(x->name, y->name);
}

struct entry **paimon_live_sorted(const struct live *live, size_t *count)
{
    struct entry **list = mem_alloc((live->by_identity.count + 1) * sizeof *list);
    size_t at = 0, filled = 0;
    struct slice key;
    void *value;
    while (map_next(&live->by_identity, &at, &key, &value))
        list[filled++] = value;
    if (filled)
        qsort(list, filled, sizeof(struct entry *), entry_order);
    *count = filled;
    return list;
}

const struct entry *paimon_live_find(const struct live *live, const struct entry *entry)
{
    struct buf identity = {0};
    paimon_entry_identity(entry, &identity);
    const struct entry *found = map_get(&live->by_identity, buf_view(&identity));
    buf_deinit(&identity);
    return found;
}
