/* weir server: runs until SIGTERM or SIGINT. */
#include "server/server.h"
#include "cmd/cmd_int.h"

#include <stdio.h>

static const char help[] = "usage: weir server [--config FILE] [--data-dir DIR] [--listen HOST:PORT]\n"
                           "                   [-D OPTION=VALUE ...]\n"
                           "\n"
                           "Serves the tables of a data directory until it gets SIGTERM or SIGINT.\n"
                           "When it serves it prints one line: ready FLUSS=HOST:PORT HTTP=HOST:PORT\n"
                           "\n"
                           "  --config FILE        options from a server.yaml, as Apache Fluss has it\n"
                           "  --data-dir DIR       where everything is kept (./weir-data)\n"
                           "  --listen HOST:PORT   address for clients (127.0.0.1:9123); port 0: a free one\n"
                           "  -D OPTION=VALUE      any option of docs/manual/options.md; beats flags,\n"
                           "                       which beat the file\n";

struct waiter {
    struct os_mutex mutex;
    struct os_cond stopped;
    bool stop;
};

static void on_stop(void *arg)
{
    struct waiter *waiter = arg;
    os_mutex_lock(&waiter->mutex);
    waiter->stop = true;
    os_cond_signal(&waiter->stopped);
    os_mutex_unlock(&waiter->mutex);
}

static void wait_for_stop(struct waiter *waiter)
{
    os_mutex_lock(&waiter->mutex);
    while (!waiter->stop)
        os_cond_wait(&waiter->stopped, &waiter->mutex);
    os_mutex_unlock(&waiter->mutex);
}

#define SERVER_FLAGS 4 /* with a value: the first of these */
static const char *const server_flags[] = {"--config", "--data-dir", "--listen", "-D", "--help", NULL};

enum err_code cmd_unknown_flag(const char *verb, const char *word, const char *const *flags, struct err *err)
{
    const char *nearest = cmd_nearest(word, flags);
    return err_set(err, ERR_INVALID_ARGUMENT, "weir %s does not know the argument %s%s%s%s", verb, word,
                   nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

enum err_code cmd_server_flag(struct os *os, struct conf *conf, int argc, char **argv, int i, int *taken,
                              struct err *err)
{
    size_t which = 0;
    while (which < SERVER_FLAGS && strcmp(argv[i], server_flags[which]) != 0)
        which++;
    *taken = which < SERVER_FLAGS ? 2 : 0;
    if (*taken == 0)
        return OK;
    if (i + 1 == argc)
        return err_set(err, ERR_INVALID_ARGUMENT, "%s needs a value", argv[i]);
    struct slice value = slice_str(argv[i + 1]);
    switch (which) {
    case 0:
        return conf_load_yaml(conf, os, argv[i + 1], err);
    case 1:
        return conf_set(conf, CONF_FROM_FLAG, SLICE("data.dir"), value, "--data-dir", err);
    case 2:
        return conf_set_listen(conf, value, err);
    default:
        return conf_set_assignment(conf, value, err);
    }
}

static enum err_code options_read(struct os *os, struct conf *conf, int argc, char **argv, struct err *err)
{
    for (int i = 0, taken; i < argc; i += taken) {
        TRY(cmd_server_flag(os, conf, argc, argv, i, &taken, err));
        if (taken == 0)
            return cmd_unknown_flag("server", argv[i], server_flags, err);
    }
    return conf_check(conf, err);
}

static enum err_code tell_ready(struct os *os, const struct server *server, struct err *err)
{
    struct buf ready = {0};
    buf_printf(&ready, "ready ");
    server_addresses(server, &ready);
    buf_put_u8(&ready, '\n');
    enum err_code code = os_write_fd(os, 1, buf_view(&ready), err);
    buf_deinit(&ready);
    return code;
}

static enum err_code serve(struct os *os, struct conf *conf, struct trace *trace, struct waiter *waiter,
                           struct err *err)
{
    struct cmd_service service;
    TRY(cmd_service_start(&service, os, conf, trace, err));
    enum err_code code = tell_ready(os, service.server, err);
    if (code == OK)
        wait_for_stop(waiter);
    cmd_service_stop(&service);
    if (code == OK && os_is_terminal(os, 1))
        cmd_note("stopped: every acknowledged row is on disk; the lake gets the rest at the next start");
    return code;
}

/* On a machine that ends the process at a step, where a test asks for that. */
static enum err_code serve_until_step(struct os *os, struct conf *conf, struct trace *trace, struct waiter *waiter,
                                      struct err *err)
{
    const char *step = conf_str(conf, CONF_TEST_END_AT);
    struct os *until = NULL;
    if (*step)
        TRY(os_real_until_step(step, &until, err));
    enum err_code code = serve(until ? until : os, conf, trace, waiter, err);
    mem_free(until);
    return code;
}

int cmd_server(struct os *os, int argc, char **argv)
{
    struct err err = {0};
    struct trace trace;
    struct waiter waiter = {0};
    enum trace_level level = TRACE_INFO;
    if (argc == 1 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
        fputs(help, stdout);
        return EXIT_YES;
    }
    struct conf *conf = conf_create();
    os_mutex_init(&waiter.mutex, os);
    os_cond_init(&waiter.stopped, os);
    enum err_code code = os_on_stop(os, on_stop, &waiter, &err);
    if (code == OK)
        code = options_read(os, conf, argc, argv, &err);
    bool usage = code != OK;
    if (code == OK) {
        if (!trace_level_parse(slice_str(conf_str(conf, CONF_TRACE_LEVEL)), &level))
            level = TRACE_INFO;
        trace_init(&trace, os, level);
        conf_trace_ignored(conf, &trace);
        code = serve_until_step(os, conf, &trace, &waiter, &err);
    }
    conf_destroy(conf);
    if (code == OK)
        return EXIT_YES;
    cmd_error("server", &err);
    return usage ? EXIT_USAGE : cmd_exit_code(err.code);
}
