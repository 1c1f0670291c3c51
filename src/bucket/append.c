/* PRODUCE_LOG: batches as they come. */
#include "bucket/bucket_int.h"
#include "format/row/row.h"

/* What nobody could read later, the tiering service least of all, is refused now; a client does not try that again
 * (docs/decisions/0032-batches-are-looked-at-on-append.md). */
static enum err_code rows_check(const struct log_batch *batch, enum log_format format, const struct schema *schema,
                                struct err *err)
{
    struct arena arena = {0};
    const struct type *type = row_type(&arena, schema);
    enum err_code code = format == LOG_FORMAT_ARROW ? log_batch_check_arrow(batch, type, &arena, err)
                                                    : log_batch_check_rows(batch, format, type, err);
    if (code != OK && format != LOG_FORMAT_ARROW && log_batch_check_arrow(batch, type, &arena, NULL) == OK)
        err_set(err, code, "the batch is of the log format ARROW, and the table's is %s: its client writes no other",
                format == LOG_FORMAT_INDEXED ? "INDEXED" : "COMPACTED");
    arena_deinit(&arena);
    if (code != OK && err)
        err->code = ERR_INVALID_ARGUMENT;
    return code == OK ? OK : ERR_INVALID_ARGUMENT;
}

/* Everything that can be said of a batch without the log. */
static enum err_code batch_check(const struct table_info *table, struct slice bytes, struct err *err)
{
    struct log_batch batch;
    TRY(log_batch_check(bytes, &batch, err));
    const struct schema_version *schema = table_schema(table, batch.schema_id);
    if (!schema)
        return err_set(err, ERR_SCHEMA_NOT_EXIST, "table %.*s.%.*s has no schema %d", SLICE_ARGS(table->database),
                       SLICE_ARGS(table->name), batch.schema_id);
    if (batch.record_count == 0)
        return OK;
    if (batch.last_offset_delta != (int32_t)batch.record_count - 1)
        return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION, "a batch of %u records with a last offset delta of %d",
                       batch.record_count, batch.last_offset_delta);
    return rows_check(&batch, table->settings.log_format, schema->schema, err);
}

/* Fluss leaves a cut-off last batch away and says nothing, so its sender believes that the rows are stored. Here
 * records are whole batches and nothing else. */
static enum err_code batches_check(const struct table_info *table, struct slice records, struct err *err)
{
    struct slice rest = records, batch;
    for (;;) {
        TRY(log_batch_next(&rest, &batch, err));
        if (batch.len == 0)
            break;
        TRY(batch_check(table, batch, err));
    }
    if (rest.len > 0)
        return err_set(err, ERR_CORRUPT_MESSAGE, "the last batch of the records is cut off: %zu bytes are left",
                       rest.len);
    return OK;
}

static enum err_code append_locked(struct bucket *bucket, struct slice batches, struct bucket_append *append,
                                   struct bucket_waiter **woken, struct err *err)
{
    struct log_appended appended;
    TRY(bucket_check_writable_locked(bucket, err));
    TRY(bucket_begin_locked(bucket, err));
    TRY(log_append(bucket->log, batches, &appended, err));
    *append = (struct bucket_append){appended.base_offset, appended.next_offset};
    if (appended.duplicate)
        return OK;
    metric_add(bucket->metrics.rows_in, appended.next_offset - appended.base_offset);
    metric_add(bucket->metrics.bytes_in, (int64_t)batches.len);
    bucket_appended_locked(bucket, woken);
    return OK;
}

enum err_code bucket_append(struct bucket *bucket, struct slice records, struct bucket_append *append, struct err *err)
{
    struct bucket_waiter *woken = NULL;
    const struct table_info *table = bucket_table(bucket);
    enum err_code code = OK;
    metric_add(bucket->metrics.produces, 1);
    if (bucket->state)
        code = err_set(err, ERR_INVALID_TABLE_EXCEPTION, "table %.*s.%.*s has a primary key: its log is made by puts",
                       SLICE_ARGS(table->database), SLICE_ARGS(table->name));
    if (code == OK)
        code = batches_check(table, records, err);
    table_unref(table);
    TRY(code);
    if (records.len == 0) {
        *append = (struct bucket_append){-1, 0};
        return OK;
    }
    os_mutex_lock(&bucket->mutex);
    code = append_locked(bucket, records, append, &woken, err);
    os_mutex_unlock(&bucket->mutex);
    bucket_tell_refused(bucket, code, err);
    bucket_wake(woken);
    return code;
}
