#include "lake/paimon/paimon.h"

#include "lib/test.h"

static struct err err;

static enum err_code directory_of(const char *metastore, const char *warehouse, struct slice *directory)
{
    static struct key_value items[2];
    struct properties options = {.items = items};
    if (metastore)
        items[options.count++] = (struct key_value){SLICE("lake.metastore"), slice_str(metastore)};
    if (warehouse)
        items[options.count++] = (struct key_value){SLICE("lake.warehouse"), slice_str(warehouse)};
    return paimon_warehouse(&options, "lake.", directory, &err);
}

static void one_directory_has_many_names(void **state)
{
    (void)state;
    static const char *const names[] = {"/a/b", "/a/b/", "file:/a/b", "file:///a/b//", "//a/b"};
    struct slice directory;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        MUST(directory_of(i % 2 ? "FileSystem" : NULL, names[i], &directory));
        assert_slice_equal(directory, SLICE("/a/b"));
    }
    MUST(directory_of(NULL, "/", &directory));
    assert_slice_equal(directory, SLICE("/"));
}

static void others_are_refused(void **state)
{
    (void)state;
    struct slice directory;
    MUST_FAIL(ERR_NOT_SUPPORTED, directory_of("hive", "/a", &directory));
    MUST_FAIL(ERR_NOT_SUPPORTED, directory_of("filesystem", "s3://bucket/a", &directory));
    MUST_FAIL(ERR_NOT_SUPPORTED, directory_of(NULL, "hdfs://name/a", &directory));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, directory_of("filesystem", NULL, &directory));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, directory_of(NULL, "a/b", &directory));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, directory_of(NULL, "file:a", &directory));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, directory_of(NULL, "", &directory));
}

TESTS("paimon.warehouse", TEST(one_directory_has_many_names), TEST(others_are_refused))
