/* The header of a log batch (log.md 1). Little-endian; the CRC-32C covers everything behind it.
 *
 *   V0  V1 epoch  V1 stat.  V2   size  field
 *    0     0         0       0    8    base offset (server)
 *    8     8         8       8    4    length: total size - 12
 *   12    12        12      12    1    magic
 *   13    13        13      13    8    commit time ms (server)
 *    -    21         -      21    4    leader epoch (server), -1 none
 *   21    25        21      25    4    CRC-32C
 *   25    29        25      29    2    schema id
 *   27    31        27      31    1    attributes: bit 0 append-only
 *   28    32        28      32    4    last offset delta: count - 1, 0 if empty
 *   32    36        32      36    8    writer id, -1 none
 *   40    44        40      44    4    batch sequence, -1 none
 *   44    48        44      48    4    record count
 *    -     -        48      52    4    statistics length; the statistics follow
 *   48    52        52      56         header size */
#include "format/batch/header_int.h"

#include "base/hash.h"
#include "base/reader.h"

#include <inttypes.h>

#define MAGIC_AT 12
#define TIMESTAMP_AT 13

static const struct batch_layout layouts[] = {
    [LOG_BATCH_V0] = {0, 0, 21, 25, 27, 28, 32, 40, 44, 0, 48},
    [LOG_BATCH_V1_EPOCH] = {1, 21, 25, 29, 31, 32, 36, 44, 48, 0, 52},
    [LOG_BATCH_V1_STATISTICS] = {1, 0, 21, 25, 27, 28, 32, 40, 44, 48, 52},
    [LOG_BATCH_V2] = {2, 21, 25, 29, 31, 32, 36, 44, 48, 52, 56},
};

const struct batch_layout *batch_layout(enum log_batch_layout layout)
{
    return &layouts[layout];
}

static struct reader at(struct slice bytes, size_t offset)
{
    struct reader r = reader_of(bytes);
    reader_slice(&r, offset);
    return r;
}

static uint32_t u32_at(struct slice bytes, size_t offset)
{
    struct reader r = at(bytes, offset);
    return reader_u32(&r);
}

static uint64_t u64_at(struct slice bytes, size_t offset)
{
    struct reader r = at(bytes, offset);
    return reader_u64(&r);
}

enum err_code log_batch_next(struct slice *rest, struct slice *batch, struct err *err)
{
    *batch = (struct slice){0};
    if (rest->len < BATCH_LENGTH_BEHIND)
        return OK;
    int32_t length = (int32_t)u32_at(*rest, BATCH_LENGTH_AT);
    if (length < LOG_BATCH_HEADER_BYTES - BATCH_LENGTH_BEHIND ||
        (uint32_t)length > BATCH_BYTES_MAX - BATCH_LENGTH_BEHIND)
        return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION, "log batch says it is %" PRId32 " bytes long", length);
    struct reader r = reader_of(*rest);
    struct slice whole = reader_slice(&r, (size_t)length + BATCH_LENGTH_BEHIND);
    if (!reader_ok(&r))
        return OK;
    *batch = whole;
    *rest = reader_rest(&r);
    return OK;
}

/* The counts of a layout fit together: what tells the two kinds of magic 1 apart without the whole batch. */
static bool counts_agree(struct slice bytes, const struct batch_layout *l)
{
    int64_t count = (int32_t)u32_at(bytes, l->count_at);
    int64_t last_delta = (int32_t)u32_at(bytes, l->last_delta_at);
    return count >= 0 && last_delta == MAX(count - 1, 0);
}

static bool crc_agrees(struct slice bytes, const struct batch_layout *l)
{
    struct reader r = at(bytes, l->crc_at);
    uint32_t crc = reader_u32(&r);
    struct slice covered = reader_rest(&r);
    return reader_ok(&r) && covered.len && crc == crc32c(0, covered);
}

static enum err_code find_layout(struct slice bytes, enum log_batch_layout *layout, struct err *err)
{
    struct reader r = at(bytes, MAGIC_AT);
    uint8_t magic = reader_u8(&r);
    switch (magic) {
    case 0:
        *layout = LOG_BATCH_V0;
        return OK;
    case 1:
        *layout = LOG_BATCH_V1_STATISTICS;
        if (counts_agree(bytes, &layouts[LOG_BATCH_V1_EPOCH]) &&
            (!counts_agree(bytes, &layouts[LOG_BATCH_V1_STATISTICS]) ||
             crc_agrees(bytes, &layouts[LOG_BATCH_V1_EPOCH])))
            *layout = LOG_BATCH_V1_EPOCH;
        return OK;
    case 2:
        *layout = LOG_BATCH_V2;
        return OK;
    default:
        return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION, "log batch of magic %u, known are 0, 1 and 2", magic);
    }
}

static void read_fields(struct log_batch *b, const struct batch_layout *l)
{
    b->header_bytes = l->header_bytes;
    b->base_offset = (int64_t)u64_at(b->bytes, 0);
    b->commit_timestamp_ms = (int64_t)u64_at(b->bytes, TIMESTAMP_AT);
    b->leader_epoch = l->epoch_at ? (int32_t)u32_at(b->bytes, l->epoch_at) : -1;
    b->crc = u32_at(b->bytes, l->crc_at);
    struct reader r = at(b->bytes, l->schema_id_at);
    b->schema_id = (int16_t)reader_u16(&r);
    b->append_only = reader_u8(&r) & BATCH_ATTRIBUTE_APPEND_ONLY;
    b->last_offset_delta = (int32_t)u32_at(b->bytes, l->last_delta_at);
    b->writer_id = (int64_t)u64_at(b->bytes, l->writer_id_at);
    b->batch_sequence = (int32_t)u32_at(b->bytes, l->sequence_at);
    b->record_count = u32_at(b->bytes, l->count_at);
}

/* Statistics and body, as far as the bytes go. */
static enum err_code read_parts(struct log_batch *b, const struct batch_layout *l, struct err *err)
{
    int64_t statistics = l->statistics_at ? (int32_t)u32_at(b->bytes, l->statistics_at) : 0;
    b->body_offset = b->header_bytes + (size_t)statistics;
    if (statistics < 0 || b->body_offset > b->size)
        return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION, "log batch of %zu bytes with %" PRId64 " bytes of statistics",
                       b->size, statistics);
    struct reader r = at(b->bytes, b->header_bytes);
    b->statistics = reader_slice(&r, MIN((size_t)statistics, reader_left(&r)));
    b->body = reader_rest(&r);
    if ((b->record_count == 0) != (b->body_offset == b->size))
        return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION, "log batch of %u records has a body of %zu bytes",
                       b->record_count, b->size - b->body_offset);
    return OK;
}

enum err_code log_batch_read(struct slice bytes, struct log_batch *batch, struct err *err)
{
    struct log_batch b = {.size = (size_t)u32_at(bytes, BATCH_LENGTH_AT) + BATCH_LENGTH_BEHIND};
    struct reader r = reader_of(bytes);
    b.bytes = reader_slice(&r, MIN(b.size, bytes.len));
    if (bytes.len < LOG_BATCH_HEADER_BYTES || b.size > BATCH_BYTES_MAX)
        return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION, "%zu bytes are not a log batch", bytes.len);
    TRY(find_layout(b.bytes, &b.layout, err));
    const struct batch_layout *l = &layouts[b.layout];
    if (b.bytes.len < l->header_bytes || !counts_agree(b.bytes, l))
        return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION, "log batch of %zu bytes whose header does not fit together",
                       b.size);
    read_fields(&b, l);
    TRY(read_parts(&b, l, err));
    *batch = b;
    return OK;
}

enum err_code log_batch_check(struct slice bytes, struct log_batch *batch, struct err *err)
{
    struct log_batch b = {0};
    TRY(log_batch_read(bytes, &b, err));
    if (b.size != bytes.len)
        return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION, "log batch of %zu bytes in %zu", b.size, bytes.len);
    if (!crc_agrees(bytes, &layouts[b.layout]))
        return err_set(err, ERR_CORRUPT_RECORD_EXCEPTION,
                       "log batch of %u records has another checksum than 0x%08" PRIx32, b.record_count, b.crc);
    *batch = b;
    return OK;
}

void log_batch_stamp(uint8_t *batch, enum log_batch_layout layout, int64_t base_offset, int64_t commit_timestamp_ms,
                     int32_t leader_epoch)
{
    store_u64(batch, (uint64_t)base_offset);
    store_u64(batch + TIMESTAMP_AT, (uint64_t)commit_timestamp_ms);
    if (layouts[layout].epoch_at)
        store_u32(batch + layouts[layout].epoch_at, (uint32_t)leader_epoch);
}

size_t batch_header_start(struct buf *out, enum log_batch_layout layout)
{
    size_t start = out->len;
    buf_put_zeros(out, layouts[layout].header_bytes);
    return start;
}

void batch_header_finish(struct buf *out, size_t start, const struct log_batch_options *options, uint32_t count,
                         size_t statistics_len, int64_t writer_id, int32_t batch_sequence)
{
    const struct batch_layout *l = &layouts[options->layout];
    uint8_t *head = out->ptr + start;
    size_t size = out->len - start;
    ASSERT(size <= BATCH_BYTES_MAX);
    store_u32(head + BATCH_LENGTH_AT, (uint32_t)(size - BATCH_LENGTH_BEHIND));
    head[MAGIC_AT] = l->magic;
    if (l->epoch_at)
        store_u32(head + l->epoch_at, (uint32_t)-1);
    store_u16(head + l->schema_id_at, (uint16_t)options->schema_id);
    head[l->attributes_at] = options->append_only ? BATCH_ATTRIBUTE_APPEND_ONLY : 0;
    store_u32(head + l->last_delta_at, count ? count - 1 : 0);
    store_u64(head + l->writer_id_at, (uint64_t)writer_id);
    store_u32(head + l->sequence_at, (uint32_t)batch_sequence);
    store_u32(head + l->count_at, count);
    ASSERT(l->statistics_at || !statistics_len);
    if (l->statistics_at)
        store_u32(head + l->statistics_at, (uint32_t)statistics_len);
    size_t covered = l->crc_at + 4u;
    store_u32(head + l->crc_at, crc32c(0, slice_of(head + covered, size - covered)));
}
