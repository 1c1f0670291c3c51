#include "format/row/row.h"
#include "lib/golden_value.h"

static struct arena arena;
static struct buf out;

static void value_line(json_t *root)
{
    struct err err = {0};
    struct datum value, back;
    const struct type *type = golden_type(&arena, golden_text(root, "type"));
    golden_datum(&arena, type, json_object_get(root, "value"), &value);
    buf_reset(&out);
    if (json_object_get(root, "unsupported")) {
        MUST_FAIL(ERR_INVALID_ARGUMENT, partition_value_put(type, &value, &out, &err));
        return;
    }
    json_t *want = json_object_get(root, "partition_value");
    MUST(partition_value_put(type, &value, &out, &err));
    assert_slice_equal(buf_view(&out), slice_of(json_string_value(want), json_string_length(want)));
    MUST(partition_value_parse(type, buf_view(&out), &arena, &back, &err));
    golden_assert_datum(type, &back, json_object_get(root, "value"));
}

static void spec_line(json_t *root)
{
    struct err err = {0};
    struct slice values[8], back[8];
    json_t *golden = json_object_get(root, "values");
    uint32_t count = (uint32_t)json_array_size(golden);
    for (uint32_t i = 0; i < count; i++)
        values[i] = slice_str(json_string_value(json_array_get(golden, i)));
    buf_reset(&out);
    partition_name_put(values, count, &out);
    assert_slice_equal(buf_view(&out), slice_str(golden_text(root, "partition_name")));
    if (json_object_get(root, "unsupported")) {
        MUST_FAIL(ERR_PARTITION_SPEC_INVALID_EXCEPTION, partition_name_split(buf_view(&out), count, back, &err));
        return;
    }
    MUST(partition_name_split(buf_view(&out), count, back, &err));
    for (uint32_t i = 0; i < count; i++)
        assert_slice_equal(back[i], values[i]);
}

static void golden_line(void *arg, struct slice line)
{
    int *seen = arg;
    json_t *root = golden_parse(line);
    const char *id = golden_text(root, "id");
    if (strncmp(id, "partition_value/", 16) == 0)
        value_line(root), seen[0]++;
    if (strncmp(id, "partition_spec/", 15) == 0)
        spec_line(root), seen[1]++;
    json_decref(root);
    arena_reset(&arena);
}

static void golden_partition_texts_go_both_ways(void **state)
{
    (void)state;
    int seen[2] = {0};
    test_each_line("schemas", golden_line, seen);
    assert_int_equal(seen[0], 178);
    assert_int_equal(seen[1], 4);
    arena_deinit(&arena);
    buf_deinit(&out);
}

static void texts_that_are_no_values_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        const char *text;
    } cases[] = {
        {"BOOLEAN", "TRUE"},
        {"INT", "2147483648"},
        {"TINYINT", "128"},
        {"INT", ""},
        {"DOUBLE", "1_0_0"},
        {"DOUBLE", ""},
        {"BYTES", "0"},
        {"BYTES", "0G"},
        {"DATE", "2024-02-30"},
        {"TIME(3)", "12-34-56"},
        {"TIME(3)", "12:34:56_789"},
        {"TIME(3)", "12-34-56_7891"},
        {"TIMESTAMP(3)", "_"},
        {"TIMESTAMP(3)", "2024-01-02"},
        {"TIMESTAMP(3)", "2024-01-02-03-04-05"},
        {"TIMESTAMP(3)", "2024-01-02-03-04-05_1234567890"},
        {"TIMESTAMP(3)", "999999999-01-02-03-04-05_"},
        {"DECIMAL(5, 2)", "1"},
    };
    struct datum value;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct type *type = golden_type(&arena, cases[i].type);
        MUST_FAIL(ERR_PARTITION_SPEC_INVALID_EXCEPTION,
                  partition_value_parse(type, slice_str(cases[i].text), &arena, &value, NULL));
    }
    struct datum far = {.i64 = 2932897};
    assert_int_equal(partition_value_put(type_simple(TYPE_DATE), &far, &out, NULL), OK);
    assert_string_equal(buf_cstr(&out), "10000-01-01");
    buf_deinit(&out);
    arena_deinit(&arena);
}

TESTS("format.row.partition", TEST(golden_partition_texts_go_both_ways), TEST(texts_that_are_no_values_are_refused))
