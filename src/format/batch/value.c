/* A value batch (kv.md 5):
 *
 *   off  size  field
 *    0    4    length: total size - 4
 *    4    1    magic 0
 *    5    4    record count
 *    9         records: i32 length of what follows, i16 schema id, row */
#include "format/batch/batch.h"

#include "base/reader.h"

#define LENGTH_BEHIND 4
#define COUNT_AT 5
#define SCHEMA_ID_BYTES 2

size_t value_batch_start(struct buf *out)
{
    size_t start = out->len;
    buf_put_u32(out, VALUE_BATCH_HEADER_BYTES - LENGTH_BEHIND);
    buf_put_u8(out, 0);
    buf_put_u32(out, 0);
    return start;
}

void value_batch_put(struct buf *out, size_t start, struct slice value)
{
    ASSERT(out->len - start + 4 + value.len <= BATCH_BYTES_MAX);
    buf_put_u32(out, (uint32_t)value.len);
    buf_put_slice(out, value);
    uint8_t *head = out->ptr + start;
    store_u32(head, (uint32_t)(out->len - start - LENGTH_BEHIND));
    store_u32(head + COUNT_AT, load_u32(head + COUNT_AT) + 1);
}

static enum err_code corrupt(struct err *err, const char *what)
{
    return err_set(err, ERR_CORRUPT, "value batch %s", what);
}

enum err_code value_batch_check(struct slice bytes, uint32_t *count, struct slice *rest, struct err *err)
{
    struct reader r = reader_of(bytes);
    uint32_t length = reader_u32(&r);
    uint8_t magic = reader_u8(&r);
    uint32_t record_count = reader_u32(&r);
    if (!reader_ok(&r) || bytes.len > BATCH_BYTES_MAX || length != bytes.len - LENGTH_BEHIND)
        return corrupt(err, "has another length than it says");
    if (magic != 0)
        return corrupt(err, "has a magic other than 0");
    struct reader records = r;
    for (uint32_t i = 0; i < record_count; i++)
        if (reader_slice(&r, reader_u32(&r)).len < SCHEMA_ID_BYTES)
            return corrupt(err, "holds a record that is cut off");
    if (!reader_done(&r))
        return corrupt(err, "holds more than its records");
    *count = record_count;
    *rest = reader_rest(&records);
    return OK;
}

bool value_batch_next(struct slice *rest, struct slice *value)
{
    if (!rest->len)
        return false;
    struct reader r = reader_of(*rest);
    *value = reader_slice(&r, reader_u32(&r));
    ASSERT(reader_ok(&r)); /* value_batch_check has walked over it */
    *rest = reader_rest(&r);
    return true;
}
