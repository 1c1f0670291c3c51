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
    unsigned conn_count;   /* open connections */
    uint64_t answer_bytes; /* atomic */
    bool room_wanted;      /* atomic: somebody was refused */
    unsigned next_loop;
    bool stopping; /* no further connections */
};

enum conn_state { CONN_OPEN, CONN_CLOSED };

/* An answer on its way from another thread to the connection's loop. */
struct outgoing {
    struct task task;
    struct net_work work; /* its connection is counted */
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
    bool stalled;
    unsigned in_work;
    size_t in_work_bytes;
    uint64_t answer_bytes;   /* atomic: made, or being made, and not sent */
    uint64_t out_memory;     /* of it, what is in out */
    unsigned waiting;        /* atomic: works that wait for room */
    int64_t active_ns;       /* last read or write */
    int64_t progress_ns;     /* when it last had taken NET_STALL_BYTES, or everything */
    uint64_t progress_bytes; /* taken since */
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
void net_on_each_loop(struct net *net, void (*fn)(struct net_loop *home));
/* ---- room for answers: room.c ---- */

/* How much this connection may hold now. */
uint64_t conn_answer_bytes_max(const struct net_conn *conn);
/* The work's room becomes bytes, whatever the limits. */
void work_settle(struct net_work *work, size_t bytes);
void conn_room_give(struct net_conn *conn, uint64_t bytes);

/* Bookkeeping of open connections. */
bool net_conn_opened(struct net *net);
void net_conn_gone(struct net *net);

#endif
