/* The tiering service: brings what is new in the tables of a server to the lake. It knows the server only through the
 * client protocol, so it works inside a weir server, as a process of its own, and for a stock Fluss cluster.
 *
 *   workers  ask for a table that is due (LAKE_TIERING_HEARTBEAT), run one round at it, report, ask again
 *   keeper   one thread behind the rounds: compacts, merges tables at rest, lets snapshots expire
 *
 * A round: what the lake holds up to V (GET_LAKE_SNAPSHOT) and the end of the log (LIST_OFFSETS); the log between them,
 * bucket by bucket, into Parquet files; PREPARE; one lake commit that carries the new V; COMMIT. V is always between
 * two batches of the log, so never between the two halves of an update. Each step may be the last one: files that no
 * snapshot names are swept at the next start, and a snapshot that was not registered is found in the lake by the next
 * round (it is the newest of PAIMON_TIERING_USER) and registered then; nothing is tiered twice.
 *
 * A table that can't be tiered is reported with the reason and what helps, and stops no other: due again later, it is
 * tried again. One that is dropped meanwhile is let go without a word.
 *
 * Metrics are in the lines of the trace: one for each round (tier round_done), compaction and expiry.
 *
 * thread: start and stop by one thread. */
#ifndef WEIR_TIER_TIER_H
#define WEIR_TIER_TIER_H

#include "os/os.h"
#include "trace/trace.h"

#define TIER_WORKERS_MAX 64
#define TIER_ROW_COUNT_PROPERTY "weir.row-count" /* of our lake snapshots: rows that the table holds then */

struct tier;

/* A connected socket to the server; the tiering service becomes its owner. */
typedef enum err_code tier_connect_fn(void *arg, struct os_socket **socket, struct err *err);

struct tier_config {
    struct os *os;
    struct trace *trace; /* NULL is fine */
    /* How to reach the server: by connect, called by each thread, again after a cut; or where it is NULL by address. */
    tier_connect_fn *connect;
    void *connect_arg;
    const char *host;
    uint16_t port;
    /* A directory of this service alone, made at need: for sorting, and the names of rounds that are under way. It may
     * be lost while the service is down, but then files of a killed round stay in the lake. */
    const char *dir;
    unsigned worker_count;     /* 1..TIER_WORKERS_MAX: tables moved side by side */
    size_t sort_bytes;         /* memory of a worker for sorting */
    uint64_t round_bytes_max;  /* of log that one round moves; more follows in the next one */
    int64_t expire_ms;         /* lake snapshots older than this expire, unless the table says otherwise */
    uint32_t expire_count_max; /* and those beyond this many */
};

/* The threads run when it returns; config's strings are borrowed until the stop. A server that can't be reached is
 * tried again and again. errors: of the directory; LOCKED: another service has it. */
MUST_CHECK enum err_code tier_start(const struct tier_config *config, struct tier **tier, struct err *err);
/* Gives up what is under way between two batches, takes back what it wrote, ends (blocks, about a second at most). The
 * server must still answer. NULL is fine. */
void tier_stop(struct tier *tier);

#endif
