#include "cmd/cmd_int.h"

#include <stdio.h>

struct verb {
    const char *name;
    int (*run)(struct os *os, int argc, char **argv);
    const char *help;
};

static const struct verb verbs[] = {
    {"server", cmd_server, "serve the tables of a data directory"},
};

static int usage(FILE *out, int code)
{
    fputs("usage: weir VERB [ARGUMENT ...]     weir VERB --help tells more\n\n", out);
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].help);
    return code;
}

void cmd_error(const struct err *err)
{
    const char *remedy = err_remedy(err->code);
    fprintf(stderr, "%s: %s\n", err_user_code(err->code), *err->text ? err->text : err_text(err->code));
    if (remedy)
        fprintf(stderr, "  %s\n", remedy);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--version")) {
        puts("weir " WEIR_VERSION);
        return EXIT_YES;
    }
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return usage(stdout, EXIT_YES);
    for (size_t i = 0; argc > 1 && i < ARRAY_LEN(verbs); i++)
        if (!strcmp(argv[1], verbs[i].name))
            return verbs[i].run(os_real(), argc - 2, argv + 2);
    if (argc > 1)
        fprintf(stderr, "E-USAGE: weir has no verb %s\n", argv[1]);
    return usage(stderr, EXIT_USAGE);
}
