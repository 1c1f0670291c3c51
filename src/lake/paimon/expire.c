/* Expiry: snapshots from the oldest on, with what only they needed.
 *
 *   1  data files that the deltas of the snapshots behind them delete (up to that of the first that stays), and the
 *      changelog files of those that go
 *   2  manifests, then lists, that the first that stays, and the tags, do not name
 *   3  snapshot-N, in order; then EARLIEST, a hint
 *
 * What leads to files goes when they are gone for good: a power cut loses no trace of what is still there.
 * A file that one delta deletes and adds again (another level) stays. What is not there any more is fine: so a killed
 * expiry is gone on with. Source: Apache Paimon, ExpireSnapshotsImpl, SnapshotDeletion. */
#include "lake/paimon/write_int.h"

struct expiry {
    struct paimon_table *table;
    struct arena arena;
    struct map needed; /* names that stay: data files of tags, manifests and lists */
    struct map files;  /* of the delta that is read: name to struct entry, to be removed */
    struct map dirs;   /* where data files were removed */
};

static enum err_code gone_is_fine(enum err_code code)
{
    return code == ERR_NOT_FOUND ? OK : code;
}

/* ---- which go ---- */

static enum err_code note_consumer(void *arg, const char *name, bool is_dir, struct err *err)
{
    struct {
        struct paimon_table *table;
        int64_t least;
    } *found = arg;
    struct path path;
    struct buf text = {0};
    json_t *root;
    int64_t next;
    if (is_dir || strncmp(name, "consumer-", 9) != 0)
        return OK;
    TRY(paimon_path_set(&path, err, "%s/consumer/%s", TABLE_DIR(found->table), name));
    enum err_code code = paimon_file_read(found->table->os, path.text, PAIMON_JSON_BYTES_MAX, &text, err);
    if (code == OK)
        code = paimon_text_parse(buf_view(&text), "a consumer of the lake table", &root, err);
    buf_deinit(&text);
    TRY(gone_is_fine(code));
    if (code == ERR_NOT_FOUND)
        return OK;
    code = paimon_text_i64(root, "nextSnapshot", &next, err);
    json_decref(root);
    if (code == OK)
        found->least = MIN(found->least, next);
    return code;
}

/* No snapshot from here on may go. */
static enum err_code find_bound(struct paimon_table *table, const struct paimon_expire_policy *policy, int64_t latest,
                                int64_t *bound, struct err *err)
{
    struct {
        struct paimon_table *table;
        int64_t least;
    } consumers = {table, latest};
    struct path dir;
    TRY(paimon_path_set(&dir, err, "%s/consumer", TABLE_DIR(table)));
    TRY(gone_is_fine(os_dir_list(table->os, dir.text, note_consumer, &consumers, err)));
    *bound = MIN(consumers.least, latest - (int64_t)MAX(policy->retain_min, 1u) + 1);
    for (uint32_t i = 0; i < policy->keep_count; i++)
        *bound = MIN(*bound, policy->keep[i]);
    return OK;
}

/* The first that stays. */
static enum err_code find_end(struct expiry *x, const struct paimon_expire_policy *policy, int64_t earliest,
                              int64_t latest, int64_t *end, struct err *err)
{
    int64_t bound, must = policy->retain_max ? latest - (int64_t)policy->retain_max + 1 : 0;
    int64_t oldest_ms = os_wall_ms(x->table->os) - policy->retain_ms;
    TRY(find_bound(x->table, policy, latest, &bound, err));
    if (policy->delete_max)
        bound = MIN(bound, earliest + policy->delete_max);
    int64_t id = earliest;
    for (; id < bound; id++) {
        struct paimon_snapshot next;
        if (id < must)
            continue;
        enum err_code code = paimon_snapshot_read(x->table, id + 1, &x->arena, &next, err);
        TRY(gone_is_fine(code));
        if (code == OK && next.time_ms > oldest_ms)
            break;
    }
    *end = id;
    return OK;
}

/* ---- what stays ---- */

static enum err_code note_needed(void *arg, const struct manifest *manifest, struct err *err)
{
    (void)err;
    struct expiry *x = arg;
    map_put(&x->needed, manifest->name, x);
    return OK;
}

static enum err_code note_list(struct expiry *x, struct slice list, struct err *err)
{
    if (!list.ptr)
        return OK;
    map_put(&x->needed, list, x);
    return paimon_list_file_each(x->table, list, note_needed, x, err);
}

static enum err_code note_snapshot(struct expiry *x, const struct paimon_snapshot *s, struct err *err)
{
    TRY(note_list(x, s->base_list, err));
    TRY(note_list(x, s->delta_list, err));
    TRY(gone_is_fine(note_list(x, s->changelog_list, err))); /* a tag's may be gone */
    if (s->index_manifest.ptr)
        map_put(&x->needed, s->index_manifest, x);
    if (s->statistics.ptr)
        map_put(&x->needed, s->statistics, x);
    return OK;
}

static enum err_code note_tag(void *arg, const char *name, bool is_dir, struct err *err)
{
    struct expiry *x = arg;
    struct paimon_snapshot s;
    struct path path;
    struct buf text = {0};
    struct live *live;
    size_t at = 0;
    struct slice key;
    void *value;
    if (is_dir || strncmp(name, "tag-", 4) != 0)
        return OK;
    TRY(paimon_path_set(&path, err, "%s/tag/%s", TABLE_DIR(x->table), name));
    enum err_code code = paimon_file_read(x->table->os, path.text, PAIMON_JSON_BYTES_MAX, &text, err);
    if (code == OK)
        code = paimon_snapshot_parse(buf_view(&text), &x->arena, &s, err);
    buf_deinit(&text);
    if (code == ERR_NOT_FOUND)
        return OK;
    TRY(code);
    TRY(note_snapshot(x, &s, err));
    TRY(paimon_live_load(x->table, &s, &live, err));
    while (map_next(&live->by_identity, &at, &key, &value))
        map_put(&x->needed, ((const struct entry *)value)->name, x);
    paimon_live_destroy(live);
    return OK;
}

static enum err_code note_kept(struct expiry *x, int64_t end, struct err *err)
{
    struct paimon_snapshot s;
    struct path dir;
    TRY(paimon_snapshot_read(x->table, end, &x->arena, &s, err));
    TRY(note_snapshot(x, &s, err));
    TRY(paimon_path_set(&dir, err, "%s/tag", TABLE_DIR(x->table)));
    return gone_is_fine(os_dir_list(x->table->os, dir.text, note_tag, x, err));
}

/* ---- data files ---- */

static enum err_code note_file(struct expiry *x, const struct entry *entry)
{
    struct entry *copy = ARENA_NEW(&x->arena, struct entry);
    paimon_entry_dup(&x->arena, entry, copy);
    map_put(&x->files, entry->name, copy);
    return OK;
}

static enum err_code note_deleted(void *arg, const struct entry *entry, struct err *err)
{
    (void)err;
    struct expiry *x = arg;
    if (entry->kind == ENTRY_ADD)
        map_put(&x->files, entry->name, x); /* stays, whatever is deleted of that name */
    else if (map_get(&x->files, entry->name) != x)
        return note_file(x, entry);
    return OK;
}

static enum err_code note_changelog(void *arg, const struct entry *entry, struct err *err)
{
    (void)err;
    return note_file(arg, entry);
}

struct manifest_walk {
    struct expiry *x;
    entry_fn *fn;
};

static enum err_code walk_manifest(void *arg, const struct manifest *manifest, struct err *err)
{
    struct manifest_walk *walk = arg;
    return gone_is_fine(paimon_manifest_file_each(walk->x->table, manifest->name, walk->fn, walk->x, err));
}

static enum err_code walk_list(struct expiry *x, struct slice list, entry_fn *fn, struct err *err)
{
    struct manifest_walk walk = {x, fn};
    return list.ptr ? gone_is_fine(paimon_list_file_each(x->table, list, walk_manifest, &walk, err)) : OK;
}

static enum err_code remove_data(struct expiry *x, const struct entry *entry, struct slice name, struct err *err)
{
    struct path path;
    if (map_get(&x->needed, name))
        return OK;
    TRY(paimon_entry_path(x->table, entry, name, &path, err));
    TRY(paimon_file_remove(x->table->os, path.text, err));
    map_put(&x->dirs, slice_of(path.text, strlen(path.text) - name.len), x);
    return OK;
}

/* The next step removes what leads to these files, so they must be gone for good. */
static enum err_code sync_dirs(struct expiry *x, struct err *err)
{
    size_t at = 0;
    struct slice dir;
    void *value;
    while (map_next(&x->dirs, &at, &dir, &value)) {
        struct path path;
        TRY(paimon_path_set(&path, err, "%.*s", SLICE_ARGS(dir)));
        TRY(gone_is_fine(os_dir_sync(x->table->os, path.text, err)));
    }
    return OK;
}

static enum err_code sync_table_dir(struct expiry *x, const char *name, struct err *err)
{
    struct path path;
    TRY(paimon_path_set(&path, err, "%s/%s", TABLE_DIR(x->table), name));
    return os_dir_sync(x->table->os, path.text, err);
}

static enum err_code remove_files(struct expiry *x, struct err *err)
{
    size_t at = 0;
    struct slice key;
    void *value;
    enum err_code code = OK;
    while (code == OK && map_next(&x->files, &at, &key, &value)) {
        const struct entry *entry = value;
        if (value == x)
            continue;
        code = remove_data(x, entry, entry->name, err);
        for (uint32_t i = 0; code == OK && i < entry->extra_files.count; i++)
            code = remove_data(x, entry, entry->extra_files.items[i], err);
    }
    map_deinit(&x->files);
    return code;
}

static enum err_code expire_data(struct expiry *x, int64_t from, int64_t end, struct err *err)
{
    for (int64_t id = from; id <= end; id++) {
        struct paimon_snapshot s;
        enum err_code code = paimon_snapshot_read(x->table, id, &x->arena, &s, err);
        if (code == ERR_NOT_FOUND)
            continue;
        TRY(code);
        if (id > from) {
            TRY(walk_list(x, s.delta_list, note_deleted, err));
            TRY(remove_files(x, err));
        }
        if (id < end) {
            TRY(walk_list(x, s.changelog_list, note_changelog, err));
            TRY(remove_files(x, err));
        }
    }
    return sync_dirs(x, err);
}

/* ---- manifests and snapshots ---- */

static enum err_code remove_named(struct expiry *x, const char *dir, struct slice name, struct err *err)
{
    struct path path;
    if (!name.ptr || map_get(&x->needed, name))
        return OK;
    TRY(paimon_path_set(&path, err, "%s/%s/%.*s", TABLE_DIR(x->table), dir, SLICE_ARGS(name)));
    return paimon_file_remove(x->table->os, path.text, err);
}

static enum err_code remove_manifest(void *arg, const struct manifest *manifest, struct err *err)
{
    return remove_named(arg, "manifest", manifest->name, err);
}

/* The manifests of a list go first, the list itself when they are gone for good: it leads to them. */
static enum err_code remove_listed(struct expiry *x, struct slice list, struct err *err)
{
    if (!list.ptr || map_get(&x->needed, list))
        return OK;
    return gone_is_fine(paimon_list_file_each(x->table, list, remove_manifest, x, err));
}

static enum err_code expire_manifests_of(struct expiry *x, const struct paimon_snapshot *s, struct err *err)
{
    TRY(remove_listed(x, s->base_list, err));
    TRY(remove_listed(x, s->delta_list, err));
    return remove_listed(x, s->changelog_list, err);
}

static enum err_code expire_lists_of(struct expiry *x, const struct paimon_snapshot *s, struct err *err)
{
    TRY(remove_named(x, "manifest", s->base_list, err));
    TRY(remove_named(x, "manifest", s->delta_list, err));
    TRY(remove_named(x, "manifest", s->changelog_list, err));
    TRY(remove_named(x, "manifest", s->index_manifest, err));
    return remove_named(x, "statistics", s->statistics, err);
}

typedef enum err_code expire_fn(struct expiry *x, const struct paimon_snapshot *s, struct err *err);

static enum err_code expire_each(struct expiry *x, int64_t from, int64_t end, expire_fn *fn, struct err *err)
{
    for (int64_t id = from; id < end; id++) {
        struct paimon_snapshot s;
        enum err_code code = paimon_snapshot_read(x->table, id, &x->arena, &s, err);
        if (code == ERR_NOT_FOUND)
            continue;
        TRY(code);
        TRY(fn(x, &s, err));
    }
    return sync_table_dir(x, "manifest", err);
}

static enum err_code expire_snapshots(struct expiry *x, int64_t from, int64_t end, struct err *err)
{
    for (int64_t id = from; id < end; id++) {
        struct path path;
        TRY(paimon_path_set(&path, err, "%s/snapshot/snapshot-%" PRId64, TABLE_DIR(x->table), id));
        TRY(paimon_file_remove(x->table->os, path.text, err));
    }
    paimon_snapshot_hint(x->table, "EARLIEST", end);
    return OK;
}

static enum err_code expire(struct expiry *x, const struct paimon_expire_policy *policy, uint32_t *expired,
                            struct err *err)
{
    int64_t earliest, latest, end;
    TRY(paimon_snapshot_range(x->table, &earliest, &latest, err));
    if (earliest == latest)
        return OK;
    TRY(find_end(x, policy, earliest, latest, &end, err));
    if (end <= earliest)
        return OK;
    TRY(note_kept(x, end, err));
    TRY(expire_data(x, earliest, end, err));
    TRY(expire_each(x, earliest, end, expire_manifests_of, err));
    TRY(expire_each(x, earliest, end, expire_lists_of, err));
    TRY(expire_snapshots(x, earliest, end, err));
    *expired = (uint32_t)(end - earliest);
    return OK;
}

enum err_code paimon_expire(struct paimon_table *table, const struct paimon_expire_policy *policy, uint32_t *expired,
                            struct err *err)
{
    struct expiry x = {.table = table};
    uint32_t count = 0;
    enum err_code code = expire(&x, policy, &count, err);
    map_deinit(&x.needed);
    map_deinit(&x.files);
    map_deinit(&x.dirs);
    arena_deinit(&x.arena);
    if (code == OK)
        *expired = count;
    return code;
}
