#include "format/batch/header_int.h"

#include "base/reader.h"

static enum err_code check_changes(struct slice change_types, struct err *err)
{
    uint8_t greatest = 0;
    for (size_t i = 0; i < change_types.len; i++)
        greatest = MAX(greatest, change_types.ptr[i]);
    if (greatest >= CHANGE_TYPE_COUNT)
        return err_set(err, ERR_CORRUPT, "log batch holds change type %u, the greatest is %d", greatest,
                       CHANGE_TYPE_COUNT - 1);
    return OK;
}

/* The Arrow message of a batch, and the change types before it, NULL where all are CHANGE_APPEND. */
static enum err_code split(const struct log_batch *batch, const uint8_t **change_types, struct slice *message,
                           struct err *err)
{
    struct reader r = reader_of(batch->body);
    *change_types = NULL;
    if (!batch->append_only) {
        struct slice changes = reader_slice(&r, batch->record_count);
        if (!reader_ok(&r) || !changes.ptr)
            return err_set(err, ERR_CORRUPT, "log batch of %u records is cut off in its change types",
                           batch->record_count);
        TRY(check_changes(changes, err));
        *change_types = changes.ptr;
    }
    *message = reader_rest(&r);
    return OK;
}

static enum err_code check_count(const struct log_batch *batch, uint32_t row_count, struct err *err)
{
    if (row_count == batch->record_count)
        return OK;
    return err_set(err, ERR_CORRUPT, "log batch of %u records has %u rows", batch->record_count, row_count);
}

static enum err_code decode_arrow(struct arrow_codec *codec, const struct log_batch *batch, const struct type *type,
                                  struct arena *arena, struct log_batch_rows *rows, struct err *err)
{
    struct slice message = {0};
    TRY(split(batch, &rows->change_types, &message, err));
    TRY(arrow_decode(codec, message, type, arena, rows->columns, &rows->count, err));
    return check_count(batch, rows->count, err);
}

enum err_code log_batch_check_arrow(const struct log_batch *batch, const struct type *type, struct arena *arena,
                                    struct err *err)
{
    const uint8_t *change_types;
    struct slice message = {0};
    uint32_t row_count = 0;
    if (!batch->record_count)
        return OK;
    TRY(split(batch, &change_types, &message, err));
    TRY(arrow_check(message, type, arena, &row_count, err));
    return check_count(batch, row_count, err);
}

enum err_code log_batch_decode(struct arrow_codec *codec, const struct log_batch *batch, enum log_format format,
                               const struct type *type, struct arena *arena, struct log_batch_rows *rows,
                               struct err *err)
{
    struct log_batch_rows out = {.column_count = type->field_count};
    out.columns = ARENA_NEW_ARRAY(arena, struct column, type->field_count);
    if (!batch->record_count) {
        for (uint32_t i = 0; i < type->field_count; i++)
            column_nulls(arena, type->fields[i].type, 0, &out.columns[i]);
    } else if (format == LOG_FORMAT_ARROW) {
        TRY(decode_arrow(codec, batch, type, arena, &out, err));
    } else {
        TRY(batch_decode_rows(batch, format, type, arena, &out, err));
    }
    *rows = out;
    return OK;
}
