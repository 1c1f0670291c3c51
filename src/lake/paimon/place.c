/* Where data files are.
 *
 *   TABLE/PARTITION1=VALUE1/PARTITION2=VALUE2/bucket-B/NAME     or the external path that the manifest gives
 *
 * Source: Apache Paimon, FileStorePathFactory, DataFilePathFactory. */
#include "lake/paimon/live_int.h"
#include "lake/paimon/row_int.h"

static enum err_code put_partitions(struct buf *out, const struct type *row, struct slice partition, struct err *err)
{
    struct arena arena = {0};
    struct datum *values = ARENA_NEW_ARRAY(&arena, struct datum, row->field_count + 1);
    enum err_code code = paimon_row_decode(row, partition, &arena, values, err);
    if (code == OK)
        paimon_partition_path(row, values, out);
    arena_deinit(&arena);
    return code;
}

enum err_code paimon_bucket_dir(const struct paimon_table *table, struct slice partition, int32_t bucket,
                                struct path *path, struct err *err)
{
    struct buf text = {0};
    enum err_code code = OK;
    if (table->newest->partition_key_count)
        code = put_partitions(&text, table->newest->partition_row, partition, err);
    if (code == OK)
        code = paimon_path_set(path, err, "%s/%.*sbucket-%d", TABLE_DIR(table), SLICE_ARGS(buf_view(&text)), bucket);
    buf_deinit(&text);
    return code;
}

enum err_code paimon_told_path(const struct paimon_table *table, struct slice partition, int32_t bucket,
                               struct slice name, struct arena *arena, struct slice *told, struct err *err)
{
    struct path dir;
    *told = (struct slice){0};
    if (!table->newest->partition_key_count || !paimon_partition_is_obscure(table->newest->partition_row) ||
        *TABLE_DIR(table) != '/')
        return OK;
    TRY(paimon_bucket_dir(table, partition, bucket, &dir, err));
    *told = arena_printf(arena, "%s/%.*s", dir.text, SLICE_ARGS(name));
    return OK;
}

/* A path of another place, as a URI of this machine or a plain path. */
static enum err_code external_path(struct slice external, struct slice name, struct path *path, struct err *err)
{
    struct slice file = external;
    if (slice_starts_with(file, SLICE("file:")))
        file = slice_of(file.ptr + 5, file.len - 5);
    while (slice_starts_with(file, SLICE("//")))
        file = slice_of(file.ptr + 1, file.len - 1);
    if (!file.len || *file.ptr != '/')
        return err_set(err, ERR_NOT_SUPPORTED, "a data file is at %.*s", (int)MIN(external.len, 150),
                       (const char *)external.ptr);
    size_t dir = file.len;
    while (file.ptr[dir - 1] != '/')
        dir--;
    return paimon_path_set(path, err, "%.*s%.*s", (int)dir, (const char *)file.ptr, SLICE_ARGS(name));
}

enum err_code paimon_entry_path(const struct paimon_table *table, const struct entry *entry, struct slice name,
                                struct path *path, struct err *err)
{
    struct path dir;
    if (entry->external_path.ptr)
        return external_path(entry->external_path, name, path, err);
    TRY(paimon_bucket_dir(table, entry->partition, entry->bucket, &dir, err));
    return paimon_path_set(path, err, "%s/%.*s", dir.text, SLICE_ARGS(name));
}
