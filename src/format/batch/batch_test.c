#include "format/batch/batch.h"

#include "format/row/row.h"
#include "lib/test.h"

static const struct type t_int = {.kind = TYPE_INTEGER, .nullable = true};
static const struct type t_bytes = {.kind = TYPE_BYTES, .nullable = true};
static const struct type t_binary4 = {.kind = TYPE_BINARY, .nullable = true, .length = 4};
static const struct type t_huge = {.kind = TYPE_BINARY, .nullable = true, .length = ARROW_DECODED_BYTES_MAX + 1};
static const struct field fields[] = {{.type = &t_int}, {.type = &t_bytes}, {.type = &t_binary4}};
static const struct type row_of_three = {.kind = TYPE_ROW, .fields = fields, .field_count = 3};
static const struct field huge_fields[] = {{.type = &t_huge}};
static const struct type row_of_huge = {.kind = TYPE_ROW, .fields = huge_fields, .field_count = 1};

static const enum log_format formats[] = {LOG_FORMAT_ARROW, LOG_FORMAT_INDEXED, LOG_FORMAT_COMPACTED};

static void set_row(struct datum row[3], int64_t number, struct slice binary)
{
    row[0] = (struct datum){.i64 = number};
    row[1] = (struct datum){.bytes = SLICE("some bytes")};
    row[2] = (struct datum){.bytes = binary};
}

/* A changelog batch of count rows 0, 1, ...; change types go round. */
static void build(enum log_format format, enum log_batch_layout layout, uint32_t count, struct buf *out)
{
    struct err err;
    struct arrow_codec codec = {0};
    struct log_batch_options options = {.format = format, .layout = layout, .schema_id = 7};
    struct log_batch_builder builder;
    struct datum row[3];
    log_batch_builder_init(&builder, &options, &row_of_three);
    for (uint32_t i = 0; i < count; i++) {
        set_row(row, i, SLICE("abc\0"));
        MUST(log_batch_builder_append(&builder, (enum change_type)(i % CHANGE_TYPE_COUNT), row, &err));
    }
    log_batch_builder_finish(&builder, &codec, 42, 3, out);
    log_batch_builder_deinit(&builder);
    arrow_codec_deinit(&codec);
}

static enum err_code decode(enum log_format format, const struct type *type, const struct log_batch *batch,
                            struct arena *arena, struct log_batch_rows *rows)
{
    struct arrow_codec codec = {0};
    enum err_code code = log_batch_decode(&codec, batch, format, type, arena, rows, NULL);
    arrow_codec_deinit(&codec);
    return code;
}

static void every_format_gives_its_rows_back(void **state)
{
    (void)state;
    struct err err;
    for (size_t f = 0; f < ARRAY_LEN(formats); f++) {
        struct buf out = {0};
        struct arena arena = {0};
        struct log_batch batch;
        struct log_batch_rows rows;
        struct datum got;
        build(formats[f], LOG_BATCH_V0, 12, &out);
        log_batch_stamp(out.ptr, LOG_BATCH_V0, 1000, 5, -1);
        MUST(log_batch_check(buf_view(&out), &batch, &err));
        assert_int_equal(log_batch_next_offset(&batch), 1012);
        assert_int_equal(batch.writer_id, 42);
        assert_int_equal(batch.batch_sequence, 3);
        assert_int_equal(batch.schema_id, 7);
        assert_int_equal(decode(formats[f], &row_of_three, &batch, &arena, &rows), OK);
        assert_int_equal(rows.count, 12);
        for (uint32_t i = 0; i < rows.count; i++) {
            assert_int_equal(log_batch_change(&rows, i), i % CHANGE_TYPE_COUNT);
            column_get(&rows.columns[0], i, &arena, &got);
            assert_int_equal(got.i64, i);
            column_get(&rows.columns[2], i, &arena, &got);
            assert_slice_equal(got.bytes, SLICE("abc\0")); /* INDEXED loses the zero, a column has it */
        }
        buf_deinit(&out);
        arena_deinit(&arena);
    }
}

/* An array whose elements are rows of an array and a map, with as many of each as asked; every third part is null. */
static const struct field int_element[] = {{.type = &t_int}};
static const struct type t_ints = {.kind = TYPE_ARRAY, .nullable = true, .fields = int_element, .field_count = 1};
static const struct type t_key = {.kind = TYPE_INTEGER};
static const struct field map_parts[] = {{.type = &t_key}, {.type = &t_bytes}};
static const struct type t_map = {.kind = TYPE_MAP, .nullable = true, .fields = map_parts, .field_count = 2};
static const struct field inner_fields[] = {{.type = &t_ints}, {.type = &t_map}};
static const struct type t_inner = {.kind = TYPE_ROW, .nullable = true, .fields = inner_fields, .field_count = 2};
static const struct field row_element[] = {{.type = &t_inner}};
static const struct type t_rows = {.kind = TYPE_ARRAY, .nullable = true, .fields = row_element, .field_count = 1};
static const struct field nested_fields[] = {{.type = &t_ints}, {.type = &t_rows}, {.type = &t_map}};
static const struct type row_of_nested = {.kind = TYPE_ROW, .fields = nested_fields, .field_count = 3};

static struct datum nested_value(struct arena *arena, const struct type *type, uint32_t count, uint32_t seed)
{
    if (seed % 3 == 2)
        return (struct datum){.is_null = true};
    if (type->kind == TYPE_INTEGER)
        return (struct datum){.i64 = (int64_t)seed};
    if (type->kind == TYPE_BYTES)
        return (struct datum){.bytes = arena_printf(arena, "%*u", (int)(seed % 7), seed)};
    struct datum value = {0}, *items = ARENA_NEW_ARRAY(arena, struct datum, 2 * (size_t)count + 2);
    uint32_t len = type->kind == TYPE_ROW ? type->field_count : count;
    for (uint32_t i = 0; i < len; i++)
        items[i] = type->kind == TYPE_MAP
                       ? (struct datum){.i64 = i}
                       : nested_value(arena, type->fields[type->kind == TYPE_ROW ? i : 0].type, count / 100, seed + i);
    for (uint32_t i = 0; type->kind == TYPE_MAP && i < len; i++)
        items[len + i] = nested_value(arena, type->fields[1].type, 0, seed + i);
    if (type->kind == TYPE_MAP)
        value.map.keys = items, value.map.values = items + len, value.map.count = len;
    else
        value.list.items = items, value.list.count = len;
    return value;
}

/* Pain 106: arrays longer than the room that was made for them at first, empty ones, nulls at each depth. */
static void long_empty_and_null_nested_values_come_back(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 9, 1000, 70000, 0, 3};
    struct err err;
    for (size_t f = 0; f < ARRAY_LEN(formats); f++) {
        struct arena arena = {0};
        struct arrow_codec codec = {0};
        struct log_batch_options options = {.format = formats[f], .schema_id = 1, .arrow = {ARROW_ZSTD, 3}};
        struct log_batch_builder builder;
        struct buf out = {0};
        struct log_batch batch;
        struct log_batch_rows rows;
        struct datum sent[ARRAY_LEN(counts)][3];
        log_batch_builder_init(&builder, &options, &row_of_nested);
        for (uint32_t i = 0; i < ARRAY_LEN(counts); i++) {
            for (uint32_t c = 0; c < 3; c++)
                sent[i][c] = nested_value(&arena, nested_fields[c].type, counts[i], i + c);
            MUST(log_batch_builder_append(&builder, CHANGE_INSERT, sent[i], &err));
        }
        log_batch_builder_finish(&builder, &codec, -1, -1, &out);
        MUST(log_batch_check(buf_view(&out), &batch, &err));
        MUST(decode(formats[f], &row_of_nested, &batch, &arena, &rows));
        for (uint32_t i = 0; i < ARRAY_LEN(counts); i++)
            for (uint32_t c = 0; c < 3; c++) {
                struct datum got;
                column_get(&rows.columns[c], i, &arena, &got);
                assert_true(datum_equal(nested_fields[c].type, &got, &sent[i][c]));
            }
        log_batch_builder_deinit(&builder);
        arrow_codec_deinit(&codec);
        buf_deinit(&out);
        arena_deinit(&arena);
    }
}

static void a_batch_without_rows_is_a_header_and_takes_one_offset(void **state)
{
    (void)state;
    struct err err;
    struct buf out = {0};
    struct arena arena = {0};
    struct log_batch batch;
    struct log_batch_rows rows;
    build(LOG_FORMAT_ARROW, LOG_BATCH_V0, 0, &out);
    assert_int_equal(out.len, LOG_BATCH_HEADER_BYTES);
    MUST(log_batch_check(buf_view(&out), &batch, &err));
    assert_int_equal(log_batch_next_offset(&batch), 1);
    assert_int_equal(decode(LOG_FORMAT_ARROW, &row_of_three, &batch, &arena, &rows), OK);
    assert_int_equal(rows.count, 0);
    assert_int_equal(rows.columns[1].length, 0);
    buf_deinit(&out);
    arena_deinit(&arena);
}

static void a_refused_row_leaves_the_builder_as_it_was(void **state)
{
    (void)state;
    struct err err;
    for (size_t f = 0; f < 2; f++) { /* COMPACTED refuses no value */
        struct arrow_codec codec = {0};
        struct log_batch_options options = {.format = formats[f], .append_only = true};
        struct log_batch_builder builder;
        struct datum good[3], bad[3];
        struct buf out = {0};
        struct log_batch batch;
        set_row(good, 1, SLICE("abcd"));
        set_row(bad, 2, SLICE("abcdef"));
        log_batch_builder_init(&builder, &options, &row_of_three);
        MUST(log_batch_builder_append(&builder, CHANGE_APPEND, good, &err));
        size_t bytes = log_batch_builder_bytes(&builder);
        MUST_FAIL(ERR_INVALID_ARGUMENT, log_batch_builder_append(&builder, CHANGE_APPEND, bad, NULL));
        assert_int_equal(log_batch_builder_bytes(&builder), bytes);
        log_batch_builder_finish(&builder, &codec, -1, -1, &out);
        MUST(log_batch_check(buf_view(&out), &batch, &err));
        assert_int_equal(batch.record_count, 1);
        log_batch_builder_deinit(&builder);
        arrow_codec_deinit(&codec);
        buf_deinit(&out);
    }
}

static void rows_taken_from_columns_make_the_same_batch(void **state)
{
    (void)state;
    struct err err;
    struct buf arrow = {0};
    struct arena arena = {0};
    struct log_batch batch;
    struct log_batch_rows rows;
    build(LOG_FORMAT_ARROW, LOG_BATCH_V0, 12, &arrow);
    MUST(log_batch_read(buf_view(&arrow), &batch, &err));
    assert_int_equal(decode(LOG_FORMAT_ARROW, &row_of_three, &batch, &arena, &rows), OK);
    for (size_t f = 0; f < ARRAY_LEN(formats); f++) {
        struct arrow_codec codec = {0};
        struct log_batch_options options = {.format = formats[f], .schema_id = 7};
        struct log_batch_builder builder;
        struct buf out = {0}, want = {0};
        log_batch_builder_init(&builder, &options, &row_of_three);
        for (uint32_t i = 0; i < rows.count; i++)
            MUST(log_batch_builder_append_from(&builder, log_batch_change(&rows, i), rows.columns, i, &err));
        log_batch_builder_finish(&builder, &codec, 42, 3, &out);
        build(formats[f], LOG_BATCH_V0, 12, &want);
        assert_slice_equal(buf_view(&out), buf_view(&want));
        log_batch_builder_deinit(&builder);
        arrow_codec_deinit(&codec);
        buf_deinit(&out);
        buf_deinit(&want);
    }
    buf_deinit(&arrow);
    arena_deinit(&arena);
}

static void a_builder_stops_at_its_limit(void **state)
{
    (void)state;
    struct err err;
    struct log_batch_options options = {.format = LOG_FORMAT_ARROW, .append_only = true};
    struct log_batch_builder builder;
    struct datum row[3];
    struct buf half = {0};
    buf_put_zeros(&half, BATCH_BYTES_MAX / 2);
    set_row(row, 1, SLICE("abcd"));
    row[1].bytes = buf_view(&half);
    log_batch_builder_init(&builder, &options, &row_of_three);
    MUST(log_batch_builder_append(&builder, CHANGE_APPEND, row, &err));
    MUST_FAIL(ERR_LIMIT, log_batch_builder_append(&builder, CHANGE_APPEND, row, NULL));
    assert_int_equal(builder.count, 1);
    assert_int_equal(builder.columns[0].length, 1);
    log_batch_builder_deinit(&builder);
    buf_deinit(&half);
}

static void a_kv_builder_stops_at_its_limit(void **state)
{
    (void)state;
    struct kv_batch_builder builder;
    kv_batch_builder_init(&builder, 1);
    struct slice too_long = {(const uint8_t *)"", BATCH_BYTES_MAX - 30}; /* refused before it is read */
    MUST_FAIL(ERR_LIMIT, kv_batch_builder_put(&builder, SLICE("k"), too_long, NULL));
    MUST_FAIL(ERR_LIMIT, kv_batch_builder_delete(&builder, slice_of("", SIZE_MAX), NULL));
    assert_int_equal(builder.count, 0);
    kv_batch_builder_deinit(&builder);
}

static void a_length_that_no_batch_has_is_refused(void **state)
{
    (void)state;
    static const int32_t lengths[] = {-1, INT32_MIN, 0, 35, BATCH_BYTES_MAX - 11, INT32_MAX};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        uint8_t bytes[64] = {0};
        struct slice rest = slice_of(bytes, sizeof bytes), batch;
        struct log_batch read;
        store_u32(bytes + 8, (uint32_t)lengths[i]);
        MUST_FAIL(ERR_CORRUPT_RECORD_EXCEPTION, log_batch_next(&rest, &batch, NULL));
        MUST_FAIL(ERR_CORRUPT_RECORD_EXCEPTION, log_batch_check(rest, &read, NULL));
    }
}

static void headers_that_contradict_themselves_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
    } cases[] = {
        {12, 3},  /* magic 3 */
        {28, 11}, /* last offset delta of 13 records */
        {28, 0},  /* of one */
        {44, 0},  /* no records but a body */
        {44, 13}, /* more records than the delta says */
        {44, (uint32_t)-1},
    };
    struct buf out = {0};
    struct log_batch batch;
    build(LOG_FORMAT_ARROW, LOG_BATCH_V0, 13, &out);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint32_t was = load_u32(out.ptr + cases[i].at);
        store_u32(out.ptr + cases[i].at, cases[i].value);
        if (was != cases[i].value)
            MUST_FAIL(ERR_CORRUPT_RECORD_EXCEPTION, log_batch_read(buf_view(&out), &batch, NULL));
        store_u32(out.ptr + cases[i].at, was);
    }
    buf_put_u8(&out, 0);
    MUST_FAIL(ERR_CORRUPT_RECORD_EXCEPTION, log_batch_check(buf_view(&out), &batch, NULL));
    buf_deinit(&out);
}

/* A batch of the kind with a leader epoch whose bytes, read as the kind with statistics, have counts that agree too. */
static void the_checksum_decides_between_the_kinds_of_magic_1(void **state)
{
    (void)state;
    struct err err;
    struct arrow_codec codec = {0};
    struct buf out = {0};
    struct log_batch batch;
    bool found = false;
    for (int32_t schema_id = 1; schema_id < 100 && !found; schema_id++)
        for (int32_t low = 0; low < 256 && !found; low++) {
            struct log_batch_options options = {.layout = LOG_BATCH_V1_EPOCH, .schema_id = (int16_t)schema_id};
            struct log_batch_builder builder;
            buf_reset(&out);
            log_batch_builder_init(&builder, &options, &row_of_three);
            log_batch_builder_finish(&builder, &codec, 1, (schema_id << 8 | low) + 1, &out);
            log_batch_builder_deinit(&builder);
            found = load_u32(out.ptr + 28) + 1 == load_u32(out.ptr + 44);
        }
    assert_true(found);
    MUST(log_batch_check(buf_view(&out), &batch, &err));
    assert_int_equal(batch.layout, LOG_BATCH_V1_EPOCH);
    buf_deinit(&out);
    arrow_codec_deinit(&codec);
}

static void unknown_change_types_are_refused(void **state)
{
    (void)state;
    struct err err;
    for (size_t f = 0; f < ARRAY_LEN(formats); f++) {
        struct buf out = {0};
        struct arena arena = {0};
        struct log_batch batch;
        struct log_batch_rows rows;
        build(formats[f], LOG_BATCH_V0, 3, &out);
        MUST(log_batch_read(buf_view(&out), &batch, &err));
        out.ptr[batch.body_offset + (formats[f] == LOG_FORMAT_ARROW ? 0 : 4)] = CHANGE_TYPE_COUNT;
        assert_int_equal(decode(formats[f], &row_of_three, &batch, &arena, &rows), ERR_CORRUPT);
        buf_deinit(&out);
        arena_deinit(&arena);
    }
}

static void a_body_of_another_count_is_refused(void **state)
{
    (void)state;
    struct err err;
    for (size_t f = 0; f < ARRAY_LEN(formats); f++) {
        struct buf out = {0};
        struct arena arena = {0};
        struct log_batch batch;
        struct log_batch_rows rows;
        build(formats[f], LOG_BATCH_V0, 8, &out);
        MUST(log_batch_read(buf_view(&out), &batch, &err));
        for (uint32_t count = 1; count < 20; count++) {
            batch.record_count = count;
            enum err_code want = count == 8 ? OK : ERR_CORRUPT;
            assert_int_equal(decode(formats[f], &row_of_three, &batch, &arena, &rows), want);
        }
        buf_deinit(&out);
        arena_deinit(&arena);
    }
}

static void rows_that_unfold_beyond_the_limit_are_refused(void **state)
{
    (void)state;
    struct err err;
    struct arrow_codec codec = {0};
    struct arena arena = {0};
    struct buf out = {0};
    struct log_batch_options options = {.format = LOG_FORMAT_COMPACTED};
    struct log_batch_builder builder;
    struct log_batch batch;
    struct log_batch_rows rows;
    struct datum null = {.is_null = true};
    log_batch_builder_init(&builder, &options, &row_of_huge);
    MUST(log_batch_builder_append(&builder, CHANGE_INSERT, &null, &err));
    log_batch_builder_finish(&builder, &codec, -1, -1, &out);
    MUST(log_batch_check(buf_view(&out), &batch, &err));
    assert_int_equal(decode(LOG_FORMAT_COMPACTED, &row_of_huge, &batch, &arena, &rows), ERR_LIMIT);
    log_batch_builder_deinit(&builder);
    arrow_codec_deinit(&codec);
    buf_deinit(&out);
    arena_deinit(&arena);
}

static void wrong_projections_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t selected[3];
        uint32_t count;
    } cases[] = {{{0}, 0}, {{3}, 1}, {{1, 0}, 2}, {{1, 1}, 2}, {{0, 1, UINT32_MAX}, 3}};
    struct buf batch = {0}, out = {0};
    arrow_ranges ranges = {0};
    build(LOG_FORMAT_ARROW, LOG_BATCH_V0, 8, &batch);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arrow_selection selection = {&row_of_three, cases[i].selected, cases[i].count};
        MUST_FAIL(ERR_INVALID_COLUMN_PROJECTION,
                  log_batch_project(buf_view(&batch), &row_of_three, &selection, &out, &ranges, NULL));
    }
    assert_int_equal(out.len, 0);
    assert_int_equal(ranges.len, 0);
    buf_deinit(&batch);
}

/* With fewer bytes than log_batch_head_bytes says nothing is projected, and nothing is left in out. */
static void a_head_that_is_cut_off_is_not_projected(void **state)
{
    (void)state;
    struct err err;
    struct buf batch = {0}, out = {0};
    arrow_ranges ranges = {0};
    size_t need;
    uint32_t selected = 1;
    struct arrow_selection selection = {&row_of_three, &selected, 1};
    build(LOG_FORMAT_ARROW, LOG_BATCH_V0, 8, &batch);
    MUST(log_batch_head_bytes(buf_view(&batch), &need, &err));
    assert_true(need < batch.len);
    for (size_t len = 0; len <= need; len++) {
        enum err_code code =
            log_batch_project(slice_of(batch.ptr, len), &row_of_three, &selection, &out, &ranges, NULL);
        assert_int_equal(code == OK, len == need);
        assert_int_equal(out.len == 0, len != need);
    }
    vec_deinit(&ranges);
    buf_deinit(&batch);
    buf_deinit(&out);
}

TESTS("batch", TEST(every_format_gives_its_rows_back), TEST(long_empty_and_null_nested_values_come_back),
      TEST(a_batch_without_rows_is_a_header_and_takes_one_offset), TEST(a_refused_row_leaves_the_builder_as_it_was),
      TEST(rows_taken_from_columns_make_the_same_batch), TEST(a_builder_stops_at_its_limit),
      TEST(a_kv_builder_stops_at_its_limit), TEST(a_length_that_no_batch_has_is_refused),
      TEST(headers_that_contradict_themselves_are_refused), TEST(the_checksum_decides_between_the_kinds_of_magic_1),
      TEST(unknown_change_types_are_refused), TEST(a_body_of_another_count_is_refused),
      TEST(rows_that_unfold_beyond_the_limit_are_refused), TEST(wrong_projections_are_refused),
      TEST(a_head_that_is_cut_off_is_not_projected))
