/* Listeners and connections: bytes of a socket become whole request frames, answers become bytes again.
 *
 * A connection belongs to one loop. Its frames are handed to the owner in the order they came, on that loop's thread;
 * answers may be sent from any thread and in any order. Nothing is read from a connection whose owner has too much in
 * work or whose peer does not take its answers, so what one peer can make the server hold is bounded:
 * NET_UNREAD_BYTES_MAX of a frame that has arrived so far, frame_bytes_max once it has, NET_OUT_BYTES_MAX of answers.
 */
#ifndef WEIR_NET_NET_H
#define WEIR_NET_NET_H

#include "base/arena.h"
#include "metric/metric.h"
#include "run/run.h"
#include "wire/wire.h"

#define NET_OUT_BYTES_MAX (64u << 20) /* queued answers above which nothing more is read */
#define NET_READ_BYTES (64u << 10)    /* asked of the kernel at once */

struct net;
struct net_conn;

/* What the owner of the connections gives. Each call is made on the connection's loop. */
struct net_owner {
    void *arg;
    /* A whole frame without its length field; borrowed for the call. Anything but OK closes the connection. */
    enum err_code (*on_frame)(void *arg, struct net_conn *conn, struct slice frame, struct err *err);
    /* The connection is gone; answers to it are dropped from now on. */
    void (*on_close)(void *arg, struct net_conn *conn);
};

struct net_options {
    unsigned loop_count;
    size_t frame_bytes_max;   /* of one request; a longer one closes the connection */
    unsigned in_work_max;     /* requests of one connection handed over and not yet answered; then reading pauses */
    unsigned connections_max; /* further ones are closed at once */
    int64_t idle_ms_max;      /* a connection that neither reads nor writes for so long is closed */
    struct metrics *metrics;  /* may be NULL */
};

MUST_CHECK enum err_code net_create(struct os *os, const struct net_options *options, const struct net_owner *owner,
                                    struct net **net, struct err *err);
/* Listens; *port_taken tells a port that was asked as 0. tag is what net_conn_tag gives for its connections. */
MUST_CHECK enum err_code net_listen(struct net *net, const char *host, uint16_t port, void *tag, uint16_t *port_taken,
                                    struct err *err);
/* Makes a connection of a socket that is connected already; the socket is taken. */
MUST_CHECK enum err_code net_adopt(struct net *net, struct os_socket *socket, void *tag, struct err *err);
/* No new connections and no new frames; what was sent is still written, for at most wait_ms (blocks). */
void net_stop(struct net *net, int64_t wait_ms);
void net_destroy(struct net *net); /* after net_stop; NULL is fine */

struct net_conn *net_conn_ref(struct net_conn *conn);
void net_conn_unref(struct net_conn *conn);
struct loop *net_conn_loop(const struct net_conn *conn);
void *net_conn_tag(const struct net_conn *conn);
const char *net_conn_peer(const struct net_conn *conn); /* "host:port" */
/* The owner's own data of this connection; loop thread only. */
void **net_conn_data(struct net_conn *conn);
bool net_conn_closed(const struct net_conn *conn); /* loop thread only */

/* One answer; out is taken, also when the connection is gone. Ends one piece of work that on_frame began.
 * thread: any. */
void net_conn_send(struct net_conn *conn, struct wire_out *out);
/* Ends one piece of work without an answer. */
void net_conn_drop(struct net_conn *conn);
/* thread: loop. */
void net_conn_close(struct net_conn *conn);

unsigned net_connection_count(const struct net *net);

#endif
