/* The other end of a connection as a test wants it: frames and bytes, sent and received in step. Every wait ends the
 * test after 20 s. */
#ifndef WEIR_TEST_LIB_RAW_CLIENT_H
#define WEIR_TEST_LIB_RAW_CLIENT_H

#include "wire/wire.h"

struct raw {
    struct os_socket *socket;
    struct arena arena; /* of what was received */
    struct buf in;      /* received and not yet taken */
    int32_t last_id;
};

void raw_dial(struct raw *raw, uint16_t port); /* at 127.0.0.1 */
void raw_take(struct raw *raw, struct os_socket *socket);
void raw_close(struct raw *raw);

/* All of it; waits while the peer takes nothing. */
void raw_send_bytes(struct raw *raw, struct slice bytes);
/* A request, with the next id, which it gives. */
int32_t raw_send(struct raw *raw, int16_t key, void *request);
/* The frame that raw_send would send, with that id, appended to out. */
void raw_frame(struct buf *out, int16_t key, int32_t request_id, void *request);

/* The next frame without its length field, valid until the next call; ptr NULL: the peer has closed. */
struct slice raw_receive_frame(struct raw *raw);
/* The answer to a request of this key: its id and OK with *response, or the error that it is. */
enum err_code raw_receive(struct raw *raw, int16_t key, int32_t *request_id, void *response, struct err *err);
/* Sends and receives; the answer must be to this request. */
enum err_code raw_call(struct raw *raw, int16_t key, void *request, void *response, struct err *err);
/* Everything up to the end of the stream, appended to out. */
void raw_receive_rest(struct raw *raw, struct buf *out);
/* True: the peer has closed; false: it sent something first. */
bool raw_is_closed(struct raw *raw);

#endif
