/* One primary-key bucket without network and client: what upserts, flushes of the state and look-ups cost in processor
 * time. Rows are those of compare.py: bigint key, int, double, 64 letters. Prints one JSON line a phase: nanoseconds a
 * row of the puts (changelog included), of the flushes to the engine, and of the look-ups.
 *
 *   bench_upsert DIR [KEYS [ROUNDS]]       round 0 writes new keys in order, the others all of them in random order */
#include "bucket/bucket.h"
#include "format/row/row.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH_ROWS = 10000, LETTERS = 64, COLUMNS = 4, LOOKUPS = 500000 };

struct bench {
    struct os *os;
    struct arena arena;
    struct meta *meta;
    struct bucket_env env;
    const struct table_info *table;
    struct table_keys keys;
    const struct type *row;
    struct buckets *buckets;
    struct bucket *bucket;
    bool state_flush_wanted;
    int64_t *order;
    uint32_t key_count;
    uint64_t random;
    double put_seconds, flush_seconds;
};

static void must(enum err_code code, const struct err *err)
{
    if (code == OK)
        return;
    fprintf(stderr, "%s: %s\n", err_name(code), err->text);
    exit(1);
}

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static uint64_t next_random(struct bench *bench)
{
    bench->random ^= bench->random << 13;
    bench->random ^= bench->random >> 7;
    bench->random ^= bench->random << 17;
    return bench->random;
}

/* ---- the bucket ---- */

static void ignore(void *arg, struct bucket *bucket)
{
    (void)arg;
    (void)bucket;
}

static void note_state_flush(void *arg, struct bucket *bucket)
{
    (void)bucket;
    ((struct bench *)arg)->state_flush_wanted = true;
}

static void create_table(struct bench *bench)
{
    struct err err;
    struct table_descriptor table;
    struct table_cluster cluster = table_cluster_default();
    static const char json[] =
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":["
        "{\"name\":\"id\",\"data_type\":{\"type\":\"BIGINT\",\"nullable\":false},\"id\":0},"
        "{\"name\":\"a\",\"data_type\":{\"type\":\"INTEGER\"},\"id\":1},"
        "{\"name\":\"b\",\"data_type\":{\"type\":\"DOUBLE\"},\"id\":2},"
        "{\"name\":\"s\",\"data_type\":{\"type\":\"STRING\"},\"id\":3}],\"primary_key\":[\"id\"],"
        "\"highest_field_id\":3},\"partition_key\":[],\"bucket_key\":[],\"bucket_count\":1,\"properties\":{},"
        "\"custom_properties\":{}}";
    must(table_descriptor_from_json(&bench->arena, slice_str(json), &table, &err), &err);
    must(table_descriptor_normalize(&bench->arena, &table, &err), &err);
    table_defaults_apply(&bench->arena, &cluster, &table);
    must(table_validate(&cluster, &table, &err), &err);
    must(meta_table_create(bench->meta, SLICE("fluss"), SLICE("t"), &table, &bench->table, &err), &err);
    must(table_keys_init(&bench->keys, &bench->arena, bench->table->descriptor, &err), &err);
    bench->row = row_type(&bench->arena, &bench->table->descriptor->schema);
}

static void open_bucket(struct bench *bench, const char *dir)
{
    struct err err;
    struct kv_options options = kv_options_default();
    struct meta_config config = {.data_dir = dir, .remote_dir = dir};
    must(os_mkdirs(bench->os, dir, &err), &err);
    must(meta_open(bench->os, &config, &bench->meta, &err), &err);
    create_table(bench);
    bench->env = (struct bucket_env){.os = bench->os,
                                     .data_dir = dir,
                                     .flush_async = true,
                                     .segment_bytes = 1 << 30,
                                     .index_interval_bytes = 4096,
                                     .delta_bytes_max = 256 << 20,
                                     .replay_bytes_max = 256 << 20,
                                     .delta_age_ms_max = 600000,
                                     .writer_expiry_ms = 600000,
                                     .kv = kv_env_rocksdb(bench->os, &options),
                                     .flush_wanted = ignore,
                                     .state_flush_wanted = note_state_flush,
                                     .arg = bench};
    buckets_create(&bench->env, &bench->buckets);
    must(buckets_open_table(bench->buckets, bench->table, NULL, &err), &err);
    bench->bucket = buckets_find(bench->buckets, bench->table->table_id, -1, 0);
}

/* ---- rows ---- */

static void key_put(struct bench *bench, int64_t id, struct buf *key)
{
    struct err err;
    struct datum row[COLUMNS] = {{.i64 = id}};
    buf_reset(key);
    must(key_encode(bench->keys.primary_encoder, bench->keys.primary_type, row, bench->keys.primary, key, &err), &err);
}

static void batch_make(struct bench *bench, uint32_t from, uint32_t count, struct buf *out)
{
    struct err err;
    struct kv_batch_builder builder;
    struct buf key = {0}, row = {0};
    uint8_t letters[LETTERS];
    kv_batch_builder_init(&builder, 1);
    for (uint32_t i = from; i < from + count; i++) {
        for (size_t k = 0; k < LETTERS; k++)
            letters[k] = (uint8_t)('a' + next_random(bench) % 26);
        struct datum values[COLUMNS] = {{.i64 = bench->order[i]},
                                        {.i64 = (int64_t)(next_random(bench) >> 40)},
                                        {.f64 = (double)i},
                                        {.bytes = slice_of(letters, LETTERS)}};
        key_put(bench, bench->order[i], &key);
        buf_reset(&row);
        must(row_encode(ROW_COMPACTED, bench->row, values, &row, &err), &err);
        must(kv_batch_builder_put(&builder, buf_view(&key), buf_view(&row), &err), &err);
    }
    buf_reset(out);
    kv_batch_builder_finish(&builder, -1, -1, out);
    kv_batch_builder_deinit(&builder);
    buf_deinit(&key);
    buf_deinit(&row);
}

static void put(struct bench *bench, struct slice batch)
{
    struct err err;
    struct bucket_append append;
    struct bucket_put what = {.records = batch};
    double began = cpu_seconds();
    must(bucket_put(bench->bucket, &what, &append, &err), &err);
    bench->put_seconds += cpu_seconds() - began;
    buckets_tick(bench->buckets);
    if (!bench->state_flush_wanted)
        return;
    bench->state_flush_wanted = false;
    began = cpu_seconds();
    bucket_state_flush(bench->bucket);
    bench->flush_seconds += cpu_seconds() - began;
}

static void shuffle(struct bench *bench)
{
    for (uint32_t i = bench->key_count; i-- > 1;) {
        uint32_t k = (uint32_t)(next_random(bench) % (i + 1));
        int64_t id = bench->order[i];
        bench->order[i] = bench->order[k];
        bench->order[k] = id;
    }
}

static void write_round(struct bench *bench, uint32_t round)
{
    struct buf batch = {0};
    bench->put_seconds = bench->flush_seconds = 0;
    for (uint32_t from = 0; from < bench->key_count; from += BATCH_ROWS) {
        batch_make(bench, from, MIN(BATCH_ROWS, bench->key_count - from), &batch);
        put(bench, buf_view(&batch));
    }
    buf_deinit(&batch);
    printf("{\"round\":%u,\"keys\":%u,\"put_ns\":%.0f,\"flush_ns\":%.0f}\n", round, bench->key_count,
           1e9 * bench->put_seconds / bench->key_count, 1e9 * bench->flush_seconds / bench->key_count);
    fflush(stdout);
}

/* The time of making keys is in it: some 30 ns. */
static void look_up(struct bench *bench)
{
    struct err err;
    struct buf key = {0};
    struct arena arena = {0};
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        struct slice value;
        key_put(bench, bench->order[next_random(bench) % bench->key_count], &key);
        must(bucket_lookup(bench->bucket, buf_view(&key), true, &arena, &value, &err), &err);
        ASSERT(value.ptr);
        arena_reset(&arena);
    }
    arena_deinit(&arena);
    buf_deinit(&key);
}

int main(int argc, char **argv)
{
    static struct bench bench = {.random = 88172645463325252u};
    if (argc < 2)
        return 64;
    bench.os = os_real();
    bench.key_count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000000;
    uint32_t rounds = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 4;
    bench.order = mem_alloc(bench.key_count * sizeof *bench.order);
    for (uint32_t i = 0; i < bench.key_count; i++)
        bench.order[i] = i;
    open_bucket(&bench, argv[1]);
    for (uint32_t round = 0; round < rounds; round++) {
        write_round(&bench, round);
        double began = cpu_seconds();
        look_up(&bench);
        printf("{\"round\":%u,\"lookup_ns\":%.0f}\n", round, 1e9 * (cpu_seconds() - began) / LOOKUPS);
        fflush(stdout);
        shuffle(&bench);
    }
    bucket_unref(bench.bucket);
    buckets_destroy(bench.buckets, 0);
    meta_close(bench.meta);
    return 0;
}
