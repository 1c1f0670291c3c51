/* What a killed process may have left, and its removal.
 *
 *   ROUNDS_DIR/UUID.round     {"version":1,"table":"DIRECTORY OF THE TABLE"}
 *
 * Every file of a round or a compaction carries its UUID in its name, and the record of it is on disk before the first
 * of them. It goes when the round is over, committed or taken back. A record that is found at the start of the service
 * is that of a killed round: what carries its UUID and is named by no snapshot, list, manifest or tag of the table is
 * removed. Other writers' files carry other UUIDs, so they are never touched; a round that was committed is named. */
#include "lake/paimon/write_int.h"

#include "base/json.h"

#define ROUND_SUFFIX ".round"
#define ROUND_VERSION 1
#define ROUND_BYTES_MAX (2 * OS_PATH_MAX)
#define PARTITION_DEPTH_MAX 16

static enum err_code intent_path(struct slice dir, const char *uuid, struct path *path, struct err *err)
{
    return paimon_path_set(path, err, "%.*s/%s" ROUND_SUFFIX, SLICE_ARGS(dir), uuid);
}

enum err_code paimon_intent_put(struct paimon_table *table, struct slice dir, const char *uuid, struct err *err)
{
    struct path path;
    struct path absolute;
    struct buf text = {0};
    if (!dir.ptr)
        return OK;
    TRY(intent_path(dir, uuid, &path, err));
    TRY(os_realpath(table->os, TABLE_DIR(table), absolute.text, err));
    buf_printf(&text, "{\"version\":%d,\"table\":", ROUND_VERSION);
    json_put_string(&text, slice_str(absolute.text));
    buf_put_u8(&text, '}');
    enum err_code code = os_write_durable(table->os, path.text, buf_view(&text), err);
    buf_deinit(&text);
    return code;
}

void paimon_intent_remove(struct paimon_table *table, struct slice dir, const char *uuid)
{
    struct path path;
    if (dir.ptr && intent_path(dir, uuid, &path, NULL) == OK)
        (void)!paimon_file_remove(table->os, path.text, NULL);
}

/* ---- what the table names ---- */

struct sweep {
    struct os *os;
    struct paimon_table *table;
    char uuid[37];
    struct map named;     /* names with the UUID that something names */
    struct map manifests; /* those that were read */
    struct arena arena;
    uint32_t *swept;
};

static bool is_ours(const struct sweep *s, struct slice name)
{
    size_t len = strlen(s->uuid);
    for (size_t i = 0; i + len <= name.len; i++)
        if (memcmp(name.ptr + i, s->uuid, len) == 0)
            return true;
    return false;
}

static void note(struct sweep *s, struct slice name)
{
    if (name.ptr && is_ours(s, name))
        map_put(&s->named, name, s);
}

static enum err_code note_entry(void *arg, const struct entry *entry, struct err *err)
{
    (void)err;
    note(arg, entry->name);
    return OK;
}

/* What is being expired by somebody else meanwhile names nothing any more. */
static enum err_code gone_is_fine(enum err_code code)
{
    return code == ERR_NOT_FOUND ? OK : code;
}

static enum err_code note_manifest(void *arg, const struct manifest *manifest, struct err *err)
{
    struct sweep *s = arg;
    note(s, manifest->name);
    if (map_put(&s->manifests, manifest->name, s))
        return OK;
    return gone_is_fine(paimon_manifest_file_each(s->table, manifest->name, note_entry, s, err));
}

static enum err_code note_list(struct sweep *s, struct slice list, struct err *err)
{
    note(s, list);
    return list.ptr ? gone_is_fine(paimon_list_file_each(s->table, list, note_manifest, s, err)) : OK;
}

static enum err_code note_snapshot(struct sweep *s, const struct paimon_snapshot *snapshot, struct err *err)
{
    TRY(note_list(s, snapshot->base_list, err));
    TRY(note_list(s, snapshot->delta_list, err));
    return note_list(s, snapshot->changelog_list, err);
}

static enum err_code note_snapshot_file(void *arg, const char *name, bool is_dir, struct err *err)
{
    struct sweep *s = arg;
    struct paimon_snapshot snapshot;
    struct path path;
    struct buf text = {0};
    bool tag = strncmp(name, "tag-", 4) == 0;
    if (is_dir || (!tag && strncmp(name, "snapshot-", 9) != 0))
        return OK;
    TRY(paimon_path_set(&path, err, "%s/%s/%s", TABLE_DIR(s->table), tag ? "tag" : "snapshot", name));
    enum err_code code = paimon_file_read(s->os, path.text, PAIMON_JSON_BYTES_MAX, &text, err);
    if (code == OK)
        code = paimon_snapshot_parse(buf_view(&text), &s->arena, &snapshot, err);
    buf_deinit(&text);
    if (code == OK)
        code = note_snapshot(s, &snapshot, err);
    return gone_is_fine(code);
}

static enum err_code note_all(struct sweep *s, struct err *err)
{
    static const char *const dirs[] = {"snapshot", "tag"};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        struct path dir;
        TRY(paimon_path_set(&dir, err, "%s/%s", TABLE_DIR(s->table), dirs[i]));
        TRY(gone_is_fine(os_dir_list(s->os, dir.text, note_snapshot_file, s, err)));
    }
    return OK;
}

/* ---- what is there ---- */

struct removal {
    struct sweep *sweep;
    const char *dir;
    int depth;
};

static enum err_code remove_in(struct sweep *s, const char *dir, int depth, struct err *err);

static enum err_code remove_one(void *arg, const char *name, bool is_dir, struct err *err)
{
    struct removal *r = arg;
    struct sweep *s = r->sweep;
    struct path path;
    bool may_hold_files = strchr(name, '=') || strncmp(name, "bucket-", 7) == 0 ||
                          (r->depth == 0 && (strcmp(name, "manifest") == 0 || strcmp(name, "snapshot") == 0));
    if (is_dir ? !may_hold_files : !is_ours(s, slice_str(name)) || map_get(&s->named, slice_str(name)) != NULL)
        return OK;
    TRY(paimon_path_set(&path, err, "%s/%s", r->dir, name));
    if (is_dir)
        return remove_in(s, path.text, r->depth + 1, err);
    TRY(paimon_file_remove(s->os, path.text, err));
    ++*s->swept;
    return OK;
}

static enum err_code remove_in(struct sweep *s, const char *dir, int depth, struct err *err)
{
    struct removal r = {s, dir, depth};
    if (depth > PARTITION_DEPTH_MAX)
        return OK;
    return gone_is_fine(os_dir_list(s->os, dir, remove_one, &r, err));
}

static enum err_code sweep_table(struct sweep *s, struct slice dir, struct err *err)
{
    enum err_code code = paimon_table_open_dir(s->os, dir, &s->table, err);
    if (code == ERR_NOT_FOUND)
        return OK;
    TRY(code);
    code = note_all(s, err);
    if (code == OK)
        code = remove_in(s, TABLE_DIR(s->table), 0, err);
    paimon_table_close(s->table);
    return code;
}

/* ---- the records ---- */

static enum err_code read_record(struct slice text, struct arena *arena, struct slice *table, struct err *err)
{
    json_t *root;
    TRY(paimon_text_parse(text, "the record of a round", &root, err));
    enum err_code code = paimon_text_string(root, "table", arena, table, err);
    json_decref(root);
    if (code == OK && memchr(table->ptr, 0, table->len))
        code = err_set(err, ERR_CORRUPT, "the record of a round has a path with a zero byte");
    return code;
}

struct sweeps {
    struct os *os;
    struct slice dir;
    uint32_t swept;
};

static enum err_code sweep_record(void *arg, const char *name, bool is_dir, struct err *err)
{
    struct sweeps *all = arg;
    size_t len = strlen(name), suffix = strlen(ROUND_SUFFIX);
    struct sweep s = {.os = all->os, .swept = &all->swept};
    struct buf text = {0};
    struct slice table;
    struct path path;
    if (is_dir || len != sizeof s.uuid - 1 + suffix || strcmp(name + len - suffix, ROUND_SUFFIX) != 0)
        return OK;
    memcpy(s.uuid, name, sizeof s.uuid - 1);
    TRY(paimon_path_set(&path, err, "%.*s/%s", SLICE_ARGS(all->dir), name));
    enum err_code code = paimon_file_read(all->os, path.text, ROUND_BYTES_MAX, &text, err);
    if (code == OK)
        code = read_record(buf_view(&text), &s.arena, &table, err);
    if (code == OK)
        code = sweep_table(&s, table, err);
    if (code == OK)
        code = paimon_file_remove(all->os, path.text, err);
    buf_deinit(&text);
    map_deinit(&s.named);
    map_deinit(&s.manifests);
    arena_deinit(&s.arena);
    return code;
}

enum err_code paimon_sweep(struct os *os, struct slice rounds_dir, uint32_t *swept, struct err *err)
{
    struct sweeps all = {.os = os, .dir = rounds_dir};
    struct path dir;
    TRY(paimon_path_set(&dir, err, "%.*s", SLICE_ARGS(rounds_dir)));
    TRY(gone_is_fine(os_dir_list(os, dir.text, sweep_record, &all, err)));
    *swept = all.swept;
    return OK;
}
