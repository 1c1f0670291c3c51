#include "bucket/delta_int.h"
#include "lib/test.h"

static struct slice key_of(char *text, int i)
{
    return slice_of(text, (size_t)sprintf(text, "key-%d", i));
}

static void readers_see_the_newest_version_below_their_offset(void **state)
{
    (void)state;
    struct delta *delta = delta_create();
    delta_put(delta, SLICE("k"), 1, SLICE("one"), NULL);
    delta_put(delta, SLICE("k"), 4, SLICE("two"), NULL);
    delta_put(delta, SLICE("k"), 9, (struct slice){0}, NULL);
    assert_null(delta_get(delta, SLICE("k"), 1));
    assert_slice_equal(delta_get(delta, SLICE("k"), 4)->value, SLICE("one"));
    assert_slice_equal(delta_get(delta, SLICE("k"), 9)->value, SLICE("two"));
    assert_true(delta_get(delta, SLICE("k"), 10)->deleted);
    assert_null(delta_get(delta, SLICE("other"), 10));
    assert_int_equal(delta->first_offset, 1);
    delta_unref(delta);
}

static void an_undone_batch_leaves_no_trace(void **state)
{
    (void)state;
    struct delta *delta = delta_create();
    struct delta_undo undo = {0};
    delta_put(delta, SLICE("a"), 0, SLICE("kept"), NULL);
    delta_put(delta, SLICE("a"), 1, SLICE("x"), &undo);
    delta_put(delta, SLICE("b"), 2, SLICE("y"), &undo);
    delta_put(delta, SLICE("a"), 3, (struct slice){0}, &undo);
    delta_undo(&undo);
    assert_slice_equal(delta_get(delta, SLICE("a"), INT64_MAX)->value, SLICE("kept"));
    assert_null(delta_get(delta, SLICE("b"), INT64_MAX));
    size_t count;
    struct delta_item *items = delta_collect(delta, INT64_MAX, &count);
    assert_int_equal(count, 1);
    mem_free(items);
    vec_deinit(&undo.steps);
    delta_unref(delta);
}

static void all_keys_come_out_in_order(void **state)
{
    (void)state;
    struct delta *delta = delta_create();
    char text[32];
    for (int i = 0; i < 5000; i++)
        delta_put(delta, key_of(text, i * 7919 % 5000), i, SLICE("v"), NULL);
    size_t count;
    struct delta_item *items = delta_collect(delta, 4000, &count);
    delta_sort(items, count);
    assert_int_equal(count, 4000);
    for (size_t i = 1; i < count; i++)
        assert_true(slice_compare(items[i - 1].key, items[i].key) < 0);
    mem_free(items);
    delta_unref(delta);
}

TESTS("bucket.delta", TEST(readers_see_the_newest_version_below_their_offset), TEST(an_undone_batch_leaves_no_trace),
      TEST(all_keys_come_out_in_order))
