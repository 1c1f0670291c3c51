/* The checkpoint: what of a log is on disk for certain, so that a start need not read it. One small file, replaced
 * whole.
 *
 * File `checkpoint`, little-endian:
 *
 *    0  u32  magic "WLCP"
 *    4  u32  version 2; version 1 is read too, and has no end of rows
 *    8  i64  start offset
 *   16  i64  greatest commit time that the log ever gave, -1 for none
 *   24  i64  end of rows: behind the last batch that has some
 *   32  u32  segment count, then for each, in order of offsets:
 *            i64  base offset
 *            i64  next offset: behind its last batch
 *            u64  bytes of whole batches
 *            i64  greatest commit time, -1 for none
 *            u32  entries in its index file
 *       u32  writer count, then for each, longest quiet first:
 *            i64  writer id
 *            u8   batches (1 to 5), then for each, oldest first:
 *                 i32 sequence, u32 last offset delta, i64 base offset, i64 commit time
 *       u32  CRC-32C of everything before
 *
 * All segments but the last are sealed. Bytes of the log behind what is listed here may be whole, torn or missing. */
#include "log/log_int.h"

#include "base/hash.h"
#include "base/reader.h"

enum { MAGIC = 0x50434c57, VERSION = 2, SEGMENT_BYTES = 36, WRITER_BYTES_MIN = 9 };

static void encode_writer(struct buf *out, const struct log_writer *writer)
{
    buf_put_u64(out, (uint64_t)writer->id);
    buf_put_u8(out, (uint8_t)writer->count);
    for (uint32_t i = 0; i < writer->count; i++) {
        buf_put_u32(out, (uint32_t)writer->batches[i].sequence);
        buf_put_u32(out, writer->batches[i].offset_delta);
        buf_put_u64(out, (uint64_t)writer->batches[i].base_offset);
        buf_put_u64(out, (uint64_t)writer->batches[i].timestamp_ms);
    }
}

void log_checkpoint_encode(struct buf *out, const struct log_checkpoint *checkpoint, const struct log_writers *writers)
{
    size_t from = out->len;
    buf_put_u32(out, MAGIC);
    buf_put_u32(out, VERSION);
    buf_put_u64(out, (uint64_t)checkpoint->start_offset);
    buf_put_u64(out, (uint64_t)checkpoint->max_timestamp_ms);
    buf_put_u64(out, (uint64_t)checkpoint->rows_end_offset);
    buf_put_u32(out, (uint32_t)checkpoint->segments.len);
    for (size_t i = 0; i < checkpoint->segments.len; i++) {
        const struct log_checkpoint_segment *segment = &checkpoint->segments.ptr[i];
        buf_put_u64(out, (uint64_t)segment->base_offset);
        buf_put_u64(out, (uint64_t)segment->next_offset);
        buf_put_u64(out, segment->size);
        buf_put_u64(out, (uint64_t)segment->max_timestamp_ms);
        buf_put_u32(out, segment->index_count);
    }
    buf_put_u32(out, (uint32_t)writers->count);
    for (const struct log_writer *writer = writers->oldest; writer; writer = writer->newer)
        encode_writer(out, writer);
    buf_put_u32(out, crc32c(0, slice_of(out->ptr + from, out->len - from)));
}

static void decode_segments(struct reader *r, struct log_checkpoint *checkpoint)
{
    uint32_t count = reader_u32(r);
    if (count > reader_left(r) / SEGMENT_BYTES)
        reader_fail(r);
    int64_t next = checkpoint->start_offset;
    for (uint32_t i = 0; reader_ok(r) && i < count; i++) {
        struct log_checkpoint_segment segment;
        segment.base_offset = (int64_t)reader_u64(r);
        segment.next_offset = (int64_t)reader_u64(r);
        segment.size = reader_u64(r);
        segment.max_timestamp_ms = (int64_t)reader_u64(r);
        segment.index_count = reader_u32(r);
        if (segment.base_offset != next || segment.next_offset < next || segment.next_offset - next > INT32_MAX ||
            segment.size > LOG_SEGMENT_BYTES_MAX || segment.index_count > segment.size ||
            segment.max_timestamp_ms > checkpoint->max_timestamp_ms)
            reader_fail(r);
        next = segment.next_offset;
        vec_push(&checkpoint->segments, segment);
    }
    if (!count || checkpoint->start_offset < 0)
        reader_fail(r);
    if (checkpoint->rows_end_offset != INT64_MAX &&
        (checkpoint->rows_end_offset < checkpoint->start_offset || checkpoint->rows_end_offset > next))
        reader_fail(r);
}

static void decode_writer(struct reader *r, struct log_writers *writers)
{
    int64_t id = (int64_t)reader_u64(r);
    uint8_t count = reader_u8(r);
    if (!count || count > LOG_WRITER_BATCHES_MAX || map_get_i64(&writers->by_id, id))
        reader_fail(r);
    for (uint8_t i = 0; reader_ok(r) && i < count; i++) {
        struct log_writer_batch batch;
        batch.sequence = (int32_t)reader_u32(r);
        batch.offset_delta = reader_u32(r);
        batch.base_offset = (int64_t)reader_u64(r);
        batch.timestamp_ms = (int64_t)reader_u64(r);
        if (reader_ok(r))
            log_writers_note(writers, id, batch);
    }
}

enum err_code log_checkpoint_decode(struct slice bytes, struct log_checkpoint *checkpoint, struct log_writers *writers,
                                    struct err *err)
{
    if (bytes.len < 4 || crc32c(0, slice_of(bytes.ptr, bytes.len - 4)) != load_u32(bytes.ptr + bytes.len - 4))
        return err_set(err, ERR_CORRUPT, "a log's checkpoint of %zu bytes has a wrong checksum", bytes.len);
    struct reader r = reader_of(slice_of(bytes.ptr, bytes.len - 4));
    uint32_t magic = reader_u32(&r);
    uint32_t version = reader_u32(&r);
    if (reader_ok(&r) && magic == MAGIC && (version < 1 || version > VERSION))
        return err_set(err, ERR_FORMAT_VERSION, "a log's checkpoint has version %u, known is up to %d", version,
                       VERSION);
    checkpoint->start_offset = (int64_t)reader_u64(&r);
    checkpoint->max_timestamp_ms = (int64_t)reader_u64(&r);
    checkpoint->rows_end_offset = version < VERSION ? INT64_MAX : (int64_t)reader_u64(&r);
    decode_segments(&r, checkpoint);
    uint32_t count = reader_u32(&r);
    if (count > LOG_WRITERS_MAX || count > reader_left(&r) / WRITER_BYTES_MIN)
        reader_fail(&r);
    for (uint32_t i = 0; reader_ok(&r) && i < count; i++)
        decode_writer(&r, writers);
    if (magic != MAGIC || !reader_done(&r))
        return err_set(err, ERR_CORRUPT, "a log's checkpoint of %zu bytes cannot be read", bytes.len);
    return OK;
}
