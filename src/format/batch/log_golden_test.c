/* Every line of log_batches.jsonl: what it decodes to, what we encode, and what a projection makes of it. */
#include "format/batch/batch.h"
#include "format/row/row.h"
#include "lib/golden_value.h"

/* Times that Java's writer changes (toward zero, or wrapped to 64 bits) and that its reader then refuses. */
static const struct {
    const char *id;
    const char *decoded;     /* what the bytes hold, the same four values twice */
    enum err_code when_made; /* of our builder given the original values */
} odd_times[] = {
    {"log/arrow/v0/append/times-before-1970-sub-ms",
     "[{\"millis\":\"0\",\"nanos\":0},{\"millis\":\"-1\",\"nanos\":0},{\"millis\":\"-1\",\"nanos\":999000},"
     "{\"millis\":\"-1\",\"nanos\":999999}]",
     OK},
    {"log/arrow/v0/append/times-max",
     "[{\"millis\":\"253402300799000\",\"nanos\":0},{\"millis\":\"253402300799999\",\"nanos\":0},"
     "{\"millis\":\"253402300799999\",\"nanos\":999000},{\"millis\":\"-4852116231934\",\"nanos\":277375}]",
     ERR_INVALID_ARGUMENT},
    {"log/arrow/v0/append/times-min",
     "[{\"millis\":\"-62135596800000\",\"nanos\":0},{\"millis\":\"-62135596800000\",\"nanos\":0},"
     "{\"millis\":\"-62135596800000\",\"nanos\":0},{\"millis\":\"-6795364578872\",\"nanos\":654848}]",
     ERR_INVALID_ARGUMENT},
};

struct line {
    json_t *json;
    const char *id;
    enum log_format format;
    enum log_batch_layout layout;
    enum arrow_compression compression;
    bool append_only;
    struct schema schema;
    const struct type *type;
    json_t *decoded; /* of its records, as they come out of the bytes; owned */
    enum err_code when_made;
    bool bytes_differ; /* ours from Java's, for a reason given above */
    struct slice bytes;
    struct arena arena;
    struct arrow_codec codec;
};

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

static bool id_has(const struct line *line, const char *part)
{
    return strstr(line->id, part) != NULL;
}

static bool is_batch(const struct line *line)
{
    return !strncmp(line->id, "log/", 4);
}

static void find_decoded(struct line *line)
{
    json_t *decoded = json_object_get(line->json, "decoded_values");
    line->bytes_differ = false;
    line->decoded = json_incref(decoded ? decoded : json_object_get(line->json, "records"));
    if (line->format != LOG_FORMAT_ARROW)
        return;
    for (size_t i = 0; i < ARRAY_LEN(odd_times); i++) {
        if (strcmp(odd_times[i].id, line->id) != 0)
            continue;
        json_t *values = json_loads(odd_times[i].decoded, 0, NULL), *twice = json_array();
        json_array_extend(twice, values);
        json_array_extend(twice, values);
        json_decref(values);
        json_decref(line->decoded);
        line->decoded = json_deep_copy(json_object_get(line->json, "records"));
        json_object_set_new(json_array_get(line->decoded, 0), "values", twice);
        line->when_made = odd_times[i].when_made;
        line->bytes_differ = true;
    }
}

static void line_init(struct line *line, struct slice text)
{
    *line = (struct line){.json = golden_parse(text)};
    line->id = golden_text(line->json, "id");
    const char *format = golden_text(line->json, "format"), *compression = golden_text(line->json, "compression");
    line->format = *format == 'A' ? LOG_FORMAT_ARROW : *format == 'I' ? LOG_FORMAT_INDEXED : LOG_FORMAT_COMPACTED;
    line->compression = *compression == 'N' ? ARROW_NONE : *compression == 'L' ? ARROW_LZ4_FRAME : ARROW_ZSTD;
    line->layout = id_has(line, "/v1-of-0.9/")   ? LOG_BATCH_V1_EPOCH
                   : id_has(line, "/v1-of-1.0/") ? LOG_BATCH_V1_STATISTICS
                   : id_has(line, "/v2/")        ? LOG_BATCH_V2
                                                 : LOG_BATCH_V0;
    line->append_only = json_is_true(json_object_get(line->json, "append_only"));
    golden_schema(&line->arena, json_object_get(line->json, "types"), &line->schema);
    line->type = row_type(&line->arena, &line->schema);
    line->bytes = golden_hex(&line->arena, line->json, "hex");
    find_decoded(line);
}

static void line_deinit(struct line *line)
{
    json_decref(line->decoded);
    json_decref(line->json);
    arena_deinit(&line->arena);
    arrow_codec_deinit(&line->codec);
}

static void assert_header(const struct log_batch *batch, json_t *want, enum log_batch_layout layout)
{
    assert_int_equal(batch->layout, layout);
    assert_int_equal(batch->base_offset, number(want, "baseOffset"));
    assert_int_equal(batch->size, number(want, "length") + 12);
    assert_int_equal(batch->commit_timestamp_ms, number(want, "commitTimestamp"));
    assert_int_equal(batch->leader_epoch, json_object_get(want, "leaderEpoch") ? number(want, "leaderEpoch") : -1);
    assert_int_equal(batch->crc, number(want, "crc"));
    assert_int_equal(batch->schema_id, number(want, "schemaId"));
    assert_int_equal(batch->append_only, number(want, "attributes"));
    assert_int_equal(batch->last_offset_delta, number(want, "lastOffsetDelta"));
    assert_int_equal(batch->writer_id, number(want, "writerId"));
    assert_int_equal(batch->batch_sequence, number(want, "batchSequence"));
    assert_int_equal(batch->record_count, number(want, "recordCount"));
    assert_int_equal(batch->statistics.len, number(want, "statisticsLength"));
    assert_int_equal(batch->header_bytes, number(want, "headerSize"));
}

static enum change_type change_of(json_t *record)
{
    static const char *const names[] = {"+A", "+I", "-U", "+U", "-D"};
    const char *name = golden_text(record, "change");
    for (int i = 0; i < CHANGE_TYPE_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return (enum change_type)i;
    fail_msg("change type %s", name);
    return CHANGE_APPEND;
}

/* INDEXED and COMPACTED: record by record, the lossless way. */
static void assert_records(struct line *line, const struct log_batch *batch)
{
    struct err err;
    struct log_record record;
    struct slice rest = batch->body;
    json_t *want;
    size_t i;
    struct datum *row = ARENA_NEW_ARRAY(&line->arena, struct datum, line->schema.column_count);
    json_array_foreach(line->decoded, i, want)
    {
        MUST(log_batch_record_next(&rest, &record, &err));
        assert_int_equal(record.change, change_of(want));
        MUST(row_decode(line->format == LOG_FORMAT_INDEXED ? ROW_INDEXED : ROW_COMPACTED, line->type, record.row,
                        &line->arena, row, &err));
        golden_assert_row(&line->schema, row, json_object_get(want, "values"));
    }
    assert_int_equal(rest.len, 0);
}

/* The rows of a batch are these records, of all columns or of the selected ones. */
static void assert_rows(struct line *line, const struct log_batch *batch, json_t *records, const struct schema *schema)
{
    struct err err;
    struct log_batch_rows rows;
    if (line->format != LOG_FORMAT_ARROW && (id_has(line, "/times-max") || id_has(line, "/times-min"))) {
        MUST_FAIL(ERR_INVALID_ARGUMENT,
                  log_batch_decode(&line->codec, batch, line->format, line->type, &line->arena, &rows, NULL));
        return;
    }
    MUST(
        log_batch_decode(&line->codec, batch, line->format, row_type(&line->arena, schema), &line->arena, &rows, &err));
    bool is_exact = line->format == LOG_FORMAT_ARROW || !id_has(line, "/times-");
    assert_int_equal(rows.count, json_array_size(records));
    assert_int_equal(rows.column_count, schema->column_count);
    struct datum *row = ARENA_NEW_ARRAY(&line->arena, struct datum, schema->column_count);
    for (uint32_t i = 0; i < rows.count; i++) {
        json_t *record = json_array_get(records, i);
        assert_int_equal(log_batch_change(&rows, i), change_of(record));
        assert_int_equal(batch->base_offset + i, number(record, "offset"));
        for (uint32_t c = 0; c < rows.column_count; c++)
            column_get(&rows.columns[c], i, &line->arena, &row[c]);
        if (is_exact)
            golden_assert_row(schema, row, json_object_get(record, "values"));
    }
}

static void decode_line(void *arg, struct slice text)
{
    struct err err;
    struct line line;
    struct log_batch batch;
    line_init(&line, text);
    if (is_batch(&line)) {
        MUST(log_batch_check(line.bytes, &batch, &err));
        assert_header(&batch, json_object_get(line.json, "header"), line.layout);
        if (line.format != LOG_FORMAT_ARROW)
            assert_records(&line, &batch);
        assert_rows(&line, &batch, line.decoded, &line.schema);
        ++*(int *)arg;
    }
    line_deinit(&line);
}

static void golden_batches_hold_their_records(void **state)
{
    (void)state;
    int count = 0;
    test_each_line("log_batches", decode_line, &count);
    assert_int_equal(count, 150);
}

static void statistics_line(void *arg, struct slice text)
{
    struct err err;
    struct line line;
    struct log_batch batch;
    struct log_batch_statistics s = {0};
    bool present = false;
    line_init(&line, text);
    json_t *want = json_object_get(line.json, "statistics");
    if (is_batch(&line)) {
        MUST(log_batch_read(line.bytes, &batch, &err));
        MUST(log_batch_statistics_read(&batch, line.schema.column_count, &present, &s, &err));
        assert_int_equal(present, json_is_object(want));
    }
    if (present) {
        json_t *positions = json_object_get(line.json, "statistics_columns");
        uint32_t selected[64];
        struct datum row[64];
        assert_int_equal(s.count, json_array_size(positions));
        for (uint32_t i = 0; i < s.count; i++) {
            selected[i] = (uint32_t)json_integer_value(json_array_get(positions, i));
            assert_int_equal(load_u16(s.positions + 2 * i), selected[i]);
            assert_int_equal(load_u32(s.null_counts + 4 * i),
                             json_integer_value(json_array_get(json_object_get(want, "null_counts"), i)));
        }
        const struct type *type = row_type_of(&line.arena, &line.schema, selected, s.count);
        MUST(row_decode(ROW_ALIGNED, type, s.min, &line.arena, row, &err));
        for (uint32_t i = 0; i < s.count; i++)
            golden_assert_datum(type->fields[i].type, &row[i], json_array_get(json_object_get(want, "min"), i));
        MUST(row_decode(ROW_ALIGNED, type, s.max, &line.arena, row, &err));
        for (uint32_t i = 0; i < s.count; i++)
            golden_assert_datum(type->fields[i].type, &row[i], json_array_get(json_object_get(want, "max"), i));
        MUST_FAIL(ERR_CORRUPT, log_batch_statistics_read(&batch, selected[s.count - 1], &present, &s, NULL));
        batch.statistics.len--;
        MUST_FAIL(ERR_CORRUPT, log_batch_statistics_read(&batch, line.schema.column_count, &present, &s, NULL));
        ++*(int *)arg;
    }
    line_deinit(&line);
}

static void statistics_hold_least_and_greatest_values(void **state)
{
    (void)state;
    int count = 0;
    test_each_line("log_batches", statistics_line, &count);
    assert_int_equal(count, 20);
}

static void cut_line(void *arg, struct slice text)
{
    (void)arg;
    struct line line;
    struct log_batch batch;
    line_init(&line, text);
    for (size_t cut = 0; is_batch(&line) && cut < line.bytes.len; cut++) {
        struct slice part = slice_of(line.bytes.ptr, cut), rest = part, first;
        MUST_FAIL(ERR_CORRUPT_RECORD_EXCEPTION, log_batch_check(part, &batch, NULL));
        assert_int_equal(log_batch_next(&rest, &first, NULL), OK);
        assert_int_equal(first.len, 0);
        assert_int_equal(rest.len, cut);
    }
    line_deinit(&line);
}

static void every_cut_off_prefix_is_refused(void **state)
{
    (void)state;
    test_each_line("log_batches", cut_line, NULL);
}

static void flip_line(void *arg, struct slice text)
{
    (void)arg;
    struct line line;
    struct log_batch batch;
    line_init(&line, text);
    bool small = is_batch(&line) && line.bytes.len < 1000;
    uint8_t *copy = (uint8_t *)(uintptr_t)arena_dup(&line.arena, line.bytes).ptr;
    size_t covered_from = line.layout == LOG_BATCH_V0 || line.layout == LOG_BATCH_V1_STATISTICS ? 21 : 25;
    for (size_t i = covered_from; small && i < line.bytes.len; i++) {
        copy[i] ^= 0x10;
        MUST_FAIL(ERR_CORRUPT_RECORD_EXCEPTION, log_batch_check(slice_of(copy, line.bytes.len), &batch, NULL));
        copy[i] ^= 0x10;
    }
    line_deinit(&line);
}

static void a_changed_byte_is_noticed(void **state)
{
    (void)state;
    test_each_line("log_batches", flip_line, NULL);
}

/* False where the builder refused, as it should. */
static bool build(struct line *line, struct buf *out)
{
    struct err err;
    json_t *header = json_object_get(line->json, "header"), *record;
    struct log_batch_options options = {.format = line->format,
                                        .layout = line->layout,
                                        .append_only = line->append_only,
                                        .schema_id = (int16_t)number(header, "schemaId"),
                                        .arrow = {line->compression, 3}};
    struct log_batch_builder builder;
    enum err_code code = OK;
    size_t i;
    json_t *positions = json_object_get(line->json, "statistics_columns"), *position;
    uint32_t *statistics = ARENA_NEW_ARRAY(&line->arena, uint32_t, json_array_size(positions));
    json_array_foreach(positions, i, position)
    {
        statistics[i] = (uint32_t)json_integer_value(position);
    }
    options.statistics = statistics;
    options.statistics_count = (uint32_t)json_array_size(positions);
    log_batch_builder_init(&builder, &options, line->type);
    json_array_foreach(json_object_get(line->json, "records"), i, record)
    {
        struct datum *row = golden_row(&line->arena, &line->schema, json_object_get(record, "values"));
        code = log_batch_builder_append(&builder, change_of(record), row, &err);
        assert_int_equal(code, line->when_made);
    }
    if (code == OK)
        log_batch_builder_finish(&builder, &line->codec, number(header, "writerId"),
                                 (int32_t)number(header, "batchSequence"), out);
    log_batch_builder_deinit(&builder);
    return code == OK;
}

/* The bytes that a compressor makes depend on it: such batches must decode alike. */
static void encode_line(void *arg, struct slice text)
{
    struct err err;
    struct line line;
    struct log_batch batch;
    struct buf out = {0};
    line_init(&line, text);
    if (is_batch(&line) && build(&line, &out)) {
        json_t *header = json_object_get(line.json, "header");
        log_batch_stamp(out.ptr, line.layout, number(header, "baseOffset"), number(header, "commitTimestamp"),
                        json_object_get(header, "leaderEpoch") ? (int32_t)number(header, "leaderEpoch") : -1);
        bool fixed = line.compression == ARROW_NONE && !line.bytes_differ;
        if (fixed)
            assert_slice_equal(buf_view(&out), line.bytes);
        MUST(log_batch_check(buf_view(&out), &batch, &err));
        if (!line.bytes_differ)
            assert_rows(&line, &batch, line.decoded, &line.schema);
        *(int *)arg += fixed;
    }
    buf_deinit(&out);
    line_deinit(&line);
}

static void golden_batches_are_built_with_these_bytes(void **state)
{
    (void)state;
    int count = 0;
    test_each_line("log_batches", encode_line, &count);
    assert_int_equal(count, 119);
}

/* What a server sends for a projected fetch: batch after batch, gathered from the new head and the old body. */
static void project_all(struct line *line, struct slice input, const uint32_t *selected, uint32_t selected_count,
                        struct buf *out)
{
    struct err err;
    struct slice batch;
    for (;;) {
        MUST(log_batch_next(&input, &batch, &err));
        if (!batch.len)
            break;
        size_t have = MIN(batch.len, (size_t)LOG_BATCH_HEADER_BYTES_MAX), need = 0;
        for (int i = 0; i < 3 && need != have; i++) {
            have = need ? need : have;
            MUST(log_batch_head_bytes(slice_of(batch.ptr, have), &need, &err));
        }
        arrow_ranges ranges = {0};
        struct arrow_selection selection = {line->type, selected, selected_count};
        MUST(log_batch_project(slice_of(batch.ptr, need), line->type, &selection, out, &ranges, &err));
        for (size_t i = 0; i < ranges.len; i++)
            buf_put(out, batch.ptr + ranges.ptr[i].offset, ranges.ptr[i].len);
        vec_deinit(&ranges);
    }
    assert_int_equal(input.len, 0);
}

static void assert_projected(struct line *line, struct slice sent, const uint32_t *selected, uint32_t selected_count)
{
    struct err err;
    struct log_batch batch;
    struct slice one;
    struct schema schema = {.columns = ARENA_NEW_ARRAY(&line->arena, struct schema_column, selected_count),
                            .column_count = selected_count};
    for (uint32_t i = 0; i < selected_count; i++)
        schema.columns[i] = line->schema.columns[selected[i]];
    json_t *headers = json_object_get(line->json, "headers"), *records = json_object_get(line->json, "records");
    for (size_t i = 0; i < json_array_size(headers); i++) {
        json_t *header = json_array_get(headers, i);
        MUST(log_batch_next(&sent, &one, &err));
        MUST(log_batch_read(one, &batch, &err));
        assert_header(&batch, header, line->layout);
        bool valid = log_batch_check(one, &batch, NULL) == OK;
        assert_int_equal(valid, json_is_true(json_object_get(header, "crcValid")));
        assert_rows(line, &batch, json_array_get(records, i), &schema);
    }
    assert_int_equal(sent.len, 0);
}

static void project_line(void *arg, struct slice text)
{
    struct line line;
    line_init(&line, text);
    if (!strncmp(line.id, "projection/", 11)) {
        struct buf out = {0};
        uint32_t selected[8], count = 0;
        json_t *columns = json_object_get(line.json, "projected_columns"), *position;
        size_t i;
        json_array_foreach(columns, i, position)
        {
            selected[count++] = (uint32_t)json_integer_value(position);
        }
        project_all(&line, golden_hex(&line.arena, line.json, "input_hex"), selected, count, &out);
        assert_projected(&line, line.bytes, selected, count);
        assert_slice_equal(buf_view(&out), line.bytes);
        buf_deinit(&out);
        ++*(int *)arg;
    }
    line_deinit(&line);
}

static void projections_are_those_of_the_java_server(void **state)
{
    (void)state;
    int count = 0;
    test_each_line("log_batches", project_line, &count);
    assert_int_equal(count, 54);
}

TESTS("batch.log_golden", TEST(golden_batches_hold_their_records), TEST(statistics_hold_least_and_greatest_values),
      TEST(every_cut_off_prefix_is_refused), TEST(a_changed_byte_is_noticed),
      TEST(golden_batches_are_built_with_these_bytes), TEST(projections_are_those_of_the_java_server))
