/* For the tests of src/log: a log on a simulated disk. */
#ifndef WEIR_TEST_LIB_LOG_BED_H
#define WEIR_TEST_LIB_LOG_BED_H

#include "log/log_int.h"

#include "lib/log_batch.h"
#include "lib/test.h"
#include "sim/sim.h"

static struct err err;

struct bed {
    struct sim_disk *disk;
    struct os *os;
    struct log_options options;
    struct log *log;
    struct log_recovery found;
    struct buf batch; /* scratch */
    uint64_t id;
};

static inline void bed_open(struct bed *bed)
{
    MUST(log_open(bed->os, "log", &bed->options, 0, &bed->log, &bed->found, &err));
}

static inline void bed_init(struct bed *bed, uint32_t segment_bytes)
{
    *bed = (struct bed){.disk = sim_disk_create(7), .options = log_options_default()};
    bed->options.segment_bytes = segment_bytes;
    bed->os = sim_boot(bed->disk);
    MUST(os_mkdir(bed->os, "log", &err));
    MUST(os_dir_sync(bed->os, "/", &err));
    bed_open(bed);
}

static inline void bed_deinit(struct bed *bed)
{
    if (bed->log)
        MUST(log_close(bed->log, &err));
    buf_deinit(&bed->batch);
    sim_disk_destroy(bed->disk);
}

static inline void bed_close(struct bed *bed)
{
    MUST(log_close(bed->log, &err));
    bed->log = NULL;
}

static inline void bed_crash(struct bed *bed)
{
    sim_crash(bed->os);
    log_abandon(bed->log);
    bed->log = NULL;
    bed->os = sim_boot(bed->disk);
}

static inline enum err_code append_as(struct bed *bed, int64_t writer, int32_t sequence, uint32_t records,
                                      uint32_t body, struct log_appended *appended)
{
    struct test_batch batch = {writer, sequence, records, ++bed->id, body};
    buf_reset(&bed->batch);
    test_batch_put(&bed->batch, &batch);
    return log_append(bed->log, buf_view(&bed->batch), appended, &err);
}

static inline struct log_appended append(struct bed *bed, uint32_t records, uint32_t body)
{
    struct log_appended appended;
    MUST(append_as(bed, -1, -1, records, body, &appended));
    return appended;
}

static inline struct log_view view_at(struct bed *bed, int64_t offset, int64_t limit, uint64_t bytes_max,
                                      bool at_least_one)
{
    struct log_view view;
    MUST(log_view_at(bed->log, offset, limit, bytes_max, &view, &err));
    MUST(log_view_locate(&view, at_least_one, &err));
    return view;
}

/* Reads the whole log from its start, checks offsets, and counts batches. */
static inline uint64_t count_batches(struct bed *bed)
{
    uint64_t count = 0;
    int64_t at = log_start_offset(bed->log);
    while (at < log_end_offset(bed->log)) {
        struct log_view view = view_at(bed, at, log_end_offset(bed->log), UINT64_MAX, true);
        struct buf bytes = {0};
        MUST(log_view_read(&view, &bytes, &err));
        assert_true(bytes.len > 0);
        for (size_t i = 0; i < bytes.len; count++) {
            struct log_head batch;
            assert_true(log_head_read(slice_of(bytes.ptr + i, bytes.len - i), &batch));
            assert_true(log_head_intact(slice_of(bytes.ptr + i, batch.bytes), &batch));
            assert_int_equal(batch.base_offset, at);
            at = log_head_next(&batch);
            i += batch.bytes;
        }
        assert_int_equal(at, view.next_offset);
        buf_deinit(&bytes);
        log_view_release(&view);
    }
    return count;
}

#endif
