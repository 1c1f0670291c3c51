/* For the tests of src/lake/paimon: a lake table on a simulated disk, rounds of changes, and what it must hold. */
#ifndef WEIR_TEST_LIB_PAIMON_BED_H
#define WEIR_TEST_LIB_PAIMON_BED_H

#include "base/map.h"
#include "lake/paimon/paimon.h"

#include "lib/test.h"
#include "sim/sim.h"

#define BED_LAKE "/lake"
#define BED_ROUNDS "/rounds"
#define BED_KEYS 32 /* keys are 0 to 31; a value of 0 stands for no row */

/* The rows of a table, by key; for a log table: how often each value of id was appended. */
struct bed_rows {
    int64_t value[BED_KEYS];
};

struct paimon_bed {
    struct sim_disk *disk;
    struct os *os;
    struct arena arena;
    struct table_descriptor descriptor;
    struct paimon_place place;
    struct bed_rows rows; /* now */
    int64_t clock;        /* makes new values */
};

static inline enum err_code bed_create(struct paimon_bed *bed, struct err *err)
{
    return paimon_table_create(bed->os, &bed->place, &bed->descriptor, PAIMON_MUST_BE_EMPTY, err);
}

static inline void paimon_bed_init(struct paimon_bed *bed, uint64_t seed, bool keyed, int buckets)
{
    struct err err;
    *bed = (struct paimon_bed){.disk = sim_disk_create(seed), .place = {SLICE(BED_LAKE), SLICE("d"), SLICE("t")}};
    struct slice json = arena_printf(
        &bed->arena,
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[{\"name\":\"id\",\"data_type\":{\"type\":\"INTEGER\","
        "\"nullable\":false},\"id\":0},{\"name\":\"v\",\"data_type\":{\"type\":\"BIGINT\"},\"id\":1}]%s,"
        "\"highest_field_id\":1},\"partition_key\":[],\"bucket_key\":[\"id\"],\"bucket_count\":%d,\"properties\":{},"
        "\"custom_properties\":{}}",
        keyed ? ",\"primary_key\":[\"id\"]" : "", buckets);
    MUST(table_descriptor_from_json(&bed->arena, json, &bed->descriptor, &err));
    MUST(table_descriptor_normalize(&bed->arena, &bed->descriptor, &err));
    bed->os = sim_boot(bed->disk);
    MUST(os_mkdir(bed->os, BED_LAKE, &err));
    MUST(os_mkdir(bed->os, BED_ROUNDS, &err));
    MUST(os_dir_sync(bed->os, "/", &err));
}

static inline void paimon_bed_deinit(struct paimon_bed *bed)
{
    arena_deinit(&bed->arena);
    sim_disk_destroy(bed->disk);
}

static inline void bed_open(struct paimon_bed *bed, struct paimon_table **table)
{
    struct err err;
    MUST(paimon_table_open(bed->os, &bed->place, table, &err));
}

/* ---- rounds ---- */

static inline enum err_code bed_begin(struct paimon_bed *bed, struct paimon_table *table, struct paimon_round **round,
                                      struct err *err)
{
    struct paimon_round_options options = {.columns = bed->descriptor.schema.columns,
                                           .column_count = bed->descriptor.schema.column_count,
                                           .rounds_dir = SLICE(BED_ROUNDS)};
    return paimon_round_begin(table, &options, round, err);
}

/* Two columns of one row. */
static inline void bed_row(int32_t *id, int64_t *v, const struct paimon_bed *bed, struct column columns[2])
{
    columns[0] = (struct column){
        .type = bed->descriptor.schema.columns[0].type, .length = 1, .data = (uint8_t *)id, .data_len = 4};
    columns[1] = (struct column){
        .type = bed->descriptor.schema.columns[1].type, .length = 1, .data = (uint8_t *)v, .data_len = 8};
}

/* Changes the keys from..to-1, those of a bucket each (key % buckets): every third is deleted, the others set. In rows
 * is what follows. A log table gets one row a key. */
static inline enum err_code bed_change(struct paimon_bed *bed, struct paimon_round *round, int from, int to,
                                       struct bed_rows *rows, struct err *err)
{
    bool keyed = bed->descriptor.schema.primary_key_count > 0;
    for (int b = 0; b < bed->descriptor.bucket_count; b++) {
        struct paimon_bucket *bucket;
        int64_t position = 0;
        TRY(paimon_round_bucket(round, NULL, b, &bucket, err));
        for (int key = from; key < to; key++) {
            int32_t id = key;
            int64_t v = ++bed->clock;
            struct column columns[2];
            bool gone = keyed && key % 3 == (int)(bed->clock % 3);
            struct paimon_change change = {gone ? PAIMON_DELETE : PAIMON_INSERT, position++, b, v, 5};
            struct paimon_rows batch = {columns, 1, b, v, 5};
            if (key % bed->descriptor.bucket_count != b)
                continue;
            bed_row(&id, &v, bed, columns);
            TRY(keyed ? paimon_bucket_change(bucket, &change, columns, 0, err)
                      : paimon_bucket_append(bucket, &batch, err));
            rows->value[key] = gone ? 0 : keyed ? v : rows->value[key] + 1;
        }
    }
    return OK;
}

static inline enum err_code bed_commit(struct paimon_round *round, const char *offsets, int64_t *id, struct err *err)
{
    struct key_value property = {SLICE(PAIMON_OFFSETS_PROPERTY), slice_str(offsets)};
    struct properties properties = {.items = &property, .count = 1};
    struct paimon_committed committed;
    TRY(paimon_round_commit(round, &properties, &committed, err));
    *id = committed.snapshot_id;
    return OK;
}

/* A whole round; bed->rows follows where it was committed. */
static inline enum err_code bed_round(struct paimon_bed *bed, struct paimon_table *table, int from, int to, int64_t *id,
                                      struct err *err)
{
    struct paimon_round *round;
    struct bed_rows rows = bed->rows;
    TRY(bed_begin(bed, table, &round, err));
    enum err_code code = bed_change(bed, round, from, to, &rows, err);
    if (code == OK)
        code = bed_commit(round, "offsets", id, err);
    paimon_round_destroy(round);
    if (code == OK)
        bed->rows = rows;
    return code;
}

/* ---- what is there ---- */

static inline void bed_read(struct paimon_bed *bed, struct paimon_table *table, int64_t snapshot_id,
                            struct bed_rows *rows)
{
    struct err err;
    struct arena arena = {0};
    struct paimon_scan *scan;
    struct column columns[2];
    struct paimon_scan_options options = {
        .snapshot_id = snapshot_id, .bucket = -1, .columns = bed->descriptor.schema.columns, .column_count = 2};
    bool keyed = bed->descriptor.schema.primary_key_count > 0;
    uint32_t count = 1;
    *rows = (struct bed_rows){0};
    if (snapshot_id == 0)
        return;
    MUST(paimon_scan_open(table, &options, &scan, &err));
    while (count) {
        MUST(paimon_scan_next(scan, columns, &count, &err));
        for (uint32_t i = 0; i < count; i++) {
            struct datum id, v;
            column_get(&columns[0], i, &arena, &id);
            column_get(&columns[1], i, &arena, &v);
            assert_true(id.i64 >= 0 && id.i64 < BED_KEYS);
            if (keyed)
                assert_int_equal(rows->value[id.i64], 0); /* each key once */
            rows->value[id.i64] = keyed ? v.i64 : rows->value[id.i64] + 1;
        }
    }
    paimon_scan_close(scan);
    arena_deinit(&arena);
}

static inline void bed_assert_rows(struct paimon_bed *bed, struct paimon_table *table, int64_t snapshot_id,
                                   const struct bed_rows *want)
{
    struct bed_rows got;
    bed_read(bed, table, snapshot_id, &got);
    for (int i = 0; i < BED_KEYS; i++)
        if (got.value[i] != want->value[i])
            fail_msg("snapshot %lld: key %d is %lld, not %lld", (long long)snapshot_id, i, (long long)got.value[i],
                     (long long)want->value[i]);
}

#endif
