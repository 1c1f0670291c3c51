/* Shared by the files of server; see server.h. */
#ifndef WEIR_SERVER_SERVER_INT_H
#define WEIR_SERVER_SERVER_INT_H

#include "api/api.h"
#include "http/http.h"
#include "server/server.h"

#define SERVER_LOOPS 2
#define SERVER_POOL_THREADS_MAX 16  /* for requests that may block */
#define SERVER_FLUSH_THREADS_MAX 32 /* as many syncs run side by side; more only take turns on few cores */
#define SERVER_STATE_THREADS_MAX 2  /* for writing deltas to their engines */
#define SERVER_CONNECTIONS_MAX 4000
#define SERVER_IN_WORK_MAX 500 /* requests of one connection; netty.server.max-queued-requests */
#define SERVER_STOP_MS 3000    /* answers are still written for so long */
#define SERVER_SETTLE_MS 1500  /* and logs settled, so that the next start need not read them */
#define SERVER_STALL_MS 10000  /* where memory for answers is short, who takes none of them for so long is closed */
#define SERVER_RESERVE_BYTES (4u << 20) /* of the data disk, for a start when it is full */
#define SERVER_TICK_NS 100000000

struct metric_list {
    VEC(struct metric *) v;
};

struct server {
    struct os *os;
    struct conf *conf;             /* as it was started; may be altered in live */
    struct os_mutex options_mutex; /* of live; before all other locks */
    struct conf *live;
    struct trace *trace;
    char data_dir[OS_PATH_MAX];
    char remote_dir[OS_PATH_MAX];
    struct os_file *lock;
    struct conf_listeners listeners;
    struct acl_supers supers;
    struct auth_users *users[CONF_LISTENERS_MAX];      /* NULL: PLAINTEXT */
    VEC(struct auth_users *) users_before;             /* replaced while it ran */
    struct api_listener addresses[CONF_LISTENERS_MAX]; /* what clients are told */
    uint16_t bound_ports[CONF_LISTENERS_MAX];
    struct api_listener internal; /* of the tiering service, which comes in over socket pairs */
    struct meta *meta;
    struct tiering *tiering;
    struct kv_env *kv;
    struct bucket_env env;
    struct buckets *buckets;
    struct pool *pool, *flush_pool, *state_pool;
    struct arena arena; /* of what lives as long as the server */
    struct properties lake_options;
    struct slice warehouse; /* where lake tables are */
    struct api *api;
    struct net *net;
    struct http *http;
    char http_host[CONF_HOST_MAX];
    uint16_t http_port;
    struct metrics *metrics;
    struct os_mutex gauges_mutex;
    struct metric_list gauges; /* what the last print set; held so that the series stay */
    /* The ticker: a loop for what is done from time to time. */
    struct loop *ticker;
    struct timer tick, tiering_tick, partition_tick;
    int64_t logs_expire_ns; /* when logs are looked at for old segments */
    struct os_clock_watch logs_clock;
    struct task partition_check;
    unsigned partition_checking; /* atomic: the check is queued or runs */
    struct task tick_start, tick_stop, tiering_wake;
    unsigned tiering_woken; /* atomic: the task is on its way */
    struct os_mutex ticker_mutex;
    struct os_cond ticker_ended;
    bool ticker_stopped; /* under ticker_mutex for the thread that waits for it */
};

/* ---- server_open.c ---- */

/* Data directory, its lock, metadata, all tables. */
MUST_CHECK enum err_code server_open_data(struct server *server, struct err *err);

/* ---- server_reserve.c ---- */

MUST_CHECK enum err_code server_reserve_give(struct server *server, struct err *err);
void server_reserve_take(struct server *server);

/* ---- server_options.c ---- */

/* Lays what was altered in earlier runs over the options. */
void server_options_open(struct server *server);
/* options_alter and options_list of struct api_config. */
MUST_CHECK enum err_code server_options_alter(void *arg, const struct api_option_change *changes, size_t count,
                                              struct err *err);
void server_options_list(void *arg, struct arena *arena, struct api_option **items, size_t *count);

/* ---- server_lake.c ---- */

/* The options of the lake; refuses what weir can't do. */
MUST_CHECK enum err_code server_lake_open(struct server *server, struct err *err);
/* lake_create of struct api_config. */
MUST_CHECK enum err_code server_lake_create(void *arg, struct slice database, struct slice name,
                                            const struct table_descriptor *table, struct err *err);
/* lake_alter of struct api_config. */
MUST_CHECK enum err_code server_lake_alter(void *arg, struct slice database, struct slice name,
                                           const struct table_descriptor *table, bool just_enabled, struct err *err);

/* lake_check_snapshot of struct api_config. */
MUST_CHECK enum err_code server_lake_check_snapshot(void *arg, struct slice database, struct slice name,
                                                    int64_t snapshot_id, struct err *err);

/* ---- server_tick.c ---- */

MUST_CHECK enum err_code server_ticker_start(struct server *server, struct err *err);
void server_ticker_stop(struct server *server);
/* The wake callback of the tiering schedule. */
void server_tiering_wake(void *arg);

/* ---- server_metrics.c ---- */

void server_metrics_init(struct server *server);
void server_metrics_deinit(struct server *server);

/* ---- server_hooks.c ---- */

/* The environment of the buckets, with its hooks into the pools. */
void server_env_init(struct server *server);

#endif
