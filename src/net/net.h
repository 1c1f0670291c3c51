/* Listeners and connections: bytes of a socket become whole request frames, answers become bytes again.
 *
 * A connection belongs to one loop. Its frames are handed to the owner in the order they came, on that loop's thread;
 * answers may be sent from any thread and in any order. Nothing is read from a connection whose owner has too much in
 * work or whose peer does not take its answers, so what one peer can make the server hold is bounded: one frame of
 * frame_bytes_max that is arriving, NET_WORK_BYTES_MAX and one frame of requests in work, and of answers what follows.
 *
 * Memory of answers is one budget over all connections, answer_bytes_max. An answer that grows beyond
 * NET_ANSWER_FREE_BYTES asks for room as it grows; where there is none its maker drops what it has and waits until
 * on_room. A connection may hold at most half of what is left of the budget, and NET_OUT_BYTES_MAX, or else a single
 * answer. So a few peers that take nothing leave room for the others; and while somebody waits for room that such peers
 * hold, net_stalled_close ends those that took less than NET_STALL_BYTES in stall_ms. */
#ifndef WEIR_NET_NET_H
#define WEIR_NET_NET_H

#include "base/arena.h"
#include "metric/metric.h"
#include "run/run.h"
#include "wire/wire.h"

#define NET_OUT_BYTES_MAX (64u << 20)      /* of a connection's answers, above which nothing more is read */
#define NET_WORK_BYTES_MAX (64u << 20)     /* of a connection's requests in work, the same */
#define NET_ANSWER_FREE_BYTES (64u << 10)  /* an answer up to here asks nobody */
#define NET_ANSWER_STEP_BYTES (256u << 10) /* room is taken in such steps */
#define NET_STALL_BYTES (64u << 10)
#define NET_READ_BYTES (64u << 10) /* asked of the kernel at once */

struct net;
struct net_conn;

/* A request that was handed over and is not answered yet. The owner keeps it, and a count of the connection with it. */
struct net_work {
    struct net_conn *conn;
    size_t frame_bytes;
    size_t answer_bytes; /* room taken for the answer */
};

/* What the owner of the connections gives. Each call is made on the connection's loop, but for on_room. */
struct net_owner {
    void *arg;
    /* A whole frame without its length field; borrowed for the call, as is the work, which the owner copies. Anything
     * but OK closes the connection. */
    enum err_code (*on_frame)(void *arg, const struct net_work *work, struct slice frame, struct err *err);
    /* The connection is gone; answers to it are dropped from now on. */
    void (*on_close)(void *arg, struct net_conn *conn);
    /* Room for answers came back after somebody was refused; may be NULL. thread: any. */
    void (*on_room)(void *arg);
};

struct net_options {
    unsigned loop_count;
    size_t frame_bytes_max;   /* of one request; a longer one closes the connection */
    unsigned in_work_max;     /* requests of one connection handed over and not yet answered; then reading pauses */
    size_t answer_bytes_max;  /* memory of all answers; one alone may be larger */
    unsigned connections_max; /* further ones are closed at once */
    int64_t stall_ms;         /* a peer that took next to nothing for so long may be closed where room is needed */
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
/* net_stalled_close closed it. */
bool net_conn_stalled(const struct net_conn *conn);

/* One answer; out is taken, also when the connection is gone. Ends the work. thread: any. */
void net_work_send(struct net_work *work, struct wire_out *out);
/* Ends the work without an answer. thread: any. */
void net_work_drop(struct net_work *work);
/* thread: loop. */
void net_conn_close(struct net_conn *conn);

/* The answer takes so much memory in all by now. False: there is no room; the maker drops what it has made and calls
 * net_work_wait. thread: any. */
bool net_work_room(struct net_work *work, size_t bytes);
/* Gives back the room it has. No frame of the connection is handed over until the wait is over. */
void net_work_wait(struct net_work *work);
/* Ends the wait if there is room for so much; it is taken then. */
bool net_work_go_on(struct net_work *work, size_t bytes);
/* Ends the wait without room: the work is about to end. */
void net_work_give_up(struct net_work *work);
/* To be called some times a second while somebody waits. thread: any, not after net_stop. */
void net_stalled_close(struct net *net);

unsigned net_connection_count(const struct net *net);
uint64_t net_answer_bytes(const struct net *net); /* of all connections */

#endif
