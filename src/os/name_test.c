#include "base/arena.h"
#include "base/buf.h"
#include "lib/test.h"
#include "os/real_int.h"

#include <sys/stat.h>
#include <unistd.h>

static struct err err;
static struct arena paths;

static const char *in(const char *dir, const char *name)
{
    return (const char *)arena_printf(&paths, "%s/%s%c", dir, name, 0).ptr;
}

static void put(const char *path, const char *text)
{
    MUST(os_write_durable(os_real(), path, slice_str(text), &err));
}

static void assert_holds(const char *path, const char *text)
{
    struct buf out = {0};
    MUST(os_read_whole(os_real(), path, 100, &out, &err));
    assert_slice_equal(buf_view(&out), slice_str(text));
    buf_deinit(&out);
}

static void rename_replaces_and_noreplace_does_not(void **state)
{
    (void)state;
    const char *dir = test_dir(), *a = in(dir, "a"), *b = in(dir, "b");
    put(a, "of a");
    put(b, "of b");
    MUST_FAIL(ERR_ALREADY_EXISTS, os_rename_noreplace(os_real(), a, b, &err));
    assert_holds(a, "of a");
    assert_holds(b, "of b");
    MUST(os_rename(os_real(), a, b, &err));
    assert_holds(b, "of a");
    MUST_FAIL(ERR_NOT_FOUND, os_rename(os_real(), a, b, &err));
    MUST(os_rename_noreplace(os_real(), b, a, &err));
    assert_holds(a, "of a");
    MUST_FAIL(ERR_NOT_FOUND, os_rename_noreplace(os_real(), b, in(dir, "c"), &err));
}

static void rename_by_link_does_not_replace_either(void **state)
{
    (void)state;
    const char *dir = test_dir(), *a = in(dir, "a"), *b = in(dir, "b");
    struct os_stat stat;
    put(a, "of a");
    put(b, "of b");
    MUST_FAIL(ERR_ALREADY_EXISTS, real_rename_by_link(a, b, &err));
    assert_holds(a, "of a");
    assert_holds(b, "of b");
    MUST(os_unlink(os_real(), b, &err));
    MUST(real_rename_by_link(a, b, &err));
    assert_holds(b, "of a");
    MUST_FAIL(ERR_NOT_FOUND, os_stat(os_real(), a, &stat, &err));
}

enum { RACERS = 4, ROUNDS = 50 };

struct racer {
    const char *dir;
    int number;
    int won[ROUNDS];
};

static void race(void *arg)
{
    struct racer *racer = arg;
    for (int round = 0; round < ROUNDS; round++) {
        char from[300], to[300];
        snprintf(from, sizeof from, "%s/from-%d-%d", racer->dir, racer->number, round);
        snprintf(to, sizeof to, "%s/to-%d", racer->dir, round);
        enum err_code code = os_rename_noreplace(os_real(), from, to, NULL);
        racer->won[round] = code == OK ? 1 : code == ERR_ALREADY_EXISTS ? 0 : 1000;
    }
}

static void of_many_who_rename_to_one_name_one_wins(void **state)
{
    (void)state;
    const char *dir = test_dir();
    static struct racer racers[RACERS];
    struct os_thread *threads[RACERS];
    for (int i = 0; i < RACERS; i++) {
        racers[i] = (struct racer){.dir = dir, .number = i};
        for (int round = 0; round < ROUNDS; round++) {
            struct os_file *file;
            const char *path = (const char *)arena_printf(&paths, "%s/from-%d-%d%c", dir, i, round, 0).ptr;
            MUST(os_file_open(os_real(), path, OS_WRITE | OS_CREATE, &file, &err));
            os_file_close(file);
        }
    }
    for (int i = 0; i < RACERS; i++)
        MUST(os_thread_start(os_real(), "racer", race, &racers[i], &threads[i], &err));
    for (int i = 0; i < RACERS; i++)
        os_thread_join(threads[i]);
    for (int round = 0; round < ROUNDS; round++) {
        int winners = 0;
        for (int i = 0; i < RACERS; i++)
            winners += racers[i].won[round];
        assert_int_equal(winners, 1);
    }
}

struct seen {
    int files, dirs;
    int stop_after;
};

static enum err_code see(void *arg, const char *name, bool is_dir, struct err *e)
{
    struct seen *seen = arg;
    assert_true(name[0] != '.');
    seen->files += !is_dir;
    seen->dirs += is_dir;
    return seen->files + seen->dirs == seen->stop_after ? err_set(e, ERR_LIMIT, "enough") : OK;
}

static void a_listing_tells_files_from_directories_and_ends_on_an_error(void **state)
{
    (void)state;
    const char *dir = test_dir();
    put(in(dir, "f"), "");
    MUST(os_mkdir(os_real(), in(dir, "d"), &err));
    assert_int_equal(symlink(in(dir, "d"), in(dir, "link")), 0);
    struct seen seen = {0};
    MUST(os_dir_list(os_real(), dir, see, &seen, &err));
    assert_int_equal(seen.files, 2);
    assert_int_equal(seen.dirs, 1);
    seen = (struct seen){.stop_after = 1};
    MUST_FAIL(ERR_LIMIT, os_dir_list(os_real(), dir, see, &seen, &err));
    assert_int_equal(seen.files + seen.dirs, 1);
    MUST_FAIL(ERR_NOT_FOUND, os_dir_list(os_real(), in(dir, "none"), see, &seen, &err));
}

static void directories_are_made_with_their_parents(void **state)
{
    (void)state;
    const char *dir = test_dir(), *deep = in(dir, "a//b/c/");
    struct os_stat stat;
    MUST(os_mkdirs(os_real(), deep, &err));
    MUST(os_mkdirs(os_real(), deep, &err));
    MUST(os_stat(os_real(), in(dir, "a/b/c"), &stat, &err));
    assert_true(stat.is_dir);
    MUST(os_dir_sync(os_real(), dir, &err));
    MUST_FAIL(ERR_ALREADY_EXISTS, os_mkdir(os_real(), in(dir, "a"), &err));
    put(in(dir, "file"), "x");
    MUST_FAIL(ERR_ALREADY_EXISTS, os_mkdirs(os_real(), in(dir, "file"), &err));
    assert_int_not_equal(os_mkdirs(os_real(), in(dir, "file/sub"), &err), OK);
}

static void a_tree_is_removed_without_following_links(void **state)
{
    (void)state;
    const char *dir = test_dir(), *tree = in(dir, "tree"), *other = in(dir, "other");
    struct os_stat stat;
    MUST(os_mkdirs(os_real(), in(tree, "a/b"), &err));
    MUST(os_mkdirs(os_real(), other, &err));
    put(in(tree, "a/b/f"), "x");
    put(in(other, "kept"), "x");
    assert_int_equal(symlink(other, in(tree, "link")), 0);
    MUST(os_remove_tree(os_real(), tree, &err));
    MUST_FAIL(ERR_NOT_FOUND, os_stat(os_real(), tree, &stat, &err));
    assert_holds(in(other, "kept"), "x");
    MUST(os_remove_tree(os_real(), tree, &err));
}

static void a_tree_too_deep_is_left_with_an_error(void **state)
{
    (void)state;
    const char *dir = test_dir();
    struct buf path = {0};
    buf_printf(&path, "%s/t", dir);
    for (int i = 0; i < 70; i++)
        buf_printf(&path, "/d");
    MUST(os_mkdirs(os_real(), buf_cstr(&path), &err));
    MUST_FAIL(ERR_LIMIT, os_remove_tree(os_real(), in(dir, "t"), &err));
    buf_deinit(&path);
}

static void a_path_too_long_is_refused(void **state)
{
    (void)state;
    char path[OS_PATH_MAX + 1];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = 0;
    MUST_FAIL(ERR_LIMIT, os_mkdirs(os_real(), path, &err));
    MUST_FAIL(ERR_LIMIT, os_write_durable(os_real(), path, SLICE("x"), &err));
}

static void stat_and_disk_and_real_path_tell_what_is_there(void **state)
{
    (void)state;
    const char *dir = test_dir(), *f = in(dir, "f"), *link = in(dir, "link");
    struct os_stat stat;
    char real[OS_PATH_MAX], want[OS_PATH_MAX];
    put(f, "12345");
    assert_int_equal(symlink("f", link), 0);
    MUST(os_stat(os_real(), link, &stat, &err));
    assert_int_equal(stat.size, 5);
    assert_false(stat.is_dir);
    int64_t age_ms = os_wall_ms(os_real()) - stat.modified_ms;
    assert_true(age_ms > -60000 && age_ms < 60000);
    MUST(os_realpath(os_real(), link, real, &err));
    MUST(os_realpath(os_real(), f, want, &err));
    assert_string_equal(real, want);
    assert_int_equal(real[0], '/');
    MUST_FAIL(ERR_NOT_FOUND, os_realpath(os_real(), in(dir, "none"), real, &err));
    uint64_t free_bytes, total_bytes;
    MUST(os_disk_free(os_real(), dir, &free_bytes, &total_bytes, &err));
    assert_true(total_bytes > 0 && free_bytes <= total_bytes);
    MUST(os_unlink(os_real(), f, &err));
    MUST_FAIL(ERR_NOT_FOUND, os_unlink(os_real(), f, &err));
    MUST_FAIL(ERR_NOT_FOUND, os_rmdir(os_real(), f, &err));
}

TESTS("os.name", TEST(rename_replaces_and_noreplace_does_not), TEST(rename_by_link_does_not_replace_either),
      TEST(of_many_who_rename_to_one_name_one_wins), TEST(a_listing_tells_files_from_directories_and_ends_on_an_error),
      TEST(directories_are_made_with_their_parents), TEST(a_tree_is_removed_without_following_links),
      TEST(a_tree_too_deep_is_left_with_an_error), TEST(a_path_too_long_is_refused),
      TEST(stat_and_disk_and_real_path_tell_what_is_there))
