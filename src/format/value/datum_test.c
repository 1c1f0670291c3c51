#include "lib/golden_value.h"

static struct arena arena;

/* Every value of the golden rows is equal to its copy, and differs in canonical bytes from every other of its type. */
struct seen {
    const struct type *type;
    struct datum value;
    struct slice canonical;
};

static struct seen seen[2000];
static size_t seen_count;

static void remember(void *arg, struct slice line)
{
    (void)arg;
    json_t *root = golden_parse(line);
    struct schema schema;
    golden_schema(&arena, json_object_get(root, "types"), &schema);
    if (strncmp(golden_text(root, "id"), "row/compacted", 13) == 0 && schema.column_count == 1) {
        struct datum *row = golden_row(&arena, &schema, json_object_get(root, "values"));
        struct buf canonical = {0};
        struct seen *s = &seen[seen_count++];
        assert_true(seen_count < ARRAY_LEN(seen));
        s->type = schema.columns[0].type;
        datum_dup(&arena, s->type, &row[0], &s->value);
        golden_assert_datum(s->type, &s->value, json_array_get(json_object_get(root, "values"), 0));
        assert_true(datum_equal(s->type, &row[0], &s->value));
        datum_canonical(s->type, &s->value, &canonical);
        s->canonical = arena_dup(&arena, buf_view(&canonical));
        buf_deinit(&canonical);
    }
    json_decref(root);
}

static void order_and_canonical_bytes_agree_on_golden_values(void **state)
{
    (void)state;
    test_each_line("rows", remember, NULL);
    assert_true(seen_count > 200);
    for (size_t i = 0; i < seen_count; i++) {
        for (size_t j = 0; j < seen_count; j++) {
            if (!type_equal(seen[i].type, seen[j].type, false))
                continue;
            int order = datum_compare(seen[i].type, &seen[i].value, &seen[j].value);
            int other = datum_compare(seen[i].type, &seen[j].value, &seen[i].value);
            assert_int_equal(order == 0, slice_equal(seen[i].canonical, seen[j].canonical));
            assert_true((order < 0) == (other > 0) && (order > 0) == (other < 0));
        }
    }
    arena_deinit(&arena);
}

static void numbers_come_in_the_order_of_java(void **state)
{
    (void)state;
    static const double ascending[] = {
        -(double)__builtin_inf(),  -1e300, -1.0, -4.9e-324, -0.0, 0.0, 4.9e-324, 1.0, (double)__builtin_inf(),
        (double)__builtin_nanf("")};
    for (size_t i = 0; i < ARRAY_LEN(ascending); i++) {
        for (size_t j = 0; j < ARRAY_LEN(ascending); j++) {
            struct datum a = {.f64 = ascending[i]}, b = {.f64 = ascending[j]};
            int want = (i > j) - (i < j);
            assert_int_equal(datum_compare(type_simple(TYPE_DOUBLE), &a, &b), want);
            bool tiny = i == 3 || i == 6 || j == 3 || j == 6 || i == 1 || j == 1;
            struct datum c = {.f32 = (float)ascending[i]}, d = {.f32 = (float)ascending[j]};
            if (!tiny)
                assert_int_equal(datum_compare(type_simple(TYPE_FLOAT), &c, &d), want);
        }
    }
    struct datum null = {.is_null = true}, least = {.i64 = INT64_MIN};
    assert_int_equal(datum_compare(type_simple(TYPE_BIGINT), &null, &least), -1);
    assert_int_equal(datum_compare(type_simple(TYPE_BIGINT), &least, &null), 1);
    assert_int_equal(datum_compare(type_simple(TYPE_BIGINT), &null, &null), 0);
}

static void every_nan_has_the_same_canonical_bytes(void **state)
{
    (void)state;
    struct buf a = {0}, b = {0};
    uint64_t odd_bits = 0xfff8000000000001u;
    struct datum odd = {0}, plain = {.f64 = __builtin_nan("")};
    memcpy(&odd.f64, &odd_bits, 8);
    datum_canonical(type_simple(TYPE_DOUBLE), &odd, &a);
    datum_canonical(type_simple(TYPE_DOUBLE), &plain, &b);
    assert_slice_equal(buf_view(&a), buf_view(&b));
    assert_true(datum_equal(type_simple(TYPE_DOUBLE), &odd, &plain));
    buf_deinit(&a);
    buf_deinit(&b);
}

static void trailing_nulls_of_rows_leave_no_trace(void **state)
{
    (void)state;
    json_t *types = json_pack("[sss]", "INT", "ROW<`a` INT, `b` INT>", "STRING");
    struct schema schema;
    golden_schema(&arena, types, &schema);
    struct datum one[] = {{.i64 = 1}, {.is_null = true}};
    struct datum narrow[] = {{.i64 = 7}, {.list = {one, 1}}};
    struct datum wide[] = {{.i64 = 7}, {.list = {one, 2}}, {.is_null = true}};
    struct datum other[] = {{.i64 = 7}, {.list = {one, 2}}, {.bytes = SLICE("")}};
    struct buf a = {0}, b = {0}, c = {0};
    row_canonical(&schema, narrow, 2, &a);
    row_canonical(&schema, wide, 3, &b);
    row_canonical(&schema, other, 3, &c);
    assert_slice_equal(buf_view(&a), buf_view(&b));
    assert_false(slice_equal(buf_view(&b), buf_view(&c)));
    buf_deinit(&a);
    buf_deinit(&b);
    buf_deinit(&c);
    json_decref(types);
    arena_deinit(&arena);
}

TESTS("format.value.datum", TEST(order_and_canonical_bytes_agree_on_golden_values),
      TEST(numbers_come_in_the_order_of_java), TEST(every_nan_has_the_same_canonical_bytes),
      TEST(trailing_nulls_of_rows_leave_no_trace))
