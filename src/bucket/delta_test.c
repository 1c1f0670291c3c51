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
    delta_put(delta, SLICE("k"), 0, 1, SLICE("one"), NULL);
    delta_put(delta, SLICE("k"), 0, 4, SLICE("two"), NULL);
    delta_put(delta, SLICE("k"), 0, 9, (struct slice){0}, NULL);
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
    delta_put(delta, SLICE("a"), 0, 0, SLICE("kept"), NULL);
    delta_put(delta, SLICE("a"), 0, 1, SLICE("x"), &undo);
    delta_put(delta, SLICE("b"), 0, 2, SLICE("y"), &undo);
    delta_put(delta, SLICE("a"), 0, 3, (struct slice){0}, &undo);
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

static void keys_are_found_by_the_prefix_they_were_put_with(void **state)
{
    (void)state;
    struct delta *delta = delta_create();
    struct delta_undo undo = {0};
    char text[32];
    size_t count;
    mem_free(delta_collect_prefix(delta, SLICE("000"), INT64_MAX, &count));
    assert_int_equal(count, 0);
    for (int i = 0; i < 3000; i++) /* three keys for each of 1000 prefixes */
        delta_put(delta, slice_of(text, (size_t)sprintf(text, "%03d-%d", i % 1000, i / 1000)), 3, i, SLICE("v"), NULL);
    delta_put(delta, SLICE("007-0"), 3, 3000, SLICE("again"), NULL);
    delta_put(delta, SLICE("007-9"), 3, 3001, SLICE("undone"), &undo);
    delta_undo(&undo);
    struct delta_item *items = delta_collect_prefix(delta, SLICE("007"), INT64_MAX, &count);
    delta_sort(items, count);
    assert_int_equal(count, 3);
    assert_slice_equal(items[0].version->value, SLICE("again"));
    assert_slice_equal(items[2].key, SLICE("007-2"));
    mem_free(items);
    mem_free(delta_collect_prefix(delta, SLICE("007"), 1500, &count));
    assert_int_equal(count, 2); /* the third came later */
    mem_free(delta_collect_prefix(delta, SLICE("00"), INT64_MAX, &count));
    assert_int_equal(count, 0);
    vec_deinit(&undo.steps);
    delta_unref(delta);
}

static void all_keys_come_out_in_order(void **state)
{
    (void)state;
    struct delta *delta = delta_create();
    char text[32];
    for (int i = 0; i < 5000; i++)
        delta_put(delta, key_of(text, i * 7919 % 5000), 0, i, SLICE("v"), NULL);
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
      TEST(keys_are_found_by_the_prefix_they_were_put_with), TEST(all_keys_come_out_in_order))
