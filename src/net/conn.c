#include "net/net_int.h"

#define SLICES_MAX 32

struct net_conn *net_conn_ref(struct net_conn *conn)
{
    __atomic_add_fetch(&conn->ref_count, 1, __ATOMIC_RELAXED);
    return conn;
}

void net_conn_unref(struct net_conn *conn)
{
    if (__atomic_sub_fetch(&conn->ref_count, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    ASSERT(conn->state == CONN_CLOSED && conn->answer_bytes == 0);
    wire_splitter_deinit(&conn->in);
    buf_deinit(&conn->frame);
    wire_out_deinit(&conn->out);
    mem_free(conn);
}

struct loop *net_conn_loop(const struct net_conn *conn)
{
    return conn->home->loop;
}

void *net_conn_tag(const struct net_conn *conn)
{
    return conn->tag;
}

const char *net_conn_peer(const struct net_conn *conn)
{
    return conn->peer;
}

void **net_conn_data(struct net_conn *conn)
{
    return &conn->data;
}

bool net_conn_closed(const struct net_conn *conn)
{
    return conn->state == CONN_CLOSED;
}

bool net_conn_stalled(const struct net_conn *conn)
{
    return conn->stalled;
}

void net_conn_close(struct net_conn *conn)
{
    ASSERT(loop_is_current(conn->home->loop));
    if (conn->state == CONN_CLOSED)
        return;
    struct net *net = conn->home->net;
    conn->state = CONN_CLOSED;
    watch_stop(conn->home->loop, &conn->watch);
    timer_stop(conn->home->loop, &conn->idle_timer);
    os_socket_close(conn->watch.socket);
    *conn->at = conn->next;
    if (conn->next)
        conn->next->at = conn->at;
    wire_out_reset(&conn->out);
    conn_room_give(conn, conn->out_memory);
    conn->out_memory = 0;
    net->owner.on_close(net->owner.arg, conn);
    net_conn_unref(conn);
    net_conn_gone(net);
}

static enum err_code frames_take(struct net_conn *conn, struct err *err);

/* ---- writing ---- */

/* Writes once. *sent is 0 when the peer takes nothing now. */
static enum err_code write_once(struct net_conn *conn, size_t *sent)
{
    struct slice slices[SLICES_MAX];
    struct os_file *file;
    uint64_t offset;
    size_t len;
    if (wire_out_file(&conn->out, &file, &offset, &len))
        return os_send_file(conn->watch.socket, file, offset, len, sent, NULL);
    size_t count = wire_out_slices(&conn->out, slices, SLICES_MAX);
    return os_send(conn->watch.socket, slices, count, sent, NULL);
}

/* May another frame be handed over? */
static bool has_room(const struct net_conn *conn)
{
    return conn->in_work < conn->home->net->options.in_work_max && conn->in_work_bytes <= NET_WORK_BYTES_MAX &&
           wire_out_len(&conn->out) <= NET_OUT_BYTES_MAX && !conn->draining &&
           __atomic_load_n(&conn->waiting, __ATOMIC_ACQUIRE) == 0 &&
           __atomic_load_n(&conn->answer_bytes, __ATOMIC_RELAXED) <= conn_answer_bytes_max(conn);
}

static unsigned wanted(const struct net_conn *conn)
{
    return (has_room(conn) ? OS_READABLE : 0) | (wire_out_len(&conn->out) > 0 ? OS_WRITABLE : 0);
}

static void watch_update(struct net_conn *conn)
{
    if (conn->state == CONN_OPEN && watch_change(conn->home->loop, &conn->watch, wanted(conn), NULL) != OK)
        net_conn_close(conn);
}

static void close_if_drained(struct net_conn *conn)
{
    if (conn->state == CONN_OPEN && conn->draining && conn->in_work == 0 && wire_out_len(&conn->out) == 0)
        net_conn_close(conn);
}

static void flush_later(struct net_conn *conn)
{
    if (conn->flush.queued || conn->state == CONN_CLOSED)
        return;
    net_conn_ref(conn);
    loop_on_idle(conn->home->loop, &conn->flush);
}

static void note_progress(struct net_conn *conn, size_t sent)
{
    conn->active_ns = loop_now_ns(conn->home->loop);
    conn->progress_bytes += sent;
    if (conn->progress_bytes >= NET_STALL_BYTES) {
        conn->progress_bytes = 0;
        conn->progress_ns = conn->active_ns;
    }
}

static void room_give_sent(struct net_conn *conn)
{
    uint64_t memory = wire_out_memory(&conn->out);
    uint64_t sent = conn->out_memory - memory;
    conn->out_memory = memory;
    conn_room_give(conn, sent);
}

static void write_out(struct net_conn *conn)
{
    bool was_full = !has_room(conn);
    while (wire_out_len(&conn->out) > 0) {
        size_t sent = 0;
        if (write_once(conn, &sent) != OK) {
            net_conn_close(conn);
            return;
        }
        if (sent == 0)
            break;
        note_progress(conn, sent);
        metric_add(conn->home->net->bytes_out, (int64_t)sent);
        wire_out_advance(&conn->out, sent);
    }
    room_give_sent(conn);
    watch_update(conn);
    close_if_drained(conn);
    /* Frames that waited for the peer to take its answers may be here already. */
    if (was_full && has_room(conn))
        flush_later(conn);
}

/* What a round of the loop gathered for this connection goes out in one call. */
static void flush(struct loop_idle *idle)
{
    struct net_conn *conn = CONTAINER_OF(idle, struct net_conn, flush);
    /* Frames that had to wait for room may be whole already, with nothing more to come from the peer. */
    if (conn->state == CONN_OPEN && frames_take(conn, NULL) != OK)
        net_conn_close(conn);
    if (conn->state == CONN_OPEN)
        write_out(conn);
    net_conn_unref(conn);
}

static void work_ended(struct net_work *work)
{
    struct net_conn *conn = work->conn;
    ASSERT(conn->in_work > 0 && conn->in_work_bytes >= work->frame_bytes);
    conn->in_work--;
    conn->in_work_bytes -= work->frame_bytes;
    flush_later(conn);
}

/* What the answer holds is the out's from here on. */
static void answer(struct net_work *work, struct wire_out *out)
{
    struct net_conn *conn = work->conn;
    if (conn->state == CONN_OPEN) {
        if (wire_out_len(&conn->out) == 0) {
            conn->progress_ns = loop_now_ns(conn->home->loop);
            conn->progress_bytes = 0;
        }
        wire_out_append(&conn->out, out);
        conn->out_memory += work->answer_bytes;
    } else {
        conn_room_give(conn, work->answer_bytes);
    }
    wire_out_deinit(out);
    work_ended(work);
}

static void outgoing_arrived(struct task *task)
{
    struct outgoing *og = CONTAINER_OF(task, struct outgoing, task);
    struct net_conn *conn = og->work.conn;
    if (og->answered)
        answer(&og->work, &og->out);
    else
        work_ended(&og->work);
    net_conn_unref(conn);
    mem_free(og);
}

static void post(const struct net_work *work, struct wire_out *out)
{
    struct outgoing *og = mem_zalloc(sizeof *og);
    og->task.fn = outgoing_arrived;
    og->work = *work;
    net_conn_ref(work->conn);
    og->answered = out != NULL;
    if (out)
        og->out = *out;
    loop_post(work->conn->home->loop, &og->task);
}

void net_work_send(struct net_work *work, struct wire_out *out)
{
    work_settle(work, wire_out_memory(out));
    if (loop_is_current(work->conn->home->loop))
        answer(work, out);
    else
        post(work, out);
}

void net_work_drop(struct net_work *work)
{
    work_settle(work, 0);
    if (loop_is_current(work->conn->home->loop))
        work_ended(work);
    else
        post(work, NULL);
}

void conn_drain(struct net_conn *conn)
{
    conn->draining = true;
    watch_update(conn);
    close_if_drained(conn);
}

/* ---- reading ---- */

/* Hands on the frames that are whole, as long as the owner has room for them. */
static enum err_code frames_take(struct net_conn *conn, struct err *err)
{
    struct net *net = conn->home->net;
    bool have = true;
    while (conn->state == CONN_OPEN && has_room(conn)) {
        TRY(wire_splitter_next(&conn->in, &conn->frame, &have, err));
        if (!have)
            return OK;
        struct net_work work = {.conn = conn, .frame_bytes = conn->frame.len};
        conn->in_work++;
        conn->in_work_bytes += work.frame_bytes;
        TRY(net->owner.on_frame(net->owner.arg, &work, buf_view(&conn->frame), err));
    }
    return OK;
}

static enum err_code read_some(struct net_conn *conn, struct err *err)
{
    /* Frames that waited for room come first: the room of the splitter may only be asked for when none is whole. */
    TRY(frames_take(conn, err));
    if (conn->state != CONN_OPEN || !has_room(conn))
        return OK;
    size_t len, got;
    bool closed;
    uint8_t *room = wire_splitter_room(&conn->in, &len);
    TRY(os_recv(conn->watch.socket, room, len, &got, &closed, err));
    if (closed)
        return err_set(err, ERR_CLOSED, "%s closed the connection", conn->peer);
    wire_splitter_filled(&conn->in, got);
    metric_add(conn->home->net->bytes_in, (int64_t)got);
    conn->active_ns = loop_now_ns(conn->home->loop);
    return frames_take(conn, err);
}

static void on_ready(struct watch *watch, unsigned ready)
{
    struct net_conn *conn = CONTAINER_OF(watch, struct net_conn, watch);
    net_conn_ref(conn);
    if (ready & OS_READABLE && read_some(conn, NULL) != OK)
        net_conn_close(conn);
    /* A hang-up without anything to read or write: nobody will take the answers. */
    if (conn->state == CONN_OPEN && ready & OS_HANGUP && !(ready & OS_READABLE))
        net_conn_close(conn);
    if (conn->state == CONN_OPEN)
        write_out(conn);
    net_conn_unref(conn);
}

static void idle_check(struct timer *timer)
{
    struct net_conn *conn = CONTAINER_OF(timer, struct net_conn, idle_timer);
    struct net *net = conn->home->net;
    int64_t deadline = conn->active_ns + net->options.idle_ms_max * 1000000;
    if (deadline <= loop_now_ns(conn->home->loop) && conn->in_work == 0)
        net_conn_close(conn);
    else
        timer_start(conn->home->loop, timer, MAX(deadline, loop_now_ns(conn->home->loop) + 1000000000));
}

/* ---- start ---- */

static void adopted(struct task *task)
{
    struct net_conn *conn = CONTAINER_OF(task, struct net_conn, adopt);
    struct net_loop *home = conn->home;
    conn->next = home->conns;
    conn->at = &home->conns;
    if (conn->next)
        conn->next->at = &conn->next;
    home->conns = conn;
    conn->active_ns = loop_now_ns(home->loop);
    if (net_stopping(home->net) || watch_start(home->loop, &conn->watch, OS_READABLE, NULL) != OK) {
        net_conn_close(conn);
        return;
    }
    conn->idle_timer.fn = idle_check;
    timer_start(home->loop, &conn->idle_timer, conn->active_ns + home->net->options.idle_ms_max * 1000000);
}

void conn_start(struct net *net, struct os_socket *socket, void *tag, const char *peer)
{
    if (!net_conn_opened(net)) {
        os_socket_close(socket);
        return;
    }
    struct net_conn *conn = mem_zalloc(sizeof *conn);
    unsigned loop = __atomic_fetch_add(&net->next_loop, 1, __ATOMIC_RELAXED) % net->options.loop_count;
    conn->home = &net->loops[loop];
    conn->watch = (struct watch){.socket = socket, .fn = on_ready};
    conn->flush.fn = flush;
    conn->ref_count = 1;
    conn->tag = tag;
    memcpy(conn->peer, peer, MIN(strlen(peer), sizeof conn->peer - 1));
    wire_splitter_init(&conn->in, (uint32_t)net->options.frame_bytes_max);
    conn->adopt.fn = adopted;
    loop_post(conn->home->loop, &conn->adopt);
}
