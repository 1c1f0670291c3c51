/* Offset files that are needed no more. What can't be removed stays for the next time; nothing waits for it. */
#include "meta/meta_int.h"

static bool is_named(const struct lake *lake, struct slice file)
{
    for (size_t i = 0; i < lake->entries.len; i++) {
        const struct lake_entry *entry = lake->entries.ptr[i];
        if (slice_equal(entry->tiered_file, file) || slice_equal(entry->readable_file, file))
            return true;
    }
    return false;
}

static bool path_of(struct meta *meta, const struct table_info *table, struct slice file, char path[OS_PATH_MAX])
{
    return lake_file_path(meta, table->table_id, table->database, table->name, file, path, NULL) == OK;
}

struct sweep {
    struct meta *meta;
    const struct table_info *table;
    const struct lake *lake;
    int64_t now_ms;
};

/* A file of the table's directory: it goes if no entry names it and no worker will still bring it. */
static enum err_code sweep_one(void *arg, const char *name, bool is_dir, struct err *err)
{
    (void)err;
    const struct sweep *sweep = arg;
    char path[OS_PATH_MAX];
    struct os_stat stat;
    if (is_dir || is_named(sweep->lake, slice_str(name)) ||
        !path_of(sweep->meta, sweep->table, slice_str(name), path) ||
        os_stat(sweep->meta->os, path, &stat, NULL) != OK || sweep->now_ms - stat.modified_ms < META_LAKE_ORPHAN_MS)
        return OK;
    (void)!os_unlink(sweep->meta->os, path, NULL);
    return OK;
}

void lake_retire_files(struct meta *meta, const struct table_info *table, const struct lake *lake,
                       const struct lake *gone)
{
    char path[OS_PATH_MAX];
    for (size_t i = 0; i < gone->entries.len; i++) {
        const struct slice files[] = {gone->entries.ptr[i]->tiered_file, gone->entries.ptr[i]->readable_file};
        for (size_t j = 0; j < ARRAY_LEN(files); j++)
            if (files[j].ptr && !is_named(lake, files[j]) && path_of(meta, table, files[j], path))
                (void)!os_unlink(meta->os, path, NULL);
    }
    struct sweep sweep = {meta, table, lake, os_wall_ms(meta->os)};
    if (path_of(meta, table, (struct slice){0}, path))
        (void)!os_dir_list(meta->os, path, sweep_one, &sweep, NULL);
}
