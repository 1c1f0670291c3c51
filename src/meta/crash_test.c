/* The metadata on a disk that stops, tears, fails and fills up at every one of its steps: what is found afterwards is
 * the state before the call under way or the one after it, never something between. */
#include "lib/meta_bed.h"
#include "meta/meta_int.h"

#define FLUSS SLICE("fluss")

/* ---- a program of calls ---- */

enum what { CREATE_DB, ALTER_DB, DROP_DB, CREATE, ALTER, DROP, DELETED, WRITERS, TIER, FOUND };

struct op {
    enum what what;
    const char *database;
    const char *table;
    int64_t number; /* snapshot id, or the id of a deleted table */
};

static const struct op program[] = {
    {CREATE_DB, "a", NULL, 0}, {CREATE, "a", "t", 0},     {CREATE, "fluss", "t", 0}, {TIER, "a", "t", 1},
    {ALTER_DB, "a", NULL, 0},  {ALTER, "a", "t", 0},      {ALTER, "a", "t", 1},      {ALTER, "fluss", "t", 0},
    {TIER, "a", "t", 2},       {FOUND, "a", "t", 3},      {TIER, "a", "t", 4},       {WRITERS, NULL, NULL, 0},
    {DROP, "fluss", "t", 0},   {CREATE, "fluss", "t", 0}, {DELETED, NULL, NULL, 1},  {TIER, "fluss", "t", 9},
    {DROP_DB, "a", NULL, 0},   {DELETED, NULL, NULL, 0},  {CREATE_DB, "a", NULL, 0}, {CREATE, "a", "t", 0},
};

#define OPS ARRAY_LEN(program)

static struct slice text(const char *string)
{
    return slice_str(string);
}

static enum err_code create(struct meta_bed *bed, const struct op *op)
{
    struct table_descriptor descriptor = meta_bed_table(bed, 2, true);
    const struct table_info *table;
    TRY(meta_table_create(bed->meta, text(op->database), text(op->table), &descriptor, &table, &bed->err));
    table_unref(table);
    return OK;
}

/* A column more, as with a lake: begun, then done. */
static enum err_code alter(struct meta_bed *bed, const struct op *op)
{
    const struct table_info *table, *altered;
    struct table_descriptor descriptor;
    struct schema_column column = {.name = arena_printf(&bed->arena, "n%lld", (long long)op->number),
                                   .type = type_simple(TYPE_STRING)};
    TRY(meta_table_get(bed->meta, text(op->database), text(op->table), &table, &bed->err));
    int64_t id = table->table_id;
    table_descriptor_dup(&bed->arena, table->descriptor, &descriptor);
    table_unref(table);
    TRY(schema_add_column(&bed->arena, &descriptor.schema, &column, &bed->err));
    TRY(meta_alter_begin(bed->meta, id, &descriptor, &bed->err));
    TRY(meta_table_alter(bed->meta, id, &descriptor, &altered, &bed->err));
    table_unref(altered);
    return OK;
}

/* One round of tiering: prepared, and registered as a worker does that made the snapshot, or that found it. */
static enum err_code tier(struct meta_bed *bed, const struct op *op)
{
    const struct table_info *table;
    TRY(meta_table_get(bed->meta, text(op->database), text(op->table), &table, &bed->err));
    struct lake_offset items[] = {{-1, 0, op->number * 10}, {-1, 1, op->number * 7}};
    struct slice path;
    enum err_code code = meta_lake_prepare(bed->meta, table->table_id, text(op->database), text(op->table),
                                           &(struct lake_offsets){items, 2}, false, &bed->arena, &path, &bed->err);
    struct lake_bucket_progress progress = {-1, 1, 0, op->number};
    struct lake_commit commit = {.table_id = table->table_id,
                                 .snapshot_id = op->number,
                                 .tiered_path = path,
                                 .progress = &progress,
                                 .progress_count = 1};
    if (op->what == TIER)
        commit.readable_path = path;
    else
        commit.has_earliest = true, commit.earliest_snapshot_id = -1;
    table_unref(table);
    return code == OK ? meta_lake_commit(bed->meta, &commit, &bed->err) : code;
}

static enum err_code run(struct meta_bed *bed, const struct op *op)
{
    struct meta_ids ids = {0};
    int64_t id;
    enum err_code code = OK;
    switch (op->what) {
    case CREATE_DB:
        return meta_database_create(bed->meta, text(op->database), (struct slice){0}, false, &bed->err);
    case ALTER_DB:
        return meta_database_alter(bed->meta, text(op->database),
                                   SLICE("{\"version\":1,\"comment\":\"c\",\"custom_properties\":{}}"), &bed->err);
    case DROP_DB:
        code = meta_database_drop(bed->meta, text(op->database), false, true, &ids, &bed->err);
        vec_deinit(&ids);
        return code;
    case CREATE:
        return create(bed, op);
    case ALTER:
        return alter(bed, op);
    case DROP:
        return meta_table_drop(bed->meta, text(op->database), text(op->table), false, &id, &bed->err);
    case DELETED:
        return meta_delete_done(bed->meta, op->number, &bed->err);
    case WRITERS:
        return meta_writer_id(bed->meta, &id, &bed->err);
    case TIER:
    case FOUND:
        return tier(bed, op);
    }
    return code;
}

/* ---- what can be seen of the metadata, as text ---- */

static void see_lake(struct meta *meta, int64_t table_id, struct buf *out)
{
    struct arena arena = {0};
    const struct lake *lake = map_get_i64(&meta->lakes, table_id);
    for (size_t i = 0; lake && i < lake->entries.len; i++) {
        const struct lake_entry *entry = lake->entries.ptr[i];
        buf_printf(out, "  lake %lld%s ", (long long)entry->snapshot_id, entry->readable_file.ptr ? " readable" : "");
        lake_offsets_to_json(table_id, entry->tiered, out);
        buf_printf(out, "\n");
    }
    struct lake_bucket_progress *buckets;
    size_t count;
    meta_lake_progress(meta, table_id, &arena, &buckets, &count);
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "  bucket %d %lld %lld\n", buckets[i].bucket, (long long)buckets[i].end_offset,
                   (long long)buckets[i].max_timestamp);
    arena_deinit(&arena);
}

static struct buf see(struct meta *meta)
{
    struct buf out = {0};
    struct arena arena = {0};
    struct err err = {0};
    struct database_info *databases;
    size_t count;
    meta_database_list(meta, &arena, &databases, &count);
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%.*s %d %.*s\n", SLICE_ARGS(databases[i].name), databases[i].table_count,
                   SLICE_ARGS(databases[i].json));
    struct meta_tables tables = {0};
    MUST(meta_table_list(meta, (struct slice){0}, &tables, &err));
    for (size_t i = 0; i < tables.len; i++) {
        buf_printf(&out, "%lld %.*s.%.*s schemas %u columns %u\n", (long long)tables.ptr[i]->table_id,
                   SLICE_ARGS(tables.ptr[i]->database), SLICE_ARGS(tables.ptr[i]->name), tables.ptr[i]->schema_count,
                   tables.ptr[i]->descriptor->schema.column_count);
        see_lake(meta, tables.ptr[i]->table_id, &out);
    }
    meta_tables_deinit(&tables);
    struct meta_ids ids = {0};
    meta_deletes_pending(meta, &ids);
    for (size_t i = 0; i < ids.len; i++)
        buf_printf(&out, "delete %lld\n", (long long)ids.ptr[i]);
    vec_deinit(&ids);
    buf_printf(&out, "next table %lld\n", (long long)meta->table_id_next);
    arena_deinit(&arena);
    return out;
}

static struct buf states[OPS + 1]; /* before the first call, after each */

static void assert_state(struct meta *meta, const char *when, size_t step, size_t before, size_t after)
{
    struct buf got = see(meta);
    if (!slice_equal(buf_view(&got), buf_view(&states[before])) &&
        !slice_equal(buf_view(&got), buf_view(&states[after])))
        fail_msg("%s, step %zu in call %zu:\n%s--- want\n%s--- or\n%s", when, step, after, buf_cstr(&got),
                 buf_cstr(&states[before]), buf_cstr(&states[after]));
    buf_deinit(&got);
}

/* Every registered snapshot still has its file: it is what the lake names. */
static void assert_files_are_there(struct meta_bed *bed)
{
    struct meta_tables tables = {0};
    struct err err = {0};
    MUST(meta_table_list(bed->meta, (struct slice){0}, &tables, &err));
    for (size_t i = 0; i < tables.len; i++) {
        const struct table_info *table = tables.ptr[i];
        const struct lake *lake = map_get_i64(&bed->meta->lakes, table->table_id);
        for (size_t j = 0; lake && j < lake->entries.len; j++) {
            char path[OS_PATH_MAX];
            struct os_stat stat;
            MUST(lake_file_path(bed->meta, table->table_id, table->database, table->name,
                                lake->entries.ptr[j]->tiered_file, path, &err));
            MUST(os_stat(bed->os, path, &stat, &err));
        }
    }
    meta_tables_deinit(&tables);
}

/* The whole program without faults: what to expect, and how many steps of the disk it takes. */
static uint64_t record_states(void)
{
    struct meta_bed bed;
    meta_bed_init(&bed, 1);
    states[0] = see(bed.meta);
    uint64_t first = sim_step_count(bed.disk);
    for (size_t i = 0; i < OPS; i++) {
        if (run(&bed, &program[i]) != OK)
            fail_msg("call %zu: %s", i, bed.err.text);
        states[i + 1] = see(bed.meta);
    }
    uint64_t steps = sim_step_count(bed.disk) - first;
    meta_bed_deinit(&bed);
    return steps;
}

static void forget_states(void)
{
    for (size_t i = 0; i <= OPS; i++)
        buf_deinit(&states[i]);
}

/* Runs until a call fails; gives how many went well. */
static size_t run_until_it_fails(struct meta_bed *bed)
{
    for (size_t i = 0; i < OPS; i++)
        if (run(bed, &program[i]) != OK)
            return i;
    return OPS;
}

/* The rest of the program, from a state in which call done was or was not carried out. */
static void finish_program(struct meta_bed *bed, size_t done)
{
    struct buf got = see(bed->meta);
    bool carried_out = done < OPS && slice_equal(buf_view(&got), buf_view(&states[done + 1]));
    buf_deinit(&got);
    for (size_t i = done + carried_out; i < OPS; i++)
        if (run(bed, &program[i]) != OK)
            fail_msg("call %zu after the restart: %s", i, bed->err.text);
    assert_state(bed->meta, "at the end", 0, OPS, OPS);
}

static void a_stop_at_any_step_leaves_old_or_new(void **state)
{
    (void)state;
    uint64_t steps = record_states();
    assert_true(steps > 100);
    for (uint64_t step = 0; step <= steps; step++) {
        struct meta_bed bed;
        meta_bed_init(&bed, step);
        sim_stop_after(bed.disk, step);
        size_t done = run_until_it_fails(&bed);
        assert_state(bed.meta, "in memory", step, done, done);
        sim_stop_after(bed.disk, UINT64_MAX);
        meta_bed_again(&bed, step % 3 ? BED_CRASH : BED_KILL);
        assert_state(bed.meta, "after the restart", step, done, MIN(done + 1, OPS));
        assert_files_are_there(&bed);
        finish_program(&bed, done);
        meta_bed_deinit(&bed);
    }
    forget_states();
}

static void a_stop_while_the_file_is_made_leaves_none_or_a_ready_one(void **state)
{
    (void)state;
    struct err err = {0};
    bool made = false;
    for (uint64_t step = 0; !made; step++) {
        struct meta_bed bed = {.disk = sim_disk_create(step)};
        bed.os = sim_boot(bed.disk);
        MUST(os_mkdirs(bed.os, META_BED_DATA, &err));
        MUST(os_dir_sync(bed.os, "/", &err));
        sim_stop_after(bed.disk, step);
        made = meta_open(bed.os, &meta_bed_config, &bed.meta, &err) == OK;
        if (!made)
            bed.meta = NULL;
        sim_stop_after(bed.disk, UINT64_MAX);
        meta_bed_again(&bed, step % 3 ? BED_CRASH : BED_KILL);
        assert_true(meta_database_exists(bed.meta, FLUSS));
        assert_int_equal(meta_bed_create(&bed, "t", 1), 0);
        meta_bed_deinit(&bed);
    }
}

static void a_failed_sync_is_final_until_the_restart(void **state)
{
    (void)state;
    record_states();
    bool all_went_well = false;
    for (uint64_t nth = 0; !all_went_well; nth++) {
        struct meta_bed bed;
        meta_bed_init(&bed, nth);
        sim_fail_sync(bed.disk, nth);
        size_t done = run_until_it_fails(&bed);
        all_went_well = done == OPS;
        assert_state(bed.meta, "in memory", nth, done, done);
        /* A failed sync of the database stays failed; that of an offsets file is the worker's matter. */
        if (!all_went_well && bed.meta->db.vfs.sync_failed) {
            struct arena arena = {0};
            enum err_code code = meta_database_create(bed.meta, SLICE("z"), (struct slice){0}, false, &bed.err);
            assert_int_equal(code, ERR_FAILED_STORAGE);
            assert_false(meta_database_exists(bed.meta, SLICE("z")));
            arena_deinit(&arena);
        }
        sim_fail_sync(bed.disk, UINT64_MAX);
        meta_bed_again(&bed, nth % 2 ? BED_CRASH : BED_KILL);
        assert_state(bed.meta, "after the restart", nth, done, MIN(done + 1, OPS));
        finish_program(&bed, done);
        meta_bed_deinit(&bed);
    }
    forget_states();
}

static void a_full_disk_refuses_writes_until_there_is_room(void **state)
{
    (void)state;
    record_states();
    for (uint64_t room = 0; room < 100000; room += 3001) {
        struct meta_bed bed;
        meta_bed_init(&bed, room);
        sim_set_capacity(bed.disk, sim_used_bytes(bed.disk) + room);
        size_t done = run_until_it_fails(&bed);
        assert_true(done < OPS);
        if (bed.err.code != ERR_DISK_FULL)
            fail_msg("call %zu with %llu bytes: %s: %s", done, (unsigned long long)room, err_name(bed.err.code),
                     bed.err.text);
        assert_state(bed.meta, "in memory", room, done, done);
        sim_set_capacity(bed.disk, UINT64_MAX);
        finish_program(&bed, done); /* without a restart */
        meta_bed_again(&bed, BED_CRASH);
        assert_state(bed.meta, "after the restart", room, OPS, OPS);
        meta_bed_deinit(&bed);
    }
    forget_states();
}

TESTS("meta.crash", TEST(a_stop_at_any_step_leaves_old_or_new),
      TEST(a_stop_while_the_file_is_made_leaves_none_or_a_ready_one), TEST(a_failed_sync_is_final_until_the_restart),
      TEST(a_full_disk_refuses_writes_until_there_is_room))
