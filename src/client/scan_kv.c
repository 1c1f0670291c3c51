/* All rows of a primary-key table: SCAN_KV bucket by bucket, or the changelog folded. */
#include "client/client_int.h"

#define SCAN_KV_BATCH_BYTES (4 << 20)

struct walk {
    struct client_table *table;
    int32_t place;
    client_row_fn *fn;
    void *arg;
    struct datum *row;
    struct conn *conn;
    struct buf scanner_id; /* of the open session */
    int32_t seq;
    int64_t offset;
    bool more;
    bool given; /* rows went out: the bucket can't be begun again */
};

static enum err_code give_values(struct walk *walk, struct slice records, struct err *err)
{
    enum err_code code;
    uint32_t count;
    struct slice rest, value;
    struct arena arena = {0};
    if (!records.len)
        return OK;
    TRY(value_batch_check(records, &count, &rest, err));
    while (value_batch_next(&rest, &value)) {
        arena_reset(&arena);
        TRY_OR_FAIL(table_value_decode(walk->table, value, &arena, walk->row, err));
        walk->given = true;
        TRY_OR_FAIL(walk->fn(walk->arg, walk->place, walk->row, err));
    }
    code = OK;
fail:
    arena_deinit(&arena);
    return code;
}

static enum err_code step(struct walk *walk, struct err *err)
{
    enum err_code code;
    struct arena arena = {0};
    struct wire_scan_kv_response response;
    struct wire_pb_scan_req_for_bucket open = {.table_id = walk->table->id,
                                               .bucket_id = client_place_bucket(walk->table, walk->place)};
    struct wire_scan_kv_request request = {0};
    TABLE_SET_PARTITION(&open, walk->table, walk->place);
    if (walk->seq == 0)
        request.bucket_scan_req = &open;
    else
        WIRE_SET(&request, scanner_id, buf_view(&walk->scanner_id));
    WIRE_SET(&request, call_seq_id, walk->seq);
    WIRE_SET(&request, batch_size_bytes, SCAN_KV_BATCH_BYTES);
    TRY_OR_FAIL(
        call_exchange(walk->conn, WIRE_SCAN_KV, &request, client_limit(walk->table->client), &arena, &response, err));
    walk->more = false; /* an error ends the session */
    if (response.has_error_code && response.error_code != 0)
        TRY_OR_FAIL(client_entry_error(response.error_code, response.has_error_message, response.error_message, err));
    walk->more = response.has_has_more_results && response.has_more_results;
    if (walk->seq == 0) {
        walk->offset = response.has_log_offset ? response.log_offset : -1;
        if (response.has_scanner_id)
            buf_put_slice(&walk->scanner_id, response.scanner_id);
    }
    walk->seq++;
    if (response.has_records)
        TRY_OR_FAIL(give_values(walk, response.records.bytes, err));
fail:
    arena_deinit(&arena);
    return code;
}

/* Whether the server hears of it does not matter: sessions expire. */
static void give_up(struct walk *walk)
{
    struct call call = {0};
    struct wire_scan_kv_request request = {0};
    WIRE_SET(&request, scanner_id, buf_view(&walk->scanner_id));
    WIRE_SET(&request, close_scanner, true);
    if (walk->more && call_start(&call, walk->conn, WIRE_SCAN_KV, &request, NULL) == OK)
        conn_flush(walk->conn);
    call_deinit(&call);
}

static enum err_code walk_once(struct walk *walk, struct err *err)
{
    enum err_code code;
    walk->seq = 0;
    buf_reset(&walk->scanner_id);
    TRY(table_leader(walk->table, walk->place, &walk->conn, err));
    do {
        code = step(walk, err);
    } while (code == OK && walk->more);
    if (code != OK)
        give_up(walk);
    return code;
}

/* What a partition held that goes meanwhile is given as far as it came. */
static enum err_code walk_place(struct walk *walk, struct err *err)
{
    struct client *client = walk->table->client;
    int64_t deadline = client_limit(client);
    int64_t backoff = 0;
    for (;;) {
        bool lost;
        walk->more = walk->given = false;
        walk->offset = -1;
        if (client_place_is_gone(walk->table, walk->place))
            return OK;
        enum err_code code = walk_once(walk, err);
        if (code != OK && table_lost_partitions(walk->table, code, &lost, NULL) == OK && lost)
            continue;
        bool again = table_may_retry(walk->table, code) || code == ERR_TOO_MANY_SCANNERS;
        if (code == OK || walk->given || !again)
            return code;
        table_forget_leaders(walk->table);
        if (!client_backoff(client, &backoff, deadline))
            return code;
    }
}

/* Most buckets of many partitions are empty: those need no visit. NULL: visit all. */
static enum err_code find_empty(struct client_table *table, int64_t **latest, struct err *err)
{
    *latest = NULL;
    if (!table->is_partitioned)
        return OK;
    *latest = mem_alloc(client_place_count(table) * sizeof **latest + 1);
    return client_offsets(table, CLIENT_LATEST, 0, *latest, err);
}

static enum err_code walk_all(struct client_table *table, client_row_fn *fn, void *arg, int64_t *offsets,
                              struct err *err)
{
    enum err_code code = OK;
    struct walk walk = {.table = table, .fn = fn, .arg = arg};
    size_t count = client_place_count(table);
    int64_t *latest = NULL;
    walk.row = mem_zalloc(table->schema.schema.column_count * sizeof *walk.row);
    TRY_OR_FAIL(find_empty(table, &latest, err));
    for (; (size_t)walk.place < count; walk.place++) {
        walk.offset = latest ? latest[walk.place] : -1;
        if (!latest || latest[walk.place] > 0)
            TRY_OR_FAIL(walk_place(&walk, err));
        if (offsets)
            offsets[walk.place] = walk.offset;
    }
fail:
    mem_free(latest);
    mem_free(walk.row);
    buf_deinit(&walk.scanner_id);
    return code;
}

static enum err_code fold_all(struct client_table *table, client_row_fn *fn, void *arg, int64_t *offsets,
                              struct err *err)
{
    size_t bytes = client_place_count(table) * sizeof(int64_t);
    int64_t *stops = mem_alloc(bytes + 1);
    enum err_code code = client_offsets(table, CLIENT_LATEST, 0, stops, err);
    if (code == OK)
        code = client_fold(table, stops, fn, arg, err);
    if (code == OK && offsets && bytes)
        memcpy(offsets, stops, bytes);
    mem_free(stops);
    return code;
}

enum err_code client_scan_kv(struct client_table *table, client_row_fn *fn, void *arg, int64_t *offsets,
                             struct err *err)
{
    bool serves;
    if (!table->has_primary_key)
        return err_set(err, ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION, "%.*s.%.*s has no primary key",
                       SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table));
    TRY(client_serves(table->client, CLIENT_TABLET, WIRE_SCAN_KV, &serves, err));
    return serves ? walk_all(table, fn, arg, offsets, err) : fold_all(table, fn, arg, offsets, err);
}
