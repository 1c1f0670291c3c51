/* AUTHENTICATE: one step of SASL/PLAIN. The answer has no challenge, for there is nothing to answer to it. */
#include "api/api_int.h"

/* They may be replaced at any time, never by none; those before stay. */
static const struct auth_users *users_of(const struct api_listener *listener)
{
    return __atomic_load_n(&listener->users, __ATOMIC_ACQUIRE);
}

enum err_code authenticate_check(struct net_conn *conn, int16_t key, struct err *err)
{
    const struct api_listener *listener = net_conn_tag(conn);
    if (!users_of(listener) || key == WIRE_API_VERSIONS || key == WIRE_AUTHENTICATE || api_conn_of(conn)->authenticated)
        return OK;
    return err_set(err, ERR_AUTHENTICATE_EXCEPTION, "the listener %s wants an AUTHENTICATE with PLAIN first",
                   listener->name);
}

struct slice authenticate_user(struct net_conn *conn)
{
    const struct api_conn *state = api_conn_of(conn);
    return state->authenticated ? state->user : SLICE(ACL_ANONYMOUS);
}

static enum err_code protocol_check(const struct api_listener *listener, struct slice protocol, struct err *err)
{
    const char *want = users_of(listener) ? "PLAIN" : "PLAINTEXT";
    if (slice_equal_nocase(protocol, slice_str(want)))
        return OK;
    return err_set(err, ERR_AUTHENTICATE_EXCEPTION,
                   "the listener %s takes %s, while the protocol of the client is %.*s", listener->name, want,
                   (int)MIN(protocol.len, 40), (const char *)protocol.ptr);
}

enum err_code authenticate(struct api_call *call, struct err *err)
{
    const struct wire_authenticate_request *req = call->request;
    const struct api_listener *listener = call->listener;
    struct trace *trace = call->api->config.trace;
    struct slice name;
    TRY(protocol_check(listener, req->protocol, err));
    /* Who is in already and says so again is a client that echoes an empty challenge. */
    if (!users_of(listener) || api_conn_of(call->conn)->authenticated)
        return OK;
    if (auth_plain(users_of(listener), req->token, &name, err) != OK) {
        trace_warn_limited(trace, "api", "login_refused", trace_str("listener", listener->name),
                           trace_str("peer", net_conn_peer(call->conn)));
        return ERR_AUTHENTICATE_EXCEPTION;
    }
    api_conn_of(call->conn)->user = name;
    api_conn_of(call->conn)->authenticated = true;
    trace_debug(trace, "api", "login", trace_str("listener", listener->name), trace_slice("user", name),
                trace_str("peer", net_conn_peer(call->conn)));
    return OK;
}
