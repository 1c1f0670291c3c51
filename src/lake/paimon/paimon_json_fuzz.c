/* Any bytes as a schema ('s' in front) or a snapshot (anything else in front): what is taken is written again, and that
 * is taken too. */
#include "lake/paimon/snapshot_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void schema(struct arena *arena, struct slice text)
{
    struct paimon_schema first, second, memory;
    struct buf out = {0};
    struct err err;
    if (paimon_schema_read(arena, text, &first, &err) != OK)
        return;
    paimon_schema_in_memory(arena, &first, &memory);
    paimon_schema_put(&out, &first, 1);
    ASSERT(paimon_schema_read(arena, buf_view(&out), &second, &err) == OK);
    ASSERT(second.column_count == first.column_count && second.options.count == first.options.count);
    buf_deinit(&out);
}

static void snapshot(struct arena *arena, struct slice text)
{
    struct snapshot_text first = {0};
    struct paimon_snapshot second;
    struct buf out = {0};
    struct err err;
    if (paimon_snapshot_parse(text, arena, &first.snapshot, &err) != OK)
        return;
    paimon_snapshot_put(&out, &first);
    ASSERT(paimon_snapshot_parse(buf_view(&out), arena, &second, &err) == OK);
    ASSERT(second.id == first.snapshot.id && second.properties.count == first.snapshot.properties.count);
    buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    if (size == 0)
        return 0;
    if (data[0] == 's')
        schema(&arena, slice_of(data + 1, size - 1));
    else
        snapshot(&arena, slice_of(data + 1, size - 1));
    arena_deinit(&arena);
    return 0;
}
