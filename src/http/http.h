/* The server's pages for people and for what watches it: GET over HTTP, read-only, small.
 *
 *   /         what there is, in plain HTML
 *   /healthz  200 while the process lives
 *   /readyz   200 while requests are answered, 503 once the server is stopping
 *   /metrics  all metrics, in Prometheus's text form
 *
 * HEAD is answered as GET without the body; other methods with 405, other paths with 404. One thread of the library
 * (libmicrohttpd) serves all of it, at most HTTP_CONNECTIONS_MAX at a time; idle ones are closed after
 * HTTP_IDLE_SECONDS_MAX. There is no authentication: the default address is the machine's own. */
#ifndef WEIR_HTTP_HTTP_H
#define WEIR_HTTP_HTTP_H

#include "metric/metric.h"

#define HTTP_CONNECTIONS_MAX 64
#define HTTP_IDLE_SECONDS_MAX 30

struct http;

/* Listens and serves; port 0 takes a free one, *port_taken tells which. metrics is borrowed until the stop.
 * errors: PORT_TAKEN, UNREACHABLE (no such host), IO. */
MUST_CHECK enum err_code http_start(struct os *os, const char *host, uint16_t port, struct metrics *metrics,
                                    struct http **http, uint16_t *port_taken, struct err *err);
/* What /readyz says from now on; at the start it is ready. thread: any. */
void http_set_ready(struct http *http, bool ready);
/* Closes all connections, ends the thread (blocks). NULL is fine. */
void http_stop(struct http *http);

#endif
