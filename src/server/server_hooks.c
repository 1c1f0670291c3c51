/* What buckets ask for goes to the pools. */
#include "server/server_int.h"

struct bucket_task {
    struct task task;
    struct bucket *bucket; /* counted */
    void (*fn)(struct bucket *bucket);
};

static void bucket_task_run(struct task *task)
{
    struct bucket_task *bt = CONTAINER_OF(task, struct bucket_task, task);
    bt->fn(bt->bucket);
    bucket_unref(bt->bucket);
    mem_free(bt);
}

static void submit(struct pool *pool, struct bucket *bucket, void (*fn)(struct bucket *bucket))
{
    struct bucket_task *bt = mem_alloc(sizeof *bt);
    *bt = (struct bucket_task){.task.fn = bucket_task_run, .bucket = bucket_ref(bucket), .fn = fn};
    pool_submit(pool, &bt->task);
}

static void flush_wanted(void *arg, struct bucket *bucket)
{
    struct server *server = arg;
    submit(server->flush_pool, bucket, bucket_flush);
}

static void state_flush_wanted(void *arg, struct bucket *bucket)
{
    struct server *server = arg;
    submit(server->state_pool, bucket, bucket_state_flush);
}

void server_env_init(struct server *server)
{
    const struct conf *conf = server->conf;
    server->env = (struct bucket_env){
        .os = server->os,
        .data_dir = server->data_dir,
        .flush_async = conf_is(conf, CONF_LOG_FLUSH, "async"),
        .segment_bytes = (uint64_t)conf_bytes(conf, CONF_LOG_SEGMENT_FILE_SIZE),
        .index_interval_bytes = (uint32_t)conf_bytes(conf, CONF_LOG_INDEX_INTERVAL_SIZE),
        .delta_bytes_max = (size_t)conf_bytes(conf, CONF_KV_DELTA_BYTES),
        .replay_bytes_max = (uint64_t)conf_bytes(conf, CONF_KV_REPLAY_BYTES_MAX),
        .delta_age_ms_max = conf_duration_ms(conf, CONF_KV_FLUSH_INTERVAL),
        .writer_expiry_ms = conf_duration_ms(conf, CONF_WRITER_ID_EXPIRATION_TIME),
        .trace = server->trace,
        .kv = server->kv,
        .meta = server->meta,
        .metrics = server->metrics,
        .flush_time = metrics_take(server->metrics, METRIC_LOG_FLUSH_TIME, METRIC_NO_LABELS),
        .flush_wanted = flush_wanted,
        .state_flush_wanted = state_flush_wanted,
        .arg = server,
    };
}
