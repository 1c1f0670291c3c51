#include "lib/test.h"

#include "base/arena.h"
#include "base/buf.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names and paths live as long as the process. */
static struct arena kept_texts;

int test_run(const char *prefix, struct CMUnitTest *tests, size_t test_count)
{
    const char *filter = getenv("WEIR_TEST_FILTER");
    size_t kept = 0;
    for (size_t i = 0; i < test_count; i++) {
        struct slice name = arena_printf(&kept_texts, "%s.%s", prefix, tests[i].name);
        tests[i].name = (const char *)name.ptr;
        if (!filter || !*filter || strstr(tests[i].name, filter))
            tests[kept++] = tests[i];
    }
    /* A word that no test of any file has in its name is a mistake, which tools/unit.sh tells by this. */
    const char *ran = getenv("WEIR_TEST_RAN");
    if (kept && ran) {
        FILE *mark = fopen(ran, "w");
        if (mark)
            fclose(mark);
    }
    return kept ? _cmocka_run_group_tests(prefix, tests, kept, NULL, NULL) : 0;
}

void assert_slice_equal(struct slice got, struct slice want)
{
    if (slice_equal(got, want))
        return;
    struct buf text = {0};
    buf_printf(&text, "got %zu bytes ", got.len);
    buf_put_hex(&text, got);
    buf_printf(&text, ", want %zu bytes ", want.len);
    buf_put_hex(&text, want);
    fail_msg("%s", buf_cstr(&text));
}

void test_each_line(const char *name, test_line_fn *fn, void *arg)
{
    struct buf path = {0};
    buf_printf(&path, "test/golden/%s.jsonl", name);
    FILE *file = fopen(buf_cstr(&path), "r");
    if (!file)
        fail_msg("%s cannot be opened", buf_cstr(&path));
    buf_deinit(&path);
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    size_t lines = 0;
    while ((len = getline(&line, &cap, file)) > 0) {
        fn(arg, slice_of(line, (size_t)len - (line[len - 1] == '\n')));
        lines++;
    }
    free(line);
    fclose(file);
    assert_true(lines > 0);
}

static char scratch[64];

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *ftw)
{
    (void)stat, (void)kind, (void)ftw;
    return remove(path);
}

static void remove_scratch(void)
{
    nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *test_dir(void)
{
    static unsigned count;
    if (!*scratch) {
        snprintf(scratch, sizeof scratch, "/tmp/weir-test-XXXXXX");
        assert_non_null(mkdtemp(scratch));
        atexit(remove_scratch);
    }
    const char *path = (const char *)arena_printf(&kept_texts, "%s/%u", scratch, count++).ptr;
    assert_int_equal(mkdir(path, 0755), 0);
    return path;
}

bool test_comes_before(struct buf *text, const char *first, const char *second)
{
    const char *a = strstr(buf_cstr(text), first), *b = strstr(buf_cstr(text), second);
    return a && b && a < b;
}
