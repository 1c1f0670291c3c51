#include "format/arrow/arrow.h"
#include "lib/test.h"

#define ROWS 1000

static const struct type t_int = {.kind = TYPE_INTEGER, .nullable = true};
static const struct type t_bool = {.kind = TYPE_BOOLEAN, .nullable = true};
static const struct type t_string = {.kind = TYPE_STRING, .nullable = true};
static const struct type t_decimal = {.kind = TYPE_DECIMAL, .nullable = true, .precision = 38, .scale = 2};
static const struct field element = {.type = &t_string};
static const struct type t_array = {.kind = TYPE_ARRAY, .nullable = true, .fields = &element, .field_count = 1};
static const struct field map_fields[] = {{.type = &t_string}, {.type = &t_int}};
static const struct type t_map = {.kind = TYPE_MAP, .nullable = true, .fields = map_fields, .field_count = 2};
static const struct field row_fields[] = {{.type = &t_bool}, {.type = &t_map}};
static const struct type t_row = {.kind = TYPE_ROW, .nullable = true, .fields = row_fields, .field_count = 2};
static const struct field fields[] = {{.type = &t_int},     {.type = &t_bool},  {.type = &t_string},
                                      {.type = &t_decimal}, {.type = &t_array}, {.type = &t_row}};
#define TYPE_COUNT ARRAY_LEN(fields)
static const struct type row = {.kind = TYPE_ROW, .fields = fields, .field_count = TYPE_COUNT};

static const struct arrow_options codecs[] = {{ARROW_NONE, 0}, {ARROW_LZ4_FRAME, 0}, {ARROW_ZSTD, 3}};

static enum { SOME_NULLS, NO_NULLS, ALL_NULLS } nulls; /* of the values that are made; a test puts it back */

static bool is_made_null(uint32_t i, uint32_t depth)
{
    return nulls == SOME_NULLS ? (i + depth) % 5 == 3 : nulls == ALL_NULLS;
}

/* A value made from the row's number; null where the number says so. */
static struct datum made(struct arena *arena, const struct type *type, uint32_t i, uint32_t depth)
{
    struct datum d = {.is_null = is_made_null(i, depth)};
    struct datum *parts = d.is_null ? NULL : ARENA_NEW_ARRAY(arena, struct datum, 8);
    if (d.is_null)
        return d;
    uint32_t count = type->kind == TYPE_ROW ? type->field_count : i % 4;
    for (uint32_t f = 0; type->field_count && f < count; f++) {
        parts[f] = made(arena, type->fields[type->kind == TYPE_ROW ? f : 0].type, i + f, depth + 1);
        if (type->kind == TYPE_MAP)
            parts[f + 4] = made(arena, type->fields[1].type, i + f, depth + 1);
    }
    if (type->kind == TYPE_STRING)
        d.bytes = arena_printf(arena, "%*u", (int)(i % 20), i);
    else if (type->kind == TYPE_MAP)
        d.map.keys = parts, d.map.values = parts + 4, d.map.count = count;
    else if (type->field_count)
        d.list.items = parts, d.list.count = count;
    else if (type->kind == TYPE_DECIMAL)
        d.decimal = (__int128)i << 70;
    else if (type->kind == TYPE_BOOLEAN)
        d.boolean = i & 1;
    else
        d.i64 = (int32_t)(i * 2654435761u);
    return d;
}

static void assert_same(const struct type *type, const struct datum *a, const struct datum *b)
{
    assert_int_equal(a->is_null, b->is_null);
    if (a->is_null)
        return;
    if (type->kind == TYPE_STRING) {
        assert_slice_equal(a->bytes, b->bytes);
    } else if (type->kind == TYPE_MAP) {
        assert_int_equal(a->map.count, b->map.count);
        for (uint32_t i = 0; i < a->map.count; i++) {
            assert_same(type->fields[0].type, &a->map.keys[i], &b->map.keys[i]);
            assert_same(type->fields[1].type, &a->map.values[i], &b->map.values[i]);
        }
    } else if (type->field_count) {
        assert_int_equal(a->list.count, b->list.count);
        for (uint32_t i = 0; i < a->list.count; i++)
            assert_same(type->fields[type->kind == TYPE_ROW ? i : 0].type, &a->list.items[i], &b->list.items[i]);
    } else if (type->kind == TYPE_DECIMAL) {
        assert_true(a->decimal == b->decimal);
    } else if (type->kind == TYPE_BOOLEAN) {
        assert_int_equal(a->boolean, b->boolean);
    } else {
        assert_int_equal(a->i64, b->i64);
    }
}

static void encode(struct arrow_codec *codec, struct arrow_options options, uint32_t rows, struct buf *out)
{
    struct err err;
    struct arena arena = {0};
    struct column columns[TYPE_COUNT];
    struct column_builder builders[TYPE_COUNT];
    for (size_t t = 0; t < TYPE_COUNT; t++) {
        column_builder_init(&builders[t], fields[t].type);
        for (uint32_t i = 0; i < rows; i++) {
            struct datum value = made(&arena, fields[t].type, i, 0);
            MUST(column_builder_append(&builders[t], &value, &err));
        }
        column_builder_view(&builders[t], &arena, &columns[t]);
    }
    arrow_encode(codec, options, columns, TYPE_COUNT, rows, out);
    for (size_t t = 0; t < TYPE_COUNT; t++)
        column_builder_deinit(&builders[t]);
    arena_deinit(&arena);
}

static void assert_columns(struct arrow_codec *codec, struct slice message, const uint32_t *selected, uint32_t count,
                           uint32_t rows)
{
    struct err err;
    struct arena arena = {0};
    struct column columns[TYPE_COUNT];
    struct field kept[TYPE_COUNT];
    for (uint32_t c = 0; c < count; c++)
        kept[c] = fields[selected[c]];
    struct type type = {.kind = TYPE_ROW, .fields = kept, .field_count = count};
    uint32_t row_count;
    MUST(arrow_decode(codec, message, &type, &arena, columns, &row_count, &err));
    assert_int_equal(row_count, rows);
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < rows; i++) {
            struct datum got, want = made(&arena, kept[c].type, i, 0);
            column_get(&columns[c], i, &arena, &got);
            assert_same(kept[c].type, &got, &want);
        }
    arena_deinit(&arena);
}

static const uint32_t all[] = {0, 1, 2, 3, 4, 5};
static const struct arrow_selection everything = {&row, all, TYPE_COUNT};

static void what_is_encoded_decodes_with_every_codec(void **state)
{
    (void)state;
    struct arrow_codec codec = {0};
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++)
        for (uint32_t rows = 0; rows <= ROWS; rows += rows < 20 ? 1 : 490) {
            struct buf out = {0};
            encode(&codec, codecs[i], rows, &out);
            assert_int_equal(out.len % 8, 0);
            assert_columns(&codec, buf_view(&out), all, TYPE_COUNT, rows);
            buf_deinit(&out);
        }
    arrow_codec_deinit(&codec);
}

/* The new head, then the ranges: what a server sends. */
static void gather(struct slice message, struct buf *head, const arrow_ranges *ranges)
{
    for (size_t i = 0; i < ranges->len; i++)
        buf_put(head, message.ptr + ranges->ptr[i].offset, ranges->ptr[i].len);
}

static void a_projection_holds_the_asked_columns(void **state)
{
    (void)state;
    static const struct {
        uint32_t selected[TYPE_COUNT];
        uint32_t count;
        size_t ranges;
    } cases[] = {{{0}, 1, 1}, {{5}, 1, 1}, {{0, 1, 2}, 3, 1}, {{1, 4, 5}, 3, 2}, {{0, 1, 2, 3, 4, 5}, 6, 1},
                 {{0}, 0, 0}};
    struct err err;
    struct arrow_codec codec = {0};
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++)
        for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
            struct buf message = {0}, out = {0};
            arrow_ranges ranges = {0};
            size_t head_bytes;
            encode(&codec, codecs[i], 100, &message);
            MUST(arrow_head_bytes(slice_of(message.ptr, ARROW_PREFIX_BYTES), &head_bytes, &err));
            struct arrow_selection selection = {&row, cases[k].selected, cases[k].count};
            MUST(arrow_project(slice_of(message.ptr, head_bytes), message.len, &row, &selection, &out, &ranges, &err));
            assert_int_equal(ranges.len, cases[k].ranges);
            gather(buf_view(&message), &out, &ranges);
            assert_columns(&codec, buf_view(&out), cases[k].selected, cases[k].count, 100);
            buf_deinit(&message);
            buf_deinit(&out);
            vec_deinit(&ranges);
        }
    arrow_codec_deinit(&codec);
}

static void assert_projection(struct arrow_codec *codec, struct slice message, uint32_t subset, uint32_t rows)
{
    struct err err;
    struct buf out = {0};
    arrow_ranges ranges = {0};
    uint32_t selected[TYPE_COUNT], count = 0;
    size_t head_bytes;
    for (uint32_t c = 0; c < TYPE_COUNT; c++)
        if (subset >> c & 1)
            selected[count++] = c;
    MUST(arrow_head_bytes(slice_of(message.ptr, ARROW_PREFIX_BYTES), &head_bytes, &err));
    struct arrow_selection selection = {&row, selected, count};
    MUST(arrow_project(slice_of(message.ptr, head_bytes), message.len, &row, &selection, &out, &ranges, &err));
    gather(message, &out, &ranges);
    assert_columns(codec, buf_view(&out), selected, count, rows);
    buf_deinit(&out);
    vec_deinit(&ranges);
}

/* Pain 105: compressed bodies that can't be decoded, projections that break with compression. Where validity and bits
 * end within, at and behind a word. */
static void every_codec_and_level_with_every_projection(void **state)
{
    (void)state;
    static const struct arrow_options options[] = {{ARROW_NONE, 0}, {ARROW_LZ4_FRAME, 0}, {ARROW_ZSTD, 1},
                                                   {ARROW_ZSTD, 3}, {ARROW_ZSTD, 19},     {ARROW_ZSTD, 22}};
    static const uint32_t sizes[] = {0, 1, 63, 64, 65};
    struct arrow_codec codec = {0};
    for (nulls = SOME_NULLS; nulls <= ALL_NULLS; nulls++)
        for (size_t i = 0; i < ARRAY_LEN(options); i++)
            for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
                struct buf message = {0};
                encode(&codec, options[i], sizes[k], &message);
                for (uint32_t subset = 1; subset < 1u << TYPE_COUNT; subset += i == 1 || i == 3 ? 1 : 23)
                    assert_projection(&codec, buf_view(&message), subset, sizes[k]);
                buf_deinit(&message);
            }
    nulls = SOME_NULLS;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct buf message = {0};
        encode(&codec, codecs[i], 10000, &message);
        assert_projection(&codec, buf_view(&message), i % 2 ? 0x12 : 0x05, 10000);
        buf_deinit(&message);
    }
    arrow_codec_deinit(&codec);
}

static void a_projection_of_all_columns_is_the_same_message(void **state)
{
    (void)state;
    struct err err;
    struct arrow_codec codec = {0};
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct buf message = {0}, out = {0};
        arrow_ranges ranges = {0};
        encode(&codec, codecs[i], 50, &message);
        MUST(arrow_project(buf_view(&message), message.len, &row, &everything, &out, &ranges, &err));
        gather(buf_view(&message), &out, &ranges);
        assert_slice_equal(buf_view(&out), buf_view(&message));
        buf_deinit(&message);
        buf_deinit(&out);
        vec_deinit(&ranges);
    }
    arrow_codec_deinit(&codec);
}

/* The row's columns, and behind them one more of each type, which no message has. */
static void assert_added_columns(struct arrow_codec *codec, struct slice message, const struct field *wider,
                                 const uint32_t *selected, uint32_t count, uint32_t rows)
{
    struct err err;
    struct arena arena = {0};
    struct column columns[2 * TYPE_COUNT];
    struct field kept[2 * TYPE_COUNT];
    uint32_t row_count;
    for (uint32_t c = 0; c < count; c++)
        kept[c] = wider[selected[c]];
    struct type type = {.kind = TYPE_ROW, .fields = kept, .field_count = count};
    MUST(arrow_decode(codec, message, &type, &arena, columns, &row_count, &err));
    assert_int_equal(row_count, rows);
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < rows; i++) {
            struct datum got, want = {.is_null = true};
            if (selected[c] < TYPE_COUNT)
                want = made(&arena, kept[c].type, i, 0);
            column_get(&columns[c], i, &arena, &got);
            assert_same(kept[c].type, &got, &want);
        }
    arena_deinit(&arena);
}

static void columns_that_a_message_lacks_are_null(void **state)
{
    (void)state;
    static const struct {
        uint32_t selected[2 * TYPE_COUNT];
        uint32_t count;
    } cases[] = {{{6}, 1},
                 {{7}, 1},
                 {{8}, 1},
                 {{9}, 1},
                 {{10}, 1},
                 {{11}, 1},
                 {{0, 6}, 2},
                 {{5, 11}, 2},
                 {{1, 4, 8, 9, 10}, 5},
                 {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 12}};
    struct field wider[2 * TYPE_COUNT];
    struct type wide = {.kind = TYPE_ROW, .fields = wider, .field_count = 2 * TYPE_COUNT};
    struct err err;
    struct arrow_codec codec = {0};
    for (size_t t = 0; t < 2 * TYPE_COUNT; t++)
        wider[t] = fields[t % TYPE_COUNT];
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++)
        for (size_t k = 0; k < ARRAY_LEN(cases); k++)
            for (uint32_t rows = 1; rows < 200; rows += rows < 10 ? 1 : 61) {
                struct buf message = {0}, out = {0};
                arrow_ranges ranges = {0};
                struct arrow_selection selection = {&wide, cases[k].selected, cases[k].count};
                encode(&codec, codecs[i], rows, &message);
                MUST(arrow_project(buf_view(&message), message.len, &row, &selection, &out, &ranges, &err));
                gather(buf_view(&message), &out, &ranges);
                assert_added_columns(&codec, buf_view(&out), wider, cases[k].selected, cases[k].count, rows);
                buf_deinit(&message);
                buf_deinit(&out);
                vec_deinit(&ranges);
            }
    arrow_codec_deinit(&codec);
}

/* A message may tell of any number of rows: nothing is made for more than it may have. */
static void rows_without_end_get_no_columns_of_nulls(void **state)
{
    (void)state;
    static const struct type none = {.kind = TYPE_ROW};
    static const uint32_t first = 0;
    struct arrow_selection selection = {&row, &first, 1};
    struct arrow_codec codec = {0};
    static const uint32_t counts[] = {ARROW_NULLS_BYTES_MAX / 4, ARROW_NULLS_BYTES_MAX / 4 + 1, UINT32_MAX};
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct buf message = {0}, out = {0};
        arrow_ranges ranges = {0};
        arrow_encode(&codec, codecs[0], NULL, 0, counts[i], &message);
        enum err_code code = arrow_project(buf_view(&message), message.len, &none, &selection, &out, &ranges, NULL);
        assert_int_equal(code, i ? ERR_LIMIT : OK);
        assert_int_equal(out.len > 0, i == 0);
        buf_deinit(&message);
        buf_deinit(&out);
        vec_deinit(&ranges);
    }
    arrow_codec_deinit(&codec);
}

static enum err_code decode(struct arrow_codec *codec, struct slice message, const struct type *type)
{
    struct arena arena = {0};
    struct column columns[TYPE_COUNT];
    uint32_t rows;
    enum err_code code = arrow_decode(codec, message, type, &arena, columns, &rows, NULL);
    arena_deinit(&arena);
    return code;
}

static void every_cut_off_prefix_is_refused(void **state)
{
    (void)state;
    struct arrow_codec codec = {0};
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        struct buf message = {0}, out = {0};
        arrow_ranges ranges = {0};
        encode(&codec, codecs[i], 30, &message);
        for (size_t cut = 0; cut < message.len; cut++) {
            struct slice part = slice_of(message.ptr, cut);
            MUST_FAIL(ERR_CORRUPT, decode(&codec, part, &row));
            MUST_FAIL(ERR_CORRUPT, arrow_project(part, cut, &row, &everything, &out, &ranges, NULL));
        }
        assert_int_equal(out.len, 0);
        assert_int_equal(ranges.len, 0);
        buf_deinit(&message);
        buf_deinit(&out);
    }
    arrow_codec_deinit(&codec);
}

static void a_message_of_other_columns_is_refused(void **state)
{
    (void)state;
    struct arrow_codec codec = {0};
    struct buf message = {0};
    struct type fewer = row, other = row;
    struct field swapped[TYPE_COUNT];
    memcpy(swapped, fields, sizeof fields);
    swapped[4] = fields[5];
    swapped[5] = fields[4];
    fewer.field_count--;
    other.fields = swapped;
    encode(&codec, codecs[0], 30, &message);
    MUST_FAIL(ERR_CORRUPT, decode(&codec, buf_view(&message), &fewer));
    MUST_FAIL(ERR_CORRUPT, decode(&codec, buf_view(&message), &other));
    buf_deinit(&message);
    arrow_codec_deinit(&codec);
}

/* One INT column of one value, compressed: one buffer that says it holds len bytes. */
static enum err_code decode_claim(enum arrow_compression compression, uint64_t rows, uint64_t claim)
{
    struct arrow_codec codec = {0};
    struct arena arena = {0};
    struct buf message = {0};
    struct column column;
    static const struct type one = {.kind = TYPE_ROW, .fields = fields, .field_count = 1};
    column_nulls(&arena, &t_int, 1000, &column);
    arrow_encode(&codec, (struct arrow_options){compression, 3}, &column, 1, 1000, &message);
    size_t head_bytes;
    assert_int_equal(arrow_head_bytes(slice_of(message.ptr, ARROW_PREFIX_BYTES), &head_bytes, NULL), OK);
    store_u64(message.ptr + ARROW_PREFIX_BYTES + 72, rows);
    if (claim)
        store_u64(message.ptr + head_bytes, claim);
    enum err_code code = decode(&codec, buf_view(&message), &one);
    buf_deinit(&message);
    arena_deinit(&arena);
    arrow_codec_deinit(&codec);
    return code;
}

static void a_decompression_bomb_is_refused_before_it_unpacks(void **state)
{
    (void)state;
    for (int i = ARROW_LZ4_FRAME; i <= ARROW_ZSTD; i++) {
        enum arrow_compression compression = (enum arrow_compression)i;
        assert_int_equal(decode_claim(compression, 1000, 0), OK);
        assert_int_equal(decode_claim(compression, 1000, ARROW_DECODED_BYTES_MAX + 1), ERR_LIMIT);
        assert_int_equal(decode_claim(compression, 1000, ARROW_DECODED_BYTES_MAX), ERR_CORRUPT);
        assert_int_equal(decode_claim(compression, 1000, 126), ERR_CORRUPT);
        assert_int_equal(decode_claim(compression, 1000, (uint64_t)-2), ERR_CORRUPT);
    }
}

static void more_rows_than_the_limit_are_refused(void **state)
{
    (void)state;
    assert_int_equal(decode_claim(ARROW_ZSTD, ARROW_ROWS_MAX + 1, 0), ERR_LIMIT);
    assert_int_equal(decode_claim(ARROW_ZSTD, ARROW_ROWS_MAX, 0), ERR_CORRUPT);
}

static void metadata_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    size_t head_bytes;
    MUST_FAIL(ERR_LIMIT, arrow_head_bytes(SLICE("\xff\xff\xff\xff\x08\x00\x40\x00"), &head_bytes, NULL));
    MUST_FAIL(ERR_CORRUPT, arrow_head_bytes(SLICE("\xff\xff\xff\xfe\x08\x00\x00\x00"), &head_bytes, NULL));
}

/* Offsets of a text column overwritten: 3 values, NONE, so that the offsets lie at a known place. */
static enum err_code decode_offsets(const int32_t offsets[4])
{
    struct arrow_codec codec = {0};
    struct arena arena = {0};
    struct err err;
    struct buf message = {0};
    struct column_builder b;
    struct column column;
    static const struct type one = {.kind = TYPE_ROW, .fields = &element, .field_count = 1};
    column_builder_init(&b, &t_string);
    for (int i = 0; i < 3; i++) {
        struct datum value = {.bytes = SLICE("abcd")};
        MUST(column_builder_append(&b, &value, &err));
    }
    column_builder_view(&b, &arena, &column);
    arrow_encode(&codec, codecs[0], &column, 1, 3, &message);
    size_t head_bytes;
    MUST(arrow_head_bytes(slice_of(message.ptr, ARROW_PREFIX_BYTES), &head_bytes, &err));
    memcpy(message.ptr + head_bytes + 8, offsets, 16);
    enum err_code code = decode(&codec, buf_view(&message), &one);
    column_builder_deinit(&b);
    buf_deinit(&message);
    arena_deinit(&arena);
    return code;
}

static void offsets_that_fall_or_leave_the_data_are_refused(void **state)
{
    (void)state;
    assert_int_equal(decode_offsets((int32_t[]){0, 4, 8, 12}), OK);
    assert_int_equal(decode_offsets((int32_t[]){1, 4, 4, 12}), OK);
    assert_int_equal(decode_offsets((int32_t[]){0, 4, 3, 12}), ERR_CORRUPT);
    assert_int_equal(decode_offsets((int32_t[]){0, 4, 8, 13}), ERR_CORRUPT);
    assert_int_equal(decode_offsets((int32_t[]){-1, 4, 8, 12}), ERR_CORRUPT);
    assert_int_equal(decode_offsets((int32_t[]){0, 4, 8, INT32_MIN}), ERR_CORRUPT);
}

/* Three empty texts: the data buffer has no bytes, or as Java writes it a length of 0 without a frame. */
static void empty_compressed_buffers_come_in_two_forms(void **state)
{
    (void)state;
    static const struct type one = {.kind = TYPE_ROW, .fields = &element, .field_count = 1};
    for (int i = ARROW_LZ4_FRAME; i <= ARROW_ZSTD; i++) {
        struct err err;
        struct arrow_codec codec = {0};
        struct arena arena = {0};
        struct buf message = {0};
        struct column_builder b;
        struct column column;
        struct datum empty = {0};
        column_builder_init(&b, &t_string);
        for (int k = 0; k < 3; k++)
            MUST(column_builder_append(&b, &empty, &err));
        column_builder_view(&b, &arena, &column);
        arrow_encode(&codec, (struct arrow_options){(enum arrow_compression)i, 3}, &column, 1, 3, &message);
        assert_int_equal(decode(&codec, buf_view(&message), &one), OK);
        uint8_t *body_len = message.ptr + ARROW_PREFIX_BYTES + 24;
        uint8_t *last_buffer_len = message.ptr + ARROW_PREFIX_BYTES + (i == ARROW_ZSTD ? 104 : 96) + 2 * 16 + 8;
        assert_int_equal(load_u64(last_buffer_len), 0);
        store_u64(last_buffer_len, 8);
        store_u64(body_len, load_u64(body_len) + 8);
        buf_put_zeros(&message, 8);
        assert_int_equal(decode(&codec, buf_view(&message), &one), OK);
        column_builder_deinit(&b);
        buf_deinit(&message);
        arena_deinit(&arena);
        arrow_codec_deinit(&codec);
    }
}

TESTS("arrow.message", TEST(empty_compressed_buffers_come_in_two_forms), TEST(what_is_encoded_decodes_with_every_codec),
      TEST(a_projection_holds_the_asked_columns), TEST(every_codec_and_level_with_every_projection),
      TEST(a_projection_of_all_columns_is_the_same_message), TEST(columns_that_a_message_lacks_are_null),
      TEST(rows_without_end_get_no_columns_of_nulls), TEST(every_cut_off_prefix_is_refused),
      TEST(a_message_of_other_columns_is_refused), TEST(a_decompression_bomb_is_refused_before_it_unpacks),
      TEST(more_rows_than_the_limit_are_refused), TEST(metadata_beyond_the_limit_is_refused),
      TEST(offsets_that_fall_or_leave_the_data_are_refused))
