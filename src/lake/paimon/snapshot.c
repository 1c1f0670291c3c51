/* Snapshots: one JSON file each, ids dense from 1.
 *
 *   snapshot/snapshot-N          {"version":3, "id":N, "schemaId", "baseManifestList", "deltaManifestList",
 *                                 "changelogManifestList"?, "indexManifest"?, "commitUser", "commitIdentifier",
 *                                 "commitKind", "timeMillis", "totalRecordCount", "deltaRecordCount", "statistics"?,
 *                                 "properties"?, ...}
 *   snapshot/LATEST, EARLIEST    decimal text, hints only: believed where the next file (the file itself) says so
 *
 * Live files of a snapshot: those of base, then delta. Source: Apache Paimon, Snapshot, SnapshotManager, HintFileUtils;
 * golden: paimon-by-fluss. */
#include "lake/paimon/snapshot_int.h"

#include "base/json.h"

#define SNAPSHOT_VERSION 3
#define HINT_BYTES_MAX 64

static const char *const kind_names[] = {"APPEND", "COMPACT", "OVERWRITE", "ANALYZE"};

/* ---- reading ---- */

static enum err_code parse_kind(json_t *root, enum paimon_commit_kind *kind, struct err *err)
{
    json_t *member = json_object_get(root, "commitKind");
    for (size_t i = 0; json_is_string(member) && i < ARRAY_LEN(kind_names); i++)
        if (strcmp(json_string_value(member), kind_names[i]) == 0) {
            *kind = (enum paimon_commit_kind)i;
            return OK;
        }
    return err_set(err, ERR_CORRUPT, "\"commitKind\" of a snapshot is none that weir knows");
}

/* Names of files end up in paths. */
static enum err_code parse_list(json_t *root, const char *name, bool needed, struct arena *arena, struct slice *out,
                                struct err *err)
{
    TRY(needed ? paimon_text_string(root, name, arena, out, err)
               : paimon_text_optional_string(root, name, arena, out, err));
    if (out->ptr && (!out->len || memchr(out->ptr, '/', out->len) || memchr(out->ptr, 0, out->len)))
        return err_set(err, ERR_CORRUPT, "\"%s\" of a snapshot is not the name of a file", name);
    return OK;
}

static enum err_code parse(json_t *root, struct arena *arena, struct paimon_snapshot *s, struct err *err)
{
    TRY(paimon_text_i64(root, "id", &s->id, err));
    TRY(paimon_text_i64(root, "schemaId", &s->schema_id, err));
    TRY(parse_kind(root, &s->kind, err));
    TRY(paimon_text_string(root, "commitUser", arena, &s->commit_user, err));
    TRY(paimon_text_i64(root, "commitIdentifier", &s->commit_identifier, err));
    TRY(paimon_text_i64(root, "timeMillis", &s->time_ms, err));
    TRY(paimon_text_i64(root, "totalRecordCount", &s->total_record_count, err));
    TRY(parse_list(root, "baseManifestList", true, arena, &s->base_list, err));
    TRY(parse_list(root, "deltaManifestList", true, arena, &s->delta_list, err));
    TRY(parse_list(root, "changelogManifestList", false, arena, &s->changelog_list, err));
    TRY(parse_list(root, "indexManifest", false, arena, &s->index_manifest, err));
    TRY(parse_list(root, "statistics", false, arena, &s->statistics, err));
    return paimon_text_properties(root, "properties", arena, &s->properties, err);
}

enum err_code paimon_snapshot_parse(struct slice text, struct arena *arena, struct paimon_snapshot *snapshot,
                                    struct err *err)
{
    json_t *root;
    struct paimon_snapshot read = {0};
    if (text.len > PAIMON_JSON_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "a snapshot of the lake has %zu bytes", text.len);
    TRY(paimon_text_parse(text, "a snapshot of the lake", &root, err));
    enum err_code code = parse(root, arena, &read, err);
    json_decref(root);
    if (code == OK)
        *snapshot = read;
    return code;
}

enum err_code paimon_snapshot_read(struct paimon_table *table, int64_t id, struct arena *arena,
                                   struct paimon_snapshot *snapshot, struct err *err)
{
    struct path path;
    struct buf text = {0};
    struct paimon_snapshot read;
    TRY(paimon_path_set(&path, err, "%s/snapshot/snapshot-%" PRId64, TABLE_DIR(table), id));
    enum err_code code = paimon_file_read(table->os, path.text, PAIMON_JSON_BYTES_MAX, &text, err);
    if (code == OK)
        code = paimon_snapshot_parse(buf_view(&text), arena, &read, err);
    buf_deinit(&text);
    if (code == OK && read.id != id)
        code = err_set(err, ERR_CORRUPT, "%s holds the snapshot %" PRId64, path.text, read.id);
    if (code == OK)
        *snapshot = read;
    return code;
}

/* ---- which there are ---- */

static enum err_code snapshot_is_there(struct paimon_table *table, int64_t id, bool *there, struct err *err)
{
    struct path path;
    struct os_stat stat;
    TRY(paimon_path_set(&path, err, "%s/snapshot/snapshot-%" PRId64, TABLE_DIR(table), id));
    enum err_code code = os_stat(table->os, path.text, &stat, err);
    *there = code == OK;
    return code == ERR_NOT_FOUND ? OK : code;
}

/* The number in a hint file; 0 where there is none to believe. */
static int64_t read_hint(struct paimon_table *table, const char *name)
{
    struct path path;
    struct buf text = {0};
    int64_t id = 0;
    if (paimon_path_set(&path, NULL, "%s/snapshot/%s", TABLE_DIR(table), name) != OK ||
        paimon_file_read(table->os, path.text, HINT_BYTES_MAX, &text, NULL) != OK ||
        !slice_to_i64(buf_view(&text), &id) || id < 1)
        id = 0;
    buf_deinit(&text);
    return id;
}

void paimon_snapshot_hint(struct paimon_table *table, const char *name, int64_t id)
{
    struct path path, tmp;
    struct buf text = {0};
    char uuid[37];
    os_uuid(table->os, uuid);
    buf_printf(&text, "%" PRId64, id);
    if (paimon_path_set(&path, NULL, "%s/snapshot/%s", TABLE_DIR(table), name) == OK &&
        paimon_path_set(&tmp, NULL, "%s/snapshot/.%s-%s.tmp", TABLE_DIR(table), name, uuid) == OK) {
        struct os_file *file;
        enum err_code code = os_file_open(table->os, tmp.text, OS_WRITE | OS_CREATE | OS_EXCL, &file, NULL);
        if (code == OK) {
            code = os_file_write(file, 0, buf_view(&text), NULL);
            os_file_close(file);
            if (code != OK || os_rename(table->os, tmp.text, path.text, NULL) != OK)
                (void)!os_unlink(table->os, tmp.text, NULL);
        }
    }
    buf_deinit(&text);
}

static enum err_code list_range(struct paimon_table *table, struct numbered *found, struct err *err)
{
    struct path dir;
    *found = (struct numbered){.prefix = "snapshot-"};
    TRY(paimon_path_set(&dir, err, "%s/snapshot", TABLE_DIR(table)));
    return paimon_numbered_find(table->os, dir.text, found, err);
}

/* The hint is right when its snapshot is there and the next one is not. */
static enum err_code find_latest(struct paimon_table *table, int64_t *latest, struct err *err)
{
    struct numbered found;
    bool there = false, next = false;
    int64_t hint = read_hint(table, "LATEST");
    if (hint) {
        TRY(snapshot_is_there(table, hint, &there, err));
        TRY(snapshot_is_there(table, hint + 1, &next, err));
    }
    if (there && !next) {
        *latest = hint;
        return OK;
    }
    TRY(list_range(table, &found, err));
    *latest = found.any ? found.greatest : 0;
    return OK;
}

enum err_code paimon_snapshot_range(struct paimon_table *table, int64_t *earliest, int64_t *latest, struct err *err)
{
    struct numbered found;
    bool there = false;
    int64_t hint = read_hint(table, "EARLIEST"), first, last;
    TRY(find_latest(table, &last, err));
    first = hint;
    if (hint)
        TRY(snapshot_is_there(table, hint, &there, err));
    if (!there || hint > last) {
        TRY(list_range(table, &found, err));
        first = found.any ? found.least : 0;
        last = found.any ? MAX(last, found.greatest) : 0;
    }
    *earliest = first;
    *latest = last;
    return OK;
}

enum err_code paimon_snapshot_was_made(struct os *os, const struct paimon_place *place, int64_t id, bool *made,
                                       struct err *err)
{
    struct path dir;
    int64_t latest = 0;
    bool there;
    TRY(paimon_place_dir(place, &dir, err));
    struct paimon_table table = {.os = os, .dir = slice_str(dir.text)};
    TRY(snapshot_is_there(&table, id, &there, err));
    if (!there) /* expired, or never made */
        TRY(find_latest(&table, &latest, err));
    *made = there || (id > 0 && id <= latest);
    return OK;
}

enum err_code paimon_snapshot_newest(struct paimon_table *table, struct arena *arena, struct paimon_snapshot *snapshot,
                                     struct err *err)
{
    int64_t latest;
    TRY(find_latest(table, &latest, err));
    *snapshot = (struct paimon_snapshot){0};
    return latest ? paimon_snapshot_read(table, latest, arena, snapshot, err) : OK;
}

enum err_code paimon_snapshot_newest_of(struct paimon_table *table, const char *user, struct arena *arena,
                                        struct paimon_snapshot *snapshot, struct err *err)
{
    int64_t latest;
    TRY(find_latest(table, &latest, err));
    for (int64_t id = latest; id > 0; id--) {
        struct paimon_snapshot s;
        enum err_code code = paimon_snapshot_read(table, id, arena, &s, err);
        if (code == ERR_NOT_FOUND && id < latest) /* those before are expired */
            break;
        TRY(code);
        if (slice_is(s.commit_user, user)) {
            *snapshot = s;
            return OK;
        }
    }
    *snapshot = (struct paimon_snapshot){0};
    return OK;
}

/* ---- writing ---- */

static void put_list(struct buf *out, const char *name, struct slice list, int64_t bytes)
{
    buf_printf(out, ",\n  \"%s\" : ", name);
    if (list.ptr)
        json_put_string(out, list);
    else
        buf_put_slice(out, SLICE("null"));
    if (list.ptr && bytes >= 0)
        buf_printf(out, ",\n  \"%sSize\" : %" PRId64, name, bytes);
}

static void put_optional(struct buf *out, const char *name, struct slice value)
{
    if (!value.ptr)
        return;
    buf_printf(out, ",\n  \"%s\" : ", name);
    json_put_string(out, value);
}

void paimon_snapshot_put(struct buf *out, const struct snapshot_text *text)
{
    const struct paimon_snapshot *s = &text->snapshot;
    buf_printf(out, "{\n  \"version\" : %d,\n  \"id\" : %" PRId64 ",\n  \"schemaId\" : %" PRId64, SNAPSHOT_VERSION,
               s->id, s->schema_id);
    put_list(out, "baseManifestList", s->base_list, text->base_bytes);
    put_list(out, "deltaManifestList", s->delta_list, text->delta_bytes);
    put_list(out, "changelogManifestList", s->changelog_list, text->changelog_bytes);
    put_optional(out, "indexManifest", s->index_manifest);
    buf_put_slice(out, SLICE(",\n  \"commitUser\" : "));
    json_put_string(out, s->commit_user);
    buf_printf(out, ",\n  \"commitIdentifier\" : %" PRId64 ",\n  \"commitKind\" : \"%s\"", s->commit_identifier,
               kind_names[s->kind]);
    buf_printf(out, ",\n  \"timeMillis\" : %" PRId64 ",\n  \"logOffsets\" : { }", s->time_ms);
    buf_printf(out, ",\n  \"totalRecordCount\" : %" PRId64 ",\n  \"deltaRecordCount\" : %" PRId64,
               s->total_record_count, text->delta_record_count);
    buf_printf(out, ",\n  \"changelogRecordCount\" : %" PRId64, text->changelog_record_count);
    put_optional(out, "statistics", s->statistics);
    if (s->properties.count) {
        buf_put_slice(out, SLICE(",\n  \"properties\" : "));
        paimon_text_put_properties(out, &s->properties, "  ");
    }
    buf_put_slice(out, SLICE(",\n  \"nextRowId\" : 0\n}"));
}
