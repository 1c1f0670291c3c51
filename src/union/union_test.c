/* Lake and log read as one, and the oracle, on a whole server whose lake the test fills by hand. */
#include "lib/lake_bed.h"
#include "lib/test.h"
#include "union/union.h"

#include "base/map.h"

#define COLUMNS                                                                          \
    "{\"name\":\"id\",\"data_type\":{\"type\":\"BIGINT\",\"nullable\":false},\"id\":0}," \
    "{\"name\":\"v\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}"
#define IDS 200

static struct lake_bed bed;
static struct err err;

/* ---- a table and what must be in it ---- */

struct rig {
    struct client_table *table;
    struct client_writer *writer;
    int64_t want[IDS]; /* of a primary-key table: the version under this id, 0: none; of a log table: how many rows */
    int64_t version;
    uint64_t seed;
};

static void rig_open(struct rig *rig, const char *name, const char *primary_key, const char *bucket_key)
{
    *rig = (struct rig){.table = lake_bed_table(&bed, name, COLUMNS, primary_key, bucket_key, 3), .seed = 5};
    MUST(client_writer_create(rig->table, NULL, &rig->writer, &err));
}

static void rig_close(struct rig *rig)
{
    client_writer_destroy(rig->writer);
    client_table_unref(rig->table);
}

static uint64_t random_below(struct rig *rig, uint64_t n)
{
    rig->seed = rig->seed * 6364136223846793005u + 1442695040888963407u;
    return (rig->seed >> 33) % n;
}

static void write_one(struct rig *rig)
{
    char text[32];
    int64_t id = (int64_t)random_below(rig, IDS);
    snprintf(text, sizeof text, "v%lld", (long long)(rig->table->has_primary_key ? ++rig->version : id));
    struct datum row[2] = {{.i64 = id}, {.bytes = slice_str(text)}};
    if (rig->table->has_primary_key && random_below(rig, 4) == 0) {
        MUST(client_writer_delete(rig->writer, row, &err));
        rig->want[id] = 0;
        return;
    }
    MUST(client_writer_put(rig->writer, row, &err));
    rig->want[id] = rig->table->has_primary_key ? rig->version : rig->want[id] + 1;
}

static void write_many(struct rig *rig, int count)
{
    for (int i = 0; i < count; i++) {
        write_one(rig);
        if (i % 50 == 0)
            MUST(client_writer_flush(rig->writer, &err));
    }
    MUST(client_writer_flush(rig->writer, &err));
}

/* ---- reading ---- */

struct got {
    const struct rig *rig;
    int64_t rows[IDS];
    int64_t count;
    int64_t stop_at; /* 0: reads all */
};

static enum err_code take_row(void *arg, const struct union_row *row, bool *enough, struct err *e)
{
    (void)e;
    struct got *got = arg;
    int64_t id = row->values[0].i64, version = 0;
    assert_in_range(id, 0, IDS - 1);
    assert_int_equal(row->weight, 1);
    assert_true(slice_to_i64(slice_of(row->values[1].bytes.ptr + 1, row->values[1].bytes.len - 1), &version));
    if (got->rig->table->has_primary_key) {
        assert_int_equal(got->rows[id], 0);
        got->rows[id] = version;
    } else {
        assert_int_equal(version, id);
        got->rows[id]++;
    }
    *enough = ++got->count == got->stop_at;
    return OK;
}

static struct got read_union(const struct rig *rig, uint64_t tail_bytes, int64_t stop_at)
{
    struct got got = {.rig = rig, .stop_at = stop_at};
    struct arena arena = {0};
    struct union_plan plan;
    struct union_lake *lake = NULL;
    MUST(union_plan(rig->table, &arena, &plan, &err));
    if (plan.snapshot_id)
        MUST(union_lake_open(rig->table, &lake, &err));
    MUST(union_read(rig->table, lake, &plan, tail_bytes, take_row, &got, &err));
    union_lake_close(lake);
    arena_deinit(&arena);
    return got;
}

static struct got read_lake(const struct rig *rig)
{
    struct got got = {.rig = rig};
    struct union_lake *lake;
    struct union_lake_options options = {0};
    MUST(union_lake_open(rig->table, &lake, &err));
    MUST(union_lake_newest(lake, &options.snapshot_id, &err));
    MUST(union_lake_read(lake, &options, take_row, &got, &err));
    union_lake_close(lake);
    return got;
}

static void assert_whole(const struct rig *rig, const struct got *got)
{
    assert_memory_equal(got->rows, rig->want, sizeof rig->want);
}

static struct union_verdict verify(const struct rig *rig, struct arena *arena)
{
    struct union_verdict verdict;
    struct union_verify_options options = {.no_wait = true};
    MUST(union_verify(rig->table, &options, arena, &verdict, &err));
    return verdict;
}

static void assert_equal_sides(const struct rig *rig)
{
    struct arena arena = {0};
    struct union_verdict v = verify(rig, &arena);
    assert_int_equal(v.kind, UNION_EQUAL);
    assert_int_equal(v.stream.row_count, v.lake.row_count);
    assert_true(v.stream.digest == v.lake.digest);
    assert_int_equal(v.stream_now.row_count, v.read_now.row_count);
    assert_true(v.stream_now.digest == v.read_now.digest);
    arena_deinit(&arena);
}

/* ---- tests ---- */

static const struct {
    const char *name, *primary_key, *bucket_key;
} kinds[] = {{"log", "", ""}, {"log_by_key", "", "\"id\""}, {"pk", "[\"id\"]", "\"id\""}};

/* Rounds of writing and tiering; in between, the union read is the model and both comparisons hold. */
static void lake_and_log_are_read_as_one(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        struct rig rig;
        rig_open(&rig, kinds[k].name, kinds[k].primary_key, kinds[k].bucket_key);
        struct got got = read_union(&rig, 0, 0);
        assert_int_equal(got.count, 0);
        for (int round = 0; round < 4; round++) {
            write_many(&rig, 300);
            got = read_union(&rig, 0, 0);
            assert_whole(&rig, &got);
            if (round)
                assert_equal_sides(&rig);
            lake_bed_tier(&bed, rig.table);
            got = read_lake(&rig);
            assert_whole(&rig, &got);
            got = read_union(&rig, 0, 0);
            assert_whole(&rig, &got);
            assert_equal_sides(&rig);
        }
        rig_close(&rig);
    }
}

static void a_long_tail_is_read_in_turns(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, "turns", "[\"id\"]", "\"id\"");
    write_many(&rig, 300);
    struct got got = read_union(&rig, 1000, 0);
    assert_whole(&rig, &got);
    lake_bed_tier(&bed, rig.table);
    write_many(&rig, 300);
    static const uint64_t budgets[] = {400, 1000, 5000};
    for (size_t i = 0; i < ARRAY_LEN(budgets); i++) {
        got = read_union(&rig, budgets[i], 0);
        assert_whole(&rig, &got);
    }
    rig_close(&rig);
}

static void reading_ends_when_it_is_enough(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        struct rig rig;
        char name[40];
        snprintf(name, sizeof name, "enough_%s", kinds[k].name);
        rig_open(&rig, name, kinds[k].primary_key, kinds[k].bucket_key);
        write_many(&rig, 100);
        lake_bed_tier(&bed, rig.table);
        write_many(&rig, 100);
        int64_t all = read_union(&rig, 0, 0).count;
        for (int64_t stop = 1; stop <= all; stop += 37)
            assert_int_equal(read_union(&rig, 500, stop).count, stop);
        rig_close(&rig);
    }
}

struct system_check {
    struct union_lake *lake;
    int64_t offsets_seen[3];
};

static enum err_code check_system(void *arg, const struct union_row *row, bool *enough, struct err *e)
{
    (void)enough;
    (void)e;
    struct system_check *check = arg;
    assert_int_equal(row->values[2].i64, row->bucket);
    assert_int_equal(row->values[3].i64, check->offsets_seen[row->bucket]++);
    assert_true(row->values[4].ts.millis > 1600000000000);
    return OK;
}

static void system_columns_are_given_when_asked_for(void **state)
{
    (void)state;
    struct rig rig;
    struct system_check check = {0};
    struct union_lake_options options = {.system_columns = true};
    rig_open(&rig, "system", "", "");
    write_many(&rig, 100);
    options.snapshot_id = lake_bed_tier(&bed, rig.table);
    MUST(union_lake_open(rig.table, &check.lake, &err));
    assert_slice_equal(union_system_columns(check.lake)[0].name, SLICE("__bucket"));
    MUST(union_lake_read(check.lake, &options, check_system, &check, &err));
    assert_int_equal(check.offsets_seen[0] + check.offsets_seen[1] + check.offsets_seen[2], 100);
    union_lake_close(check.lake);
    rig_close(&rig);
}

static void waiting_ends_at_the_deadline(void **state)
{
    (void)state;
    struct rig rig;
    struct arena arena = {0};
    struct union_verdict verdict;
    struct union_verify_options options = {.deadline_mono_ns = os_mono_ns(os_real()) + 50000000};
    rig_open(&rig, "late", "", "");
    write_many(&rig, 10);
    MUST_FAIL(ERR_DEADLINE, union_verify(rig.table, &options, &arena, &verdict, &err));
    assert_non_null(strstr(err.text, "10 rows"));
    assert_int_equal(client_deadline(bed.client, INT64_MAX), INT64_MAX); /* what is done next has its time */
    options.no_wait = true;
    MUST_FAIL(ERR_NOT_YET, union_verify(rig.table, &options, &arena, &verdict, &err));
    options.no_wait = false;
    lake_bed_tier(&bed, rig.table);
    MUST(union_verify(rig.table, &options, &arena, &verdict, &err));
    assert_int_equal(verdict.kind, UNION_EQUAL);
    assert_int_equal(verdict.lake.row_count, 10);
    arena_deinit(&arena);
    rig_close(&rig);
}

static void an_empty_table_is_equal_to_no_lake(void **state)
{
    (void)state;
    struct rig rig;
    struct arena arena = {0};
    struct union_verdict verdict;
    struct union_verify_options options = {0};
    rig_open(&rig, "empty", "", "");
    MUST(union_verify(rig.table, &options, &arena, &verdict, &err));
    assert_int_equal(verdict.kind, UNION_EQUAL);
    assert_int_equal(verdict.snapshot_id, 0);
    arena_deinit(&arena);
    rig_close(&rig);
}

/* ---- a lake that somebody has had his hands in ---- */

struct find_file {
    char found[2][256]; /* data files, in no order */
    size_t count;
};

static enum err_code note_file(void *arg, const char *name, bool is_dir, struct err *e)
{
    (void)e;
    struct find_file *find = arg;
    if (!is_dir && !strncmp(name, "data-", 5) && find->count < 2)
        snprintf(find->found[find->count++], sizeof find->found[0], "%s", name);
    return OK;
}

static void data_file(const struct rig *rig, int bucket, char path[OS_PATH_MAX])
{
    struct find_file find = {0};
    char dir[OS_PATH_MAX / 2];
    snprintf(dir, sizeof dir, "%s/fluss.db/%.*s/bucket-%d", bed.warehouse, SLICE_ARGS(rig->table->path.table), bucket);
    MUST(os_dir_list(os_real(), dir, note_file, &find, &err));
    assert_true(find.count > 0);
    snprintf(path, OS_PATH_MAX, "%s/%s", dir, find.found[0]);
}

static void copy_file(const char *from, const char *to)
{
    struct buf bytes = {0};
    MUST(os_read_whole(os_real(), from, 1u << 20, &bytes, &err));
    MUST(os_write_durable(os_real(), to, buf_view(&bytes), &err));
    buf_deinit(&bytes);
}

static void rows_of_another_bucket_are_told_apart(void **state)
{
    (void)state;
    struct rig rig;
    struct arena arena = {0};
    char from[OS_PATH_MAX], to[OS_PATH_MAX];
    rig_open(&rig, "swapped", "", "\"id\"");
    write_many(&rig, 100);
    lake_bed_tier(&bed, rig.table);
    assert_equal_sides(&rig);
    data_file(&rig, 0, from);
    data_file(&rig, 1, to);
    copy_file(from, to);
    struct union_verdict v = verify(&rig, &arena);
    assert_int_equal(v.kind, UNION_LAKE_DIFFERS);
    assert_int_equal(v.stream.row_count, 100);
    assert_int_equal(v.difference_count, UNION_DIFFERENCES);
    for (size_t i = 0; i < v.difference_count; i++) {
        assert_int_equal(v.differences[i].bucket, 1);
        assert_true((v.differences[i].in_stream == 0) != (v.differences[i].in_other == 0));
    }
    arena_deinit(&arena);
    rig_close(&rig);
}

static void assert_unreadable(const struct rig *rig, const char *word)
{
    struct arena arena = {0};
    struct union_verdict v = verify(rig, &arena);
    assert_int_equal(v.kind, UNION_LAKE_UNREADABLE);
    assert_non_null(memmem(v.why.ptr, v.why.len, word, strlen(word)));
    arena_deinit(&arena);
}

static void a_lake_that_cannot_be_read_whole_is_not_equal(void **state)
{
    (void)state;
    struct rig rig;
    char path[OS_PATH_MAX];
    rig_open(&rig, "broken", "", "\"id\"");
    write_many(&rig, 100);
    int64_t id = lake_bed_tier(&bed, rig.table);
    data_file(&rig, 2, path);
    MUST(os_write_durable(os_real(), path, SLICE("PAR1 not a file of Parquet PAR1"), &err));
    assert_unreadable(&rig, "data-");
    MUST(os_unlink(os_real(), path, &err));
    assert_unreadable(&rig, "data-");
    snprintf(path, sizeof path, "%s/fluss.db/broken/snapshot/snapshot-%lld", bed.warehouse, (long long)id);
    MUST(os_unlink(os_real(), path, &err));
    assert_unreadable(&rig, "expired");
    rig_close(&rig);
}

static int start(void **state)
{
    (void)state;
    lake_bed_start(&bed);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    lake_bed_stop(&bed);
    return 0;
}

#define ON_SERVER(fn)              \
    {                              \
#fn, fn, start, stop, NULL \
    }

TESTS("union", ON_SERVER(lake_and_log_are_read_as_one), ON_SERVER(a_long_tail_is_read_in_turns),
      ON_SERVER(reading_ends_when_it_is_enough), ON_SERVER(system_columns_are_given_when_asked_for),
      ON_SERVER(waiting_ends_at_the_deadline), ON_SERVER(an_empty_table_is_equal_to_no_lake),
      ON_SERVER(rows_of_another_bucket_are_told_apart), ON_SERVER(a_lake_that_cannot_be_read_whole_is_not_equal))
