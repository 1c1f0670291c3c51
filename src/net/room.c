/* Who may hold how much memory for answers; net.h says by which rules. */
#include "net/net_int.h"

uint64_t net_answer_bytes(const struct net *net)
{
    return __atomic_load_n(&net->answer_bytes, __ATOMIC_RELAXED);
}

uint64_t conn_answer_bytes_max(const struct net_conn *conn)
{
    const struct net *net = conn->home->net;
    uint64_t held = net_answer_bytes(net), most = net->options.answer_bytes_max;
    return held < most ? MIN((most - held) / 2, NET_OUT_BYTES_MAX) : 0;
}

static void room_put_back(struct net_conn *conn, uint64_t bytes)
{
    __atomic_sub_fetch(&conn->answer_bytes, bytes, __ATOMIC_RELEASE);
    __atomic_sub_fetch(&conn->home->net->answer_bytes, bytes, __ATOMIC_RELEASE);
}

void conn_room_give(struct net_conn *conn, uint64_t bytes)
{
    struct net *net = conn->home->net;
    if (bytes == 0)
        return;
    room_put_back(conn, bytes);
    if (net->owner.on_room && __atomic_load_n(&net->room_wanted, __ATOMIC_ACQUIRE) &&
        __atomic_exchange_n(&net->room_wanted, false, __ATOMIC_ACQ_REL))
        net->owner.on_room(net->owner.arg);
}

static void room_take(struct net_conn *conn, uint64_t bytes, uint64_t *of_conn, uint64_t *of_all)
{
    *of_conn = __atomic_add_fetch(&conn->answer_bytes, bytes, __ATOMIC_RELAXED);
    *of_all = __atomic_add_fetch(&conn->home->net->answer_bytes, bytes, __ATOMIC_RELAXED);
}

void work_settle(struct net_work *work, size_t bytes)
{
    uint64_t of_conn, of_all;
    if (bytes > work->answer_bytes)
        room_take(work->conn, bytes - work->answer_bytes, &of_conn, &of_all);
    else
        conn_room_give(work->conn, work->answer_bytes - bytes);
    work->answer_bytes = bytes;
}

bool net_work_room(struct net_work *work, size_t bytes)
{
    if (bytes <= MAX(work->answer_bytes, (size_t)NET_ANSWER_FREE_BYTES))
        return true;
    struct net_conn *conn = work->conn;
    struct net *net = conn->home->net;
    size_t more = (bytes - work->answer_bytes + NET_ANSWER_STEP_BYTES - 1) & ~(size_t)(NET_ANSWER_STEP_BYTES - 1);
    size_t all = work->answer_bytes + more;
    uint64_t limit = conn_answer_bytes_max(conn), of_conn, of_all;
    room_take(conn, more, &of_conn, &of_all);
    if ((of_conn <= limit || of_conn == all) && (of_all <= net->options.answer_bytes_max || of_all == all)) {
        work->answer_bytes = all;
        return true;
    }
    room_put_back(conn, more); /* without a word to those who wait: it was never theirs */
    __atomic_store_n(&net->room_wanted, true, __ATOMIC_RELEASE);
    return false;
}

void net_work_wait(struct net_work *work)
{
    __atomic_add_fetch(&work->conn->waiting, 1, __ATOMIC_ACQ_REL);
    work_settle(work, 0);
}

bool net_work_go_on(struct net_work *work, size_t bytes)
{
    if (!net_work_room(work, bytes))
        return false;
    net_work_give_up(work);
    return true;
}

void net_work_give_up(struct net_work *work)
{
    ASSERT(work->conn->waiting > 0);
    __atomic_sub_fetch(&work->conn->waiting, 1, __ATOMIC_ACQ_REL);
}

static void close_stalled(struct net_loop *home)
{
    int64_t before_ns = loop_now_ns(home->loop) - home->net->options.stall_ms * 1000000;
    for (struct net_conn *conn = home->conns, *next; conn; conn = next) {
        next = conn->next;
        if (conn->out_memory == 0 || conn->progress_ns > before_ns)
            continue;
        conn->stalled = true;
        net_conn_close(conn);
    }
}

void net_stalled_close(struct net *net)
{
    /* Who waits while there is much room waits for answers of the own connection. */
    if (net_answer_bytes(net) > net->options.answer_bytes_max / 2)
        net_on_each_loop(net, close_stalled);
}
