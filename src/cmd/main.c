/* weir: finds the verb, reads its arguments, runs it. */
#include "cmd/cmd_int.h"

#include <stdarg.h>
#include <stdio.h>

/* clang-format off */
static const struct cmd_verb verbs[] = {
    {"server", "[OPTION ...]", "serve the tables of a data directory", NULL, "", NULL, cmd_server},
    {"demo", "[OPTION ...]", "a server with two tables, rows, the lake, and the proof", NULL, "", NULL, cmd_demo},
#define VERB(name, args, options, summary, help) {#name, args, summary, help, options, cmd_##name, NULL},
#include "cmd/verbs.def"
#undef VERB
};
/* clang-format on */

void cmd_error(const char *verb, const struct err *err)
{
    const char *remedy = err_remedy(err->code);
    if (err->code == ERR_UNREAD) /* `weir scan orders | head -1` has all it wants */
        return;
    fprintf(stderr, "%s: %s\n", err_user_code(err->code), *err->text ? err->text : err_text(err->code));
    if (err->code == ERR_INVALID_ARGUMENT)
        fprintf(stderr, "  see: weir %s --help\n", verb);
    else if (remedy)
        fprintf(stderr, "  %s\n", remedy);
}

int cmd_exit_code(enum err_code code)
{
    switch (code) {
    case OK:
    case ERR_UNREAD:
        return EXIT_YES;
    case ERR_UNREACHABLE:
    case ERR_CLOSED:
    case ERR_NETWORK_EXCEPTION:
    case ERR_PORT_TAKEN: /* another program has what this one needs */
    case ERR_LOCKED:
        return EXIT_UNREACHABLE;
    case ERR_DEADLINE:
    case ERR_REQUEST_TIME_OUT:
        return EXIT_UNKNOWN;
    case ERR_NOT_FOUND:
    case ERR_ALREADY_EXISTS:
    case ERR_DATABASE_NOT_EXIST:
    case ERR_DATABASE_NOT_EMPTY:
    case ERR_DATABASE_ALREADY_EXIST:
    case ERR_TABLE_NOT_EXIST:
    case ERR_TABLE_ALREADY_EXIST:
    case ERR_SCHEMA_NOT_EXIST:
    case ERR_PARTITION_NOT_EXISTS:
    case ERR_PARTITION_ALREADY_EXISTS:
    case ERR_LAKE_TABLE_ALREADY_EXIST:
    case ERR_LAKE_SNAPSHOT_NOT_EXIST:
    case ERR_LAKE_STORAGE_NOT_CONFIGURED_EXCEPTION:
    case ERR_NOT_YET:
    case ERR_NOT_EQUAL:
        return EXIT_NO;
    case ERR_AUTHENTICATE_EXCEPTION:
    case ERR_AUTHORIZATION_EXCEPTION:
    case ERR_INVALID_ARGUMENT:
    case ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION:
    case ERR_NOT_SUPPORTED:
    case ERR_UNSUPPORTED_VERSION:
    case ERR_INVALID_TABLE_EXCEPTION:
    case ERR_INVALID_DATABASE_EXCEPTION:
    case ERR_INVALID_CONFIG_EXCEPTION:
    case ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION:
    case ERR_INVALID_ALTER_TABLE_EXCEPTION:
    case ERR_INVALID_REPLICATION_FACTOR:
    case ERR_INVALID_TARGET_COLUMN:
    case ERR_TABLE_NOT_PARTITIONED_EXCEPTION:
    case ERR_PARTITION_SPEC_INVALID_EXCEPTION:
    case ERR_PARTITION_MAX_NUM_EXCEPTION:
    case ERR_BUCKET_MAX_NUM_EXCEPTION:
    case ERR_DELETION_DISABLED_EXCEPTION:
    case ERR_RECORD_TOO_LARGE_EXCEPTION:
        return EXIT_USAGE;
    default:
        return EXIT_FAULT;
    }
}

int cmd_fail(const struct cmd *cmd, const struct err *err)
{
    cmd_error(cmd->verb->name, err);
    return cmd_exit_code(err->code);
}

void cmd_try(const struct cmd *cmd, const char *fmt, ...)
{
    va_list args;
    if (!cmd->terminal || cmd->format != FORMAT_TABLE)
        return;
    va_start(args, fmt);
    fputs("try: weir ", stdout);
    vprintf(fmt, args);
    if (strcmp(cmd->host, CMD_HOST) != 0 || cmd->port != CMD_PORT)
        printf(strchr(cmd->host, ':') ? " --bootstrap [%s]:%u" : " --bootstrap %s:%u", cmd->host, (unsigned)cmd->port);
    if (cmd->user)
        printf(" --user %s", cmd->user);
    putchar('\n');
    fflush(stdout);
    va_end(args);
}

void cmd_note(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

static int usage(FILE *out, int code)
{
    fputs("usage: weir VERB [ARGUMENT ...]     weir VERB --help tells more\n\n", out);
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        fprintf(out, "  %-8s %s\n", verbs[i].name, verbs[i].summary);
    fputs("\n"
          "A running server is found at 127.0.0.1:9123, or with --bootstrap HOST:PORT.\n"
          "Tables are named [DATABASE.]TABLE, the database is fluss if none is given.\n"
          "Output: -o table, json, jsonl or csv (on a terminal table, else jsonl).\n"
          "Exit codes: 0 yes, 1 no (not found, not equal), 2 could not tell in time,\n"
          "64 usage, 69 no server, 70 our fault.\n",
          out);
    return code;
}

static int unknown_verb(const char *name)
{
    const char *names[ARRAY_LEN(verbs) + 1] = {0};
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        names[i] = verbs[i].name;
    const char *nearest = cmd_nearest(name, names);
    if (*name == '-')
        cmd_note("E-USAGE: options stand behind the verb: weir VERB %s\n  see: weir --help", name);
    else if (nearest)
        cmd_note("E-USAGE: weir has no verb %s; did you mean %s?\n  see: weir --help", name, nearest);
    else
        cmd_note("E-USAGE: weir has no verb %s\n  see: weir --help", name);
    return EXIT_USAGE;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return true;
    return false;
}

static int run(const struct cmd_verb *verb, int argc, char **argv)
{
    struct err err = {0};
    struct cmd cmd = {.os = os_real(), .verb = verb};
    if (verb->raw)
        return verb->raw(cmd.os, argc, argv);
    if (wants_help(argc, argv)) {
        cmd_help(verb);
        return EXIT_YES;
    }
    int code = EXIT_USAGE;
    enum err_code read = cmd_read_args(&cmd, argc, argv, &err);
    if (read == OK && cmd.arg_count > 0 && !*verb->args)
        read = err_set(&err, ERR_INVALID_ARGUMENT, "weir %s takes no argument, and %s is one", verb->name, cmd.args[0]);
    if (read == OK)
        code = verb->run(&cmd);
    else
        cmd_note("%s: %s\n  see: weir %s --help", err_user_code(err.code), err.text, verb->name);
    client_close(cmd.client);
    mem_free(cmd.args);
    return code;
}

int main(int argc, char **argv)
{
    char help[] = "--help", *help_of[] = {argv[0], argc > 2 ? argv[2] : NULL, help};
    if (argc < 2)
        return usage(stderr, EXIT_USAGE);
    bool wants = !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help");
    if (wants && argc == 2)
        return usage(stdout, EXIT_YES);
    if (wants) {
        argc = (int)ARRAY_LEN(help_of);
        argv = help_of;
    }
    const char *name = !strcmp(argv[1], "--version") ? "version" : argv[1];
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (!strcmp(name, verbs[i].name))
            return run(&verbs[i], argc - 2, argv + 2);
    return unknown_verb(argv[1]);
}
