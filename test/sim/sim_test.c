#include "sim/sim.h"

#include "base/buf.h"
#include "lib/test.h"

static struct err err;

static void put(struct os *os, const char *path, const char *text, bool syncs)
{
    struct os_file *file;
    MUST(os_file_open(os, path, OS_WRITE | OS_CREATE, &file, &err));
    MUST(os_file_write(file, 0, slice_str(text), &err));
    if (syncs)
        MUST(os_file_sync(file, &err));
    os_file_close(file);
}

static void assert_content(struct os *os, const char *path, const char *want)
{
    struct buf got = {0};
    MUST(os_read_whole(os, path, 1 << 20, &got, &err));
    assert_slice_equal(buf_view(&got), slice_str(want));
    buf_deinit(&got);
}

static void synced_bytes_under_a_synced_name_survive_every_crash(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct sim_disk *disk = sim_disk_create(seed);
        struct os *os = sim_boot(disk);
        MUST(os_mkdirs(os, "a/b", &err));
        MUST(os_dir_sync(os, "/", &err));
        MUST(os_dir_sync(os, "a", &err));
        put(os, "a/b/f", "kept", true);
        MUST(os_dir_sync(os, "a/b", &err));
        put(os, "a/b/f", "lost, torn or there, but never needed", false);
        sim_crash(os);
        os = sim_boot(disk);
        struct buf got = {0};
        MUST(os_read_whole(os, "a/b/f", 1000, &got, &err));
        assert_true(got.len >= 4);
        buf_deinit(&got);
        sim_disk_destroy(disk);
    }
}

/* Counts over many seeds how often the file has its bytes after a crash. */
static unsigned survivors(bool syncs_file, bool syncs_dir)
{
    unsigned found = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_disk *disk = sim_disk_create(seed);
        struct os *os = sim_boot(disk);
        put(os, "f", "0123456789", syncs_file);
        if (syncs_dir)
            MUST(os_dir_sync(os, "/", &err));
        sim_crash(os);
        os = sim_boot(disk);
        struct buf got = {0};
        found += os_read_whole(os, "f", 1000, &got, NULL) == OK && slice_is(buf_view(&got), "0123456789");
        buf_deinit(&got);
        sim_disk_destroy(disk);
    }
    return found;
}

static void what_was_not_synced_is_sometimes_lost(void **state)
{
    (void)state;
    assert_int_equal(survivors(true, true), 100);
    assert_in_range(survivors(true, false), 10, 90);
    assert_in_range(survivors(false, true), 10, 90);
}

static void a_failed_sync_is_not_made_good_by_the_next(void **state)
{
    (void)state;
    struct sim_disk *disk = sim_disk_create(1);
    struct os *os = sim_boot(disk);
    struct os_file *file;
    MUST(os_file_open(os, "f", OS_WRITE | OS_CREATE, &file, &err));
    MUST(os_dir_sync(os, "/", &err));
    MUST(os_file_write(file, 0, SLICE("x"), &err));
    sim_fail_sync(disk, 0);
    MUST_FAIL(ERR_IO, os_file_sync(file, &err));
    MUST(os_file_sync(file, &err));
    assert_content(os, "f", "x");
    os_file_close(file);
    sim_crash(os);
    os = sim_boot(disk);
    assert_content(os, "f", "");
    sim_disk_destroy(disk);
}

static void a_kill_loses_nothing_and_frees_locks(void **state)
{
    (void)state;
    struct sim_disk *disk = sim_disk_create(1);
    struct os *os = sim_boot(disk);
    struct os_file *file, *other;
    MUST(os_file_open(os, "f", OS_WRITE | OS_CREATE, &file, &err));
    MUST(os_file_write(file, 0, SLICE("x"), &err));
    MUST(os_file_lock(file, &err));
    MUST(os_file_open(os, "f", OS_READ, &other, &err));
    MUST_FAIL(ERR_LOCKED, os_file_lock(other, &err));
    sim_kill(os);
    MUST_FAIL(ERR_IO, os_file_write(file, 0, SLICE("y"), &err));
    os_file_close(file);
    os_file_close(other);
    os = sim_boot(disk);
    assert_content(os, "f", "x");
    MUST(os_file_open(os, "f", OS_READ, &file, &err));
    MUST(os_file_lock(file, &err));
    os_file_close(file);
    sim_disk_destroy(disk);
}

static void a_full_disk_refuses_and_takes_again(void **state)
{
    (void)state;
    struct sim_disk *disk = sim_disk_create(3);
    struct os *os = sim_boot(disk);
    struct os_file *file;
    MUST(os_file_open(os, "f", OS_WRITE | OS_CREATE, &file, &err));
    MUST(os_file_allocate(file, 0, 10, &err));
    sim_set_capacity(disk, 12);
    MUST_FAIL(ERR_DISK_FULL, os_file_allocate(file, 10, 10, &err));
    MUST(os_file_write(file, 0, SLICE("0123456789"), &err));
    MUST_FAIL(ERR_DISK_FULL, os_file_write(file, 10, SLICE("0123456789"), &err));
    MUST(os_file_truncate(file, 0, &err));
    MUST(os_file_write(file, 0, SLICE("0123456789"), &err));
    os_file_close(file);
    sim_disk_destroy(disk);
}

static void a_rename_is_whole_or_not_there(void **state)
{
    (void)state;
    unsigned renamed = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_disk *disk = sim_disk_create(seed);
        struct os *os = sim_boot(disk);
        MUST(os_write_durable(os, "f", SLICE("old"), &err));
        put(os, "g", "new", true);
        MUST(os_dir_sync(os, "/", &err));
        MUST(os_rename(os, "g", "f", &err));
        sim_crash(os);
        os = sim_boot(disk);
        struct os_stat stat;
        bool is_new = os_stat(os, "g", &stat, NULL) != OK;
        assert_content(os, "f", is_new ? "new" : "old");
        renamed += is_new;
        sim_disk_destroy(disk);
    }
    assert_in_range(renamed, 10, 90);
}

/* One hash of everything a run shows. */
static uint64_t run_of(uint64_t seed)
{
    struct sim_disk *disk = sim_disk_create(seed);
    struct os *os = sim_boot(disk);
    struct buf all = {0};
    char uuid[37];
    os_uuid(os, uuid);
    buf_put(&all, uuid, 36);
    put(os, "f", "some bytes that may or may not be there", false);
    MUST(os_dir_sync(os, "/", &err));
    buf_put_u64(&all, (uint64_t)os_mono_ns(os));
    sim_crash(os);
    os = sim_boot(disk);
    MUST(os_read_whole(os, "f", 1000, &all, &err));
    uint64_t hash = 0;
    for (size_t i = 0; i < all.len; i++)
        hash = hash * 31 + all.ptr[i];
    buf_deinit(&all);
    sim_disk_destroy(disk);
    return hash;
}

static void a_seed_repeats_its_run(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++)
        assert_true(run_of(seed) == run_of(seed));
    assert_true(run_of(1) != run_of(2));
}

static void a_stopped_disk_does_nothing_more(void **state)
{
    (void)state;
    struct sim_disk *disk = sim_disk_create(1);
    struct os *os = sim_boot(disk);
    sim_stop_after(disk, 2);
    MUST(os_mkdir(os, "a", &err));
    MUST(os_mkdir(os, "b", &err));
    MUST_FAIL(ERR_IO, os_mkdir(os, "c", &err));
    MUST_FAIL(ERR_IO, os_dir_sync(os, "/", &err));
    sim_stop_after(disk, UINT64_MAX);
    MUST(os_mkdir(os, "c", &err));
    sim_disk_destroy(disk);
}

static void time_moves_only_in_the_simulation(void **state)
{
    (void)state;
    struct sim_disk *disk = sim_disk_create(1);
    struct os *os = sim_boot(disk);
    struct os_mutex mutex;
    struct os_cond cond;
    int64_t before = os_mono_ns(os);
    os_sleep_ns(os, 3600000000000);
    assert_true(os_mono_ns(os) - before >= 3600000000000);
    os_mutex_init(&mutex, os);
    os_cond_init(&cond, os);
    os_mutex_lock(&mutex);
    int64_t deadline = os_mono_ns(os) + 1000000000;
    assert_false(os_cond_wait_until(&cond, &mutex, deadline));
    assert_true(os_mono_ns(os) >= deadline);
    os_mutex_unlock(&mutex);
    os_cond_deinit(&cond);
    os_mutex_deinit(&mutex);
    int64_t wall = os_wall_ms(os);
    sim_shift_wall(disk, -5000);
    assert_true(os_wall_ms(os) < wall);
    struct os_thread *thread;
    MUST_FAIL(ERR_NOT_SUPPORTED, os_thread_start(os, "t", NULL, NULL, &thread, &err));
    sim_disk_destroy(disk);
}

TESTS("sim.disk", TEST(synced_bytes_under_a_synced_name_survive_every_crash),
      TEST(what_was_not_synced_is_sometimes_lost), TEST(a_failed_sync_is_not_made_good_by_the_next),
      TEST(a_kill_loses_nothing_and_frees_locks), TEST(a_full_disk_refuses_and_takes_again),
      TEST(a_rename_is_whole_or_not_there), TEST(a_seed_repeats_its_run), TEST(a_stopped_disk_does_nothing_more),
      TEST(time_moves_only_in_the_simulation))
