/* Opening what is in the data directory. */
#include "server/server_int.h"

#include <stdio.h>

static enum err_code path_join(char *out, size_t out_len, const char *dir, const char *name, struct err *err)
{
    int len = snprintf(out, out_len, "%s/%s", dir, name);
    if (len < 0 || (size_t)len >= out_len)
        return err_set(err, ERR_LIMIT, "the path is too long: %s/%s", dir, name);
    return OK;
}

static enum err_code directory_take(struct server *server, struct err *err)
{
    char path[OS_PATH_MAX];
    const char *remote = conf_str(server->conf, CONF_REMOTE_DATA_DIR);
    TRY(os_mkdirs(server->os, conf_str(server->conf, CONF_DATA_DIR), err));
    TRY(os_realpath(server->os, conf_str(server->conf, CONF_DATA_DIR), server->data_dir, err));
    TRY(path_join(path, sizeof path, server->data_dir, "weir.lock", err));
    TRY(os_file_open(server->os, path, OS_READ | OS_WRITE | OS_CREATE, &server->lock, err));
    if (os_file_lock(server->lock, err) != OK)
        return err_set(err, ERR_LOCKED, "another server uses %s", server->data_dir);
    if (slice_starts_with(slice_str(remote), SLICE("file://")))
        remote += strlen("file://");
    if (*remote)
        return path_join(server->remote_dir, sizeof server->remote_dir, remote, "", err);
    return path_join(server->remote_dir, sizeof server->remote_dir, server->data_dir, "remote", err);
}

static enum err_code tables_open(struct server *server, struct err *err)
{
    struct meta_tables tables = {0};
    TRY(meta_table_list(server->meta, (struct slice){0}, &tables, err));
    enum err_code code = OK;
    buckets_set_forgiving(server->buckets, true);
    for (size_t i = 0; i < tables.len && code == OK; i++)
        code = api_table_open(server->api, tables.ptr[i], err);
    buckets_set_forgiving(server->buckets, false);
    meta_tables_deinit(&tables);
    return code;
}

/* Tables that were dropped, but whose files were still there when the server ended. */
static void dropped_remove(struct server *server)
{
    struct meta_ids ids = {0};
    struct err err;
    meta_deletes_pending(server->meta, &ids);
    for (size_t i = 0; i < ids.len; i++) {
        enum err_code code = buckets_remove_files(&server->env, ids.ptr[i], &err);
        if (code == OK)
            code = meta_delete_done(server->meta, ids.ptr[i], &err);
        if (code != OK)
            trace_warn(server->trace, "server", "drop_left_files", trace_i64("table_id", ids.ptr[i]), trace_err(&err));
    }
    vec_deinit(&ids);
}

/* The same of partitions, whose tables are still there. */
static enum err_code partition_files_remove(struct server *server, const struct partition_info *partition,
                                            struct err *err)
{
    const struct table_info *table;
    TRY(meta_table_get_by_id(server->meta, partition->table_id, &table, err));
    enum err_code code = buckets_remove_partition_files(&server->env, table, partition, err);
    table_unref(table);
    TRY(code);
    return meta_partition_delete_done(server->meta, partition->partition_id, err);
}

static void dropped_partitions_remove(struct server *server)
{
    struct arena arena = {0};
    struct partition_info *partitions;
    size_t count;
    struct err err;
    meta_partition_deletes_pending(server->meta, &arena, &partitions, &count);
    for (size_t i = 0; i < count; i++)
        if (partition_files_remove(server, &partitions[i], &err) != OK)
            trace_warn(server->trace, "server", "drop_left_files",
                       trace_i64("partition_id", partitions[i].partition_id), trace_err(&err));
    arena_deinit(&arena);
}

static struct table_cluster cluster_of(const struct conf *conf)
{
    struct table_cluster cluster = table_cluster_default();
    cluster.bucket_count_default = (int32_t)conf_i64(conf, CONF_DEFAULT_BUCKET_NUMBER);
    cluster.bucket_count_max = (int32_t)conf_i64(conf, CONF_MAX_BUCKET_NUM);
    cluster.replication_factor_default = (int32_t)conf_i64(conf, CONF_DEFAULT_REPLICATION_FACTOR);
    cluster.log_tables_allowed = conf_bool(conf, CONF_ALLOW_CREATE_LOG_TABLES);
    cluster.kv_tables_allowed = conf_bool(conf, CONF_ALLOW_CREATE_KV_TABLES);
    cluster.lake_format = conf_is(conf, CONF_DATALAKE_FORMAT, "paimon") ? LAKE_PAIMON : LAKE_NONE;
    cluster.lake_enabled = cluster.lake_format != LAKE_NONE && conf_bool(conf, CONF_DATALAKE_ENABLED);
    return cluster;
}

static struct api_scan_limits scan_limits_of(const struct conf *conf)
{
    return (struct api_scan_limits){
        .per_bucket_max = (unsigned)conf_i64(conf, CONF_KV_SCANNER_MAX_PER_BUCKET),
        .count_max = (unsigned)conf_i64(conf, CONF_KV_SCANNER_MAX_PER_SERVER),
        .idle_ms_max = conf_duration_ms(conf, CONF_KV_SCANNER_TTL),
        .batch_bytes_max = (size_t)conf_bytes(conf, CONF_KV_SCANNER_MAX_BATCH_SIZE),
    };
}

/* Without a super user nobody may grant the first right, nor any but those that were granted before. */
static void access_warn(struct server *server)
{
    if (conf_bool(server->conf, CONF_AUTHORIZER_ENABLED) && server->supers.names.len == 0)
        trace_warn(server->trace, "server", "no_super_users",
                   trace_str("what", "authorizer.enabled is on and nobody is in super.users"),
                   trace_str("do", "set super.users=User:NAME, or nobody can grant rights"));
}

static void api_make(struct server *server)
{
    struct api_config config = {
        .os = server->os,
        .trace = server->trace,
        .metrics = server->metrics,
        .meta = server->meta,
        .tiering = server->tiering,
        .buckets = server->buckets,
        .pool = server->pool,
        .cluster = cluster_of(server->conf),
        .freshness_ms_default = conf_duration_ms(server->live, CONF_DATALAKE_FRESHNESS),
        .producer_ttl_ms = conf_duration_ms(server->conf, CONF_PRODUCER_OFFSETS_TTL),
        .partition_max = (size_t)conf_i64(server->conf, CONF_MAX_PARTITION_NUM),
        .server_id = (int32_t)conf_i64(server->conf, CONF_TABLET_SERVER_ID),
        .answer_bytes_max = (size_t)conf_bytes(server->conf, CONF_MAX_REQUEST_SIZE),
        .lake_create = conf_is(server->conf, CONF_DATALAKE_FORMAT, "paimon") ? server_lake_create : NULL,
        .lake_alter = conf_is(server->conf, CONF_DATALAKE_FORMAT, "paimon") ? server_lake_alter : NULL,
        .lake_check_snapshot =
            conf_is(server->conf, CONF_DATALAKE_FORMAT, "paimon") ? server_lake_check_snapshot : NULL,
        .scans = scan_limits_of(server->conf),
        .access = {.enabled = conf_bool(server->conf, CONF_AUTHORIZER_ENABLED),
                   .ignore_case = conf_bool(server->conf, CONF_ACL_IGNORE_CASE),
                   .supers = &server->supers},
        .lake_options = &server->lake_options,
        .lake_arg = server,
        .options_alter = server_options_alter,
        .options_list = server_options_list,
        .options_arg = server,
    };
    api_create(&config, &server->api);
}

static enum err_code all_open(struct server *server, struct err *err)
{
    struct kv_options kv = kv_options_default();
    kv.cache_bytes = (uint64_t)conf_bytes(server->conf, CONF_KV_CACHE_BYTES);
    struct meta_config config = {.data_dir = server->data_dir, .remote_dir = server->remote_dir};
    TRY(buckets_have_files(server->os, server->data_dir, &config.must_exist, err));
    TRY(meta_open(server->os, &config, &server->meta, err));
    server_options_open(server);
    server->kv = kv_env_rocksdb(server->os, &kv);
    kv_env_limit(server->kv, (uint32_t)conf_i64(server->conf, CONF_KV_OPEN_MAX));
    server->tiering = tiering_create(server->os, meta_run_epoch_base(server->meta), server_tiering_wake, server);
    TRY(pool_create(server->os, "request", SERVER_POOL_THREADS_MAX, &server->pool, err));
    TRY(pool_create(server->os, "flush", SERVER_FLUSH_THREADS_MAX, &server->flush_pool, err));
    TRY(pool_create(server->os, "state", SERVER_STATE_THREADS_MAX, &server->state_pool, err));
    server_env_init(server);
    buckets_create(&server->env, &server->buckets);
    TRY(server_lake_open(server, err));
    TRY(conf_super_users(server->conf, &server->supers, err));
    access_warn(server);
    api_make(server);
    dropped_remove(server);
    dropped_partitions_remove(server);
    TRY(api_alters_finish(server->api, err));
    return tables_open(server, err);
}

enum err_code server_open_data(struct server *server, struct err *err)
{
    TRY(directory_take(server, err));
    TRY(server_reserve_give(server, err));
    enum err_code code = all_open(server, err);
    server_reserve_take(server);
    return code;
}
