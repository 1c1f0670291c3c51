/* Where tests of the metadata stand: a simulated disk, a machine on it, a meta opened on that, and tables to put in. */
#ifndef WEIR_TEST_LIB_META_BED_H
#define WEIR_TEST_LIB_META_BED_H

#include "lib/test.h"
#include "meta/meta.h"
#include "sim/sim.h"

struct meta_bed {
    struct sim_disk *disk;
    struct os *os;
    struct meta *meta;
    struct arena arena;
    struct err err;
};

#define META_BED_DATA "/data"
#define META_BED_REMOTE "/data/remote"

static const struct meta_config meta_bed_config = {.data_dir = META_BED_DATA, .remote_dir = META_BED_REMOTE};

static inline void meta_bed_init(struct meta_bed *bed, uint64_t seed)
{
    *bed = (struct meta_bed){.disk = sim_disk_create(seed)};
    struct err err = {0};
    bed->os = sim_boot(bed->disk);
    MUST(os_mkdirs(bed->os, META_BED_DATA, &err));
    MUST(os_dir_sync(bed->os, "/", &err));
    MUST(meta_open(bed->os, &meta_bed_config, &bed->meta, &err));
}

static inline void meta_bed_deinit(struct meta_bed *bed)
{
    meta_close(bed->meta);
    arena_deinit(&bed->arena);
    sim_disk_destroy(bed->disk);
}

/* Ends the process, or the machine, and starts anew on what is left. */
enum meta_bed_end { BED_CLOSE, BED_KILL, BED_CRASH };

static inline void meta_bed_end(struct meta_bed *bed, enum meta_bed_end how)
{
    if (how == BED_CLOSE)
        meta_close(bed->meta);
    if (how == BED_CRASH)
        sim_crash(bed->os);
    else
        sim_kill(bed->os);
    if (how != BED_CLOSE)
        meta_close(bed->meta);
    bed->meta = NULL;
    bed->os = sim_boot(bed->disk);
}

static inline void meta_bed_again(struct meta_bed *bed, enum meta_bed_end how)
{
    struct err err = {0};
    meta_bed_end(bed, how);
    MUST(meta_open(bed->os, &meta_bed_config, &bed->meta, &err));
}

/* A descriptor as CREATE TABLE has it in the end; bucket_count buckets, a primary key or none. */
static inline struct table_descriptor meta_bed_table(struct meta_bed *bed, int bucket_count, bool has_key)
{
    struct err err = {0};
    struct table_descriptor table;
    struct slice json = arena_printf(
        &bed->arena,
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[{\"name\":\"id\",\"data_type\":{\"type\":\"BIGINT\"},"
        "\"id\":0},{\"name\":\"v\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}]%s,\"highest_field_id\":1},"
        "\"partition_key\":[],\"bucket_key\":[],\"bucket_count\":%d,\"properties\":{\"table.datalake.enabled\":"
        "\"true\"},\"custom_properties\":{}}",
        has_key ? ",\"primary_key\":[\"id\"]" : "", bucket_count);
    MUST(table_descriptor_from_json(&bed->arena, json, &table, &err));
    MUST(table_descriptor_normalize(&bed->arena, &table, &err));
    struct table_cluster cluster = table_cluster_default();
    cluster.lake_format = LAKE_PAIMON;
    cluster.lake_enabled = true;
    table_defaults_apply(&bed->arena, &cluster, &table);
    MUST(table_validate(&cluster, &table, &err));
    return table;
}

/* Creates it in the database "fluss" and gives its id. */
static inline int64_t meta_bed_create_as(struct meta_bed *bed, const char *name,
                                         const struct table_descriptor *descriptor)
{
    struct err err = {0};
    const struct table_info *table;
    MUST(meta_table_create(bed->meta, SLICE("fluss"), slice_str(name), descriptor, &table, &err));
    int64_t table_id = table->table_id;
    table_unref(table);
    return table_id;
}

static inline int64_t meta_bed_create(struct meta_bed *bed, const char *name, int bucket_count)
{
    struct table_descriptor descriptor = meta_bed_table(bed, bucket_count, true);
    return meta_bed_create_as(bed, name, &descriptor);
}

/* By the column v. */
static inline int64_t meta_bed_create_partitioned(struct meta_bed *bed, const char *name, int bucket_count)
{
    uint32_t v = 1;
    struct table_descriptor descriptor = meta_bed_table(bed, bucket_count, false);
    descriptor.partition_keys = &v;
    descriptor.partition_key_count = 1;
    return meta_bed_create_as(bed, name, &descriptor);
}

static inline int64_t meta_bed_drop(struct meta_bed *bed, const char *name)
{
    struct err err = {0};
    int64_t table_id;
    MUST(meta_table_drop(bed->meta, SLICE("fluss"), slice_str(name), false, &table_id, &err));
    return table_id;
}

#endif
