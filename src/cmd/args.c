/* The command line of a verb: common options, the verb's own, and what is left. */
#include "cmd/cmd_int.h"

#include <ctype.h>
#include <stdio.h>

struct option {
    const char *name;
    const char *value; /* NULL: takes none */
    bool common;
    const char *help;
};

enum { BOOTSTRAP, USER, OUTPUT, DEADLINE, FROM, LIMIT, BUCKET, CHANGES, HOT, SYSTEM_COLUMNS, NOW };

static const struct option options[] = {
    [BOOTSTRAP] = {"--bootstrap", "HOST:PORT", true, "a server of the cluster (127.0.0.1:9123)"},
    [USER] = {"--user", "NAME", true, "log in; the password is in the variable WEIR_PASSWORD"},
    [OUTPUT] = {"-o", "FORMAT", true, "table, json, jsonl, csv (terminal: table, else jsonl)"},
    [DEADLINE] = {"--deadline", "DURATION", false, "give up after it: 500ms, 10s, 2min"},
    [FROM] = {"--from", "WHERE", false, "earliest, latest or an offset (latest)"},
    [LIMIT] = {"--limit", "N", false, "stop after N rows"},
    [BUCKET] = {"--bucket", "N", false, "only this bucket"},
    [CHANGES] = {"--changes", NULL, false, "every change, with kind, bucket, offset and time"},
    [HOT] = {"--hot", NULL, false, "what the servers hold, without the lake"},
    [NOW] = {"--now", NULL, false, "do not wait for the lake, take what it holds"},
    [SYSTEM_COLUMNS] = {"--system-columns", NULL, false, "also __bucket, __offset and __timestamp of TABLE$lake"},
};

/* The verb's list holds the option's name without its dashes. */
static bool takes(const struct cmd_verb *verb, const struct option *option)
{
    const char *name = option->name + strspn(option->name, "-");
    size_t len = strlen(name);
    if (option->common)
        return true;
    for (const char *at = verb->options; (at = strstr(at, name)); at += len)
        if ((at == verb->options || at[-1] == ' ') && (at[len] == ' ' || at[len] == 0))
            return true;
    return false;
}

void cmd_help(const struct cmd_verb *verb)
{
    printf("usage: weir %s%s%s\n\n%c%s.\n\n%s\n", verb->name, *verb->args ? " " : "", verb->args,
           toupper((unsigned char)*verb->summary), verb->summary + 1, verb->help);
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        char head[40];
        if (!takes(verb, &options[i]))
            continue;
        snprintf(head, sizeof head, "%s %s", options[i].name, options[i].value ? options[i].value : "");
        printf("  %-24s %s\n", head, options[i].help);
    }
}

/* ---- nearest ---- */

const char *cmd_nearest(const char *word, const char *const *list)
{
    const char *best = NULL;
    size_t best_distance = MAX(strlen(word) / 3, 1) + 1;
    for (; *list; list++) {
        size_t d = slice_distance(slice_str(word), slice_str(*list));
        if (d < best_distance) {
            best = *list;
            best_distance = d;
        }
    }
    return best;
}

/* ---- values ---- */

static enum err_code read_number(const char *name, const char *value, int64_t least, int64_t *out, struct err *err)
{
    int64_t number;
    if (!slice_to_i64(slice_str(value), &number) || number < least)
        return err_set(err, ERR_INVALID_ARGUMENT, "%s takes a number from %lld on, not %s", name, (long long)least,
                       value);
    *out = number;
    return OK;
}

static enum err_code read_format(struct cmd *cmd, const char *value, struct err *err)
{
    static const char *const names[] = {"table", "json", "jsonl", "csv"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(value, names[i])) {
            cmd->format = (enum cmd_format)i;
            return OK;
        }
    return err_set(err, ERR_INVALID_ARGUMENT, "-o takes table, json, jsonl or csv, not %s", value);
}

static enum err_code set_option(struct cmd *cmd, size_t which, const char *value, struct err *err)
{
    switch (which) {
    case BOOTSTRAP:
        TRY(conf_parse_endpoint(slice_str(value), cmd->host, &cmd->port, err));
        return *cmd->host && cmd->port
                   ? OK
                   : err_set(err, ERR_INVALID_ARGUMENT, "--bootstrap takes HOST:PORT, not %s", value);
    case USER:
        cmd->user = value;
        cmd->password = os_environment(cmd->os, "WEIR_PASSWORD");
        return *value && cmd->password
                   ? OK
                   : err_set(err, ERR_INVALID_ARGUMENT, "--user takes a name, and WEIR_PASSWORD its password");
    case OUTPUT:
        return read_format(cmd, value, err);
    case DEADLINE:
        if (!conf_parse_duration_ms(slice_str(value), &cmd->deadline_ms) || cmd->deadline_ms < 1)
            return err_set(err, ERR_INVALID_ARGUMENT, "--deadline takes a duration as 500ms, 10s or 2min, not %s",
                           value);
        return OK;
    case FROM:
        cmd->from = value;
        return OK;
    case LIMIT:
        return read_number("--limit", value, 1, &cmd->limit, err);
    case BUCKET:
        return read_number("--bucket", value, 0, &cmd->bucket, err);
    case CHANGES:
        cmd->changes = true;
        return OK;
    case HOT:
        cmd->hot = true;
        return OK;
    case NOW:
        cmd->now = true;
        return OK;
    default:
        cmd->system_columns = true;
        return OK;
    }
}

static enum err_code unknown(const struct cmd *cmd, const char *word, struct err *err)
{
    const char *names[ARRAY_LEN(options) + 1] = {0};
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (takes(cmd->verb, &options[i]))
            names[count++] = options[i].name;
    const char *nearest = cmd_nearest(word, names);
    return err_set(err, ERR_INVALID_ARGUMENT, "weir %s has no option %s%s%s%s", cmd->verb->name, word,
                   nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* One option at argv[*i], with its value behind it or behind '='. */
static enum err_code read_option(struct cmd *cmd, int argc, char **argv, int *i, struct err *err)
{
    const char *word = argv[*i];
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen(word);
    size_t which = 0;
    while (which < ARRAY_LEN(options) &&
           (strlen(options[which].name) != len || strncmp(options[which].name, word, len) != 0))
        which++;
    if (which == ARRAY_LEN(options) || !takes(cmd->verb, &options[which]))
        return unknown(cmd, word, err);
    if (!options[which].value)
        return equals ? err_set(err, ERR_INVALID_ARGUMENT, "%s takes no value", options[which].name)
                      : set_option(cmd, which, NULL, err);
    if (!equals && *i + 1 == argc)
        return err_set(err, ERR_INVALID_ARGUMENT, "%s needs a value: %s", word, options[which].value);
    return set_option(cmd, which, equals ? equals + 1 : argv[++*i], err);
}

/* A negative number is an argument, not an option. */
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] && (word[1] < '0' || word[1] > '9');
}

/* One for each word of the verb's list, or any number where that has dots. */
static enum err_code check_count(const struct cmd *cmd, struct err *err)
{
    const char *list = cmd->verb->args;
    int most = 0;
    for (const char *at = list; *at; at++)
        most += at == list || at[-1] == ' ';
    if (cmd->arg_count <= most || strstr(list, "..."))
        return OK;
    return err_set(err, ERR_INVALID_ARGUMENT, "weir %s takes %s, and no %s", cmd->verb->name,
                   *list ? list : "no argument", cmd->args[most]);
}

enum err_code cmd_read_args(struct cmd *cmd, int argc, char **argv, struct err *err)
{
    bool only_args = false;
    cmd->args = mem_alloc(((size_t)argc + 1) * sizeof *cmd->args);
    cmd->terminal = os_is_terminal(cmd->os, 1);
    cmd->format = cmd->terminal ? FORMAT_TABLE : FORMAT_JSONL;
    cmd->limit = cmd->bucket = -1;
    snprintf(cmd->host, sizeof cmd->host, CMD_HOST);
    cmd->port = CMD_PORT;
    for (int i = 0; i < argc; i++) {
        if (!only_args && !strcmp(argv[i], "--"))
            only_args = true;
        else if (!only_args && is_option(argv[i]))
            TRY(read_option(cmd, argc, argv, &i, err));
        else
            cmd->args[cmd->arg_count++] = argv[i];
    }
    return check_count(cmd, err);
}
