/* The words of a command line. */
#include "cmd/cmd_int.h"
#include "lib/test.h"

static struct err err;

static const struct cmd_verb verb = {"tail", "TABLE ...", "", "", "limit from changes deadline", NULL, NULL};

static enum err_code read_words(struct cmd *cmd, const char *const *words)
{
    char copies[8][40];
    char *argv[8];
    int count = 0;
    for (; words[count]; count++) {
        snprintf(copies[count], sizeof copies[count], "%s", words[count]);
        argv[count] = copies[count];
    }
    *cmd = (struct cmd){.os = os_real(), .verb = &verb};
    enum err_code code = cmd_read_args(cmd, count, argv, &err);
    mem_free(cmd->args);
    return code;
}

static void options_stand_anywhere(void **state)
{
    (void)state;
    struct cmd cmd;
    const char *const words[] = {"--limit=3", "orders", "--changes", "--bootstrap", "[::1]:77", "-o", "csv", NULL};
    assert_int_equal(read_words(&cmd, words), OK);
    assert_int_equal(cmd.arg_count, 1);
    assert_int_equal(cmd.limit, 3);
    assert_true(cmd.changes);
    assert_string_equal(cmd.host, "::1");
    assert_int_equal(cmd.port, 77);
    assert_int_equal(cmd.format, FORMAT_CSV);
}

static void negative_numbers_and_words_behind_dashes_are_arguments(void **state)
{
    (void)state;
    struct cmd cmd;
    const char *const words[] = {"orders", "-5", "-", "--", "--limit", NULL};
    assert_int_equal(read_words(&cmd, words), OK);
    assert_int_equal(cmd.arg_count, 4);
    assert_int_equal(cmd.limit, -1);
}

static void defaults_are_the_server_beside_and_no_limit(void **state)
{
    (void)state;
    struct cmd cmd;
    const char *const words[] = {NULL};
    assert_int_equal(read_words(&cmd, words), OK);
    assert_string_equal(cmd.host, "127.0.0.1");
    assert_int_equal(cmd.port, 9123);
    assert_int_equal(cmd.bucket, -1);
    assert_int_equal(cmd.deadline_ms, 0);
}

static void wrong_words_are_refused_with_what_is_right(void **state)
{
    (void)state;
    static const struct {
        const char *words[4];
        const char *want;
    } cases[] = {
        {{"--limt", "3"}, "did you mean --limit?"},
        {{"--bucket", "3"}, "has no option --bucket"}, /* not one of this verb's */
        {{"--limit"}, "needs a value"},
        {{"--limit", "0"}, "from 1 on"},
        {{"--limit", "x"}, "from 1 on"},
        {{"--changes=yes"}, "takes no value"},
        {{"-o", "xml"}, "table, json, jsonl or csv"},
        {{"--deadline", "soon"}, "500ms, 10s or 2min"},
        {{"--bootstrap", "nowhere"}, "nowhere"},
        {{"--bootstrap", "host:0"}, "HOST:PORT"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cmd cmd;
        assert_int_not_equal(read_words(&cmd, cases[i].words), OK);
        if (!strstr(err.text, cases[i].want))
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].want);
    }
}

static void the_nearest_word_is_near(void **state)
{
    (void)state;
    static const char *const list[] = {"tables", "tail", "scan", NULL};
    assert_string_equal(cmd_nearest("tabels", list), "tables");
    assert_string_equal(cmd_nearest("scam", list), "scan");
    assert_null(cmd_nearest("verify", list));
    assert_null(cmd_nearest("a word of more than thirty-two letters", list));
}

static void a_table_without_a_database_is_of_fluss(void **state)
{
    (void)state;
    assert_slice_equal(cmd_path("t").database, SLICE("fluss"));
    assert_slice_equal(cmd_path("d.t").database, SLICE("d"));
    assert_slice_equal(cmd_path("d.t").table, SLICE("t"));
}

static void arguments_that_nobody_reads_are_refused(void **state)
{
    (void)state;
    static const struct cmd_verb scan = {"scan", "TABLE", "", "", "", NULL, NULL};
    static const struct cmd_verb version = {"version", "", "", "", "", NULL, NULL};
    char table[] = "orders", more[] = "more", *argv[] = {table, more};
    struct cmd cmd = {.os = os_real(), .verb = &scan};
    assert_int_equal(cmd_read_args(&cmd, 1, argv, &err), OK);
    mem_free(cmd.args);
    cmd = (struct cmd){.os = os_real(), .verb = &scan};
    assert_int_equal(cmd_read_args(&cmd, 2, argv, &err), ERR_INVALID_ARGUMENT);
    assert_string_equal(err.text, "weir scan takes TABLE, and no more");
    mem_free(cmd.args);
    cmd = (struct cmd){.os = os_real(), .verb = &version};
    assert_int_equal(cmd_read_args(&cmd, 1, argv, &err), ERR_INVALID_ARGUMENT);
    mem_free(cmd.args);
}

TESTS("cmd.args", TEST(arguments_that_nobody_reads_are_refused), TEST(options_stand_anywhere),
      TEST(negative_numbers_and_words_behind_dashes_are_arguments), TEST(defaults_are_the_server_beside_and_no_limit),
      TEST(wrong_words_are_refused_with_what_is_right), TEST(the_nearest_word_is_near),
      TEST(a_table_without_a_database_is_of_fluss))
