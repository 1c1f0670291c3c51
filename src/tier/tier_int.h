/* Shared by the files of tier; see tier.h. */
#ifndef WEIR_TIER_TIER_INT_H
#define WEIR_TIER_TIER_INT_H

#include "client/client.h"
#include "lake/paimon/paimon.h"
#include "tier/tier.h"

#define TIER_WAIT_MS 30000          /* a heartbeat without a table is held by the server so long */
#define TIER_POLL_NS 1000000000     /* between heartbeats where it is not */
#define TIER_RENEW_NS 20000000000   /* a round is told of this often */
#define TIER_RETRY_NS 1000000000    /* between attempts to reach the server */
#define TIER_SILENCE_NS 60000000000 /* the log gave nothing for so long: the round is given up */
#define TIER_TRIM_BYTES (8u << 20)  /* moved at once, after which memory is given back */

/* A thread's way to the server. */
struct link {
    struct tier *tier;
    struct client *client; /* NULL: not connected; written under tier->mutex, for the thread that cancels */
};

/* ---- keep.c ---- */

/* One table as the keeper knows it. Written under tier->mutex; taken out by the keeper alone. */
struct kept_table {
    struct arena arena;
    int64_t table_id;
    struct slice database, table;
    int64_t freshness_ms;
    bool fresh;        /* committed since the keeper last looked */
    bool merged;       /* at rest, and merged in full */
    int64_t rest_ns;   /* it is at rest then, if nothing comes */
    int64_t expire_ns; /* when a snapshot may expire; 0 and INT64_MAX: none */
    int64_t retry_ns;  /* not before; 0: no failure */
};

struct keeper {
    struct link link;
    struct os_thread *thread;
    VEC(struct kept_table *) tables; /* under tier->mutex */
};

struct worker {
    struct link link;
    struct os_thread *thread;
    unsigned number;
    bool epoch_known;
    int32_t coordinator_epoch;
};

struct tier {
    struct tier_config config;
    char rounds_dir[OS_PATH_MAX];
    char sort_dir[OS_PATH_MAX];
    struct os_file *lock;
    unsigned stopping; /* atomic */
    struct os_mutex mutex;
    struct os_cond changed; /* the stop, and for the keeper: a commit */
    struct worker *workers;
    unsigned worker_count; /* with a thread */
    struct keeper keeper;
};

/* ---- tier.c ---- */

static inline bool tier_stopping(const struct tier *tier)
{
    return __atomic_load_n(&tier->stopping, __ATOMIC_ACQUIRE);
}

/* Sleeps, less when the service stops. */
void tier_pause(struct tier *tier, int64_t ns);
/* Connects if need be. */
MUST_CHECK enum err_code link_open(struct link *link, struct err *err);
void link_close(struct link *link);
/* The failure is of the connection: the link is to be made anew. */
bool link_is_cut(enum err_code code);

/* ---- beat.c ---- */

/* A table handed out. */
struct job {
    int64_t table_id;
    struct slice database, table; /* in the arena of the beat */
    int64_t tiering_epoch;
};

/* How a round ended. */
struct report {
    const struct job *job;
    bool failed;
    char text[240];    /* failed: why, and what helps */
    bool more;         /* it was cut short: due again at once */
    int64_t row_count; /* rows that the lake table holds; -1: not known */
};

/* Reports (unless NULL) and asks for a table, which is waited for; *have false: there was none in the time. */
MUST_CHECK enum err_code beat(struct worker *worker, const struct report *report, struct arena *arena, struct job *job,
                              bool *have, struct err *err);
/* Only tells how it ended, without asking for more. */
void beat_report(struct worker *worker, const struct report *report);
/* Tells that the round goes on. errors: also why it may not: the table is dropped or was given to somebody else. */
MUST_CHECK enum err_code beat_renew(struct worker *worker, const struct job *job, struct err *err);

/* ---- worker.c ---- */

void worker_run(void *arg);

/* ---- source.c: a table on both sides ---- */

/* A table of the server and its place in the lake, as a round and the keeper need them. */
struct source {
    struct client_table *table;
    struct paimon_table *lake;
    struct paimon_snapshot newest;          /* of the tiering user, in the arena; id 0: none */
    struct client_lake_snapshot registered; /* in the arena; id 0: none, offsets all -1 */
};

/* Opens both, and registers a lake snapshot that a crash left unregistered. errors: TABLE_NOT_EXIST where the name is
 * another table now; LAKE where the two sides contradict each other. Whatever happens, source_close. */
MUST_CHECK enum err_code source_open(struct tier *tier, struct client *client, struct client_path path,
                                     int64_t table_id, struct arena *arena, struct source *source, struct err *err);
void source_close(struct source *source);
/* The fluss-offsets of a snapshot; ptr NULL: none. */
struct slice source_offsets_path(const struct paimon_snapshot *snapshot);

/* ---- round.c ---- */

/* One round at one table, while it runs. */
struct round {
    struct worker *worker;
    const struct job *job;
    struct arena arena;
    struct source source;
    struct paimon_round *files;
    /* By place of the Fluss table. */
    size_t place_count;
    int64_t *start; /* the first offset that is new; -1: none is */
    int64_t *latest;
    int64_t *end;                    /* V: read up to here; -1: as it was before */
    int64_t *times;                  /* commit time of its last batch; -1: none */
    struct paimon_bucket **files_of; /* NULL: none yet */
    bool any;                        /* something is new */
    bool cut;                        /* there is more than one round moves */
    int64_t begun_ns, renewed_ns, heard_ns;
    uint64_t bytes, row_count;
    int64_t inserted, deleted; /* of a primary-key table */
    bool counts_known;         /* false: an update may be an insert (changelog image WAL) */
    struct paimon_committed committed;
    int64_t rows_in_lake; /* -1: not known */
};

/* errors: any. Files are taken back. */
MUST_CHECK enum err_code round_run(struct worker *worker, const struct job *job, struct report *report,
                                   struct err *err);
/* Called between batches: may it go on? Tells the server that it does. */
MUST_CHECK enum err_code round_breathe(struct round *round, struct err *err);

/* ---- read.c ---- */

/* The log of all buckets from start to latest into files; end, times, bytes, row_count and cut tell how far. */
MUST_CHECK enum err_code round_read(struct round *round, struct err *err);

/* ---- keep.c ---- */

void keeper_run(void *arg);
/* A round committed. */
void keeper_note(struct tier *tier, const struct client_table *table);
void keeper_deinit(struct keeper *keeper);

#endif
