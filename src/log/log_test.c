#include "lib/log_bed.h"

static void appends_give_consecutive_offsets_and_times_that_never_go_back(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 1 << 20);
    struct log_appended first = append(&bed, 3, 20);
    assert_int_equal(first.base_offset, 0);
    assert_int_equal(first.next_offset, 3);
    sim_shift_wall(bed.disk, -100000);
    struct log_appended second = append(&bed, 0, 0); /* an empty batch takes one offset too */
    assert_int_equal(second.base_offset, 3);
    assert_int_equal(second.next_offset, 4);
    assert_int_equal(second.timestamp_ms, first.timestamp_ms);
    sim_shift_wall(bed.disk, 200000);
    assert_true(append(&bed, 1, 1).timestamp_ms > first.timestamp_ms);
    assert_int_equal(log_durable_offset(bed.log), 0);
    MUST(log_flush(bed.log, &err));
    assert_int_equal(log_durable_offset(bed.log), 5);
    assert_int_equal(count_batches(&bed), 3);
    bed_deinit(&bed);
}

static void several_batches_are_appended_together_or_not_at_all(void **state)
{
    (void)state;
    struct bed bed;
    struct log_appended appended;
    bed_init(&bed, 1 << 20);
    for (unsigned i = 0; i < LOG_APPEND_BATCHES_MAX; i++)
        test_batch_put(&bed.batch, &(struct test_batch){-1, -1, 2, i, 9});
    MUST(log_append(bed.log, buf_view(&bed.batch), &appended, &err));
    assert_int_equal(appended.next_offset, 2 * LOG_APPEND_BATCHES_MAX);
    assert_int_equal(count_batches(&bed), LOG_APPEND_BATCHES_MAX);
    struct slice cut = slice_of(bed.batch.ptr, bed.batch.len - 1);
    MUST_FAIL(ERR_CORRUPT_RECORD_EXCEPTION, log_append(bed.log, cut, &appended, &err));
    MUST_FAIL(ERR_CORRUPT_RECORD_EXCEPTION, log_append(bed.log, (struct slice){0}, &appended, &err));
    test_batch_put(&bed.batch, &(struct test_batch){-1, -1, 2, 0, 9});
    MUST_FAIL(ERR_LIMIT, log_append(bed.log, buf_view(&bed.batch), &appended, &err));
    assert_int_equal(count_batches(&bed), LOG_APPEND_BATCHES_MAX);
    bed_deinit(&bed);
}

static void a_view_begins_with_the_batch_that_holds_the_offset(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 3000);
    for (int i = 0; i < 200; i++)
        append(&bed, 3, 100);
    assert_true(log_segment_count(bed.log) > 5);
    for (int reopened = 0; reopened < 2; reopened++) {
        for (int64_t offset = 0; offset < 600; offset++) {
            struct log_view view = view_at(&bed, offset, 600, 1, true);
            assert_int_equal(view.base_offset, offset / 3 * 3);
            assert_int_equal(view.next_offset, offset / 3 * 3 + 3);
            assert_int_equal(view.length, 148);
            log_view_release(&view);
        }
        bed_close(&bed); /* now the indexes of sealed segments are in files only */
        bed_open(&bed);
    }
    struct log_view view;
    MUST_FAIL(ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION, log_view_at(bed.log, 601, 600, 1, &view, &err));
    MUST_FAIL(ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION, log_view_at(bed.log, -1, 600, 1, &view, &err));
    view = view_at(&bed, 600, 600, 1, true);
    assert_int_equal(view.length, 0);
    assert_null(view.segment);
    bed_deinit(&bed);
}

static void a_view_keeps_to_bytes_and_limit(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 1 << 20);
    bed.options.index_interval_bytes = 300;
    bed_close(&bed);
    bed_open(&bed);
    for (int i = 0; i < 50; i++)
        append(&bed, 2, 52); /* 100 bytes each */
    struct {
        int64_t offset, limit;
        uint64_t bytes_max;
        bool at_least_one;
        uint64_t want_length;
    } cases[] = {
        {0, 100, 1000, false, 1000}, {0, 100, 999, false, 900},   {10, 100, 99, false, 0},
        {10, 100, 99, true, 100},    {10, 14, 1000, false, 200},  {11, 14, 1000, false, 200},
        {98, 100, 1000, true, 100},  {0, 100, 5000, false, 5000}, {0, 60, 5000, false, 3000},
        {20, 60, 1501, true, 1500},  {58, 60, 0, false, 0},       {0, 2, 100, false, 100},
        {60, 60, 100, true, 0},      {62, 60, 100, true, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct log_view view =
            view_at(&bed, cases[i].offset, cases[i].limit, cases[i].bytes_max, cases[i].at_least_one);
        if (view.length != cases[i].want_length)
            fail_msg("case %zu: %llu bytes", i, (unsigned long long)view.length);
        if (view.length) {
            assert_int_equal(view.position, cases[i].offset / 2 * 100);
            assert_int_equal(view.next_offset, cases[i].offset / 2 * 2 + (int64_t)view.length / 50);
        }
        log_view_release(&view);
    }
    bed_deinit(&bed);
}

static void a_time_leads_to_the_first_batch_not_before_it(void **state)
{
    (void)state;
    struct bed bed;
    int64_t times[60];
    bed_init(&bed, 1500);
    for (int i = 0; i < 60; i++) {
        times[i] = append(&bed, 2, 52).timestamp_ms;
        sim_advance(bed.disk, i % 3 ? 10000000 : 1000);
    }
    for (int reopened = 0; reopened < 2; reopened++) {
        for (int64_t t = times[0] - 2; t < times[59] + 3; t++) {
            struct log_view view;
            int64_t want = 0;
            while (want < 60 && times[want] < t)
                want++;
            MUST(log_view_at_time(bed.log, t, 120, 1, &view, &err));
            MUST(log_view_locate(&view, true, &err));
            assert_int_equal(view.base_offset, want * 2);
            assert_int_equal(view.length, want < 60 ? 100 : 0);
            log_view_release(&view);
            MUST(log_view_at_time(bed.log, t, 40, 1, &view, &err));
            MUST(log_view_locate(&view, true, &err));
            assert_int_equal(view.base_offset, MIN(want * 2, 40));
            log_view_release(&view);
        }
        bed_close(&bed);
        bed_open(&bed);
    }
    assert_int_equal(log_max_timestamp_ms(bed.log), times[59]);
    bed_deinit(&bed);
}

static void tiny_segments_work(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 120);
    for (int i = 0; i < 100; i++)
        append(&bed, 1, 40 + (uint32_t)i); /* most are larger than a segment */
    assert_true(log_segment_count(bed.log) > 90);
    MUST(log_flush(bed.log, &err));
    assert_int_equal(log_durable_offset(bed.log), 100);
    assert_int_equal(count_batches(&bed), 100);
    bed_crash(&bed);
    bed_open(&bed);
    assert_int_equal(count_batches(&bed), 100);
    append(&bed, 1, 500);
    bed_deinit(&bed);
}

struct model_batch {
    int64_t base_offset, next_offset, timestamp_ms;
    uint64_t bytes;
    bool begins_segment;
};

/* What a view of it should hold: from the batch with the offset on, below the limit, whole batches of one segment. */
static void assert_view(struct bed *bed, const struct model_batch *batches, int count, int first, int64_t offset)
{
    int limit = first + 1 + (int)sim_random_below(bed->disk, (uint64_t)(count - first));
    uint64_t bytes_max = sim_random_below(bed->disk, 3000), want = 0;
    bool at_least_one = sim_random_below(bed->disk, 2);
    int last = first;
    for (; last < limit && (last == first || !batches[last].begins_segment); last++) {
        if (want + batches[last].bytes > bytes_max && !(at_least_one && last == first))
            break;
        want += batches[last].bytes;
    }
    struct log_view view = view_at(bed, offset, batches[limit - 1].next_offset, bytes_max, at_least_one);
    assert_int_equal(view.length, want);
    assert_int_equal(view.base_offset, batches[first].base_offset);
    assert_int_equal(view.next_offset, want ? batches[last - 1].next_offset : batches[first].base_offset);
    log_view_release(&view);
}

/* Sparse indexes of any density, in memory and in files, over the edges of segments. */
static void views_are_those_of_a_model_over_segment_edges(void **state)
{
    (void)state;
    for (unsigned program = 0; program < 12; program++) {
        struct bed bed;
        struct model_batch batches[150];
        bed_init(&bed, 120 + 400 * program);
        bed.options.index_interval_bytes = 1 + 97 * program;
        bed_close(&bed);
        bed_open(&bed);
        for (int i = 0; i < 150; i++) {
            uint32_t records = 1 + (uint32_t)sim_random_below(bed.disk, 5);
            size_t segments = log_segment_count(bed.log);
            uint64_t bytes = log_bytes(bed.log);
            struct log_appended got = append(&bed, records, 20 + (uint32_t)sim_random_below(bed.disk, 300));
            batches[i] = (struct model_batch){got.base_offset, got.next_offset, got.timestamp_ms,
                                              log_bytes(bed.log) - bytes, log_segment_count(bed.log) > segments};
            sim_advance(bed.disk, (int64_t)sim_random_below(bed.disk, 3) * 1000000);
        }
        for (int reopened = 0; reopened < 2; reopened++) {
            for (int i = 0; i < 150; i++)
                for (int64_t offset = batches[i].base_offset; offset < batches[i].next_offset; offset++)
                    assert_view(&bed, batches, 150, i, offset);
            bed_close(&bed);
            bed_open(&bed);
        }
        bed_deinit(&bed);
    }
}

static size_t files_held(const struct log *log)
{
    size_t count = 0;
    for (size_t i = 0; i < log->segments.len; i++)
        count += log->segments.ptr[i]->file != NULL;
    return count;
}

/* After an orderly close, after a crash, after one that took the checkpoint, and when the rows were trimmed. */
static void the_end_of_rows_is_before_batches_without_any(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 400);
    for (int64_t round = 0; round < 12; round++) {
        append(&bed, 4, 52);
        append(&bed, 0, 0);
        append(&bed, 0, 0); /* each takes an offset */
        assert_int_equal(log_rows_end_offset(bed.log), 6 * round + 4);
        MUST(log_flush(bed.log, &err));
        if (round % 4 == 0)
            bed_close(&bed);
        else
            bed_crash(&bed);
        if (round % 4 == 2)
            MUST(os_unlink(bed.os, "log/checkpoint", &err));
        bed_open(&bed);
        assert_int_equal(log_end_offset(bed.log), 6 * round + 6);
        assert_int_equal(log_rows_end_offset(bed.log), 6 * round + 4);
    }
    for (int i = 0; i < 8; i++)
        append(&bed, 0, 0);
    MUST(log_flush(bed.log, &err));
    log_trim(bed.log, log_durable_offset(bed.log));
    assert_true(log_start_offset(bed.log) > 70);
    assert_int_equal(log_rows_end_offset(bed.log), log_start_offset(bed.log));
    bed_close(&bed);
    bed_open(&bed);
    assert_int_equal(log_rows_end_offset(bed.log), log_start_offset(bed.log));
    bed_deinit(&bed);
}

static void a_thousand_segments_hold_one_file_open(void **state)
{
    (void)state;
    struct bed bed;
    uint64_t checkpoints = 0;
    bed_init(&bed, 100);
    for (int i = 0; i < 800; i++) {
        append(&bed, 1, 52);
        MUST(log_flush(bed.log, &err));
        checkpoints += bed.log->unlisted_count == 0;
        assert_int_equal(files_held(bed.log), 1);
    }
    assert_int_equal(log_segment_count(bed.log), 800);
    assert_int_equal(log_bytes(bed.log), 80000);
    assert_true(checkpoints < 100); /* each lists all segments */
    struct log_view view = view_at(&bed, 17, 800, 1000, true);
    assert_int_equal(files_held(bed.log), 1);
    assert_int_equal(view.length, 100);
    log_view_release(&view);
    bed_crash(&bed);
    bed_open(&bed);
    assert_true(bed.found.scanned_bytes < 40000); /* what no checkpoint listed */
    assert_int_equal(files_held(bed.log), 1);
    assert_int_equal(count_batches(&bed), 800);
    bed_crash(&bed);
    MUST(os_unlink(bed.os, "log/checkpoint", &err));
    bed_open(&bed);
    assert_int_equal(bed.found.scanned_bytes, 80000);
    assert_int_equal(files_held(bed.log), 1);
    assert_int_equal(count_batches(&bed), 800);
    log_trim(bed.log, 790);
    assert_int_equal(log_bytes(bed.log), 1000);
    MUST(log_flush(bed.log, &err));
    assert_true(sim_used_bytes(bed.disk) < 60000);
    bed_deinit(&bed);
}

static void golden_batches_come_back_stamped(void *arg, struct slice line)
{
    struct bed *bed = arg;
    const char *text = (const char *)line.ptr;
    const char *hex = memmem(text, line.len, "\"hex\":\"", 7);
    if (!memmem(text, 64, "\"log/", 5) || !hex)
        return;
    struct buf want = {0};
    for (hex += 7; hex[0] != '"'; hex += 2) {
        char pair[3] = {hex[0], hex[1], 0};
        buf_put_u8(&want, (uint8_t)strtoul(pair, NULL, 16));
    }
    struct log_appended appended;
    struct log_head sent;
    assert_true(log_head_read(buf_view(&want), &sent));
    if (sent.writer_id >= 0) { /* as if this writer had sent all batches before */
        log_writers_deinit(&bed->log->writers);
        log_writers_note(&bed->log->writers, sent.writer_id, (struct log_writer_batch){sent.sequence - 1, 0, 0, 0});
    }
    MUST(log_append(bed->log, buf_view(&want), &appended, &err));
    store_u64(want.ptr, (uint64_t)appended.base_offset);
    store_u64(want.ptr + 13, (uint64_t)appended.timestamp_ms);
    struct log_view view = view_at(bed, appended.base_offset, log_end_offset(bed->log), UINT64_MAX, true);
    struct buf got = {0};
    struct log_head batch;
    MUST(log_view_read(&view, &got, &err));
    assert_slice_equal(buf_view(&got), buf_view(&want));
    assert_true(log_head_read(buf_view(&got), &batch));
    assert_true(log_head_intact(buf_view(&got), &batch));
    bed->id++;
    log_view_release(&view);
    buf_deinit(&got);
    buf_deinit(&want);
}

static void batches_of_every_magic_are_kept_as_they_came(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 1 << 20);
    bed.log->options.writer_expiry_ms = INT64_MAX / 2;
    test_each_line("log_batches", golden_batches_come_back_stamped, &bed);
    assert_true(bed.id > 100);
    bed_deinit(&bed);
}

TESTS("log.append", TEST(appends_give_consecutive_offsets_and_times_that_never_go_back),
      TEST(several_batches_are_appended_together_or_not_at_all),
      TEST(a_view_begins_with_the_batch_that_holds_the_offset), TEST(a_view_keeps_to_bytes_and_limit),
      TEST(views_are_those_of_a_model_over_segment_edges), TEST(a_time_leads_to_the_first_batch_not_before_it),
      TEST(tiny_segments_work), TEST(a_thousand_segments_hold_one_file_open),
      TEST(the_end_of_rows_is_before_batches_without_any), TEST(batches_of_every_magic_are_kept_as_they_came))
