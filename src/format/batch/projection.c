#include "format/batch/header_int.h"

#include "base/reader.h"

/* Where the Arrow message starts in the batch: behind the change types, if the batch has them. */
static size_t message_offset(const struct log_batch *batch)
{
    return batch->body_offset + (batch->append_only ? 0 : batch->record_count);
}

enum err_code log_batch_head_bytes(struct slice bytes, size_t *head_bytes, struct err *err)
{
    struct log_batch batch = {0};
    TRY(log_batch_read(bytes, &batch, err));
    if (!batch.record_count) {
        *head_bytes = batch.size;
        return OK;
    }
    struct reader r = reader_of(batch.bytes);
    reader_slice(&r, message_offset(&batch));
    struct slice prefix = reader_slice(&r, ARROW_PREFIX_BYTES);
    size_t need = ARROW_PREFIX_BYTES;
    if (reader_ok(&r))
        TRY(arrow_head_bytes(prefix, &need, err));
    need += message_offset(&batch);
    if (need > batch.size)
        return err_set(err, ERR_CORRUPT, "log batch of %zu bytes has no room for its Arrow metadata", batch.size);
    *head_bytes = need;
    return OK;
}

static enum err_code check_selected(uint32_t field_count, const uint32_t *selected, uint32_t selected_count,
                                    struct err *err)
{
    if (!selected_count)
        return err_set(err, ERR_INVALID_COLUMN_PROJECTION, "a projection of no columns");
    for (uint32_t i = 0; i < selected_count; i++)
        if (selected[i] >= field_count || (i && selected[i] <= selected[i - 1]))
            return err_set(err, ERR_INVALID_COLUMN_PROJECTION,
                           "column positions must increase and stay below %u; %u does not", field_count, selected[i]);
    return OK;
}

/* The header, without statistics, and the change types. Gives the place of the header. */
static size_t put_head(const struct log_batch *batch, struct slice change_types, struct buf *out)
{
    size_t start = out->len;
    struct reader r = reader_of(batch->bytes);
    buf_put_slice(out, reader_slice(&r, batch->header_bytes));
    uint8_t statistics_at = batch_layout(batch->layout)->statistics_at;
    if (statistics_at)
        store_u32(out->ptr + start + statistics_at, 0);
    buf_put_slice(out, change_types);
    return start;
}

static size_t ranges_len(const arrow_ranges *ranges, size_t first)
{
    size_t len = 0;
    for (size_t i = first; i < ranges->len; i++)
        len += ranges->ptr[i].len;
    return len;
}

static enum err_code project_rows(const struct log_batch *batch, const struct type *type,
                                  const struct arrow_selection *selection, struct buf *out, arrow_ranges *ranges,
                                  struct err *err)
{
    struct reader r = reader_of(batch->bytes);
    reader_slice(&r, batch->body_offset);
    size_t at = message_offset(batch), first_range = ranges->len;
    struct slice change_types = reader_slice(&r, at - batch->body_offset);
    if (!reader_ok(&r))
        return err_set(err, ERR_CORRUPT, "log batch is cut off in its change types");
    size_t start = put_head(batch, change_types, out);
    TRY(arrow_project(reader_rest(&r), batch->size - at, type, selection, out, ranges, err));
    size_t size = out->len - start + ranges_len(ranges, first_range);
    store_u32(out->ptr + start + BATCH_LENGTH_AT, (uint32_t)(size - BATCH_LENGTH_BEHIND));
    for (size_t i = first_range; i < ranges->len; i++)
        ranges->ptr[i].offset += at;
    return OK;
}

enum err_code log_batch_project(struct slice head, const struct type *type, const struct arrow_selection *selection,
                                struct buf *out, arrow_ranges *ranges, struct err *err)
{
    struct log_batch batch = {0};
    TRY(check_selected(selection->row->field_count, selection->positions, selection->count, err));
    TRY(log_batch_read(head, &batch, err));
    size_t out_len = out->len;
    if (!batch.record_count) {
        if (batch.bytes.len < batch.size)
            return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION, "log batch without records is cut off");
        buf_put_slice(out, batch.bytes);
        return OK;
    }
    enum err_code code = project_rows(&batch, type, selection, out, ranges, err);
    if (code != OK)
        out->len = out_len;
    return code;
}
