/* Files of manifest/: written under a new name, on disk before anything names them. The name in the directory is made
 * durable once a commit. */
#include "lake/paimon/row_int.h"
#include "lake/paimon/write_int.h"

static enum err_code put_file(struct paimon_table *table, struct slice name, struct slice bytes, struct err *err)
{
    struct path path;
    TRY(paimon_path_set(&path, err, "%s/manifest/%.*s", TABLE_DIR(table), SLICE_ARGS(name)));
    return paimon_file_put_new(table->os, path.text, bytes, err);
}

/* ---- partition statistics ---- */

struct bounds {
    struct datum *min;
    struct datum *max;
    int64_t *nulls;
};

static void widen(const struct type *row, struct bounds *b, const struct datum *values)
{
    for (uint32_t i = 0; i < row->field_count; i++) {
        const struct type *type = row->fields[i].type;
        if (values[i].is_null) {
            b->nulls[i]++;
            continue;
        }
        if (b->min[i].is_null || datum_compare(type, &values[i], &b->min[i]) < 0)
            b->min[i] = values[i];
        if (b->max[i].is_null || datum_compare(type, &values[i], &b->max[i]) > 0)
            b->max[i] = values[i];
    }
}

static enum err_code put_bounds(struct arena *arena, const struct type *row, const struct bounds *b,
                                struct entry_stats *stats, struct err *err)
{
    struct buf bytes = {0};
    enum err_code code = paimon_row_encode(row, b->min, &bytes, err);
    stats->min_values = arena_dup(arena, buf_view(&bytes));
    buf_reset(&bytes);
    if (code == OK)
        code = paimon_row_encode(row, b->max, &bytes, err);
    stats->max_values = arena_dup(arena, buf_view(&bytes));
    buf_deinit(&bytes);
    stats->null_count_count = row->field_count;
    stats->null_counts = ARENA_NEW_ARRAY(arena, struct optional_i64, row->field_count + 1);
    for (uint32_t i = 0; i < row->field_count; i++)
        stats->null_counts[i] = (struct optional_i64){true, b->nulls[i]};
    return code;
}

static enum err_code partition_stats(struct paimon_table *table, struct arena *arena,
                                     const struct entry *const *entries, size_t count, struct entry_stats *stats,
                                     struct err *err)
{
    const struct type *row = table->newest->partition_row;
    struct bounds b = {ARENA_NEW_ARRAY(arena, struct datum, row->field_count + 1),
                       ARENA_NEW_ARRAY(arena, struct datum, row->field_count + 1),
                       ARENA_NEW_ARRAY(arena, int64_t, row->field_count + 1)};
    struct datum *values = ARENA_NEW_ARRAY(arena, struct datum, row->field_count + 1);
    for (uint32_t i = 0; i < row->field_count; i++)
        b.min[i].is_null = b.max[i].is_null = true;
    for (size_t i = 0; row->field_count && i < count; i++) {
        TRY(paimon_row_decode(row, entries[i]->partition, arena, values, err));
        widen(row, &b, values);
    }
    return put_bounds(arena, row, &b, stats, err);
}

static void note_range(struct optional_i64 *min, struct optional_i64 *max, int64_t value)
{
    min->value = min->there ? MIN(min->value, value) : value;
    max->value = max->there ? MAX(max->value, value) : value;
    min->there = max->there = true;
}

/* ---- files ---- */

enum err_code paimon_manifest_write(struct paimon_table *table, struct file_names *names, struct arena *arena,
                                    const struct entry *const *entries, const int *kinds, size_t count,
                                    struct manifest *manifest, struct err *err)
{
    struct buf bytes = {0};
    struct manifest m = {.schema_id = table->newest->id};
    m.name = arena_printf(arena, "manifest-%s-%u", names->uuid, names->next++);
    for (size_t i = 0; i < count; i++) {
        bool deleted = kinds && kinds[i] == ENTRY_DELETE;
        m.deleted_count += deleted;
        m.added_count += !deleted;
        note_range(&m.bucket_min, &m.bucket_max, entries[i]->bucket);
        note_range(&m.level_min, &m.level_max, entries[i]->level);
    }
    enum err_code code = partition_stats(table, arena, entries, count, &m.partition_stats, err);
    if (code == OK)
        code = paimon_entries_put(table->os, entries, kinds, count, &bytes, err);
    if (code == OK)
        code = put_file(table, m.name, buf_view(&bytes), err);
    m.size = (int64_t)bytes.len;
    buf_deinit(&bytes);
    if (code == OK)
        *manifest = m;
    return code;
}

enum err_code paimon_list_write(struct paimon_table *table, struct file_names *names, struct arena *arena,
                                const struct manifest *manifests, size_t count, struct slice *name, int64_t *size,
                                struct err *err)
{
    struct buf bytes = {0};
    struct slice made = arena_printf(arena, "manifest-list-%s-%u", names->uuid, names->next++);
    enum err_code code = paimon_manifests_put(table->os, manifests, count, &bytes, err);
    if (code == OK)
        code = put_file(table, made, buf_view(&bytes), err);
    if (code == OK) {
        *name = made;
        *size = (int64_t)bytes.len;
    }
    buf_deinit(&bytes);
    return code;
}
