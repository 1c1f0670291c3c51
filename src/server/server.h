/* The server: opens what is in the data directory, listens, and puts everything together that src/api serves from.
 *
 * thread: start, stop and destroy by the thread that made it. */
#ifndef WEIR_SERVER_SERVER_H
#define WEIR_SERVER_SERVER_H

#include "base/buf.h"
#include "conf/conf.h"
#include "trace/trace.h"

struct server;

/* Opens data.dir (made if it is not there), recovers all tables, listens on every listener (blocks). conf and trace are
 * borrowed until the destroy. When it returns, requests are answered.
 * errors   LOCKED: another server has the directory; PORT_TAKEN; META_MISSING; CORRUPT, FORMAT_VERSION, IO, DISK_FULL:
 * of what is in the directory. */
MUST_CHECK enum err_code server_start(struct os *os, struct conf *conf, struct trace *trace, struct server **server,
                                      struct err *err);
/* Appends "FLUSS=127.0.0.1:9123 HTTP=127.0.0.1:9180": each listener with the port that it got. */
void server_addresses(const struct server *server, struct buf *out);
/* The data directory, absolute. */
const char *server_data_dir(const struct server *server);
/* A connected socket for weir's own tiering service: the internal listener, whatever the others ask for. arg is the
 * server. thread: any. errors: SHUTTING_DOWN. */
MUST_CHECK enum err_code server_connect(void *arg, struct os_socket **socket, struct err *err);
/* Finishes what is being answered, makes everything durable, closes (blocks, some seconds at most). NULL is fine. */
void server_stop(struct server *server);

#endif
