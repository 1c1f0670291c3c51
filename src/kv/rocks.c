/* RocksDB behind kv.h. One instance a store, write-ahead log off, one block cache for all. */
#include "kv/kv_int.h"

#include <rocksdb/c.h>

/* Values of the C API that have no name there. */
enum { CHECKSUM_CRC32C = 1, FORMAT_VERSION = 5, INDEX_BINARY_AND_HASH = 1, TIER_BLOCK_CACHE = 1, LOG_FATAL = 4 };
enum { BLOOM_BITS_PER_KEY = 10, WRITE_BUFFER_BYTES = 4 << 20, ARENA_BLOCK_BYTES = 64 << 10 };
/* Of 4 MiB, RocksDB's own, a start on a full disk would need as much for each engine. */
enum { MANIFEST_STEP_BYTES = 16 << 10 };

struct rocks_env {
    struct kv_env head;
    rocksdb_env_t *env;
    rocksdb_cache_t *cache;
    rocksdb_options_t *options;
    rocksdb_readoptions_t *read;
    rocksdb_readoptions_t *read_cached;
    rocksdb_envoptions_t *sst;
    rocksdb_ingestexternalfileoptions_t *ingest;
};

struct rocks {
    struct kv head;
    rocksdb_t *db;
    char *run_path;
};

struct rocks_run {
    struct kv_run head;
    rocksdb_sstfilewriter_t *writer;
};

struct rocks_iter {
    struct kv_iter head;
    rocksdb_iterator_t *iter;
    bool begun;
};

static struct rocks_env *env_of(struct kv *kv)
{
    return CONTAINER_OF(kv->env, struct rocks_env, head);
}

static struct rocks *rocks_of(struct kv *kv)
{
    return CONTAINER_OF(kv, struct rocks, head);
}

/* Takes RocksDB's text, NULL for none. */
static enum err_code result(char *text, const char *what, struct err *err)
{
    if (!text)
        return OK;
    enum err_code code = strstr(text, "No space left") || strstr(text, "Disk quota") ? ERR_DISK_FULL
                         : strstr(text, "Corruption")                                ? ERR_CORRUPT
                         : strstr(text, "lock ")                                     ? ERR_LOCKED
                                                                                     : ERR_IO;
    err_set(err, code, "%s: %s", what, text);
    rocksdb_free(text);
    return code;
}

/* ---- options ---- */

static rocksdb_block_based_table_options_t *table_options(rocksdb_cache_t *cache)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_checksum(table, CHECKSUM_CRC32C); /* RocksDB 6.20 cannot read XXH3 */
    rocksdb_block_based_options_set_format_version(table, FORMAT_VERSION);
    rocksdb_block_based_options_set_data_block_index_type(table, INDEX_BINARY_AND_HASH);
    rocksdb_block_based_options_set_data_block_hash_ratio(table, 0.75);
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS_PER_KEY));
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1); /* so that the cache bounds them too */
    rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(table, 1);
    return table;
}

static rocksdb_options_t *store_options(const struct rocks_env *env, const struct kv_options *options)
{
    rocksdb_options_t *o = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = table_options(env->cache);
    rocksdb_options_set_block_based_table_factory(o, table);
    rocksdb_block_based_options_destroy(table);
    rocksdb_options_set_env(o, env->env);
    rocksdb_options_set_create_if_missing(o, 1);
    rocksdb_options_set_compression(o, rocksdb_no_compression);
    rocksdb_options_set_max_open_files(o, (int)options->open_files_max);
    rocksdb_options_set_max_background_jobs(o, (int)options->background_threads);
    rocksdb_options_set_write_buffer_size(o, WRITE_BUFFER_BYTES);
    rocksdb_options_set_arena_block_size(o, ARENA_BLOCK_BYTES);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(o, 1);
    rocksdb_options_set_skip_stats_update_on_db_open(o, 1);
    rocksdb_options_set_stats_dump_period_sec(o, 0);
    rocksdb_options_set_stats_persist_period_sec(o, 0);
    rocksdb_options_set_info_log_level(o, LOG_FATAL);
    rocksdb_options_set_keep_log_file_num(o, 1);
    rocksdb_options_set_manifest_preallocation_size(o, MANIFEST_STEP_BYTES);
    return o;
}

static void env_destroy(struct kv_env *head)
{
    struct rocks_env *env = CONTAINER_OF(head, struct rocks_env, head);
    rocksdb_ingestexternalfileoptions_destroy(env->ingest);
    rocksdb_envoptions_destroy(env->sst);
    rocksdb_readoptions_destroy(env->read_cached);
    rocksdb_readoptions_destroy(env->read);
    rocksdb_options_destroy(env->options);
    rocksdb_cache_destroy(env->cache);
    rocksdb_env_destroy(env->env);
    mem_free(env);
}

/* ---- open, close ---- */

static enum err_code open_store(struct kv_env *head, const char *dir, struct kv **kv, struct err *err)
{
    struct rocks_env *env = CONTAINER_OF(head, struct rocks_env, head);
    char *text = NULL;
    rocksdb_t *db = rocksdb_open(env->options, dir, &text);
    enum err_code code = result(text, "opening a store", err);
    bool read_only = code == ERR_DISK_FULL; /* opening writes a little; reading need not */
    if (read_only) {
        text = NULL;
        db = rocksdb_open_for_read_only(env->options, dir, 0, &text);
        if (text)
            rocksdb_free(text); /* the first reason counts */
        else
            code = OK;
    }
    TRY(code);
    struct rocks *rocks = mem_zalloc(sizeof *rocks);
    struct buf path = {0};
    buf_printf(&path, "%s/ingest.run", dir); /* a name that RocksDB takes for none of its own */
    (void)buf_cstr(&path);
    *rocks = (struct rocks){{.env = head, .read_only = read_only}, db, (char *)path.ptr};
    *kv = &rocks->head;
    return OK;
}

static void close_store(struct kv *kv)
{
    struct rocks *rocks = rocks_of(kv);
    rocksdb_cancel_all_background_work(rocks->db, 1);
    rocksdb_close(rocks->db);
    mem_free(rocks->run_path);
    mem_free(rocks);
}

/* ---- reads ---- */

static void unpin(void *held)
{
    rocksdb_pinnableslice_destroy(held);
}

static enum err_code get(struct kv *kv, struct slice key, bool cached, bool *known, struct kv_pin *pin, struct err *err)
{
    struct rocks_env *env = env_of(kv);
    char *text = NULL;
    rocksdb_pinnableslice_t *got = rocksdb_get_pinned(rocks_of(kv)->db, cached ? env->read_cached : env->read,
                                                      (const char *)key.ptr, key.len, &text);
    if (cached && text && strstr(text, "incomplete")) {
        rocksdb_free(text);
        *known = false;
        return OK;
    }
    TRY(result(text, "look-up", err));
    if (!got)
        return OK;
    size_t len;
    const char *value = rocksdb_pinnableslice_value(got, &len);
    pin->found = true;
    pin->value = slice_of(value, len);
    pin->held = got;
    return OK;
}

static enum err_code iter_open(struct kv *kv, struct slice from, struct kv_iter **iter, struct err *err)
{
    (void)err;
    struct rocks_iter *opened = mem_zalloc(sizeof *opened);
    opened->iter = rocksdb_create_iterator(rocks_of(kv)->db, env_of(kv)->read);
    rocksdb_iter_seek(opened->iter, (const char *)from.ptr, from.len);
    *iter = &opened->head;
    return OK;
}

static enum err_code iter_next(struct kv_iter *head, bool *more, struct slice *key, struct slice *value,
                               struct err *err)
{
    struct rocks_iter *iter = CONTAINER_OF(head, struct rocks_iter, head);
    char *text = NULL;
    if (iter->begun && rocksdb_iter_valid(iter->iter))
        rocksdb_iter_next(iter->iter);
    iter->begun = true;
    *more = rocksdb_iter_valid(iter->iter);
    if (!*more) {
        rocksdb_iter_get_error(iter->iter, &text);
        return result(text, "scan", err);
    }
    const char *ptr = rocksdb_iter_key(iter->iter, &key->len);
    key->ptr = (const uint8_t *)ptr;
    ptr = rocksdb_iter_value(iter->iter, &value->len);
    value->ptr = (const uint8_t *)ptr;
    return OK;
}

static void iter_close(struct kv_iter *head)
{
    struct rocks_iter *iter = CONTAINER_OF(head, struct rocks_iter, head);
    rocksdb_iter_destroy(iter->iter);
    mem_free(iter);
}

static uint64_t property(struct kv *kv, const char *name)
{
    uint64_t value = 0;
    return rocksdb_property_int(rocks_of(kv)->db, name, &value) == 0 ? value : 0;
}

static uint64_t bytes(struct kv *kv)
{
    return property(kv, "rocksdb.total-sst-files-size") + property(kv, "rocksdb.cur-size-all-mem-tables");
}

static uint64_t entries(struct kv *kv)
{
    return property(kv, "rocksdb.estimate-num-keys");
}

/* ---- writes ---- */

static enum err_code run_begin(struct kv *kv, struct kv_run **run, struct err *err)
{
    char *text = NULL;
    rocksdb_sstfilewriter_t *writer = rocksdb_sstfilewriter_create(env_of(kv)->sst, env_of(kv)->options);
    rocksdb_sstfilewriter_open(writer, rocks_of(kv)->run_path, &text);
    enum err_code code = result(text, "a new run", err);
    if (code != OK) {
        rocksdb_sstfilewriter_destroy(writer);
        return code;
    }
    struct rocks_run *begun = mem_zalloc(sizeof *begun);
    begun->writer = writer;
    *run = &begun->head;
    return OK;
}

static enum err_code run_add(struct kv_run *head, const struct kv_change *change, struct err *err)
{
    rocksdb_sstfilewriter_t *writer = CONTAINER_OF(head, struct rocks_run, head)->writer;
    const char *key = (const char *)change->key.ptr;
    char *text = NULL;
    if (change->is_delete)
        rocksdb_sstfilewriter_delete(writer, key, change->key.len, &text);
    else
        rocksdb_sstfilewriter_put(writer, key, change->key.len, (const char *)change->value.ptr, change->value.len,
                                  &text);
    return result(text, "a run's entry", err);
}

#define WARM_BYTES (1u << 20)

/* The writer drops its file from the page cache, and the first reads of each block would wait for the disk. They are
 * the newest rows, so they are read back at once. What fails here only makes later reads slower. */
static void run_warm(struct os *os, const char *path)
{
    struct os_file *file;
    if (os_file_open(os, path, OS_READ, &file, NULL) != OK)
        return;
    uint8_t *bytes = mem_alloc(WARM_BYTES);
    size_t got = WARM_BYTES;
    for (uint64_t at = 0; got == WARM_BYTES; at += got)
        if (os_file_read(file, at, bytes, WARM_BYTES, &got, NULL) != OK)
            break;
    mem_free(bytes);
    os_file_close(file);
}

static enum err_code run_finish(struct kv_run *head, struct err *err)
{
    struct rocks *rocks = rocks_of(head->kv);
    char *text = NULL;
    rocksdb_sstfilewriter_finish(CONTAINER_OF(head, struct rocks_run, head)->writer, &text);
    TRY(result(text, "the end of a run", err));
    run_warm(head->kv->env->os, rocks->run_path);
    const char *files[] = {rocks->run_path};
    rocksdb_ingest_external_file(rocks->db, files, 1, env_of(head->kv)->ingest, &text);
    return result(text, "taking in a run", err);
}

static void run_free(struct kv_run *head)
{
    struct rocks_run *run = CONTAINER_OF(head, struct rocks_run, head);
    rocksdb_sstfilewriter_destroy(run->writer);
    (void)!os_unlink(head->kv->env->os, rocks_of(head->kv)->run_path, NULL); /* gone already if it was taken in */
    mem_free(run);
}

static const struct kv_ops ops = {
    .env_destroy = env_destroy,
    .open = open_store,
    .close = close_store,
    .unpin = unpin,
    .get = get,
    .iter_open = iter_open,
    .iter_next = iter_next,
    .iter_close = iter_close,
    .bytes = bytes,
    .entries = entries,
    .run_begin = run_begin,
    .run_add = run_add,
    .run_finish = run_finish,
    .run_free = run_free,
};

struct kv_env *kv_env_rocksdb(struct os *os, const struct kv_options *options)
{
    struct rocks_env *env = mem_zalloc(sizeof *env);
    env->env = rocksdb_create_default_env();
    rocksdb_env_set_background_threads(env->env, (int)options->background_threads);
    rocksdb_env_set_high_priority_background_threads(env->env, 1);
    env->cache = rocksdb_cache_create_lru(options->cache_bytes);
    env->options = store_options(env, options);
    env->read = rocksdb_readoptions_create();
    env->read_cached = rocksdb_readoptions_create();
    rocksdb_readoptions_set_read_tier(env->read_cached, TIER_BLOCK_CACHE);
    env->sst = rocksdb_envoptions_create();
    env->ingest = rocksdb_ingestexternalfileoptions_create();
    rocksdb_ingestexternalfileoptions_set_move_files(env->ingest, 1);
    env->head = (struct kv_env){.ops = &ops, .os = os};
    kv_slots_init(&env->head.slots, os);
    return &env->head;
}
