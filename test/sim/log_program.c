/* The log under crashes. The model keeps every batch that was ever tried and, in order, those the log holds. What must
 * hold after each opening: everything below the durable offset is there as it was; what follows are whole batches that
 * were tried; none is there twice; writers are remembered as the batches tell. */
#include "lib/log_batch.h"
#include "log/log.h"
#include "sim/programs.h"
#include "sim/sim.h"

#include "base/vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 300, WRITERS = 3, HEADER_BYTES = 48, STAMPED_FROM = 13, STAMPED_TO = 21 };

struct kept {
    int64_t base_offset;
    int64_t next_offset;
    int64_t timestamp_ms;
    uint64_t id; /* into tried */
};

struct run {
    uint64_t seed;
    unsigned step;
    uint64_t digest;
    struct sim_disk *disk;
    struct os *os;
    struct log_options options;
    struct log *log;
    struct log_flush *flush; /* between begin and end */
    uint64_t flush_tried;    /* how many were tried at its begin */
    uint64_t dead_below;     /* what was refused before this one must never be seen */
    VEC(struct test_batch) tried;
    VEC(struct kept) kept; /* all that the log ever held in this life, also trimmed ones */
    int64_t start_offset;  /* as far as trims went */
    int64_t durable_offset;
    struct err err;
};

static void check(const struct run *run, bool holds, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void check(const struct run *run, bool holds, const char *fmt, ...)
{
    va_list args;
    if (holds)
        return;
    fprintf(stderr, "log program, seed %llu, step %u: ", (unsigned long long)run->seed, run->step);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\n");
    abort();
}

static uint64_t below(struct run *run, uint64_t bound)
{
    return sim_random_below(run->disk, bound);
}

static void note(struct run *run, uint64_t value)
{
    run->digest = (run->digest ^ value) * 0x9e3779b97f4a7c15u;
    run->digest ^= run->digest >> 29;
}

static int64_t end_of(const struct run *run)
{
    return run->kept.len ? run->kept.ptr[run->kept.len - 1].next_offset : 0;
}

/* ---- batches and writers of the model ---- */

static void put_tried(const struct run *run, struct buf *out, uint64_t id)
{
    test_batch_put(out, &run->tried.ptr[id]);
}

/* The sequences that the writer's last batches had, newest first. */
static size_t last_of(const struct run *run, int64_t writer_id, const struct kept *out[LOG_WRITER_BATCHES_MAX])
{
    size_t count = 0;
    for (size_t i = run->kept.len; i-- > 0 && count < LOG_WRITER_BATCHES_MAX;) {
        if (run->tried.ptr[run->kept.ptr[i].id].writer_id == writer_id)
            out[count++] = &run->kept.ptr[i];
    }
    return count;
}

static struct test_batch new_batch(struct run *run, int64_t writer_id, int32_t sequence)
{
    /* Few sizes, so that what a crash leaves of one batch lies where another one ends. */
    static const uint32_t records[] = {1, 1, 1, 2, 5}, bodies[] = {8, 8, 8, 60, 60, 1000, 3000};
    struct test_batch batch = {.writer_id = writer_id,
                               .sequence = sequence,
                               .record_count = records[below(run, ARRAY_LEN(records))],
                               .id = run->tried.len,
                               .body_bytes = bodies[below(run, ARRAY_LEN(bodies))]};
    vec_push(&run->tried, batch);
    return batch;
}

static void keep(struct run *run, uint64_t id, int64_t base_offset, int64_t timestamp_ms)
{
    int64_t next = base_offset + run->tried.ptr[id].record_count;
    vec_push(&run->kept, ((struct kept){base_offset, next, timestamp_ms, id}));
}

/* ---- steps ---- */

static bool refused_by_the_world(enum err_code code)
{
    return code == ERR_IO || code == ERR_DISK_FULL || code == ERR_FAILED_STORAGE;
}

static void append_plain(struct run *run)
{
    struct buf bytes = {0};
    struct log_appended appended;
    uint64_t first = run->tried.len, count = 1 + below(run, 3);
    for (uint64_t i = 0; i < count; i++) {
        new_batch(run, -1, -1);
        put_tried(run, &bytes, first + i);
    }
    enum err_code code = log_append(run->log, buf_view(&bytes), &appended, &run->err);
    note(run, code);
    buf_deinit(&bytes);
    if (code != OK) {
        check(run, refused_by_the_world(code), "append: %s", run->err.text);
        return;
    }
    check(run, appended.base_offset == end_of(run) && !appended.duplicate, "append at %lld, end was %lld",
          (long long)appended.base_offset, (long long)end_of(run));
    for (uint64_t i = 0; i < count; i++)
        keep(run, first + i, end_of(run), appended.timestamp_ms);
    check(run, appended.next_offset == end_of(run), "append ends at %lld", (long long)appended.next_offset);
}

/* A writer sends its next batch, or one it sent before, or one too far. */
static void append_of_writer(struct run *run)
{
    const struct kept *last[LOG_WRITER_BATCHES_MAX];
    int64_t writer_id = (int64_t)below(run, WRITERS);
    size_t count = last_of(run, writer_id, last);
    int32_t next = count ? run->tried.ptr[last[0]->id].sequence + 1 : 0;
    int32_t sequence = next;
    if (below(run, 4) == 0)
        sequence = MAX(0, next - (int32_t)below(run, 7)) + (below(run, 8) == 0 ? 2 : 0);
    const struct kept *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (run->tried.ptr[last[i]->id].sequence == sequence)
            first = last[i];
    }
    struct buf bytes = {0};
    struct log_appended appended;
    struct test_batch batch = new_batch(run, writer_id, sequence);
    put_tried(run, &bytes, batch.id);
    enum err_code code = log_append(run->log, buf_view(&bytes), &appended, &run->err);
    note(run, code);
    buf_deinit(&bytes);
    if (refused_by_the_world(code))
        return;
    if (!first && sequence != next) {
        check(run, code == ERR_OUT_OF_ORDER_SEQUENCE_EXCEPTION, "sequence %d was taken, %d comes next", sequence, next);
        return;
    }
    check(run, code == OK, "append of writer: %s", run->err.text);
    check(run, appended.duplicate == (first != NULL), "duplicate: %d, sequence %d", appended.duplicate, sequence);
    check(run, appended.base_offset == (first ? first->base_offset : end_of(run)), "base offset %lld",
          (long long)appended.base_offset);
    if (!first)
        keep(run, batch.id, appended.base_offset, appended.timestamp_ms);
}

static void flush_begin(struct run *run)
{
    if (run->flush)
        return;
    run->flush = log_flush_begin(run->log);
    run->flush_tried = run->tried.len;
}

static void flush_end(struct run *run)
{
    if (!run->flush)
        return;
    log_flush_run(run->flush);
    enum err_code code = log_flush_end(run->log, run->flush, &run->err);
    run->flush = NULL;
    note(run, code);
    check(run, code == OK || code == ERR_FAILED_STORAGE, "flush: %s", run->err.text);
    check(run, log_durable_offset(run->log) >= run->durable_offset, "durable went back");
    run->durable_offset = log_durable_offset(run->log);
    if (code == OK)
        run->dead_below = run->flush_tried;
}

static const struct kept *kept_at(const struct run *run, int64_t offset)
{
    for (size_t i = 0; i < run->kept.len; i++) {
        if (offset < run->kept.ptr[i].next_offset)
            return &run->kept.ptr[i];
    }
    return NULL;
}

/* The batch at the front of bytes is the kept one, stamps included; gives its size. */
static size_t check_batch(const struct run *run, struct slice bytes, const struct kept *kept)
{
    struct buf want = {0};
    put_tried(run, &want, kept->id);
    store_u64(want.ptr, (uint64_t)kept->base_offset);
    store_u64(want.ptr + STAMPED_FROM, (uint64_t)kept->timestamp_ms);
    check(run, bytes.len >= want.len && !memcmp(bytes.ptr, want.ptr, want.len), "batch at %lld has other bytes",
          (long long)kept->base_offset);
    size_t len = want.len;
    buf_deinit(&want);
    return len;
}

static void read_somewhere(struct run *run)
{
    int64_t start = log_start_offset(run->log), end = end_of(run);
    if (start == end)
        return;
    int64_t offset = start + (int64_t)below(run, (uint64_t)(end - start));
    const struct kept *kept = kept_at(run, offset), *limit = kept_at(run, offset + (int64_t)below(run, 40));
    int64_t limit_offset = limit ? limit->next_offset : end;
    uint64_t bytes_max = below(run, 4000);
    struct log_view view;
    struct buf bytes = {0};
    enum err_code code = log_view_at(run->log, offset, limit_offset, bytes_max, &view, &run->err);
    if (code == OK)
        code = log_view_locate(&view, true, &run->err);
    if (code == OK)
        code = log_view_read(&view, &bytes, &run->err);
    check(run, code == OK, "read at %lld: %s", (long long)offset, run->err.text);
    check(run, view.base_offset == kept->base_offset, "read at %lld begins at %lld", (long long)offset,
          (long long)view.base_offset);
    size_t at = 0;
    for (; at < bytes.len; kept++)
        at += check_batch(run, slice_of(bytes.ptr + at, bytes.len - at), kept);
    check(run, bytes.len > 0 && kept[-1].next_offset == view.next_offset && view.next_offset <= limit_offset,
          "read at %lld ends at %lld", (long long)offset, (long long)view.next_offset);
    check(run, bytes.len <= bytes_max || kept[-1].base_offset == view.base_offset, "read gave %zu bytes of %llu",
          bytes.len, (unsigned long long)bytes_max);
    note(run, bytes.len);
    log_view_release(&view);
    buf_deinit(&bytes);
}

static void look_up_time(struct run *run)
{
    int64_t start = log_start_offset(run->log);
    if (start == end_of(run))
        return;
    int64_t time = run->kept.ptr[below(run, run->kept.len)].timestamp_ms + (int64_t)below(run, 3) - 1;
    const struct kept *want = kept_at(run, start), *end = run->kept.ptr + run->kept.len;
    while (want < end && want->timestamp_ms < time)
        want++;
    struct log_view view;
    enum err_code code = log_view_at_time(run->log, time, end_of(run), 1, &view, &run->err);
    if (code == OK)
        code = log_view_locate(&view, true, &run->err);
    check(run, code == OK, "time: %s", run->err.text);
    check(run, view.base_offset == (want < end ? want->base_offset : end_of(run)), "time %lld leads to %lld",
          (long long)time, (long long)view.base_offset);
    log_view_release(&view);
}

static void trim(struct run *run)
{
    int64_t start = log_start_offset(run->log);
    int64_t room = log_durable_offset(run->log) - start;
    log_trim(run->log, start + (int64_t)below(run, (uint64_t)room + 1));
    run->start_offset = log_start_offset(run->log);
    note(run, (uint64_t)run->start_offset);
}

/* ---- ends and beginnings ---- */

static void open_log(struct run *run)
{
    struct log_recovery found;
    for (unsigned tries = 0;; tries++) {
        enum err_code code = log_open(run->os, "log", &run->options, 0, &run->log, &found, &run->err);
        note(run, code);
        if (code == OK)
            break;
        check(run, refused_by_the_world(code) && tries < 3, "open: %s: %s", err_name(code), run->err.text);
        sim_set_faults(run->disk, (struct sim_faults){0});
        sim_fail_sync(run->disk, UINT64_MAX);
        sim_stop_after(run->disk, UINT64_MAX);
        sim_set_capacity(run->disk, UINT64_MAX);
        if (below(run, 2)) {
            sim_crash(run->os);
            run->os = sim_boot(run->disk);
        }
    }
    check(run, found.lost_offsets == 0, "%lld offsets lost", (long long)found.lost_offsets);
    note(run, found.scanned_bytes);
    note(run, found.cut_bytes);
}

/* Which tried batch this is, by the first bytes of its body. */
static uint64_t id_of(const struct run *run, struct slice bytes)
{
    uint64_t id = bytes.len >= HEADER_BYTES + 8 ? load_u64(bytes.ptr + HEADER_BYTES) : UINT64_MAX;
    check(run, id < run->tried.len, "a batch that was never tried");
    return id;
}

/* Everything that the log holds, segment by segment. */
static void read_all(struct run *run, struct buf *bytes)
{
    int64_t at = log_start_offset(run->log);
    while (at < log_end_offset(run->log)) {
        struct log_view view;
        enum err_code code = log_view_at(run->log, at, log_end_offset(run->log), UINT64_MAX, &view, &run->err);
        if (code == OK)
            code = log_view_locate(&view, true, &run->err);
        if (code == OK)
            code = log_view_read(&view, bytes, &run->err);
        check(run, code == OK && view.next_offset > at, "reading it all at %lld: %s", (long long)at, run->err.text);
        at = view.next_offset;
        log_view_release(&view);
    }
}

static void check_durable(const struct run *run, const struct kept *before, size_t before_count)
{
    int64_t start = log_start_offset(run->log);
    for (size_t i = 0; i < before_count; i++) {
        if (before[i].base_offset < start || before[i].next_offset > run->durable_offset)
            continue;
        const struct kept *now = kept_at(run, before[i].base_offset);
        check(run, now && now->base_offset == before[i].base_offset && now->id == before[i].id,
              "durable batch at %lld is gone", (long long)before[i].base_offset);
    }
}

/* An append that was refused left nothing, at the latest from the next flush on. */
static void check_none_risen(const struct run *run, const struct kept *before, size_t before_count)
{
    uint8_t *held = mem_zalloc(run->tried.len + 1);
    for (size_t i = 0; i < before_count; i++)
        held[before[i].id] = 1;
    for (size_t i = 0; i < run->kept.len; i++)
        check(run, held[run->kept.ptr[i].id] || run->kept.ptr[i].id >= run->dead_below,
              "batch %llu was refused and is there", (unsigned long long)run->kept.ptr[i].id);
    mem_free(held);
}

static void check_none_twice(const struct run *run)
{
    uint8_t *seen = mem_zalloc(run->tried.len + 1);
    for (size_t i = 0; i < run->kept.len; i++)
        check(run, seen[run->kept.ptr[i].id]++ == 0, "batch %llu is there twice",
              (unsigned long long)run->kept.ptr[i].id);
    mem_free(seen);
}

/* Takes what is there as what happened, after looking at it closely. */
static void verify(struct run *run)
{
    struct buf bytes = {0};
    struct kept *before = run->kept.ptr;
    size_t before_count = run->kept.len;
    int64_t start = log_start_offset(run->log), end = log_end_offset(run->log);
    check(run, end >= run->durable_offset, "log ends at %lld, %lld were durable", (long long)end,
          (long long)run->durable_offset);
    check(run, start <= run->start_offset, "log starts at %lld, was trimmed to %lld", (long long)start,
          (long long)run->start_offset);
    run->start_offset = start;
    check(run, log_durable_offset(run->log) == end, "not durable after the opening");
    run->kept.ptr = NULL;
    run->kept.len = run->kept.cap = 0;
    for (size_t i = 0; i < before_count && before[i].next_offset <= start; i++)
        vec_push(&run->kept, before[i]);
    check(run, end_of(run) == start, "log starts at %lld, within a batch", (long long)start);
    read_all(run, &bytes);
    for (size_t at = 0; at < bytes.len;) {
        struct slice rest = slice_of(bytes.ptr + at, bytes.len - at);
        keep(run, id_of(run, rest), end_of(run), (int64_t)load_u64(rest.ptr + STAMPED_FROM));
        at += check_batch(run, rest, &run->kept.ptr[run->kept.len - 1]);
    }
    check(run, end_of(run) == end, "log ends at %lld, its batches at %lld", (long long)end, (long long)end_of(run));
    check_durable(run, before, before_count);
    check_none_twice(run);
    check_none_risen(run, before, before_count);
    run->dead_below = run->tried.len;
    run->durable_offset = end;
    mem_free(before);
    buf_deinit(&bytes);
}

static void reopen(struct run *run)
{
    flush_end(run);
    uint64_t how = below(run, 4);
    if (how == 0) {
        note(run, log_close(run->log, &run->err));
    } else {
        if (how == 1)
            sim_kill(run->os);
        else
            sim_crash(run->os);
        log_abandon(run->log);
        run->os = sim_boot(run->disk);
    }
    run->log = NULL;
    sim_stop_after(run->disk, UINT64_MAX);
    open_log(run);
    verify(run);
}

static void change_weather(struct run *run)
{
    static const uint32_t chances[] = {0, 0, 0, 20000, 200000};
    struct sim_faults faults = {.sync_fails_ppm = below(run, 3) ? 0 : 20000,
                                .write_fails_ppm = chances[below(run, ARRAY_LEN(chances))]};
    sim_set_faults(run->disk, faults);
    static const uint64_t rooms[] = {1, 200, 20000};
    uint64_t room = below(run, rooms[below(run, ARRAY_LEN(rooms))]);
    sim_set_capacity(run->disk, below(run, 3) ? UINT64_MAX : sim_used_bytes(run->disk) + room);
    if (below(run, 3) == 0)
        sim_stop_after(run->disk, below(run, 30));
    if (below(run, 3) == 0)
        sim_shift_wall(run->disk, (int64_t)below(run, 2000) - 1000);
}

/* A stopped disk stays so until the machine is started again. */
static void step(struct run *run)
{
    uint64_t what = below(run, 100);
    sim_advance(run->disk, (int64_t)below(run, 3000000));
    note(run, what);
    if (what < 25)
        append_plain(run);
    else if (what < 45)
        append_of_writer(run);
    else if (what < 57)
        flush_begin(run);
    else if (what < 70)
        flush_end(run);
    else if (what < 80)
        read_somewhere(run);
    else if (what < 85)
        look_up_time(run);
    else if (what < 88)
        trim(run);
    else if (what < 93)
        change_weather(run);
    else if (what < 95 || log_failed(run->log))
        reopen(run);
}

uint64_t sim_log_program(uint64_t seed)
{
    static const uint32_t segments[] = {120, 1000, 10000, 1 << 20};
    struct run run = {.seed = seed, .disk = sim_disk_create(seed), .options = log_options_default()};
    run.os = sim_boot(run.disk);
    run.options.segment_bytes = segments[below(&run, ARRAY_LEN(segments))];
    run.options.checkpoint_bytes = 1 << below(&run, 16);
    run.options.index_interval_bytes = 1 << below(&run, 12);
    enum err_code code = os_mkdir(run.os, "log", &run.err);
    if (code == OK)
        code = os_dir_sync(run.os, "/", &run.err);
    check(&run, code == OK, "mkdir: %s", run.err.text);
    open_log(&run);
    for (run.step = 0; run.step < STEPS; run.step++)
        step(&run);
    reopen(&run);
    note(&run, (uint64_t)end_of(&run));
    log_abandon(run.log);
    vec_deinit(&run.tried);
    vec_deinit(&run.kept);
    sim_disk_destroy(run.disk);
    return run.digest;
}
