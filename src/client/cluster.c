/* The nodes of a cluster: who they are, the connection to each, and whom to ask. */
#include "client/client_int.h"

#include <stdio.h>

void client_pump(struct client *client, int64_t deadline_ns)
{
    struct os_event events[CLIENT_EVENTS_MAX];
    size_t count = os_poller_wait(client->poller, deadline_ns, events, CLIENT_EVENTS_MAX);
    for (size_t i = 0; i < count; i++)
        conn_event(events[i].tag, events[i].ready);
}

void client_cancel(struct client *client, bool on)
{
    __atomic_store_n(&client->cancelled, on, __ATOMIC_RELEASE);
    os_poller_wake(client->poller);
}

enum err_code client_check_cancelled(const struct client *client, struct err *err)
{
    if (__atomic_load_n(&client->cancelled, __ATOMIC_ACQUIRE))
        return err_set(err, ERR_SHUTTING_DOWN, "the wait for an answer was ended");
    return OK;
}

int64_t client_limit(const struct client *client)
{
    return MIN(os_mono_ns(client->os) + client->timeout_ns, client->deadline_ns);
}

bool client_expired(const struct client *client)
{
    return os_mono_ns(client->os) >= client->deadline_ns;
}

bool client_backoff(struct client *client, int64_t *backoff_ns, int64_t deadline_ns)
{
    *backoff_ns = *backoff_ns ? MIN(*backoff_ns * 2, CLIENT_BACKOFF_NS_MAX) : CLIENT_BACKOFF_NS;
    int64_t until = os_mono_ns(client->os) + *backoff_ns;
    if (until >= deadline_ns)
        return false;
    while (os_mono_ns(client->os) < until && client_check_cancelled(client, NULL) == OK)
        client_pump(client, until);
    return client_check_cancelled(client, NULL) == OK;
}

/* ---- nodes ---- */

static enum err_code node_find(struct client *client, struct slice host, int32_t port, struct node **out,
                               struct err *err)
{
    for (size_t i = 0; i < client->nodes.len; i++)
        if (slice_is(host, client->nodes.ptr[i]->host) && client->nodes.ptr[i]->port == port) {
            *out = client->nodes.ptr[i];
            return OK;
        }
    if (host.len >= sizeof client->nodes.ptr[0]->host || port < 1 || port > UINT16_MAX ||
        memchr(host.ptr ? host.ptr : (const uint8_t *)"", 0, host.len))
        return err_set(err, ERR_CORRUPT_MESSAGE, "the metadata name a server that has no address");
    if (client->nodes.len == CLIENT_NODES_MAX)
        return err_set(err, ERR_LIMIT, "more than %d servers", CLIENT_NODES_MAX);
    struct node *node = mem_zalloc(sizeof *node);
    memcpy(node->host, host.ptr, host.len);
    node->port = (uint16_t)port;
    vec_push(&client->nodes, node);
    *out = node;
    return OK;
}

enum err_code client_node_conn(struct client *client, struct node *node, struct conn **out, struct err *err)
{
    if (node->conn && !node->conn->closed) {
        *out = node->conn;
        return OK;
    }
    if (client->adopted) {
        if (err)
            *err = node->conn->why;
        return node->conn->why.code;
    }
    char name[sizeof node->conn->name];
    snprintf(name, sizeof name, strchr(node->host, ':') ? "[%s]:%u" : "%s:%u", node->host, node->port);
    int64_t deadline = MIN(client_limit(client), os_mono_ns(client->os) + CLIENT_CONNECT_MS * INT64_C(1000000));
    struct os_socket *socket = NULL;
    TRY(os_connect(client->os, node->host, node->port, deadline, &socket, err));
    TRY(conn_open(client, socket, name, deadline, &node->conn, err));
    *out = node->conn;
    return OK;
}

struct node *client_tablet(struct client *client, int32_t id)
{
    for (size_t i = 0; i < client->tablets.len; i++)
        if (client->tablets.ptr[i].id == id)
            return client->tablets.ptr[i].node;
    return NULL;
}

static enum err_code learn_node(struct client *client, const struct wire_pb_server_node *theirs, struct node **node,
                                struct err *err)
{
    if (client->adopted) {
        *node = client->nodes.ptr[0];
        return OK;
    }
    return node_find(client, theirs->host, theirs->port, node, err);
}

static enum err_code learn_nodes(struct client *client, const struct wire_metadata_response *response, struct err *err)
{
    if (response->tablet_servers_count == 0)
        return err_set(err, ERR_LEADER_NOT_AVAILABLE_EXCEPTION, "the cluster has no tablet server yet");
    client->coordinator = NULL;
    if (response->coordinator_server)
        TRY(learn_node(client, response->coordinator_server, &client->coordinator, err));
    vec_reset(&client->tablets);
    for (size_t i = 0; i < response->tablet_servers_count; i++) {
        struct tablet tablet = {.id = response->tablet_servers[i].node_id};
        TRY(learn_node(client, &response->tablet_servers[i], &tablet.node, err));
        vec_push(&client->tablets, tablet);
    }
    return OK;
}

/* Any tablet server that answers the door, else the bootstrap server, which may be a coordinator. */
static enum err_code any_conn(struct client *client, bool bootstrap, struct conn **conn, struct err *err)
{
    struct err last = {0};
    for (size_t i = 0; i < client->tablets.len; i++) {
        struct node *node = client->tablets.ptr[client->turn++ % client->tablets.len].node;
        if (client_node_conn(client, node, conn, &last) == OK)
            return OK;
    }
    if (bootstrap && client_node_conn(client, client->nodes.ptr[0], conn, &last) == OK)
        return OK;
    if (last.code == OK)
        err_set(&last, ERR_LEADER_NOT_AVAILABLE_EXCEPTION, "the cluster has no tablet server yet");
    if (err)
        *err = last;
    return last.code;
}

enum err_code client_metadata(struct client *client, const struct client_path *path, int64_t *partition_ids,
                              size_t partition_count, struct arena *arena, struct wire_metadata_response *response,
                              struct err *err)
{
    for (int attempt = 0;; attempt++) {
        struct conn *conn;
        struct wire_pb_table_path table = {0};
        struct wire_metadata_request request = {
            .table_path = &table, .partitions_id = partition_ids, .partitions_id_count = partition_count};
        if (path) {
            table = (struct wire_pb_table_path){path->database, path->table};
            request.table_path_count = 1;
        }
        TRY(any_conn(client, true, &conn, err));
        enum err_code code =
            call_exchange(conn, WIRE_GET_METADATA, &request, client_limit(client), arena, response, err);
        if (code == ERR_CLOSED && attempt < 2)
            continue;
        if (code != OK)
            return code;
        return learn_nodes(client, response, err);
    }
}

static enum err_code refresh_nodes(struct client *client, struct err *err)
{
    struct arena arena = {0};
    struct wire_metadata_response response;
    enum err_code code = client_metadata(client, NULL, NULL, 0, &arena, &response, err);
    arena_deinit(&arena);
    return code;
}

static enum err_code role_conn(struct client *client, enum client_role role, struct conn **conn, struct err *err)
{
    client_pump(client, 0); /* hear of connections that were closed meanwhile */
    if (role == CLIENT_TABLET) {
        if (any_conn(client, false, conn, NULL) == OK)
            return OK;
        TRY(refresh_nodes(client, err));
        return any_conn(client, false, conn, err);
    }
    if (client->coordinator && client_node_conn(client, client->coordinator, conn, NULL) == OK)
        return OK;
    TRY(refresh_nodes(client, err));
    if (!client->coordinator)
        return err_set(err, ERR_LEADER_NOT_AVAILABLE_EXCEPTION, "the cluster has no coordinator now");
    return client_node_conn(client, client->coordinator, conn, err);
}

/* ---- calls that are for no bucket ---- */

static enum err_code call_role(struct client *client, enum client_role role, enum wire_key key, bool again,
                               void *request, int64_t extra_ns, struct arena *arena, void *response, struct err *err)
{
    for (int attempt = 0;; attempt++) {
        struct conn *conn;
        TRY(role_conn(client, role, &conn, err));
        int64_t deadline = MIN(os_mono_ns(client->os) + client->timeout_ns + extra_ns, client->deadline_ns);
        enum err_code code = call_exchange(conn, key, request, deadline, arena, response, err);
        bool moved = code == ERR_NOT_COORDINATOR_LEADER_EXCEPTION;
        if (code == OK || attempt == 2 || client->adopted || !(moved || (code == ERR_CLOSED && again)))
            return code;
        if (moved)
            TRY(refresh_nodes(client, err));
    }
}

enum err_code client_call(struct client *client, enum client_role role, enum wire_key key, bool again, void *request,
                          struct arena *arena, void *response, struct err *err)
{
    return call_role(client, role, key, again, request, 0, arena, response, err);
}

enum err_code client_tiering_heartbeat(struct client *client, struct wire_lake_tiering_heartbeat_request *request,
                                       struct arena *arena, struct wire_lake_tiering_heartbeat_response *response,
                                       struct err *err)
{
    int64_t held_ns = request->has_max_wait_ms ? MAX(request->max_wait_ms, 0) * 1000000 : 0;
    return call_role(client, CLIENT_COORDINATOR, WIRE_LAKE_TIERING_HEARTBEAT, false, request, held_ns, arena, response,
                     err);
}

enum err_code client_serves(struct client *client, enum client_role role, enum wire_key key, bool *serves,
                            struct err *err)
{
    struct conn *conn;
    TRY(role_conn(client, role, &conn, err));
    *serves = conn_serves(conn, key);
    return OK;
}

enum err_code client_entry_error(int32_t wire, bool has_text, struct slice text, struct err *err)
{
    enum err_code code = err_from_wire(wire);
    if (code == OK)
        return err_set(err, ERR_CORRUPT_MESSAGE, "an answer with an error of code 0");
    return err_set(err, code, "%.*s", has_text && text.len ? (int)MIN(text.len, 200) : (int)strlen(err_text(code)),
                   has_text && text.len ? (const char *)text.ptr : err_text(code));
}

/* ---- open, close ---- */

static enum err_code adopt(struct client *client, struct os_socket *socket, struct err *err)
{
    struct node *node = mem_zalloc(sizeof *node);
    vec_push(&client->nodes, node);
    client->adopted = true;
    return conn_open(client, socket, "the server", client_limit(client), &node->conn, err);
}

/* No authorization id, as Fluss's clients have it. */
static void login_make(struct client *client, const struct client_options *options)
{
    buf_put_u8(&client->login, 0);
    buf_put_slice(&client->login, slice_str(options->user));
    buf_put_u8(&client->login, 0);
    buf_put_slice(&client->login, slice_str(options->password ? options->password : ""));
}

enum err_code client_open(const struct client_options *options, struct client **out, struct err *err)
{
    enum err_code code;
    struct node *node;
    struct client *client = mem_zalloc(sizeof *client);
    client->os = options->os;
    client->timeout_ns = (options->timeout_ms ? options->timeout_ms : CLIENT_TIMEOUT_MS) * INT64_C(1000000);
    client->deadline_ns = INT64_MAX;
    snprintf(client->software, sizeof client->software, "%s", options->software ? options->software : "weir");
    if (options->user)
        login_make(client, options);
    code = os_poller_create(client->os, &client->poller, err);
    if (code != OK) {
        os_socket_close(options->socket);
        goto fail;
    }
    if (options->socket)
        TRY_OR_FAIL(adopt(client, options->socket, err));
    else
        TRY_OR_FAIL(node_find(client, slice_str(options->host), options->port, &node, err));
    TRY_OR_FAIL(refresh_nodes(client, err));
    *out = client;
    return OK;
fail:
    client_close(client);
    return code;
}

void client_close(struct client *client)
{
    if (!client)
        return;
    for (size_t i = 0; i < client->nodes.len; i++) {
        conn_destroy(client->nodes.ptr[i]->conn);
        mem_free(client->nodes.ptr[i]);
    }
    vec_deinit(&client->nodes);
    vec_deinit(&client->tablets);
    buf_deinit(&client->login);
    if (client->poller)
        os_poller_destroy(client->poller);
    mem_free(client);
}

int64_t client_deadline(struct client *client, int64_t mono_ns)
{
    int64_t before = client->deadline_ns;
    client->deadline_ns = mono_ns;
    return before;
}

struct os *client_os(const struct client *client)
{
    return client->os;
}
