#include "conf/conf.h"

#include "lib/test.h"

static struct err err;

#define MODULE "org.apache.fluss.security.auth.sasl.plain.PlainLoginModule required "

/* Settings "name=value" up to NULL, on a plain and a SASL listener. */
static struct conf *conf_of(const char *const *settings)
{
    struct conf *conf = conf_create();
    MUST(conf_set_assignment(conf, SLICE("bind.listeners=FLUSS://127.0.0.1:0,Client://127.0.0.1:0"), &err));
    MUST(conf_set_assignment(conf, SLICE("security.protocol.map=Client:sasl"), &err));
    for (; *settings; settings++)
        MUST(conf_set_assignment(conf, slice_str(*settings), &err));
    return conf;
}

static void assert_user(const struct conf *conf, struct slice token, bool comes_in)
{
    struct conf_listeners listeners;
    struct auth_users *users;
    struct slice name;
    MUST(conf_check(conf, &err));
    MUST(conf_listeners(conf, &listeners, &err));
    assert_false(listeners.list[0].sasl);
    assert_true(listeners.list[1].sasl);
    MUST(conf_listener_users(conf, &listeners.list[1], &users, &err));
    assert_true((auth_plain(users, token, &name, NULL) == OK) == comes_in);
    auth_users_destroy(users);
}

static void users_come_from_jaas_text_and_list_together(void **state)
{
    (void)state;
    const char *const settings[] = {"security.sasl.enabled.mechanisms=plain",
                                    "security.sasl.plain.jaas.config=" MODULE "user_admin=\"one\" user_al=\"two\";",
                                    "security.sasl.plain.credentials=al:three,bob:four", NULL};
    struct conf *conf = conf_of(settings);
    assert_user(conf, SLICE("\0admin\0one"), true);
    assert_user(conf, SLICE("\0al\0two"), false);
    assert_user(conf, SLICE("\0al\0three"), true);
    assert_user(conf, SLICE("\0bob\0four"), true);
    conf_destroy(conf);
}

static void a_listeners_own_text_replaces_the_others(void **state)
{
    (void)state;
    const char *const settings[] = {
        "security.sasl.enabled.mechanisms=PLAIN", "security.sasl.plain.jaas.config=" MODULE "user_admin=\"one\";",
        "security.sasl.listener.name.client.plain.jaas.config=" MODULE "user_own=\"two\";", NULL};
    struct conf *conf = conf_of(settings);
    assert_user(conf, SLICE("\0own\0two"), true);
    assert_user(conf, SLICE("\0admin\0one"), false);
    conf_destroy(conf);
}

static void what_does_not_fit_is_refused_without_secrets(void **state)
{
    (void)state;
    static const struct {
        const char *settings[4];
        enum err_code code;
        const char *told;
    } cases[] = {
        {{"security.sasl.plain.credentials=a:secret", NULL},
         ERR_INVALID_CONFIG_EXCEPTION,
         "security.sasl.enabled.mechanisms: a listener"},
        {{"security.sasl.enabled.mechanisms=PLAIN,GSSAPI", NULL},
         ERR_NOT_SUPPORTED,
         "security.sasl.enabled.mechanisms"},
        {{"security.sasl.enabled.mechanisms=PLAIN", NULL}, ERR_INVALID_CONFIG_EXCEPTION, "listener Client is SASL but"},
        {{"security.sasl.enabled.mechanisms=PLAIN", "security.sasl.plain.credentials=secret", NULL},
         ERR_INVALID_CONFIG_EXCEPTION,
         "security.sasl.plain.credentials: byte 0"},
        {{"security.sasl.enabled.mechanisms=PLAIN", "security.sasl.plain.jaas.config=" MODULE "user_a=\"secret", NULL},
         ERR_INVALID_CONFIG_EXCEPTION,
         "security.sasl.plain.jaas.config: byte "},
        {{"security.sasl.enabled.mechanisms=PLAIN",
          "security.sasl.listener.name.client.plain.jaas.config=" MODULE "secret=\"secret\";", NULL},
         ERR_INVALID_CONFIG_EXCEPTION,
         "security.sasl.listener.name.*.plain.jaas.config: byte "},
        {{"security.sasl.enabled.mechanisms=PLAIN", "security.sasl.plain.credentials=a:secret",
          "security.sasl.listener.name.other.plain.jaas.config=x", NULL},
         ERR_INVALID_CONFIG_EXCEPTION,
         "security.sasl.listener.name.other.plain.jaas.config: not a listener"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct conf *conf = conf_of(cases[i].settings);
        MUST_FAIL(cases[i].code, conf_check(conf, &err));
        if (strncmp(err.text, cases[i].told, strlen(cases[i].told)) != 0 || strstr(err.text, "secret"))
            fail_msg("told: %s\nwant: %s", err.text, cases[i].told);
        conf_destroy(conf);
    }
}

static void other_options_of_sasl_are_refused(void **state)
{
    (void)state;
    struct conf *conf = conf_create();
    MUST_FAIL(ERR_NOT_SUPPORTED, conf_set_assignment(conf, SLICE("security.sasl.gssapi.keytab=/secret"), &err));
    assert_null(strstr(err.text, "/secret"));
    MUST_FAIL(ERR_INVALID_ARGUMENT, conf_set_assignment(conf, SLICE("security.sasl.plain.credentials:a:secret"), &err));
    assert_null(strstr(err.text, "secret"));
    conf_destroy(conf);
}

static void secrets_are_not_listed(void **state)
{
    (void)state;
    const char *const settings[] = {
        "security.sasl.plain.jaas.config=" MODULE "user_a=\"secret\";", "security.sasl.plain.credentials=b:secret",
        "security.sasl.listener.name.client.plain.jaas.config=" MODULE "user_c=\"secret\";", NULL};
    struct conf *conf = conf_of(settings);
    struct conf_entry entry;
    int hidden = 0;
    for (size_t at = 0; conf_next(conf, &at, &entry);) {
        assert_null(strstr(entry.value, "secret"));
        hidden += strcmp(entry.value, "***") == 0;
    }
    assert_int_equal(hidden, 3);
    conf_destroy(conf);
}

/* Words of stock's and of catalogs. */
static void names_of_secrets_are_known_by_their_words(void **state)
{
    (void)state;
    const char *const settings[] = {
        "security.protocol.map=",       "datalake.paimon.s3.secret-key=secret", "datalake.paimon.jdbc.password=secret",
        "datalake.paimon.token=secret", "datalake.paimon.s3.access-key=secret", NULL};
    struct conf *conf = conf_of(settings);
    struct conf_entry entry;
    for (size_t at = 0; conf_next(conf, &at, &entry);)
        assert_null(strstr(entry.value, "secret"));
    conf_destroy(conf);
}

static void an_overlay_leaves_its_base_as_it_was(void **state)
{
    (void)state;
    struct conf *base = conf_create();
    MUST(conf_set_assignment(base, SLICE("weir.trace.level=warn"), &err));
    struct conf *over = conf_overlay(base);
    MUST(conf_check_live(SLICE("weir.trace.level"), &err));
    MUST(conf_set(over, CONF_FROM_LIVE, SLICE("weir.trace.level"), SLICE("DEBUG"), "altered", &err));
    assert_string_equal(conf_str(over, CONF_TRACE_LEVEL), "debug");
    assert_string_equal(conf_str(base, CONF_TRACE_LEVEL), "warn");
    assert_string_equal(conf_source_name(conf_source(over, CONF_TRACE_LEVEL)), "altered");
    MUST_FAIL(ERR_CONFIG_EXCEPTION, conf_check_live(SLICE("data.dir"), &err));
    MUST_FAIL(ERR_CONFIG_EXCEPTION, conf_check_live(SLICE("kv.snapshot.interval"), &err));
    MUST_FAIL(ERR_CONFIG_EXCEPTION, conf_check_live(SLICE("nothing"), &err));
    conf_destroy(over);
    conf_destroy(base);
}

static void super_users_are_checked(void **state)
{
    (void)state;
    const char *const settings[] = {"security.protocol.map=", "super.users=User:admin; User:ops", NULL};
    struct conf *conf = conf_of(settings);
    struct acl_supers supers;
    MUST(conf_check(conf, &err));
    MUST(conf_super_users(conf, &supers, &err));
    assert_int_equal(supers.names.len, 2);
    acl_supers_deinit(&supers);
    MUST(conf_set_assignment(conf, SLICE("super.users=admin"), &err));
    MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, conf_check(conf, &err));
    assert_non_null(strstr(err.text, "super.users: \"admin\" is not of the form User:NAME"));
    conf_destroy(conf);
}

TESTS("conf.sasl", TEST(users_come_from_jaas_text_and_list_together), TEST(a_listeners_own_text_replaces_the_others),
      TEST(what_does_not_fit_is_refused_without_secrets), TEST(other_options_of_sasl_are_refused),
      TEST(secrets_are_not_listed), TEST(super_users_are_checked), TEST(names_of_secrets_are_known_by_their_words),
      TEST(an_overlay_leaves_its_base_as_it_was))
