/* A commit: manifests, lists, then the snapshot under the next free number.
 *
 *   1  manifest-U-n           what is added and deleted; changelog files
 *   2  manifest-list-U-n      delta, changelog; base: the manifests of the snapshot before, merged when there are many
 *   3  .snapshot-N-U.tmp      renamed to snapshot-N unless that is there
 *   4  LATEST                 a hint
 *
 * Where N is taken, the snapshot of that name is read, conflicts are looked for, and 2 and 3 are done again for the
 * next number. A process that is killed before 3 leaves files that nobody names (the sweep removes them), after 3 a
 * commit. Source: Apache Paimon, FileStoreCommitImpl, ConflictDetection. */
#include "lake/paimon/write_int.h"

#define COMMIT_ATTEMPTS_MAX 1000
#define MERGED_ENTRIES 8192         /* of a manifest that is made by merging: about 8 MB */
#define COMMIT_IDENTIFIER INT64_MAX /* of Fluss's tiering: a batch */

struct attempt {
    struct commit *commit;
    struct arena arena;
    struct paimon_snapshot before; /* id 0: none */
    struct live *live;
    VEC(struct manifest) base;
    struct snapshot_text text;
    VEC(struct slice) files; /* in manifest/, of this attempt only */
    bool name_taken;
};

/* ---- conflicts ---- */

static enum err_code check_between(struct attempt *a, struct err *err)
{
    struct commit *c = a->commit;
    for (int64_t id = c->base_id + 1; c->alone && id <= a->before.id; id++) {
        struct paimon_snapshot s;
        enum err_code code = paimon_snapshot_read(c->table, id, &a->arena, &s, err);
        if (code == ERR_NOT_FOUND)
            return err_set(err, ERR_LAKE_CONFLICT, "the lake went on from snapshot %" PRId64 " to %" PRId64, c->base_id,
                           a->before.id);
        TRY(code);
        if (s.kind != PAIMON_COMPACT && s.kind != PAIMON_ANALYZE)
            return err_set(err, ERR_LAKE_CONFLICT, "%.*s committed snapshot %" PRId64 " to the lake meanwhile",
                           (int)MIN(s.commit_user.len, 60), (const char *)s.commit_user.ptr, id);
    }
    return OK;
}

static enum err_code check_deleted(struct attempt *a, struct err *err)
{
    struct commit *c = a->commit;
    for (size_t i = 0; i < c->entry_count; i++)
        if (c->kinds && c->kinds[i] == ENTRY_DELETE && !paimon_live_find(a->live, c->entries[i]))
            return err_set(err, ERR_LAKE_CONFLICT, "%.*s is not live any more", SLICE_ARGS(c->entries[i]->name));
    return OK;
}

/* The compaction knows of this file: it takes it in, or leaves it, and writes nothing that overlaps. */
static bool is_known(const struct commit *c, const struct entry *e)
{
    for (size_t i = 0; i < c->entry_count; i++)
        if (c->kinds[i] == ENTRY_DELETE && slice_equal(c->entries[i]->name, e->name))
            return true;
    for (size_t i = 0; i < c->kept_count; i++)
        if (slice_equal(c->kept[i]->name, e->name))
            return true;
    return false;
}

static bool added_level(const struct commit *c, const struct entry *e)
{
    for (size_t i = 0; i < c->entry_count; i++) {
        const struct entry *added = c->entries[i];
        if (c->kinds[i] == ENTRY_ADD && added->level > 0 && added->level == e->level && added->bucket == e->bucket &&
            slice_equal(added->partition, e->partition))
            return true;
    }
    return false;
}

/* A level above 0 is one sorted run: nobody else may have put a file there meanwhile. */
static enum err_code check_levels(struct attempt *a, struct err *err)
{
    size_t at = 0;
    struct slice key;
    void *value;
    if (a->commit->kind != PAIMON_COMPACT || a->commit->table->newest->primary_key_count == 0)
        return OK;
    while (map_next(&a->live->by_identity, &at, &key, &value)) {
        const struct entry *e = value;
        if (e->level > 0 && added_level(a->commit, e) && !is_known(a->commit, e))
            return err_set(err, ERR_LAKE_CONFLICT, "somebody else compacted bucket %d meanwhile", e->bucket);
    }
    return OK;
}

/* ---- lists ---- */

/* The live files of the snapshot before, in as few manifests as hold them. */
static enum err_code merge_base(struct attempt *a, struct err *err)
{
    struct commit *c = a->commit;
    size_t count;
    struct entry **files = paimon_live_sorted(a->live, &count);
    enum err_code code = OK;
    vec_reset(&a->base);
    for (size_t i = 0; i < count && code == OK; i += MERGED_ENTRIES) {
        struct manifest made = {0};
        code = paimon_manifest_write(c->table, c->names, &a->arena, (const struct entry *const *)files + i, NULL,
                                     MIN(count - i, (size_t)MERGED_ENTRIES), &made, err);
        if (code == OK) {
            vec_push(&a->base, made);
            vec_push(&a->files, made.name);
        }
    }
    mem_free(files);
    return code;
}

static enum err_code make_base(struct attempt *a, struct err *err)
{
    struct commit *c = a->commit;
    if (a->live->manifests.len + 1 >= PAIMON_MANIFESTS_MAX &&
        a->live->manifests.len > a->live->by_identity.count / MERGED_ENTRIES + 2) {
        TRY(merge_base(a, err));
    } else {
        for (size_t i = 0; i < a->live->manifests.len; i++)
            vec_push(&a->base, a->live->manifests.ptr[i]);
    }
    TRY(paimon_list_write(c->table, c->names, &a->arena, a->base.ptr, a->base.len, &a->text.snapshot.base_list,
                          &a->text.base_bytes, err));
    vec_push(&a->files, a->text.snapshot.base_list);
    return OK;
}

static int64_t row_count_of(const struct entry *const *entries, const int *kinds, size_t count)
{
    int64_t rows = 0;
    for (size_t i = 0; i < count; i++)
        rows += kinds && kinds[i] == ENTRY_DELETE ? -entries[i]->row_count : entries[i]->row_count;
    return rows;
}

/* ---- the snapshot ---- */

static enum err_code newest_schema_id(struct paimon_table *table, int64_t *id, struct err *err)
{
    struct path dir;
    struct numbered found = {.prefix = "schema-"};
    TRY(paimon_path_set(&dir, err, "%s/schema", TABLE_DIR(table)));
    TRY(paimon_numbered_find(table->os, dir.text, &found, err));
    *id = found.any ? found.greatest : table->newest->id;
    return OK;
}

static enum err_code find_properties(struct attempt *a, struct properties *out, struct err *err)
{
    struct commit *c = a->commit;
    struct paimon_snapshot s;
    *out = c->properties ? *c->properties : (struct properties){0};
    if (!c->inherit)
        return OK;
    TRY(paimon_snapshot_newest_of(c->table, c->user, &a->arena, &s, err));
    *out = s.properties;
    return OK;
}

static enum err_code make_snapshot(struct attempt *a, struct err *err)
{
    struct commit *c = a->commit;
    struct paimon_snapshot *s = &a->text.snapshot;
    int64_t rows = row_count_of(c->entries, c->kinds, c->entry_count);
    TRY(newest_schema_id(c->table, &s->schema_id, err));
    TRY(find_properties(a, &s->properties, err));
    s->id = a->before.id + 1;
    s->kind = c->kind;
    s->commit_user = slice_str(c->user);
    s->commit_identifier = COMMIT_IDENTIFIER;
    s->time_ms = os_wall_ms(c->table->os);
    s->total_record_count = a->before.total_record_count + rows;
    s->index_manifest = a->before.index_manifest;
    s->statistics = a->before.statistics;
    a->text.delta_record_count = rows;
    a->text.changelog_record_count = row_count_of(c->changelog, NULL, c->changelog_count);
    return OK;
}

static enum err_code publish(struct attempt *a, struct err *err)
{
    struct commit *c = a->commit;
    struct os *os = c->table->os;
    struct path dir, tmp, path;
    struct buf text = {0};
    int64_t id = a->text.snapshot.id;
    TRY(paimon_path_set(&dir, err, "%s/snapshot", TABLE_DIR(c->table)));
    TRY(paimon_path_set(&tmp, err, "%s/.snapshot-%" PRId64 "-%s.tmp", dir.text, id, c->names->uuid));
    TRY(paimon_path_set(&path, err, "%s/snapshot-%" PRId64, dir.text, id));
    paimon_snapshot_put(&text, &a->text);
    enum err_code code = paimon_file_put_new(os, tmp.text, buf_view(&text), err);
    buf_deinit(&text);
    TRY(code);
    os_step(os, "paimon.staged");
    code = os_rename_noreplace(os, tmp.text, path.text, err);
    a->name_taken = code == ERR_ALREADY_EXISTS;
    if (a->name_taken) {
        (void)!os_unlink(os, tmp.text, NULL);
        return code;
    }
    c->published = true; /* even where the call failed: it may be there all the same */
    TRY(code);
    os_step(os, "paimon.published");
    return os_dir_sync(os, dir.text, err);
}

/* ---- attempts ---- */

static void remove_manifest(struct paimon_table *table, struct slice name)
{
    struct path path;
    if (paimon_path_set(&path, NULL, "%s/manifest/%.*s", TABLE_DIR(table), SLICE_ARGS(name)) == OK)
        (void)!paimon_file_remove(table->os, path.text, NULL);
}

static void sync_manifests(struct paimon_table *table)
{
    struct path path;
    if (paimon_path_set(&path, NULL, "%s/manifest", TABLE_DIR(table)) == OK)
        (void)!os_dir_sync(table->os, path.text, NULL);
}

static enum err_code attempt_run(struct attempt *a, struct err *err)
{
    struct commit *c = a->commit;
    struct path dir;
    TRY(paimon_snapshot_newest(c->table, &a->arena, &a->before, err));
    if (a->before.id < c->base_id)
        return err_set(err, ERR_LAKE_CONFLICT, "the lake table was made anew meanwhile");
    TRY(check_between(a, err));
    TRY(paimon_table_live(c->table, &a->before, &a->live, err));
    TRY(check_deleted(a, err));
    TRY(check_levels(a, err));
    TRY(make_base(a, err));
    TRY(make_snapshot(a, err));
    TRY(paimon_path_set(&dir, err, "%s/manifest", TABLE_DIR(c->table)));
    TRY(os_dir_sync(c->table->os, dir.text, err));
    return publish(a, err);
}

static void attempt_deinit(struct attempt *a)
{
    for (size_t i = 0; !a->commit->published && i < a->files.len; i++)
        remove_manifest(a->commit->table, a->files.ptr[i]);
    vec_deinit(&a->files);
    vec_deinit(&a->base);
    arena_deinit(&a->arena);
}

/* The lists that are the same in every attempt. */
struct fixed {
    struct arena arena;
    struct snapshot_text text;
    VEC(struct slice) files;
};

static enum err_code write_part(struct commit *c, struct fixed *f, const struct entry *const *entries, const int *kinds,
                                size_t count, struct slice *list, int64_t *bytes, struct err *err)
{
    struct manifest manifest;
    if (count) {
        TRY(paimon_manifest_write(c->table, c->names, &f->arena, entries, kinds, count, &manifest, err));
        vec_push(&f->files, manifest.name);
    }
    TRY(paimon_list_write(c->table, c->names, &f->arena, &manifest, count ? 1 : 0, list, bytes, err));
    vec_push(&f->files, *list);
    return OK;
}

static enum err_code write_fixed(struct commit *c, struct fixed *f, struct err *err)
{
    struct path dir;
    TRY(paimon_path_set(&dir, err, "%s/manifest", TABLE_DIR(c->table)));
    TRY(paimon_dir_make(c->table->os, dir.text, err));
    TRY(paimon_path_set(&dir, err, "%s/snapshot", TABLE_DIR(c->table)));
    TRY(paimon_dir_make(c->table->os, dir.text, err));
    TRY(write_part(c, f, c->entries, c->kinds, c->entry_count, &f->text.snapshot.delta_list, &f->text.delta_bytes,
                   err));
    if (!c->changelog_count)
        return OK;
    return write_part(c, f, c->changelog, NULL, c->changelog_count, &f->text.snapshot.changelog_list,
                      &f->text.changelog_bytes, err);
}

static enum err_code run_attempts(struct commit *c, struct fixed *f, struct paimon_committed *committed,
                                  struct err *err)
{
    for (int i = 0; i < COMMIT_ATTEMPTS_MAX; i++) {
        struct attempt a = {.commit = c, .text = f->text};
        enum err_code code = attempt_run(&a, err);
        bool again = code != OK && a.name_taken;
        if (code == OK) {
            committed->snapshot_id = a.text.snapshot.id;
            committed->followed_id = a.before.id;
        }
        attempt_deinit(&a);
        if (!again)
            return code;
    }
    return err_set(err, ERR_LAKE_CONFLICT, "other writers were faster %d times", COMMIT_ATTEMPTS_MAX);
}

static void count_files(const struct entry *const *entries, const int *kinds, size_t count,
                        struct paimon_committed *committed)
{
    for (size_t i = 0; i < count; i++)
        if (!kinds || kinds[i] == ENTRY_ADD) {
            committed->file_count++;
            committed->bytes += (uint64_t)entries[i]->size;
        }
}

enum err_code paimon_commit_run(struct commit *commit, struct paimon_committed *committed, struct err *err)
{
    struct fixed f = {0};
    struct paimon_committed made = {0};
    os_step(commit->table->os, "paimon.files");
    enum err_code code = write_fixed(commit, &f, err);
    os_step(commit->table->os, "paimon.manifests");
    if (code == OK)
        code = run_attempts(commit, &f, &made, err);
    if (code == OK) {
        paimon_snapshot_hint(commit->table, "LATEST", made.snapshot_id);
        count_files(commit->entries, commit->kinds, commit->entry_count, &made);
        count_files(commit->changelog, NULL, commit->changelog_count, &made);
        *committed = made;
    }
    for (size_t i = 0; !commit->published && i < f.files.len; i++)
        remove_manifest(commit->table, f.files.ptr[i]);
    if (!commit->published)
        sync_manifests(commit->table);
    vec_deinit(&f.files);
    arena_deinit(&f.arena);
    return code;
}
