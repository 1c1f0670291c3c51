#include "kv/kv.h"

#include "base/buf.h"
#include "lib/test.h"
#include "sim/sim.h"

static struct err err;

struct store {
    struct kv_env *env;
    struct kv *kv;
    char dir[300];
};

static void store_open(struct store *store)
{
    MUST(kv_open(store->env, store->dir, &store->kv, &err));
}

static void store_reopen(struct store *store)
{
    kv_close(store->kv);
    store_open(store);
}

typedef void check_fn(struct store *store);

/* Every check runs on both engines. */
static void on_each_engine(check_fn *check)
{
    struct kv_options options = kv_options_default();
    for (int memory = 0; memory < 2; memory++) {
        struct store store = {.env = memory ? kv_env_memory(os_real()) : kv_env_rocksdb(os_real(), &options)};
        snprintf(store.dir, sizeof store.dir, "%s/kv", test_dir());
        MUST(os_remove_tree(os_real(), store.dir, &err));
        store_open(&store);
        check(&store);
        kv_close(store.kv);
        kv_env_destroy(store.env);
    }
}

static void put_run(struct store *store, const char *const *pairs)
{
    struct kv_run *run;
    MUST(kv_run_begin(store->kv, &run, &err));
    for (; pairs[0]; pairs += 2) {
        if (pairs[1])
            MUST(kv_run_put(run, slice_str(pairs[0]), slice_str(pairs[1]), &err));
        else
            MUST(kv_run_delete(run, slice_str(pairs[0]), &err));
    }
    MUST(kv_run_finish(run, &err));
}
#define PUT(store, ...) put_run(store, (const char *const[]){__VA_ARGS__, NULL})

static void assert_value(struct store *store, const char *key, const char *want)
{
    struct kv_pin pin = {0};
    MUST(kv_get(store->kv, slice_str(key), &pin, &err));
    assert_int_equal(pin.found, want != NULL);
    if (want)
        assert_slice_equal(pin.value, slice_str(want));
    kv_pin_release(&pin);
}

/* "k=v k=v ..." of what the iterator gives. */
static void assert_entries(struct kv_iter *iter, const char *want)
{
    struct buf got = {0};
    struct slice key, value;
    for (bool more = true;;) {
        MUST(kv_iter_next(iter, &more, &key, &value, &err));
        if (!more)
            break;
        buf_printf(&got, "%s%.*s=%.*s", got.len ? " " : "", SLICE_ARGS(key), SLICE_ARGS(value));
    }
    assert_slice_equal(buf_view(&got), slice_str(want));
    buf_deinit(&got);
}

static void assert_scan(struct store *store, const char *from, const char *prefix, const char *want)
{
    struct kv_iter *iter;
    MUST(kv_iter_open(store->kv, slice_str(from), slice_str(prefix), &iter, &err));
    assert_entries(iter, want);
    kv_iter_close(iter);
}

static void check_runs(struct store *store)
{
    PUT(store, "a", "1", "b", "2", "c", "3");
    PUT(store, "b", NULL, "c", "33", "d", "");
    for (int i = 0; i < 2; i++) {
        assert_value(store, "a", "1");
        assert_value(store, "b", NULL);
        assert_value(store, "c", "33");
        assert_value(store, "d", "");
        assert_value(store, "", NULL);
        assert_scan(store, "", "", "a=1 c=33 d=");
        store_reopen(store);
    }
    assert_true(kv_bytes(store->kv) > 0);
    struct kv_run *run;
    MUST(kv_run_begin(store->kv, &run, &err));
    MUST(kv_run_finish(run, &err)); /* an empty run is nothing */
    MUST(kv_run_begin(store->kv, &run, &err));
    MUST(kv_run_put(run, SLICE("z"), SLICE("dropped"), &err));
    kv_run_drop(run);
    assert_value(store, "z", NULL);
}

static void a_later_run_wins_and_stays(void **state)
{
    (void)state;
    on_each_engine(check_runs);
}

static void check_scans(struct store *store)
{
    PUT(store, "a", "1", "ab", "2", "ab\xff", "3", "ac", "4", "b", "5");
    assert_scan(store, "", "ab", "ab=2 ab\xff=3");
    assert_scan(store, "ab\x01", "ab", "ab\xff=3");
    assert_scan(store, "ab\xff", "", "ab\xff=3 ac=4 b=5");
    assert_scan(store, "", "x", "");
    struct kv_iter *iter;
    MUST(kv_iter_open(store->kv, SLICE(""), SLICE(""), &iter, &err));
    PUT(store, "a", NULL, "bb", "6");
    assert_entries(iter, "a=1 ab=2 ab\xff=3 ac=4 b=5");
    kv_iter_close(iter);
    assert_scan(store, "b", "", "b=5 bb=6");
}

static void a_scan_sees_one_moment_and_keeps_to_its_prefix(void **state)
{
    (void)state;
    on_each_engine(check_scans);
}

static void check_pins(struct store *store)
{
    struct slice keys[] = {SLICE("b"), SLICE("nothing"), SLICE("a")};
    struct kv_pin pins[3] = {0};
    PUT(store, "a", "1", "b", "2");
    for (int i = 0; i < 3; i++)
        MUST(kv_get(store->kv, keys[i], &pins[i], &err));
    PUT(store, "a", "changed", "b", NULL);
    assert_slice_equal(pins[0].value, SLICE("2"));
    assert_false(pins[1].found);
    assert_slice_equal(pins[2].value, SLICE("1"));
    for (int i = 0; i < 3; i++)
        kv_pin_release(&pins[i]);
}

static void a_pinned_value_outlives_its_change(void **state)
{
    (void)state;
    on_each_engine(check_pins);
}

static void a_read_that_may_not_block_says_what_it_does_not_know(void **state)
{
    (void)state;
    struct kv_options options = kv_options_default();
    struct store store = {.env = kv_env_rocksdb(os_real(), &options)};
    snprintf(store.dir, sizeof store.dir, "%s/cached", test_dir());
    store_open(&store);
    struct kv_run *run;
    char key[20], value[100] = {0};
    MUST(kv_run_begin(store.kv, &run, &err));
    for (int i = 0; i < 10000; i++) {
        snprintf(key, sizeof key, "%08d", i);
        MUST(kv_run_put(run, slice_str(key), slice_of(value, sizeof value), &err));
    }
    MUST(kv_run_finish(run, &err));
    store_reopen(&store);
    struct kv_pin pin = {0};
    bool known;
    MUST(kv_get_cached(store.kv, SLICE("00005000"), &known, &pin, &err));
    assert_false(known);
    assert_false(pin.found);
    MUST(kv_get(store.kv, SLICE("00005000"), &pin, &err));
    assert_int_equal(pin.value.len, sizeof value);
    kv_pin_release(&pin);
    MUST(kv_get_cached(store.kv, SLICE("00005000"), &known, &pin, &err));
    assert_true(known);
    assert_int_equal(pin.value.len, sizeof value);
    kv_pin_release(&pin);
    kv_close(store.kv);
    kv_env_destroy(store.env);
}

static void a_store_is_opened_once(void **state)
{
    (void)state;
    struct kv_options options = kv_options_default();
    struct store store = {.env = kv_env_rocksdb(os_real(), &options)};
    snprintf(store.dir, sizeof store.dir, "%s/locked", test_dir());
    store_open(&store);
    struct kv *second;
    MUST_FAIL(ERR_LOCKED, kv_open(store.env, store.dir, &second, &err));
    kv_close(store.kv);
    kv_env_destroy(store.env);
}

static void a_run_is_durable_when_its_call_returns(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sim_disk *disk = sim_disk_create(seed);
        struct os *os = sim_boot(disk);
        struct store store = {.env = kv_env_memory(os), .dir = "kv"};
        MUST(os_mkdir(os, "kv", &err));
        MUST(os_dir_sync(os, "/", &err));
        store_open(&store);
        PUT(&store, "a", "1");
        sim_crash(os);
        kv_close(store.kv);
        kv_env_destroy(store.env);
        store.env = kv_env_memory(sim_boot(disk));
        store_open(&store);
        assert_scan(&store, "", "", "a=1");
        kv_close(store.kv);
        kv_env_destroy(store.env);
        sim_disk_destroy(disk);
    }
}

static void check_limits(struct store *store)
{
    struct kv_run *run;
    MUST(kv_run_begin(store->kv, &run, &err));
    MUST_FAIL(ERR_LIMIT, kv_run_delete(run, slice_of(NULL, KV_KEY_BYTES_MAX + 1), &err));
    kv_run_drop(run);
}

static void a_key_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    on_each_engine(check_limits);
}

TESTS("kv.store", TEST(a_later_run_wins_and_stays), TEST(a_scan_sees_one_moment_and_keeps_to_its_prefix),
      TEST(a_pinned_value_outlives_its_change), TEST(a_key_beyond_the_limit_is_refused),
      TEST(a_read_that_may_not_block_says_what_it_does_not_know), TEST(a_store_is_opened_once),
      TEST(a_run_is_durable_when_its_call_returns))
