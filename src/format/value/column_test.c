#include "format/value/value.h"
#include "lib/test.h"

static const struct type t_bool = {.kind = TYPE_BOOLEAN, .nullable = true};
static const struct type t_int = {.kind = TYPE_INTEGER, .nullable = true};
static const struct type t_string = {.kind = TYPE_STRING, .nullable = true};
static const struct type t_binary3 = {.kind = TYPE_BINARY, .nullable = true, .length = 3};
static const struct field f_string = {.type = &t_string};
static const struct field f_binary3 = {.type = &t_binary3};
static const struct type t_strings = {.kind = TYPE_ARRAY, .nullable = true, .fields = &f_string, .field_count = 1};
static const struct type t_binaries = {.kind = TYPE_ARRAY, .nullable = true, .fields = &f_binary3, .field_count = 1};
static const struct field map_fields[] = {{.type = &t_string}, {.type = &t_int}};
static const struct type t_map = {.kind = TYPE_MAP, .nullable = true, .fields = map_fields, .field_count = 2};
static const struct field row_fields[] = {{.type = &t_int}, {.type = &t_strings}, {.type = &t_binaries}};
static const struct type t_row = {.kind = TYPE_ROW, .nullable = true, .fields = row_fields, .field_count = 3};

static struct type time_type(enum type_kind kind, int32_t precision)
{
    return (struct type){.kind = kind, .nullable = true, .precision = precision};
}

static struct datum text(const char *s)
{
    return (struct datum){.bytes = slice_str(s)};
}

static struct datum number(int64_t v)
{
    return (struct datum){.i64 = v};
}

static const struct datum null = {.is_null = true};

/* Appends, views, and gives value 0 back. */
static struct datum through(const struct type *type, struct datum value, struct arena *arena)
{
    struct err err;
    struct column_builder b;
    struct column c;
    struct datum got;
    column_builder_init(&b, type);
    MUST(column_builder_append(&b, &value, &err));
    column_builder_view(&b, arena, &c);
    column_get(&c, 0, arena, &got);
    column_builder_deinit(&b);
    return got;
}

static void nulls_and_values_come_back_in_place(void **state)
{
    (void)state;
    struct err err;
    struct arena arena = {0};
    struct column_builder b;
    column_builder_init(&b, &t_bool);
    for (uint32_t i = 0; i < 100; i++) {
        struct datum value = {.is_null = i >= 20 && i % 3 == 0, .boolean = i & 1};
        MUST(column_builder_append(&b, &value, &err));
    }
    struct column c;
    column_builder_view(&b, &arena, &c);
    assert_int_equal(c.length, 100);
    for (uint32_t i = 0; i < 100; i++) {
        struct datum got;
        column_get(&c, i, &arena, &got);
        assert_int_equal(got.is_null, i >= 20 && i % 3 == 0);
        if (!got.is_null)
            assert_int_equal(got.boolean, i & 1);
    }
    column_builder_deinit(&b);
    arena_deinit(&arena);
}

static void times_finer_than_the_unit_fall_toward_the_past(void **state)
{
    (void)state;
    static const struct {
        enum type_kind kind;
        int32_t precision;
        int64_t millis;
        int32_t nanos;
        int64_t want_millis;
        int32_t want_nanos;
    } cases[] = {
        {TYPE_TIMESTAMP, 0, -1, 0, -1000, 0},
        {TYPE_TIMESTAMP, 0, 1999, 999999, 1000, 0},
        {TYPE_TIMESTAMP, 3, -1, 999999, -1, 0},
        {TYPE_TIMESTAMP, 6, -1, 999999, -1, 999000},
        {TYPE_TIMESTAMP_LTZ, 9, -1, 999999, -1, 999999},
        {TYPE_TIMESTAMP_LTZ, 9, 1, 1, 1, 1},
        {TYPE_TIMESTAMP, 6, 253402300799999, 999999, 253402300799999, 999000},
        {TYPE_TIMESTAMP, 9, -9223372036855, 224192, -9223372036855, 224192}, /* INT64_MIN */
        {TYPE_TIMESTAMP, 9, 9223372036854, 775807, 9223372036854, 775807},   /* INT64_MAX */
    };
    struct arena arena = {0};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct type type = time_type(cases[i].kind, cases[i].precision);
        struct datum value = {.ts = {cases[i].millis, cases[i].nanos}};
        struct datum got = through(&type, value, &arena);
        assert_int_equal(got.ts.millis, cases[i].want_millis);
        assert_int_equal(got.ts.nanos, cases[i].want_nanos);
    }
    for (int32_t precision = 0; precision <= 9; precision++) {
        struct type type = time_type(TYPE_TIME, precision);
        struct datum got = through(&type, number(86399999), &arena);
        assert_int_equal(got.i64, precision ? 86399999 : 86399000);
    }
    arena_deinit(&arena);
}

static void timestamps_outside_64_bits_are_refused(void **state)
{
    (void)state;
    struct type type = time_type(TYPE_TIMESTAMP, 9);
    struct column_builder b;
    column_builder_init(&b, &type);
    static const struct datum outside[] = {
        {.ts = {253402300799999, 999999}}, {.ts = {9223372036854, 775808}}, {.ts = {-9223372036855, 224191}}};
    for (size_t i = 0; i < ARRAY_LEN(outside); i++)
        MUST_FAIL(ERR_INVALID_ARGUMENT, column_builder_append(&b, &outside[i], NULL));
    assert_int_equal(b.length, 0);
    assert_int_equal(column_builder_bytes(&b), 0);
    column_builder_deinit(&b);
}

static void a_refused_nested_value_leaves_the_builder_as_it_was(void **state)
{
    (void)state;
    struct err err;
    struct datum good[] = {text("abc"), text("def")}, bad[] = {text("abc"), text("too long")};
    struct datum strings[] = {text("x"), null};
    struct datum first[] = {number(7), {.list = {strings, 2}}, {.list = {good, 2}}};
    struct datum second[] = {number(8), {.list = {strings, 2}}, {.list = {bad, 2}}};
    struct datum row = {.list = {first, 3}}, bad_row = {.list = {second, 3}};
    struct column_builder b;
    column_builder_init(&b, &t_row);
    MUST(column_builder_append(&b, &row, &err));
    column_builder_append_null(&b);
    size_t bytes = column_builder_bytes(&b);
    MUST_FAIL(ERR_INVALID_ARGUMENT, column_builder_append(&b, &bad_row, NULL));
    assert_int_equal(column_builder_bytes(&b), bytes);
    assert_int_equal(b.length, 2);
    assert_int_equal(b.children[1].length, 2);
    assert_int_equal(b.children[1].children[0].length, 2);
    assert_int_equal(b.children[1].children[0].null_count, 1);
    column_builder_truncate(&b, 1);
    assert_int_equal(b.null_count, 0);
    assert_int_equal(b.validity.len, 0);
    column_builder_truncate(&b, 0);
    assert_int_equal(b.children[1].children[0].null_count, 0);
    assert_int_equal(b.children[2].children[0].data.len, 0);
    column_builder_deinit(&b);
}

static void append_from_copies_nested_values(void **state)
{
    (void)state;
    struct err err;
    struct arena arena = {0};
    struct datum keys[] = {text("a"), text("b")}, values[] = {number(1), null};
    struct datum map = {.map = {keys, values, 2}}, empty = {0};
    struct column_builder from, to;
    column_builder_init(&from, &t_map);
    column_builder_init(&to, &t_map);
    MUST(column_builder_append(&from, &empty, &err));
    MUST(column_builder_append(&from, &null, &err));
    MUST(column_builder_append(&from, &map, &err));
    struct column c, copy;
    column_builder_view(&from, &arena, &c);
    column_builder_append_from(&to, &c, 2);
    column_builder_append_from(&to, &c, 1);
    column_builder_append_from(&to, &c, 0);
    column_builder_view(&to, &arena, &copy);
    struct datum got[3];
    for (uint32_t i = 0; i < 3; i++)
        column_get(&copy, i, &arena, &got[i]);
    assert_int_equal(got[0].map.count, 2);
    assert_slice_equal(got[0].map.keys[1].bytes, SLICE("b"));
    assert_int_equal(got[0].map.values[0].i64, 1);
    assert_true(got[0].map.values[1].is_null);
    assert_true(got[1].is_null);
    assert_false(got[2].is_null);
    assert_int_equal(got[2].map.count, 0);
    column_builder_deinit(&from);
    column_builder_deinit(&to);
    arena_deinit(&arena);
}

static void a_reset_builder_is_like_a_new_one(void **state)
{
    (void)state;
    struct err err;
    struct arena arena = {0};
    struct datum strings[] = {text("x"), null}, list = {.list = {strings, 2}};
    struct column_builder b;
    struct column c;
    struct datum got;
    column_builder_init(&b, &t_strings);
    MUST(column_builder_append(&b, &null, &err));
    MUST(column_builder_append(&b, &list, &err));
    column_builder_reset(&b);
    MUST(column_builder_append(&b, &list, &err));
    column_builder_view(&b, &arena, &c);
    assert_int_equal(c.null_count, 0);
    column_get(&c, 0, &arena, &got);
    assert_int_equal(got.list.count, 2);
    assert_slice_equal(got.list.items[0].bytes, SLICE("x"));
    column_builder_deinit(&b);
    arena_deinit(&arena);
}

static void a_column_of_nulls_has_them_at_every_depth(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct column c;
    struct datum got;
    column_nulls(&arena, &t_row, 20, &c);
    assert_int_equal(c.null_count, 20);
    column_get(&c, 19, &arena, &got);
    assert_true(got.is_null);
    column_get(&c.children[1], 19, &arena, &got);
    assert_true(got.is_null);
    assert_int_equal(c.children[1].children[0].length, 0);
    arena_deinit(&arena);
}

TESTS("value.column", TEST(nulls_and_values_come_back_in_place), TEST(times_finer_than_the_unit_fall_toward_the_past),
      TEST(timestamps_outside_64_bits_are_refused), TEST(a_refused_nested_value_leaves_the_builder_as_it_was),
      TEST(append_from_copies_nested_values), TEST(a_reset_builder_is_like_a_new_one),
      TEST(a_column_of_nulls_has_them_at_every_depth))
