#include "server/server_int.h"

static enum err_code listen_all(struct server *server, struct err *err)
{
    for (size_t i = 0; i < server->listeners.count; i++) {
        const struct conf_listener *listener = &server->listeners.list[i];
        struct api_listener *address = &server->addresses[i];
        uint16_t port;
        TRY(net_listen(server->net, listener->host, listener->port, address, &port, err));
        address->name = listener->name;
        address->host = *listener->advertised_host ? listener->advertised_host : listener->host;
        address->port = listener->advertised_port ? listener->advertised_port : port;
        server->bound_ports[i] = port;
    }
    server->internal = server->addresses[0];
    server->internal.internal = true;
    return OK;
}

static enum err_code net_make(struct server *server, struct err *err)
{
    struct net_options options = {
        .loop_count = SERVER_LOOPS,
        .frame_bytes_max = (size_t)conf_bytes(server->conf, CONF_MAX_REQUEST_SIZE),
        .in_work_max = SERVER_IN_WORK_MAX,
        .connections_max = SERVER_CONNECTIONS_MAX,
        .idle_ms_max = conf_duration_ms(server->conf, CONF_MAX_IDLE_TIME),
    };
    struct net_owner owner = api_net_owner(server->api);
    return net_create(server->os, &options, &owner, &server->net, err);
}

enum err_code server_start(struct os *os, struct conf *conf, struct trace *trace, struct server **out, struct err *err)
{
    enum err_code code;
    struct server *server = mem_zalloc(sizeof *server);
    server->os = os;
    server->conf = conf;
    server->trace = trace;
    TRY_OR_FAIL(conf_listeners(conf, &server->listeners, err));
    TRY_OR_FAIL(server_open_data(server, err));
    TRY_OR_FAIL(net_make(server, err));
    TRY_OR_FAIL(server_ticker_start(server, err));
    TRY_OR_FAIL(listen_all(server, err));
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

void server_addresses(const struct server *server, struct buf *out)
{
    for (size_t i = 0; i < server->listeners.count; i++) {
        const struct conf_listener *listener = &server->listeners.list[i];
        bool ipv6 = strchr(listener->host, ':') != NULL;
        buf_printf(out, ipv6 ? "%s%s=[%s]:%u" : "%s%s=%s:%u", i ? " " : "", listener->name, listener->host,
                   server->bound_ports[i]);
    }
}

/* Works on whatever a start got to. The order: no new requests, what is in work ends, buckets close (which ends the
 * calls that still wait for them), then the threads that carried all this. */
void server_stop(struct server *server)
{
    if (!server)
        return;
    server_ticker_stop(server);
    if (server->api)
        api_stop(server->api);
    if (server->net)
        net_stop(server->net, SERVER_STOP_MS);
    pool_destroy(server->pool);
    buckets_destroy(server->buckets);
    pool_destroy(server->state_pool);
    pool_destroy(server->flush_pool);
    net_destroy(server->net);
    loop_destroy(server->ticker);
    api_destroy(server->api);
    tiering_destroy(server->tiering);
    kv_env_destroy(server->kv);
    meta_close(server->meta);
    os_file_close(server->lock);
    arena_deinit(&server->arena);
    mem_free(server);
}
