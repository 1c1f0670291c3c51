/* Inside the writer. Rows of a place go into its lane's builder; a full builder becomes a batch with the bucket's next
 * sequence; batches wait in the bucket's queue, the first `sent` of them on their way.
 *
 *   put → builder → seal → queue [sent | waiting] → answer → acknowledged
 *
 * Answers are taken from the front. When the front failed in a way that may pass, the bucket waits until all that were
 * sent are answered, then sends them again in order: the server knows the sequences it has and stores each batch once.
 */
#ifndef WEIR_CLIENT_WRITER_INT_H
#define WEIR_CLIENT_WRITER_INT_H

#include "client/client_int.h"

#define WRITER_BATCH_BYTES (1u << 20)
#define WRITER_PENDING_BYTES (32u << 20)
#define WRITER_RETRY_MS 60000

struct batch {
    int32_t sequence;
    int64_t row_count;
    struct buf bytes;
    struct call call;
    int64_t sent_ns;  /* the last time */
    int64_t until_ns; /* tried no longer; 0: not tried yet */
};

struct lane {
    int32_t place;
    int32_t next_sequence;
    bool open; /* one of the builders is made */
    struct log_batch_builder log;
    struct kv_batch_builder kv;
    int64_t open_rows;
    size_t open_bytes;
    VEC(struct batch *) queue;
    size_t sent;
    bool stalled;     /* the front failed; send nothing before all sent ones are answered */
    int64_t again_ns; /* and not before */
    int64_t backoff_ns;
    int64_t offset;
};

struct client_writer {
    struct client_table *table;
    struct client_writer_options options;
    int64_t writer_id;
    VEC(struct lane *) lanes; /* by place; NULL: nothing was written there */
    int32_t sticky;           /* where rows without a bucket key go now */
    uint64_t open_bytes;
    uint64_t pending_bytes; /* of all queues */
    int64_t acked;
    struct err failed; /* code OK: it works */
    struct arrow_codec codec;
    struct buf key;
    struct buf row;
    int32_t *targets; /* the columns that are written; NULL: all */
    size_t target_count;
};

/* writer_send.c */

/* What the lane's builder holds becomes a batch in its queue. */
void lane_seal(struct client_writer *writer, struct lane *lane);
void lane_destroy(struct lane *lane); /* NULL is fine */
/* Takes answers and sends what may be sent. A failure that stays is kept in writer->failed. */
void lane_drive(struct client_writer *writer, struct lane *lane);
/* Drives all lanes, and waits for something to happen if there is something to wait for. */
void writer_wait(struct client_writer *writer);

#endif
