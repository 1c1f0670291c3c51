/* Column statistics, between header and body (log.md 3). Nothing is aligned.
 *
 *   size   field
 *    1     version 1
 *    2     column count N
 *    2 N   i16 position of each column
 *    4 N   i32 null count of each
 *    4     size, then the row of least values (aligned row of N fields)
 *    4     size, then the row of greatest values */
#include "format/batch/batch.h"

#include "base/reader.h"

enum err_code log_batch_statistics_read(const struct log_batch *batch, uint32_t column_count, bool *present,
                                        struct log_batch_statistics *statistics, struct err *err)
{
    struct reader r = reader_of(batch->statistics);
    struct log_batch_statistics s = {0};
    uint8_t version = batch->statistics.len ? reader_u8(&r) : 0;
    int16_t count = version == LOG_BATCH_STATISTICS_VERSION ? (int16_t)reader_u16(&r) : 0;
    if (reader_ok(&r) && count <= 0) {
        *present = false;
        return OK;
    }
    s.count = (uint16_t)count;
    s.positions = reader_take(&r, 2 * (size_t)s.count);
    s.null_counts = reader_take(&r, 4 * (size_t)s.count);
    s.min = reader_slice(&r, reader_u32(&r));
    s.max = reader_slice(&r, reader_u32(&r));
    bool inside = reader_done(&r);
    for (uint32_t i = 0; inside && i < s.count; i++)
        inside = load_u16(s.positions + 2 * (size_t)i) < column_count;
    if (!inside)
        return err_set(err, ERR_CORRUPT, "log batch has column statistics that do not fit it");
    *present = true;
    *statistics = s;
    return OK;
}
