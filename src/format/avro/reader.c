/* The container, as read; its shape stands at the top of writer.c. */
#include "base/hash.h"
#include "base/vec.h"
#include "format/avro/avro_int.h"

static enum err_code bad(struct err *err, const char *what)
{
    return err_set(err, ERR_CORRUPT, "Avro file: %s", what);
}

static struct slice take_bytes(struct reader *in)
{
    int64_t len = reader_zigzag(in);
    if (len < 0 || (uint64_t)len > reader_left(in))
        reader_fail(in);
    return reader_ok(in) ? reader_slice(in, (size_t)len) : (struct slice){0};
}

/* The header's map: blocks of (key, value), each with its count, until a count of 0. */
static enum err_code read_properties(struct avro_reader *reader, struct err *err)
{
    VEC(struct avro_property) list = {0};
    for (;;) {
        int64_t count = reader_zigzag(&reader->file);
        if (count < 0) {
            reader_zigzag(&reader->file); /* the block's length in bytes */
            count = count == INT64_MIN ? INT64_MAX : -count;
        }
        if (!reader_ok(&reader->file) || count == 0)
            break;
        for (; count > 0 && reader_ok(&reader->file); count--) {
            struct slice key = take_bytes(&reader->file);
            vec_push(&list, ((struct avro_property){key, take_bytes(&reader->file)}));
        }
    }
    reader->properties.items = ARENA_NEW_ARRAY(&reader->arena, struct avro_property, list.len);
    reader->properties.count = (uint32_t)list.len;
    if (list.len)
        memcpy(reader->properties.items, list.ptr, list.len * sizeof *list.ptr);
    vec_deinit(&list);
    return reader_ok(&reader->file) ? OK : bad(err, "the header is cut off");
}

const struct slice *avro_reader_property(const struct avro_reader *reader, const char *key)
{
    for (uint32_t i = 0; i < reader->properties.count; i++)
        if (slice_is(reader->properties.items[i].key, key))
            return &reader->properties.items[i].value;
    return NULL;
}

static enum err_code read_header(struct avro_reader *reader, struct err *err)
{
    struct slice magic = reader_slice(&reader->file, 4);
    if (!slice_equal(magic, SLICE(AVRO_MAGIC)))
        return bad(err, "it does not begin with \"Obj\" 1");
    TRY(read_properties(reader, err));
    const uint8_t *sync = reader_take(&reader->file, AVRO_SYNC_BYTES);
    if (!sync)
        return bad(err, "the header is cut off");
    memcpy(reader->sync, sync, AVRO_SYNC_BYTES);
    const struct slice *codec = avro_reader_property(reader, "avro.codec");
    if (codec && !avro_codec_from_name(*codec, &reader->codec))
        return err_set(err, ERR_NOT_SUPPORTED, "Avro files with the codec %.*s are not read", SLICE_ARGS(*codec));
    const struct slice *schema = avro_reader_property(reader, "avro.schema");
    if (!schema)
        return bad(err, "the header has no avro.schema");
    return avro_type_parse(&reader->arena, *schema, &reader->type, err);
}

enum err_code avro_reader_init(struct avro_reader *reader, struct slice file, struct err *err)
{
    *reader = (struct avro_reader){.file = reader_of(file)};
    enum err_code code = read_header(reader, err);
    if (code != OK)
        avro_reader_deinit(reader);
    return code;
}

void avro_reader_deinit(struct avro_reader *reader)
{
    arena_deinit(&reader->arena);
    buf_deinit(&reader->block);
    codec_state_deinit(&reader->codecs);
}

/* A snappy block ends with the checksum of its plain bytes. */
static enum err_code unpack(struct avro_reader *reader, struct slice packed, struct err *err)
{
    struct slice sum = {0};
    if (reader->codec == CODEC_SNAPPY) {
        if (packed.len < 4)
            return bad(err, "a snappy block has no checksum");
        sum = slice_of(packed.ptr + packed.len - 4, 4);
        packed.len -= 4;
    }
    buf_reset(&reader->block);
    TRY(codec_decompress_max(&reader->codecs, reader->codec, packed, AVRO_BLOCK_PLAIN_BYTES_MAX, &reader->block, err));
    if (sum.len && __builtin_bswap32(load_u32(sum.ptr)) != crc32_zip(0, buf_view(&reader->block)))
        return bad(err, "the checksum of a snappy block is wrong");
    return OK;
}

static enum err_code read_block(struct avro_reader *reader, struct err *err)
{
    int64_t count = reader_zigzag(&reader->file);
    struct slice packed = take_bytes(&reader->file);
    struct slice sync = reader_slice(&reader->file, AVRO_SYNC_BYTES);
    if (!reader_ok(&reader->file) || count < 0)
        return bad(err, "a block is cut off");
    if (!slice_equal(sync, slice_of(reader->sync, AVRO_SYNC_BYTES)))
        return bad(err, "a block does not end with the sync marker");
    TRY(unpack(reader, packed, err));
    reader->in = reader_of(buf_view(&reader->block));
    reader->block_left = count;
    /* A record without bytes would let a few bytes of file stand for any number of records. */
    if (count > 0 && (uint64_t)count > reader->block.len)
        return bad(err, "a block has more records than bytes");
    return OK;
}

enum err_code avro_reader_next(struct avro_reader *reader, struct arena *arena, struct avro_value **value,
                               struct err *err)
{
    while (reader->block_left == 0) {
        if (reader_left(&reader->in))
            return bad(err, "bytes follow a block's last record");
        if (reader_done(&reader->file)) {
            *value = NULL;
            return OK;
        }
        TRY(read_block(reader, err));
    }
    uint32_t left = AVRO_RECORD_VALUES_MAX;
    struct avro_value *record = ARENA_NEW(arena, struct avro_value);
    TRY(avro_value_decode(arena, reader->type, &reader->in, 0, &left, record, err));
    reader->block_left--;
    *value = record;
    return OK;
}
