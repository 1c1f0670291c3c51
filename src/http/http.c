#include "http/http.h"

#include <microhttpd.h>

struct http {
    struct MHD_Daemon *daemon;
    struct metrics *metrics;
    atomic_bool ready;
};

struct page {
    const char *path;
    const char *type;
    /* Appends the body, gives the status. */
    unsigned (*fill)(struct http *http, struct buf *out);
};

#define TYPE_TEXT "text/plain; charset=utf-8"

static unsigned fill_root(struct http *http, struct buf *out)
{
    (void)http;
    buf_printf(out, "<!DOCTYPE html>\n"
                    "<html lang=\"en\"><meta charset=\"utf-8\"><title>weir</title>\n"
                    "<h1>weir " WEIR_VERSION "</h1>\n"
                    "<ul>\n"
                    "<li><a href=\"metrics\">/metrics</a>: metrics, for Prometheus\n"
                    "<li><a href=\"healthz\">/healthz</a>: the process lives\n"
                    "<li><a href=\"readyz\">/readyz</a>: requests are answered\n"
                    "</ul>\n");
    return MHD_HTTP_OK;
}

static unsigned fill_health(struct http *http, struct buf *out)
{
    (void)http;
    buf_printf(out, "ok\n");
    return MHD_HTTP_OK;
}

static unsigned fill_ready(struct http *http, struct buf *out)
{
    bool ready = atomic_load(&http->ready);
    buf_printf(out, ready ? "ready\n" : "stopping\n");
    return ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
}

static unsigned fill_metrics(struct http *http, struct buf *out)
{
    metrics_print(http->metrics, out);
    return MHD_HTTP_OK;
}

static const struct page pages[] = {
    {"/", "text/html; charset=utf-8", fill_root},
    {"/healthz", TYPE_TEXT, fill_health},
    {"/readyz", TYPE_TEXT, fill_ready},
    {"/metrics", "text/plain; version=0.0.4; charset=utf-8", fill_metrics},
};

static const struct page *page_of(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(pages); i++)
        if (strcmp(pages[i].path, path) == 0)
            return &pages[i];
    return NULL;
}

/* The library copies the body. */
static enum MHD_Result reply(struct MHD_Connection *connection, unsigned status, const char *type, struct slice body,
                             const char *allow)
{
    void *bytes = (void *)(uintptr_t)body.ptr;
    struct MHD_Response *response = MHD_create_response_from_buffer(body.len, bytes, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO; /* closes the connection */
    bool ok = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
              MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store") == MHD_YES &&
              (!allow || MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allow) == MHD_YES);
    enum MHD_Result result = ok ? MHD_queue_response(connection, status, response) : MHD_NO;
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *path, const char *method,
                                  const char *version, const char *body, size_t *body_len, void **state)
{
    struct http *http = arg;
    struct buf out = {0};
    (void)version;
    (void)body;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, TYPE_TEXT, SLICE("only GET and HEAD\n"), "GET, HEAD");
    /* The first call brings the head only; an answer to it would end the connection. A body is read and forgotten. */
    if (!*state || *body_len) {
        *state = http;
        *body_len = 0;
        return MHD_YES;
    }
    const struct page *page = page_of(path);
    if (!page)
        return reply(connection, MHD_HTTP_NOT_FOUND, TYPE_TEXT, SLICE("there is no such page; / lists them\n"), NULL);
    unsigned status = page->fill(http, &out);
    enum MHD_Result result = reply(connection, status, page->type, buf_view(&out), NULL);
    buf_deinit(&out);
    return result;
}

/* The library would print to standard error. */
static void say_nothing(void *arg, const char *format, va_list args)
{
    (void)arg;
    (void)format;
    (void)args;
}

enum err_code http_start(struct os *os, const char *host, uint16_t port, struct metrics *metrics, struct http **out,
                         uint16_t *port_taken, struct err *err)
{
    struct os_socket *socket;
    TRY(os_listen(os, host, port, &socket, port_taken, err));
    int fd = os_socket_detach(socket); /* the library closes it */
    struct http *http = mem_zalloc(sizeof *http);
    http->metrics = metrics;
    atomic_store(&http->ready, true);
    http->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request,
        http, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)HTTP_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_IDLE_SECONDS_MAX, MHD_OPTION_END);
    if (!http->daemon) {
        mem_free(http);
        return err_set(err, ERR_IO, "the HTTP listener on %s:%u does not start", host, port);
    }
    *out = http;
    return OK;
}

void http_set_ready(struct http *http, bool ready)
{
    if (http)
        atomic_store(&http->ready, ready);
}

void http_stop(struct http *http)
{
    if (!http)
        return;
    MHD_stop_daemon(http->daemon);
    mem_free(http);
}
