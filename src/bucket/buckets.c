/* All buckets of a server, by table. */
#include "base/map.h"
#include "bucket/bucket_int.h"

#include <stdio.h>

struct table_buckets {
    int64_t table_id;
    int32_t count;
    char dir[OS_PATH_MAX];
    struct bucket **items;
};

struct buckets {
    struct bucket_env *env;
    struct os_mutex mutex;
    struct map tables; /* id -> struct table_buckets */
    size_t count;
};

void buckets_create(struct bucket_env *env, struct buckets **out)
{
    struct buckets *buckets = mem_zalloc(sizeof *buckets);
    buckets->env = env;
    os_mutex_init(&buckets->mutex, env->os);
    *out = buckets;
}

static void table_free(struct table_buckets *table)
{
    for (int32_t i = 0; i < table->count; i++)
        bucket_unref(table->items[i]);
    mem_free(table->items);
    mem_free(table);
}

static void table_close(struct table_buckets *table, bool drop)
{
    for (int32_t i = 0; i < table->count; i++)
        bucket_close(table->items[i], drop);
}

void buckets_destroy(struct buckets *buckets)
{
    if (!buckets)
        return;
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&buckets->tables, &at, &key, &value)) {
        table_close(value, false);
        table_free(value);
    }
    map_deinit(&buckets->tables);
    os_mutex_deinit(&buckets->mutex);
    mem_free(buckets);
}

/* The directory with its name durable, the database's too. */
static enum err_code directory_make(const struct bucket_env *env, const char *dir, struct err *err)
{
    char parent[OS_PATH_MAX];
    TRY(os_mkdirs(env->os, dir, err));
    const char *slash = strrchr(dir, '/');
    ASSERT(slash);
    memcpy(parent, dir, (size_t)(slash - dir));
    parent[slash - dir] = 0;
    TRY(os_dir_sync(env->os, parent, err));
    return os_dir_sync(env->os, env->data_dir, err);
}

enum err_code buckets_open_table(struct buckets *buckets, const struct table_info *table, struct tiering_table *tiering,
                                 struct err *err)
{
    enum err_code code;
    struct table_buckets *opened = mem_zalloc(sizeof *opened);
    opened->table_id = table->table_id;
    opened->items = mem_zalloc((size_t)table->descriptor->bucket_count * sizeof *opened->items);
    TRY_OR_FAIL(bucket_table_dir(buckets->env, table, opened->dir, sizeof opened->dir, err));
    TRY_OR_FAIL(directory_make(buckets->env, opened->dir, err));
    for (; opened->count < table->descriptor->bucket_count; opened->count++)
        TRY_OR_FAIL(bucket_open(buckets->env, table, opened->count, tiering, &opened->items[opened->count], err));
    os_mutex_lock(&buckets->mutex);
    struct table_buckets *old = map_put_i64(&buckets->tables, table->table_id, opened);
    ASSERT(!old);
    buckets->count += (size_t)opened->count;
    os_mutex_unlock(&buckets->mutex);
    return OK;
fail:
    table_close(opened, true);
    table_free(opened);
    return code;
}

enum err_code buckets_drop_table(struct buckets *buckets, int64_t table_id, struct err *err)
{
    os_mutex_lock(&buckets->mutex);
    struct table_buckets *table = map_remove_i64(&buckets->tables, table_id);
    if (table)
        buckets->count -= (size_t)table->count;
    os_mutex_unlock(&buckets->mutex);
    if (!table)
        return OK;
    table_close(table, true);
    enum err_code code = os_remove_tree(buckets->env->os, table->dir, err);
    table_free(table);
    return code;
}

struct bucket *buckets_find(struct buckets *buckets, int64_t table_id, int32_t number)
{
    os_mutex_lock(&buckets->mutex);
    const struct table_buckets *table = map_get_i64(&buckets->tables, table_id);
    bool there = table && number >= 0 && number < table->count;
    struct bucket *bucket = there ? bucket_ref(table->items[number]) : NULL;
    os_mutex_unlock(&buckets->mutex);
    return bucket;
}

size_t buckets_count(struct buckets *buckets)
{
    os_mutex_lock(&buckets->mutex);
    size_t count = buckets->count;
    os_mutex_unlock(&buckets->mutex);
    return count;
}

/* ---- files of dropped tables ---- */

struct removal {
    const struct bucket_env *env;
    char dir[OS_PATH_MAX]; /* that is being listed */
    char suffix[24];       /* "-{table id}", the end of the directory's name */
};

static enum err_code remove_table_dir(void *arg, const char *name, bool is_dir, struct err *err)
{
    struct removal *removal = arg;
    char path[OS_PATH_MAX];
    if (!is_dir || !slice_ends_with(slice_str(name), slice_str(removal->suffix)))
        return OK;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", removal->dir, name) >= sizeof path)
        return err_set(err, ERR_LIMIT, "the path is too long: %s/%s", removal->dir, name);
    return os_remove_tree(removal->env->os, path, err);
}

static enum err_code remove_in_database(void *arg, const char *name, bool is_dir, struct err *err)
{
    struct removal *removal = arg;
    if (!is_dir)
        return OK;
    if ((size_t)snprintf(removal->dir, sizeof removal->dir, "%s/%s", removal->env->data_dir, name) >=
        sizeof removal->dir)
        return err_set(err, ERR_LIMIT, "the path is too long: %s/%s", removal->env->data_dir, name);
    return os_dir_list(removal->env->os, removal->dir, remove_table_dir, removal, err);
}

enum err_code buckets_remove_files(const struct bucket_env *env, int64_t table_id, struct err *err)
{
    struct removal removal = {.env = env};
    snprintf(removal.suffix, sizeof removal.suffix, "-%lld", (long long)table_id);
    return os_dir_list(env->os, env->data_dir, remove_in_database, &removal, err);
}

/* ---- what is done from time to time ---- */

/* The bucket whose delta is largest, with one count more; asks those whose delta is old or whose log is long. */
static struct bucket *tick_locked(struct buckets *buckets, int64_t now_ns)
{
    struct bucket *largest = NULL;
    size_t at = 0, most = 0;
    struct slice key;
    void *value;
    while (map_next(&buckets->tables, &at, &key, &value)) {
        const struct table_buckets *table = value;
        for (int32_t i = 0; i < table->count; i++) {
            size_t bytes = bucket_tick(table->items[i], now_ns);
            if (bytes <= most)
                continue;
            most = bytes;
            largest = table->items[i];
        }
    }
    return largest ? bucket_ref(largest) : NULL;
}

void buckets_tick(struct buckets *buckets)
{
    struct bucket_env *env = buckets->env;
    os_mutex_lock(&buckets->mutex);
    struct bucket *largest = tick_locked(buckets, os_mono_ns(env->os));
    os_mutex_unlock(&buckets->mutex);
    if (largest && __atomic_load_n(&env->delta_bytes, __ATOMIC_RELAXED) > env->delta_bytes_max)
        bucket_want_state_flush(largest);
    bucket_unref(largest);
}
