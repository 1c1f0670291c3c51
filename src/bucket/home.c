/* Where buckets live: {data_dir}/{db}/{table}-{id}, and /{partition}-p{id} behind it for those of a partition; in it
 * log-{n}, kv-{n} and kv-{n}.mark of each bucket. Nothing is there before a bucket's first write. */
#include "bucket/bucket_int.h"

#include <stdio.h>

static int dir_print(char *out, size_t out_len, const struct bucket_env *env, const struct table_info *table,
                     const struct partition_info *partition)
{
    int len = snprintf(out, out_len, "%s/%.*s/%.*s-%lld", env->data_dir, SLICE_ARGS(table->database),
                       SLICE_ARGS(table->name), (long long)table->table_id);
    if (!partition || len < 0 || (size_t)len >= out_len)
        return len;
    return len + snprintf(out + len, out_len - (size_t)len, "/%.*s-p%lld", SLICE_ARGS(partition->name),
                          (long long)partition->partition_id);
}

enum err_code bucket_home_dir(const struct bucket_env *env, const struct table_info *table,
                              const struct partition_info *partition, char out[BUCKET_DIR_MAX], struct err *err)
{
    int len = dir_print(out, BUCKET_DIR_MAX, env, table, partition);
    if (len < 0 || len >= BUCKET_DIR_MAX)
        return err_set(err, ERR_LIMIT, "the path of the data directory is too long: %s", env->data_dir);
    return OK;
}

enum err_code bucket_home_create(struct bucket_env *env, const struct table_info *table,
                                 const struct partition_info *partition, struct bucket_home **out, struct err *err)
{
    char dir[BUCKET_DIR_MAX];
    TRY(bucket_home_dir(env, table, partition, dir, err));
    size_t size = strlen(dir) + 1;
    struct bucket_home *home = mem_zalloc(sizeof *home + size);
    home->env = env;
    home->ref_count = 1;
    home->table_id = table->table_id;
    home->partition_id = partition ? partition->partition_id : -1;
    memcpy(home->dir, dir, size);
    *out = home;
    return OK;
}

struct bucket_home *bucket_home_ref(struct bucket_home *home)
{
    __atomic_add_fetch(&home->ref_count, 1, __ATOMIC_RELAXED);
    return home;
}

void bucket_home_unref(struct bucket_home *home)
{
    if (home && __atomic_sub_fetch(&home->ref_count, 1, __ATOMIC_ACQ_REL) == 0)
        mem_free(home);
}

/* Of all directories from the home's own up to the data directory: their entries. */
static enum err_code parents_sync(const struct bucket_home *home, struct err *err)
{
    char dir[BUCKET_DIR_MAX];
    size_t top = strlen(home->env->data_dir);
    memcpy(dir, home->dir, strlen(home->dir) + 1);
    for (char *slash; strlen(dir) > top && (slash = strrchr(dir, '/'));) {
        *slash = 0;
        TRY(os_dir_sync(home->env->os, dir, err));
    }
    return OK;
}

enum err_code bucket_home_sync(struct bucket_home *home, struct err *err)
{
    TRY(os_dir_sync(home->env->os, home->dir, err));
    if (__atomic_load_n(&home->parents_durable, __ATOMIC_ACQUIRE))
        return OK;
    TRY(parents_sync(home, err));
    __atomic_store_n(&home->parents_durable, true, __ATOMIC_RELEASE);
    return OK;
}

/* ---- the first write to a bucket ---- */

static struct log_options log_options_of(const struct bucket_env *env)
{
    struct log_options options = log_options_default();
    options.segment_bytes = (uint32_t)MIN(env->segment_bytes, (uint64_t)LOG_SEGMENT_BYTES_MAX);
    options.index_interval_bytes = env->index_interval_bytes;
    options.writer_expiry_ms = env->writer_expiry_ms;
    return options;
}

enum err_code bucket_begin_locked(struct bucket *bucket, struct err *err)
{
    char path[OS_PATH_MAX];
    struct log *log;
    if (bucket->log)
        return OK;
    struct log_options options = log_options_of(bucket->env);
    bucket_path(bucket, "log", path);
    TRY(os_mkdirs(bucket->env->os, path, err));
    TRY(log_create(bucket->env->os, path, &options, &log, err));
    bucket->names_due = true;
    __atomic_store_n(&bucket->log, log, __ATOMIC_RELEASE);
    return OK;
}

enum err_code bucket_log_open(struct bucket *bucket, struct err *err)
{
    char path[OS_PATH_MAX];
    struct os_stat stat;
    struct log_recovery recovery;
    struct log_options options = log_options_of(bucket->env);
    bucket_path(bucket, "log", path);
    enum err_code code = os_stat(bucket->env->os, path, &stat, err);
    if (code == ERR_NOT_FOUND)
        return OK;
    TRY(code);
    /* A killed process may have left names that are not durable yet; those of one home are settled at once. */
    if (!__atomic_load_n(&bucket->home->parents_durable, __ATOMIC_ACQUIRE))
        TRY(bucket_home_sync(bucket->home, err));
    TRY(log_open(bucket->env->os, path, &options, 0, &bucket->log, &recovery, err));
    bucket->high_watermark = log_durable_offset(bucket->log);
    /* Of a killed server's last writes, which nobody was told of; or of a file that was damaged from outside. */
    if (recovery.cut_bytes || recovery.lost_offsets)
        trace_warn(bucket->env->trace, "bucket", "log_cut", trace_slice("database", bucket->table->database),
                   trace_slice("table", bucket->table->name), trace_i64("bucket", bucket->number),
                   trace_i64("end", bucket->high_watermark), trace_i64("cut_bytes", (int64_t)recovery.cut_bytes),
                   trace_i64("lost_offsets", recovery.lost_offsets));
    return OK;
}
