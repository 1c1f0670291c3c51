/* A server that a test scripts: a thread at the other end of a socket pair. It answers API_VERSIONS with all calls of
 * the protocol (or the test's own list) and hands everything else to the test's handler. */
#ifndef WEIR_TEST_LIB_PEER_H
#define WEIR_TEST_LIB_PEER_H

#include "wire/wire.h"

struct peer;

/* On the peer's thread; body lives for the call. */
typedef void peer_fn(struct peer *peer, const struct wire_request_header *header, struct slice body);

struct peer {
    peer_fn *handle; /* NULL: nothing is answered */
    void *arg;
    const struct wire_pb_api_version *versions; /* NULL: those of wire_apis */
    size_t version_count;
    struct arena arena; /* of one request */
    struct os_socket *socket;
    struct os_socket *client; /* for the client to take */
    struct os_thread *thread;
};

/* Fill in the first four fields (or {0}), start, take peer.client, and stop after the client is closed. */
void peer_start(struct peer *peer);
void peer_stop(struct peer *peer);

/* For handlers. */
void peer_decode(struct peer *peer, const struct wire_request_header *header, struct slice body, void *request);
void peer_reply(struct peer *peer, const struct wire_request_header *header, void *response);
void peer_error(struct peer *peer, const struct wire_request_header *header, enum err_code code, const char *text);
void peer_raw(struct peer *peer, struct slice bytes);
void peer_close(struct peer *peer); /* nothing comes after */

#endif
