/* One batch: checked, decoded, brought into the columns asked for. */
#include "client/scanner_int.h"

static int32_t find_id(const struct schema *schema, const struct schema_column *column)
{
    return schema_find_id(schema, column->id);
}

static enum err_code make_shape(struct client_scanner *scanner, int32_t schema_id, struct shape **out, struct err *err)
{
    const struct client_schema *schema;
    struct arena *arena = &scanner->arena;
    TRY(client_table_schema(scanner->table, schema_id, &schema, err));
    struct shape *shape = ARENA_NEW(arena, struct shape);
    shape->schema_id = schema_id;
    shape->from = ARENA_NEW_ARRAY(arena, int32_t, scanner->column_count);
    shape->row =
        scanner->pushed ? row_type_of(arena, &schema->schema, scanner->columns, scanner->column_count) : schema->row;
    for (uint32_t i = 0; i < scanner->column_count; i++)
        shape->from[i] = scanner->pushed
                             ? (int32_t)i
                             : find_id(&schema->schema, &scanner->table->schema.schema.columns[scanner->columns[i]]);
    vec_push(&scanner->shapes, shape);
    *out = shape;
    return OK;
}

static enum err_code shape_of(struct client_scanner *scanner, int32_t schema_id, struct shape **shape, struct err *err)
{
    for (size_t i = 0; i < scanner->shapes.len; i++)
        if (scanner->shapes.ptr[i]->schema_id == schema_id) {
            *shape = scanner->shapes.ptr[i];
            return OK;
        }
    return make_shape(scanner, schema_id, shape, err);
}

static enum err_code decode(struct client_scanner *scanner, const struct log_batch *header, struct log_batch_rows *rows,
                            struct err *err)
{
    struct shape *shape = NULL;
    struct log_batch_rows whole;
    struct arena *arena = &scanner->scratch;
    TRY(shape_of(scanner, header->schema_id, &shape, err));
    TRY(log_batch_decode(&scanner->codec, header, scanner->table->log_format, shape->row, arena, &whole, err));
    *rows = (struct log_batch_rows){whole.count, whole.change_types, NULL, scanner->column_count};
    rows->columns = ARENA_NEW_ARRAY(arena, struct column, scanner->column_count);
    for (uint32_t i = 0; i < scanner->column_count; i++) {
        const struct type *type = scanner->table->schema.row->fields[scanner->columns[i]].type;
        if (shape->from[i] >= 0)
            rows->columns[i] = whole.columns[shape->from[i]];
        else
            column_nulls(arena, type, whole.count, &rows->columns[i]);
        column_text_repair(arena, &rows->columns[i]); /* servers do not look into compressed batches */
    }
    return OK;
}

/* The checksum was right, so the bytes are those that were sent: another attempt gives the same. */
static bool is_of_batch(enum err_code code)
{
    return code == ERR_CORRUPT || code == ERR_CORRUPT_RECORD_EXCEPTION || code == ERR_LIMIT ||
           code == ERR_INVALID_ARGUMENT;
}

static enum err_code decode_named(struct client_scanner *scanner, const struct log_batch *header,
                                  struct client_batch *batch, struct err *err)
{
    struct err why = {0};
    enum err_code code = decode(scanner, header, &batch->rows, &why);
    const struct client_partition *partition = client_place_partition(scanner->table, batch->place);
    if (is_of_batch(code))
        return err_set(err, ERR_UNREADABLE_BATCH, "bucket %d%s%.*s, the batch of offsets %lld to %lld: %.200s",
                       batch->bucket, partition ? " of partition " : "",
                       partition ? (int)MIN(partition->name.len, 80) : 0,
                       partition ? (const char *)partition->name.ptr : "", (long long)batch->base_offset,
                       (long long)batch->next_offset - 1, why.text);
    if (code != OK && err)
        *err = why;
    return code;
}

static enum err_code check(const struct client_scanner *scanner, struct slice bytes, struct log_batch *header,
                           struct err *err)
{
    /* A server that leaves columns out keeps the old CRC. */
    return scanner->pushed ? log_batch_read(bytes, header, err) : log_batch_check(bytes, header, err);
}

enum err_code chunk_next(struct client_scanner *scanner, struct chunk *chunk, struct client_batch *batch, bool *have,
                         struct err *err)
{
    struct part *part = chunk->part;
    struct log_batch header;
    struct slice bytes;
    *have = false;
    do {
        if (part->position >= part->range.stop)
            return OK;
        TRY(log_batch_next(&chunk->rest, &bytes, err));
        if (!bytes.len)
            return OK;
        TRY(check(scanner, bytes, &header, err));
    } while (log_batch_next_offset(&header) <= part->position);
    arena_reset(&scanner->scratch);
    *batch = (struct client_batch){
        .place = part->range.place,
        .bucket = client_place_bucket(scanner->table, part->range.place),
        .base_offset = header.base_offset,
        .next_offset = log_batch_next_offset(&header),
        .timestamp_ms = header.commit_timestamp_ms,
        .high_watermark = part->high_watermark,
        .bytes = bytes.len,
        .schema_id = header.schema_id,
    };
    if (header.record_count)
        TRY(decode_named(scanner, &header, batch, err));
    int64_t count = batch->rows.count;
    batch->first = (uint32_t)MIN(MAX(part->range.start - header.base_offset, 0), count);
    batch->end = (uint32_t)MIN(MAX(part->range.stop - header.base_offset, 0), count);
    part->position = MIN(batch->next_offset, part->range.stop);
    *have = true;
    return OK;
}
