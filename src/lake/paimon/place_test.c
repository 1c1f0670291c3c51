#include "lake/paimon/live_int.h"
#include "lake/paimon/row_int.h"
#include "lib/test.h"

static struct err err;

static struct paimon_schema partitioned(const struct type *row)
{
    static uint32_t keys[] = {0};
    return (struct paimon_schema){.partition_keys = keys, .partition_key_count = 1, .partition_row = row};
}

static void a_partition_is_a_directory_above_the_bucket(void **state)
{
    (void)state;
    struct field field = {.name = SLICE("d"), .type = type_simple(TYPE_DATE), .id = -1};
    struct type row = {.kind = TYPE_ROW, .fields = &field, .field_count = 1};
    struct paimon_schema schema = partitioned(&row);
    struct paimon_table table = {.dir = SLICE("T"), .newest = &schema};
    struct datum day = {.i64 = 366};
    struct buf bytes = {0};
    struct path path;
    MUST(paimon_row_encode(&row, &day, &bytes, &err));
    MUST(paimon_bucket_dir(&table, buf_view(&bytes), 3, &path, &err));
    assert_string_equal(path.text, "T/d=1971-01-02/bucket-3");
    for (size_t cut = 0; cut < bytes.len; cut++)
        MUST_FAIL(ERR_CORRUPT, paimon_bucket_dir(&table, slice_of(bytes.ptr, cut), 3, &path, &err));
    buf_deinit(&bytes);
}

static void files_tell_their_path_where_readers_may_look_elsewhere(void **state)
{
    (void)state;
    struct field field = {.name = SLICE("p"), .type = type_simple(TYPE_BYTES), .id = -1};
    struct type row = {.kind = TYPE_ROW, .fields = &field, .field_count = 1};
    struct paimon_schema schema = partitioned(&row);
    struct paimon_table table = {.dir = SLICE("/T"), .newest = &schema};
    struct buf bytes = {0};
    struct arena arena = {0};
    struct slice told;
    static const struct {
        const char *value, *path;
    } rows[] = {
        {"a", "/T/p=a/bucket-1/f"},
        {"\xff", "/T/p=\xef\xbf\xbd/bucket-1/f"},                   /* no text at all */
        {"\xe4\xb8x", "/T/p=\xef\xbf\xbdx/bucket-1/f"},             /* a cut sequence is one */
        {"\xe0\x80x", "/T/p=\xef\xbf\xbd\xef\xbf\xbdx/bucket-1/f"}, /* overlong */
        {"\xed\xa0\x80", "/T/p=\xef\xbf\xbd/bucket-1/f"},           /* a surrogate */
        {"\xf5\xc3", "/T/p=\xef\xbf\xbd\xef\xbf\xbd/bucket-1/f"},   /* no leads, or alone */
        {"\xf0\x9f\x98\x80", "/T/p=\xf0\x9f\x98\x80/bucket-1/f"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct datum value = {.bytes = slice_str(rows[i].value)};
        buf_reset(&bytes);
        MUST(paimon_row_encode(&row, &value, &bytes, &err));
        MUST(paimon_told_path(&table, buf_view(&bytes), 1, SLICE("f"), &arena, &told, &err));
        assert_slice_equal(told, slice_str(rows[i].path));
    }
    field.type = type_simple(TYPE_STRING); /* everybody comes to the same directory */
    MUST(paimon_told_path(&table, buf_view(&bytes), 1, SLICE("f"), &arena, &told, &err));
    assert_null(told.ptr);
    buf_deinit(&bytes);
    arena_deinit(&arena);
}

static void external_paths_replace_the_computed_one(void **state)
{
    (void)state;
    struct paimon_schema schema = {0};
    struct paimon_table table = {.dir = SLICE("T"), .newest = &schema};
    struct entry entry = {.partition = paimon_entry_empty_row,
                          .external_path = SLICE("file:///else/where/data-1.parquet")};
    struct path path;
    MUST(paimon_entry_path(&table, &entry, SLICE("data-1.parquet"), &path, &err));
    assert_string_equal(path.text, "/else/where/data-1.parquet");
    entry.external_path = SLICE("s3://bucket/data-1.parquet");
    MUST_FAIL(ERR_NOT_SUPPORTED, paimon_entry_path(&table, &entry, SLICE("data-1.parquet"), &path, &err));
    entry.external_path = (struct slice){0};
    MUST(paimon_entry_path(&table, &entry, SLICE("data-1.parquet"), &path, &err));
    assert_string_equal(path.text, "T/bucket-0/data-1.parquet");
}

TESTS("paimon.place", TEST(a_partition_is_a_directory_above_the_bucket),
      TEST(files_tell_their_path_where_readers_may_look_elsewhere), TEST(external_paths_replace_the_computed_one))
