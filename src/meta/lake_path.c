/* Where offset files are: {remote}/lake/{database}/{name}-{table id}/metadata/{uuid}.offsets, Fluss's layout. Their
 * paths travel through tiering workers and lake snapshots and come back, so they are believed only in that shape. */
#include "meta/meta_int.h"

#include <stdio.h>

#define SUFFIX ".offsets"
#define UUID_LETTERS 36

enum err_code lake_table_dir(const struct meta *meta, int64_t table_id, struct slice database, struct slice name,
                             char out[OS_PATH_MAX], struct err *err)
{
    int len = snprintf(out, OS_PATH_MAX, "%s/lake/%.*s/%.*s-%lld", meta->remote_dir, SLICE_ARGS(database),
                       SLICE_ARGS(name), (long long)table_id);
    return len < OS_PATH_MAX ? OK : err_set(err, ERR_LIMIT, "remote.data.dir is too long: %.100s", meta->remote_dir);
}

enum err_code lake_file_path(const struct meta *meta, int64_t table_id, struct slice database, struct slice name,
                             struct slice file, char out[OS_PATH_MAX], struct err *err)
{
    char dir[OS_PATH_MAX];
    TRY(lake_table_dir(meta, table_id, database, name, dir, err));
    int len = snprintf(out, OS_PATH_MAX, "%s/metadata/%.*s", dir, SLICE_ARGS(file));
    return len < OS_PATH_MAX ? OK : err_set(err, ERR_LIMIT, "remote.data.dir is too long: %.100s", meta->remote_dir);
}

bool offsets_name_is_valid(struct slice file)
{
    if (file.len != OFFSETS_NAME_BYTES || !slice_ends_with(file, SLICE(SUFFIX)))
        return false;
    for (size_t i = 0; i < UUID_LETTERS; i++) {
        uint8_t c = file.ptr[i];
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (dash ? c != '-' : !hex)
            return false;
    }
    return true;
}

/* Takes the last part off path. */
static struct slice last_part(struct slice *path)
{
    size_t start = path->len;
    while (start > 0 && path->ptr[start - 1] != '/')
        start--;
    struct slice part = slice_of(path->ptr + start, path->len - start);
    path->len = start ? start - 1 : 0;
    return part;
}

enum err_code lake_path_file(const struct table_info *table, struct slice path, struct slice *file, struct err *err)
{
    char dir[NAME_BYTES_MAX + 24];
    snprintf(dir, sizeof dir, "%.*s-%lld", SLICE_ARGS(table->name), (long long)table->table_id);
    struct slice rest = path, name = last_part(&rest);
    if (!offsets_name_is_valid(name) || !slice_is(last_part(&rest), "metadata") || !slice_is(last_part(&rest), dir) ||
        !slice_equal(last_part(&rest), table->database) || !slice_is(last_part(&rest), "lake"))
        return err_set(err, ERR_INVALID_ARGUMENT,
                       "'%.*s' is not the path of an offsets file of table %.*s with id %lld", (int)MIN(path.len, 120),
                       (const char *)path.ptr, (int)MIN(table->name.len, 60), (const char *)table->name.ptr,
                       (long long)table->table_id);
    *file = name;
    return OK;
}
