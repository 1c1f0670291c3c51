#include "lib/lake_bed.h"

#include "lake/paimon/paimon.h"

static struct err err;

/* ---- the server ---- */

void lake_bed_start(struct lake_bed *bed)
{
    static const char *const options[] = {"weir.log.flush=async", NULL};
    *bed = (struct lake_bed){0};
    server_bed_start(&bed->server, options);
    snprintf(bed->warehouse, sizeof bed->warehouse, "%s/lake", conf_str(bed->server.conf, CONF_DATA_DIR));
    struct client_options to = {.os = os_real(), .host = "127.0.0.1", .port = server_bed_port(&bed->server, "FLUSS")};
    MUST(client_open(&to, &bed->client, &err));
}

void lake_bed_stop(struct lake_bed *bed)
{
    client_close(bed->client);
    server_bed_stop(&bed->server);
    arena_deinit(&bed->arena);
}

static uint32_t count_columns(const char *json)
{
    uint32_t count = 0;
    for (const char *at = json; (at = strstr(at, "\"data_type\"")); at++)
        count++;
    return count;
}

struct client_table *lake_bed_table(struct lake_bed *bed, const char *name, const char *columns,
                                    const char *primary_key, const char *bucket_key, int bucket_count)
{
    struct client_table *table;
    struct table_descriptor descriptor;
    struct client_path path = client_path(SLICE("fluss"), slice_str(name));
    struct slice json = arena_printf(
        &bed->arena,
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[%s]%s%s,\"highest_field_id\":%u},\"partition_key\":[],"
        "\"bucket_key\":[%s],\"bucket_count\":%d,\"properties\":{\"table.datalake.enabled\":\"true\"},"
        "\"custom_properties\":{}}",
        columns, *primary_key ? ",\"primary_key\":" : "", primary_key, count_columns(columns) - 1, bucket_key,
        bucket_count);
    MUST(table_descriptor_from_json(&bed->arena, json, &descriptor, &err));
    MUST(client_table_create(bed->client, path, &descriptor, false, &err));
    MUST(client_table_open(bed->client, path, &table, &err));
    return table;
}

/* ---- the lake ---- */

struct change {
    enum paimon_kind kind;
    int64_t offset;
    int64_t timestamp_ms;
    uint32_t row; /* in columns */
    struct datum *key;
};

struct hand {
    struct client_table *table;
    struct paimon_table *paimon;
    struct paimon_round *round;
    struct arena arena;
    struct column_builder *builders; /* changes of one bucket */
    struct change *changes;
    uint32_t change_count;
};

static const struct paimon_schema *sorted_by; /* for qsort; tests have one thread */

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    int order = paimon_key_compare(sorted_by, x->key, y->key);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static void take_changes(struct hand *hand, const struct client_batch *batch)
{
    const struct schema *schema = &hand->table->schema.schema;
    static const enum paimon_kind kinds[] = {[CHANGE_APPEND] = PAIMON_INSERT,
                                             [CHANGE_INSERT] = PAIMON_INSERT,
                                             [CHANGE_UPDATE_BEFORE] = PAIMON_UPDATE_BEFORE,
                                             [CHANGE_UPDATE_AFTER] = PAIMON_UPDATE_AFTER,
                                             [CHANGE_DELETE] = PAIMON_DELETE};
    for (uint32_t i = batch->first; i < batch->end; i++) {
        struct datum *row = ARENA_NEW_ARRAY(&hand->arena, struct datum, schema->column_count);
        struct datum *key = ARENA_NEW_ARRAY(&hand->arena, struct datum, schema->primary_key_count);
        for (uint32_t c = 0; c < schema->column_count; c++) {
            column_get(&batch->rows.columns[c], i, &hand->arena, &row[c]);
            MUST(column_builder_append(&hand->builders[c], &row[c], &err));
        }
        for (uint32_t k = 0; k < schema->primary_key_count; k++) {
            uint32_t c = schema->primary_key[k];
            datum_dup(&hand->arena, schema->columns[c].type, &row[c], &key[k]);
        }
        hand->changes = mem_realloc(hand->changes, (hand->change_count + 1) * sizeof *hand->changes);
        hand->changes[hand->change_count] =
            (struct change){kinds[log_batch_change(&batch->rows, i)], batch->base_offset + i, batch->timestamp_ms,
                            hand->change_count, key};
        hand->change_count++;
    }
}

static void write_changes(struct hand *hand, int32_t fluss_bucket)
{
    uint32_t count = hand->table->schema.schema.column_count;
    struct column *columns = ARENA_NEW_ARRAY(&hand->arena, struct column, count);
    struct paimon_bucket *bucket;
    for (uint32_t c = 0; c < count; c++)
        column_builder_view(&hand->builders[c], &hand->arena, &columns[c]);
    sorted_by = paimon_table_schema(hand->paimon);
    qsort(hand->changes, hand->change_count, sizeof *hand->changes, compare_changes);
    MUST(paimon_round_bucket(hand->round, NULL, fluss_bucket, &bucket, &err));
    for (uint32_t i = 0; i < hand->change_count; i++) {
        const struct change *c = &hand->changes[i];
        struct paimon_change change = {c->kind, c->row, fluss_bucket, c->offset, c->timestamp_ms};
        MUST(paimon_bucket_change(bucket, &change, columns, c->row, &err));
    }
    for (uint32_t c = 0; c < count; c++)
        column_builder_reset(&hand->builders[c]);
    hand->change_count = 0;
}

static void write_rows(struct hand *hand, const struct client_batch *batch)
{
    struct paimon_bucket *bucket;
    bool has_key = hand->table->keys.bucket_count > 0;
    MUST(paimon_round_bucket(hand->round, NULL, has_key ? batch->bucket : 0, &bucket, &err));
    assert_int_equal(batch->first, 0); /* V is between two batches */
    struct paimon_rows rows = {batch->rows.columns, batch->rows.count, batch->bucket, batch->base_offset,
                               batch->timestamp_ms};
    if (rows.row_count)
        MUST(paimon_bucket_append(bucket, &rows, &err));
}

static void tier_bucket(struct hand *hand, int32_t bucket, int64_t start, int64_t stop)
{
    struct client_scanner *scanner;
    struct client_scan_bucket range = {bucket, start, stop};
    MUST(client_scanner_create(hand->table, &range, 1, NULL, &scanner, &err));
    while (!client_scanner_done(scanner)) {
        struct client_batch batch;
        bool have;
        MUST(client_scanner_next(scanner, &batch, &have, &err));
        if (have && hand->table->has_primary_key)
            take_changes(hand, &batch);
        else if (have)
            write_rows(hand, &batch);
    }
    client_scanner_destroy(scanner);
    if (hand->change_count)
        write_changes(hand, bucket);
}

static int64_t commit(struct hand *hand, const int64_t *offsets)
{
    struct paimon_committed committed;
    struct properties properties = {0};
    struct client_lake_commit commit = {.offsets = offsets, .readable = true};
    MUST(client_lake_prepare(hand->table, offsets, &hand->arena, &commit.offsets_path, &err));
    properties_set(&hand->arena, &properties, SLICE(PAIMON_OFFSETS_PROPERTY), commit.offsets_path);
    MUST(paimon_round_commit(hand->round, &properties, &committed, &err));
    commit.snapshot_id = committed.snapshot_id;
    MUST(client_lake_commit(hand->table, &commit, &err));
    return committed.snapshot_id;
}

static void open_round(struct hand *hand, struct lake_bed *bed)
{
    const struct schema *schema = &hand->table->schema.schema;
    struct paimon_place place = {slice_str(bed->warehouse), hand->table->path.database, hand->table->path.table};
    struct paimon_round_options options = {.columns = schema->columns, .column_count = schema->column_count};
    MUST(paimon_table_open(os_real(), &place, &hand->paimon, &err));
    MUST(paimon_round_begin(hand->paimon, &options, &hand->round, &err));
    hand->builders = mem_zalloc(schema->column_count * sizeof *hand->builders);
    for (uint32_t c = 0; c < schema->column_count; c++)
        column_builder_init(&hand->builders[c], schema->columns[c].type);
}

static void close_round(struct hand *hand)
{
    paimon_round_destroy(hand->round);
    paimon_table_close(hand->paimon);
    for (uint32_t c = 0; c < hand->table->schema.schema.column_count; c++)
        column_builder_deinit(&hand->builders[c]);
    mem_free(hand->builders);
    mem_free(hand->changes);
    arena_deinit(&hand->arena);
}

int64_t lake_bed_tier(struct lake_bed *bed, struct client_table *table)
{
    struct hand hand = {.table = table};
    struct client_lake_snapshot tiered = {0};
    int64_t *stops = ARENA_NEW_ARRAY(&hand.arena, int64_t, (size_t)table->bucket_count);
    enum err_code code = client_lake_snapshot(table, CLIENT_LAKE_LATEST, 0, &hand.arena, &tiered, &err);
    assert_true(code == OK || code == ERR_LAKE_SNAPSHOT_NOT_EXIST);
    MUST(client_offsets(table, CLIENT_LATEST, 0, stops, &err));
    open_round(&hand, bed);
    for (int32_t b = 0; b < table->bucket_count; b++) {
        int64_t start = tiered.offsets ? MAX(tiered.offsets[b], 0) : 0;
        if (start < stops[b])
            tier_bucket(&hand, b, start, stops[b]);
    }
    int64_t snapshot_id = commit(&hand, stops);
    close_round(&hand);
    return snapshot_id;
}
