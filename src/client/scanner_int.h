/* Inside the scanner.
 *
 *   fetch (one a node, in flight) → answer (frame, and a chunk of batches for each bucket) → batch, decoded
 *
 * As soon as an answer is in, the next fetch of its buckets goes out: their next offsets stand in the batches' headers.
 * No more than one answer waits to be read, so what is in memory is bounded by two answers a node. */
#ifndef WEIR_CLIENT_SCANNER_INT_H
#define WEIR_CLIENT_SCANNER_INT_H

#include "client/client_int.h"

#define SCANNER_WAIT_MS 500
#define SCANNER_ANSWER_BYTES (16 << 20)
#define SCANNER_BUCKET_BYTES (4 << 20)

struct part { /* a bucket */
    struct client_scan_bucket range;
    int64_t position; /* everything before it was given out */
    int64_t fetch;    /* the next to ask for */
    int64_t high_watermark;
    bool in_flight;
    bool is_gone; /* its partition was dropped: nothing more comes */
};

struct chunk {
    struct part *part;
    struct slice rest;
};

struct fetch {
    struct conn *conn;
    struct call call;
    VEC(struct part *) parts;
    size_t at; /* where the next part of the answer is looked for: they come in the order in which they were asked */
    int64_t until_ns;
};

struct answer {
    struct buf frame;
    struct arena arena;
    VEC(struct chunk) chunks;
    size_t at;
};

/* How batches of one schema become the columns asked for. */
struct shape {
    int32_t schema_id;
    const struct type *row; /* of the batch as it comes */
    int32_t *from;          /* for each column asked for its place in the batch, -1: null */
};

struct client_scanner {
    struct client_table *table;
    struct client_scanner_options options;
    VEC(struct part *) parts;
    uint32_t *columns;
    uint32_t column_count;
    bool pushed; /* the server leaves the other columns out */
    VEC(struct fetch *) fetches;
    VEC(struct answer *) answers; /* [0] is being read */
    struct arena arena;           /* of the scanner: shapes */
    VEC(struct shape *) shapes;
    struct arena scratch; /* of the batch that was given out */
    struct arrow_codec codec;
    int64_t progress_ns; /* when a node last answered well */
    int64_t backoff_ns;
    int64_t again_ns; /* no fetch before */
};

/* scanner_fetch.c */

/* Asks for all buckets that are not asked for and not at their stop. errors: those that stay. */
MUST_CHECK enum err_code scanner_ask(struct client_scanner *scanner, struct err *err);
/* Takes one answer that is there into the queue; *took false: none is there. An answer without batches is none. */
MUST_CHECK enum err_code scanner_take(struct client_scanner *scanner, bool *took, bool *was_empty, struct err *err);
/* Everything wanted of the part was given out, or can't come any more. */
bool part_is_done(const struct part *part);
void fetch_destroy(struct fetch *fetch);
void answer_destroy(struct answer *answer);

/* scanner_batch.c */

/* The next batch of the chunk; *have false: the chunk has no more. */
MUST_CHECK enum err_code chunk_next(struct client_scanner *scanner, struct chunk *chunk, struct client_batch *batch,
                                    bool *have, struct err *err);

#endif
