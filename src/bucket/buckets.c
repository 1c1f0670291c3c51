/* All buckets of a server, by table. */
#include "base/map.h"
#include "base/vec.h"
#include "bucket/bucket_int.h"

#include <stdio.h>

#define OPEN_THREADS_MAX 32
#define OPEN_LOGS_A_THREAD 8

/* The buckets of one home: of a partition, or of a table without partitions. */
struct home_buckets {
    struct bucket_home *home;
    int32_t count;
    struct bucket *items[];
};

struct table_buckets {
    int64_t table_id;
    struct home_buckets *whole;            /* NULL: partitioned */
    VEC(struct home_buckets *) partitions; /* each also in buckets.partitions */
    char dir[BUCKET_DIR_MAX];
};

struct buckets {
    struct bucket_env *env;
    struct os_mutex mutex;
    struct map tables;     /* id -> struct table_buckets */
    struct map partitions; /* id -> struct home_buckets */
    struct refusals refusals;
    bool forgiving;
    size_t count;
};

void buckets_create(struct bucket_env *env, struct buckets **out)
{
    struct buckets *buckets = mem_zalloc(sizeof *buckets);
    buckets->env = env;
    os_mutex_init(&buckets->mutex, env->os);
    *out = buckets;
}

/* ---- one home ---- */

/* Closes its buckets (blocks) and gives them back. NULL is fine. */
static void home_end(struct home_buckets *opened, enum bucket_end how)
{
    if (!opened)
        return;
    for (int32_t i = 0; i < opened->count; i++) {
        if (!opened->items[i])
            continue; /* its opening failed, or that of another */
        bucket_close(opened->items[i], how);
        bucket_unref(opened->items[i]);
    }
    bucket_home_unref(opened->home);
    mem_free(opened);
}

static enum err_code count_log(void *arg, const char *name, bool is_dir, struct err *err)
{
    (void)err;
    *(size_t *)arg += is_dir && slice_starts_with(slice_str(name), SLICE("log-"));
    return OK;
}

/* A log that a kill left behind is made durable before it is used: some syncs each. Those of different logs run side by
 * side, so many logs are opened by many threads. */
struct opening {
    struct buckets *buckets;
    const struct table_info *table;
    struct tiering_part *tiering;
    struct home_buckets *opened;
    int32_t count, next; /* next is atomic */
    unsigned failed;     /* atomic: the first failure's, below, and nobody goes on */
    enum err_code code;
    struct err err;
};

static void refuse(struct buckets *buckets, const struct table_info *table, int64_t partition_id, int32_t number,
                   const struct err *why)
{
    struct refusal refusal = refusal_of(buckets->env, table, partition_id, number, why);
    os_mutex_lock(&buckets->mutex);
    refusals_add(&buckets->refusals, &refusal);
    os_mutex_unlock(&buckets->mutex);
}

static void open_some(void *arg)
{
    struct opening *o = arg;
    for (;;) {
        int32_t i = __atomic_fetch_add(&o->next, 1, __ATOMIC_RELAXED);
        struct err err = {0};
        if (i >= o->count || __atomic_load_n(&o->failed, __ATOMIC_RELAXED))
            return;
        enum err_code code =
            bucket_open(o->buckets->env, o->table, o->opened->home, i, o->tiering, &o->opened->items[i], &err);
        if (code != OK && o->buckets->forgiving) {
            refuse(o->buckets, o->table, o->opened->home->partition_id, i, &err);
            continue;
        }
        if (code == OK || __atomic_exchange_n(&o->failed, 1, __ATOMIC_RELAXED))
            continue;
        o->code = code;
        o->err = err;
    }
}

/* Runs fn on so many threads, at most OPEN_THREADS_MAX, and the caller's, so none that can't be started is missed. */
static void side_by_side(struct os *os, const char *name, size_t wanted, void (*fn)(void *arg), void *arg)
{
    struct os_thread *threads[OPEN_THREADS_MAX];
    size_t started = 0;
    while (started < MIN(wanted, (size_t)OPEN_THREADS_MAX) &&
           os_thread_start(os, name, fn, arg, &threads[started], NULL) == OK)
        started++;
    fn(arg);
    for (size_t i = 0; i < started; i++)
        os_thread_join(threads[i]);
}

static enum err_code open_all(struct opening *o, size_t log_count, struct err *err)
{
    side_by_side(o->buckets->env->os, "open", log_count / OPEN_LOGS_A_THREAD, open_some, o);
    if (o->code != OK && err)
        *err = o->err;
    return o->code;
}

static enum err_code home_open(struct buckets *buckets, const struct table_info *table,
                               const struct partition_info *partition, struct tiering_part *tiering,
                               struct home_buckets **out, struct err *err)
{
    enum err_code code;
    size_t log_count = 0;
    int32_t count = table->descriptor->bucket_count;
    struct home_buckets *opened = mem_zalloc(sizeof *opened + (size_t)count * sizeof *opened->items);
    struct opening opening = {.buckets = buckets, .table = table, .tiering = tiering, .opened = opened, .count = count};
    opened->count = count;
    TRY_OR_FAIL(bucket_home_create(buckets->env, table, partition, &opened->home, err));
    code = os_dir_list(buckets->env->os, opened->home->dir, count_log, &log_count, err);
    if (code != OK && code != ERR_NOT_FOUND)
        goto fail;
    TRY_OR_FAIL(open_all(&opening, log_count, err));
    *out = opened;
    return OK;
fail:
    home_end(opened, BUCKET_DROP);
    return code;
}

/* ---- tables and partitions ---- */

static void table_end(struct table_buckets *table, enum bucket_end how)
{
    home_end(table->whole, how);
    for (size_t i = 0; i < table->partitions.len; i++)
        home_end(table->partitions.ptr[i], how);
    vec_deinit(&table->partitions);
    mem_free(table);
}

/* ---- the end ---- */

/* Each log takes some syncs; those of different logs run side by side. */
struct closing {
    struct os *os;
    int64_t settle_until_mono_ns;
    VEC(struct bucket *) all;
    size_t next; /* atomic */
};

static void close_some(void *arg)
{
    struct closing *c = arg;
    for (;;) {
        size_t i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED);
        if (i >= c->all.len)
            return;
        bucket_close(c->all.ptr[i], os_mono_ns(c->os) < c->settle_until_mono_ns ? BUCKET_SETTLE : BUCKET_KEEP);
    }
}

static void closing_add(struct closing *c, const struct home_buckets *home)
{
    for (int32_t i = 0; home && i < home->count; i++)
        if (home->items[i])
            vec_push(&c->all, home->items[i]);
}

static void close_all(struct buckets *buckets, int64_t settle_until_mono_ns)
{
    struct closing c = {.os = buckets->env->os, .settle_until_mono_ns = settle_until_mono_ns};
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&buckets->tables, &at, &key, &value)) {
        const struct table_buckets *table = value;
        closing_add(&c, table->whole);
        for (size_t i = 0; i < table->partitions.len; i++)
            closing_add(&c, table->partitions.ptr[i]);
    }
    side_by_side(buckets->env->os, "close", c.all.len / OPEN_LOGS_A_THREAD, close_some, &c);
    vec_deinit(&c.all);
}

void buckets_destroy(struct buckets *buckets, int64_t settle_until_mono_ns)
{
    if (!buckets)
        return;
    close_all(buckets, settle_until_mono_ns);
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&buckets->tables, &at, &key, &value))
        table_end(value, BUCKET_KEEP);
    map_deinit(&buckets->tables);
    map_deinit(&buckets->partitions);
    vec_deinit(&buckets->refusals.list);
    os_mutex_deinit(&buckets->mutex);
    mem_free(buckets);
}

enum err_code buckets_open_table(struct buckets *buckets, const struct table_info *table, struct tiering_part *tiering,
                                 struct err *err)
{
    enum err_code code;
    struct table_buckets *opened = mem_zalloc(sizeof *opened);
    opened->table_id = table->table_id;
    TRY_OR_FAIL(bucket_home_dir(buckets->env, table, NULL, opened->dir, err));
    if (table->descriptor->partition_key_count == 0)
        TRY_OR_FAIL(home_open(buckets, table, NULL, tiering, &opened->whole, err));
    os_mutex_lock(&buckets->mutex);
    struct table_buckets *old = map_put_i64(&buckets->tables, table->table_id, opened);
    ASSERT(!old);
    buckets->count += opened->whole ? (size_t)opened->whole->count : 0;
    os_mutex_unlock(&buckets->mutex);
    return OK;
fail:
    table_end(opened, BUCKET_DROP);
    return code;
}

enum err_code buckets_open_partition(struct buckets *buckets, const struct table_info *table,
                                     const struct partition_info *partition, struct tiering_part *tiering,
                                     struct err *err)
{
    struct home_buckets *opened;
    TRY(home_open(buckets, table, partition, tiering, &opened, err));
    os_mutex_lock(&buckets->mutex);
    struct table_buckets *owner = map_get_i64(&buckets->tables, table->table_id);
    if (owner) {
        struct home_buckets *old = map_put_i64(&buckets->partitions, partition->partition_id, opened);
        ASSERT(!old && !owner->whole);
        vec_push(&owner->partitions, opened);
        buckets->count += (size_t)opened->count;
    }
    os_mutex_unlock(&buckets->mutex);
    if (owner)
        return OK;
    home_end(opened, BUCKET_DROP);
    return err_set(err, ERR_TABLE_NOT_EXIST, "Table %lld does not exist.", (long long)table->table_id);
}

static struct table_buckets *table_take_locked(struct buckets *buckets, int64_t table_id)
{
    struct table_buckets *table = map_remove_i64(&buckets->tables, table_id);
    if (!table)
        return NULL;
    refusals_drop(&buckets->refusals, table_id, -1);
    buckets->count -= table->whole ? (size_t)table->whole->count : 0;
    for (size_t i = 0; i < table->partitions.len; i++) {
        map_remove_i64(&buckets->partitions, table->partitions.ptr[i]->home->partition_id);
        buckets->count -= (size_t)table->partitions.ptr[i]->count;
    }
    return table;
}

enum err_code buckets_drop_table(struct buckets *buckets, int64_t table_id, struct err *err)
{
    char dir[BUCKET_DIR_MAX];
    os_mutex_lock(&buckets->mutex);
    struct table_buckets *table = table_take_locked(buckets, table_id);
    os_mutex_unlock(&buckets->mutex);
    if (!table)
        return OK;
    memcpy(dir, table->dir, sizeof dir);
    table_end(table, BUCKET_DROP);
    return os_remove_tree(buckets->env->os, dir, err);
}

static struct home_buckets *partition_take_locked(struct buckets *buckets, int64_t partition_id)
{
    struct home_buckets *opened = map_remove_i64(&buckets->partitions, partition_id);
    if (!opened)
        return NULL;
    struct table_buckets *owner = map_get_i64(&buckets->tables, opened->home->table_id);
    ASSERT(owner);
    refusals_drop(&buckets->refusals, opened->home->table_id, partition_id);
    buckets->count -= (size_t)opened->count;
    for (size_t i = 0; i < owner->partitions.len; i++) {
        if (owner->partitions.ptr[i] == opened) {
            owner->partitions.ptr[i] = owner->partitions.ptr[owner->partitions.len - 1];
            owner->partitions.len--;
            return opened;
        }
    }
    ASSERT(false);
    return NULL;
}

enum err_code buckets_drop_partition(struct buckets *buckets, int64_t partition_id, struct err *err)
{
    char dir[BUCKET_DIR_MAX];
    os_mutex_lock(&buckets->mutex);
    struct home_buckets *opened = partition_take_locked(buckets, partition_id);
    os_mutex_unlock(&buckets->mutex);
    if (!opened)
        return OK;
    memcpy(dir, opened->home->dir, strlen(opened->home->dir) + 1);
    home_end(opened, BUCKET_DROP);
    return os_remove_tree(buckets->env->os, dir, err);
}

static struct home_buckets *home_find_locked(struct buckets *buckets, int64_t table_id, int64_t partition_id)
{
    if (partition_id < 0) {
        const struct table_buckets *table = map_get_i64(&buckets->tables, table_id);
        return table ? table->whole : NULL;
    }
    struct home_buckets *partition = map_get_i64(&buckets->partitions, partition_id);
    return partition && partition->home->table_id == table_id ? partition : NULL;
}

struct bucket *buckets_find(struct buckets *buckets, int64_t table_id, int64_t partition_id, int32_t number)
{
    os_mutex_lock(&buckets->mutex);
    const struct home_buckets *home = home_find_locked(buckets, table_id, partition_id);
    bool there = home && number >= 0 && number < home->count && home->items[number];
    struct bucket *bucket = there ? bucket_ref(home->items[number]) : NULL;
    os_mutex_unlock(&buckets->mutex);
    return bucket;
}

void buckets_set_forgiving(struct buckets *buckets, bool forgiving)
{
    buckets->forgiving = forgiving;
}

void buckets_refuse(struct buckets *buckets, int64_t table_id, int64_t partition_id, int32_t number,
                    const struct err *why)
{
    struct bucket *bucket = NULL;
    os_mutex_lock(&buckets->mutex);
    struct home_buckets *home = home_find_locked(buckets, table_id, partition_id);
    if (home && number >= 0 && number < home->count) {
        bucket = home->items[number];
        home->items[number] = NULL;
    }
    os_mutex_unlock(&buckets->mutex);
    if (!bucket)
        return;
    const struct table_info *table = bucket_table(bucket);
    refuse(buckets, table, partition_id, number, why);
    table_unref(table);
    bucket_close(bucket, BUCKET_DROP);
    bucket_unref(bucket);
}

enum err_code buckets_check_refused(struct buckets *buckets, int64_t table_id, int64_t partition_id, int32_t number,
                                    struct err *err)
{
    os_mutex_lock(&buckets->mutex);
    const struct refusal *refusal = refusals_find(&buckets->refusals, table_id, partition_id, number);
    enum err_code code = refusal ? refusal->err.code : OK;
    if (refusal && err)
        *err = refusal->err;
    os_mutex_unlock(&buckets->mutex);
    return code;
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

enum err_code buckets_remove_partition_files(const struct bucket_env *env, const struct table_info *table,
                                             const struct partition_info *partition, struct err *err)
{
    char dir[BUCKET_DIR_MAX];
    TRY(bucket_home_dir(env, table, partition, dir, err));
    return os_remove_tree(env->os, dir, err);
}

/* ---- what is done from time to time ---- */

struct chosen {
    struct bucket *largest; /* with the most rows that its engine does not have */
    size_t largest_bytes;
    struct bucket *oldest; /* that keeps rows though its engine has them, for the longest time */
    int64_t oldest_ns;
};

/* Asks those whose delta is old or whose log is long. */
static void home_tick(const struct home_buckets *home, int64_t now_ns, struct chosen *chosen)
{
    struct bucket_ticked tick;
    for (int32_t i = 0; i < home->count; i++) {
        if (!home->items[i])
            continue;
        if (!bucket_has_key(home->items[i]))
            return; /* nor have the others */
        bucket_tick(home->items[i], now_ns, &tick);
        if (tick.active_bytes > chosen->largest_bytes) {
            chosen->largest = home->items[i];
            chosen->largest_bytes = tick.active_bytes;
        }
        if (tick.written_bytes > 0 && (!chosen->oldest || tick.written_ns < chosen->oldest_ns)) {
            chosen->oldest = home->items[i];
            chosen->oldest_ns = tick.written_ns;
        }
    }
}

/* Both with one count more, or NULL. */
static struct chosen tick_locked(struct buckets *buckets, int64_t now_ns)
{
    struct chosen chosen = {0};
    size_t at = 0;
    struct slice key;
    void *value;
    while (map_next(&buckets->tables, &at, &key, &value)) {
        const struct table_buckets *table = value;
        if (table->whole)
            home_tick(table->whole, now_ns, &chosen);
        for (size_t i = 0; i < table->partitions.len; i++)
            home_tick(table->partitions.ptr[i], now_ns, &chosen);
    }
    if (chosen.largest)
        bucket_ref(chosen.largest);
    if (chosen.oldest)
        bucket_ref(chosen.oldest);
    return chosen;
}

/* What a single bucket wrote may be larger than the limit that made it write, by what came until the next tick. */
static size_t written_bytes_max(const struct bucket_env *env)
{
    return env->delta_bytes_max + env->delta_bytes_max / 4;
}

void buckets_tick(struct buckets *buckets)
{
    struct bucket_env *env = buckets->env;
    os_mutex_lock(&buckets->mutex);
    int64_t now_ns = os_mono_ns(env->os);
    struct chosen chosen = tick_locked(buckets, now_ns);
    os_mutex_unlock(&buckets->mutex);
    if (chosen.largest && __atomic_load_n(&env->delta_bytes, __ATOMIC_RELAXED) > env->delta_bytes_max)
        bucket_want_state_flush(chosen.largest);
    if (chosen.oldest && (__atomic_load_n(&env->written_bytes, __ATOMIC_RELAXED) > written_bytes_max(env) ||
                          now_ns - chosen.oldest_ns > env->delta_age_ms_max * 1000000))
        bucket_forget_written(chosen.oldest);
    bucket_unref(chosen.largest);
    bucket_unref(chosen.oldest);
}

static void home_expire(const struct home_buckets *home, bool roll_active)
{
    for (int32_t i = 0; i < home->count; i++)
        if (home->items[i]) /* else it is refused */
            bucket_expire(home->items[i], roll_active);
}

void buckets_expire(struct buckets *buckets, bool roll_active)
{
    size_t at = 0;
    struct slice key;
    void *value;
    os_mutex_lock(&buckets->mutex);
    while (map_next(&buckets->tables, &at, &key, &value)) {
        const struct table_buckets *table = value;
        if (table->whole)
            home_expire(table->whole, roll_active);
        for (size_t i = 0; i < table->partitions.len; i++)
            home_expire(table->partitions.ptr[i], roll_active);
    }
    os_mutex_unlock(&buckets->mutex);
}

/* ---- whose files are there ---- */

struct search {
    struct os *os;
    const char *parent; /* of what is being listed */
    bool found;
};

static enum err_code list_below(const struct search *search, const char *name, os_dir_fn *fn, bool *found,
                                struct err *err)
{
    char path[OS_PATH_MAX];
    struct search below = {.os = search->os, .parent = path};
    if ((size_t)snprintf(path, sizeof path, "%s/%s", search->parent, name) >= sizeof path)
        return err_set(err, ERR_LIMIT, "the path is too long: %s/%s", search->parent, name);
    TRY(os_dir_list(search->os, path, fn, &below, err));
    *found |= below.found;
    return OK;
}

/* Does the name end in mark and a number? */
static bool is_numbered(const char *name, const char *mark)
{
    size_t len = strlen(name), digits = 0, mark_len = strlen(mark);
    while (digits < len && name[len - digits - 1] >= '0' && name[len - digits - 1] <= '9')
        digits++;
    return digits > 0 && len - digits > mark_len && memcmp(name + len - digits - mark_len, mark, mark_len) == 0;
}

/* In the directory of a table: a log, or a partition. */
static enum err_code look_at_bucket(void *arg, const char *name, bool is_dir, struct err *err)
{
    struct search *search = arg;
    (void)err;
    search->found |= is_dir && (slice_starts_with(slice_str(name), SLICE("log-")) || is_numbered(name, "-p"));
    return OK;
}

static enum err_code look_at_table(void *arg, const char *name, bool is_dir, struct err *err)
{
    struct search *search = arg;
    if (search->found || !is_dir || !is_numbered(name, "-"))
        return OK;
    return list_below(search, name, look_at_bucket, &search->found, err);
}

static enum err_code look_at_database(void *arg, const char *name, bool is_dir, struct err *err)
{
    struct search *search = arg;
    if (search->found || !is_dir)
        return OK;
    return list_below(search, name, look_at_table, &search->found, err);
}

enum err_code buckets_have_files(struct os *os, const char *data_dir, bool *have, struct err *err)
{
    struct search search = {.os = os, .parent = data_dir};
    TRY(os_dir_list(os, data_dir, look_at_database, &search, err));
    *have = search.found;
    return OK;
}
