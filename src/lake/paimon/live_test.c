/* The metadata of the golden tables, written by Java Paimon 1.3.1. */
#include "lake/paimon/live_int.h"
#include "lib/test.h"

static struct err err;

struct golden {
    const char *dir;
    int64_t latest;
    uint32_t file_count; /* live ones */
    int64_t row_count;   /* unmerged */
};

#define GOLDEN "test/golden/paimon-by-fluss/"
static const struct golden tables[] = {
    {GOLDEN "pk/warehouse/golden.db/pk", 6, 0, 38},
    {GOLDEN "pk-compacted/warehouse/golden.db/pk_compacted", 12, 2, 18},
    {GOLDEN "pk-partitioned/warehouse/golden.db/pk_partitioned", 4, 0, 30},
    {GOLDEN "log-bucket-key/warehouse/golden.db/log_bucket_key", 3, 9, 40},
    {GOLDEN "log-no-key/warehouse/golden.db/log_no_key", 3, 3, 40},
};

static struct paimon_table *open_golden(const struct golden *g)
{
    struct paimon_table *table;
    MUST(paimon_table_open_dir(os_real(), slice_str(g->dir), &table, &err));
    return table;
}

static void snapshots_are_found_and_read(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct paimon_table *table = open_golden(&tables[i]);
        struct paimon_snapshot s;
        int64_t earliest, latest;
        MUST(paimon_snapshot_range(table, &earliest, &latest, &err));
        assert_int_equal(earliest, 1);
        assert_int_equal(latest, tables[i].latest);
        MUST(paimon_snapshot_newest_of(table, PAIMON_TIERING_USER, &arena, &s, &err));
        assert_int_equal(s.id, latest);
        assert_int_equal(s.total_record_count, tables[i].row_count);
        assert_int_equal(s.commit_identifier, INT64_MAX);
        const struct slice *offsets = properties_get(&s.properties, PAIMON_OFFSETS_PROPERTY);
        assert_true(offsets && slice_ends_with(*offsets, SLICE(".offsets")));
        MUST(paimon_snapshot_newest_of(table, "nobody", &arena, &s, &err));
        assert_int_equal(s.id, 0);
        MUST_FAIL(ERR_NOT_FOUND, paimon_snapshot_read(table, latest + 1, &arena, &s, &err));
        paimon_table_close(table);
    }
    arena_deinit(&arena);
}

static void check_files(const struct paimon_table *table, struct entry **files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct path path;
        struct os_stat stat;
        MUST(paimon_entry_path(table, files[i], files[i]->name, &path, &err));
        MUST(os_stat(os_real(), path.text, &stat, &err));
        assert_int_equal(stat.size, files[i]->size);
    }
}

static void live_files_are_there_and_count_the_rows(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct paimon_table *table = open_golden(&tables[i]);
        for (int64_t id = 1; id <= tables[i].latest; id++) {
            struct paimon_snapshot s;
            struct live *whole, *own;
            struct paimon_stat stat;
            size_t count, own_count;
            MUST(paimon_snapshot_read(table, id, &arena, &s, &err));
            MUST(paimon_live_load(table, &s, &whole, &err));
            MUST(paimon_table_live(table, &s, &own, &err)); /* from snapshot to snapshot */
            struct entry **files = paimon_live_sorted(whole, &count), **own_files = paimon_live_sorted(own, &own_count);
            assert_int_equal(count, own_count);
            for (size_t k = 0; k < count; k++)
                assert_slice_equal(own_files[k]->name, files[k]->name);
            assert_int_equal(whole->manifests.len, own->manifests.len);
            check_files(table, files, count);
            MUST(paimon_snapshot_stat(table, id, &arena, &stat, &err));
            int64_t rows = 0;
            uint32_t file_count = 0;
            for (uint32_t b = 0; b < stat.bucket_count; b++) {
                rows += stat.buckets[b].row_count;
                file_count += stat.buckets[b].file_count;
            }
            assert_int_equal(rows, s.total_record_count);
            assert_int_equal(file_count, count);
            if (id == tables[i].latest && tables[i].file_count)
                assert_int_equal(count, tables[i].file_count);
            mem_free(files);
            mem_free(own_files);
            paimon_live_destroy(whole);
        }
        paimon_table_close(table);
    }
    arena_deinit(&arena);
}

/* ---- entries written again read the same ---- */

struct copies {
    struct arena arena;
    VEC(struct entry *) entries;
    VEC(int) kinds;
};

static enum err_code keep(void *arg, const struct entry *entry, struct err *unused)
{
    (void)unused;
    struct copies *copies = arg;
    struct entry *copy = ARENA_NEW(&copies->arena, struct entry);
    paimon_entry_dup(&copies->arena, entry, copy);
    vec_push(&copies->entries, copy);
    vec_push(&copies->kinds, entry->kind);
    return OK;
}

static enum err_code keep_manifest(void *arg, const struct manifest *manifest, struct err *e)
{
    struct paimon_table *table = ((void **)arg)[0];
    return paimon_manifest_file_each(table, manifest->name, keep, ((void **)arg)[1], e);
}

static void copies_deinit(struct copies *copies)
{
    vec_deinit(&copies->entries);
    vec_deinit(&copies->kinds);
    arena_deinit(&copies->arena);
}

static void rewrite(struct copies *from, struct buf *bytes)
{
    buf_reset(bytes);
    MUST(paimon_entries_put(os_real(), (const struct entry *const *)from->entries.ptr, from->kinds.ptr,
                            from->entries.len, bytes, &err));
}

static void entries_survive_being_written(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct paimon_table *table = open_golden(&tables[i]);
        struct paimon_snapshot s;
        struct copies first = {0}, second = {0};
        void *args[] = {table, &first};
        struct buf bytes = {0}, again = {0};
        MUST(paimon_snapshot_read(table, tables[i].latest, &arena, &s, &err));
        MUST(paimon_list_file_each(table, s.base_list, keep_manifest, args, &err));
        rewrite(&first, &bytes);
        MUST(paimon_entries_each(buf_view(&bytes), keep, &second, &err));
        assert_int_equal(first.entries.len, second.entries.len);
        for (size_t k = 0; k < first.entries.len; k++) {
            const struct entry *a = first.entries.ptr[k], *b = second.entries.ptr[k];
            assert_slice_equal(a->name, b->name);
            assert_slice_equal(a->min_key, b->min_key);
            assert_slice_equal(a->value_stats.max_values, b->value_stats.max_values);
            assert_int_equal(a->sequence_max, b->sequence_max);
            assert_int_equal(a->creation_ms.value, b->creation_ms.value);
            assert_int_equal(a->delete_count.value, b->delete_count.value);
            assert_int_equal(a->value_stats.null_count_count, b->value_stats.null_count_count);
        }
        rewrite(&second, &again);
        assert_int_equal(bytes.len, again.len); /* the sync marks are random */
        for (size_t cut = 0; cut < bytes.len; cut += 7) {
            struct copies none = {0};
            struct slice part = slice_of(bytes.ptr, cut);
            if (paimon_entries_each(part, keep, &none, &err) == OK)
                assert_true(none.entries.len == 0); /* only a header */
            copies_deinit(&none);
        }
        copies_deinit(&first);
        copies_deinit(&second);
        buf_deinit(&bytes);
        buf_deinit(&again);
        paimon_table_close(table);
    }
    arena_deinit(&arena);
}

TESTS("paimon.live", TEST(snapshots_are_found_and_read), TEST(live_files_are_there_and_count_the_rows),
      TEST(entries_survive_being_written))
