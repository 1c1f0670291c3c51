#include "conf/conf.h"
#include "lib/test.h"

#include <stdio.h>

static struct err err;

static enum err_code parse(struct conf *conf, const char *text)
{
    return conf_parse_yaml(conf, slice_str(text), "server.yaml", &err);
}

static void a_stock_server_yaml_is_taken(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    MUST(parse(conf, "# comment\n"
                     "env.java.opts.all: --add-opens=java.base/java.util=ALL-UNNAMED\n"
                     "zookeeper.address: localhost:2181\n"
                     "default.bucket.number: 3 # three\n"
                     "default.replication.factor: 1\n"
                     "data.dir: /tmp/fluss-data\n"
                     "remote.data.dir: /tmp/fluss-remote-data\n"
                     "bind.listeners: FLUSS://localhost:9123\n"
                     "tablet-server.id: 0\n"
                     "datalake.format: paimon\n"
                     "datalake.paimon.metastore: filesystem\n"
                     "datalake.paimon.warehouse: /tmp/paimon\n"));
    MUST(conf_check(conf, &err));
    assert_int_equal(conf_i64(conf, CONF_DEFAULT_BUCKET_NUMBER), 3);
    assert_string_equal(conf_str(conf, CONF_DATA_DIR), "/tmp/fluss-data");
    assert_int_equal(conf_source(conf, CONF_DATA_DIR), CONF_FROM_FILE);
    assert_string_equal(conf_prefix_get(conf, CONF_DATALAKE_PAIMON, "warehouse"), "/tmp/paimon");
    conf_destroy(conf);
}

static void nested_names_are_joined_and_sequences_too(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    MUST(parse(conf, "data:\n  dir: /d\n"
                     "kv:\n  scanner:\n    max-per-bucket: 7\nweir:\n  tier.workers: 5\n"
                     "bind.listeners:\n  - FLUSS://127.0.0.1:1\n  - CLIENT://127.0.0.1:2\n"
                     "datalake.paimon: {metastore: filesystem, warehouse: '/w'}\n"
                     "weir.tier.dir:\n"));
    assert_string_equal(conf_str(conf, CONF_DATA_DIR), "/d");
    assert_int_equal(conf_i64(conf, CONF_KV_SCANNER_MAX_PER_BUCKET), 7);
    assert_int_equal(conf_i64(conf, CONF_TIER_WORKERS), 5);
    assert_string_equal(conf_str(conf, CONF_BIND_LISTENERS), "FLUSS://127.0.0.1:1,CLIENT://127.0.0.1:2");
    assert_string_equal(conf_prefix_get(conf, CONF_DATALAKE_PAIMON, "warehouse"), "/w");
    assert_string_equal(conf_str(conf, CONF_TIER_DIR), "");
    conf_destroy(conf);
}

static void nothing_is_a_file_too(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "\n\n", "# only a comment\n", "---\n", "{}", "~"};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct conf *conf = conf_create();
        MUST(parse(conf, cases[i]));
        conf_destroy(conf);
    }
}

static void faults_are_told_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *told;
    } cases[] = {
        {"data.dir: /d\nweir.tier.worker: 3\n", "server.yaml:2: unknown option weir.tier.worker; did you mean"},
        {"\n\nweir.tier.workers: many\n", "server.yaml:3: weir.tier.workers: \"many\" is not a whole number"},
        {"data.dir: /d\ndata:\n  dir: /e\n", "server.yaml:3: this option was given in line 1 already"},
        {"data.dir: b: c\n", "server.yaml:1: mapping values are not allowed"},
        {"data.dir: [a, [b]]\n", "server.yaml:1: a sequence may hold single values only"},
        {"data.dir: &x /d\nweir.tier.dir: *x\n", "server.yaml:2: aliases are not taken"},
        {"data.dir: /d\n---\ndata.dir: /e\n", "server.yaml:2: a second document is not taken"},
        {"? [a]\n: b\n", "server.yaml:1: the name of an option is expected here"},
        {"- a\n", "server.yaml:1: lines of the form option: value are expected"},
        {"just words\n", "server.yaml:1: lines of the form option: value are expected"},
        {"data.dir: \"/d\n", "server.yaml:2: found unexpected end of stream"},
        {"data.dir: /d\n\tx: y\n", "server.yaml:2: "},
        {"{a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}}}}}}}}}}}",
         "server.yaml:1: nested too deep"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct conf *conf = conf_create();
        assert_int_not_equal(parse(conf, cases[i].text), OK);
        if (strncmp(err.text, cases[i].told, strlen(cases[i].told)) != 0)
            fail_msg("%s\ntold: %s\nwant: %s", cases[i].text, err.text, cases[i].told);
        conf_destroy(conf);
    }
}

static void a_file_is_read_up_to_its_limit(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    char path[300];
    snprintf(path, sizeof path, "%s/my.yaml", test_dir());
    MUST_FAIL(ERR_NOT_FOUND, conf_load_yaml(conf, os_real(), path, &err));
    MUST(os_write_durable(os_real(), path, SLICE("data.dir: /d\nx: y\n"), &err));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, conf_load_yaml(conf, os_real(), path, &err));
    assert_int_equal(strncmp(err.text, "my.yaml:2: ", 11), 0);
    static char large[CONF_FILE_MAX + 1];
    memset(large, '#', sizeof large);
    MUST(os_write_durable(os_real(), path, slice_of(large, sizeof large), &err));
    MUST_FAIL(ERR_LIMIT, conf_load_yaml(conf, os_real(), path, &err));
    MUST(os_write_durable(os_real(), path, slice_of(large, sizeof large - 1), &err));
    MUST(conf_load_yaml(conf, os_real(), path, &err));
    conf_destroy(conf);
}

TESTS("conf.yaml", TEST(a_stock_server_yaml_is_taken), TEST(nested_names_are_joined_and_sequences_too),
      TEST(nothing_is_a_file_too), TEST(faults_are_told_with_their_line), TEST(a_file_is_read_up_to_its_limit))
