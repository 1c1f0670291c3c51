/* What comes out of a scanner: every row of the range once, in order, whatever the server does meanwhile. */
#include "lib/client_bed.h"

static struct err err;

struct row {
    enum change_type change;
    int32_t id;
    const char *name; /* NULL: null */
};

static void append(struct client_bed *bed, int32_t bucket, const struct row *rows, size_t count, bool append_only)
{
    struct buf bytes = {0};
    struct arrow_codec codec = {0};
    struct log_batch_builder builder;
    struct log_batch_options options = {.format = LOG_FORMAT_ARROW, .append_only = append_only, .schema_id = 1};
    log_batch_builder_init(&builder, &options, bed->table->schema.row);
    for (size_t i = 0; i < count; i++) {
        struct datum row[2];
        client_bed_row(row, rows[i].id, rows[i].name);
        MUST(log_batch_builder_append(&builder, rows[i].change, row, &err));
    }
    log_batch_builder_finish(&builder, &codec, -1, -1, &bytes);
    table_peer_append(&bed->peer, bucket, buf_view(&bytes), 1000 + bed->peer.buckets[bucket].end);
    log_batch_builder_deinit(&builder);
    arrow_codec_deinit(&codec);
    buf_deinit(&bytes);
}

/* Batches of one, two, three ... rows, ids as offsets, an empty batch after each third. */
static void fill(struct client_bed *bed, int32_t bucket, int batch_count)
{
    for (int i = 0; i < batch_count; i++) {
        struct row rows[20];
        size_t count = (size_t)(i % 20) + 1;
        for (size_t k = 0; k < count; k++)
            rows[k] = (struct row){CHANGE_APPEND, (int32_t)(bed->peer.buckets[bucket].end + (int64_t)k), "n"};
        append(bed, bucket, rows, count, true);
        if (i % 3 == 2)
            append(bed, bucket, NULL, 0, true);
    }
}

/* Reads to the end and checks that each id is its offset; gives the number of rows and of empty batches. */
static void read_all(struct client_scanner *scanner, int64_t *rows, int64_t *empty)
{
    struct client_batch batch;
    bool have;
    *rows = *empty = 0;
    while (!client_scanner_done(scanner)) {
        MUST(client_scanner_next(scanner, &batch, &have, &err));
        *empty += have && batch.rows.count == 0;
        for (uint32_t i = batch.first; have && i < batch.end; i++, ++*rows) {
            struct datum id;
            column_get(&batch.rows.columns[0], i, NULL, &id);
            assert_int_equal(id.i64, batch.base_offset + i);
            assert_int_equal(batch.timestamp_ms, 1000 + batch.base_offset);
        }
    }
}

static void every_row_of_the_range_comes_once(void **state)
{
    (void)state;
    struct client_bed bed = {0};
    client_bed_open(&bed, LOG_TABLE_JSON);
    for (int32_t b = 0; b < 3; b++)
        fill(&bed, b, 30);
    int64_t end = bed.peer.buckets[0].end;
    for (int64_t start = 0; start < end; start += 7) {
        const struct client_scan_bucket buckets[] = {{0, start, end - 3}, {1, 0, end}, {2, start, start}};
        struct client_scanner_options options = {.bucket_bytes = 2000};
        struct client_scanner *scanner;
        int64_t rows, empty;
        MUST(client_scanner_create(bed.table, buckets, 3, &options, &scanner, &err));
        read_all(scanner, &rows, &empty);
        assert_int_equal(client_scanner_position(scanner, 0), MAX(end - 3, start));
        assert_int_equal(client_scanner_position(scanner, 1), end);
        assert_int_equal(client_scanner_position(scanner, 2), start);
        assert_true(empty >= 10);
        assert_int_equal(rows + empty, MAX(end - 3 - start, 0) + end); /* each offset is a row or an empty batch */
        client_scanner_destroy(scanner);
    }
    client_bed_close(&bed);
}

static void an_endless_scan_says_when_nothing_comes(void **state)
{
    (void)state;
    struct client_bed bed = {0};
    client_bed_open(&bed, LOG_TABLE_JSON);
    fill(&bed, 1, 2);
    const struct client_scan_bucket buckets[] = {{1, 0, INT64_MAX}};
    struct client_scanner *scanner;
    struct client_batch batch;
    bool have = true;
    int64_t rows = 0;
    MUST(client_scanner_create(bed.table, buckets, 1, NULL, &scanner, &err));
    while (have) {
        MUST(client_scanner_next(scanner, &batch, &have, &err));
        rows += have ? batch.end - batch.first : 0;
    }
    assert_int_equal(rows, 3);
    assert_false(client_scanner_done(scanner));
    assert_int_equal(client_scanner_position(scanner, 0), 3);
    client_scanner_destroy(scanner);
    client_bed_close(&bed);
}

static enum fault now_and_then(void *arg, int16_t key, uint32_t n)
{
    static const enum fault faults[] = {FAULT_NOT_LEADER, FAULT_LOST, FAULT_REFUSED};
    (void)arg;
    return key == WIRE_FETCH_LOG && n % 2 == 1 && n < 8 ? faults[n / 2 % 3] : FAULT_NONE;
}

static enum fault garbage(void *arg, int16_t key, uint32_t n)
{
    (void)arg;
    return key == WIRE_FETCH_LOG && n % 3 == 0 && n < 8 ? FAULT_GARBAGE : FAULT_NONE;
}

static void failures_that_pass_lose_nothing(void **state)
{
    (void)state;
    table_peer_fault *const faults[] = {now_and_then, garbage};
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        struct client_bed bed = {.peer = {.fault = faults[i]}};
        client_bed_open(&bed, LOG_TABLE_JSON);
        fill(&bed, 0, 30);
        const struct client_scan_bucket buckets[] = {{0, 0, bed.peer.buckets[0].end}};
        struct client_scanner_options options = {.bucket_bytes = 1000};
        struct client_scanner *scanner;
        int64_t rows, empty;
        MUST(client_scanner_create(bed.table, buckets, 1, &options, &scanner, &err));
        read_all(scanner, &rows, &empty);
        assert_int_equal(rows + empty, bed.peer.buckets[0].end);
        assert_true(bed.peer.counts[WIRE_FETCH_LOG - 1000] > 8);
        client_scanner_destroy(scanner);
        client_bed_close(&bed);
    }
}

static void the_first_failure(struct client_bed *bed, int64_t start, enum err_code want)
{
    const struct client_scan_bucket buckets[] = {{0, start, INT64_MAX}};
    struct client_scanner *scanner;
    struct client_batch batch;
    bool have;
    MUST(client_scanner_create(bed->table, buckets, 1, NULL, &scanner, &err));
    MUST_FAIL(want, client_scanner_next(scanner, &batch, &have, &err));
    client_scanner_destroy(scanner);
}

static void what_stays_wrong_is_told(void **state)
{
    (void)state;
    struct client_bed bed = {0};
    client_bed_open(&bed, LOG_TABLE_JSON);
    the_first_failure(&bed, 1, ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION);
    const struct client_scan_bucket none[] = {{7, 0, 1}};
    struct client_scanner *scanner;
    MUST_FAIL(ERR_INVALID_ARGUMENT, client_scanner_create(bed.table, none, 1, NULL, &scanner, &err));
    client_bed_close(&bed);
}

static void columns_of_an_older_schema_are_null(void **state)
{
    (void)state;
    static const char old[] = "{\"version\":1,\"columns\":["
                              "{\"name\":\"id\",\"data_type\":{\"type\":\"INTEGER\",\"nullable\":false},\"id\":0}],"
                              "\"highest_field_id\":0}";
    struct client_bed bed = {.peer = {.old_schema_json = SLICE("")}};
    bed.peer.old_schema_json = slice_str(old);
    bed.peer.schema_id = 2;
    client_bed_open(&bed, LOG_TABLE_JSON);
    const struct client_schema *schema;
    MUST(client_table_schema(bed.table, 1, &schema, &err));
    assert_int_equal(schema->schema.column_count, 1);
    struct buf bytes = {0};
    struct arrow_codec codec = {0};
    struct log_batch_builder builder;
    struct log_batch_options options = {.format = LOG_FORMAT_ARROW, .append_only = true, .schema_id = 1};
    struct datum row[1] = {{.i64 = 5}};
    log_batch_builder_init(&builder, &options, schema->row);
    MUST(log_batch_builder_append(&builder, CHANGE_APPEND, row, &err));
    log_batch_builder_finish(&builder, &codec, -1, -1, &bytes);
    table_peer_append(&bed.peer, 0, buf_view(&bytes), 1);
    const struct client_scan_bucket buckets[] = {{0, 0, 1}};
    struct client_scanner *scanner;
    struct client_batch batch;
    bool have = false;
    MUST(client_scanner_create(bed.table, buckets, 1, NULL, &scanner, &err));
    while (!have)
        MUST(client_scanner_next(scanner, &batch, &have, &err));
    assert_int_equal(batch.rows.column_count, 2);
    assert_true(column_is_null(&batch.rows.columns[1], 0));
    assert_int_equal(batch.schema_id, 1);
    assert_int_equal(bed.peer.counts[WIRE_GET_TABLE_SCHEMA - 1000], 1); /* asked once */
    client_scanner_destroy(scanner);
    log_batch_builder_deinit(&builder);
    arrow_codec_deinit(&codec);
    buf_deinit(&bytes);
    client_bed_close(&bed);
}

struct folded {
    struct buf text;
};

static enum err_code note_row(void *arg, int32_t place, const struct datum *row, struct err *e)
{
    (void)place;
    struct folded *folded = arg;
    (void)e;
    buf_printf(&folded->text, "%d=%.*s ", (int)row[0].i64, SLICE_ARGS(row[1].is_null ? SLICE("null") : row[1].bytes));
    return OK;
}

static void the_fold_is_the_last_row_of_each_key(void **state)
{
    (void)state;
    struct client_bed bed = {0};
    client_bed_open(&bed, PK_TABLE_JSON);
    const struct row first[] = {{CHANGE_INSERT, 1, "a"}, {CHANGE_INSERT, 2, "b"}, {CHANGE_INSERT, 3, "c"}};
    const struct row second[] = {
        {CHANGE_UPDATE_BEFORE, 1, "a"}, {CHANGE_UPDATE_AFTER, 1, "A"}, {CHANGE_DELETE, 2, "b"}};
    const struct row third[] = {{CHANGE_INSERT, 2, NULL}};
    append(&bed, 0, first, 3, false);
    append(&bed, 0, second, 3, false);
    append(&bed, 0, NULL, 0, false);
    append(&bed, 0, third, 1, false);
    static const struct {
        int64_t stop;
        const char *want;
    } cases[] = {{0, ""}, {3, "1=a 2=b 3=c "}, {6, "1=A 3=c "}, {7, "1=A 3=c "}, {8, "1=A 2=null 3=c "}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct folded folded = {0};
        int64_t stops[3] = {cases[i].stop};
        buf_put(&folded.text, "", 0);
        MUST(client_fold(bed.table, stops, note_row, &folded, &err));
        assert_string_equal(buf_cstr(&folded.text), cases[i].want);
        buf_deinit(&folded.text);
    }
    client_bed_close(&bed);
}

TESTS("client.scanner", TEST(every_row_of_the_range_comes_once), TEST(an_endless_scan_says_when_nothing_comes),
      TEST(failures_that_pass_lose_nothing), TEST(what_stays_wrong_is_told), TEST(columns_of_an_older_schema_are_null),
      TEST(the_fold_is_the_last_row_of_each_key))
