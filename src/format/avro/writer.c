/* The container, as written:
 *
 *   4          "Obj" 1
 *   map        avro.schema, avro.codec, the caller's properties: count, (key, value) pairs, 0
 *   16         sync marker
 *   blocks     record count (zig-zag), packed length (zig-zag), packed bytes, sync marker
 *
 * A snappy block is followed by the CRC-32 of its plain bytes, big-endian, within the packed length. */
#include "base/hash.h"
#include "format/avro/avro_int.h"

static const char *const codec_names[CODEC_COUNT] = {
    [CODEC_NONE] = "null", [CODEC_ZSTD] = "zstandard", [CODEC_DEFLATE] = "deflate", [CODEC_SNAPPY] = "snappy"};

bool avro_codec_from_name(struct slice name, enum codec *codec)
{
    for (unsigned i = 0; i < CODEC_COUNT; i++)
        if (codec_names[i] && slice_is(name, codec_names[i])) {
            *codec = (enum codec)i;
            return true;
        }
    return false;
}

static void put_bytes(struct buf *buf, struct slice value)
{
    buf_put_zigzag(buf, (int64_t)value.len);
    buf_put_slice(buf, value);
}

static int usual_level(enum codec codec)
{
    return codec == CODEC_DEFLATE ? 6 : 3;
}

static void put_header(struct buf *out, const struct avro_writer_options *options)
{
    buf_put(out, AVRO_MAGIC, 4);
    buf_put_zigzag(out, 2 + (int64_t)options->property_count);
    put_bytes(out, SLICE("avro.schema"));
    put_bytes(out, options->schema);
    put_bytes(out, SLICE("avro.codec"));
    put_bytes(out, slice_str(codec_names[options->codec]));
    for (uint32_t i = 0; i < options->property_count; i++) {
        put_bytes(out, options->properties[i].key);
        put_bytes(out, options->properties[i].value);
    }
    buf_put_zigzag(out, 0);
    buf_put(out, options->sync, AVRO_SYNC_BYTES);
}

enum err_code avro_writer_init(struct avro_writer *writer, struct buf *out, const struct avro_writer_options *options,
                               struct err *err)
{
    *writer = (struct avro_writer){.out = out, .codec = options->codec};
    if (!codec_names[options->codec])
        return err_set(err, ERR_NOT_SUPPORTED, "Avro has no codec %s", codec_name(options->codec));
    writer->level = options->level ? options->level : usual_level(options->codec);
    memcpy(writer->sync, options->sync, AVRO_SYNC_BYTES);
    put_header(out, options);
    return OK;
}

void avro_writer_deinit(struct avro_writer *writer)
{
    buf_deinit(&writer->block);
    codec_state_deinit(&writer->codecs);
}

void avro_put_bool(struct avro_writer *writer, bool value)
{
    buf_put_u8(&writer->block, value);
}

void avro_put_int(struct avro_writer *writer, int32_t value)
{
    buf_put_zigzag(&writer->block, value);
}

void avro_put_long(struct avro_writer *writer, int64_t value)
{
    buf_put_zigzag(&writer->block, value);
}

void avro_put_float(struct avro_writer *writer, float value)
{
    buf_put(&writer->block, &value, sizeof value);
}

void avro_put_double(struct avro_writer *writer, double value)
{
    buf_put(&writer->block, &value, sizeof value);
}

void avro_put_bytes(struct avro_writer *writer, struct slice value)
{
    put_bytes(&writer->block, value);
}

void avro_put_string(struct avro_writer *writer, struct slice value)
{
    put_bytes(&writer->block, value);
}

void avro_put_fixed(struct avro_writer *writer, struct slice value)
{
    buf_put_slice(&writer->block, value);
}

void avro_put_branch(struct avro_writer *writer, uint32_t branch)
{
    buf_put_zigzag(&writer->block, branch);
}

/* An empty array is its end alone: a block of no items would be that end. */
void avro_put_count(struct avro_writer *writer, uint32_t count)
{
    if (count)
        buf_put_zigzag(&writer->block, count);
}

void avro_put_end(struct avro_writer *writer)
{
    buf_put_zigzag(&writer->block, 0);
}

static enum err_code flush(struct avro_writer *writer, struct err *err)
{
    struct buf packed = {0};
    enum err_code code =
        codec_compress(&writer->codecs, writer->codec, writer->level, buf_view(&writer->block), &packed, err);
    if (code == OK) {
        if (writer->codec == CODEC_SNAPPY)
            buf_put_u32_be(&packed, crc32_zip(0, buf_view(&writer->block)));
        buf_put_zigzag(writer->out, writer->block_records);
        put_bytes(writer->out, buf_view(&packed));
        buf_put(writer->out, writer->sync, AVRO_SYNC_BYTES);
        writer->block_records = 0;
        buf_reset(&writer->block);
    }
    buf_deinit(&packed);
    return code;
}

enum err_code avro_writer_end_record(struct avro_writer *writer, struct err *err)
{
    writer->record_count++;
    writer->block_records++;
    return writer->block.len >= AVRO_BLOCK_BYTES ? flush(writer, err) : OK;
}

enum err_code avro_writer_finish(struct avro_writer *writer, struct err *err)
{
    return writer->block_records ? flush(writer, err) : OK;
}
