/* Inside the client. Who owns whom:
 *
 *   client ── poller
 *     ├─ node (an address) ── conn (its connection, made when first needed, again after it was cut) ── calls in flight
 *     └─ table ── leaders (nodes, by bucket), schemas
 *
 * A call waits in its connection's map by request id; client_pump receives for all connections and marks calls done, so
 * whoever waits for one call serves all of them. A call is never freed while it waits: call_deinit takes it out first,
 * and the answer that still comes is dropped. */
#ifndef WEIR_CLIENT_CLIENT_INT_H
#define WEIR_CLIENT_CLIENT_INT_H

#include "base/map.h"
#include "client/client.h"

#define CLIENT_CONNECT_MS 10000 /* of one connection, handshake included */
#define CLIENT_BACKOFF_NS 50000000
#define CLIENT_BACKOFF_NS_MAX 1000000000
#define CLIENT_EVENTS_MAX 64
#define CLIENT_VERSIONS_MAX 128 /* calls of the protocol that we know */

struct conn;

/* One request and its answer. The zero value is a call that was not made. */
struct call {
    struct conn *conn; /* while it waits */
    int32_t id;
    enum wire_key key;
    bool done;
    struct err err; /* done: OK, or why there is no answer, or the server's error */
    struct buf frame;
    struct slice body; /* of the answer, in frame */
};

struct conn {
    struct client *client;
    struct os_socket *socket;
    char name[300]; /* "127.0.0.1:9123" */
    struct wire_splitter in;
    struct wire_out out;
    bool wants_write; /* what the poller was told */
    bool closed;      /* nothing goes over it any more */
    struct err why;   /* closed */
    int32_t next_id;
    struct map calls;                      /* struct call by id */
    int16_t versions[CLIENT_VERSIONS_MAX]; /* by place in wire_apis; -1: not served */
};

struct node {
    char host[256];
    uint16_t port;
    struct conn *conn; /* NULL: none yet */
};

struct tablet {
    int32_t id;
    struct node *node;
};

struct client {
    struct os *os;
    int64_t timeout_ns;
    int64_t deadline_ns; /* INT64_MAX: none */
    unsigned cancelled;  /* atomic */
    char software[64];
    struct buf login; /* the token of SASL/PLAIN; empty: no login */
    struct os_poller *poller;
    bool adopted;             /* one connection, which was given */
    VEC(struct node *) nodes; /* by address; [0] is the bootstrap server */
    struct node *coordinator;
    VEC(struct tablet) tablets;
    size_t turn; /* which tablet server to ask next */
};

/* ---- conn.c ---- */

/* Becomes the owner of the socket, also where it fails. Shakes hands by the deadline. *slot is NULL, or a closed
 * connection, whose place the new one takes: who points to it then points to the new one. On failure it is closed. */
MUST_CHECK enum err_code conn_open(struct client *client, struct os_socket *socket, const char *name,
                                   int64_t deadline_ns, struct conn **slot, struct err *err);
void conn_destroy(struct conn *conn); /* its calls are done with CLOSED */
/* Ends it: its calls are done with the error. */
void conn_close(struct conn *conn, const struct err *why);
void conn_event(struct conn *conn, unsigned ready);
void conn_flush(struct conn *conn);
bool conn_serves(const struct conn *conn, enum wire_key key);

/* ---- call.c ---- */

/* Sends a request. The call must be zero or deinited. errors: CLOSED, UNSUPPORTED_VERSION, LIMIT; it is then not made.
 */
MUST_CHECK enum err_code call_start(struct call *call, struct conn *conn, enum wire_key key, void *request,
                                    struct err *err);
void call_deinit(struct call *call);
/* Waits until it is done; gives the call's own error, or DEADLINE (it then still waits: deinit it or come back). */
MUST_CHECK enum err_code call_wait(struct client *client, struct call *call, int64_t deadline_ns, struct err *err);
/* The answer of a call that is done without error; it borrows from the call. errors: CORRUPT_MESSAGE and LIMIT, which
 * also end the connection. */
MUST_CHECK enum err_code call_decode(struct call *call, struct arena *arena, void *response, struct err *err);
/* Start, wait, decode; the answer borrows from the arena alone. */
MUST_CHECK enum err_code call_exchange(struct conn *conn, enum wire_key key, void *request, int64_t deadline_ns,
                                       struct arena *arena, void *response, struct err *err);
/* Called by the connection for each whole frame. Errors end the connection. */
MUST_CHECK enum err_code call_answer(struct conn *conn, struct buf *frame, struct err *err);

/* ---- cluster.c ---- */

/* Waits for whatever comes first, on all connections, until the deadline. */
void client_pump(struct client *client, int64_t deadline_ns);
/* errors: SHUTTING_DOWN after client_cancel. */
MUST_CHECK enum err_code client_check_cancelled(const struct client *client, struct err *err);
int64_t client_limit(const struct client *client); /* when a call that starts now must have ended */
bool client_expired(const struct client *client);
/* Sleeps a little, more each time (*backoff_ns is 0 at first); false when the deadline leaves no time. Connections are
 * served meanwhile. */
bool client_backoff(struct client *client, int64_t *backoff_ns, int64_t deadline_ns);
MUST_CHECK enum err_code client_node_conn(struct client *client, struct node *node, struct conn **conn,
                                          struct err *err);
/* The node of a tablet server, or NULL. */
struct node *client_tablet(struct client *client, int32_t id);
/* GET_METADATA for all nodes, one table (NULL: none) and some of its partitions; learns the nodes. */
MUST_CHECK enum err_code client_metadata(struct client *client, const struct client_path *path, int64_t *partition_ids,
                                         size_t partition_count, struct arena *arena,
                                         struct wire_metadata_response *response, struct err *err);
/* The error in an entry of an answer: wire number and text. */
enum err_code client_entry_error(int32_t wire, bool has_text, struct slice text, struct err *err);

/* ---- table.c ---- */

struct client_table_state {
    struct arena arena;
    uint32_t refs;
    struct map schemas;    /* struct client_schema by id, less the latest */
    struct node **leaders; /* of each place; NULL: not known */
    /* Of the partitions, gone ones only by id. */
    struct map partitions_by_id;
    struct map partitions_by_name;
    struct map partitions_by_values; /* the first of twins, by the one name of its values */
    uint32_t partition_cap;
    uint32_t gone_count;
    struct buf partition_name; /* scratch */
};

/* The connection to the leader of a place; asks for the metadata if need be, and again while there is none.
 * errors: PARTITION_NOT_EXISTS where it is gone. */
MUST_CHECK enum err_code table_leader(struct client_table *table, int32_t place, struct conn **conn, struct err *err);
void table_forget_leaders(struct client_table *table);
/* The failure may pass when the leaders are looked up again or a moment is waited. */
bool table_may_retry(const struct client_table *table, enum err_code code);

/* ---- partition.c ---- */

void table_partitions_deinit(struct client_table *table);
/* By id; NULL: not known. */
struct client_partition *table_partition(const struct client_table *table, int64_t partition_id);
/* The error may say that a partition was dropped: looks, and tells whether one was that was not known to be gone. Adds
 * no places. */
MUST_CHECK enum err_code table_lost_partitions(struct client_table *table, enum err_code code, bool *lost,
                                               struct err *err);
/* The place that an answer names. errors: CORRUPT_MESSAGE. */
MUST_CHECK enum err_code table_place(const struct client_table *table, bool has_partition, int64_t partition_id,
                                     int32_t bucket, int32_t *place, struct err *err);

/* Sets partition_id of a message about a bucket. */
#define TABLE_SET_PARTITION(message, table, place)                                        \
    do {                                                                                  \
        const struct client_partition *partition_ = client_place_partition(table, place); \
        if (partition_)                                                                   \
            WIRE_SET(message, partition_id, partition_->id);                              \
    } while (0)

/* ---- fan.c: one call to the leaders of many buckets ---- */

/* Places of a table with one leader; of one partition with table_fan.by_partition. */
struct table_share {
    struct conn *conn;
    int32_t *places;
    uint32_t place_count;
    void *request;
    struct call call;
};

/* request fills the zeroed message for a share's buckets, in the arena; response takes the answer. */
typedef void table_fan_request(void *arg, const struct table_share *share, struct arena *arena, void *request);
typedef enum err_code table_fan_response(void *arg, const struct table_share *share, const void *response,
                                         struct err *err);
struct table_fan {
    enum wire_key key;
    const bool *wanted; /* by place; NULL: all */
    bool by_partition;  /* a request names one partition */
    table_fan_request *request;
    table_fan_response *response;
    void *arg;
};
/* To all leaders at once; the whole again, by client_limit, where table_may_retry says so: response may be called more
 * than once for a bucket. Places that are gone are left out. What it borrows lies in the arena. */
MUST_CHECK enum err_code table_fan_out(struct client_table *table, const struct table_fan *fan, struct arena *arena,
                                       struct err *err);

/* ---- value.c: stored values into rows of the table's schema ---- */

/* Schema id and row, as look-ups and scans answer. row has column_count places; bytes borrow from value. */
MUST_CHECK enum err_code table_value_decode(struct client_table *table, struct slice value, struct arena *arena,
                                            struct datum *row, struct err *err);

#endif
