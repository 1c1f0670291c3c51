/* A kv batch (kv.md 1):
 *
 *   off  size  field
 *    0    4    length: total size - 4
 *    4    1    magic 0
 *    5    4    CRC-32C over everything behind it
 *    9    2    schema id
 *   11    1    attributes 0
 *   12    8    writer id, -1 none
 *   20    4    batch sequence, -1 none
 *   24    4    record count
 *   28         records: i32 length of what follows, varint key length, key, row (no bytes: delete) */
#include "format/batch/batch.h"

#include "base/hash.h"
#include "base/reader.h"

#define LENGTH_BEHIND 4
#define CRC_AT 5
#define CRC_FROM 9
#define SCHEMA_ID_AT 9
#define WRITER_ID_AT 12
#define SEQUENCE_AT 20
#define COUNT_AT 24

static enum err_code corrupt(struct err *err, const char *what)
{
    return err_set(err, ERR_CORRUPT_MESSAGE, "kv batch %s", what);
}

static bool next_record(struct reader *r, struct kv_record *record)
{
    struct reader inside = reader_of(reader_slice(r, reader_u32(r)));
    record->key = reader_slice(&inside, reader_varint32(&inside));
    record->row = reader_rest(&inside);
    if (!record->row.len)
        record->row = (struct slice){0};
    return reader_ok(r) && reader_ok(&inside);
}

static enum err_code check_records(const struct kv_batch *batch, struct err *err)
{
    struct reader r = reader_of(batch->records);
    struct kv_record record;
    for (uint32_t i = 0; i < batch->record_count; i++)
        if (!next_record(&r, &record))
            return corrupt(err, "holds a record that is longer than the batch");
    if (!reader_done(&r))
        return corrupt(err, "holds more than its records");
    return OK;
}

enum err_code kv_batch_check(struct slice bytes, struct kv_batch *batch, struct err *err)
{
    struct reader r = reader_of(bytes);
    struct kv_batch b = {0};
    uint32_t length = reader_u32(&r);
    uint8_t magic = reader_u8(&r);
    uint32_t crc = reader_u32(&r);
    struct reader covered = r;
    b.schema_id = (int16_t)reader_u16(&r);
    reader_u8(&r);
    b.writer_id = (int64_t)reader_u64(&r);
    b.batch_sequence = (int32_t)reader_u32(&r);
    b.record_count = reader_u32(&r);
    b.records = reader_rest(&r);
    if (!reader_ok(&r) || bytes.len > BATCH_BYTES_MAX || length != bytes.len - LENGTH_BEHIND)
        return corrupt(err, "has another length than it says");
    if (magic != 0)
        return corrupt(err, "has a magic other than 0");
    if (crc != crc32c(0, reader_rest(&covered)))
        return corrupt(err, "has another checksum than it says");
    TRY(check_records(&b, err));
    *batch = b;
    return OK;
}

bool kv_batch_next(struct slice *rest, struct kv_record *record)
{
    if (!rest->len)
        return false;
    struct reader r = reader_of(*rest);
    bool good = next_record(&r, record);
    ASSERT(good); /* kv_batch_check has walked over it */
    *rest = reader_rest(&r);
    return true;
}

void kv_batch_builder_init(struct kv_batch_builder *builder, int16_t schema_id)
{
    *builder = (struct kv_batch_builder){.schema_id = schema_id};
}

void kv_batch_builder_deinit(struct kv_batch_builder *builder)
{
    buf_deinit(&builder->buf);
    *builder = (struct kv_batch_builder){0};
}

enum err_code kv_batch_builder_put(struct kv_batch_builder *builder, struct slice key, struct slice row,
                                   struct err *err)
{
    struct buf *buf = &builder->buf;
    if (key.len > BATCH_BYTES_MAX || row.len > BATCH_BYTES_MAX ||
        KV_BATCH_HEADER_BYTES + buf->len + key.len + row.len + 16 > BATCH_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "kv batch of more than %u bytes", BATCH_BYTES_MAX);
    size_t start = buf->len;
    buf_put_u32(buf, 0);
    buf_put_varint(buf, key.len);
    buf_put_slice(buf, key);
    buf_put_slice(buf, row);
    store_u32(buf->ptr + start, (uint32_t)(buf->len - start - 4));
    builder->count++;
    return OK;
}

enum err_code kv_batch_builder_delete(struct kv_batch_builder *builder, struct slice key, struct err *err)
{
    return kv_batch_builder_put(builder, key, (struct slice){0}, err);
}

void kv_batch_builder_finish(struct kv_batch_builder *builder, int64_t writer_id, int32_t batch_sequence,
                             struct buf *out)
{
    size_t start = out->len;
    buf_put_zeros(out, KV_BATCH_HEADER_BYTES);
    buf_put_slice(out, buf_view(&builder->buf));
    uint8_t *head = out->ptr + start;
    size_t size = out->len - start;
    store_u32(head, (uint32_t)(size - LENGTH_BEHIND));
    store_u16(head + SCHEMA_ID_AT, (uint16_t)builder->schema_id);
    store_u64(head + WRITER_ID_AT, (uint64_t)writer_id);
    store_u32(head + SEQUENCE_AT, (uint32_t)batch_sequence);
    store_u32(head + COUNT_AT, builder->count);
    store_u32(head + CRC_AT, crc32c(0, slice_of(head + CRC_FROM, size - CRC_FROM)));
    buf_reset(&builder->buf);
    builder->count = 0;
}
