/* What the handlers share; see api.h. */
#ifndef WEIR_API_API_INT_H
#define WEIR_API_API_INT_H

#include "api/api.h"

/* Where a handler runs. LOOP: on the connection's loop, must not block. POOL: on the pool, may block. */
enum api_where { API_LOOP, API_POOL };

struct api_call;

/* request and response are call->request and call->response. OK: the response is sent, unless the handler said
 * api_call_later(); WOULD_BLOCK: the handler runs once more with nothing done yet, where it may block, or when there is
 * room for the answer; anything else: the error is sent. */
typedef enum err_code api_fn(struct api_call *call, struct err *err);

/* What a request wants to use; served.def says what each means. */
enum api_on {
    API_ON_ANYBODY,
    API_ON_CLUSTER,
    API_ON_DATABASE,
    API_ON_TABLES_DATABASE,
    API_ON_TABLE,
    API_ON_TABLE_ID,
    API_ON_OWN
};

struct api_right {
    enum acl_operation operation;
    enum api_on on;
    size_t offset; /* of the field of the request that names it */
};

struct api_served {
    int16_t key;
    int16_t version_min;
    int16_t version_max;
    enum api_where where;
    api_fn *fn;
    struct api_right right;
};

/* What is counted of one kind of request. */
struct api_meter {
    struct metric *requests, *errors, *time;
};

/* By key; ends with fn NULL. */
extern const struct api_served api_served[];

struct api {
    struct api_config config;
    struct os_mutex ddl; /* one CREATE, ALTER or DROP at a time: each is several steps in lake, metadata and buckets */
    struct api_meter *meters;        /* one for each of api_served */
    struct os_mutex partition_mutex; /* one partition at a time is made or dropped; before all other locks */
    int64_t partition_missing_ns;    /* atomic: when the trace was last told of one */
    struct os_mutex mutex;           /* guards what follows */
    /* When partitions by time were last looked at, by both clocks; 0: not yet. */
    struct os_clock_watch clock;
    struct api_held *held;    /* calls that wait for something: api_hold */
    struct api_call *waiting; /* for room, oldest first: room.c */
    struct api_call **waiting_end;
    struct scan_session *sessions; /* api/scan_kv.c */
    unsigned session_count;
    bool stopping; /* atomic too: loops look at it without the mutex, api_is_stopping */
};

struct fetch_state;

/* What is remembered of a connection; loop thread only. */
struct api_conn {
    struct pool_lane *lane; /* of what it asks for that may block */
    bool authenticated;
    struct slice user;         /* who it is then; borrowed from the listener's users */
    struct fetch_state *fetch; /* api/fetch_state.c; NULL: nothing yet */
};

/* Made at the first call. */
struct api_conn *api_conn_of(struct net_conn *conn);

/* One request from its frame to its answer. */
struct api_call {
    struct api *api;
    struct net_conn *conn;  /* counted */
    struct pool_lane *lane; /* its connection's; counted */
    struct net_work work;
    const struct api_served *served;
    const struct wire_api *wire;
    const struct api_listener *listener;
    struct slice user; /* ANONYMOUS without login */
    int64_t begun_ns;
    bool failed; /* also when it is only a bucket's part of it */
    int16_t version;
    int32_t request_id;
    bool may_block;      /* the handler runs on the pool */
    bool starved;        /* there was no room for the answer */
    size_t answer_bytes; /* made so far, about: api_answer_grow */
    struct slice body;   /* of the frame, or of kept */
    struct buf kept;     /* api_call_keep */
    struct arena arena;  /* everything of the call */
    void *request;       /* struct of served->wire->request; borrows from body */
    void *response;      /* zeroed struct of served->wire->response */
    bool *later;         /* while the handler runs: where it says that the answer comes later */
    struct task task;
    struct api_call *next; /* of those that wait for room */
};

static inline bool api_is_stopping(const struct api *api)
{
    return __atomic_load_n(&api->stopping, __ATOMIC_ACQUIRE);
}

/* The handler returns OK now and somebody calls api_call_finish later. */
static inline void api_call_later(struct api_call *call)
{
    *call->later = true;
}

/* Sends the response, or the error, and frees the call. err holds the text where code is not OK. thread: any, once. */
void api_call_finish(struct api_call *call, enum err_code code, const struct err *err);

/* The body outlives the frame from now on, and call->request, which is another than before, borrows from it. */
void api_call_keep(struct api_call *call);
/* The handler runs once more, from the start; the body was kept. thread: any, instead of api_call_finish. */
void api_call_again(struct api_call *call);
/* The call, of which only the body is left, runs. */
void api_call_restart(struct api_call *call);

/* ---- memory of answers: room.c ---- */

/* The answer, or what is gathered for it, takes so much more memory. Asked before the memory is taken.
 * errors   RECORD_TOO_LARGE_EXCEPTION: more than one answer may have; WOULD_BLOCK: no room now, or too much to be made
 * on the loop; the handler gives that error on with nothing done that can't be done again. */
MUST_CHECK enum err_code api_answer_grow(struct api_call *call, size_t bytes, struct err *err);
/* The same for a list of parts, which is made wherever the handler runs, and may have API_LIST_BYTES_MIN however small
 * the largest request is. */
#define API_LIST_BYTES_MIN (8u << 20)
MUST_CHECK enum err_code api_answer_list(struct api_call *call, size_t count, size_t size, struct err *err);
/* The same where something else bounds the answer. errors: WOULD_BLOCK. */
MUST_CHECK enum err_code api_answer_room(struct api_call *call, size_t bytes, struct err *err);
/* More parts of a request (keys, buckets) than are looked at on the loop: the others of the loop would wait.
 * errors: WOULD_BLOCK. */
#define API_LOOP_PARTS_MAX 4096
MUST_CHECK enum err_code api_loop_check(const struct api_call *call, size_t parts, struct err *err);
/* The call, of which only the body is left, runs again when there is room. */
void api_room_wait(struct api_call *call);
/* Those that find room run again. */
void api_room_look(struct api *api);
/* Calls of this connection, or all if it is NULL, end instead of waiting on. */
void api_room_drop(struct api *api, const struct net_conn *conn);

/* The table of a path, or of an id, with one count more. */
MUST_CHECK enum err_code api_table_of_path(struct api_call *call, const struct wire_pb_table_path *path,
                                           const struct table_info **table, struct err *err);
/* The partition that a request or a part of it names; -1: none. */
#define API_PARTITION(request) ((request)->has_partition_id ? (request)->partition_id : -1)
/* The bucket of a request part, with one count more. errors: UNKNOWN_TABLE_OR_BUCKET_EXCEPTION. */
MUST_CHECK enum err_code api_bucket_of(struct api_call *call, int64_t table_id, int64_t partition_id, int32_t number,
                                       struct bucket **bucket, struct err *err);
/* The same for writers, who are told PARTITION_NOT_EXISTS where that is the reason: on the other code they would look
 * for the partition again and again. Readers get to know of a dropped partition when they list the partitions. */
MUST_CHECK enum err_code api_bucket_to_write(struct api_call *call, int64_t table_id, int64_t partition_id,
                                             int32_t number, struct bucket **bucket, struct err *err);
/* Version 0 of PUT_KV and of the look-ups: the client makes all keys in the lake's way. errors: UNSUPPORTED_VERSION
 * where the table's keys are made in another. */
MUST_CHECK enum err_code api_key_version_check(const struct api_call *call, struct bucket *bucket, struct err *err);
/* A copy of an error's text in the call's arena, for a bucket's error_message. */
struct slice api_error_text(struct api_call *call, enum err_code code, const struct err *err);

/* Fills the two error fields that each bucket's answer has. */
#define API_BUCKET_ERROR(call, answer, code, err)                           \
    ((call)->failed = true, WIRE_SET((answer), error_code, err_wire(code)), \
     WIRE_SET((answer), error_message, api_error_text((call), (code), (err))))

/* ---- rights: authorize.c ---- */

/* What served.def says of the request. errors: AUTHORIZATION_EXCEPTION, UNKNOWN_TABLE_OR_BUCKET_EXCEPTION. */
MUST_CHECK enum err_code api_authorize(const struct api_call *call, struct err *err);
/* Whether the call's user may; always where there is no authorizer. thread: that of the handler. */
bool api_may(const struct api_call *call, enum acl_operation operation, const struct acl_resource *resource);
bool api_may_database(const struct api_call *call, enum acl_operation operation, struct slice database);
bool api_may_table(const struct api_call *call, enum acl_operation operation, struct slice database, struct slice name);
/* The same with a text, and a line in the trace. errors: AUTHORIZATION_EXCEPTION; of an id also
 * UNKNOWN_TABLE_OR_BUCKET_EXCEPTION. */
MUST_CHECK enum err_code api_check(const struct api_call *call, enum acl_operation operation,
                                   const struct acl_resource *resource, struct err *err);
MUST_CHECK enum err_code api_check_table(const struct api_call *call, enum acl_operation operation,
                                         const struct wire_pb_table_path *path, struct err *err);
MUST_CHECK enum err_code api_check_table_id(const struct api_call *call, enum acl_operation operation, int64_t table_id,
                                            struct err *err);
/* api_bucket_of for those who may READ the table. */
MUST_CHECK enum err_code api_bucket_to_read(struct api_call *call, int64_t table_id, int64_t partition_id,
                                            int32_t number, struct bucket **bucket, struct err *err);

/* ---- access lists: acl.c ---- */

/* errors: SECURITY_DISABLED_EXCEPTION. */
MUST_CHECK enum err_code api_acls_on(const struct api_call *call, struct err *err);
struct acl api_acl_of(const struct wire_pb_acl_info *in); /* borrows; not checked */
struct wire_pb_acl_info api_acl_to(const struct acl *acl);
/* errors: INVALID_ARGUMENT. */
MUST_CHECK enum err_code api_acl_filter_of(const struct wire_pb_acl_filter *in, struct acl_filter *filter,
                                           struct err *err);
/* errors: AUTHORIZATION_EXCEPTION. */
MUST_CHECK enum err_code api_acl_may_change(const struct api_call *call, const struct acl *acl, struct err *err);
void api_acl_trace(const struct api_call *call, const char *what, const struct acl *acl);

/* ---- counting: meter.c ---- */

void api_meters_create(struct api *api);
void api_meters_destroy(struct api *api);
struct api_meter *api_meter_of(struct api *api, const struct api_served *served);

/* ---- waiting for durability: await.c ---- */

/* A part of a call that is done when a bucket's watermark reaches an offset. */
struct api_part {
    struct bucket *bucket; /* counted; NULL: nothing to wait for */
    int64_t end_offset;
    struct bucket_waiter waiter;
    struct api_await *await;
    enum err_code code; /* out: OK, REQUEST_TIME_OUT, or why the bucket gave up */
    struct err err;
};

/* Waits for all parts, at most timeout_ms, then calls done on the connection's loop; parts live in the call's arena.
 * The handler has said api_call_later() and returns; done ends with api_call_finish. thread: the connection's loop. */
void api_await(struct api_call *call, struct api_part *parts, size_t part_count, int32_t timeout_ms,
               void (*done)(struct api_call *call, struct api_part *parts, size_t part_count));

/* ---- holding a call: held.c ---- */

/* A long poll: a call that is looked at again when it is woken or its time is over, on its connection's loop. */
struct api_held {
    struct api_call *call;
    void (*again)(struct api_held *held, bool time_over); /* must end in api_call_finish or api_hold */
    struct api_held *next, **at;                          /* in api->held; at NULL: not there */
    struct timer timer;
    struct task task;
    unsigned posted; /* atomic: a task is on its way */
};

/* Holds the call until api_held_wake or the deadline. thread: the connection's loop. */
void api_hold(struct api_held *held, int64_t deadline_mono_ns);
/* thread: any, as often as one likes, while the caller knows that the held call is there: under api->mutex, or from a
 * waiter that `again` takes back before it ends the call. */
void api_held_wake(struct api_held *held);
/* All that are held and belong to this connection, or to any if it is NULL, are looked at as if their time were over.
 */
void api_held_wake_all(struct api *api, const struct net_conn *conn);

void scan_sessions_drop(struct api *api, const struct net_conn *conn);

/* ---- what else files share ---- */

/* Whether the connection may send this request yet. errors: AUTHENTICATE_EXCEPTION. */
MUST_CHECK enum err_code authenticate_check(struct net_conn *conn, int16_t key, struct err *err);

/* Who is at the other end: the name that logged in, else ANONYMOUS. thread: the connection's loop. */
struct slice authenticate_user(struct net_conn *conn);

/* Of one request; nobody alters as many as PROPERTIES_MAX at once. errors: LIMIT. */
MUST_CHECK enum err_code api_config_changes_check(size_t count, struct err *err);
/* One change of ALTER TABLE or ALTER DATABASE. errors: UNKNOWN_SERVER_ERROR for what is neither SET nor DELETE. */
MUST_CHECK enum err_code api_config_change(struct arena *arena, struct properties *properties,
                                           const struct wire_pb_alter_config *change, struct err *err);
/* The descriptor as clients see it; for a lake-enabled table with the catalog's options. In the call's arena. */
struct slice api_table_json(struct api_call *call, const struct table_info *table);
/* A table whose lake was just enabled enters the schedule with what its lake holds; or its freshness may have changed.
 * The handle of its buckets is the caller's. */
struct tiering_part *api_tiering_start(struct api *api, const struct table_info *table);
struct tiering_part *api_tiering_freshen(struct api *api, const struct table_info *table);
/* errors: TABLE_NOT_EXIST, NON_PRIMARY_KEY_TABLE_EXCEPTION. */
MUST_CHECK enum err_code api_kv_table_check(struct api_call *call, int64_t table_id, struct err *err);
/* The table is there, and the partition one of it; -1: none is asked for. errors: TABLE_NOT_EXIST,
 * PARTITION_NOT_EXISTS. */
MUST_CHECK enum err_code api_table_part_check(struct api_call *call, int64_t table_id, int64_t partition_id,
                                              struct err *err);
/* The data of a table that the metadata has dropped: schedule, buckets, files (blocks). */
void api_table_remove(struct api *api, int64_t table_id);
/* Makes a partition with its buckets, or finds it there (blocks). errors: as meta_partition_create, bucket_open. */
MUST_CHECK enum err_code api_partition_create(struct api *api, const struct table_info *table, struct slice name,
                                              bool ignore_if_exists, struct err *err);
/* errors: PARTITION_NOT_EXISTS (blocks). */
MUST_CHECK enum err_code api_partition_drop(struct api *api, const struct table_info *table, struct slice name,
                                            bool ignore_if_not_exists, struct err *err);
/* Buckets and schedule of a partition that the metadata has (blocks). */
MUST_CHECK enum err_code api_partition_open(struct api *api, const struct table_info *table,
                                            const struct partition_info *partition, struct err *err);
/* The zone of a table's partitions by time (blocks). errors: INVALID_CONFIG_EXCEPTION: no such zone. */
MUST_CHECK enum err_code api_time_zone(struct api *api, const struct time_partitions *time, struct zone **zone,
                                       struct err *err);
/* The wall clock has not been set since partitions by time were last looked at. */
bool api_clock_is_steady(struct api *api);
/* Makes the partitions that the time asks for, and drops those that it has passed by, if may_drop (blocks). Under ddl.
 * What does not work is in the trace and is tried again at the next check. */
void api_time_partitions(struct api *api, const struct table_info *table, bool may_drop);
/* A client asked for a partition that is not there: a line in the trace, at most one a second. */
void api_partition_missing(struct api *api, const struct err *err);
/* The values of a request, by key. In the call's arena, texts borrowed. */
struct properties api_partition_spec(struct api_call *call, const struct wire_pb_partition_spec *spec);

/* Those that name other servers than this one. errors: SERVER_NOT_EXIST_EXCEPTION. */
MUST_CHECK enum err_code api_servers_check(const struct api_call *call, const int32_t *ids, size_t count,
                                           struct err *err);
MUST_CHECK enum err_code api_racks_refuse(struct err *err);

#define SERVED(name, min, max, fn, where, operation, on) api_fn fn;
#include "api/served.def"
#undef SERVED

#endif
