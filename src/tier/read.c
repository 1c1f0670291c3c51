/* From the log into files: rows of a log table as they come, changes of a primary-key table through the fold. */
#include "tier/fold_int.h"
#include "tier/tier_int.h"

#include <stdio.h>

#define ROWS_UNTIL_BREATH 65536
#define PLACES_AT_ONCE 256 /* that one scanner reads, and a log table's files that are open */

/* What the reader of a round needs besides it. */
struct reading {
    struct round *round;
    struct fold *fold;   /* NULL: a log table */
    struct buf kinds;    /* scratch */
    struct arena arena;  /* scratch of a batch */
    const uint32_t *key; /* positions */
    uint32_t key_count;
};

/* A bucket of the lake may take several places: twins, and all buckets of a table without bucket key. */
static enum err_code place_files(struct round *round, int32_t place, struct paimon_bucket **out, struct err *err)
{
    const struct client_table *table = round->source.table;
    const struct client_partition *partition = client_place_partition(table, place);
    bool one = paimon_table_schema(round->source.lake)->bucket_count == -1;
    struct paimon_bucket **files = &round->files_of[place];
    if (!*files && partition && !partition->values)
        return err_set(err, ERR_PARTITION_SPEC_INVALID_EXCEPTION,
                       "partition %.*s of %.*s.%.*s: its name is no value of its columns' types",
                       SLICE_ARGS(partition->name), SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table));
    if (!*files)
        TRY(paimon_round_bucket(round->files, partition ? partition->values : NULL,
                                one ? 0 : client_place_bucket(table, place), files, err));
    *out = *files;
    return OK;
}

/* ---- log tables ---- */

/* Where V lies within a batch (the stock job may leave it so), the rest of it is copied. */
static struct column *rows_of(struct reading *reading, const struct client_batch *batch)
{
    uint32_t count = batch->rows.column_count;
    if (batch->first == 0)
        return batch->rows.columns;
    struct column *columns = ARENA_NEW_ARRAY(&reading->arena, struct column, count);
    for (uint32_t c = 0; c < count; c++) {
        struct column_builder builder;
        struct column view;
        column_builder_init(&builder, batch->rows.columns[c].type);
        for (uint32_t i = batch->first; i < batch->end; i++)
            column_builder_append_from(&builder, &batch->rows.columns[c], i);
        column_builder_view(&builder, &reading->arena, &view);
        column_dup(&reading->arena, &view, &columns[c]);
        column_builder_deinit(&builder);
    }
    return columns;
}

static enum err_code take_rows(struct reading *reading, const struct client_batch *batch, struct err *err)
{
    struct paimon_bucket *bucket;
    struct paimon_rows rows = {
        .columns = rows_of(reading, batch),
        .row_count = batch->end - batch->first,
        .fluss_bucket = batch->bucket,
        .base_offset = batch->base_offset + batch->first,
        .timestamp_ms = batch->timestamp_ms,
    };
    TRY(place_files(reading->round, batch->place, &bucket, err));
    return paimon_bucket_append(bucket, &rows, err);
}

/* ---- primary-key tables ---- */

/* Changes of twins go to one bucket of the lake, so they are folded together. */
static int32_t first_place(const struct client_table *table, int32_t place)
{
    const struct client_partition *partition = client_place_partition(table, place);
    return (partition ? (int32_t)partition->twin * table->bucket_count : 0) + client_place_bucket(table, place);
}

static void count_kinds(struct round *round, const uint8_t *kinds, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        round->inserted += kinds[i] == PAIMON_INSERT;
        round->deleted += kinds[i] == PAIMON_DELETE;
    }
}

static enum err_code take_changes(struct reading *reading, const struct client_batch *batch, struct err *err)
{
    static const uint8_t kind_of[CHANGE_TYPE_COUNT] = {
        [CHANGE_APPEND] = PAIMON_INSERT,
        [CHANGE_INSERT] = PAIMON_INSERT,
        [CHANGE_UPDATE_BEFORE] = PAIMON_UPDATE_BEFORE,
        [CHANGE_UPDATE_AFTER] = PAIMON_UPDATE_AFTER,
        [CHANGE_DELETE] = PAIMON_DELETE,
    };
    buf_reset(&reading->kinds);
    uint8_t *kinds = buf_extend(&reading->kinds, batch->rows.count);
    for (uint32_t i = 0; i < batch->rows.count; i++)
        kinds[i] = kind_of[log_batch_change(&batch->rows, i)];
    count_kinds(reading->round, kinds, batch->first, batch->end);
    struct fold_rows rows = {
        .columns = batch->rows.columns,
        .kinds = kinds,
        .first = batch->first,
        .end = batch->end,
        .base_offset = batch->base_offset,
        .timestamp_ms = batch->timestamp_ms,
    };
    return fold_add(reading->fold, first_place(reading->round->source.table, batch->place), &rows, err);
}

/* Their bucket is complete: what it holds in memory goes to the disk. */
static enum err_code end_files(struct paimon_bucket *files, struct err *err)
{
    return files ? paimon_bucket_end(files, err) : OK;
}

static enum err_code write_changes(struct reading *reading, struct err *err)
{
    struct round *round = reading->round;
    struct paimon_bucket *files = NULL;
    struct fold_change change;
    int32_t place = -1;
    bool have;
    TRY(fold_sort(reading->fold, err));
    for (uint64_t n = 0;; n++) {
        if (n % ROWS_UNTIL_BREATH == 0)
            TRY(round_breathe(round, err));
        TRY(fold_next(reading->fold, &change, &have, err));
        if (!have)
            return end_files(files, err);
        if (change.change.fluss_bucket != place) {
            TRY(end_files(files, err));
            place = change.change.fluss_bucket; /* the fold's buckets are places */
            TRY(place_files(round, place, &files, err));
        }
        change.change.fluss_bucket = client_place_bucket(round->source.table, place);
        TRY(paimon_bucket_change(files, &change.change, change.columns, change.i, err));
    }
}

/* ---- both ---- */

static enum err_code take(struct reading *reading, const struct client_batch *batch, struct err *err)
{
    struct round *round = reading->round;
    arena_reset(&reading->arena);
    if (batch->first < batch->end)
        TRY(reading->fold ? take_changes(reading, batch, err) : take_rows(reading, batch, err));
    round->end[batch->place] = MIN(batch->next_offset, round->latest[batch->place]);
    round->times[batch->place] = batch->timestamp_ms;
    round->row_count += batch->end - batch->first;
    round->bytes += batch->bytes;
    return OK;
}

static enum err_code read_group(struct reading *reading, struct client_scanner *scanner, struct err *err)
{
    struct round *round = reading->round;
    struct tier *tier = round->worker->link.tier;
    while (!client_scanner_done(scanner)) {
        struct client_batch batch;
        bool have;
        TRY(round_breathe(round, err));
        TRY(client_scanner_next(scanner, &batch, &have, err));
        int64_t now = os_mono_ns(tier->config.os);
        if (have) {
            TRY(take(reading, &batch, err));
            round->heard_ns = now;
        } else if (now - round->heard_ns > TIER_SILENCE_NS) {
            return err_set(err, ERR_DEADLINE, "the server told of an end of the log that it does not give");
        }
        if (round->bytes >= tier->config.round_bytes_max) {
            round->cut = !client_scanner_done(scanner);
            return OK;
        }
    }
    return OK;
}

/* What a log table's places of this group wrote goes to the disk, so that few files are open. */
static enum err_code end_group(struct reading *reading, const struct client_scan_bucket *group, size_t count,
                               struct err *err)
{
    for (size_t i = 0; i < count && !reading->fold; i++)
        if (reading->round->files_of[group[i].place])
            TRY(paimon_bucket_roll(reading->round->files_of[group[i].place], err));
    return OK;
}

static enum err_code read_places(struct reading *reading, const struct client_scan_bucket *group, size_t count,
                                 struct err *err)
{
    struct client_scanner *scanner = NULL;
    enum err_code code = client_scanner_create(reading->round->source.table, group, count, NULL, &scanner, err);
    if (code == OK)
        code = read_group(reading, scanner, err);
    client_scanner_destroy(scanner);
    return code == OK ? end_group(reading, group, count, err) : code;
}

/* A group of places after the other; one that is left for the next round is not begun. */
static enum err_code read_log(struct reading *reading, struct err *err)
{
    struct round *round = reading->round;
    uint64_t bytes_max = round->worker->link.tier->config.round_bytes_max;
    struct client_scan_bucket group[PLACES_AT_ONCE];
    size_t p = 0;
    while (p < round->place_count && !round->cut) {
        size_t count = 0;
        for (; p < round->place_count && count < PLACES_AT_ONCE; p++)
            if (round->start[p] >= 0)
                group[count++] = (struct client_scan_bucket){(int32_t)p, round->start[p], round->latest[p]};
        round->cut = count && round->bytes >= bytes_max;
        if (count && !round->cut)
            TRY(read_places(reading, group, count, err));
    }
    return OK;
}

static void fold_make(struct reading *reading, char dir[OS_PATH_MAX])
{
    struct round *round = reading->round;
    const struct tier *tier = round->worker->link.tier;
    const struct paimon_schema *schema = paimon_table_schema(round->source.lake);
    snprintf(dir, OS_PATH_MAX, "%.*s/%u", OS_PATH_MAX - 16, tier->sort_dir, round->worker->number);
    struct fold_options options = {
        .os = tier->config.os,
        .dir = dir,
        .bytes_max = tier->config.sort_bytes,
        .row = round->source.table->schema.row,
        .key = schema->trimmed_key,
        .key_count = schema->trimmed_key_count,
        .bucket_count = (int32_t)round->place_count,
    };
    fold_create(&options, &reading->fold);
}

enum err_code round_read(struct round *round, struct err *err)
{
    enum err_code code;
    char dir[OS_PATH_MAX];
    struct reading reading = {.round = round};
    if (round->source.table->has_primary_key)
        fold_make(&reading, dir);
    TRY_OR_FAIL(read_log(&reading, err));
    if (reading.fold)
        TRY_OR_FAIL(write_changes(&reading, err));
fail:
    fold_destroy(reading.fold);
    buf_deinit(&reading.kinds);
    arena_deinit(&reading.arena);
    return code;
}
