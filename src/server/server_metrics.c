/* Gauges that are looked up when somebody asks for the metrics.
 *
 * Each print takes the series of what is there, sets them, and gives back those of the print before: a table that is
 * gone takes its series along, and a server that nobody asks keeps none. */
#include "server/server_int.h"

#include <stdio.h>

struct print {
    struct server *server;
    struct metric_list taken;
    int64_t now_ms;
    size_t lake_running;
};

static void gauge(struct print *print, enum metric_id id, const struct slice *values, size_t value_count, int64_t value)
{
    struct metric *metric = metrics_take(print->server->metrics, id, values, value_count);
    metric_set(metric, value);
    if (metric)
        vec_push(&print->taken.v, metric);
}

static void list_release(struct server *server, struct metric_list *list)
{
    for (size_t i = 0; i < list->v.len; i++)
        metrics_release(server->metrics, list->v.ptr[i]);
    vec_deinit(&list->v);
}

static void process_gauges(struct print *print)
{
    const struct server *server = print->server;
    size_t buckets = buckets_count(server->buckets);
    gauge(print, METRIC_CONNECTIONS, METRIC_NO_LABELS, net_connection_count(server->net));
    gauge(print, METRIC_BUCKETS, METRIC_NO_LABELS, (int64_t)buckets);
    gauge(print, METRIC_LEADERS, METRIC_NO_LABELS, (int64_t)buckets);
    gauge(print, METRIC_DELTA_BYTES, METRIC_NO_LABELS,
          (int64_t)__atomic_load_n(&server->env.delta_bytes, __ATOMIC_RELAXED));
    gauge(print, METRIC_KV_OPEN, METRIC_NO_LABELS, kv_env_open_count(server->kv));
    gauge(print, METRIC_WRITTEN_BYTES, METRIC_NO_LABELS,
          (int64_t)__atomic_load_n(&server->env.written_bytes, __ATOMIC_RELAXED));
    gauge(print, METRIC_RESIDENT_BYTES, METRIC_NO_LABELS, (int64_t)os_resident_bytes(server->os));
    gauge(print, METRIC_CPU_TIME, METRIC_NO_LABELS, os_cpu_ns(server->os) / 1000000);
    gauge(print, METRIC_OPEN_FILES, METRIC_NO_LABELS, (int64_t)os_open_files(server->os));
}

static void lake_gauges(struct print *print, const struct table_info *table)
{
    struct tiering_status status;
    if (!tiering_status(print->server->tiering, table->table_id, &status))
        return;
    int64_t lag_ms = status.behind_since_ms ? MAX(print->now_ms - status.behind_since_ms, 0) : 0;
    print->lake_running += status.state == TIERING_RUNNING;
    gauge(print, METRIC_LAKE_LAG, METRIC_LABELS(table->database, table->name), lag_ms);
    gauge(print, METRIC_LAKE_FAILURES, METRIC_LABELS(table->database, table->name), status.failures_in_row);
    if (status.round_started_ms && status.round_finished_ms >= status.round_started_ms)
        gauge(print, METRIC_LAKE_DURATION, METRIC_LABELS(table->database, table->name),
              status.round_finished_ms - status.round_started_ms);
}

/* Not for partitioned tables: there it could be tens of thousands of series. */
static void bucket_gauges(struct print *print, const struct table_info *table)
{
    for (int32_t i = 0; i < table->descriptor->bucket_count; i++) {
        struct bucket *bucket = buckets_find(print->server->buckets, table->table_id, -1, i);
        struct bucket_offsets offsets;
        char number[16];
        if (!bucket)
            continue;
        bucket_offsets(bucket, &offsets);
        bucket_unref(bucket);
        snprintf(number, sizeof number, "%d", i);
        gauge(print, METRIC_LOG_END_OFFSET, METRIC_LABELS(table->database, table->name, slice_str(number)),
              offsets.high_watermark);
    }
}

static void table_gauges(struct print *print)
{
    struct meta_tables tables = {0};
    if (meta_table_list(print->server->meta, (struct slice){0}, &tables, NULL) != OK)
        return; /* cannot be, without a database in the question */
    gauge(print, METRIC_TABLES, METRIC_NO_LABELS, (int64_t)tables.len);
    for (size_t i = 0; i < tables.len; i++) {
        lake_gauges(print, tables.ptr[i]);
        bucket_gauges(print, tables.ptr[i]);
    }
    meta_tables_deinit(&tables);
    gauge(print, METRIC_LAKE_PENDING_TABLES, METRIC_NO_LABELS, (int64_t)tiering_pending_count(print->server->tiering));
    gauge(print, METRIC_LAKE_RUNNING_TABLES, METRIC_NO_LABELS, (int64_t)print->lake_running);
}

static void refresh(void *arg)
{
    struct server *server = arg;
    struct print print = {.server = server, .now_ms = os_wall_ms(server->os)};
    os_mutex_lock(&server->gauges_mutex);
    process_gauges(&print);
    table_gauges(&print);
    list_release(server, &server->gauges);
    server->gauges = print.taken;
    os_mutex_unlock(&server->gauges_mutex);
}

void server_metrics_init(struct server *server)
{
    server->metrics = metrics_create(server->os);
    os_mutex_init(&server->gauges_mutex, server->os);
    metrics_on_print(server->metrics, refresh, server);
}

void server_metrics_deinit(struct server *server)
{
    list_release(server, &server->gauges);
    metrics_release(server->metrics, server->env.flush_time);
    metrics_destroy(server->metrics);
    os_mutex_deinit(&server->gauges_mutex);
}
