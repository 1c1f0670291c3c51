/* The client side of the protocol: connections, metadata, administration, writers, scanners, look-ups. It works with a
 * weir server and with a stock Apache Fluss cluster alike.
 *
 *   struct client_options options = {.os = os, .host = "127.0.0.1", .port = 9123};
 *   client_open(&options, &client, &err)
 *   client_table_open(client, client_path(SLICE("fluss"), SLICE("orders")), &table, &err)
 *   ... client_writer_create(client, table, ...), client_scanner_create(...), client_lookup(...)
 *   client_table_unref(table); client_close(client)
 *
 * Calls block until their answer is there; inside, many requests are in flight at once on one connection a node, and
 * answers may come in any order. What a call may take: options.timeout_ms for each exchange, and client_deadline over
 * all of them. What may be tried again is: a node that is not the leader any more, a connection that was cut under a
 * call that changes nothing, an error that the protocol calls retriable. A call that changes something is sent once
 * (writers send again under the same sequence, so that a batch is stored once).
 *
 * errors  AUTHENTICATE_EXCEPTION the login was refused, or one is needed; UNREACHABLE nobody listens there; CLOSED the
 * connection was cut; DEADLINE; UNSUPPORTED_VERSION the server does not list the call; CORRUPT_MESSAGE an answer that
 * is none; else the server's own error with its text. thread  one struct client, and whatever was made with it, belongs
 * to one thread at a time. Workers make their own. */
#ifndef WEIR_CLIENT_CLIENT_H
#define WEIR_CLIENT_CLIENT_H

#include "format/batch/batch.h"
#include "format/row/row.h"
#include "wire/wire.h"

#define CLIENT_TIMEOUT_MS 30000           /* of one exchange, where options.timeout_ms is 0 */
#define CLIENT_FRAME_BYTES_MAX (1u << 30) /* of one answer; a longer one ends the connection (LIMIT) */
#define CLIENT_NODES_MAX 1024
#define CLIENT_BUCKETS_MAX 65536    /* of one table, or of one partition */
#define CLIENT_PLACES_MAX (4 << 20) /* buckets of all partitions of one table, those that were dropped too */

struct client;

struct client_options {
    struct os *os;
    const char *host; /* of one server of the cluster; its metadata name the others */
    uint16_t port;
    /* In place of host and port: a connected socket to a server that plays all roles. All calls go over it; when it is
     * cut there is no other (CLOSED). The client becomes its owner, also where client_open fails. */
    struct os_socket *socket;
    int64_t timeout_ms;   /* 0: CLIENT_TIMEOUT_MS */
    const char *software; /* what API_VERSIONS calls us; NULL: "weir" */
    const char *user;     /* who logs in at each node, with SASL/PLAIN; NULL: no login */
    const char *password;
};

/* Connects, shakes hands, asks for the nodes. */
MUST_CHECK enum err_code client_open(const struct client_options *options, struct client **client, struct err *err);
void client_close(struct client *client); /* NULL is fine; tables, writers and scanners must be gone */
/* No call ends later (os_mono_ns); INT64_MAX: no such limit, the state at first. Gives what it was. */
int64_t client_deadline(struct client *client, int64_t mono_ns);
/* Whatever waits in the client, and every wait that comes, ends with SHUTTING_DOWN; again with false. thread: any. */
void client_cancel(struct client *client, bool on);
struct os *client_os(const struct client *client);

enum client_role { CLIENT_COORDINATOR, CLIENT_TABLET }; /* whom to ask: the coordinator, or any tablet server */
/* The node serves this call (API_VERSIONS). Connects if need be. */
MUST_CHECK enum err_code client_serves(struct client *client, enum client_role role, enum wire_key key, bool *serves,
                                       struct err *err);
/* Any call of the protocol that is not for a certain bucket. request and response are of the types of
 * wire_api_find(key); what the response borrows lies in the arena. again: the call changes nothing, so it may be sent
 * anew where the connection was cut. */
MUST_CHECK enum err_code client_call(struct client *client, enum client_role role, enum wire_key key, bool again,
                                     void *request, struct arena *arena, void *response, struct err *err);

/* ---- databases and tables ---- */

struct client_path {
    struct slice database;
    struct slice table;
};

static inline struct client_path client_path(struct slice database, struct slice table)
{
    return (struct client_path){database, table};
}

struct client_names {
    struct slice *items; /* in the caller's arena, sorted */
    size_t count;
};

MUST_CHECK enum err_code client_database_create(struct client *client, struct slice name,
                                                const struct database_descriptor *database, bool ignore_if_exists,
                                                struct err *err);
MUST_CHECK enum err_code client_database_drop(struct client *client, struct slice name, bool ignore_if_not_exists,
                                              bool cascade, struct err *err);
MUST_CHECK enum err_code client_database_list(struct client *client, struct arena *arena, struct client_names *names,
                                              struct err *err);
MUST_CHECK enum err_code client_database_exists(struct client *client, struct slice name, bool *exists,
                                                struct err *err);
/* The descriptor is sent as it is, less what table_descriptor_to_json leaves out; the server fills in its defaults. */
MUST_CHECK enum err_code client_table_create(struct client *client, struct client_path path,
                                             const struct table_descriptor *table, bool ignore_if_exists,
                                             struct err *err);
MUST_CHECK enum err_code client_table_drop(struct client *client, struct client_path path, bool ignore_if_not_exists,
                                           struct err *err);
/* What ALTER changes: columns behind the others, or options set and removed; never both. */
struct client_alteration {
    const struct schema_column *columns; /* the server gives the ids */
    uint32_t column_count;
    struct properties set;
    const struct slice *reset;
    uint32_t reset_count;
};
MUST_CHECK enum err_code client_table_alter(struct client *client, struct client_path path,
                                            const struct client_alteration *alteration, bool ignore_if_not_exists,
                                            struct err *err);
/* Options only. */
MUST_CHECK enum err_code client_database_alter(struct client *client, struct slice name,
                                               const struct client_alteration *alteration, bool ignore_if_not_exists,
                                               struct err *err);
MUST_CHECK enum err_code client_table_list(struct client *client, struct slice database, struct arena *arena,
                                           struct client_names *names, struct err *err);
MUST_CHECK enum err_code client_table_exists(struct client *client, struct client_path path, bool *exists,
                                             struct err *err);

/* ---- one table ---- */

/* One version of the columns. */
struct client_schema {
    int32_t id;
    struct schema schema;
    const struct type *row; /* the ROW of all columns */
};

/* One partition. It is never forgotten while its table is open, so that its places stay its own. */
struct client_partition {
    int64_t id;
    struct slice name;          /* "us$2024-01-02" */
    const struct slice *texts;  /* of its values, in the order of the partition keys */
    const struct datum *values; /* likewise, typed; NULL where the texts are none of their types */
    uint32_t index;             /* in table->partitions */
    uint32_t twin;  /* index of the first partition with the same values, most often its own: of some types a
                     * value has several names (FLOAT: 1 and 1_0), which the lake does not know */
    bool is_gone;   /* dropped since it was met */
    bool is_remade; /* one of this name was dropped before, and the lake may hold rows of it; weir servers tell */
};

/* What is known of a table; read only for others. It is that of its opening: drop it and open again to see changes of
 * the descriptor. The leaders of buckets are kept fresh inside.
 *
 * Places: every bucket of every partition has a place, a number from 0 on: partition index x bucket_count + bucket. Of
 * a table without partitions the place is the bucket. What is told of all buckets comes in arrays by place, as long as
 * client_place_count() says then; places are only ever added at the end, and only by the calls that say so. */
struct client_table {
    struct client *client;
    struct client_path path;
    int64_t id;
    struct client_schema schema; /* the latest at the opening */
    struct table_descriptor descriptor;
    struct table_keys keys;
    enum log_format log_format;
    enum row_format kv_format;
    struct arrow_options arrow; /* how the table wants its batches compressed */
    uint32_t *statistics;       /* positions of the columns whose bounds it wants in them (table.statistics.columns) */
    uint32_t statistics_count;
    int32_t bucket_count; /* of a partitioned table: of each partition */
    struct client_partition **partitions;
    uint32_t partition_count;
    int64_t created_ms;
    int64_t modified_ms;
    bool is_partitioned;
    bool has_primary_key;
    bool lake_enabled; /* table.datalake.enabled */
    /* What weir servers tell about tiering (GetTableInfoResponse, fields of weir); ptr NULL or -1 where they don't. */
    struct slice tiering_state;
    struct slice tiering_error;
    int64_t lake_row_count;
    int64_t lake_lag_ms;              /* age of the oldest change that the lake has not; 0: it has all */
    int64_t tiering_due_ms;           /* until the next round begins */
    struct client_table_state *state; /* private */
};

/* A partitioned table comes with the partitions that it has. */
MUST_CHECK enum err_code client_table_open(struct client *client, struct client_path path, struct client_table **table,
                                           struct err *err);
struct client_table *client_table_ref(struct client_table *table);
void client_table_unref(struct client_table *table); /* NULL is fine */
/* The columns of a batch or value, by the id that it carries; asked once and kept with the table. */
MUST_CHECK enum err_code client_table_schema(struct client_table *table, int32_t schema_id,
                                             const struct client_schema **schema, struct err *err);
/* The bucket of a row by the table's bucket key; -1 where the table has none and the writer may choose. */
MUST_CHECK enum err_code client_table_bucket(const struct client_table *table, const struct datum *row, int32_t *bucket,
                                             struct err *err);

static inline size_t client_place_count(const struct client_table *table)
{
    return (size_t)table->bucket_count * (table->is_partitioned ? table->partition_count : 1);
}

static inline int32_t client_place_bucket(const struct client_table *table, int32_t place)
{
    return place % table->bucket_count;
}

/* NULL for a table without partitions. */
static inline const struct client_partition *client_place_partition(const struct client_table *table, int32_t place)
{
    return table->is_partitioned ? table->partitions[place / table->bucket_count] : NULL;
}

/* The place is of a partition that was dropped. */
static inline bool client_place_is_gone(const struct client_table *table, int32_t place)
{
    return table->is_partitioned && client_place_partition(table, place)->is_gone;
}

/* ---- partitions ---- */

/* Asks which there are: adds places for new ones, marks those that are gone. Without partitions it does nothing. */
MUST_CHECK enum err_code client_partitions_refresh(struct client_table *table, struct err *err);
/* The partition of a row, by its partition columns; *partition is NULL where there is none, and for a table without
 * partitions. Asks the server about one that is not known, and adds places for it; with create it is made first where
 * it is not there. errors: INVALID_ARGUMENT a null; PARTITION_SPEC_INVALID_EXCEPTION, PARTITION_MAX_NUM_EXCEPTION and
 * others of the server's, when it is made. */
MUST_CHECK enum err_code client_partition_of(struct client_table *table, const struct datum *row, bool create,
                                             const struct client_partition **partition, struct err *err);
/* The first partition with these values that is not gone, or NULL; also where values is NULL. */
const struct client_partition *client_partition_by_values(const struct client_table *table, const struct datum *values);
/* spec: a text for each partition key (docs/formats/rows.md). */
MUST_CHECK enum err_code client_partition_create(struct client *client, struct client_path path,
                                                 const struct properties *spec, bool ignore_if_exists, struct err *err);
MUST_CHECK enum err_code client_partition_drop(struct client *client, struct client_path path,
                                               const struct properties *spec, bool ignore_if_not_exists,
                                               struct err *err);

/* ---- offsets ---- */

enum client_offset { CLIENT_EARLIEST, CLIENT_LATEST, CLIENT_TIMESTAMP }; /* the protocol's numbers */
/* The offset of each place. LATEST is the high watermark; TIMESTAMP the first batch not older. -1 for those that are
 * gone, also where they go during the call. */
MUST_CHECK enum err_code client_offsets(struct client_table *table, enum client_offset kind, int64_t timestamp_ms,
                                        int64_t *offsets, struct err *err);
/* The same of some places; -1 for the others. */
MUST_CHECK enum err_code client_offsets_of(struct client_table *table, enum client_offset kind, int64_t timestamp_ms,
                                           const bool *wanted, int64_t *offsets, struct err *err);
/* Rows of all places: live keys, or for a log table high watermark less start. */
MUST_CHECK enum err_code client_row_count(struct client_table *table, int64_t *rows, struct err *err);

/* ---- the lake ---- */

struct client_lake_snapshot {
    int64_t id;
    int64_t *offsets; /* by place, in the arena; -1 where the snapshot has none of a bucket */
};

enum client_lake_which { CLIENT_LAKE_LATEST, CLIENT_LAKE_READABLE, CLIENT_LAKE_BY_ID };
/* errors: LAKE_SNAPSHOT_NOT_EXIST where there is none (yet). id counts only with CLIENT_LAKE_BY_ID. Adds places where
 * the snapshot names a partition that is new; partitions that are gone are left out. */
MUST_CHECK enum err_code client_lake_snapshot(struct client_table *table, enum client_lake_which which, int64_t id,
                                              struct arena *arena, struct client_lake_snapshot *snapshot,
                                              struct err *err);

/* -1 for each place. */
int64_t *client_unknown_offsets(const struct client_table *table, struct arena *arena);

/* Tiering, as the protocol's messages: the heartbeat may be held by a weir server for max_wait_ms (the exchange is then
 * given that much more time); each table's error in the answers is the caller's to look at. */
MUST_CHECK enum err_code
client_tiering_heartbeat(struct client *client, struct wire_lake_tiering_heartbeat_request *request,
                         struct arena *arena, struct wire_lake_tiering_heartbeat_response *response, struct err *err);
/* Hands in the offsets that a coming lake commit reaches (by place, exclusive; -1 leaves a bucket out); gives the
 * path that the commit must carry as fluss-offsets. errors: also the table's own in the answer. */
MUST_CHECK enum err_code client_lake_prepare(struct client_table *table, const int64_t *offsets, struct arena *arena,
                                             struct slice *offsets_path, struct err *err);

struct client_lake_commit {
    int64_t snapshot_id;          /* as the lake gave it */
    struct slice offsets_path;    /* of client_lake_prepare */
    bool readable;                /* the offsets also count for readers (always, but with deletion vectors) */
    const int64_t *offsets;       /* as prepared; NULL: none are told (a commit found after a crash) */
    const int64_t *timestamps_ms; /* of the last row of each place, or NULL */
    /* Which registered snapshots stay: not told (false): this one alone; -1: all; else from this one on. */
    bool has_keep;
    int64_t keep_snapshot_id;
};
/* Sent once: a stock server that gets the same twice drops the offsets it has just registered. After CLOSED or DEADLINE
 * ask client_lake_snapshot whether it came through. */
MUST_CHECK enum err_code client_lake_commit(struct client_table *table, const struct client_lake_commit *commit,
                                            struct err *err);

/* ---- writing ---- */

struct client_writer;

struct client_writer_options {
    int16_t acks;           /* 0: taken as -1 (all replicas); or 1 */
    uint32_t batch_bytes;   /* a batch is sent when it is about this large; 0: 1 MiB */
    uint64_t pending_bytes; /* not yet acknowledged; beyond it the next row waits; 0: 32 MiB */
    int64_t retry_ms;       /* how long a batch is tried; 0: 60 s */
    bool no_new_partitions; /* a row of a partition that is not there is refused; else its partition is made */
};
#define CLIENT_WRITER_BATCHES_MAX 5 /* of a bucket in flight: as many as servers remember */

/* Asks for a writer id. The table is kept. */
MUST_CHECK enum err_code client_writer_create(struct client_table *table, const struct client_writer_options *options,
                                              struct client_writer **writer, struct err *err);
void client_writer_destroy(struct client_writer *writer); /* what was not flushed is dropped; NULL is fine */
/* One row, all columns, in the order of table->schema. A log table appends, a primary-key table upserts; the row is
 * copied. A column that the server numbers is null in it. It may wait for acknowledgements of earlier rows. errors:
 * INVALID_ARGUMENT the row does not fit, or its partition can't be (PARTITION_SPEC_INVALID_EXCEPTION,
 * PARTITION_MAX_NUM_EXCEPTION, PARTITION_NOT_EXISTS): the writer goes on; any other is final: the batch that failed and
 * all later ones of its bucket are not known to be stored, and the writer takes nothing more. */
MUST_CHECK enum err_code client_writer_put(struct client_writer *writer, const struct datum *row, struct err *err);
/* Of the row only the columns of the primary key are looked at. */
MUST_CHECK enum err_code client_writer_delete(struct client_writer *writer, const struct datum *row, struct err *err);
/* Sends everything and waits until it is acknowledged. */
MUST_CHECK enum err_code client_writer_flush(struct client_writer *writer, struct err *err);
/* Rows acknowledged so far. */
int64_t client_writer_acked(const struct client_writer *writer);
/* The end of what a bucket has acknowledged to this writer: base offset of its last batch of a log table, log end
 * offset of a primary-key table; -1: none. */
int64_t client_writer_offset(const struct client_writer *writer, int32_t place);

/* ---- reading the log ---- */

struct client_scanner;

struct client_scan_bucket {
    int32_t place;
    int64_t start; /* the first offset wanted */
    int64_t stop;  /* the first one not wanted; INT64_MAX: no end */
};

struct client_scanner_options {
    const uint32_t *columns; /* positions, strictly increasing; NULL: all */
    uint32_t column_count;
    int32_t wait_ms;      /* how long a server may hold an answer that would be empty; 0: 500 */
    int32_t answer_bytes; /* about, of one answer of a node; 0: 16 MiB */
    int32_t bucket_bytes; /* about, of one bucket in it; 0: 4 MiB */
};

/* One batch. Everything it points to lives until the next call on the scanner. */
struct client_batch {
    int32_t place;
    int32_t bucket; /* of the place */
    int64_t base_offset;
    int64_t next_offset;  /* of the batch behind; what is read is complete up to here (or to the bucket's stop) */
    int64_t timestamp_ms; /* commit time of the batch */
    int64_t high_watermark;
    size_t bytes;      /* of the batch in the log, or of the asked columns of it */
    int32_t schema_id; /* as it was written */
    /* Row i has offset base_offset + i. Columns are those asked for, of the table's schema: what the batch's own schema
     * lacks is null. count 0: a batch without rows, which is progress all the same. */
    struct log_batch_rows rows;
    uint32_t first; /* rows [first, end) lie between the bucket's start and stop */
    uint32_t end;
};

/* The buckets are copied, the table is kept. */
MUST_CHECK enum err_code client_scanner_create(struct client_table *table, const struct client_scan_bucket *buckets,
                                               size_t bucket_count, const struct client_scanner_options *options,
                                               struct client_scanner **scanner, struct err *err);
void client_scanner_destroy(struct client_scanner *scanner); /* NULL is fine */
/* More buckets to read, which were not among them. */
MUST_CHECK enum err_code client_scanner_add(struct client_scanner *scanner, const struct client_scan_bucket *buckets,
                                            size_t bucket_count, struct err *err);
/* The next batch of any bucket, in the order of its log. *have false: all buckets are at their stop, or nothing came
 * for about wait_ms. A bucket whose partition is dropped meanwhile counts as read to its end. What is no UTF-8 in a
 * text is U+FFFD. errors LOG_OFFSET_OUT_OF_RANGE_EXCEPTION: the log does not reach back so far; UNREADABLE_BATCH: its
 * writer sent it so; NOT_SUPPORTED: that part of the log lies in a stock server's remote storage; DEADLINE: no node
 * answered. memory  one answer being read, one on its way, and one batch decoded. */
MUST_CHECK enum err_code client_scanner_next(struct client_scanner *scanner, struct client_batch *batch, bool *have,
                                             struct err *err);
bool client_scanner_done(const struct client_scanner *scanner);
/* Where the bucket with this index in the list stands: everything before it has been given out. */
int64_t client_scanner_position(const struct client_scanner *scanner, size_t index);

/* ---- reading a primary-key table ---- */

/* Rows by key: of each of the count rows in keys (table->schema order) only the primary key's columns are looked at.
 * rows: out, count places; NULL where there is none, else in the arena. */
MUST_CHECK enum err_code client_lookup(struct client_table *table, const struct datum *const *keys, size_t count,
                                       struct arena *arena, struct datum **rows, struct err *err);

/* Called for each row of table->schema; it lives for the call. */
typedef enum err_code client_row_fn(void *arg, int32_t place, const struct datum *row, struct err *err);
#define CLIENT_LIMIT_MAX 65536
/* Up to limit rows of the table, at most CLIENT_LIMIT_MAX, bucket by bucket; of a log table the last ones of a bucket.
 */
MUST_CHECK enum err_code client_limit_scan(struct client_table *table, uint32_t limit, client_row_fn *fn, void *arg,
                                           struct err *err);
#define CLIENT_FOLD_BYTES_MAX (2ull << 30)
/* All rows of a primary-key table. offsets: out, by place (or NULL): the rows of a bucket are those of its changelog up
 * to there; -1: its partition is gone. Where the server has no SCAN_KV the changelog is read and folded in memory
 * (LIMIT beyond CLIENT_FOLD_BYTES_MAX of keys and rows; LOG_OFFSET_OUT_OF_RANGE_EXCEPTION where its beginning is gone).
 */
MUST_CHECK enum err_code client_scan_kv(struct client_table *table, client_row_fn *fn, void *arg, int64_t *offsets,
                                        struct err *err);
/* The same by folding the changelog of each bucket up to exactly stops[place]. */
MUST_CHECK enum err_code client_fold(struct client_table *table, const int64_t *stops, client_row_fn *fn, void *arg,
                                     struct err *err);

#endif
