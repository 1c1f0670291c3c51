/* Offset files that are needed no more. What can't be removed stays for the next time; nothing waits for it. */
#include "meta/meta_int.h"

#include <stdlib.h>

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

/* A file in the table's directory that no entry names: prepared for a snapshot that may still come, or never. */
struct orphan {
    struct slice name; /* in the arena */
    int64_t modified_ms;
};

struct sweep {
    struct arena arena;
    const struct lake *lake;
    VEC(struct orphan) orphans;
};

static enum err_code collect(void *arg, const char *name, bool is_dir, struct err *err)
{
    (void)err;
    struct sweep *sweep = arg;
    if (!is_dir && !is_named(sweep->lake, slice_str(name)))
        vec_push(&sweep->orphans, ((struct orphan){arena_dup(&sweep->arena, slice_str(name)), 0}));
    return OK;
}

static enum err_code count_one(void *arg, const char *name, bool is_dir, struct err *err)
{
    (void)name, (void)is_dir, (void)err;
    ++*(size_t *)arg;
    return OK;
}

static int by_age(const void *a, const void *b)
{
    const struct orphan *x = a, *y = b;
    return (x->modified_ms > y->modified_ms) - (x->modified_ms < y->modified_ms);
}

static void remove_file(struct meta *meta, const struct table_info *table, struct slice file)
{
    char path[OS_PATH_MAX];
    if (path_of(meta, table, file, path))
        (void)!os_unlink(meta->os, path, NULL);
}

/* The oldest go when there are too many. By number, not by age: a lake snapshot whose worker died names one of them,
 * and must find it whenever somebody comes to register it, also after a jump of the clock. */
static void remove_orphans(struct meta *meta, const struct table_info *table, struct sweep *sweep)
{
    size_t count = sweep->orphans.len;
    if (count <= META_LAKE_ORPHANS_MAX)
        return;
    for (size_t i = 0; i < count; i++) {
        char path[OS_PATH_MAX];
        struct os_stat stat;
        struct orphan *orphan = &sweep->orphans.ptr[i];
        if (path_of(meta, table, orphan->name, path) && os_stat(meta->os, path, &stat, NULL) == OK)
            orphan->modified_ms = stat.modified_ms;
    }
    qsort(sweep->orphans.ptr, count, sizeof *sweep->orphans.ptr, by_age);
    for (size_t i = 0; i < count - META_LAKE_ORPHANS_MAX; i++)
        remove_file(meta, table, sweep->orphans.ptr[i].name);
}

void lake_retire_files(struct meta *meta, const struct table_info *table, const struct lake *lake,
                       const struct lake *gone)
{
    for (size_t i = 0; i < gone->entries.len; i++) {
        const struct slice files[] = {gone->entries.ptr[i]->tiered_file, gone->entries.ptr[i]->readable_file};
        for (size_t j = 0; j < ARRAY_LEN(files); j++)
            if (files[j].ptr && !is_named(lake, files[j]))
                remove_file(meta, table, files[j]);
    }
    char dir[OS_PATH_MAX];
    size_t file_count = 0;
    if (!path_of(meta, table, (struct slice){0}, dir) ||
        os_dir_list(meta->os, dir, count_one, &file_count, NULL) != OK || file_count <= META_LAKE_ORPHANS_MAX)
        return;
    struct sweep sweep = {.lake = lake};
    if (os_dir_list(meta->os, dir, collect, &sweep, NULL) == OK)
        remove_orphans(meta, table, &sweep);
    vec_deinit(&sweep.orphans);
    arena_deinit(&sweep.arena);
}
