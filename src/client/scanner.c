/* Which buckets, which order: answers are read one after the other, each bucket's batches in the order of its log. */
#include "client/scanner_int.h"

static enum err_code check_buckets(const struct client_table *table, const struct client_scan_bucket *buckets,
                                   size_t bucket_count, struct err *err)
{
    for (size_t i = 0; i < bucket_count; i++) {
        if (buckets[i].place < 0 || (size_t)buckets[i].place >= client_place_count(table))
            return err_set(err, ERR_INVALID_ARGUMENT, "%.*s has no bucket %d: its buckets are 0 to %lld",
                           SLICE_ARGS(table->path.table), buckets[i].place, (long long)client_place_count(table) - 1);
        if (buckets[i].start < 0)
            return err_set(err, ERR_INVALID_ARGUMENT, "offset %lld: offsets begin at 0", (long long)buckets[i].start);
    }
    return OK;
}

static enum err_code set_columns(struct client_scanner *scanner, struct err *err)
{
    const struct client_table *table = scanner->table;
    uint32_t all = table->schema.schema.column_count;
    bool some = scanner->options.columns != NULL;
    scanner->column_count = some ? scanner->options.column_count : all;
    scanner->columns = ARENA_NEW_ARRAY(&scanner->arena, uint32_t, scanner->column_count);
    for (uint32_t i = 0; i < scanner->column_count; i++) {
        scanner->columns[i] = some ? scanner->options.columns[i] : i;
        if (scanner->columns[i] >= all || (i && scanner->columns[i] <= scanner->columns[i - 1]))
            return err_set(err, ERR_INVALID_COLUMN_PROJECTION, "columns must be positions below %u, increasing", all);
    }
    if (!scanner->column_count)
        return err_set(err, ERR_INVALID_COLUMN_PROJECTION, "at least one column must be read");
    /* Servers cut by position in the batch's own schema, so a table with several schemas is cut here. */
    scanner->pushed = scanner->column_count < all && table->log_format == LOG_FORMAT_ARROW && table->schema.id == 1;
    return OK;
}

static void add_parts(struct client_scanner *scanner, const struct client_scan_bucket *buckets, size_t bucket_count)
{
    for (size_t i = 0; i < bucket_count; i++) {
        struct part *part = mem_zalloc(sizeof *part);
        *part = (struct part){.range = buckets[i], .position = buckets[i].start, .fetch = buckets[i].start};
        vec_push(&scanner->parts, part);
    }
}

enum err_code client_scanner_add(struct client_scanner *scanner, const struct client_scan_bucket *buckets,
                                 size_t bucket_count, struct err *err)
{
    TRY(check_buckets(scanner->table, buckets, bucket_count, err));
    add_parts(scanner, buckets, bucket_count);
    return OK;
}

enum err_code client_scanner_create(struct client_table *table, const struct client_scan_bucket *buckets,
                                    size_t bucket_count, const struct client_scanner_options *options,
                                    struct client_scanner **out, struct err *err)
{
    enum err_code code;
    TRY(check_buckets(table, buckets, bucket_count, err));
    struct client_scanner *scanner = mem_zalloc(sizeof *scanner);
    scanner->table = client_table_ref(table);
    if (options)
        scanner->options = *options;
    if (!scanner->options.wait_ms)
        scanner->options.wait_ms = SCANNER_WAIT_MS;
    if (!scanner->options.answer_bytes)
        scanner->options.answer_bytes = SCANNER_ANSWER_BYTES;
    if (!scanner->options.bucket_bytes)
        scanner->options.bucket_bytes = SCANNER_BUCKET_BYTES;
    add_parts(scanner, buckets, bucket_count);
    scanner->progress_ns = os_mono_ns(table->client->os);
    TRY_OR_FAIL(set_columns(scanner, err));
    *out = scanner;
    return OK;
fail:
    client_scanner_destroy(scanner);
    return code;
}

void client_scanner_destroy(struct client_scanner *scanner)
{
    if (!scanner)
        return;
    for (size_t i = 0; i < scanner->fetches.len; i++)
        fetch_destroy(scanner->fetches.ptr[i]);
    for (size_t i = 0; i < scanner->answers.len; i++)
        answer_destroy(scanner->answers.ptr[i]);
    vec_deinit(&scanner->fetches);
    vec_deinit(&scanner->answers);
    vec_deinit(&scanner->shapes);
    arena_deinit(&scanner->arena);
    arena_deinit(&scanner->scratch);
    arrow_codec_deinit(&scanner->codec);
    for (size_t i = 0; i < scanner->parts.len; i++)
        mem_free(scanner->parts.ptr[i]);
    vec_deinit(&scanner->parts);
    client_table_unref(scanner->table);
    mem_free(scanner);
}

bool part_is_done(const struct part *part)
{
    return part->is_gone || part->position >= part->range.stop;
}

bool client_scanner_done(const struct client_scanner *scanner)
{
    for (size_t i = 0; i < scanner->parts.len; i++)
        if (!part_is_done(scanner->parts.ptr[i]))
            return false;
    return true;
}

int64_t client_scanner_position(const struct client_scanner *scanner, size_t index)
{
    ASSERT(index < scanner->parts.len);
    return scanner->parts.ptr[index]->position;
}

/* A batch of the answers that are here. */
static enum err_code next_here(struct client_scanner *scanner, struct client_batch *batch, bool *have, struct err *err)
{
    *have = false;
    while (scanner->answers.len) {
        struct answer *answer = scanner->answers.ptr[0];
        while (answer->at < answer->chunks.len) {
            TRY(chunk_next(scanner, &answer->chunks.ptr[answer->at], batch, have, err));
            if (*have)
                return OK;
            answer->at++;
        }
        answer_destroy(answer);
        vec_remove(&scanner->answers, 0);
    }
    return OK;
}

static int64_t next_event_ns(const struct client_scanner *scanner)
{
    int64_t due = scanner->table->client->deadline_ns;
    if (!scanner->fetches.len)
        due = MIN(due, scanner->again_ns);
    for (size_t i = 0; i < scanner->fetches.len; i++)
        due = MIN(due, scanner->fetches.ptr[i]->until_ns);
    return due;
}

enum err_code client_scanner_next(struct client_scanner *scanner, struct client_batch *batch, bool *have,
                                  struct err *err)
{
    struct client *client = scanner->table->client;
    for (;;) {
        bool took, was_empty = false;
        TRY(client_check_cancelled(client, err));
        client_pump(client, 0);
        TRY(scanner_take(scanner, &took, &was_empty, err));
        TRY(scanner_ask(scanner, err));
        TRY(next_here(scanner, batch, have, err));
        if (*have || client_scanner_done(scanner) || (was_empty && !took))
            return OK;
        if (took)
            continue;
        if (client_expired(client))
            return err_set(err, ERR_DEADLINE, "%.*s.%.*s was not read to the end in time",
                           SLICE_ARGS(scanner->table->path.database), SLICE_ARGS(scanner->table->path.table));
        client_pump(client, next_event_ns(scanner));
    }
}
