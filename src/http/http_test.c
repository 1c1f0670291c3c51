#include "http/http.h"

#include "lib/test.h"

static struct err err;

struct bed {
    struct metrics *metrics;
    struct http *http;
    uint16_t port;
};

static void bed_start(struct bed *bed)
{
    *bed = (struct bed){.metrics = metrics_create(os_real())};
    MUST(http_start(os_real(), "127.0.0.1", 0, bed->metrics, &bed->http, &bed->port, &err));
    assert_true(bed->port > 0);
}

static void bed_stop(struct bed *bed)
{
    http_stop(bed->http);
    metrics_destroy(bed->metrics);
}

static struct os_socket *dial(const struct bed *bed)
{
    struct os_socket *socket;
    MUST(os_connect(os_real(), "127.0.0.1", bed->port, os_mono_ns(os_real()) + 5000000000, &socket, &err));
    return socket;
}

static void send_all(struct os_socket *socket, struct slice bytes)
{
    size_t sent;
    MUST(os_send(socket, &bytes, 1, &sent, &err));
    assert_int_equal(sent, bytes.len);
}

/* Until the end of the stream, or until what is there ends with `end`. */
static void receive(struct os_socket *socket, const char *end, struct buf *out)
{
    for (bool closed = false; !closed && !(end && slice_ends_with(buf_view(out), slice_str(end)));) {
        char bytes[4096];
        size_t got;
        MUST(os_socket_wait(socket, OS_READABLE, os_mono_ns(os_real()) + 5000000000, &err));
        MUST(os_recv(socket, bytes, sizeof bytes, &got, &closed, &err));
        buf_put_slice(out, slice_of((const uint8_t *)bytes, got));
    }
    buf_put_u8(out, 0);
}

/* Sends one request whose connection then ends; want_status and want_text must be in the answer. */
static void expect(const struct bed *bed, const char *request, const char *want_status, const char *want_text)
{
    struct buf out = {0};
    struct os_socket *socket = dial(bed);
    send_all(socket, slice_str(request));
    receive(socket, NULL, &out);
    if (!slice_starts_with(buf_view(&out), slice_str(want_status)) || !strstr((const char *)out.ptr, want_text))
        fail_msg("%s was answered with:\n%s", request, (const char *)out.ptr);
    os_socket_close(socket);
    buf_deinit(&out);
}

#define REQUEST(method, path) method " " path " HTTP/1.1\r\nHost: weir\r\nConnection: close\r\n\r\n"

static void each_page_is_served(void **state)
{
    (void)state;
    struct bed bed;
    bed_start(&bed);
    struct metric *in = metrics_take(bed.metrics, METRIC_BYTES_IN, METRIC_NO_LABELS);
    metric_add(in, 42);
    expect(&bed, REQUEST("GET", "/"), "HTTP/1.1 200 ", "href=\"metrics\"");
    expect(&bed, REQUEST("GET", "/healthz"), "HTTP/1.1 200 ", "\r\n\r\nok\n");
    expect(&bed, REQUEST("GET", "/readyz"), "HTTP/1.1 200 ", "\r\n\r\nready\n");
    expect(&bed, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ", "\nweir_network_in_bytes_total 42\n");
    expect(&bed, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ", "text/plain; version=0.0.4");
    expect(&bed, REQUEST("GET", "/metrics?name=x"), "HTTP/1.1 200 ", "weir_network_in_bytes_total");
    metrics_release(bed.metrics, in);
    bed_stop(&bed);
}

static void not_ready_is_told_while_the_process_still_lives(void **state)
{
    (void)state;
    struct bed bed;
    bed_start(&bed);
    http_set_ready(bed.http, false);
    expect(&bed, REQUEST("GET", "/readyz"), "HTTP/1.1 503 ", "\r\n\r\nstopping\n");
    expect(&bed, REQUEST("GET", "/healthz"), "HTTP/1.1 200 ", "\r\n\r\nok\n");
    bed_stop(&bed);
}

static void other_methods_and_paths_are_refused(void **state)
{
    (void)state;
    struct bed bed;
    bed_start(&bed);
    expect(&bed, REQUEST("GET", "/metrics/"), "HTTP/1.1 404 ", "/ lists them");
    expect(&bed, REQUEST("GET", "/../etc/passwd"), "HTTP/1.1 404 ", "/ lists them");
    expect(&bed, REQUEST("DELETE", "/metrics"), "HTTP/1.1 405 ", "Allow: GET, HEAD");
    expect(&bed, "POST / HTTP/1.1\r\nHost: weir\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 405 ",
           "only GET and HEAD");
    expect(&bed, "GET /healthz HTTP/1.1\r\nHost: weir\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc",
           "HTTP/1.1 200 ", "\r\n\r\nok\n");
    bed_stop(&bed);
}

static void head_has_no_body(void **state)
{
    (void)state;
    struct bed bed;
    struct buf out = {0};
    bed_start(&bed);
    struct os_socket *socket = dial(&bed);
    send_all(socket, SLICE(REQUEST("HEAD", "/healthz")));
    receive(socket, NULL, &out);
    assert_non_null(strstr((const char *)out.ptr, "Content-Length: 3\r\n"));
    assert_true(slice_ends_with(slice_of(out.ptr, out.len - 1), SLICE("\r\n\r\n")));
    os_socket_close(socket);
    buf_deinit(&out);
    bed_stop(&bed);
}

static void a_connection_serves_many_requests(void **state)
{
    (void)state;
    struct bed bed;
    bed_start(&bed);
    struct os_socket *socket = dial(&bed);
    for (int i = 0; i < 3; i++) {
        struct buf out = {0};
        send_all(socket, SLICE("GET /healthz HTTP/1.1\r\nHost: weir\r\n\r\n"));
        receive(socket, "\r\n\r\nok\n", &out);
        assert_true(slice_starts_with(buf_view(&out), SLICE("HTTP/1.1 200 ")));
        buf_deinit(&out);
    }
    os_socket_close(socket);
    bed_stop(&bed);
}

static void a_port_in_use_is_refused(void **state)
{
    (void)state;
    struct bed bed;
    struct http *second;
    uint16_t port;
    bed_start(&bed);
    MUST_FAIL(ERR_PORT_TAKEN, http_start(os_real(), "127.0.0.1", bed.port, bed.metrics, &second, &port, &err));
    bed_stop(&bed);
}

static void silent_connections_do_not_hold_up_the_stop(void **state)
{
    (void)state;
    struct bed bed;
    struct os_socket *silent[HTTP_CONNECTIONS_MAX + 8];
    bed_start(&bed);
    for (size_t i = 0; i < ARRAY_LEN(silent); i++)
        silent[i] = dial(&bed);
    send_all(silent[0], SLICE("GET /healthz HT"));
    int64_t begun_ns = os_mono_ns(os_real());
    bed_stop(&bed);
    assert_true(os_mono_ns(os_real()) - begun_ns < 2000000000);
    for (size_t i = 0; i < ARRAY_LEN(silent); i++)
        os_socket_close(silent[i]);
}

TESTS("http", TEST(each_page_is_served), TEST(not_ready_is_told_while_the_process_still_lives),
      TEST(other_methods_and_paths_are_refused), TEST(head_has_no_body), TEST(a_connection_serves_many_requests),
      TEST(a_port_in_use_is_refused), TEST(silent_connections_do_not_hold_up_the_stop))
