#include "server/server_int.h"

static enum err_code listen_each(struct server *server, struct err *err)
{
    for (size_t i = 0; i < server->listeners.count; i++) {
        const struct conf_listener *listener = &server->listeners.list[i];
        struct api_listener *address = &server->addresses[i];
        uint16_t port;
        if (listener->sasl)
            TRY(conf_listener_users(server->live, listener, &server->users[i], err));
        address->users = server->users[i];
        address->name = listener->name;
        address->host = *listener->advertised_host ? listener->advertised_host : listener->host;
        TRY(net_listen(server->net, listener->host, listener->port, address, &port, err));
        address->port = listener->advertised_port ? listener->advertised_port : port;
        server->bound_ports[i] = port;
    }
    server->internal = server->addresses[server->listeners.internal];
    server->internal.internal = true;
    server->internal.users = NULL;
    return OK;
}

/* Who comes in at the first may alter the users of the others. */
static enum err_code listen_all(struct server *server, struct err *err)
{
    os_mutex_lock(&server->options_mutex);
    enum err_code code = listen_each(server, err);
    os_mutex_unlock(&server->options_mutex);
    return code;
}

static enum err_code net_make(struct server *server, struct err *err)
{
    struct net_options options = {
        .loop_count = SERVER_LOOPS,
        .frame_bytes_max = (size_t)conf_bytes(server->conf, CONF_MAX_REQUEST_SIZE),
        .in_work_max = SERVER_IN_WORK_MAX,
        .answer_bytes_max = (size_t)conf_bytes(server->conf, CONF_ANSWER_BYTES),
        .stall_ms = SERVER_STALL_MS,
        .connections_max = SERVER_CONNECTIONS_MAX,
        .idle_ms_max = conf_duration_ms(server->conf, CONF_MAX_IDLE_TIME),
        .metrics = server->metrics,
    };
    struct net_owner owner = api_net_owner(server->api);
    return net_create(server->os, &options, &owner, &server->net, err);
}

static enum err_code http_open(struct server *server, struct err *err)
{
    uint16_t port;
    struct slice address = slice_str(conf_str(server->conf, CONF_HTTP_LISTEN));
    if (!address.len)
        return OK;
    TRY(conf_parse_endpoint(address, server->http_host, &port, err));
    enum err_code code =
        http_start(server->os, server->http_host, port, server->metrics, &server->http, &server->http_port, err);
    if (code == ERR_PORT_TAKEN)
        return err_set(err, ERR_PORT_TAKEN, "weir.http.listen: %.*s is taken by another program", SLICE_ARGS(address));
    return code;
}

enum err_code server_start(struct os *os, struct conf *conf, struct trace *trace, struct server **out, struct err *err)
{
    enum err_code code;
    struct server *server = mem_zalloc(sizeof *server);
    server->os = os;
    server->conf = conf;
    server->trace = trace;
    os_mutex_init(&server->options_mutex, os);
    server_metrics_init(server);
    TRY_OR_FAIL(conf_listeners(conf, &server->listeners, err));
    TRY_OR_FAIL(server_open_data(server, err));
    TRY_OR_FAIL(net_make(server, err));
    TRY_OR_FAIL(server_ticker_start(server, err));
    TRY_OR_FAIL(listen_all(server, err));
    TRY_OR_FAIL(http_open(server, err));
    *out = server;
    return OK;
fail:
    server_stop(server);
    return code;
}

const char *server_data_dir(const struct server *server)
{
    return server->data_dir;
}

static void address_put(struct buf *out, const char *name, const char *host, uint16_t port)
{
    bool ipv6 = strchr(host, ':') != NULL;
    buf_printf(out, ipv6 ? "%s%s=[%s]:%u" : "%s%s=%s:%u", out->len ? " " : "", name, host, port);
}

void server_addresses(const struct server *server, struct buf *out)
{
    struct buf list = {0};
    for (size_t i = 0; i < server->listeners.count; i++)
        address_put(&list, server->listeners.list[i].name, server->listeners.list[i].host, server->bound_ports[i]);
    if (server->http)
        address_put(&list, "HTTP", server->http_host, server->http_port);
    buf_put_slice(out, buf_view(&list));
    buf_deinit(&list);
}

/* Works on whatever a start got to. The order: no new requests, what is in work ends, buckets close (which ends the
 * calls that still wait for them), then the threads that carried all this. */
void server_stop(struct server *server)
{
    if (!server)
        return;
    http_set_ready(server->http, false);
    server_ticker_stop(server);
    if (server->api)
        api_stop(server->api);
    if (server->net)
        net_stop(server->net, SERVER_STOP_MS);
    http_stop(server->http); /* its pages look at what is taken down from here on */
    pool_destroy(server->pool);
    buckets_destroy(server->buckets, os_mono_ns(server->os) + SERVER_SETTLE_MS * (int64_t)1000000);
    pool_destroy(server->state_pool);
    pool_destroy(server->flush_pool);
    net_destroy(server->net);
    loop_destroy(server->ticker);
    api_destroy(server->api);
    tiering_destroy(server->tiering);
    kv_env_destroy(server->kv);
    meta_close(server->meta);
    server_metrics_deinit(server);
    acl_supers_deinit(&server->supers);
    for (size_t i = 0; i < server->listeners.count; i++)
        auth_users_destroy(server->users[i]);
    for (size_t i = 0; i < server->users_before.len; i++)
        auth_users_destroy(server->users_before.ptr[i]);
    vec_deinit(&server->users_before);
    conf_destroy(server->live);
    os_mutex_deinit(&server->options_mutex);
    os_file_close(server->lock);
    arena_deinit(&server->arena);
    mem_free(server);
}
