/* A few rows of each bucket, in one exchange a bucket. */
#include "client/client_int.h"

struct few {
    struct client_table *table;
    int32_t place;
    uint32_t left;
    client_row_fn *fn;
    void *arg;
    struct datum *row;
    struct arrow_codec codec;
};

static enum err_code give_values(struct few *few, struct slice records, struct arena *arena, struct err *err)
{
    uint32_t count;
    struct slice rest, value;
    if (!records.len)
        return OK;
    TRY(value_batch_check(records, &count, &rest, err));
    while (few->left && value_batch_next(&rest, &value)) {
        TRY(table_value_decode(few->table, value, arena, few->row, err));
        TRY(few->fn(few->arg, few->place, few->row, err));
        few->left--;
    }
    return OK;
}

static enum err_code count_rows(struct slice records, uint64_t *count, struct err *err)
{
    struct slice bytes;
    struct log_batch header;
    for (*count = 0;; *count += header.record_count) {
        TRY(log_batch_next(&records, &bytes, err));
        if (!bytes.len)
            return OK;
        TRY(log_batch_read(bytes, &header, err));
    }
}

/* One batch's rows, less the first skip, as rows of the table's schema. */
static enum err_code give_batch(struct few *few, const struct log_batch *header, uint64_t *skip, struct arena *arena,
                                struct err *err)
{
    const struct client_schema *schema;
    struct log_batch_rows rows;
    const struct schema *want = &few->table->schema.schema;
    TRY(client_table_schema(few->table, header->schema_id, &schema, err));
    TRY(log_batch_decode(&few->codec, header, few->table->log_format, schema->row, arena, &rows, err));
    for (uint32_t i = 0; i < rows.count && few->left; i++) {
        if (*skip) {
            --*skip;
            continue;
        }
        for (uint32_t c = 0; c < want->column_count; c++) {
            int32_t from = schema_find_id(&schema->schema, want->columns[c].id);
            few->row[c] = (struct datum){.is_null = true};
            if (from >= 0)
                column_get(&rows.columns[from], i, arena, &few->row[c]);
        }
        TRY(few->fn(few->arg, few->place, few->row, err));
        few->left--;
    }
    return OK;
}

/* The bucket's last rows: the server sends whole batches, which may hold more. */
static enum err_code give_log(struct few *few, struct slice records, struct arena *arena, struct err *err)
{
    uint64_t count;
    struct slice bytes;
    struct log_batch header;
    TRY(count_rows(records, &count, err));
    uint64_t skip = count > few->left ? count - few->left : 0;
    for (;;) {
        TRY(log_batch_next(&records, &bytes, err));
        if (!bytes.len)
            return OK;
        TRY(log_batch_check(bytes, &header, err));
        if (header.record_count)
            TRY(give_batch(few, &header, &skip, arena, err));
    }
}

/* No records where the partition is gone. */
static enum err_code ask(struct few *few, struct arena *arena, struct wire_limit_scan_response *response,
                         struct err *err)
{
    struct client *client = few->table->client;
    struct wire_limit_scan_request request = {
        .table_id = few->table->id,
        .bucket_id = client_place_bucket(few->table, few->place),
        .limit = (int32_t)few->left,
    };
    TABLE_SET_PARTITION(&request, few->table, few->place);
    int64_t deadline = client_limit(client);
    int64_t backoff = 0;
    for (;;) {
        struct conn *conn;
        bool lost;
        *response = (struct wire_limit_scan_response){0};
        if (client_place_is_gone(few->table, few->place))
            return OK;
        enum err_code code = table_leader(few->table, few->place, &conn, err);
        if (code == OK)
            code = call_exchange(conn, WIRE_LIMIT_SCAN, &request, deadline, arena, response, err);
        if (code == OK && response->has_error_code && response->error_code != 0)
            code = client_entry_error(response->error_code, response->has_error_message, response->error_message, err);
        if (code == OK)
            return OK;
        if (table_lost_partitions(few->table, code, &lost, NULL) == OK && lost)
            continue;
        if (!table_may_retry(few->table, code))
            return code;
        table_forget_leaders(few->table);
        if (!client_backoff(client, &backoff, deadline))
            return code;
    }
}

enum err_code client_limit_scan(struct client_table *table, uint32_t limit, client_row_fn *fn, void *arg,
                                struct err *err)
{
    enum err_code code = OK;
    struct few few = {.table = table, .left = MIN(limit, CLIENT_LIMIT_MAX), .fn = fn, .arg = arg};
    struct arena arena = {0};
    few.row = mem_zalloc(table->schema.schema.column_count * sizeof *few.row);
    size_t count = client_place_count(table);
    for (; (size_t)few.place < count && few.left; few.place++) {
        struct wire_limit_scan_response response;
        arena_reset(&arena);
        TRY_OR_FAIL(ask(&few, &arena, &response, err));
        if (!response.has_records)
            continue;
        struct slice records = response.records.bytes;
        TRY_OR_FAIL(table->has_primary_key ? give_values(&few, records, &arena, err)
                                           : give_log(&few, records, &arena, err));
    }
fail:
    mem_free(few.row);
    arrow_codec_deinit(&few.codec);
    arena_deinit(&arena);
    return code;
}
