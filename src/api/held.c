/* Long polls: calls that wait to be looked at again. */
#include "api/api_int.h"

static void take_out(struct api *api, struct api_held *held)
{
    os_mutex_lock(&api->mutex);
    if (held->at) {
        *held->at = held->next;
        if (held->next)
            held->next->at = held->at;
        held->at = NULL;
    }
    os_mutex_unlock(&api->mutex);
}

/* A task that is on its way keeps the call: whoever comes second sees `posted` and leaves the end to the task. */
static void woken(struct task *task)
{
    struct api_held *held = CONTAINER_OF(task, struct api_held, task);
    timer_stop(net_conn_loop(held->call->conn), &held->timer);
    take_out(held->call->api, held);
    bool time_over = api_is_stopping(held->call->api) || net_conn_closed(held->call->conn) ||
                     loop_now_ns(net_conn_loop(held->call->conn)) >= held->timer.deadline_mono_ns;
    held->again(held, time_over);
}

void api_held_wake(struct api_held *held)
{
    if (!__atomic_exchange_n(&held->posted, 1, __ATOMIC_ACQ_REL))
        loop_post(net_conn_loop(held->call->conn), &held->task);
}

static void timer_fired(struct timer *timer)
{
    api_held_wake(CONTAINER_OF(timer, struct api_held, timer));
}

void api_hold(struct api_held *held, int64_t deadline_mono_ns)
{
    struct api *api = held->call->api;
    held->task.fn = woken;
    held->timer.fn = timer_fired;
    held->posted = 0;
    timer_start(net_conn_loop(held->call->conn), &held->timer, deadline_mono_ns);
    os_mutex_lock(&api->mutex);
    held->next = api->held;
    held->at = &api->held;
    if (held->next)
        held->next->at = &held->next;
    api->held = held;
    bool over = api_is_stopping(api);
    os_mutex_unlock(&api->mutex);
    if (over)
        api_held_wake(held);
}

void api_held_wake_all(struct api *api, const struct net_conn *conn)
{
    os_mutex_lock(&api->mutex);
    for (struct api_held *held = api->held; held; held = held->next)
        if (!conn || held->call->conn == conn)
            api_held_wake(held);
    os_mutex_unlock(&api->mutex);
}
