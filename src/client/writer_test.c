/* Rows to batches to acknowledgements, and what failures leave of them: each row once, in its order. */
#include "lib/client_bed.h"

#include <stdio.h>

static struct err err;

#define ROWS 2000

static void put_rows(struct client_writer *writer, int count)
{
    for (int i = 0; i < count; i++) {
        char name[32];
        struct datum row[2];
        snprintf(name, sizeof name, "row %d", i);
        client_bed_row(row, i, i % 7 ? name : NULL);
        MUST(client_writer_put(writer, row, &err));
    }
}

/* Every id below count is in some bucket's log once, and in the order of writing within it. */
static void assert_each_row_once(struct client_bed *bed, int count)
{
    uint8_t *seen = mem_zalloc((size_t)count);
    struct client_scan_bucket buckets[3];
    struct client_scanner *scanner;
    for (int32_t i = 0; i < 3; i++)
        buckets[i] = (struct client_scan_bucket){i, 0, bed->peer.buckets[i].end};
    MUST(client_scanner_create(bed->table, buckets, 3, NULL, &scanner, &err));
    int64_t last[3] = {-1, -1, -1};
    while (!client_scanner_done(scanner)) {
        struct client_batch batch;
        bool have;
        MUST(client_scanner_next(scanner, &batch, &have, &err));
        for (uint32_t i = batch.first; have && i < batch.end; i++) {
            struct datum id;
            column_get(&batch.rows.columns[0], i, NULL, &id);
            assert_true(id.i64 >= 0 && id.i64 < count && !seen[id.i64]);
            assert_true(id.i64 > last[batch.bucket]);
            last[batch.bucket] = id.i64;
            seen[id.i64] = 1;
        }
    }
    for (int i = 0; i < count; i++)
        assert_true(seen[i]);
    client_scanner_destroy(scanner);
    mem_free(seen);
}

static void write_log(struct client_bed *bed)
{
    struct client_writer *writer;
    struct client_writer_options options = {.batch_bytes = 2000};
    MUST(client_writer_create(bed->table, &options, &writer, &err));
    put_rows(writer, ROWS);
    MUST(client_writer_flush(writer, &err));
    assert_int_equal(client_writer_acked(writer), ROWS);
    client_writer_destroy(writer);
}

static void rows_of_a_log_table_arrive_once_in_order(void **state)
{
    (void)state;
    struct client_bed bed = {0};
    client_bed_open(&bed, LOG_TABLE_JSON);
    write_log(&bed);
    for (int i = 0; i < 3; i++)
        assert_true(bed.peer.buckets[i].end > 0); /* spread over the buckets */
    assert_each_row_once(&bed, ROWS);
    client_bed_close(&bed);
}

static enum fault now_and_then(void *arg, int16_t key, uint32_t n)
{
    static const enum fault faults[] = {FAULT_NOT_LEADER, FAULT_LOST, FAULT_REFUSED, FAULT_DUPLICATE};
    (void)arg;
    return key == WIRE_PRODUCE_LOG && n % 5 == 3 ? faults[n / 5 % 4] : FAULT_NONE;
}

static void failures_that_pass_leave_each_row_once(void **state)
{
    (void)state;
    struct client_bed bed = {.peer = {.fault = now_and_then}};
    client_bed_open(&bed, LOG_TABLE_JSON);
    write_log(&bed);
    assert_each_row_once(&bed, ROWS);
    client_bed_close(&bed);
}

static enum fault fatal_at_third(void *arg, int16_t key, uint32_t n)
{
    (void)arg;
    return key == WIRE_PRODUCE_LOG && n == 2 ? FAULT_FATAL : FAULT_NONE;
}

static void a_failure_that_stays_stops_the_writer(void **state)
{
    (void)state;
    struct client_bed bed = {.peer = {.fault = fatal_at_third}};
    client_bed_open(&bed, LOG_TABLE_JSON);
    struct client_writer *writer;
    struct client_writer_options options = {.batch_bytes = 200, .pending_bytes = 1000};
    MUST(client_writer_create(bed.table, &options, &writer, &err));
    enum err_code code = OK;
    for (int i = 0; i < ROWS && code == OK; i++) {
        struct datum row[2];
        client_bed_row(row, i, "x");
        code = client_writer_put(writer, row, &err);
    }
    assert_int_equal(code, ERR_INVALID_TABLE_EXCEPTION);
    MUST_FAIL(ERR_INVALID_TABLE_EXCEPTION, client_writer_flush(writer, &err));
    assert_true(client_writer_acked(writer) < ROWS);
    client_writer_destroy(writer);
    client_bed_close(&bed);
}

static enum fault never_leader(void *arg, int16_t key, uint32_t n)
{
    (void)arg;
    (void)n;
    return key == WIRE_PRODUCE_LOG ? FAULT_NOT_LEADER : FAULT_NONE;
}

static void a_batch_is_tried_no_longer_than_asked(void **state)
{
    (void)state;
    struct client_bed bed = {.peer = {.fault = never_leader}};
    client_bed_open(&bed, LOG_TABLE_JSON);
    struct client_writer *writer;
    struct client_writer_options options = {.retry_ms = 300};
    MUST(client_writer_create(bed.table, &options, &writer, &err));
    put_rows(writer, 3);
    MUST_FAIL(ERR_NOT_LEADER_OR_FOLLOWER, client_writer_flush(writer, &err));
    assert_true(bed.peer.counts[WIRE_PRODUCE_LOG - 1000] > 1);
    client_writer_destroy(writer);
    client_bed_close(&bed);
}

static void a_flush_ends_when_it_is_cancelled(void **state)
{
    (void)state;
    struct client_bed bed = {.peer = {.fault = never_leader}};
    client_bed_open(&bed, LOG_TABLE_JSON);
    struct client_writer *writer;
    MUST(client_writer_create(bed.table, NULL, &writer, &err));
    put_rows(writer, 3);
    client_cancel(bed.client, true);
    MUST_FAIL(ERR_SHUTTING_DOWN, client_writer_flush(writer, &err));
    client_writer_destroy(writer);
    client_bed_close(&bed);
}

static void a_row_that_does_not_fit_leaves_the_writer_as_it_was(void **state)
{
    (void)state;
    struct client_bed bed = {0};
    client_bed_open(&bed, LOG_TABLE_JSON);
    struct client_writer *writer;
    struct datum row[2];
    MUST(client_writer_create(bed.table, NULL, &writer, &err));
    client_bed_row(row, 0, "x");
    row[0].is_null = true;
    MUST_FAIL(ERR_INVALID_ARGUMENT, client_writer_put(writer, row, &err));
    assert_string_equal(err.text, "column id may not be null");
    MUST_FAIL(ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION, client_writer_delete(writer, row, &err));
    put_rows(writer, 5);
    MUST(client_writer_flush(writer, &err));
    assert_each_row_once(&bed, 5);
    client_writer_destroy(writer);
    client_bed_close(&bed);
}

/* ---- primary-key tables ---- */

static enum fault put_now_and_then(void *arg, int16_t key, uint32_t n)
{
    (void)arg;
    if (key == WIRE_LOOKUP)
        return n == 0 ? FAULT_NOT_LEADER : FAULT_NONE;
    return key == WIRE_PUT_KV && n % 3 == 1 ? (n % 2 ? FAULT_NOT_LEADER : FAULT_LOST) : FAULT_NONE;
}

static void look_up(struct client_bed *bed, int32_t id, const char *want)
{
    struct arena arena = {0};
    struct datum key[2];
    const struct datum *keys[] = {key};
    struct datum *rows[1];
    client_bed_row(key, id, NULL);
    MUST(client_lookup(bed->table, keys, 1, &arena, rows, &err));
    if (want) {
        assert_non_null(rows[0]);
        assert_int_equal(rows[0][0].i64, id);
        assert_slice_equal(rows[0][1].bytes, slice_str(want));
    } else {
        assert_null(rows[0]);
    }
    arena_deinit(&arena);
}

static void the_last_upsert_or_delete_of_a_key_counts(void **state)
{
    (void)state;
    struct client_bed bed = {.peer = {.fault = put_now_and_then}};
    client_bed_open(&bed, PK_TABLE_JSON);
    struct client_writer *writer;
    struct client_writer_options options = {.batch_bytes = 300};
    struct datum row[2];
    MUST(client_writer_create(bed.table, &options, &writer, &err));
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 100; i++) {
            client_bed_row(row, i, round == 2 ? "last" : "early");
            MUST(client_writer_put(writer, row, &err));
        }
    client_bed_row(row, 17, NULL);
    MUST(client_writer_delete(writer, row, &err));
    MUST(client_writer_flush(writer, &err));
    assert_int_equal(client_writer_acked(writer), 301);
    assert_int_equal(bed.peer.values.count, 99);
    look_up(&bed, 16, "last");
    look_up(&bed, 17, NULL);
    look_up(&bed, 4711, NULL);
    client_writer_destroy(writer);
    client_bed_close(&bed);
}

static void many_keys_are_looked_up_in_their_order(void **state)
{
    (void)state;
    struct client_bed bed = {0};
    client_bed_open(&bed, PK_TABLE_JSON);
    struct client_writer *writer;
    struct arena arena = {0};
    struct datum keys[100][2];
    const struct datum *pointers[100];
    struct datum *rows[100];
    MUST(client_writer_create(bed.table, NULL, &writer, &err));
    for (int i = 0; i < 100; i++) {
        client_bed_row(keys[i], 100 - i, "x");
        pointers[i] = keys[i];
        if (i % 2)
            MUST(client_writer_put(writer, keys[i], &err));
    }
    MUST(client_writer_flush(writer, &err));
    MUST(client_lookup(bed.table, pointers, 100, &arena, rows, &err));
    for (int i = 0; i < 100; i++) {
        assert_int_equal(rows[i] != NULL, i % 2);
        assert_true(!rows[i] || rows[i][0].i64 == 100 - i);
    }
    assert_int_equal(bed.peer.counts[WIRE_LOOKUP - 1000], 1); /* one exchange for all buckets of a node */
    client_writer_destroy(writer);
    arena_deinit(&arena);
    client_bed_close(&bed);
}

static enum fault garbage_values(void *arg, int16_t key, uint32_t n)
{
    (void)arg;
    (void)n;
    return key == WIRE_LOOKUP || key == WIRE_LIST_OFFSETS ? FAULT_GARBAGE : FAULT_NONE;
}

static void values_that_are_no_rows_are_refused(void **state)
{
    (void)state;
    struct client_bed bed = {.peer = {.fault = garbage_values}};
    client_bed_open(&bed, PK_TABLE_JSON);
    struct client_writer *writer;
    struct arena arena = {0};
    struct datum row[2];
    struct datum *rows[1];
    const struct datum *keys[] = {row};
    client_bed_row(row, 1, "x");
    MUST(client_writer_create(bed.table, NULL, &writer, &err));
    MUST(client_writer_put(writer, row, &err));
    MUST(client_writer_flush(writer, &err));
    MUST_FAIL(ERR_CORRUPT, client_lookup(bed.table, keys, 1, &arena, rows, &err));
    (void)client_deadline(bed.client, os_mono_ns(os_real()) + 200000000);
    int64_t offsets[3];
    MUST_FAIL(ERR_CORRUPT_MESSAGE, client_offsets(bed.table, CLIENT_LATEST, 0, offsets, &err));
    client_writer_destroy(writer);
    arena_deinit(&arena);
    client_bed_close(&bed);
}

TESTS("client.writer", TEST(rows_of_a_log_table_arrive_once_in_order), TEST(failures_that_pass_leave_each_row_once),
      TEST(a_failure_that_stays_stops_the_writer), TEST(a_batch_is_tried_no_longer_than_asked),
      TEST(a_flush_ends_when_it_is_cancelled), TEST(a_row_that_does_not_fit_leaves_the_writer_as_it_was),
      TEST(the_last_upsert_or_delete_of_a_key_counts), TEST(many_keys_are_looked_up_in_their_order),
      TEST(values_that_are_no_rows_are_refused))
