/* Any bytes as a manifest or a list of manifests. Byte 0: 'f' a whole Avro file; else the rest is one block of plain
 * records behind a header with our own schema, so that the fields themselves are reached: 'e' of entries, anything else
 * of manifests. What is taken is written again, and reads the same. */
#include "lake/paimon/entry_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RECORDS 2

static enum err_code take_entry(void *arg, const struct entry *entry, struct err *err)
{
    struct buf *out = arg;
    struct buf identity = {0};
    const struct entry *entries[] = {entry};
    buf_reset(out);
    paimon_entry_identity(entry, &identity);
    buf_deinit(&identity);
    return paimon_entries_put(os_real(), entries, &entry->kind, 1, out, err);
}

static enum err_code take_manifest(void *arg, const struct manifest *manifest, struct err *err)
{
    buf_reset(arg);
    return paimon_manifests_put(os_real(), manifest, 1, arg, err);
}

static void read_file(struct slice file)
{
    struct buf again = {0}, third = {0};
    struct err err;
    if (paimon_entries_each(file, take_entry, &again, &err) == OK && again.len) {
        ASSERT(paimon_entries_each(buf_view(&again), take_entry, &third, &err) == OK);
        ASSERT(third.len == again.len);
    }
    buf_reset(&again);
    if (paimon_manifests_each(file, take_manifest, &again, &err) == OK && again.len) {
        ASSERT(paimon_manifests_each(buf_view(&again), take_manifest, &third, &err) == OK);
        ASSERT(third.len == again.len);
    }
    buf_deinit(&again);
    buf_deinit(&third);
}

static void put_text(struct buf *out, struct slice text)
{
    buf_put_zigzag(out, (int64_t)text.len);
    buf_put_slice(out, text);
}

static void read_block(bool entries, struct slice block)
{
    static const uint8_t sync[AVRO_SYNC_BYTES];
    struct buf empty = {0}, file = {0};
    struct avro_reader reader;
    struct err err;
    ASSERT((entries ? paimon_entries_put(os_real(), NULL, NULL, 0, &empty, &err)
                    : paimon_manifests_put(os_real(), NULL, 0, &empty, &err)) == OK);
    ASSERT(avro_reader_init(&reader, buf_view(&empty), &err) == OK);
    buf_put_slice(&file, SLICE("Obj\001"));
    buf_put_zigzag(&file, 1);
    put_text(&file, SLICE("avro.schema"));
    put_text(&file, *avro_reader_property(&reader, "avro.schema"));
    buf_put_zigzag(&file, 0);
    buf_put(&file, sync, sizeof sync);
    buf_put_zigzag(&file, RECORDS);
    put_text(&file, block);
    buf_put(&file, sync, sizeof sync);
    read_file(buf_view(&file));
    avro_reader_deinit(&reader);
    buf_deinit(&empty);
    buf_deinit(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct slice rest = slice_of(data + 1, size - 1);
    if (data[0] == 'f')
        read_file(rest);
    else
        read_block(data[0] == 'e', rest);
    return 0;
}
