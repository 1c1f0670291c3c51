/* What a log reads of a batch: length, offsets, time and the writer, never the rows. */
#include "log/log_int.h"

#include "format/batch/batch.h"

static struct log_head head_of(const struct log_batch *batch)
{
    return (struct log_head){.base_offset = batch->base_offset,
                             .bytes = batch->size,
                             .timestamp_ms = batch->commit_timestamp_ms,
                             .offset_delta = (uint32_t)batch->last_offset_delta,
                             .has_rows = batch->record_count > 0,
                             .writer_id = batch->writer_id,
                             .sequence = batch->batch_sequence};
}

bool log_head_read(struct slice bytes, struct log_head *head)
{
    struct log_batch batch;
    if (log_batch_read(bytes, &batch, NULL) != OK || batch.base_offset < 0)
        return false;
    *head = head_of(&batch);
    return true;
}

bool log_head_intact(struct slice bytes, const struct log_head *head)
{
    struct log_batch batch;
    return bytes.len == head->bytes && log_batch_check(bytes, &batch, NULL) == OK;
}
