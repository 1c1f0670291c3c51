#include "base/buf.h"
#include "lib/test.h"
#include "os/os.h"

#include <stdio.h>

static struct err err;

static int64_t soon(void)
{
    return os_mono_ns(os_real()) + 20000000000;
}

struct connection {
    struct os_socket *listener, *client, *server;
    uint16_t port;
    char peer[64];
};

static void connect_both(struct connection *c, const char *host)
{
    MUST(os_listen(os_real(), host, 0, &c->listener, &c->port, &err));
    assert_int_not_equal(c->port, 0);
    MUST(os_accept(c->listener, &c->server, c->peer, &err));
    assert_null(c->server);
    MUST(os_connect(os_real(), host, c->port, soon(), &c->client, &err));
    MUST(os_socket_wait(c->listener, OS_READABLE, soon(), &err));
    MUST(os_accept(c->listener, &c->server, c->peer, &err));
    assert_non_null(c->server);
}

static void close_both(struct connection *c)
{
    os_socket_close(c->client);
    os_socket_close(c->server);
    os_socket_close(c->listener);
}

/* Receives exactly what is wanted. */
static void assert_receives(struct os_socket *socket, struct slice want)
{
    struct buf all = {0};
    bool closed = false;
    while (all.len < want.len && !closed) {
        size_t got;
        uint8_t bytes[4096];
        MUST(os_socket_wait(socket, OS_READABLE, soon(), &err));
        MUST(os_recv(socket, bytes, MIN(sizeof bytes, want.len - all.len), &got, &closed, &err));
        buf_put(&all, bytes, got);
    }
    assert_slice_equal(buf_view(&all), want);
    buf_deinit(&all);
}

static void bytes_go_both_ways(void **state)
{
    (void)state;
    struct connection c;
    connect_both(&c, "127.0.0.1");
    assert_int_equal(strncmp(c.peer, "127.0.0.1:", 10), 0);
    size_t got = 9, sent;
    bool closed = true;
    char bytes[8];
    MUST(os_recv(c.server, bytes, sizeof bytes, &got, &closed, &err));
    assert_int_equal(got, 0);
    assert_false(closed);
    struct slice pieces[] = {SLICE("he"), SLICE(""), SLICE("llo")};
    MUST(os_send(c.client, pieces, 3, &sent, &err));
    assert_int_equal(sent, 5);
    assert_receives(c.server, SLICE("hello"));
    MUST(os_send(c.server, pieces, 1, &sent, &err));
    assert_receives(c.client, SLICE("he"));
    MUST(os_send(c.server, NULL, 0, &sent, &err));
    assert_int_equal(sent, 0);
    close_both(&c);
}

static void the_end_of_the_stream_is_told(void **state)
{
    (void)state;
    struct connection c;
    connect_both(&c, "127.0.0.1");
    os_socket_shutdown(c.client);
    MUST(os_socket_wait(c.server, OS_READABLE, soon(), &err));
    size_t got, sent;
    bool closed = false;
    char bytes[8];
    MUST(os_recv(c.server, bytes, sizeof bytes, &got, &closed, &err));
    assert_int_equal(got, 0);
    assert_true(closed);
    struct slice piece = SLICE("x");
    MUST_FAIL(ERR_CLOSED, os_send(c.client, &piece, 1, &sent, &err));
    close_both(&c);
}

static void a_full_pipe_says_not_now(void **state)
{
    (void)state;
    struct os_socket *pair[2];
    MUST(os_socket_pair(os_real(), pair, &err));
    static uint8_t bytes[1 << 20];
    struct slice piece = slice_of(bytes, sizeof bytes);
    size_t sent = 1;
    for (int i = 0; i < 1000 && sent; i++)
        MUST(os_send(pair[0], &piece, 1, &sent, &err));
    assert_int_equal(sent, 0);
    MUST_FAIL(ERR_DEADLINE, os_socket_wait(pair[0], OS_WRITABLE, os_mono_ns(os_real()) + 5000000, &err));
    os_socket_close(pair[1]);
    MUST_FAIL(ERR_CLOSED, os_send(pair[0], &piece, 1, &sent, &err));
    os_socket_close(pair[0]);
    os_socket_close(NULL);
}

static void a_range_of_a_file_is_sent(void **state)
{
    (void)state;
    struct connection c;
    connect_both(&c, "127.0.0.1");
    char path[300];
    snprintf(path, sizeof path, "%s/f", test_dir());
    MUST(os_write_durable(os_real(), path, SLICE("0123456789"), &err));
    struct os_file *file;
    MUST(os_file_open(os_real(), path, OS_READ, &file, &err));
    size_t sent = 0;
    MUST(os_send_file(c.server, file, 3, 4, &sent, &err));
    assert_int_equal(sent, 4);
    assert_receives(c.client, SLICE("3456"));
    MUST_FAIL(ERR_IO, os_send_file(c.server, file, 10, 1, &sent, &err));
    os_socket_shutdown(c.server);
    MUST_FAIL(ERR_CLOSED, os_send_file(c.server, file, 0, 4, &sent, &err)); /* and no SIGPIPE */
    os_file_close(file);
    close_both(&c);
}

static void a_taken_port_is_said_so(void **state)
{
    (void)state;
    struct os_socket *first, *second = NULL;
    uint16_t port, unused;
    MUST(os_listen(os_real(), "127.0.0.1", 0, &first, &port, &err));
    MUST_FAIL(ERR_PORT_TAKEN, os_listen(os_real(), "127.0.0.1", port, &second, &unused, &err));
    MUST_FAIL(ERR_PORT_TAKEN, os_listen(os_real(), "localhost", port, &second, &unused, &err));
    os_socket_close(first);
    MUST(os_listen(os_real(), "127.0.0.1", port, &first, &unused, &err));
    assert_int_equal(unused, port);
    os_socket_close(first);
}

static void nobody_there_is_unreachable(void **state)
{
    (void)state;
    struct os_socket *listener, *client = NULL;
    uint16_t port;
    MUST(os_listen(os_real(), "", 0, &listener, &port, &err));
    MUST(os_connect(os_real(), "localhost", port, soon(), &client, &err));
    os_socket_close(client);
    os_socket_close(listener);
    MUST_FAIL(ERR_UNREACHABLE, os_connect(os_real(), "127.0.0.1", port, soon(), &client, &err));
    MUST_FAIL(ERR_UNREACHABLE, os_connect(os_real(), "no-such-name.invalid", port, soon(), &client, &err));
    assert_non_null(strstr(err.text, "no-such-name.invalid"));
}

static void names_of_ipv6_work_where_the_machine_has_it(void **state)
{
    (void)state;
    struct os_socket *probe;
    uint16_t port;
    if (os_listen(os_real(), "::1", 0, &probe, &port, NULL) != OK)
        skip();
    os_socket_close(probe);
    struct connection c;
    connect_both(&c, "::1");
    assert_int_equal(strncmp(c.peer, "[::1]:", 6), 0);
    close_both(&c);
}

TESTS("os.socket", TEST(bytes_go_both_ways), TEST(the_end_of_the_stream_is_told), TEST(a_full_pipe_says_not_now),
      TEST(a_range_of_a_file_is_sent), TEST(a_taken_port_is_said_so), TEST(nobody_there_is_unreachable),
      TEST(names_of_ipv6_work_where_the_machine_has_it))
