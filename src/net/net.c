#include "net/net_int.h"

bool net_stopping(const struct net *net)
{
    return __atomic_load_n(&net->stopping, __ATOMIC_RELAXED);
}

bool net_conn_opened(struct net *net)
{
    os_mutex_lock(&net->mutex);
    bool room = !net_stopping(net) && net->conn_count < net->options.connections_max;
    __atomic_store_n(&net->conn_count, net->conn_count + room, __ATOMIC_RELAXED);
    os_mutex_unlock(&net->mutex);
    return room;
}

void net_conn_gone(struct net *net)
{
    os_mutex_lock(&net->mutex);
    ASSERT(net->conn_count > 0);
    __atomic_store_n(&net->conn_count, net->conn_count - 1, __ATOMIC_RELAXED);
    os_cond_broadcast(&net->drained);
    os_mutex_unlock(&net->mutex);
}

unsigned net_connection_count(const struct net *net)
{
    return __atomic_load_n(&net->conn_count, __ATOMIC_RELAXED);
}

static void accept_some(struct watch *watch, unsigned ready)
{
    struct listener *listener = CONTAINER_OF(watch, struct listener, watch);
    (void)ready;
    for (int i = 0; i < 64; i++) {
        struct os_socket *socket = NULL;
        char peer[64];
        /* A failed accept concerns one peer that is gone again, or descriptors that ran out: the next round tries. */
        if (os_accept(watch->socket, &socket, peer, NULL) != OK || !socket)
            return;
        conn_start(listener->net, socket, listener->tag, peer);
    }
}

struct listener_task {
    struct task task;
    struct listener *listener;
    struct os_mutex mutex;
    struct os_cond done;
    bool is_done;
    enum err_code code;
    struct err *err;
};

static void listener_task_done(struct listener_task *lt)
{
    os_mutex_lock(&lt->mutex);
    lt->is_done = true;
    os_cond_signal(&lt->done);
    os_mutex_unlock(&lt->mutex);
}

static void listener_watch(struct task *task)
{
    struct listener_task *lt = CONTAINER_OF(task, struct listener_task, task);
    lt->code = watch_start(lt->listener->net->loops[0].loop, &lt->listener->watch, OS_READABLE, lt->err);
    listener_task_done(lt);
}

static void listener_unwatch(struct task *task)
{
    struct listener_task *lt = CONTAINER_OF(task, struct listener_task, task);
    watch_stop(lt->listener->net->loops[0].loop, &lt->listener->watch);
    listener_task_done(lt);
}

/* Runs fn on the loop that owns the listeners and waits for it. */
static enum err_code listener_call(struct listener *listener, void (*fn)(struct task *task), struct err *err)
{
    struct net *net = listener->net;
    struct listener_task lt = {.task.fn = fn, .listener = listener, .err = err};
    os_mutex_init(&lt.mutex, net->os);
    os_cond_init(&lt.done, net->os);
    loop_post(net->loops[0].loop, &lt.task);
    os_mutex_lock(&lt.mutex);
    while (!lt.is_done)
        os_cond_wait(&lt.done, &lt.mutex);
    os_mutex_unlock(&lt.mutex);
    os_cond_deinit(&lt.done);
    os_mutex_deinit(&lt.mutex);
    return lt.code;
}

enum err_code net_listen(struct net *net, const char *host, uint16_t port, void *tag, uint16_t *port_taken,
                         struct err *err)
{
    struct os_socket *socket;
    TRY(os_listen(net->os, host, port, &socket, port_taken, err));
    struct listener *listener = mem_zalloc(sizeof *listener);
    *listener = (struct listener){.net = net, .watch = {.socket = socket, .fn = accept_some}, .tag = tag};
    enum err_code code = listener_call(listener, listener_watch, err);
    if (code != OK) {
        os_socket_close(socket);
        mem_free(listener);
        return code;
    }
    vec_push(&net->listeners, listener);
    return OK;
}

enum err_code net_adopt(struct net *net, struct os_socket *socket, void *tag, struct err *err)
{
    if (net_stopping(net))
        return err_set(err, ERR_SHUTTING_DOWN, "no new connections: the server is stopping");
    conn_start(net, socket, tag, "internal");
    return OK;
}

enum err_code net_create(struct os *os, const struct net_options *options, const struct net_owner *owner,
                         struct net **out, struct err *err)
{
    ASSERT(options->loop_count > 0 && options->in_work_max > 0 && options->connections_max > 0 &&
           options->answer_bytes_max > 0);
    enum err_code code;
    struct net *net = mem_zalloc(sizeof *net);
    net->os = os;
    net->options = *options;
    net->owner = *owner;
    os_mutex_init(&net->mutex, os);
    os_cond_init(&net->drained, os);
    net->bytes_in = metrics_take(options->metrics, METRIC_BYTES_IN, METRIC_NO_LABELS);
    net->bytes_out = metrics_take(options->metrics, METRIC_BYTES_OUT, METRIC_NO_LABELS);
    net->loops = mem_zalloc(options->loop_count * sizeof *net->loops);
    for (unsigned i = 0; i < options->loop_count; i++) {
        net->loops[i].net = net;
        TRY_OR_FAIL(loop_create(os, "loop", &net->loops[i].loop, err));
    }
    *out = net;
    return OK;
fail:
    net_destroy(net);
    return code;
}

/* A task for the connections of one loop; frees itself. */
struct loop_task {
    struct task task;
    struct net_loop *home;
    void (*fn)(struct net_loop *home);
};

static void loop_task_run(struct task *task)
{
    struct loop_task *lt = CONTAINER_OF(task, struct loop_task, task);
    lt->fn(lt->home);
    mem_free(lt);
}

void net_on_each_loop(struct net *net, void (*fn)(struct net_loop *home))
{
    for (unsigned i = 0; i < net->options.loop_count; i++) {
        struct loop_task *lt = mem_alloc(sizeof *lt);
        *lt = (struct loop_task){.task.fn = loop_task_run, .home = &net->loops[i], .fn = fn};
        loop_post(net->loops[i].loop, &lt->task);
    }
}

static void drain_all(struct net_loop *home)
{
    for (struct net_conn *conn = home->conns, *next; conn; conn = next) {
        next = conn->next;
        conn_drain(conn);
    }
}

static void close_all(struct net_loop *home)
{
    while (home->conns)
        net_conn_close(home->conns);
}

static void wait_drained(struct net *net, int64_t deadline_ns)
{
    os_mutex_lock(&net->mutex);
    while (net->conn_count > 0 && os_cond_wait_until(&net->drained, &net->mutex, deadline_ns))
        ;
    os_mutex_unlock(&net->mutex);
}

void net_stop(struct net *net, int64_t wait_ms)
{
    os_mutex_lock(&net->mutex);
    __atomic_store_n(&net->stopping, true, __ATOMIC_RELAXED);
    os_mutex_unlock(&net->mutex);
    for (size_t i = 0; i < net->listeners.len; i++) {
        struct listener *listener = net->listeners.ptr[i];
        enum err_code code = listener_call(listener, listener_unwatch, NULL);
        ASSERT(code == OK);
        os_socket_close(listener->watch.socket);
        mem_free(listener);
    }
    vec_reset(&net->listeners);
    net_on_each_loop(net, drain_all);
    wait_drained(net, os_mono_ns(net->os) + wait_ms * 1000000);
    net_on_each_loop(net, close_all);
    wait_drained(net, INT64_MAX);
}

void net_destroy(struct net *net)
{
    if (!net)
        return;
    ASSERT(net->conn_count == 0 && net->listeners.len == 0);
    for (unsigned i = 0; i < net->options.loop_count; i++)
        loop_destroy(net->loops[i].loop);
    mem_free(net->loops);
    metrics_release(net->options.metrics, net->bytes_in);
    metrics_release(net->options.metrics, net->bytes_out);
    vec_deinit(&net->listeners);
    os_cond_deinit(&net->drained);
    os_mutex_deinit(&net->mutex);
    mem_free(net);
}
