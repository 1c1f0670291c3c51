/* Every line of kv_batches.jsonl: what it holds, and that we build the same bytes. */
#include "format/batch/batch.h"

#include "base/reader.h"
#include "format/row/row.h"
#include "lib/golden_value.h"

struct line {
    json_t *json;
    const char *id;
    struct schema schema;
    enum row_format format;
    struct slice bytes;
    struct arena arena;
};

static void line_init(struct line *line, struct slice text)
{
    *line = (struct line){.json = golden_parse(text)};
    line->id = golden_text(line->json, "id");
    line->format = *golden_text(line->json, "kv_format") == 'I' ? ROW_INDEXED : ROW_COMPACTED;
    golden_schema(&line->arena, json_object_get(line->json, "types"), &line->schema);
    line->bytes = golden_hex(&line->arena, line->json, "hex");
}

static void line_deinit(struct line *line)
{
    json_decref(line->json);
    arena_deinit(&line->arena);
}

static bool is_of(const struct line *line, const char *kind)
{
    return !strncmp(line->id, kind, strlen(kind));
}

/* Rows of an older schema have fewer columns: the rest of the values is null. */
static void assert_row(struct line *line, struct slice row, json_t *values)
{
    struct err err;
    struct datum *got = ARENA_NEW_ARRAY(&line->arena, struct datum, line->schema.column_count);
    MUST(row_decode(line->format, row_type(&line->arena, &line->schema), row, &line->arena, got, &err));
    golden_assert_row(&line->schema, got, values);
}

static int64_t number(json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    int64_t out = 0;
    if (json_is_string(value))
        assert_true(slice_to_i64(slice_str(json_string_value(value)), &out));
    else
        out = json_integer_value(value);
    return out;
}

static void kv_line(void *arg, struct slice text)
{
    struct err err;
    struct line line;
    struct kv_batch batch;
    struct kv_batch_builder builder;
    struct kv_record record;
    struct buf out = {0};
    line_init(&line, text);
    if (is_of(&line, "kv/")) {
        json_t *header = json_object_get(line.json, "header"), *want;
        MUST(kv_batch_check(line.bytes, &batch, &err));
        assert_int_equal(batch.schema_id, number(header, "schemaId"));
        assert_int_equal(batch.writer_id, number(header, "writerId"));
        assert_int_equal(batch.batch_sequence, number(header, "batchSequence"));
        assert_int_equal(batch.record_count, number(header, "recordCount"));
        kv_batch_builder_init(&builder, batch.schema_id);
        size_t i;
        json_array_foreach(json_object_get(line.json, "records"), i, want)
        {
            assert_true(kv_batch_next(&batch.records, &record));
            assert_slice_equal(record.key, golden_hex(&line.arena, want, "key_hex"));
            bool is_put = !strcmp(golden_text(want, "op"), "put");
            assert_int_equal(record.row.ptr != NULL, is_put);
            if (is_put)
                assert_row(&line, record.row, json_object_get(want, "values"));
            if (is_put)
                MUST(kv_batch_builder_put(&builder, record.key, record.row, &err));
            else
                MUST(kv_batch_builder_delete(&builder, record.key, &err));
        }
        assert_false(kv_batch_next(&batch.records, &record));
        kv_batch_builder_finish(&builder, batch.writer_id, batch.batch_sequence, &out);
        assert_slice_equal(buf_view(&out), line.bytes);
        kv_batch_builder_deinit(&builder);
        ++*(int *)arg;
    }
    buf_deinit(&out);
    line_deinit(&line);
}

static void kv_batches_hold_their_records_and_are_built_alike(void **state)
{
    (void)state;
    int count = 0;
    test_each_line("kv_batches", kv_line, &count);
    assert_int_equal(count, 20);
}

static void value_line(void *arg, struct slice text)
{
    struct err err;
    struct line line;
    struct slice row;
    struct buf out = {0};
    int16_t schema_id;
    line_init(&line, text);
    bool is_tagged = is_of(&line, "tagged-value/");
    if (is_of(&line, "value/") || is_tagged) {
        struct reader r = reader_of(line.bytes);
        if (is_tagged) /* layout 2, which nothing writes: the same behind a tag */
            assert_int_equal(reader_u64_be(&r), number(line.json, "tag"));
        struct slice value = reader_rest(&r);
        MUST(kv_value_split(value, &schema_id, &row, &err));
        assert_row(&line, row, json_object_get(line.json, "values"));
        assert_int_equal(schema_id, number(line.json, "schema_id"));
        kv_value_put_header(&out, schema_id);
        buf_put_slice(&out, row);
        assert_slice_equal(buf_view(&out), value);
        ++*(int *)arg;
    }
    buf_deinit(&out);
    line_deinit(&line);
}

static void stored_values_hold_their_schema_id_and_row(void **state)
{
    (void)state;
    int count = 0;
    test_each_line("kv_batches", value_line, &count);
    assert_int_equal(count, 24);
}

static void value_batch_line(void *arg, struct slice text)
{
    struct err err;
    struct line line;
    struct slice rest, value, row;
    struct buf out = {0};
    uint32_t record_count;
    int16_t schema_id;
    line_init(&line, text);
    if (is_of(&line, "value-batch/")) {
        json_t *want;
        size_t i, start = value_batch_start(&out);
        MUST(value_batch_check(line.bytes, &record_count, &rest, &err));
        assert_int_equal(record_count, number(json_object_get(line.json, "header"), "recordCount"));
        json_array_foreach(json_object_get(line.json, "records"), i, want)
        {
            assert_true(value_batch_next(&rest, &value));
            MUST(kv_value_split(value, &schema_id, &row, &err));
            assert_int_equal(schema_id, number(want, "schema_id"));
            assert_row(&line, row, json_object_get(want, "values"));
            value_batch_put(&out, start, value);
        }
        assert_false(value_batch_next(&rest, &value));
        assert_slice_equal(buf_view(&out), line.bytes);
        ++*(int *)arg;
    }
    buf_deinit(&out);
    line_deinit(&line);
}

static void value_batches_hold_their_values_and_are_built_alike(void **state)
{
    (void)state;
    int count = 0;
    test_each_line("kv_batches", value_batch_line, &count);
    assert_int_equal(count, 8);
}

static void cut_line(void *arg, struct slice text)
{
    (void)arg;
    struct line line;
    struct kv_batch batch;
    struct slice rest;
    uint32_t record_count;
    line_init(&line, text);
    for (size_t cut = 0; is_of(&line, "kv/") && cut < line.bytes.len; cut++)
        MUST_FAIL(ERR_CORRUPT_MESSAGE, kv_batch_check(slice_of(line.bytes.ptr, cut), &batch, NULL));
    for (size_t cut = 0; is_of(&line, "value-batch/") && cut < line.bytes.len; cut++)
        MUST_FAIL(ERR_CORRUPT, value_batch_check(slice_of(line.bytes.ptr, cut), &record_count, &rest, NULL));
    line_deinit(&line);
}

static void every_cut_off_prefix_is_refused(void **state)
{
    (void)state;
    test_each_line("kv_batches", cut_line, NULL);
    int16_t schema_id;
    struct slice row;
    MUST_FAIL(ERR_CORRUPT, kv_value_split(SLICE("\x01"), &schema_id, &row, NULL));
}

static void flip_line(void *arg, struct slice text)
{
    (void)arg;
    struct line line;
    struct kv_batch batch;
    line_init(&line, text);
    bool small = is_of(&line, "kv/") && line.bytes.len < 500;
    uint8_t *copy = (uint8_t *)(uintptr_t)arena_dup(&line.arena, line.bytes).ptr;
    for (size_t i = 0; small && i < line.bytes.len; i++) {
        copy[i] ^= 0x10;
        MUST_FAIL(ERR_CORRUPT_MESSAGE, kv_batch_check(slice_of(copy, line.bytes.len), &batch, NULL));
        copy[i] ^= 0x10;
    }
    line_deinit(&line);
}

static void a_changed_byte_is_noticed(void **state)
{
    (void)state;
    test_each_line("kv_batches", flip_line, NULL);
}

TESTS("batch.kv_golden", TEST(kv_batches_hold_their_records_and_are_built_alike),
      TEST(stored_values_hold_their_schema_id_and_row), TEST(value_batches_hold_their_values_and_are_built_alike),
      TEST(every_cut_off_prefix_is_refused), TEST(a_changed_byte_is_noticed))
