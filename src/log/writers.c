/* Which batches writers sent last: a repeated one is answered with the offsets of the first time, a gap is refused. */
#include "log/log_int.h"

static void unlink_writer(struct log_writers *writers, struct log_writer *writer)
{
    *(writer->older ? &writer->older->newer : &writers->oldest) = writer->newer;
    *(writer->newer ? &writer->newer->older : &writers->newest) = writer->older;
    writer->older = writer->newer = NULL;
}

static void link_newest(struct log_writers *writers, struct log_writer *writer)
{
    writer->older = writers->newest;
    *(writers->newest ? &writers->newest->newer : &writers->oldest) = writer;
    writers->newest = writer;
}

static void forget(struct log_writers *writers, struct log_writer *writer)
{
    unlink_writer(writers, writer);
    map_remove_i64(&writers->by_id, writer->id);
    writers->count--;
    mem_free(writer);
}

void log_writers_deinit(struct log_writers *writers)
{
    while (writers->oldest)
        forget(writers, writers->oldest);
    map_deinit(&writers->by_id);
}

static int32_t after(int32_t sequence)
{
    return sequence == INT32_MAX ? 0 : sequence + 1;
}

enum err_code log_writers_check(const struct log_writers *writers, int64_t writer_id, int32_t sequence,
                                int32_t last_sequence, const struct log_writer_batch **duplicate, struct err *err)
{
    const struct log_writer *writer = map_get_i64(&writers->by_id, writer_id);
    *duplicate = NULL;
    for (uint32_t i = 0; writer && i < writer->count; i++) {
        if (writer->batches[i].sequence == sequence) {
            *duplicate = &writer->batches[i];
            return OK;
        }
    }
    if (last_sequence < 0 && writer)
        last_sequence = writer->batches[writer->count - 1].sequence;
    int32_t wanted = last_sequence < 0 ? 0 : after(last_sequence);
    if (sequence != wanted)
        return err_set(err, ERR_OUT_OF_ORDER_SEQUENCE_EXCEPTION, "writer %lld sent batch %d, expected %d",
                       (long long)writer_id, sequence, wanted);
    return OK;
}

void log_writers_note(struct log_writers *writers, int64_t writer_id, struct log_writer_batch batch)
{
    struct log_writer *writer = map_get_i64(&writers->by_id, writer_id);
    if (writer) {
        unlink_writer(writers, writer);
    } else {
        if (writers->count == LOG_WRITERS_MAX)
            forget(writers, writers->oldest);
        writer = mem_zalloc(sizeof *writer);
        writer->id = writer_id;
        map_put_i64(&writers->by_id, writer_id, writer);
        writers->count++;
    }
    link_newest(writers, writer);
    /* In a log that is read again: it was forgotten here, and began anew. What it sent before is no duplicate any more.
     */
    if (writer->count && batch.sequence != after(writer->batches[writer->count - 1].sequence))
        writer->count = 0;
    if (writer->count == LOG_WRITER_BATCHES_MAX)
        memmove(writer->batches, writer->batches + 1, --writer->count * sizeof batch);
    writer->batches[writer->count++] = batch;
}

void log_writers_expire(struct log_writers *writers, int64_t before_ms)
{
    while (writers->oldest && writers->oldest->batches[writers->oldest->count - 1].timestamp_ms < before_ms)
        forget(writers, writers->oldest);
}

void log_writers_cut(struct log_writers *writers, int64_t offset)
{
    for (struct log_writer *writer = writers->oldest, *newer; writer; writer = newer) {
        newer = writer->newer;
        while (writer->count && writer->batches[writer->count - 1].base_offset >= offset)
            writer->count--;
        if (!writer->count)
            forget(writers, writer);
    }
}
