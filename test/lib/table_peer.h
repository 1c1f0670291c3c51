/* A scripted peer (lib/peer.h) that holds one table in memory: what tests of writers, scanners and look-ups talk to.
 * It keeps log batches as they come, refuses sequences as a server does, and fails where the test says. */
#ifndef WEIR_TEST_LIB_TABLE_PEER_H
#define WEIR_TEST_LIB_TABLE_PEER_H

#include "base/map.h"
#include "format/batch/batch.h"
#include "lib/peer.h"

#define TABLE_PEER_BUCKETS_MAX 8
#define TABLE_PEER_ID 7

/* What becomes of the n-th request (from 0) of a key. */
enum fault {
    FAULT_NONE,
    FAULT_NOT_LEADER, /* the bucket's error, nothing done */
    FAULT_LOST,       /* done, and answered with a time-out */
    FAULT_DUPLICATE,  /* done, and answered with DUPLICATE_SEQUENCE */
    FAULT_FATAL,      /* INVALID_TABLE */
    FAULT_REFUSED,    /* the whole request is an error */
    FAULT_GARBAGE     /* records are no batch; a value is no row */
};
typedef enum fault table_peer_fault(void *arg, int16_t key, uint32_t n);

struct table_peer {
    struct peer peer;
    struct slice table_json;
    int32_t bucket_count;
    table_peer_fault *fault; /* NULL: none */
    void *fault_arg;
    struct slice old_schema_json; /* answered for every schema id but schema_id */
    int32_t schema_id;            /* 0: 1 */
    struct {
        struct buf log;
        int64_t end;
        int32_t sequence; /* the last one, -1: none */
    } buckets[TABLE_PEER_BUCKETS_MAX];
    struct map values;    /* struct buf by key: what was put */
    uint32_t counts[128]; /* requests by key - 1000 */
};

/* The first two fields (and what else is wanted) are set; gives the socket for the client. */
struct os_socket *table_peer_start(struct table_peer *t);
void table_peer_stop(struct table_peer *t);
/* Appends a batch to a bucket's log, at its end, with this time. Before the client asks. */
void table_peer_append(struct table_peer *t, int32_t bucket, struct slice batch, int64_t timestamp_ms);

#endif
