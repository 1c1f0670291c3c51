#include "lib/log_bed.h"

/* Pain 78: how long a start takes depends on what no checkpoint covers, not on the log's size. */
static void only_the_tail_behind_the_checkpoint_is_read(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 10000);
    bed.log->options.checkpoint_bytes = bed.options.checkpoint_bytes = 5000;
    for (int i = 0; i < 1000; i++) {
        append(&bed, 1, 52);
        if (i % 7 == 0)
            MUST(log_flush(bed.log, &err));
    }
    MUST(log_flush(bed.log, &err));
    bed_crash(&bed);
    bed_open(&bed);
    assert_int_equal(log_end_offset(bed.log), 1000);
    assert_in_range(bed.found.scanned_bytes, 0, 5000 + 700);
    assert_int_equal(bed.found.lost_offsets, 0);
    assert_int_equal(count_batches(&bed), 1000);
    bed_close(&bed);
    bed_open(&bed);
    assert_int_equal(bed.found.scanned_bytes, 0);
    assert_int_equal(bed.found.cut_bytes, 0);
    bed_deinit(&bed);
}

static void cut_file(struct bed *bed, const char *name, uint64_t size)
{
    char path[100];
    struct os_file *file;
    snprintf(path, sizeof path, "log/%s", name);
    MUST(os_file_open(bed->os, path, OS_WRITE, &file, &err));
    MUST(os_file_truncate(file, size, &err));
    os_file_close(file);
}

enum { CUT_BATCHES = 4, CUT_BATCH_BYTES = 48 + 13 };

static void a_segment_cut_at_any_byte_keeps_its_whole_batches(void **state)
{
    (void)state;
    for (int crashes = 0; crashes < 2; crashes++) {
        for (uint64_t size = 0; size <= CUT_BATCHES * CUT_BATCH_BYTES; size++) {
            struct bed bed;
            bed_init(&bed, 1 << 20);
            for (int i = 0; i < CUT_BATCHES; i++)
                append(&bed, 2, 13);
            MUST(log_flush(bed.log, &err));
            if (crashes)
                bed_crash(&bed);
            else
                bed_close(&bed);
            cut_file(&bed, "00000000000000000000.log", size);
            bed_open(&bed);
            assert_int_equal(log_end_offset(bed.log), size / CUT_BATCH_BYTES * 2);
            assert_int_equal(count_batches(&bed), size / CUT_BATCH_BYTES);
            assert_in_range(bed.found.cut_bytes, size % CUT_BATCH_BYTES > 12, size % CUT_BATCH_BYTES);
            assert_int_equal(bed.found.lost_offsets, crashes ? 0 : (CUT_BATCHES - size / CUT_BATCH_BYTES) * 2);
            append(&bed, 1, 1); /* and it goes on */
            bed_close(&bed);
            bed_open(&bed);
            assert_int_equal(count_batches(&bed), size / CUT_BATCH_BYTES + 1);
            bed_deinit(&bed);
        }
    }
}

static void a_flipped_bit_in_the_tail_ends_the_log_there(void **state)
{
    (void)state;
    for (uint64_t at = 0; at < 3 * CUT_BATCH_BYTES; at++) {
        struct bed bed;
        struct os_file *file;
        size_t got;
        uint8_t byte;
        bed_init(&bed, 1 << 20);
        for (int i = 0; i < 3; i++)
            append(&bed, 2, 13);
        MUST(log_flush(bed.log, &err));
        bed_crash(&bed);
        MUST(os_file_open(bed.os, "log/00000000000000000000.log", OS_WRITE, &file, &err));
        MUST(os_file_read(file, at, &byte, 1, &got, &err));
        byte ^= 0x40;
        MUST(os_file_write(file, at, slice_of(&byte, 1), &err));
        os_file_close(file);
        bed_open(&bed);
        uint64_t in_batch = at % CUT_BATCH_BYTES;
        bool covered = in_batch < 13 || in_batch >= 21; /* the commit time has no checksum */
        assert_int_equal(count_batches(&bed), covered ? at / CUT_BATCH_BYTES : 3);
        bed_deinit(&bed);
    }
}

static void a_damaged_sealed_segment_is_refused_and_nothing_changed(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 1000);
    for (int i = 0; i < 100; i++)
        append(&bed, 1, 52);
    bed_close(&bed);
    cut_file(&bed, "00000000000000000010.log", 999);
    MUST_FAIL(ERR_CORRUPT, log_open(bed.os, "log", &bed.options, 0, &bed.log, &bed.found, &err));
    cut_file(&bed, "00000000000000000010.log", 1000); /* a zero byte: the index says the file is fine, the reader not */
    bed_open(&bed);
    assert_int_equal(log_end_offset(bed.log), 100);
    bed_deinit(&bed);
}

static void lost_indexes_are_made_again(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 20000);
    for (int i = 0; i < 1000; i++)
        append(&bed, 1, 52);
    bed_close(&bed);
    MUST(os_unlink(bed.os, "log/00000000000000000200.index", &err));
    cut_file(&bed, "00000000000000000400.index", 17);
    cut_file(&bed, "00000000000000000800.index", 5);
    bed_open(&bed);
    assert_int_equal(bed.found.scanned_bytes, 60000);
    assert_int_equal(bed.found.lost_offsets, 0);
    assert_int_equal(count_batches(&bed), 1000);
    for (int64_t offset = 0; offset < 1000; offset += 13) {
        struct log_view view = view_at(&bed, offset, 1000, 1, true);
        assert_int_equal(view.base_offset, offset);
        log_view_release(&view);
    }
    bed_close(&bed);
    bed_open(&bed);
    assert_int_equal(bed.found.scanned_bytes, 0);
    bed_deinit(&bed);
}

static void without_its_checkpoint_the_whole_log_is_read(void **state)
{
    (void)state;
    for (int unlinked = 0; unlinked < 2; unlinked++) {
        struct bed bed;
        bed_init(&bed, 5000);
        for (int i = 0; i < 300; i++)
            append(&bed, 1, 52);
        bed_close(&bed);
        if (unlinked)
            MUST(os_unlink(bed.os, "log/checkpoint", &err));
        else
            cut_file(&bed, "checkpoint", 20);
        bed_open(&bed);
        assert_int_equal(bed.found.scanned_bytes, 30000);
        assert_int_equal(count_batches(&bed), 300);
        bed_deinit(&bed);
    }
}

static void a_full_disk_refuses_appends_until_there_is_room(void **state)
{
    (void)state;
    struct bed bed;
    struct log_appended appended;
    bed_init(&bed, 1 << 20);
    for (int i = 0; i < 10; i++)
        append(&bed, 1, 1000);
    MUST(log_flush(bed.log, &err));
    sim_set_capacity(bed.disk, 150000);
    uint64_t count = 10;
    while (append_as(&bed, -1, -1, 1, 1000, &appended) == OK)
        count++;
    assert_int_equal(err.code, ERR_DISK_FULL);
    assert_in_range(count, 130, 143); /* room to spare does not keep it from using the last bytes */
    assert_int_equal(log_end_offset(bed.log), count);
    assert_int_equal(count_batches(&bed), count);
    MUST(log_flush(bed.log, &err));
    bed_crash(&bed);
    bed_open(&bed); /* while it is full */
    assert_int_equal(count_batches(&bed), count);
    MUST_FAIL(ERR_DISK_FULL, append_as(&bed, -1, -1, 1, 5000, &appended));
    sim_set_capacity(bed.disk, 300000);
    append(&bed, 1, 5000);
    MUST(log_flush(bed.log, &err));
    assert_int_equal(count_batches(&bed), count + 1);
    bed_deinit(&bed);
}

static void a_trim_frees_a_full_disk(void **state)
{
    (void)state;
    struct bed bed;
    struct log_appended appended;
    bed_init(&bed, 10000);
    for (int i = 0; i < 100; i++)
        append(&bed, 1, 952);
    MUST(log_flush(bed.log, &err));
    sim_set_capacity(bed.disk, sim_used_bytes(bed.disk));
    MUST_FAIL(ERR_DISK_FULL, append_as(&bed, -1, -1, 1, 9000, &appended));
    log_trim(bed.log, 50);
    MUST(log_flush(bed.log, &err));
    append(&bed, 1, 9000);
    assert_int_equal(log_start_offset(bed.log), 50);
    bed_deinit(&bed);
}

static void an_old_log_can_go_as_a_whole_and_stays_gone(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 10000);
    for (int i = 0; i < 25; i++)
        append(&bed, 1, 952);
    int64_t last = log_max_timestamp_ms(bed.log);
    MUST(log_roll_before(bed.log, last, &err)); /* not old */
    assert_int_equal(log_segment_count(bed.log), 3);
    MUST(log_roll_before(bed.log, last + 1, &err));
    assert_int_equal(log_segment_count(bed.log), 4);
    MUST(log_roll_before(bed.log, last + 1, &err)); /* an empty one is not followed by another */
    assert_int_equal(log_segment_count(bed.log), 4);
    assert_int_equal(log_offset_before(bed.log, last + 1), 25);
    log_trim(bed.log, log_durable_offset(bed.log)); /* nothing is on disk yet */
    assert_int_equal(log_start_offset(bed.log), 0);
    MUST(log_flush(bed.log, &err));
    log_trim(bed.log, 25);
    assert_int_equal(log_start_offset(bed.log), 25);
    bed_crash(&bed); /* before a flush: what was dropped may come back */
    bed_open(&bed);
    assert_int_equal(count_batches(&bed), 25 - log_start_offset(bed.log));
    MUST(log_roll_before(bed.log, last + 1, &err));
    log_trim(bed.log, 25);
    MUST(log_flush(bed.log, &err));
    bed_crash(&bed);
    bed_open(&bed);
    assert_int_equal(log_start_offset(bed.log), 25);
    assert_int_equal(log_bytes(bed.log), 0);
    assert_int_equal(append(&bed, 1, 10).base_offset, 25);
    assert_int_equal(count_batches(&bed), 1);
    bed_deinit(&bed);
}

static void a_failed_sync_is_final_until_the_log_is_opened_again(void **state)
{
    (void)state;
    struct bed bed;
    struct log_appended appended;
    bed_init(&bed, 1 << 20);
    append(&bed, 1, 100);
    MUST(log_flush(bed.log, &err));
    append(&bed, 1, 100);
    sim_fail_sync(bed.disk, 0);
    MUST_FAIL(ERR_FAILED_STORAGE, log_flush(bed.log, &err));
    assert_int_equal(log_durable_offset(bed.log), 1);
    MUST_FAIL(ERR_FAILED_STORAGE, append_as(&bed, -1, -1, 1, 100, &appended));
    MUST_FAIL(ERR_FAILED_STORAGE, log_flush(bed.log, &err));
    assert_null(log_flush_begin(bed.log));
    assert_int_equal(count_batches(&bed), 2); /* reads go on */
    bed_close(&bed);
    bed_open(&bed); /* the second batch is in the page cache only: the opening writes it again */
    assert_int_equal(log_end_offset(bed.log), 2);
    bed_crash(&bed);
    bed_open(&bed);
    assert_int_equal(count_batches(&bed), 2);
    append(&bed, 1, 100);
    bed_deinit(&bed);
}

static void appends_go_on_while_a_flush_runs(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 500);
    append(&bed, 1, 52);
    struct log_flush *flush = log_flush_begin(bed.log);
    assert_non_null(flush);
    assert_null(log_flush_begin(bed.log));
    for (int i = 0; i < 30; i++)
        append(&bed, 1, 52); /* rolls the segment that is being synced */
    log_flush_run(flush);
    MUST(log_flush_end(bed.log, flush, &err));
    assert_int_equal(log_durable_offset(bed.log), 1);
    flush = log_flush_begin(bed.log);
    log_flush_run(flush);
    MUST(log_flush_end(bed.log, flush, &err));
    assert_int_equal(log_durable_offset(bed.log), 31);
    assert_null(log_flush_begin(bed.log));
    bed_crash(&bed);
    bed_open(&bed);
    assert_int_equal(count_batches(&bed), 31);
    bed_deinit(&bed);
}

static void trimmed_segments_go_and_their_views_stay(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 1000);
    for (int i = 0; i < 95; i++)
        append(&bed, 1, 52);
    MUST(log_flush(bed.log, &err));
    struct log_view view;
    MUST(log_view_at(bed.log, 13, 95, 200, &view, &err));
    log_trim(bed.log, 45);
    assert_int_equal(log_start_offset(bed.log), 40);
    MUST(log_flush(bed.log, &err));
    struct os_stat stat;
    assert_int_equal(os_stat(bed.os, "log/00000000000000000030.log", &stat, NULL), ERR_NOT_FOUND);
    MUST(log_view_locate(&view, true, &err)); /* its index file is gone too */
    assert_int_equal(view.base_offset, 13);
    assert_int_equal(view.length, 200);
    MUST(log_view_read(&view, &bed.batch, &err));
    log_view_release(&view);
    MUST_FAIL(ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION, log_view_at(bed.log, 39, 95, 200, &view, &err));
    bed_crash(&bed);
    bed_open(&bed);
    assert_int_equal(log_start_offset(bed.log), 40);
    assert_int_equal(count_batches(&bed), 55);
    log_trim(bed.log, 95);
    assert_int_equal(log_segment_count(bed.log), 1); /* the newest stays */
    int64_t max_ms = log_max_timestamp_ms(bed.log);
    bed_close(&bed);
    bed_open(&bed);
    assert_int_equal(log_max_timestamp_ms(bed.log), max_ms);
    bed_deinit(&bed);
}

static void old_segments_are_found_by_age(void **state)
{
    (void)state;
    struct bed bed;
    bed_init(&bed, 1000);
    int64_t start = 0;
    for (int i = 0; i < 50; i++) {
        int64_t at = append(&bed, 1, 52).timestamp_ms;
        start = i ? start : at;
        sim_advance(bed.disk, 1000000000);
    }
    assert_int_equal(log_offset_before(bed.log, start), 0);
    assert_int_equal(log_offset_before(bed.log, start + 9000), 0);
    assert_int_equal(log_offset_before(bed.log, start + 9500), 10);
    assert_int_equal(log_offset_before(bed.log, start + 100000000), 50);
    bed_deinit(&bed);
}

TESTS("log.recovery", TEST(only_the_tail_behind_the_checkpoint_is_read),
      TEST(a_segment_cut_at_any_byte_keeps_its_whole_batches), TEST(a_flipped_bit_in_the_tail_ends_the_log_there),
      TEST(a_damaged_sealed_segment_is_refused_and_nothing_changed), TEST(lost_indexes_are_made_again),
      TEST(without_its_checkpoint_the_whole_log_is_read), TEST(a_full_disk_refuses_appends_until_there_is_room),
      TEST(a_trim_frees_a_full_disk), TEST(an_old_log_can_go_as_a_whole_and_stays_gone),
      TEST(a_failed_sync_is_final_until_the_log_is_opened_again), TEST(appends_go_on_while_a_flush_runs),
      TEST(trimmed_segments_go_and_their_views_stay), TEST(old_segments_are_found_by_age))
