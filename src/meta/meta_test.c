#include "lib/meta_fixture.h"
#include "meta/meta_int.h"

#include <stdatomic.h>
#include <stdio.h>

#define FLUSS SLICE("fluss")

static size_t pending_count(void)
{
    struct meta_ids ids = {0};
    meta_deletes_pending(bed.meta, &ids);
    size_t count = ids.len;
    vec_deinit(&ids);
    return count;
}

static bool is_there(const char *path)
{
    struct os_stat stat;
    return os_stat(bed.os, path, &stat, NULL) == OK;
}

/* ---- databases ---- */

static void the_default_database_is_there_from_the_start(void **state)
{
    (void)state;
    struct database_info info;
    assert_true(meta_database_exists(bed.meta, FLUSS));
    MUST(meta_database_info(bed.meta, &bed.arena, FLUSS, &info, &err));
    assert_slice_equal(info.json, SLICE("{\"version\":1,\"custom_properties\":{}}"));
    assert_int_equal(info.table_count, 0);
    assert_true(info.created_ms > 0);
}

static void databases_are_created_listed_and_dropped(void **state)
{
    (void)state;
    struct slice json = SLICE("{\"version\":1,\"comment\":\"c\",\"custom_properties\":{\"k\":\"v\"}}");
    MUST(meta_database_create(bed.meta, SLICE("sales"), json, false, &err));
    MUST(meta_database_create(bed.meta, SLICE("a-1"), (struct slice){0}, false, &err));
    MUST_FAIL(ERR_DATABASE_ALREADY_EXIST, meta_database_create(bed.meta, SLICE("sales"), json, false, &err));
    MUST(meta_database_create(bed.meta, SLICE("sales"), (struct slice){0}, true, &err));
    for (int round = 0; round < 2; round++) { /* the second time read from the file */
        struct database_info *items;
        size_t count;
        meta_database_list(bed.meta, &bed.arena, &items, &count);
        assert_int_equal(count, 3);
        assert_slice_equal(items[0].name, SLICE("a-1"));
        assert_slice_equal(items[1].name, FLUSS);
        assert_slice_equal(items[2].name, SLICE("sales"));
        assert_slice_equal(items[2].json, json);
        meta_bed_again(&bed, BED_CLOSE);
    }
    struct meta_ids dropped = {0};
    MUST(meta_database_drop(bed.meta, SLICE("sales"), false, false, &dropped, &err));
    MUST_FAIL(ERR_DATABASE_NOT_EXIST, meta_database_drop(bed.meta, SLICE("sales"), false, false, &dropped, &err));
    MUST(meta_database_drop(bed.meta, SLICE("sales"), true, false, &dropped, &err));
    struct database_info info;
    MUST_FAIL(ERR_DATABASE_NOT_EXIST, meta_database_info(bed.meta, &bed.arena, SLICE("sales"), &info, &err));
    assert_false(meta_database_exists(bed.meta, SLICE("sales")));
    assert_int_equal(dropped.len, 0);
}

static void names_that_are_none_are_refused(void **state)
{
    (void)state;
    char longest[NAME_BYTES_MAX + 1];
    memset(longest, 'x', sizeof longest);
    static const char *const bad[] = {"", ".", "..", "a.b", "a b", "__a", "a/b", "\xc3\xa9"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        MUST_FAIL(ERR_INVALID_DATABASE_EXCEPTION,
                  meta_database_create(bed.meta, slice_str(bad[i]), (struct slice){0}, true, &err));
        MUST_FAIL(ERR_INVALID_TABLE_EXCEPTION, meta_table_check_new(bed.meta, FLUSS, slice_str(bad[i]), NULL, &err));
        MUST_FAIL(ERR_INVALID_DATABASE_EXCEPTION,
                  meta_table_check_new(bed.meta, slice_str(bad[i]), SLICE("t"), NULL, &err));
    }
    MUST(meta_database_create(bed.meta, slice_of(longest, NAME_BYTES_MAX), (struct slice){0}, false, &err));
    MUST_FAIL(ERR_INVALID_DATABASE_EXCEPTION,
              meta_database_create(bed.meta, slice_of(longest, NAME_BYTES_MAX + 1), (struct slice){0}, false, &err));
    assert_false(meta_table_exists(bed.meta, FLUSS, slice_of(longest, NAME_BYTES_MAX + 1)));
    MUST_FAIL(ERR_INVALID_DATABASE_EXCEPTION,
              meta_database_create(bed.meta, SLICE("x"), SLICE("{\"version\":"), false, &err));
}

static void a_database_with_tables_goes_only_with_cascade(void **state)
{
    (void)state;
    struct meta_ids dropped = {0};
    meta_bed_create(&bed, "a", 1);
    meta_bed_create(&bed, "b", 1);
    MUST_FAIL(ERR_DATABASE_NOT_EMPTY, meta_database_drop(bed.meta, FLUSS, true, false, &dropped, &err));
    MUST(meta_database_drop(bed.meta, FLUSS, false, true, &dropped, &err));
    assert_int_equal(dropped.len, 2);
    assert_int_equal(dropped.ptr[0] + dropped.ptr[1], 1);
    vec_deinit(&dropped);
    assert_int_equal(pending_count(), 2);
    meta_bed_again(&bed, BED_CRASH);
    assert_int_equal(pending_count(), 2);
    assert_false(meta_database_exists(bed.meta, FLUSS)); /* dropped is dropped, the default one too */
    MUST(meta_database_create(bed.meta, FLUSS, (struct slice){0}, false, &err));
    assert_false(meta_table_exists(bed.meta, FLUSS, SLICE("a")));
}

/* ---- tables ---- */

static void a_table_comes_back_as_it_was_stored(void **state)
{
    (void)state;
    struct table_descriptor descriptor = meta_bed_table(&bed, 3, true);
    const struct table_info *table, *again;
    MUST(meta_table_create(bed.meta, FLUSS, SLICE("t"), &descriptor, &table, &err));
    assert_int_equal(table->table_id, 0);
    assert_int_equal(table->schema_id, 1);
    assert_int_equal(table->descriptor->bucket_count, 3);
    assert_true(table->settings.lake_enabled);
    assert_int_equal(table->settings.lake_format, LAKE_PAIMON);
    assert_int_equal(table->settings.kv_format_version, 2);
    assert_ptr_equal(table_schema(table, 1), &table->schemas[0]);
    assert_null(table_schema(table, 2));
    assert_null(table_schema(table, 0));
    assert_int_equal(table->schemas[0].schema->column_count, 2);
    meta_bed_again(&bed, BED_KILL);
    MUST(meta_table_get(bed.meta, FLUSS, SLICE("t"), &again, &err));
    assert_slice_equal(again->json, table->json); /* the handle outlives the meta that gave it */
    assert_slice_equal(again->schemas[0].json, table->schemas[0].json);
    assert_int_equal(again->created_ms, table->created_ms);
    assert_int_equal(again->modified_ms, table->modified_ms);
    table_unref(again);
    table_unref(table);
}

static void table_ids_are_never_given_twice(void **state)
{
    (void)state;
    for (int64_t id = 0; id < 5; id++) {
        assert_int_equal(meta_bed_create(&bed, "t", 1), id);
        assert_int_equal(meta_bed_drop(&bed, "t"), id);
        meta_bed_again(&bed, id % 2 ? BED_CRASH : BED_CLOSE);
    }
    assert_int_equal(pending_count(), 5);
}

static void what_is_asked_of_tables_that_are_not_there(void **state)
{
    (void)state;
    const struct table_info *table;
    struct table_descriptor descriptor = meta_bed_table(&bed, 1, false);
    int64_t id = 7;
    bool exists = true;
    struct meta_tables tables = {0};
    MUST_FAIL(ERR_TABLE_NOT_EXIST, meta_table_get(bed.meta, FLUSS, SLICE("t"), &table, &err));
    MUST_FAIL(ERR_TABLE_NOT_EXIST, meta_table_get(bed.meta, SLICE("no"), SLICE("t"), &table, &err));
    MUST_FAIL(ERR_TABLE_NOT_EXIST, meta_table_get_by_id(bed.meta, 0, &table, &err));
    MUST_FAIL(ERR_TABLE_NOT_EXIST, meta_table_drop(bed.meta, FLUSS, SLICE("t"), false, &id, &err));
    assert_int_equal(id, 7);
    MUST(meta_table_drop(bed.meta, FLUSS, SLICE("t"), true, &id, &err));
    assert_int_equal(id, -1);
    MUST_FAIL(ERR_DATABASE_NOT_EXIST, meta_table_list(bed.meta, SLICE("no"), &tables, &err));
    MUST_FAIL(ERR_DATABASE_NOT_EXIST, meta_table_check_new(bed.meta, SLICE("no"), SLICE("t"), &exists, &err));
    MUST_FAIL(ERR_DATABASE_NOT_EXIST, meta_table_create(bed.meta, SLICE("no"), SLICE("t"), &descriptor, &table, &err));
    MUST(meta_table_check_new(bed.meta, FLUSS, SLICE("t"), &exists, &err));
    assert_false(exists);
    MUST(meta_table_check_new(bed.meta, FLUSS, SLICE("t"), NULL, &err));
}

static void a_taken_name_is_refused_or_told(void **state)
{
    (void)state;
    bool exists = false;
    const struct table_info *table;
    struct table_descriptor descriptor = meta_bed_table(&bed, 1, false);
    meta_bed_create(&bed, "t", 1);
    MUST_FAIL(ERR_TABLE_ALREADY_EXIST, meta_table_check_new(bed.meta, FLUSS, SLICE("t"), NULL, &err));
    MUST(meta_table_check_new(bed.meta, FLUSS, SLICE("t"), &exists, &err));
    assert_true(exists);
    MUST_FAIL(ERR_TABLE_ALREADY_EXIST, meta_table_create(bed.meta, FLUSS, SLICE("t"), &descriptor, &table, &err));
    assert_int_equal(meta_bed_create(&bed, "u", 1), 1); /* the refused one took no id */
}

static void tables_are_listed_by_name(void **state)
{
    (void)state;
    MUST(meta_database_create(bed.meta, SLICE("a"), (struct slice){0}, false, &err));
    struct table_descriptor descriptor = meta_bed_table(&bed, 1, false);
    const struct table_info *table;
    meta_bed_create(&bed, "y", 1);
    meta_bed_create(&bed, "x", 1);
    MUST(meta_table_create(bed.meta, SLICE("a"), SLICE("z"), &descriptor, &table, &err));
    table_unref(table);
    struct meta_tables tables = {0};
    MUST(meta_table_list(bed.meta, FLUSS, &tables, &err));
    assert_int_equal(tables.len, 2);
    assert_slice_equal(tables.ptr[0]->name, SLICE("x"));
    assert_slice_equal(tables.ptr[1]->name, SLICE("y"));
    meta_tables_deinit(&tables);
    MUST(meta_table_list(bed.meta, (struct slice){0}, &tables, &err));
    assert_int_equal(tables.len, 3);
    assert_slice_equal(tables.ptr[0]->name, SLICE("z"));
    meta_tables_deinit(&tables);
    struct database_info info;
    MUST(meta_database_info(bed.meta, &bed.arena, FLUSS, &info, &err));
    assert_int_equal(info.table_count, 2);
}

static void a_handle_outlives_its_table(void **state)
{
    (void)state;
    meta_bed_create(&bed, "t", 1);
    const struct table_info *table;
    MUST(meta_table_get(bed.meta, FLUSS, SLICE("t"), &table, &err));
    meta_bed_drop(&bed, "t");
    assert_slice_equal(table->name, SLICE("t"));
    table_unref(table_ref(table));
    table_unref(table);
}

/* ---- deletes, ids ---- */

static void a_dropped_table_stays_on_the_list_until_its_files_are_gone(void **state)
{
    (void)state;
    meta_bed_create(&bed, "t", 1);
    struct slice path;
    struct lake_offset one = {-1, 0, 5};
    MUST(meta_lake_prepare(bed.meta, 0, FLUSS, SLICE("t"), &(struct lake_offsets){&one, 1}, false, &bed.arena, &path,
                           &err));
    meta_bed_drop(&bed, "t");
    meta_bed_again(&bed, BED_CRASH);
    assert_int_equal(pending_count(), 1);
    assert_true(is_there(META_BED_REMOTE "/lake/fluss/t-0"));
    MUST(meta_delete_done(bed.meta, 0, &err));
    assert_false(is_there(META_BED_REMOTE "/lake/fluss/t-0"));
    assert_int_equal(pending_count(), 0);
    meta_bed_again(&bed, BED_CRASH);
    assert_int_equal(pending_count(), 0);
    MUST(meta_delete_done(bed.meta, 0, &err)); /* once more does no harm */
}

static void writer_ids_grow_over_restarts(void **state)
{
    (void)state;
    int64_t last = -1, id;
    for (int run = 0; run < 3; run++) {
        for (int i = 0; i < META_WRITER_IDS_BLOCK + 2; i++) {
            MUST(meta_writer_id(bed.meta, &id, &err));
            assert_true(id > last);
            assert_true(run > 0 || id == i);
            last = id;
        }
        meta_bed_again(&bed, run % 2 ? BED_CLOSE : BED_CRASH);
    }
}

static void each_run_has_its_own_epochs(void **state)
{
    (void)state;
    assert_int_equal(meta_run_epoch_base(bed.meta), 0);
    for (int64_t run = 1; run < 4; run++) {
        meta_bed_again(&bed, run % 2 ? BED_CLOSE : BED_CRASH);
        assert_true(meta_run_epoch_base(bed.meta) == run << 32);
    }
}

/* ---- limits ---- */

static void full_lists_are_refused(void **state)
{
    (void)state;
    struct table_descriptor descriptor = meta_bed_table(&bed, 1, false);
    const struct table_info *table;
    meta_bed_create(&bed, "t", 1);
    size_t databases = bed.meta->databases.count, tables = bed.meta->tables.count;
    bed.meta->databases.count = META_DATABASES_MAX; /* as if so many were there */
    MUST_FAIL(ERR_LIMIT, meta_database_create(bed.meta, SLICE("a"), (struct slice){0}, false, &err));
    MUST(meta_database_create(bed.meta, FLUSS, (struct slice){0}, true, &err));
    bed.meta->databases.count = databases;
    bed.meta->tables.count = META_TABLES_MAX;
    bool exists;
    MUST_FAIL(ERR_LIMIT, meta_table_check_new(bed.meta, FLUSS, SLICE("u"), NULL, &err));
    MUST_FAIL(ERR_LIMIT, meta_table_create(bed.meta, FLUSS, SLICE("u"), &descriptor, &table, &err));
    MUST(meta_table_check_new(bed.meta, FLUSS, SLICE("t"), &exists, &err));
    bed.meta->tables.count = tables;
    MUST(meta_table_check_new(bed.meta, FLUSS, SLICE("u"), NULL, &err));
}

static void a_description_that_is_too_long_is_refused(void **state)
{
    (void)state;
    struct table_descriptor descriptor = meta_bed_table(&bed, 1, false);
    const struct table_info *table;
    char *comment = calloc(1, META_DESCRIPTOR_BYTES_MAX);
    memset(comment, 'x', META_DESCRIPTOR_BYTES_MAX);
    descriptor.comment = slice_of(comment, META_DESCRIPTOR_BYTES_MAX);
    MUST_FAIL(ERR_INVALID_TABLE_EXCEPTION, meta_table_create(bed.meta, FLUSS, SLICE("t"), &descriptor, &table, &err));
    descriptor.comment.len -= 4096;
    MUST(meta_table_create(bed.meta, FLUSS, SLICE("t"), &descriptor, &table, &err));
    table_unref(table);
    free(comment);
    meta_bed_again(&bed, BED_CRASH);
    assert_true(meta_table_exists(bed.meta, FLUSS, SLICE("t")));
}

static void the_write_ahead_log_does_not_grow_without_end(void **state)
{
    (void)state;
    struct meta_ids none = {0};
    for (int i = 0; i < 1500; i++) {
        MUST(meta_database_create(bed.meta, SLICE("a"), (struct slice){0}, false, &err));
        MUST(meta_database_drop(bed.meta, SLICE("a"), false, false, &none, &err));
    }
    struct os_stat stat;
    MUST(os_stat(bed.os, META_BED_DATA "/meta.db-wal", &stat, &err));
    assert_in_range(stat.size, 1, 8 << 20);
    meta_bed_end(&bed, BED_CLOSE);
    assert_false(is_there(META_BED_DATA "/meta.db-wal")); /* folded into the file */
    MUST(meta_open(bed.os, &meta_bed_config, &bed.meta, &err));
}

/* ---- threads ---- */

struct shared {
    struct meta *meta;
    atomic_bool stop;
    atomic_int failures;
};

static void read_all_the_time(void *arg)
{
    struct shared *shared = arg;
    while (!atomic_load(&shared->stop)) {
        const struct table_info *table;
        struct meta_tables tables = {0};
        struct arena arena = {0};
        struct lake_snapshot_info snapshot;
        if (meta_table_get(shared->meta, FLUSS, SLICE("t"), &table, NULL) == OK) {
            if (!slice_is(table->name, "t") || !table_schema(table, 1))
                atomic_fetch_add(&shared->failures, 1);
            (void)!meta_lake_snapshot(shared->meta, table->table_id, LAKE_READABLE, 0, &arena, &snapshot, NULL);
            table_unref(table);
        }
        if (meta_table_list(shared->meta, FLUSS, &tables, NULL) != OK)
            atomic_fetch_add(&shared->failures, 1);
        meta_tables_deinit(&tables);
        arena_deinit(&arena);
    }
}

/* Create, tier, drop, on the machine's own disk, while others read. */
static void write_for_a_while(struct meta *meta, const struct table_descriptor *descriptor)
{
    for (int64_t i = 0; i < 40; i++) {
        const struct table_info *table;
        struct slice path;
        int64_t id;
        struct lake_offset one = {-1, 0, i};
        MUST(meta_table_create(meta, FLUSS, SLICE("t"), descriptor, &table, &err));
        MUST(meta_lake_prepare(meta, table->table_id, FLUSS, SLICE("t"), &(struct lake_offsets){&one, 1}, false,
                               &bed.arena, &path, &err));
        struct lake_commit commit = {
            .table_id = table->table_id, .snapshot_id = i, .tiered_path = path, .readable_path = path};
        MUST(meta_lake_commit(meta, &commit, &err));
        table_unref(table);
        MUST(meta_table_drop(meta, FLUSS, SLICE("t"), false, &id, &err));
        MUST(meta_delete_done(meta, id, &err));
    }
}

static void readers_see_whole_tables_while_others_write(void **state)
{
    (void)state;
    const char *dir = test_dir();
    struct meta_config config = {.data_dir = dir, .remote_dir = dir};
    struct shared shared = {0};
    struct os_thread *threads[2];
    MUST(meta_open(os_real(), &config, &shared.meta, &err));
    for (int i = 0; i < 2; i++)
        MUST(os_thread_start(os_real(), "reader", read_all_the_time, &shared, &threads[i], &err));
    struct table_descriptor descriptor = meta_bed_table(&bed, 1, true);
    write_for_a_while(shared.meta, &descriptor);
    atomic_store(&shared.stop, true);
    for (int i = 0; i < 2; i++)
        os_thread_join(threads[i]);
    assert_int_equal(atomic_load(&shared.failures), 0);
    meta_close(shared.meta);
}

/* ---- files that are not as they should be ---- */

static struct buf file_bytes(void)
{
    struct buf bytes = {0};
    MUST(os_read_whole(bed.os, META_BED_DATA "/meta.db", 1 << 20, &bytes, &err));
    return bytes;
}

static void open_must_fail(enum err_code want, const char *text)
{
    struct meta *meta;
    MUST_FAIL(want, meta_open(bed.os, &meta_bed_config, &meta, &err));
    if (!strstr(err.text, text))
        fail_msg("'%s' does not say '%s'", err.text, text);
}

static void an_unknown_version_is_refused(void **state)
{
    (void)state;
    meta_bed_create(&bed, "t", 1);
    meta_bed_end(&bed, BED_CLOSE);
    struct buf before = file_bytes(), other = file_bytes();
    char told[32];
    snprintf(told, sizeof told, "format version %d", LAYOUT_VERSION + 1);
    other.ptr[63] = LAYOUT_VERSION + 1; /* user_version, the last of its four bytes */
    MUST(os_write_durable(bed.os, META_BED_DATA "/meta.db", buf_view(&other), &err));
    open_must_fail(ERR_FORMAT_VERSION, told);
    other.ptr[63] = LAYOUT_VERSION_OLDEST - 1;
    MUST(os_write_durable(bed.os, META_BED_DATA "/meta.db", buf_view(&other), &err));
    open_must_fail(ERR_FORMAT_VERSION, "format version 1");
    other.ptr[63] = 1;
    other.ptr[68] ^= 1; /* application_id */
    MUST(os_write_durable(bed.os, META_BED_DATA "/meta.db", buf_view(&other), &err));
    open_must_fail(ERR_FORMAT_VERSION, "not one that weir wrote");
    MUST(os_write_durable(bed.os, META_BED_DATA "/meta.db", buf_view(&before), &err));
    MUST(meta_open(bed.os, &meta_bed_config, &bed.meta, &err));
    assert_true(meta_table_exists(bed.meta, FLUSS, SLICE("t")));
    buf_deinit(&before);
    buf_deinit(&other);
}

static void a_damaged_file_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        meta_bed_create(&bed, (const char *)arena_printf(&bed.arena, "t%d", i).ptr, 1);
    meta_bed_end(&bed, BED_CLOSE);
    struct buf whole = file_bytes();
    assert_true(whole.len > 3 * 4096);
    /* garbage in place of a page, and a file that ends early */
    struct buf damaged = {0};
    buf_put_slice(&damaged, buf_view(&whole));
    memset(damaged.ptr + 4096, 0x5a, 8192);
    MUST(os_write_durable(bed.os, META_BED_DATA "/meta.db", buf_view(&damaged), &err));
    open_must_fail(ERR_CORRUPT, "meta.db is damaged");
    MUST(os_write_durable(bed.os, META_BED_DATA "/meta.db", slice_of(whole.ptr, whole.len - 4096), &err));
    open_must_fail(ERR_CORRUPT, "meta.db is damaged");
    MUST(os_write_durable(bed.os, META_BED_DATA "/meta.db", SLICE("this is a text, no database, and long enough"),
                          &err));
    open_must_fail(ERR_CORRUPT, "meta.db is damaged");
    buf_deinit(&whole);
    buf_deinit(&damaged);
}

static void a_second_opener_is_refused(void **state)
{
    (void)state;
    const char *dir = test_dir();
    struct meta_config config = {.data_dir = dir,
                                 .remote_dir = (const char *)arena_printf(&bed.arena, "%s/remote", dir).ptr};
    struct meta *first, *second;
    MUST(meta_open(os_real(), &config, &first, &err));
    MUST_FAIL(ERR_LOCKED, meta_open(os_real(), &config, &second, &err));
    assert_non_null(strstr(err.text, "another process holds"));
    meta_close(first);
    MUST(meta_open(os_real(), &config, &second, &err));
    meta_close(second);
}

/* Foreign programs see the lock too: that is what keeps them from folding the log away under a running server. */
static void sqlite3_finds_the_file_locked(void **state)
{
    (void)state;
    const char *dir = test_dir();
    struct meta_config config = {.data_dir = dir, .remote_dir = dir};
    struct meta *meta;
    MUST(meta_open(os_real(), &config, &meta, &err));
    struct slice path = arena_printf(&bed.arena, "%s/meta.db", dir);
    struct os_file *file;
    MUST(os_file_open(os_real(), (const char *)path.ptr, OS_WRITE, &file, &err));
    MUST_FAIL(ERR_LOCKED, os_file_lock(file, &err));
    os_file_close(file);
    meta_close(meta);
}

TESTS("meta.store", TEST_BED(the_default_database_is_there_from_the_start),
      TEST_BED(databases_are_created_listed_and_dropped), TEST_BED(names_that_are_none_are_refused),
      TEST_BED(a_database_with_tables_goes_only_with_cascade), TEST_BED(a_table_comes_back_as_it_was_stored),
      TEST_BED(table_ids_are_never_given_twice), TEST_BED(what_is_asked_of_tables_that_are_not_there),
      TEST_BED(a_taken_name_is_refused_or_told), TEST_BED(tables_are_listed_by_name),
      TEST_BED(a_handle_outlives_its_table), TEST_BED(a_dropped_table_stays_on_the_list_until_its_files_are_gone),
      TEST_BED(writer_ids_grow_over_restarts), TEST_BED(each_run_has_its_own_epochs), TEST_BED(full_lists_are_refused),
      TEST_BED(a_description_that_is_too_long_is_refused), TEST_BED(the_write_ahead_log_does_not_grow_without_end),
      TEST_BED(readers_see_whole_tables_while_others_write), TEST_BED(an_unknown_version_is_refused),
      TEST_BED(a_damaged_file_is_refused), TEST_BED(a_second_opener_is_refused),
      TEST_BED(sqlite3_finds_the_file_locked))
