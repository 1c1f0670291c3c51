#include "conf/conf.h"
#include "lib/test.h"

static struct err err;

static struct conf *conf_with(const char *bind, const char *advertised, const char *internal, const char *protocols)
{
    struct conf *conf = conf_create();
    const char *const names[] = {"bind.listeners", "advertised.listeners", "internal.listener.name",
                                 "security.protocol.map"};
    const char *const values[] = {bind, advertised, internal, protocols};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (values[i])
            MUST(conf_set(conf, CONF_FROM_FILE, slice_str(names[i]), slice_str(values[i]), "here", &err));
    return conf;
}

static void the_default_is_one_listener_on_this_machine(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    struct conf_listeners l;
    MUST(conf_listeners(conf, &l, &err));
    assert_int_equal(l.count, 1);
    assert_string_equal(l.list[0].name, "FLUSS");
    assert_string_equal(l.list[0].host, "127.0.0.1");
    assert_int_equal(l.list[0].port, 9123);
    assert_string_equal(l.list[0].advertised_host, "127.0.0.1");
    assert_int_equal(l.list[0].advertised_port, 9123);
    conf_destroy(conf);
}

static void names_join_what_is_bound_and_what_is_told(void **state)
{
    (void)state;
    struct conf *conf = conf_with("INTERNAL://[::1]:0, CLIENT://0.0.0.0:9124", "CLIENT://weir.example:80", "CLIENT",
                                  "INTERNAL:plaintext,CLIENT:PLAINTEXT");
    struct conf_listeners l;
    MUST(conf_listeners(conf, &l, &err));
    assert_int_equal(l.count, 2);
    assert_string_equal(l.list[0].host, "::1");
    assert_string_equal(l.list[0].advertised_host, "::1");
    assert_int_equal(l.list[0].advertised_port, 0);
    assert_string_equal(l.list[1].advertised_host, "weir.example");
    assert_int_equal(l.list[1].port, 9124);
    assert_int_equal(l.list[1].advertised_port, 80);
    assert_int_equal(l.internal, 1);
    conf_destroy(conf);
}

static void the_first_listener_is_internal_where_nobody_says(void **state)
{
    (void)state;
    struct conf *conf = conf_with("A://h:1,FLUSS://h:2", NULL, NULL, NULL);
    struct conf_listeners l;
    MUST(conf_listeners(conf, &l, &err));
    assert_int_equal(l.internal, 1);
    conf_destroy(conf);
    conf = conf_with("A://h:1,B://h:2", NULL, NULL, NULL);
    MUST(conf_listeners(conf, &l, &err));
    assert_int_equal(l.internal, 0);
    conf_destroy(conf);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bind, *advertised, *internal, *protocols;
        enum err_code code;
        const char *told;
    } cases[] = {
        {"", NULL, NULL, NULL, ERR_INVALID_CONFIG_EXCEPTION, "bind.listeners: no listener"},
        {"localhost:9123", NULL, NULL, NULL, ERR_INVALID_CONFIG_EXCEPTION, "bind.listeners: not of the form"},
        {"A://localhost", NULL, NULL, NULL, ERR_INVALID_CONFIG_EXCEPTION, "bind.listeners: not of the form"},
        {"A://h:65536", NULL, NULL, NULL, ERR_INVALID_CONFIG_EXCEPTION, "bind.listeners: not of the form"},
        {"A://h:-1", NULL, NULL, NULL, ERR_INVALID_CONFIG_EXCEPTION, "bind.listeners: not of the form"},
        {"A://::1:9", NULL, NULL, NULL, ERR_INVALID_CONFIG_EXCEPTION, "bind.listeners: not of the form"},
        {"A b://h:9", NULL, NULL, NULL, ERR_INVALID_CONFIG_EXCEPTION, "bind.listeners: not of the form"},
        {"://h:9", NULL, NULL, NULL, ERR_INVALID_CONFIG_EXCEPTION, "bind.listeners: not of the form"},
        {"A://h:1,A://h:2", NULL, NULL, NULL, ERR_INVALID_CONFIG_EXCEPTION, "bind.listeners: two listeners have one n"},
        {"A://h:1,B://h:1", NULL, NULL, NULL, ERR_INVALID_CONFIG_EXCEPTION, "bind.listeners: two listeners have one p"},
        {"A://h:0,B://h:0,C://h:0,D://h:0,E://h:0,F://h:0,G://h:0,H://h:0,I://h:0", NULL, NULL, NULL,
         ERR_INVALID_CONFIG_EXCEPTION, "bind.listeners: more than 8 listeners"},
        {"A://h:1", "B://h:1", NULL, NULL, ERR_INVALID_CONFIG_EXCEPTION, "advertised.listeners: bind.listeners has no"},
        {"A://h:1", "A://:1", NULL, NULL, ERR_INVALID_CONFIG_EXCEPTION, "advertised.listeners: not of the form"},
        {"A://h:1", NULL, "B", NULL, ERR_INVALID_CONFIG_EXCEPTION, "internal.listener.name: bind.listeners has no"},
        {"A://h:1", NULL, NULL, "A", ERR_INVALID_CONFIG_EXCEPTION, "security.protocol.map: not of the form"},
        {"A://h:1", NULL, NULL, "B:PLAINTEXT", ERR_INVALID_CONFIG_EXCEPTION, "security.protocol.map: bind.listeners"},
        {"A://h:1", NULL, NULL, "A:SSL", ERR_NOT_SUPPORTED, "security.protocol.map: weir serves PLAINTEXT and SASL"},
        {"A://h:1", NULL, NULL, "A:sasl", ERR_INVALID_CONFIG_EXCEPTION, "security.sasl.enabled.mechanisms: a listener"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct conf *conf = conf_with(cases[i].bind, cases[i].advertised, cases[i].internal, cases[i].protocols);
        MUST_FAIL(cases[i].code, conf_check(conf, &err));
        if (strncmp(err.text, cases[i].told, strlen(cases[i].told)) != 0)
            fail_msg("told: %s\nwant: %s", err.text, cases[i].told);
        conf_destroy(conf);
    }
}

static void directories_are_on_local_disks(void **state)
{
    (void)state;
    static const char *const options[] = {"data.dir", "remote.data.dir", "weir.tier.dir"};
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        struct conf *conf = conf_create();
        MUST(conf_set(conf, CONF_FROM_D, slice_str(options[i]), SLICE("s3://bucket/fluss"), "-D", &err));
        MUST_FAIL(ERR_NOT_SUPPORTED, conf_check(conf, &err));
        assert_non_null(strstr(err.text, options[i]));
        MUST(conf_set(conf, CONF_FROM_D, slice_str(options[i]), SLICE("/var/lib/fluss"), "-D", &err));
        MUST(conf_check(conf, &err));
        conf_destroy(conf);
    }
}

static void the_flag_takes_host_and_port(void **state)
{
    (void)state;
    struct conf *conf = conf_with("A://h:1", NULL, NULL, NULL);
    struct conf_listeners l;
    MUST(conf_set_listen(conf, SLICE("[::1]:0"), &err));
    MUST(conf_listeners(conf, &l, &err));
    assert_int_equal(l.count, 1);
    assert_string_equal(l.list[0].name, "FLUSS");
    assert_string_equal(l.list[0].host, "::1");
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, conf_set_listen(conf, SLICE("127.0.0.1"), &err));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, conf_set_listen(conf, SLICE("h:1,B://h:2"), &err));
    conf_destroy(conf);
}

static void the_address_of_the_web_pages_is_checked(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    MUST(conf_set_assignment(conf, SLICE("weir.http.listen="), &err));
    MUST(conf_check(conf, &err));
    MUST(conf_set_assignment(conf, SLICE("weir.http.listen=9180"), &err));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, conf_check(conf, &err));
    conf_destroy(conf);
}

static void lists_are_taken_apart(void **state)
{
    (void)state;
    struct slice rest = SLICE(" a ,;b b;; c,"), item;
    assert_true(conf_list_next(&rest, &item));
    assert_slice_equal(item, SLICE("a"));
    assert_true(conf_list_next(&rest, &item));
    assert_slice_equal(item, SLICE("b b"));
    assert_true(conf_list_next(&rest, &item));
    assert_slice_equal(item, SLICE("c"));
    assert_false(conf_list_next(&rest, &item));
}

TESTS("conf.listener", TEST(the_default_is_one_listener_on_this_machine),
      TEST(names_join_what_is_bound_and_what_is_told), TEST(the_first_listener_is_internal_where_nobody_says),
      TEST(what_does_not_fit_is_refused), TEST(directories_are_on_local_disks), TEST(the_flag_takes_host_and_port),
      TEST(the_address_of_the_web_pages_is_checked), TEST(lists_are_taken_apart))
