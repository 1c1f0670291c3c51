#include "auth/auth.h"

#include "lib/test.h"

static struct err err;

#define MODULE "org.apache.fluss.security.auth.sasl.plain.PlainLoginModule"

static struct auth_users *jaas(const char *text)
{
    struct auth_users *users = auth_users_create();
    MUST(auth_users_add_jaas(users, slice_str(text), &err));
    return users;
}

static void assert_lets_in(const struct auth_users *users, struct slice token, const char *want)
{
    struct slice name = {0};
    MUST(auth_plain(users, token, &name, &err));
    assert_slice_equal(name, slice_str(want));
}

static void assert_keeps_out(const struct auth_users *users, struct slice token)
{
    struct slice name = {0};
    MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, auth_plain(users, token, &name, &err));
    assert_null(name.ptr);
    assert_null(strstr(err.text, "secret"));
}

static void users_of_a_login_module_come_in(void **state)
{
    (void)state;
    struct auth_users *users = jaas(MODULE " required user_admin=\"admin-secret\" user_alice=\"alice-secret\";");
    assert_int_equal(auth_users_count(users), 2);
    assert_lets_in(users, SLICE("\0admin\0admin-secret"), "admin");
    assert_lets_in(users, SLICE("\0alice\0alice-secret"), "alice");
    assert_lets_in(users, SLICE("alice\0alice\0alice-secret"), "alice");
    auth_users_destroy(users);
}

static void wrong_tokens_are_kept_out(void **state)
{
    (void)state;
    struct auth_users *users = jaas(MODULE " required user_alice=\"alice-secret\" user_a=\"b\";");
    static const struct slice tokens[] = {
        {0},
        SLICE("\0alice\0alice-secre"),
        SLICE("\0alice\0alice-secret2"),
        SLICE("\0alice\0Alice-secret"),
        SLICE("\0Alice\0alice-secret"),
        SLICE("\0bob\0alice-secret"),
        SLICE("\0alice\0"),
        SLICE("\0\0alice-secret"),
        SLICE("\0alice\0b"),
        SLICE("alice\0alice-secret"),
        SLICE("a\0alice\0alice-secret"),
        SLICE("\0alice\0alice-secret\0"),
        SLICE("\0alice\0alice-secret\0x"),
        SLICE("\0\0\0"),
    };
    for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
        assert_keeps_out(users, tokens[i]);
    auth_users_destroy(users);
}

static void an_unknown_user_and_a_wrong_password_sound_the_same(void **state)
{
    (void)state;
    struct auth_users *users = jaas(MODULE " required user_alice=\"alice-secret\";");
    struct err unknown, wrong;
    struct slice name;
    MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, auth_plain(users, SLICE("\0bob\0x"), &name, &unknown));
    MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, auth_plain(users, SLICE("\0alice\0x"), &name, &wrong));
    assert_string_equal(unknown.text, wrong.text);
    auth_users_destroy(users);
}

static void a_token_longer_than_any_user_is_refused(void **state)
{
    (void)state;
    struct auth_users *users = auth_users_create();
    static uint8_t token[AUTH_TOKEN_BYTES_MAX + 1];
    memset(token, 'x', sizeof token);
    token[0] = token[2] = 0;
    assert_keeps_out(users, slice_of(token, sizeof token));
    auth_users_destroy(users);
}

static void forms_of_a_module_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "PlainLoginModule required user_al=\"secret\";",
        "  " MODULE "\n  REQUIRED\n  user_al = secret ;\n ",
        MODULE " sufficient /* ; */ user_al='secret'; // all\n",
        MODULE " optional username=\"x\" password=\"y\" user_al=\"se\\cret\";",
        "org.apache.kafka.common.security.plain.PlainLoginModule requisite user_al=\"secret\";",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct auth_users *users = jaas(texts[i]);
        assert_int_equal(auth_users_count(users), 1);
        assert_lets_in(users, SLICE("\0al\0secret"), "al");
        auth_users_destroy(users);
    }
}

static void passwords_may_hold_anything_in_quotes(void **state)
{
    (void)state;
    struct auth_users *users = jaas(MODULE " required user_a=\"p;=' /*\\\"\\\\\\n\" user_b='\"\xc3\xa9';");
    assert_lets_in(users, SLICE("\0a\0p;=' /*\"\\\n"), "a");
    assert_lets_in(users, SLICE("\0b\0\"\xc3\xa9"), "b");
    auth_users_destroy(users);
}

static void wrong_texts_are_refused_and_not_repeated(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"", "byte 0: the login module is missing"},
        {"=", "the login module is missing"},
        {"Krb5LoginModule required user_a=\"secret\";", "byte 0: a login module other"},
        {"MyPlainLoginModule required user_a=\"secret\";", "a login module other"},
        {MODULE, "the module's flag is missing"},
        {MODULE " perhaps user_a=\"secret\";", "none of required"},
        {MODULE " required user_a=\"secret\"", "the ';' at the end is missing"},
        {MODULE " required user_a \"secret\";", "a '=' is missing"},
        {MODULE " required user_a=;", "a value is missing"},
        {MODULE " required \"user_a\"=secret;", "a name is missing"},
        {MODULE " required user_a=\"secret;", "a quote has no end"},
        {MODULE " required user_a=\"secret\n\";", "a quote has no end"},
        {MODULE " required user_a=\"secret\\", "a backslash"},
        {MODULE " required user_a=\"secret\\061\";", "a backslash"},
        {MODULE " required user_a=\"\";", "the password of a user is empty"},
        {MODULE " required user_=\"secret\";", "the name of a user is empty"},
        {MODULE " required user_a=\"secret\" user_a=\"secret2\";", "there already"},
        {MODULE " required secret=\"secret\";", "an option other than user_NAME"},
        {MODULE " required impersonate_a=\"*\";", "an option other than user_NAME"},
        {MODULE " required user_a=\"secret\"; x", "something follows"},
        {MODULE " required /* secret", "a comment has no end"},
        {MODULE " required user_a=\"secret\" {};", "a character that has no place"},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct auth_users *users = auth_users_create();
        MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, auth_users_add_jaas(users, slice_str(texts[i][0]), &err));
        if (!strstr(err.text, texts[i][1]) || strstr(err.text, "secret"))
            fail_msg("%s: %s", texts[i][0], err.text);
        auth_users_destroy(users);
    }
}

static void a_list_adds_users_and_replaces_passwords(void **state)
{
    (void)state;
    struct auth_users *users = jaas(MODULE " required user_alice=\"old\";");
    MUST(auth_users_add_list(users, SLICE(" alice : new ,bob:bob-secret,"), &err));
    assert_int_equal(auth_users_count(users), 2);
    assert_keeps_out(users, SLICE("\0alice\0old"));
    assert_lets_in(users, SLICE("\0alice\0new"), "alice");
    assert_lets_in(users, SLICE("\0bob\0bob-secret"), "bob");
    static const char *const wrong[] = {"secret", "a:secret:b", "a:secret,,b:c", ":secret", "a:", "alice:"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        MUST_FAIL(ERR_INVALID_CONFIG_EXCEPTION, auth_users_add_list(users, slice_str(wrong[i]), &err));
        assert_null(strstr(err.text, "secret"));
    }
    auth_users_destroy(users);
}

static void users_and_their_parts_are_bounded(void **state)
{
    (void)state;
    struct auth_users *users = auth_users_create();
    char item[AUTH_NAME_BYTES_MAX + AUTH_PASSWORD_BYTES_MAX + 8];
    for (int i = 0; i < AUTH_USERS_MAX; i++) {
        snprintf(item, sizeof item, "user%d:p", i);
        MUST(auth_users_add_list(users, slice_str(item), &err));
    }
    MUST_FAIL(ERR_LIMIT, auth_users_add_list(users, SLICE("one-more:p"), &err));
    auth_users_destroy(users);
    users = auth_users_create();
    snprintf(item, sizeof item, "%0*d:%0*d", AUTH_NAME_BYTES_MAX, 0, AUTH_PASSWORD_BYTES_MAX, 0);
    MUST(auth_users_add_list(users, slice_str(item), &err));
    snprintf(item, sizeof item, "%0*d:p", AUTH_NAME_BYTES_MAX + 1, 0);
    MUST_FAIL(ERR_LIMIT, auth_users_add_list(users, slice_str(item), &err));
    snprintf(item, sizeof item, "a:%0*d", AUTH_PASSWORD_BYTES_MAX + 1, 0);
    MUST_FAIL(ERR_LIMIT, auth_users_add_list(users, slice_str(item), &err));
    auth_users_destroy(users);
}

TESTS("auth", TEST(users_of_a_login_module_come_in), TEST(wrong_tokens_are_kept_out),
      TEST(an_unknown_user_and_a_wrong_password_sound_the_same), TEST(a_token_longer_than_any_user_is_refused),
      TEST(forms_of_a_module_are_read), TEST(passwords_may_hold_anything_in_quotes),
      TEST(wrong_texts_are_refused_and_not_repeated), TEST(a_list_adds_users_and_replaces_passwords),
      TEST(users_and_their_parts_are_bounded))
