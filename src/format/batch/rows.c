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

static enum err_code decode_arrow(struct arrow_codec *codec, const struct log_batch *batch, const struct type *type,
                                  struct arena *arena, struct log_batch_rows *rows, struct err *err)
{
    struct reader r = reader_of(batch->body);
    if (!batch->append_only) {
        struct slice change_types = reader_slice(&r, batch->record_count);
        if (!reader_ok(&r) || !change_types.ptr)
            return err_set(err, ERR_CORRUPT, "log batch of %u records is cut off in its change types",
                           batch->record_count);
        TRY(check_changes(change_types, err));
        rows->change_types = change_types.ptr;
    }
    TRY(arrow_decode(codec, reader_rest(&r), type, arena, rows->columns, &rows->count, err));
    if (rows->count != batch->record_count)
        return err_set(err, ERR_CORRUPT, "log batch of %u records has %u rows", batch->record_count, rows->count);
    return OK;
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
