/* FETCH_LOG: a request a node, and what its answer says of each bucket. */
#include "client/scanner_int.h"

void fetch_destroy(struct fetch *fetch)
{
    if (!fetch)
        return;
    for (size_t i = 0; i < fetch->parts.len; i++)
        fetch->parts.ptr[i]->in_flight = false;
    call_deinit(&fetch->call);
    vec_deinit(&fetch->parts);
    mem_free(fetch);
}

void answer_destroy(struct answer *answer)
{
    if (!answer)
        return;
    buf_deinit(&answer->frame);
    arena_deinit(&answer->arena);
    vec_deinit(&answer->chunks);
    mem_free(answer);
}

static void note_gone(struct client_scanner *scanner)
{
    for (size_t i = 0; i < scanner->parts.len; i++) {
        struct part *part = scanner->parts.ptr[i];
        part->is_gone = client_place_is_gone(scanner->table, part->range.place);
    }
}

/* A failure that may pass: again in a moment, as long as somebody has answered lately. */
static enum err_code failed(struct client_scanner *scanner, const struct err *why, struct err *err)
{
    struct client *client = scanner->table->client;
    int64_t now = os_mono_ns(client->os);
    bool lost;
    TRY(table_lost_partitions(scanner->table, why->code, &lost, err));
    if (lost) {
        note_gone(scanner);
        return OK;
    }
    bool may = table_may_retry(scanner->table, why->code) || why->code == ERR_FENCED_LEADER_EPOCH_EXCEPTION;
    if (!may || now - scanner->progress_ns >= client->timeout_ns) {
        if (err)
            *err = *why;
        return why->code;
    }
    table_forget_leaders(scanner->table);
    scanner->backoff_ns = scanner->backoff_ns ? MIN(scanner->backoff_ns * 2, CLIENT_BACKOFF_NS_MAX) : CLIENT_BACKOFF_NS;
    scanner->again_ns = now + scanner->backoff_ns;
    return OK;
}

/* ---- out ---- */

static struct fetch *fetch_of(struct client_scanner *scanner, struct conn *conn, size_t first)
{
    for (size_t i = first; i < scanner->fetches.len; i++)
        if (scanner->fetches.ptr[i]->conn == conn)
            return scanner->fetches.ptr[i];
    struct fetch *fetch = mem_zalloc(sizeof *fetch);
    fetch->conn = conn;
    vec_push(&scanner->fetches, fetch);
    return fetch;
}

static enum err_code fetch_start(struct client_scanner *scanner, struct fetch *fetch, struct err *err)
{
    struct arena arena = {0};
    struct client *client = scanner->table->client;
    size_t count = fetch->parts.len;
    struct wire_pb_fetch_log_req_for_bucket *buckets =
        ARENA_NEW_ARRAY(&arena, struct wire_pb_fetch_log_req_for_bucket, count);
    for (size_t i = 0; i < count; i++) {
        const struct part *part = fetch->parts.ptr[i];
        buckets[i] = (struct wire_pb_fetch_log_req_for_bucket){
            .bucket_id = client_place_bucket(scanner->table, part->range.place),
            .fetch_offset = part->fetch,
            .max_fetch_bytes = scanner->options.bucket_bytes,
        };
        TABLE_SET_PARTITION(&buckets[i], scanner->table, part->range.place);
    }
    struct wire_pb_fetch_log_req_for_table table = {
        .table_id = scanner->table->id,
        .projection_pushdown_enabled = scanner->pushed,
        .buckets_req = buckets,
        .buckets_req_count = count,
    };
    if (scanner->pushed) {
        table.projected_fields_count = scanner->column_count;
        table.projected_fields = ARENA_NEW_ARRAY(&arena, int32_t, scanner->column_count);
        for (uint32_t i = 0; i < scanner->column_count; i++)
            table.projected_fields[i] = (int32_t)scanner->columns[i];
    }
    struct wire_fetch_log_request request = {
        .follower_server_id = -1,
        .max_bytes = scanner->options.answer_bytes,
        .tables_req = &table,
        .tables_req_count = 1,
    };
    WIRE_SET(&request, max_wait_ms, scanner->options.wait_ms);
    WIRE_SET(&request, min_bytes, 1);
    fetch->until_ns = os_mono_ns(client->os) + client->timeout_ns + scanner->options.wait_ms * INT64_C(1000000);
    enum err_code code = call_start(&fetch->call, fetch->conn, WIRE_FETCH_LOG, &request, err);
    arena_deinit(&arena);
    return code;
}

static enum err_code assign(struct client_scanner *scanner, size_t first, struct err *err)
{
    for (size_t i = 0; i < scanner->parts.len; i++) {
        struct part *part = scanner->parts.ptr[i];
        struct conn *conn;
        if (part->in_flight || part->is_gone || part->fetch >= part->range.stop)
            continue;
        TRY(table_leader(scanner->table, part->range.place, &conn, err));
        struct fetch *fetch = fetch_of(scanner, conn, first);
        vec_push(&fetch->parts, part);
        part->in_flight = true;
    }
    return OK;
}

enum err_code scanner_ask(struct client_scanner *scanner, struct err *err)
{
    struct err why = {0};
    size_t first = scanner->fetches.len;
    if (scanner->answers.len > 1 || os_mono_ns(scanner->table->client->os) < scanner->again_ns)
        return OK;
    enum err_code code = assign(scanner, first, &why);
    for (size_t i = first; code == OK && i < scanner->fetches.len; i++)
        code = fetch_start(scanner, scanner->fetches.ptr[i], &why);
    if (code == OK)
        return OK;
    while (scanner->fetches.len > first)
        fetch_destroy(scanner->fetches.ptr[--scanner->fetches.len]);
    return failed(scanner, &why, err);
}

/* ---- in ---- */

static struct part *part_of(struct fetch *fetch, int32_t place)
{
    for (size_t i = 0; i < fetch->parts.len; i++) {
        size_t at = (fetch->at + i) % fetch->parts.len;
        if (fetch->parts.ptr[at]->range.place != place)
            continue;
        fetch->at = at + 1;
        return fetch->parts.ptr[at];
    }
    return NULL;
}

/* Walks over the headers to learn where the next fetch begins. */
static enum err_code note_records(struct answer *answer, struct part *part, struct slice records, struct err *err)
{
    struct slice rest = records;
    int64_t next = -1;
    for (;;) {
        struct slice bytes;
        struct log_batch batch;
        TRY(log_batch_next(&rest, &bytes, err));
        if (!bytes.len)
            break;
        TRY(log_batch_read(bytes, &batch, err));
        next = log_batch_next_offset(&batch);
    }
    if (next < 0)
        return OK;
    if (next <= part->fetch)
        return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION, "place %d: asked from offset %lld, got batches up to %lld",
                       part->range.place, (long long)part->fetch, (long long)next);
    part->fetch = next;
    struct chunk chunk = {part, slice_of(records.ptr, records.len - rest.len)};
    vec_push(&answer->chunks, chunk);
    return OK;
}

static enum err_code note_bucket(const struct client_table *table, struct answer *answer, struct fetch *fetch,
                                 const struct wire_pb_fetch_log_resp_for_bucket *b, struct err *err)
{
    int32_t place;
    TRY(table_place(table, b->has_partition_id, b->partition_id, b->bucket_id, &place, err));
    struct part *part = part_of(fetch, place);
    if (!part)
        return err_set(err, ERR_CORRUPT_MESSAGE, "an answer with bucket %d, which was not asked for", b->bucket_id);
    if (b->has_error_code)
        return client_entry_error(b->error_code, b->has_error_message, b->error_message, err);
    if (b->remote_log_fetch_info)
        return err_set(err, ERR_NOT_SUPPORTED,
                       "bucket %d: offset %lld lies in the cluster's remote storage, which weir does not read yet",
                       b->bucket_id, (long long)part->fetch);
    if (b->has_high_watermark)
        part->high_watermark = b->high_watermark;
    return b->has_records ? note_records(answer, part, b->records.bytes, err) : OK;
}

static enum err_code read_answer(struct client_scanner *scanner, struct fetch *fetch, struct answer *answer,
                                 struct err *err)
{
    struct wire_fetch_log_response response;
    if (fetch->call.err.code != OK) {
        *err = fetch->call.err;
        return fetch->call.err.code;
    }
    TRY(call_decode(&fetch->call, &answer->arena, &response, err));
    answer->frame = fetch->call.frame;
    fetch->call.frame = (struct buf){0};
    struct err first = {0};
    for (size_t i = 0; i < response.tables_resp_count; i++)
        for (size_t k = 0; k < response.tables_resp[i].buckets_resp_count; k++) {
            struct err why;
            if (response.tables_resp[i].table_id != scanner->table->id)
                return err_set(err, ERR_CORRUPT_MESSAGE, "an answer with another table");
            if (note_bucket(scanner->table, answer, fetch, &response.tables_resp[i].buckets_resp[k], &why) != OK &&
                first.code == OK)
                first = why;
        }
    *err = first; /* the other buckets' batches count all the same */
    return first.code;
}

static void give_up_silent(struct fetch *fetch, int64_t now)
{
    struct err err;
    if (!fetch->call.conn || now < fetch->until_ns)
        return;
    err_set(&err, ERR_CLOSED, "%s did not answer FETCH_LOG", fetch->conn->name);
    conn_close(fetch->conn, &err);
}

enum err_code scanner_take(struct client_scanner *scanner, bool *took, bool *was_empty, struct err *err)
{
    int64_t now = os_mono_ns(scanner->table->client->os);
    *took = false;
    for (size_t i = 0; i < scanner->fetches.len; i++) {
        struct fetch *fetch = scanner->fetches.ptr[i];
        give_up_silent(fetch, now);
        if (!fetch->call.done)
            continue;
        struct err why = {0};
        struct answer *answer = mem_zalloc(sizeof *answer);
        enum err_code code = read_answer(scanner, fetch, answer, &why);
        if (answer->chunks.len) {
            vec_push(&scanner->answers, answer);
            *took = true;
        } else {
            answer_destroy(answer);
            *was_empty |= code == OK;
        }
        fetch_destroy(fetch);
        vec_remove(&scanner->fetches, i);
        if (code != OK)
            return failed(scanner, &why, err);
        scanner->progress_ns = now;
        scanner->backoff_ns = 0;
        return OK;
    }
    return OK;
}
