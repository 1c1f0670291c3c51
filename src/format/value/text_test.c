/* Texts in rows and columns, UTF-8 or not. */
#include "format/value/value.h"
#include "lib/test.h"

static struct err err;
static const struct type text = {.kind = TYPE_STRING, .nullable = true};
static const struct type name = {.kind = TYPE_CHAR, .length = 9};
static const struct field element[] = {{.name = SLICE("element"), .type = &text}};
static const struct type list = {.kind = TYPE_ARRAY, .nullable = true, .fields = element, .field_count = 1};
static const struct field inner[] = {{.name = SLICE("n"), .type = &name}, {.name = SLICE("l"), .type = &list}};
static const struct type row = {.kind = TYPE_ROW, .nullable = true, .fields = inner, .field_count = 2};
static const struct field outer[] = {{.name = SLICE("plain"), .type = &name}, {.name = SLICE("deep"), .type = &row}};
static const struct type table = {.kind = TYPE_ROW, .fields = outer, .field_count = 2};

/* (plain, (n, [element])) */
struct line {
    struct datum element, parts[2], values[2];
};

static void line_set(struct line *line, struct slice plain, struct slice n, struct slice of_list)
{
    line->element = (struct datum){.bytes = of_list};
    line->parts[0] = (struct datum){.bytes = n};
    line->parts[1] = (struct datum){.list = {&line->element, 1}};
    line->values[0] = (struct datum){.bytes = plain};
    line->values[1] = (struct datum){.list = {line->parts, 2}};
}

#define GOOD SLICE("gr\xc3\xbcn")
#define BAD SLICE("gr\xfcn")
#define REPAIRED SLICE("gr\xef\xbf\xbdn")

static void a_row_is_refused_for_a_text_at_any_depth(void **state)
{
    (void)state;
    struct line line;
    line_set(&line, GOOD, GOOD, GOOD);
    MUST(datum_row_check(&table, line.values, &err));
    line_set(&line, BAD, GOOD, GOOD);
    MUST_FAIL(ERR_INVALID_ARGUMENT, datum_row_check(&table, line.values, &err));
    assert_non_null(strstr(err.text, "'plain'"));
    line_set(&line, GOOD, BAD, GOOD);
    MUST_FAIL(ERR_INVALID_ARGUMENT, datum_row_check(&table, line.values, &err));
    line_set(&line, GOOD, GOOD, BAD);
    MUST_FAIL(ERR_INVALID_ARGUMENT, datum_row_check(&table, line.values, &err));
    assert_non_null(strstr(err.text, "a text in the column 'deep' is not UTF-8"));
    line.values[0] = (struct datum){.is_null = true};
    MUST_FAIL(ERR_INVALID_ARGUMENT, datum_row_check(&table, line.values, &err));
    assert_non_null(strstr(err.text, "a null in the column 'plain'"));
}

static void assert_text(const struct column *column, uint32_t i, struct slice want)
{
    struct arena arena = {0};
    struct datum value;
    column_get(column, i, &arena, &value);
    assert_slice_equal(value.bytes, want);
    arena_deinit(&arena);
}

/* A sequence that goes on in the next value is two bad ones, though the bytes together are good. */
static void texts_are_repaired_each_by_itself(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct column_builder builder;
    struct column column;
    const struct datum values[] = {
        {.bytes = GOOD}, {.bytes = SLICE("\xc3")}, {.bytes = SLICE("\xbc")}, {.is_null = true}, {.bytes = BAD}};
    column_builder_init(&builder, &text);
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        MUST(column_builder_append(&builder, &values[i], &err));
    column_builder_view(&builder, &arena, &column);
    assert_false(column_text_is_valid(&column));
    column_text_repair(&arena, &column);
    assert_true(column_text_is_valid(&column));
    assert_text(&column, 0, GOOD);
    assert_text(&column, 1, SLICE("\xef\xbf\xbd"));
    assert_text(&column, 2, SLICE("\xef\xbf\xbd"));
    assert_true(column_is_null(&column, 3));
    assert_text(&column, 4, REPAIRED);
    column_builder_deinit(&builder);
    arena_deinit(&arena);
}

static void texts_within_nested_values_are_repaired(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct column_builder builder;
    struct column column;
    struct line line;
    column_builder_init(&builder, &row);
    line_set(&line, GOOD, GOOD, BAD);
    MUST(column_builder_append(&builder, &line.values[1], &err));
    line_set(&line, GOOD, BAD, GOOD);
    MUST(column_builder_append(&builder, &line.values[1], &err));
    column_builder_append_null(&builder);
    column_builder_view(&builder, &arena, &column);
    column_text_repair(&arena, &column);
    assert_text(&column.children[0], 0, GOOD);
    assert_text(&column.children[0], 1, REPAIRED);
    assert_text(&column.children[1].children[0], 0, REPAIRED);
    assert_text(&column.children[1].children[0], 1, GOOD);
    assert_true(column_text_is_valid(&column));
    column_builder_deinit(&builder);
    arena_deinit(&arena);
}

TESTS("format.value.text", TEST(a_row_is_refused_for_a_text_at_any_depth), TEST(texts_are_repaired_each_by_itself),
      TEST(texts_within_nested_values_are_repaired))
