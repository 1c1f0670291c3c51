/* What is done from time to time: deltas that are due for their engine, tables that are due for the lake, partitions
 * that come and go by time. */
#include "server/server_int.h"

/* What is old by a clock that was just set is not dropped at once: it may be set right until the next look. */
static void expire_logs(struct server *server)
{
    int64_t now = loop_now_ns(server->ticker);
    if (now < server->logs_expire_ns)
        return;
    server->logs_expire_ns = now + conf_duration_ms(server->conf, CONF_LOG_RETENTION_CHECK_INTERVAL) * 1000000;
    int64_t jump_ms = os_clock_jump_ms(server->os, &server->logs_clock);
    os_clock_believe(server->os, &server->logs_clock);
    if (jump_ms) {
        trace_warn(
            server->trace, "server", "clock_jumped", trace_i64("ms", jump_ms),
            trace_str("remedy", "old segments go from the next check on; set the clock before it if it is wrong"));
        return;
    }
    buckets_expire(server->buckets, conf_bool(server->conf, CONF_LOG_RETENTION_ROLL_ACTIVE));
}

static void tick(struct timer *timer)
{
    struct server *server = CONTAINER_OF(timer, struct server, tick);
    buckets_tick(server->buckets);
    expire_logs(server);
    api_tick(server->api, server->net);
    metrics_tick(server->metrics);
    timer_start(server->ticker, timer, loop_now_ns(server->ticker) + SERVER_TICK_NS);
}

static void tiering_look(struct server *server)
{
    int64_t next = tiering_tick(server->tiering);
    if (tiering_pending_count(server->tiering) > 0)
        api_tiering_due(server->api);
    if (server->ticker_stopped)
        return;
    if (next == INT64_MAX)
        timer_stop(server->ticker, &server->tiering_tick);
    else
        timer_start(server->ticker, &server->tiering_tick, next);
}

static void tiering_tick_fired(struct timer *timer)
{
    tiering_look(CONTAINER_OF(timer, struct server, tiering_tick));
}

static void tiering_woken(struct task *task)
{
    struct server *server = CONTAINER_OF(task, struct server, tiering_wake);
    __atomic_store_n(&server->tiering_woken, 0, __ATOMIC_RELEASE);
    tiering_look(server);
}

void server_tiering_wake(void *arg)
{
    struct server *server = arg;
    /* Before the ticker is there the schedule is only being filled; its start looks at it. */
    struct loop *ticker = __atomic_load_n(&server->ticker, __ATOMIC_ACQUIRE);
    if (ticker && !__atomic_exchange_n(&server->tiering_woken, 1, __ATOMIC_ACQ_REL))
        loop_post(ticker, &server->tiering_wake);
}

static void partition_check_run(struct task *task)
{
    struct server *server = CONTAINER_OF(task, struct server, partition_check);
    api_time_partitions_check(server->api);
    __atomic_store_n(&server->partition_checking, 0, __ATOMIC_RELEASE);
}

static void partition_tick(struct timer *timer)
{
    struct server *server = CONTAINER_OF(timer, struct server, partition_tick);
    int64_t interval_ms = conf_duration_ms(server->conf, CONF_AUTO_PARTITION_CHECK_INTERVAL);
    if (!__atomic_exchange_n(&server->partition_checking, 1, __ATOMIC_ACQ_REL))
        pool_submit(server->pool, &server->partition_check);
    timer_start(server->ticker, timer, loop_now_ns(server->ticker) + interval_ms * 1000000);
}

static void ticker_begin(struct task *task)
{
    struct server *server = CONTAINER_OF(task, struct server, tick_start);
    timer_start(server->ticker, &server->tick, loop_now_ns(server->ticker) + SERVER_TICK_NS);
    tiering_look(server);
    partition_tick(&server->partition_tick);
}

static void ticker_end(struct task *task)
{
    struct server *server = CONTAINER_OF(task, struct server, tick_stop);
    timer_stop(server->ticker, &server->tick);
    timer_stop(server->ticker, &server->tiering_tick);
    timer_stop(server->ticker, &server->partition_tick);
    os_mutex_lock(&server->ticker_mutex);
    server->ticker_stopped = true;
    os_cond_signal(&server->ticker_ended);
    os_mutex_unlock(&server->ticker_mutex);
}

enum err_code server_ticker_start(struct server *server, struct err *err)
{
    struct loop *ticker;
    os_mutex_init(&server->ticker_mutex, server->os);
    os_cond_init(&server->ticker_ended, server->os);
    server->tick.fn = tick;
    server->tiering_tick.fn = tiering_tick_fired;
    server->partition_tick.fn = partition_tick;
    server->partition_check.fn = partition_check_run;
    server->tick_start.fn = ticker_begin;
    server->tick_stop.fn = ticker_end;
    server->tiering_wake.fn = tiering_woken;
    TRY(loop_create(server->os, "ticker", &ticker, err));
    __atomic_store_n(&server->ticker, ticker, __ATOMIC_RELEASE);
    loop_post(ticker, &server->tick_start);
    return OK;
}

/* The loop stays until nobody wakes it any more; only its timers end here, and have ended when this returns: what they
 * look at is taken down next. */
void server_ticker_stop(struct server *server)
{
    if (!server->ticker)
        return;
    loop_post(server->ticker, &server->tick_stop);
    os_mutex_lock(&server->ticker_mutex);
    while (!server->ticker_stopped)
        os_cond_wait(&server->ticker_ended, &server->ticker_mutex);
    os_mutex_unlock(&server->ticker_mutex);
    os_cond_deinit(&server->ticker_ended);
    os_mutex_deinit(&server->ticker_mutex);
}
