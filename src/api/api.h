/* The requests: a frame becomes a call, its handler fills in the answer, now or later.
 *
 * served.def lists what is served, in which versions and where its handler runs; each handler is one file named as the
 * wire names the request. API_VERSIONS answers exactly that list. A key or version that is not in it is answered with
 * UNSUPPORTED_VERSION, a body that is not a message with CORRUPT_MESSAGE: every request gets an answer.
 *
 * thread: api_net_owner's calls are made by net on the connection's loop; the rest says it. */
#ifndef WEIR_API_API_H
#define WEIR_API_API_H

#include "auth/auth.h"
#include "bucket/bucket.h"
#include "net/net.h"
#include "trace/trace.h"

struct api;

/* One address that clients may use: what GET_METADATA answers to whoever came in here. The tag of its connections. */
struct api_listener {
    const char *name; /* "FLUSS" */
    const char *host; /* advertised */
    uint16_t port;
    bool internal;                  /* weir's own tiering service */
    const struct auth_users *users; /* atomic. SASL: who may come in; NULL: everybody */
};

/* What SCAN_KV allows: kv.scanner.*. */
struct api_scan_limits {
    unsigned per_bucket_max;
    unsigned count_max;
    int64_t idle_ms_max;
    size_t batch_bytes_max;
};

/* Whether access lists count, and who stands above them. */
struct api_access {
    bool enabled;
    bool ignore_case; /* of names */
    const struct acl_supers *supers;
};

/* One step of ALTER_CLUSTER_CONFIGS; the numbers are the protocol's. */
enum api_option_op { API_OPTION_SET = 0, API_OPTION_DELETE = 1, API_OPTION_APPEND = 2, API_OPTION_SUBTRACT = 3 };
struct api_option_change {
    enum api_option_op op;
    struct slice name;
    struct slice value; /* ptr NULL: none was given */
};
struct api_option {
    struct slice name;
    struct slice value; /* hidden where it is a secret */
    bool altered;
};

struct api_config {
    struct os *os;
    struct trace *trace;
    struct metrics *metrics; /* may be NULL */
    struct meta *meta;
    struct tiering *tiering;
    struct buckets *buckets;
    struct pool *pool; /* for what may block */
    struct table_cluster cluster;
    int64_t freshness_ms_default; /* later: api_set_freshness_default */
    int64_t producer_ttl_ms;      /* coordinator.producer-offsets.ttl */
    int32_t server_id;
    size_t partition_max;    /* max.partition.num, of one table */
    size_t answer_bytes_max; /* of one answer, whatever was asked */
    struct api_scan_limits scans;
    struct api_access access;
    /* Makes the lake table of a new table with table.datalake.enabled, before it is stored (blocks). NULL: no lake.
     * errors: LAKE_TABLE_ALREADY_EXIST, LAKE. */
    enum err_code (*lake_create)(void *arg, struct slice database, struct slice name,
                                 const struct table_descriptor *table, struct err *err);
    /* Brings the lake table to the altered table's shape, or makes it where the lake was just enabled: one that is
     * there already is taken, with or without rows, if it fits (blocks). */
    enum err_code (*lake_alter)(void *arg, struct slice database, struct slice name,
                                const struct table_descriptor *table, bool just_enabled, struct err *err);
    /* A snapshot of this id is, or was, in the lake table (blocks). errors: LAKE_SNAPSHOT_NOT_EXIST; IO. */
    enum err_code (*lake_check_snapshot)(void *arg, struct slice database, struct slice name, int64_t snapshot_id,
                                         struct err *err);
    /* Entries datalake.<format>.* of the server's options: shown to clients of lake-enabled tables. */
    const struct properties *lake_options;
    void *lake_arg;
    /* Alters the server's options, all or none (blocks). errors: CONFIG_EXCEPTION. */
    enum err_code (*options_alter)(void *arg, const struct api_option_change *changes, size_t count, struct err *err);
    /* Those in effect, in arena. */
    void (*options_list)(void *arg, struct arena *arena, struct api_option **items, size_t *count);
    void *options_arg;
};

void api_create(const struct api_config *config, struct api **api);
/* No connection may be left. NULL is fine. */
void api_destroy(struct api *api);
struct net_owner api_net_owner(struct api *api);
/* Finishes the alterations that the last run had begun, before the tables are opened (blocks). One that still can't be
 * finished stays, with a line in the trace: it is tried again at the next start, and by the next ALTER of its table.
 * errors: those of the metadata. */
MUST_CHECK enum err_code api_alters_finish(struct api *api, struct err *err);
/* A table of the metadata at start: its buckets, those of its partitions, and its place in the tiering schedule, which
 * is told what the lake holds (blocks). errors: as bucket_open. */
MUST_CHECK enum err_code api_table_open(struct api *api, const struct table_info *table, struct err *err);
/* For tables that set none, from now on. thread: any. */
void api_set_freshness_default(struct api *api, int64_t freshness_ms);
/* Ends what is being held (long polls) with what there is; the server is stopping. */
void api_stop(struct api *api);
/* Makes and drops the partitions by time of all tables (blocks). One call at a time. */
void api_time_partitions_check(struct api *api);
/* To be called some times a second: calls that wait for memory look again, and clients that hold it without end go. */
void api_tick(struct api *api, struct net *net);
/* A table is due: heartbeats that are held look again. thread: any. */
void api_tiering_due(struct api *api);

#endif
