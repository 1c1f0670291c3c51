#include "tier/fold_int.h"

#include "lib/test.h"

static struct err err;

/* One type a column, as keys and as values; a key is any one of them, or two. */
static const struct type types[] = {
    {.kind = TYPE_BOOLEAN},
    {.kind = TYPE_TINYINT},
    {.kind = TYPE_SMALLINT},
    {.kind = TYPE_INTEGER},
    {.kind = TYPE_BIGINT},
    {.kind = TYPE_FLOAT},
    {.kind = TYPE_DOUBLE},
    {.kind = TYPE_CHAR, .length = 3},
    {.kind = TYPE_STRING},
    {.kind = TYPE_BINARY, .length = 3},
    {.kind = TYPE_BYTES},
    {.kind = TYPE_DECIMAL, .precision = 9, .scale = 2},
    {.kind = TYPE_DECIMAL, .precision = 38, .scale = 10},
    {.kind = TYPE_DATE},
    {.kind = TYPE_TIME, .precision = 0},
    {.kind = TYPE_TIME, .precision = 9},
    {.kind = TYPE_TIMESTAMP, .precision = 0},
    {.kind = TYPE_TIMESTAMP, .precision = 6},
    {.kind = TYPE_TIMESTAMP_LTZ, .precision = 9},
};
#define TYPE_COUNT ((uint32_t)ARRAY_LEN(types))

static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* Few different values, edges among them, so that keys repeat and differ late. */
static int64_t draw_i64(int64_t least, int64_t most)
{
    switch (draw(6)) {
    case 0:
        return least;
    case 1:
        return most;
    default:
        return MAX(least, MIN(most, (int64_t)draw(9) - 4));
    }
}

static struct datum draw_text(struct arena *arena, size_t len)
{
    uint8_t *text = arena_alloc(arena, len + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = (uint8_t) "\0\1a\xff"[draw(4)];
    return (struct datum){.bytes = slice_of(text, len)};
}

static struct datum draw_datum(struct arena *arena, const struct type *type)
{
    static const double doubles[] = {-1.0 / 0.0, -1.5, -0.0, 0.0, 1e-300, 2, 1.0 / 0.0, 0.0 / 0.0};
    struct datum d = {0};
    switch (type->kind) {
    case TYPE_BOOLEAN:
        return (struct datum){.boolean = draw(2)};
    case TYPE_TINYINT:
        return (struct datum){.i64 = draw_i64(INT8_MIN, INT8_MAX)};
    case TYPE_SMALLINT:
        return (struct datum){.i64 = draw_i64(INT16_MIN, INT16_MAX)};
    case TYPE_INTEGER:
    case TYPE_DATE:
        return (struct datum){.i64 = draw_i64(INT32_MIN, INT32_MAX)};
    case TYPE_BIGINT:
        return (struct datum){.i64 = draw_i64(INT64_MIN, INT64_MAX)};
    case TYPE_TIME:
        return (struct datum){.i64 = (int64_t)draw(5) * 1000};
    case TYPE_FLOAT:
        return (struct datum){.f32 = (float)doubles[draw(ARRAY_LEN(doubles))]};
    case TYPE_DOUBLE:
        return (struct datum){.f64 = doubles[draw(ARRAY_LEN(doubles))]};
    case TYPE_DECIMAL:
        d.decimal = draw_i64(-99999, 99999);
        if (type->precision > 18 && draw(2))
            d.decimal = d.decimal * INT64_MAX + (int64_t)draw(3);
        return d;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        d.ts.millis = draw_i64(-5000, 5000) * (type->precision ? 1 : 1000);
        d.ts.nanos = type->precision == 9 ? (int32_t)draw(3) : type->precision ? (int32_t)draw(2) * 1000 : 0;
        return d;
    case TYPE_CHAR:
    case TYPE_BINARY:
        return draw_text(arena, 3);
    default:
        return draw_text(arena, draw(11));
    }
}

/* A batch of drawn rows, by column. */
struct drawn {
    struct column_builder builders[TYPE_COUNT];
    struct arena arena;
    struct column *columns;
};

static void draw_rows(struct drawn *drawn, uint32_t count)
{
    drawn->columns = ARENA_NEW_ARRAY(&drawn->arena, struct column, TYPE_COUNT);
    for (uint32_t t = 0; t < TYPE_COUNT; t++) {
        column_builder_init(&drawn->builders[t], &types[t]);
        for (uint32_t i = 0; i < count; i++) {
            struct datum d = draw_datum(&drawn->arena, &types[t]);
            MUST(column_builder_append(&drawn->builders[t], &d, &err));
        }
        column_builder_view(&drawn->builders[t], &drawn->arena, &drawn->columns[t]);
    }
}

static void drop_rows(struct drawn *drawn)
{
    for (uint32_t t = 0; t < TYPE_COUNT; t++)
        column_builder_deinit(&drawn->builders[t]);
    arena_deinit(&drawn->arena);
}

static int sign(int v)
{
    return (v > 0) - (v < 0);
}

static int compare_by_datum(struct arena *arena, const struct column *columns, const uint32_t *key, uint32_t key_count,
                            uint32_t a, uint32_t b)
{
    for (uint32_t k = 0; k < key_count; k++) {
        struct datum x, y;
        column_get(&columns[key[k]], a, arena, &x);
        column_get(&columns[key[k]], b, arena, &y);
        int order = datum_compare(columns[key[k]].type, &x, &y);
        if (order)
            return sign(order);
    }
    return 0;
}

static void check_key_order(const struct column *columns, const uint32_t *key, uint32_t key_count, uint32_t rows)
{
    struct arena arena = {0};
    for (uint32_t a = 0; a < rows; a++)
        for (uint32_t b = 0; b < rows; b++) {
            struct buf x = {0}, y = {0};
            fold_key_put(columns, key, key_count, a, &x);
            fold_key_put(columns, key, key_count, b, &y);
            int want = compare_by_datum(&arena, columns, key, key_count, a, b);
            if (sign(slice_compare(buf_view(&x), buf_view(&y))) != want)
                fail_msg("columns of kind %d and %d, rows %u and %u", types[key[0]].kind,
                         types[key[key_count - 1]].kind, a, b);
            uint64_t p = fold_key_prefix(buf_view(&x)), q = fold_key_prefix(buf_view(&y));
            assert_true(p == q || (p > q) - (p < q) == want);
            buf_deinit(&x);
            buf_deinit(&y);
        }
    arena_deinit(&arena);
}

static void bytes_of_keys_sort_as_the_keys(void **test)
{
    (void)test;
    struct drawn drawn = {0};
    draw_rows(&drawn, 40);
    for (uint32_t t = 0; t < TYPE_COUNT; t++) {
        uint32_t pair[] = {t, (t + 5) % TYPE_COUNT};
        check_key_order(drawn.columns, &t, 1, 40);
        check_key_order(drawn.columns, pair, 2, 40);
    }
    drop_rows(&drawn);
}

/* ---- the fold ---- */

static const struct type id_type = {.kind = TYPE_INTEGER};
static const struct type text_type = {.kind = TYPE_STRING, .nullable = true};
static const struct field fields[] = {{.name = {(const uint8_t *)"id", 2}, .type = &id_type},
                                      {.name = {(const uint8_t *)"text", 4}, .type = &text_type}};
static const struct type row = {.kind = TYPE_ROW, .fields = fields, .field_count = 2};
static const uint32_t key_of_row[] = {0};

static struct fold *make_fold(const char *dir, size_t bytes_max)
{
    struct fold *fold;
    struct fold_options options = {.os = os_real(),
                                   .dir = dir,
                                   .bytes_max = bytes_max,
                                   .row = &row,
                                   .key = key_of_row,
                                   .key_count = 1,
                                   .bucket_count = 3};
    fold_create(&options, &fold);
    return fold;
}

/* Adds count changes of a bucket with ids drawn below ids; text is long or null; first row is not wanted. */
static void add(struct fold *fold, int32_t bucket, uint32_t count, uint64_t ids, int64_t base_offset, size_t text_len)
{
    struct column_builder builders[2];
    struct column columns[2];
    struct arena arena = {0};
    uint8_t *kinds = arena_alloc(&arena, count + 1);
    char *text = arena_zalloc(&arena, text_len + 1);
    column_builder_init(&builders[0], &id_type);
    column_builder_init(&builders[1], &text_type);
    for (uint32_t i = 0; i < count + 1; i++) {
        struct datum id = {.i64 = (int64_t)draw(ids)}, value = {.bytes = slice_of(text, text_len)};
        value.is_null = i % 3 == 0;
        kinds[i] = (uint8_t)draw(4);
        MUST(column_builder_append(&builders[0], &id, &err));
        MUST(column_builder_append(&builders[1], &value, &err));
    }
    for (int c = 0; c < 2; c++)
        column_builder_view(&builders[c], &arena, &columns[c]);
    struct fold_rows rows = {.columns = columns,
                             .kinds = kinds,
                             .first = 1,
                             .end = count + 1,
                             .base_offset = base_offset - 1,
                             .timestamp_ms = base_offset * 2};
    MUST(fold_add(fold, bucket, &rows, &err));
    for (int c = 0; c < 2; c++)
        column_builder_deinit(&builders[c]);
    arena_deinit(&arena);
}

/* Reads all; every change of each bucket once, by bucket, id and position; offsets follow positions. */
static void check_all(struct fold *fold, const int64_t *counts)
{
    struct fold_change change;
    bool have;
    int64_t seen[3] = {0}, sum[3] = {0};
    int32_t bucket = 0;
    int64_t last_id = INT64_MIN, last_position = -1;
    for (;;) {
        MUST(fold_next(fold, &change, &have, &err));
        if (!have)
            break;
        int64_t id = (int32_t)load_u32(change.columns[0].data + 4 * (size_t)change.i);
        assert_true(change.change.fluss_bucket >= bucket);
        if (change.change.fluss_bucket > bucket)
            last_id = INT64_MIN;
        bucket = change.change.fluss_bucket;
        assert_true(id > last_id || (id == last_id && change.change.position > last_position));
        last_id = id;
        last_position = change.change.position;
        assert_true(change.change.offset >= change.change.position);
        assert_true(change.change.kind <= PAIMON_DELETE);
        seen[bucket]++;
        sum[bucket] += change.change.position;
    }
    for (int b = 0; b < 3; b++) {
        assert_int_equal(seen[b], counts[b]);
        assert_int_equal(sum[b], counts[b] * (counts[b] - 1) / 2);
    }
}

static bool exists(const char *dir)
{
    struct os_stat stat;
    return os_stat(os_real(), dir, &stat, NULL) == OK;
}

static void changes_come_by_bucket_key_and_arrival(void **test)
{
    (void)test;
    char dir[OS_PATH_MAX];
    snprintf(dir, sizeof dir, "%s/memory", test_dir());
    struct fold *fold = make_fold(dir, 16 << 20);
    for (int64_t n = 0; n < 40; n++) {
        add(fold, 2, 100, 500, n * 100, 10);
        add(fold, 0, 7, 5, n * 7, 10);
    }
    MUST(fold_sort(fold, &err));
    check_all(fold, (int64_t[]){280, 0, 4000});
    assert_int_equal(fold_spilled_bytes(fold), 0);
    fold_destroy(fold);
    assert_false(exists(dir));
}

static void nothing_added_gives_nothing(void **test)
{
    (void)test;
    struct fold *fold = make_fold(test_dir(), 1 << 20);
    MUST(fold_sort(fold, &err));
    check_all(fold, (int64_t[]){0, 0, 0});
    fold_destroy(fold);
    assert_true(exists(test_dir()));
}

static void more_than_fits_goes_through_files_and_leaves_none(void **test)
{
    (void)test;
    char dir[OS_PATH_MAX];
    snprintf(dir, sizeof dir, "%s/files", test_dir());
    struct fold *fold = make_fold(dir, FOLD_BYTES_MIN);
    for (int64_t n = 0; n < 300; n++) {
        add(fold, 1, 64, 900, n * 64, 100);
        add(fold, 0, 64, 900, n * 64, 100);
    }
    MUST(fold_sort(fold, &err));
    assert_true(fold_spilled_bytes(fold) > 0);
    assert_true(exists(dir));
    check_all(fold, (int64_t[]){19200, 19200, 0});
    fold_destroy(fold);
    assert_false(exists(dir));
}

static void more_runs_than_may_be_open_are_joined(void **test)
{
    (void)test;
    char dir[OS_PATH_MAX];
    snprintf(dir, sizeof dir, "%s/runs", test_dir());
    struct fold *fold = make_fold(dir, FOLD_BYTES_MIN);
    int64_t count = 0;
    for (; count < 70 * 192; count += 192)
        add(fold, 0, 192, 100000, count, 12000);
    MUST(fold_sort(fold, &err));
    check_all(fold, (int64_t[]){count, 0, 0});
    fold_destroy(fold);
}

static void a_directory_that_cannot_be_made_is_an_error(void **test)
{
    (void)test;
    char dir[OS_PATH_MAX];
    snprintf(dir, sizeof dir, "%s/file", test_dir());
    MUST(os_write_durable(os_real(), dir, SLICE("no directory"), &err));
    struct fold *fold = make_fold(dir, FOLD_BYTES_MIN);
    struct column_builder builders[2];
    struct column columns[2];
    struct arena arena = {0};
    column_builder_init(&builders[0], &id_type);
    column_builder_init(&builders[1], &text_type);
    for (int i = 0; i < 30000; i++) {
        MUST(column_builder_append(&builders[0], &(struct datum){.i64 = i}, &err));
        column_builder_append_null(&builders[1]);
    }
    for (int c = 0; c < 2; c++)
        column_builder_view(&builders[c], &arena, &columns[c]);
    struct fold_rows rows = {.columns = columns, .end = 30000};
    assert_int_not_equal(fold_add(fold, 0, &rows, &err), OK);
    fold_destroy(fold);
    for (int c = 0; c < 2; c++)
        column_builder_deinit(&builders[c]);
    arena_deinit(&arena);
}

TESTS("tier.fold", TEST(bytes_of_keys_sort_as_the_keys), TEST(changes_come_by_bucket_key_and_arrival),
      TEST(nothing_added_gives_nothing), TEST(more_than_fits_goes_through_files_and_leaves_none),
      TEST(more_runs_than_may_be_open_are_joined), TEST(a_directory_that_cannot_be_made_is_an_error))
