#include "base/arena.h"
#include "base/buf.h"
#include "lib/test.h"
#include "os/real_int.h"

#include <sys/wait.h>
#include <unistd.h>

static struct err err;
static struct arena paths;

static const char *in(const char *dir, const char *name)
{
    return (const char *)arena_printf(&paths, "%s/%s%c", dir, name, 0).ptr;
}

static struct os_file *create(const char *path)
{
    struct os_file *file;
    MUST(os_file_open(os_real(), path, OS_WRITE | OS_CREATE, &file, &err));
    return file;
}

static void bytes_written_are_read_back(void **state)
{
    (void)state;
    struct os_file *file = create(in(test_dir(), "f"));
    char got_bytes[32];
    size_t got = 99;
    MUST(os_file_write(file, 3, SLICE("hello"), &err));
    MUST(os_file_sync(file, &err));
    MUST(os_file_read(file, 0, got_bytes, sizeof got_bytes, &got, &err));
    assert_slice_equal(slice_of(got_bytes, got), SLICE("\0\0\0hello"));
    MUST(os_file_read(file, 100, got_bytes, sizeof got_bytes, &got, &err));
    assert_int_equal(got, 0);
    os_file_close(file);
}

static void more_pieces_than_one_call_takes_are_written_in_order(void **state)
{
    (void)state;
    struct os_file *file = create(in(test_dir(), "f"));
    enum { COUNT = 1000 };
    static uint8_t bytes[COUNT];
    struct slice pieces[COUNT];
    size_t total = 0;
    struct buf want = {0}, got = {0};
    for (size_t i = 0; i < COUNT; i++) {
        bytes[i] = (uint8_t)i;
        pieces[i] = slice_of(bytes, i % 7); /* empty ones among them */
        total += pieces[i].len;
        buf_put_slice(&want, pieces[i]);
    }
    MUST(os_file_writev(file, 0, pieces, COUNT, &err));
    size_t len;
    MUST(os_file_read(file, 0, buf_extend(&got, total), total, &len, &err));
    assert_slice_equal(buf_view(&got), buf_view(&want));
    MUST(os_file_writev(file, 0, NULL, 0, &err));
    buf_deinit(&want);
    buf_deinit(&got);
    os_file_close(file);
}

static void flags_say_what_must_be_there(void **state)
{
    (void)state;
    const char *path = in(test_dir(), "f");
    struct os_file *file = NULL;
    MUST_FAIL(ERR_NOT_FOUND, os_file_open(os_real(), path, OS_READ, &file, &err));
    MUST_FAIL(ERR_NOT_FOUND, os_file_open(os_real(), path, OS_WRITE, &file, &err));
    MUST(os_file_open(os_real(), path, OS_WRITE | OS_CREATE | OS_EXCL, &file, &err));
    MUST(os_file_write(file, 0, SLICE("abc"), &err));
    os_file_close(file);
    MUST_FAIL(ERR_ALREADY_EXISTS, os_file_open(os_real(), path, OS_WRITE | OS_CREATE | OS_EXCL, &file, &err));
    MUST(os_file_open(os_real(), path, OS_WRITE | OS_TRUNC, &file, &err));
    uint64_t size;
    MUST(os_file_size(file, &size, &err));
    assert_int_equal(size, 0);
    os_file_close(file);
    MUST(os_file_open(os_real(), path, OS_READ, &file, &err));
    MUST_FAIL(ERR_IO, os_file_write(file, 0, SLICE("abc"), &err));
    os_file_close(file);
}

static void allocation_makes_the_file_longer_and_keeps_what_is_there(void **state)
{
    (void)state;
    struct os_file *file = create(in(test_dir(), "f"));
    MUST(os_file_write(file, 0, SLICE("abc"), &err));
    MUST(os_file_allocate(file, 2, 100000, &err));
    uint64_t size;
    MUST(os_file_size(file, &size, &err));
    assert_int_equal(size, 100002);
    char bytes[5];
    size_t got;
    MUST(os_file_read(file, 0, bytes, sizeof bytes, &got, &err));
    assert_slice_equal(slice_of(bytes, got), SLICE("abc\0\0"));
    MUST(os_file_truncate(file, 2, &err));
    MUST(os_file_size(file, &size, &err));
    assert_int_equal(size, 2);
    os_file_close(file);
}

static void allocation_without_fallocate_writes_zeros(void **state)
{
    (void)state;
    struct os_file *file = create(in(test_dir(), "f"));
    MUST(os_file_write(file, 0, SLICE("abc"), &err));
    MUST(real_allocate_zeros(file, 200000, &err));
    MUST(real_allocate_zeros(file, 5, &err));
    uint64_t size;
    MUST(os_file_size(file, &size, &err));
    assert_int_equal(size, 200000);
    char bytes[5];
    size_t got;
    MUST(os_file_read(file, 0, bytes, sizeof bytes, &got, &err));
    assert_slice_equal(slice_of(bytes, got), SLICE("abc\0\0"));
    os_file_close(file);
}

static void a_full_disk_is_said_so(void **state)
{
    (void)state;
    struct os_file *file;
    MUST(os_file_open(os_real(), "/dev/full", OS_WRITE, &file, &err));
    MUST_FAIL(ERR_DISK_FULL, os_file_write(file, 0, SLICE("x"), &err));
    assert_non_null(strstr(err.text, "/dev/full"));
    os_file_close(file);
}

/* A child takes the lock and holds it until the parent closes the pipe. */
static pid_t start_holder(const char *path, int *held_fd, int *release_fd)
{
    int held[2], release[2];
    assert_int_equal(pipe(held), 0);
    assert_int_equal(pipe(release), 0);
    pid_t child = fork();
    if (child == 0) {
        struct os_file *file;
        char c;
        close(release[1]);
        if (os_file_open(os_real(), path, OS_WRITE, &file, NULL) != OK || os_file_lock(file, NULL) != OK)
            _exit(1);
        _exit(write(held[1], "x", 1) == 1 && read(release[0], &c, 1) == 0 ? 0 : 2);
    }
    close(held[1]);
    close(release[0]);
    *held_fd = held[0];
    *release_fd = release[1];
    return child;
}

static void a_lock_held_by_another_process_is_refused_until_it_ends(void **state)
{
    (void)state;
    const char *path = in(test_dir(), "lock");
    struct os_file *file = create(path);
    int held_fd, release_fd, status;
    pid_t child = start_holder(path, &held_fd, &release_fd);
    char c;
    assert_int_equal(read(held_fd, &c, 1), 1);
    MUST_FAIL(ERR_LOCKED, os_file_lock(file, &err));
    close(release_fd);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    MUST(os_file_lock(file, &err));
    close(held_fd);
    os_file_close(file);
}

static void a_whole_file_is_read_up_to_its_limit(void **state)
{
    (void)state;
    const char *path = in(test_dir(), "f");
    struct buf out = {0};
    MUST_FAIL(ERR_NOT_FOUND, os_read_whole(os_real(), path, 10, &out, &err));
    MUST(os_write_durable(os_real(), path, SLICE("0123456789"), &err));
    buf_put_slice(&out, SLICE("> "));
    MUST(os_read_whole(os_real(), path, 10, &out, &err));
    assert_slice_equal(buf_view(&out), SLICE("> 0123456789"));
    MUST_FAIL(ERR_LIMIT, os_read_whole(os_real(), path, 9, &out, &err));
    assert_int_equal(out.len, 12);
    buf_deinit(&out);
}

static void a_durable_write_replaces_and_leaves_nothing_beside(void **state)
{
    (void)state;
    const char *first = test_dir(), *path = in(first, "f");
    struct os_stat stat;
    struct buf out = {0};
    MUST(os_write_durable(os_real(), path, SLICE("a long first content"), &err));
    MUST(os_write_durable(os_real(), path, SLICE("second"), &err));
    MUST(os_read_whole(os_real(), path, 100, &out, &err));
    assert_slice_equal(buf_view(&out), SLICE("second"));
    MUST_FAIL(ERR_NOT_FOUND, os_stat(os_real(), in(first, "f.tmp"), &stat, &err));
    buf_deinit(&out);
    /* Over a directory it fails, and the temporary file goes again. */
    const char *dir = test_dir();
    const char *sub = in(dir, "sub");
    MUST(os_mkdir(os_real(), sub, &err));
    assert_int_not_equal(os_write_durable(os_real(), sub, SLICE("x"), &err), OK);
    MUST_FAIL(ERR_NOT_FOUND, os_stat(os_real(), in(dir, "sub.tmp"), &stat, &err));
}

TESTS("os.file", TEST(bytes_written_are_read_back), TEST(more_pieces_than_one_call_takes_are_written_in_order),
      TEST(flags_say_what_must_be_there), TEST(allocation_makes_the_file_longer_and_keeps_what_is_there),
      TEST(allocation_without_fallocate_writes_zeros), TEST(a_full_disk_is_said_so),
      TEST(a_lock_held_by_another_process_is_refused_until_it_ends), TEST(a_whole_file_is_read_up_to_its_limit),
      TEST(a_durable_write_replaces_and_leaves_nothing_beside))
