/* Shared by the files of net; see net.h. */
#ifndef WEIR_NET_NET_INT_H
#define WEIR_NET_NET_INT_H

#include "net/net.h"

struct net_loop {
    struct net *net;
    struct loop *loop;
    struct net_conn *conns; /* open ones; loop thread only */
};

struct listener {
    struct net *net;
    struct watch watch;
    void *tag;
};

struct net {
    struct os *os;
    struct net_options options;
    struct net_owner owner;
    struct net_loop *loops;
    struct metric *bytes_in, *bytes_out;
    VEC(struct listener *) listeners;
    struct os_mutex mutex; /* guards changes of the count and of stopping, which are read without it too */
    struct os_cond drained;
    unsigned conn_count; /* open connections */
    unsigned next_loop;
    bool stopping; /* no further connections */
};

enum conn_state { CONN_OPEN, CONN_CLOSED };

/* An answer on its way from another thread to the connection's loop. */
struct outgoing {
    struct task task;
    struct net_conn *conn; /* counted */
    struct wire_out out;
    bool answered; /* out is to be sent; else the work ended without an answer */
};

struct net_conn {
    struct net_loop *home;
    struct watch watch;
    struct timer idle_timer;
    struct loop_idle flush;
    struct net_conn *next, **at; /* in home->conns */
    unsigned ref_count;          /* atomic */
    enum conn_state state;
    bool draining; /* stopping: takes no more frames, closes when all is written */
    unsigned in_work;
    int64_t active_ns; /* last read or write */
    struct wire_splitter in;
    struct buf frame;
    struct wire_out out;
    void *tag;
    void *data;
    char peer[64];
    struct task adopt;
};

/* Takes the socket into a new connection and sends it to a loop. */
void conn_start(struct net *net, struct os_socket *socket, void *tag, const char *peer);
/* Stops reading; closes once nothing is left to write. Loop thread. */
void conn_drain(struct net_conn *conn);
bool net_stopping(const struct net *net);
/* Bookkeeping of open connections. */
bool net_conn_opened(struct net *net);
void net_conn_gone(struct net *net);

#endif
