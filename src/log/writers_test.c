#include "lib/log_bed.h"

static void a_repeated_batch_is_answered_with_its_first_offsets(void **state)
{
    (void)state;
    struct bed bed;
    struct log_appended appended;
    bed_init(&bed, 1 << 20);
    for (int i = 0; i < 8; i++)
        MUST(append_as(&bed, 5, i, 3, 20, &appended));
    for (int reopened = 0; reopened < 3; reopened++) {
        for (int i = 3; i < 8; i++) {
            MUST(append_as(&bed, 5, i, 3, 20, &appended));
            assert_true(appended.duplicate);
            assert_int_equal(appended.base_offset, i * 3);
            assert_int_equal(appended.next_offset, i * 3 + 3);
            MUST(log_writer_check(bed.log, 5, i, &appended, &err));
            assert_true(appended.duplicate);
        }
        MUST_FAIL(ERR_OUT_OF_ORDER_SEQUENCE_EXCEPTION, append_as(&bed, 5, 2, 3, 20, &appended)); /* forgotten */
        MUST_FAIL(ERR_OUT_OF_ORDER_SEQUENCE_EXCEPTION, append_as(&bed, 5, 9, 3, 20, &appended));
        MUST(log_writer_check(bed.log, 5, 8, &appended, &err));
        assert_false(appended.duplicate);
        assert_int_equal(count_batches(&bed), 8);
        if (reopened == 0) {
            MUST(log_flush(bed.log, &err));
            bed_crash(&bed); /* from the tail */
        } else {
            bed_close(&bed); /* from the checkpoint */
        }
        bed_open(&bed);
    }
    bed_deinit(&bed);
}

static void a_writer_begins_with_zero_and_wraps(void **state)
{
    (void)state;
    struct bed bed;
    struct log_appended appended;
    bed_init(&bed, 1 << 20);
    MUST_FAIL(ERR_OUT_OF_ORDER_SEQUENCE_EXCEPTION, append_as(&bed, 5, 1, 1, 20, &appended));
    MUST_FAIL(ERR_OUT_OF_ORDER_SEQUENCE_EXCEPTION, log_writer_check(bed.log, 5, 1, &appended, &err));
    MUST(log_writer_check(bed.log, -1, 77, &appended, &err));
    log_writers_note(&bed.log->writers, 5, (struct log_writer_batch){INT32_MAX - 1, 0, 0, os_wall_ms(bed.os)});
    MUST(append_as(&bed, 5, INT32_MAX, 1, 20, &appended));
    MUST_FAIL(ERR_OUT_OF_ORDER_SEQUENCE_EXCEPTION, append_as(&bed, 5, INT32_MIN, 1, 20, &appended));
    MUST(append_as(&bed, 5, 0, 1, 20, &appended));
    assert_false(appended.duplicate);
    bed_deinit(&bed);
}

/* As a start reads it: the writer was forgotten in between, and its first numbers count no more. */
static void a_writer_that_began_anew_has_no_duplicates_before_that(void **state)
{
    (void)state;
    struct log_writers writers = {0};
    const struct log_writer_batch *duplicate;
    static const int32_t sequences[] = {0, 1, 2, 0, 1};
    for (int i = 0; i < 5; i++)
        log_writers_note(&writers, 5, (struct log_writer_batch){sequences[i], 0, i, 0});
    MUST(log_writers_check(&writers, 5, 1, -1, &duplicate, &err));
    assert_int_equal(duplicate->base_offset, 4);
    MUST(log_writers_check(&writers, 5, 2, -1, &duplicate, &err));
    assert_null(duplicate);
    log_writers_deinit(&writers);
}

static void one_append_may_hold_several_batches_of_a_writer(void **state)
{
    (void)state;
    struct bed bed;
    struct log_appended appended;
    bed_init(&bed, 1 << 20);
    for (int i = 0; i < 3; i++) {
        test_batch_put(&bed.batch, &(struct test_batch){5, i, 1, 0, 9});
        test_batch_put(&bed.batch, &(struct test_batch){6, i, 1, 0, 9});
    }
    MUST(log_append(bed.log, buf_view(&bed.batch), &appended, &err));
    assert_int_equal(appended.next_offset, 6);
    MUST(log_append(bed.log, buf_view(&bed.batch), &appended, &err));
    assert_true(appended.duplicate);
    buf_reset(&bed.batch);
    test_batch_put(&bed.batch, &(struct test_batch){5, 3, 1, 0, 9});
    test_batch_put(&bed.batch, &(struct test_batch){5, 5, 1, 0, 9});
    MUST_FAIL(ERR_OUT_OF_ORDER_SEQUENCE_EXCEPTION, log_append(bed.log, buf_view(&bed.batch), &appended, &err));
    assert_int_equal(log_end_offset(bed.log), 6); /* not half of it */
    bed_deinit(&bed);
}

static void quiet_writers_are_forgotten(void **state)
{
    (void)state;
    struct bed bed;
    struct log_appended appended;
    bed_init(&bed, 1 << 20);
    const int64_t day_ns = (int64_t)24 * 3600 * 1000000000;
    MUST(append_as(&bed, 1, 0, 1, 9, &appended));
    sim_advance(bed.disk, 6 * day_ns);
    MUST(append_as(&bed, 2, 0, 1, 9, &appended));
    MUST(append_as(&bed, 1, 1, 1, 9, &appended));
    assert_int_equal(log_writer_count(bed.log), 2);
    sim_advance(bed.disk, 6 * day_ns);
    MUST(append_as(&bed, 1, 2, 1, 9, &appended));
    sim_advance(bed.disk, 2 * day_ns);
    append(&bed, 1, 9);
    assert_int_equal(log_writer_count(bed.log), 1);
    MUST_FAIL(ERR_OUT_OF_ORDER_SEQUENCE_EXCEPTION, append_as(&bed, 2, 1, 1, 9, &appended));
    bed_close(&bed);
    MUST(os_unlink(bed.os, "log/checkpoint", &err));
    bed_open(&bed); /* a replay takes what is there, in whatever order writers were forgotten */
    assert_int_equal(count_batches(&bed), 5);
    bed_deinit(&bed);
}

static void writers_are_bounded_and_the_quietest_goes(void **state)
{
    (void)state;
    struct log_writers writers = {0};
    const struct log_writer_batch *first;
    for (int64_t id = 0; id < LOG_WRITERS_MAX + 10; id++)
        log_writers_note(&writers, id, (struct log_writer_batch){0, 0, id, id});
    assert_int_equal(writers.count, LOG_WRITERS_MAX);
    assert_int_equal(writers.oldest->id, 10);
    MUST(log_writers_check(&writers, 10, 0, -1, &first, &err));
    assert_non_null(first);
    MUST_FAIL(ERR_OUT_OF_ORDER_SEQUENCE_EXCEPTION, log_writers_check(&writers, 9, 1, -1, &first, &err));
    struct log_checkpoint checkpoint = {.start_offset = 0, .max_timestamp_ms = -1};
    struct log_writers read = {0};
    struct buf bytes = {0};
    vec_push(&checkpoint.segments, ((struct log_checkpoint_segment){0, 0, 0, -1, 0}));
    log_checkpoint_encode(&bytes, &checkpoint, &writers);
    assert_true(bytes.len <= LOG_CHECKPOINT_BYTES_MAX);
    vec_reset(&checkpoint.segments);
    MUST(log_checkpoint_decode(buf_view(&bytes), &checkpoint, &read, &err));
    assert_int_equal(read.count, writers.count);
    assert_int_equal(read.oldest->id, 10);
    vec_deinit(&checkpoint.segments);
    log_writers_deinit(&read);
    log_writers_deinit(&writers);
    buf_deinit(&bytes);
}

static void every_damage_to_a_checkpoint_is_noticed(void **state)
{
    (void)state;
    struct log_writers writers = {0};
    struct log_checkpoint checkpoint = {.start_offset = 3, .max_timestamp_ms = 9, .rows_end_offset = 8};
    struct buf bytes = {0};
    vec_push(&checkpoint.segments, ((struct log_checkpoint_segment){3, 8, 700, 5, 1}));
    vec_push(&checkpoint.segments, ((struct log_checkpoint_segment){8, 9, 100, 9, 1}));
    log_writers_note(&writers, 4, (struct log_writer_batch){0, 1, 2, 3});
    log_checkpoint_encode(&bytes, &checkpoint, &writers);
    vec_deinit(&checkpoint.segments);
    for (size_t at = 0; at < bytes.len; at++) {
        struct log_checkpoint read = {0};
        struct log_writers read_writers = {0};
        MUST_FAIL(ERR_CORRUPT, log_checkpoint_decode(slice_of(bytes.ptr, at), &read, &read_writers, &err));
        bytes.ptr[at] ^= 1;
        MUST_FAIL(ERR_CORRUPT, log_checkpoint_decode(buf_view(&bytes), &read, &read_writers, &err));
        bytes.ptr[at] ^= 1;
        vec_deinit(&read.segments);
        log_writers_deinit(&read_writers);
    }
    log_writers_deinit(&writers);
    buf_deinit(&bytes);
}

TESTS("log.writers", TEST(a_repeated_batch_is_answered_with_its_first_offsets),
      TEST(a_writer_begins_with_zero_and_wraps), TEST(a_writer_that_began_anew_has_no_duplicates_before_that),
      TEST(one_append_may_hold_several_batches_of_a_writer), TEST(quiet_writers_are_forgotten),
      TEST(writers_are_bounded_and_the_quietest_goes), TEST(every_damage_to_a_checkpoint_is_noticed))
