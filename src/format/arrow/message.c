/* Message { version: i16, header_type: u8, header: RecordBatch, bodyLength: i64 }
 * RecordBatch { length: i64, nodes: [FieldNode], buffers: [Buffer], compression: BodyCompression }
 * BodyCompression { codec: i8 (0 LZ4_FRAME, 1 ZSTD), method: i8 (0 BUFFER) }
 *
 * A flatbuffer table is i32 back to its vtable, then its fields; a vtable is u16 own size, u16 table size, then for
 * each field u16 its place in the table or 0 for its default. */
#include "format/arrow/message_int.h"

#include <inttypes.h>

#define CONTINUATION 0xffffffffu
#define HEADER_RECORD_BATCH 3
#define VERSION_V4 3
#define VERSION_V5 4

struct table {
    struct slice meta;
    size_t at;
    struct slice vtable; /* the places of the fields */
    bool failed;
};

/* len bytes at a place of the metadata; zeros and failed where there are none. */
static struct reader field_reader(struct table *t, size_t at, size_t len)
{
    struct reader r = reader_of(t->meta);
    reader_slice(&r, at);
    struct slice bytes = reader_slice(&r, len);
    t->failed |= !reader_ok(&r);
    return reader_of(bytes);
}

/* Place of a field in the metadata, 0 where the table does not hold it. */
static size_t field_at(const struct table *t, unsigned field)
{
    struct reader r = reader_of(t->vtable);
    reader_slice(&r, 2 * (size_t)field);
    uint16_t place = reader_u16(&r);
    return place ? t->at + place : 0;
}

static struct table table_at(struct slice meta, size_t at)
{
    struct table t = {.meta = meta, .at = at};
    struct reader r = field_reader(&t, at, 4);
    int64_t vtable_at = (int64_t)at - (int32_t)reader_u32(&r);
    if (t.failed || vtable_at < 0) {
        t.failed = true;
        return t;
    }
    r = field_reader(&t, (size_t)vtable_at, 4);
    uint16_t size = reader_u16(&r);
    r = field_reader(&t, (size_t)vtable_at, MAX(size, 4));
    reader_u32(&r);
    t.vtable = reader_rest(&r);
    return t;
}

static uint64_t field_int(struct table *t, unsigned field, size_t width)
{
    size_t at = field_at(t, field);
    if (!at)
        return 0;
    struct reader r = field_reader(t, at, width);
    return width == 1 ? reader_u8(&r) : width == 2 ? reader_u16(&r) : reader_u64(&r);
}

/* Where an offset field points, 0 where it is absent. */
static size_t field_target(struct table *t, unsigned field)
{
    size_t at = field_at(t, field);
    if (!at)
        return 0;
    struct reader r = field_reader(t, at, 4);
    return at + reader_u32(&r);
}

static struct slice field_pairs(struct table *t, unsigned field)
{
    size_t at = field_target(t, field);
    if (!at)
        return (struct slice){0};
    struct reader r = field_reader(t, at, 4);
    size_t len = (size_t)reader_u32(&r) * ARROW_PAIR_BYTES;
    r = field_reader(t, at + 4, len);
    return reader_rest(&r);
}

enum err_code arrow_head_bytes(struct slice prefix, size_t *head_bytes, struct err *err)
{
    struct reader r = reader_of(prefix);
    uint32_t mark = reader_u32(&r);
    uint32_t len = reader_u32(&r);
    if (!reader_ok(&r) || mark != CONTINUATION)
        return err_set(err, ERR_CORRUPT, "Arrow message does not start with its mark");
    if (len > ARROW_METADATA_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "Arrow metadata of %" PRIu32 " bytes, at most %u are read", len,
                       ARROW_METADATA_BYTES_MAX);
    *head_bytes = ARROW_PREFIX_BYTES + (size_t)len;
    return OK;
}

static enum err_code read_compression(struct table *batch, struct arrow_message *message, struct err *err)
{
    size_t at = field_target(batch, 3);
    message->compression = ARROW_NONE;
    if (!at)
        return OK;
    struct table t = table_at(batch->meta, at);
    uint64_t codec = field_int(&t, 0, 1);
    uint64_t method = field_int(&t, 1, 1);
    if (t.failed || codec > 1 || method != 0)
        return err_set(err, ERR_CORRUPT, "Arrow body compression %" PRIu64 "/%" PRIu64 " is not known", codec, method);
    message->compression = codec ? ARROW_ZSTD : ARROW_LZ4_FRAME;
    return OK;
}

static enum err_code read_batch(struct table *root, struct arrow_message *message, struct err *err)
{
    uint64_t version = field_int(root, 0, 2);
    uint64_t kind = field_int(root, 1, 1);
    size_t at = field_target(root, 2);
    message->body_len = field_int(root, 3, 8);
    if (root->failed || (version != VERSION_V4 && version != VERSION_V5) || kind != HEADER_RECORD_BATCH || !at)
        return err_set(err, ERR_CORRUPT, "Arrow message is not a record batch (version %" PRIu64 ", kind %" PRIu64 ")",
                       version, kind);
    struct table batch = table_at(root->meta, at);
    message->row_count = field_int(&batch, 0, 8);
    message->nodes = field_pairs(&batch, 1);
    message->buffers = field_pairs(&batch, 2);
    TRY(read_compression(&batch, message, err));
    if (batch.failed)
        return err_set(err, ERR_CORRUPT, "Arrow metadata points outside itself");
    return OK;
}

enum err_code arrow_message_read(struct slice head, uint64_t message_len, struct arrow_message *message,
                                 struct err *err)
{
    size_t head_bytes = 0;
    struct reader r = reader_of(head);
    TRY(arrow_head_bytes(reader_slice(&r, MIN(head.len, (size_t)ARROW_PREFIX_BYTES)), &head_bytes, err));
    struct slice meta = reader_slice(&r, head_bytes - ARROW_PREFIX_BYTES);
    struct reader first = reader_of(meta);
    size_t root_at = reader_u32(&first);
    if (!reader_ok(&r) || !reader_ok(&first))
        return err_set(err, ERR_CORRUPT, "Arrow message is cut off in its metadata");
    struct table root = table_at(meta, root_at);
    TRY(read_batch(&root, message, err));
    message->body_offset = head_bytes;
    if (message_len < head_bytes || message->body_len > message_len - head_bytes)
        return err_set(err, ERR_CORRUPT, "Arrow body of %" PRIu64 " bytes is cut off", message->body_len);
    if (message->row_count > ARROW_ROWS_MAX)
        return err_set(err, ERR_LIMIT, "Arrow batch of %" PRIu64 " rows, at most %u are read", message->row_count,
                       ARROW_ROWS_MAX);
    return OK;
}

void arrow_type_count(const struct type *type, size_t *nodes, size_t *buffers)
{
    bool is_text = type->kind == TYPE_CHAR || type->kind == TYPE_STRING || type->kind == TYPE_BYTES;
    *nodes += type->kind == TYPE_MAP ? 2 : 1;
    *buffers += type->kind == TYPE_ROW ? 1 : is_text || type->kind == TYPE_MAP ? 3 : 2;
    for (uint32_t f = 0; f < type->field_count; f++)
        arrow_type_count(type->fields[f].type, nodes, buffers);
}

enum err_code arrow_message_matches(const struct arrow_message *message, const struct type *row, struct err *err)
{
    size_t nodes = 0, buffers = 0;
    for (uint32_t i = 0; i < row->field_count; i++)
        arrow_type_count(row->fields[i].type, &nodes, &buffers);
    if (message->nodes.len == nodes * ARROW_PAIR_BYTES && message->buffers.len == buffers * ARROW_PAIR_BYTES)
        return OK;
    return err_set(err, ERR_CORRUPT, "Arrow batch has %zu nodes and %zu buffers, the table's columns have %zu and %zu",
                   message->nodes.len / ARROW_PAIR_BYTES, message->buffers.len / ARROW_PAIR_BYTES, nodes, buffers);
}
