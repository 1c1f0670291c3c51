#include "conf/conf.h"

#include "base/buf.h"
#include "lib/test.h"

#include <stdio.h>

static struct err err;

static enum err_code set(struct conf *conf, enum conf_source source, const char *name, const char *value)
{
    return conf_set(conf, source, slice_str(name), slice_str(value), "here", &err);
}

static void defaults_are_those_of_the_table(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    assert_string_equal(conf_str(conf, CONF_DATA_DIR), "./weir-data");
    assert_int_equal(conf_i64(conf, CONF_TIER_WORKERS), 2);
    assert_int_equal(conf_bytes(conf, CONF_KV_DELTA_BYTES), 256 << 20);
    assert_int_equal(conf_duration_ms(conf, CONF_DATALAKE_FRESHNESS), 10000);
    assert_true(conf_bool(conf, CONF_TIER_ENABLED));
    assert_true(conf_is(conf, CONF_LOG_FLUSH, "sync"));
    assert_int_equal(conf_source(conf, CONF_DATA_DIR), CONF_FROM_DEFAULT);
    MUST(conf_check(conf, &err));
    conf_destroy(conf);
    conf_destroy(NULL);
}

static void values_of_each_type_are_taken_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *refusal; /* NULL: taken */
    } cases[] = {
        {"weir.tier.workers", "64", NULL},
        {"weir.tier.workers", " 8 ", NULL},
        {"weir.tier.workers", "65", "outside of 1..64"},
        {"weir.tier.workers", "0", "outside of 1..64"},
        {"weir.tier.workers", "-1", "outside of 1..64"},
        {"weir.tier.workers", "two", "is not a whole number"},
        {"weir.tier.workers", "", "is not a whole number"},
        {"weir.tier.enabled", "False", NULL},
        {"weir.tier.enabled", "yes", "is not true or false"},
        {"weir.kv.delta.bytes", "1mb", NULL},
        {"weir.kv.delta.bytes", "1023kb", "outside of 1mb.."},
        {"weir.kv.delta.bytes", "99999999999999999999", "is not a size"},
        {"weir.kv.delta.bytes", "9999999999 t", "is not a size"},
        {"weir.datalake.freshness", "0 ms", "outside of 1 ms.."},
        {"weir.datalake.freshness", "3", "is not a duration"},
        {"weir.log.flush", "ASYNC", NULL},
        {"weir.log.flush", "never", "is none of sync|async"},
        {"weir.log.flush", "", "is none of sync|async"},
        {"datalake.format", "iceberg", "is none of paimon|none"},
        {"default.replication.factor", "3", "outside of 1..1"},
        {"data.dir", "", NULL},
    };
    struct conf *conf = conf_create();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        enum err_code code = set(conf, CONF_FROM_FILE, cases[i].name, cases[i].value);
        assert_int_equal(code, cases[i].refusal ? ERR_INVALID_CONFIG_EXCEPTION : OK);
        if (cases[i].refusal && (!strstr(err.text, cases[i].refusal) || !strstr(err.text, cases[i].name)))
            fail_msg("%s", err.text);
    }
    assert_string_equal(conf_str(conf, CONF_LOG_FLUSH), "async"); /* as the table writes it */
    assert_int_equal(conf_i64(conf, CONF_TIER_WORKERS), 8);
    conf_destroy(conf);
}

static void sizes_and_durations_have_the_units_of_fluss(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes, ms; /* -1: refused */
    } cases[] = {
        {"5", 5, -1},
        {"16mb", 16 << 20, -1},
        {"4 KB", 4096, -1},
        {"2 bytes", 2, -1},
        {"3g", INT64_C(3) << 30, -1},
        {"1 tebibytes", INT64_C(1) << 40, -1},
        {"10 min", -1, 600000},
        {"10m", 10 << 20, 600000}, /* mebibytes here, minutes there */
        {"30s", -1, 30000},
        {"500 ms", -1, 500},
        {"7 d", -1, 604800000},
        {"2 Hours", -1, 7200000},
        {"3000 micros", -1, 3},
        {"2000 \xc2\xb5s", -1, 2},
        {"1500 micros", -1, -1}, /* no whole milliseconds */
        {"1 fortnight", -1, -1},
        {"1 min ute", -1, -1},
        {"ms", -1, -1},
        {"-1 ms", -1, -1},
        {"", -1, -1},
        {"9223372036854775807", INT64_MAX, -1},
        {"9223372036854775807 d", -1, -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t bytes = -1, ms = -1;
        assert_int_equal(conf_parse_bytes(slice_str(cases[i].text), &bytes), cases[i].bytes >= 0);
        assert_true(bytes == cases[i].bytes);
        assert_int_equal(conf_parse_duration_ms(slice_str(cases[i].text), &ms), cases[i].ms >= 0);
        assert_true(ms == cases[i].ms);
    }
}

static void the_stronger_source_wins_whatever_the_order(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    MUST(conf_set_assignment(conf, SLICE("data.dir=/d"), &err));
    MUST(set(conf, CONF_FROM_FLAG, "data.dir", "/flag"));
    MUST(set(conf, CONF_FROM_FILE, "data.dir", "/file"));
    assert_string_equal(conf_str(conf, CONF_DATA_DIR), "/d");
    assert_int_equal(conf_source(conf, CONF_DATA_DIR), CONF_FROM_D);
    MUST(conf_set_assignment(conf, SLICE("data.dir=/a=b"), &err)); /* the last -D */
    assert_string_equal(conf_str(conf, CONF_DATA_DIR), "/a=b");
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, set(conf, CONF_FROM_FILE, "weir.tier.workers", "no"));
    MUST_FAIL(ERR_INVALID_ARGUMENT, conf_set_assignment(conf, SLICE("data.dir"), &err));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, conf_set_assignment(conf, SLICE("=x"), &err));
    conf_destroy(conf);
}

static void an_unknown_name_is_refused_with_the_nearest(void **state)
{
    (void)state;
    static const struct {
        const char *name, *nearest; /* NULL: none is near */
    } cases[] = {
        {"weir.tier.worker", "did you mean weir.tier.workers?"},
        {"data.dri", "did you mean data.dir?"},
        {"datalake.piamon.warehouse", "did you mean datalake.paimon.warehouse?"},
        {"default.buckets.number", "did you mean default.bucket.number?"},
        {"quite.another.thing", NULL},
        {"", NULL},
        {"weir.", NULL},
        {"datalake.paimon.", NULL},
    };
    struct conf *conf = conf_create();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, set(conf, CONF_FROM_FILE, cases[i].name, "x"));
        if (!strstr(err.text, cases[i].nearest ? cases[i].nearest : "options.md lists all"))
            fail_msg("%s", err.text);
    }
    assert_int_equal(strncmp(err.text, "here: ", 6), 0);
    conf_destroy(conf);
}

/* Each option that Apache Fluss knows is served, taken with a warning, or refused with a reason; none is unknown. */
static void every_option_of_fluss_is_known(void **state)
{
    (void)state;
    char name[CONF_NAME_MAX];
    int count = 0;
    FILE *list = fopen(WEIR_SOURCE_DIR "/test/golden/server_options.txt", "r");
    assert_non_null(list);
    while (fscanf(list, "%199s", name) == 1) {
        struct conf *conf = conf_create();
        enum err_code code = conf_set(conf, CONF_FROM_FILE, slice_str(name), SLICE("1"), "here", &err);
        if (code != OK && strstr(err.text, "unknown option"))
            fail_msg("%s: %s", name, err.text);
        count++;
        conf_destroy(conf);
    }
    fclose(list);
    assert_true(count > 200);
}

static void what_is_not_there_yet_is_refused_unless_it_asks_for_nothing(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    MUST(set(conf, CONF_FROM_FILE, "kafka.enabled", "FALSE"));
    MUST_FAIL(ERR_NOT_SUPPORTED, set(conf, CONF_FROM_FILE, "kafka.enabled", "true"));
    assert_non_null(strstr(err.text, "kafka.enabled: weir does not speak"));
    MUST_FAIL(ERR_NOT_SUPPORTED, set(conf, CONF_FROM_FILE, "tablet-server.port", "9124"));
    MUST_FAIL(ERR_NOT_SUPPORTED, set(conf, CONF_FROM_FILE, "datalake.iceberg.type", "hadoop"));
    MUST(set(conf, CONF_FROM_FILE, "log.replica.min-in-sync-replicas-number", "1"));
    MUST_FAIL(ERR_NOT_SUPPORTED, set(conf, CONF_FROM_FILE, "log.replica.min-in-sync-replicas-number", "2"));
    conf_destroy(conf);
}

static void keep(void *arg, struct slice line)
{
    buf_put_slice(arg, line);
}

static void an_option_without_meaning_gives_one_warning(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    struct trace trace;
    struct buf out = {0};
    trace_init(&trace, os_real(), TRACE_INFO);
    trace_to(&trace, keep, &out);
    conf_trace_ignored(conf, &trace);
    assert_int_equal(out.len, 0);
    MUST(set(conf, CONF_FROM_FILE, "zookeeper.address", "localhost:2181"));
    MUST(set(conf, CONF_FROM_D, "zookeeper.address", "other:2181"));
    MUST(set(conf, CONF_FROM_FILE, "kv.rocksdb.thread.num", "4"));
    conf_trace_ignored(conf, &trace);
    const char *text = buf_cstr(&out), *first = strchr(text, '\n');
    assert_int_equal(strncmp(text, "warn conf option_without_meaning ", 33), 0);
    assert_non_null(strstr(text, "option=zookeeper.address where=here why=\"weir needs no ZooKeeper\"\n"));
    assert_non_null(strstr(first + 1, "option=kv.rocksdb.thread.num"));
    assert_ptr_equal(strchr(first + 1, '\n'), text + out.len - 1);
    buf_deinit(&out);
    conf_destroy(conf);
}

static void keys_of_a_map_are_walked_in_order(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    MUST(set(conf, CONF_FROM_DEFAULT, "datalake.paimon.warehouse", "/own/default"));
    MUST(set(conf, CONF_FROM_FILE, "datalake.paimon.metastore", "filesystem"));
    MUST(set(conf, CONF_FROM_FILE, "datalake.paimon.warehouse", "/lake"));
    const char *key, *value;
    size_t at = 0;
    assert_true(conf_prefix(conf, CONF_DATALAKE_PAIMON, &at, &key, &value));
    assert_string_equal(key, "warehouse");
    assert_string_equal(value, "/lake");
    assert_true(conf_prefix(conf, CONF_DATALAKE_PAIMON, &at, &key, &value));
    assert_string_equal(key, "metastore");
    assert_false(conf_prefix(conf, CONF_DATALAKE_PAIMON, &at, &key, &value));
    assert_string_equal(conf_prefix_get(conf, CONF_DATALAKE_PAIMON, "metastore"), "filesystem");
    assert_null(conf_prefix_get(conf, CONF_DATALAKE_PAIMON, "meta"));
    conf_destroy(conf);
}

static void every_option_can_be_shown_with_its_source(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    MUST(set(conf, CONF_FROM_FILE, "datalake.paimon.warehouse", "/lake"));
    MUST(conf_set_assignment(conf, SLICE("weir.tier.workers=3"), &err));
    struct conf_entry entry, workers = {0}, last = {0};
    size_t count = 0;
    for (size_t at = 0; conf_next(conf, &at, &entry); count++) {
        last = entry;
        if (strcmp(entry.name, "weir.tier.workers") == 0)
            workers = entry;
        assert_true(entry.source != CONF_FROM_DEFAULT || !entry.where);
    }
    assert_int_equal(count, CONF_COUNT - 1); /* two maps less, one key more */
    assert_string_equal(workers.value, "3");
    assert_string_equal(conf_source_name(workers.source), "-D");
    assert_string_equal(last.name, "datalake.paimon.warehouse");
    assert_string_equal(last.where, "here");
    conf_destroy(conf);
}

static void limits_are_kept(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    static char value[CONF_VALUE_MAX + 2];
    char name[CONF_NAME_MAX + 2] = "datalake.paimon.";
    memset(value, 'v', CONF_VALUE_MAX + 1);
    memset(name + 16, 'k', CONF_NAME_MAX + 1 - 16);
    MUST_FAIL(ERR_LIMIT, set(conf, CONF_FROM_FILE, "data.dir", value));
    MUST_FAIL(ERR_LIMIT, set(conf, CONF_FROM_FILE, name, "x"));
    value[CONF_VALUE_MAX] = name[CONF_NAME_MAX] = 0;
    MUST(set(conf, CONF_FROM_FILE, "data.dir", value));
    MUST(set(conf, CONF_FROM_FILE, name, "x"));
    for (int i = 1; i < CONF_KEYS_MAX; i++) {
        snprintf(name, sizeof name, "datalake.paimon.%d", i);
        MUST(set(conf, CONF_FROM_FILE, name, "x"));
    }
    MUST(set(conf, CONF_FROM_FILE, name, "y"));
    MUST_FAIL(ERR_LIMIT, set(conf, CONF_FROM_FILE, "datalake.paimon.more", "x"));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION,
              conf_set(conf, CONF_FROM_FILE, SLICE("data.dir"), SLICE("a\0b"), "here", &err));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION,
              conf_set(conf, CONF_FROM_FILE, SLICE("data.dir"), SLICE("\xff"), "here", &err));
    conf_destroy(conf);
}

TESTS("conf", TEST(defaults_are_those_of_the_table), TEST(values_of_each_type_are_taken_or_refused),
      TEST(sizes_and_durations_have_the_units_of_fluss), TEST(the_stronger_source_wins_whatever_the_order),
      TEST(an_unknown_name_is_refused_with_the_nearest), TEST(every_option_of_fluss_is_known),
      TEST(what_is_not_there_yet_is_refused_unless_it_asks_for_nothing),
      TEST(an_option_without_meaning_gives_one_warning), TEST(keys_of_a_map_are_walked_in_order),
      TEST(every_option_can_be_shown_with_its_source), TEST(limits_are_kept))
