#include "kv/kv.h"

#include "lib/test.h"

enum { SLOTS = 6, LIMIT = 2 };

static struct err err;
static struct kv_env *env;
static struct kv_slot slots[SLOTS];

static int set_up(void **state)
{
    (void)state;
    char path[OS_PATH_MAX];
    struct kv_options options = kv_options_default();
    const char *dir = test_dir();
    env = kv_env_rocksdb(os_real(), &options);
    kv_env_limit(env, LIMIT);
    for (int i = 0; i < SLOTS; i++) {
        snprintf(path, sizeof path, "%s/%d", dir, i);
        kv_slot_init(&slots[i], env, path);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < SLOTS; i++)
        kv_slot_deinit(&slots[i]);
    kv_env_destroy(env);
    return 0;
}

static void use(int i)
{
    struct kv *kv;
    MUST(kv_slot_take(&slots[i], true, &kv, &err));
    kv_slot_release(&slots[i]);
}

static bool is_open(int i)
{
    struct kv *kv;
    if (kv_slot_take(&slots[i], false, &kv, &err) == ERR_WOULD_BLOCK)
        return false;
    kv_slot_release(&slots[i]);
    return true;
}

static void a_store_is_opened_when_it_is_taken_and_stays(void **state)
{
    (void)state;
    struct kv *first, *second;
    MUST_FAIL(ERR_WOULD_BLOCK, kv_slot_take(&slots[0], false, &first, &err));
    assert_int_equal(kv_env_open_count(env), 0);
    MUST(kv_slot_take(&slots[0], true, &first, &err));
    MUST(kv_slot_take(&slots[0], false, &second, &err));
    assert_ptr_equal(first, second);
    kv_slot_release(&slots[0]);
    kv_slot_release(&slots[0]);
    assert_int_equal(kv_env_open_count(env), 1);
    assert_true(is_open(0));
}

static void one_that_was_not_taken_for_long_makes_room(void **state)
{
    (void)state;
    use(0);
    use(1);
    use(2); /* all were used since the last look, so the oldest goes */
    assert_int_equal(kv_env_open_count(env), LIMIT);
    assert_false(is_open(0));
    assert_true(is_open(2)); /* which uses it, and not 1 */
    use(3);
    assert_false(is_open(1));
    assert_true(is_open(2));
    assert_true(is_open(3));
}

static void one_in_use_stays_open_beyond_the_limit(void **state)
{
    (void)state;
    struct kv *kv;
    for (int i = 0; i < SLOTS; i++)
        MUST(kv_slot_take(&slots[i], true, &kv, &err));
    assert_int_equal(kv_env_open_count(env), SLOTS);
    for (int i = 0; i < SLOTS; i++)
        kv_slot_release(&slots[i]);
    kv_slot_deinit(&slots[0]);
    use(1);
    assert_int_equal(kv_env_open_count(env), SLOTS - 1); /* those beyond it go with the next opening */
    kv_slot_init(&slots[0], env, test_dir());
    use(0);
    assert_int_equal(kv_env_open_count(env), LIMIT);
}

static void what_can_not_be_opened_says_so_each_time(void **state)
{
    (void)state;
    struct kv_slot lost;
    struct kv *kv;
    kv_slot_init(&lost, env, "/nowhere/kv");
    MUST_FAIL(ERR_IO, kv_slot_take(&lost, true, &kv, &err));
    MUST_FAIL(ERR_IO, kv_slot_take(&lost, true, &kv, &err));
    assert_int_equal(kv_env_open_count(env), 0);
    kv_slot_deinit(&lost);
}

struct taker {
    uint64_t random;
    int failures;
};

/* Each store has its number under "n"; runs are the test's business, so only reads are at once. */
static void take_many(void *arg)
{
    struct taker *taker = arg;
    struct err error;
    for (int n = 0; n < 100; n++) {
        taker->random = taker->random * 6364136223846793005u + 1442695040888963407u;
        int i = (int)((taker->random >> 33) % SLOTS);
        struct kv *kv;
        struct kv_pin pin = {0};
        if (kv_slot_take(&slots[i], true, &kv, &error) != OK || kv_get(kv, SLICE("n"), &pin, &error) != OK) {
            taker->failures++;
            continue;
        }
        taker->failures += pin.value.len != 1 || pin.value.ptr[0] != '0' + i;
        kv_pin_release(&pin);
        kv_slot_release(&slots[i]);
    }
}

static void many_threads_each_get_the_store_they_asked_for(void **state)
{
    (void)state;
    struct os_thread *threads[4];
    struct taker takers[4];
    for (int i = 0; i < SLOTS; i++) {
        struct kv *kv;
        struct kv_run *run;
        uint8_t digit = (uint8_t)('0' + i);
        MUST(kv_slot_take(&slots[i], true, &kv, &err));
        MUST(kv_run_begin(kv, &run, &err));
        MUST(kv_run_put(run, SLICE("n"), slice_of(&digit, 1), &err));
        MUST(kv_run_finish(run, &err));
        kv_slot_release(&slots[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        takers[i] = (struct taker){.random = i};
        MUST(os_thread_start(os_real(), "taker", take_many, &takers[i], &threads[i], &err));
    }
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        os_thread_join(threads[i]);
        assert_int_equal(takers[i].failures, 0);
    }
    assert_true(kv_env_open_count(env) <= ARRAY_LEN(threads) + LIMIT);
}

TESTS("kv.slot", TEST_BED(a_store_is_opened_when_it_is_taken_and_stays),
      TEST_BED(one_that_was_not_taken_for_long_makes_room), TEST_BED(one_in_use_stays_open_beyond_the_limit),
      TEST_BED(what_can_not_be_opened_says_so_each_time), TEST_BED(many_threads_each_get_the_store_they_asked_for))
