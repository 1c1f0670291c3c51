/* weir demo: a server in this process, two tables, rows, the lake, both reads, the proof, and what to try next. */
#include "cmd/demo_int.h"
#include "server/server.h"

#include <stdio.h>

#define LOAD_SECONDS 5
#define LOAD_ORDERS_PER_SECOND 1000
#define LATER_ORDERS_PER_SECOND 100 /* while it goes on serving */
#define TICK_NS 100000000

static const char help[] = "usage: weir demo [--once] [--data-dir DIR] [--listen HOST:PORT]\n"
                           "                 [-D OPTION=VALUE ...]\n"
                           "\n"
                           "Starts a server, makes two tables (orders, a log; customers, with a key),\n"
                           "writes, updates and deletes rows for some seconds, waits until they are in the\n"
                           "lake, reads them there and here, and proves that both hold the same. On a\n"
                           "terminal it then goes on serving, with a few new rows a second, until Ctrl-C, so\n"
                           "that the other commands can be tried in a second terminal. A second run goes on\n"
                           "with the tables of the first.\n"
                           "\n"
                           "  --once               end after the proof; so also where standard output is no\n"
                           "                       terminal\n"
                           "  --data-dir DIR       where everything is kept (./weir-data)\n"
                           "  --listen HOST:PORT   address for clients (127.0.0.1:9123); port 0: a free one\n"
                           "  -D OPTION=VALUE      any option of the server\n"
                           "\n"
                           "Exit code 0: both sides are equal; 1: they are not; 2: it could not tell.\n";

struct demo {
    struct os *os;
    struct conf *conf;
    struct trace trace;
    struct cmd_service service;
    struct client *client;
    struct demo_load load;
    bool once;
    bool terminal;
    char address[CONF_HOST_MAX + 8]; /* where the server listens for clients */
    struct os_mutex mutex;
    struct os_cond stopped;
    bool stop;
};

/* ---- start ---- */

static void on_stop(void *arg)
{
    struct demo *demo = arg;
    os_mutex_lock(&demo->mutex);
    demo->stop = true;
    os_cond_signal(&demo->stopped);
    os_mutex_unlock(&demo->mutex);
}

/* Sleeps until then, or Ctrl-C; tells which of them. */
static bool stopped_before(struct demo *demo, int64_t mono_ns)
{
    os_mutex_lock(&demo->mutex);
    while (!demo->stop && os_cond_wait_until(&demo->stopped, &demo->mutex, mono_ns))
        ;
    bool stop = demo->stop;
    os_mutex_unlock(&demo->mutex);
    return stop;
}

static bool is_stopped(void *arg)
{
    return stopped_before(arg, 0);
}

static enum err_code stopped_early(void)
{
    puts("stopped before the proof; every row is on disk");
    return OK;
}

static enum err_code read_args(struct demo *demo, int argc, char **argv, struct err *err)
{
    static const char *const flags[] = {"--once", "--data-dir", "--listen", "-D", "--help", NULL};
    TRY(conf_set(demo->conf, CONF_FROM_DEFAULT, SLICE("weir.trace.level"), SLICE("warn"), "demo", err));
    for (int i = 0, taken; i < argc; i += taken) {
        TRY(cmd_server_flag(demo->os, demo->conf, argc, argv, i, &taken, err));
        if (taken == 0 && strcmp(argv[i], "--once") != 0)
            return cmd_unknown_flag("demo", argv[i], flags, err);
        if (taken == 0) {
            demo->once = true;
            taken = 1;
        }
    }
    return conf_check(demo->conf, err);
}

/* Of "FLUSS=127.0.0.1:9123 HTTP=127.0.0.1:9180" what stands behind the name; ptr NULL: there is none. */
static struct slice address_of(struct slice addresses, const char *name)
{
    size_t len = strlen(name);
    const uint8_t *at = addresses.len ? memmem(addresses.ptr, addresses.len, name, len) : NULL;
    if (!at)
        return (struct slice){0};
    struct slice rest = slice_of(at + len, addresses.len - (size_t)(at - addresses.ptr) - len);
    const uint8_t *end = rest.len ? memchr(rest.ptr, ' ', rest.len) : NULL;
    return end ? slice_of(rest.ptr, (size_t)(end - rest.ptr)) : rest;
}

/* Clients are told the first listener, whatever its name. */
static enum err_code show_addresses(struct demo *demo, struct slice addresses, struct err *err)
{
    struct slice clients = address_of(addresses, "="), web = address_of(addresses, " HTTP=");
    if (!clients.len || clients.len >= sizeof demo->address)
        return err_set(err, ERR_INTERNAL, "no address in %.*s", SLICE_ARGS(addresses));
    memcpy(demo->address, clients.ptr, clients.len);
    printf("weir " WEIR_VERSION "   data %s   clients %s", conf_str(demo->conf, CONF_DATA_DIR), demo->address);
    if (web.len)
        printf("   web http://%.*s", SLICE_ARGS(web));
    puts("\n");
    fflush(stdout);
    return OK;
}

static enum err_code connect_to(struct demo *demo, struct err *err)
{
    char host[CONF_HOST_MAX];
    struct client_options options = {.os = demo->os, .host = host};
    TRY(conf_parse_endpoint(slice_str(demo->address), host, &options.port, err));
    if (!*host || !strcmp(host, "0.0.0.0"))
        snprintf(host, sizeof host, "127.0.0.1");
    return client_open(&options, &demo->client, err);
}

static enum err_code start(struct demo *demo, struct err *err)
{
    enum trace_level level = TRACE_WARN;
    struct buf addresses = {0};
    if (!trace_level_parse(slice_str(conf_str(demo->conf, CONF_TRACE_LEVEL)), &level))
        level = TRACE_WARN;
    trace_init(&demo->trace, demo->os, level);
    TRY(cmd_service_start(&demo->service, demo->os, demo->conf, &demo->trace, err));
    server_addresses(demo->service.server, &addresses);
    enum err_code code = show_addresses(demo, buf_view(&addresses), err);
    buf_deinit(&addresses);
    TRY(code);
    return connect_to(demo, err);
}

/* ---- the script ---- */

static void show_load(const struct demo *demo, double seconds, bool last)
{
    struct demo_numbers numbers = {0};
    const struct demo_load *load = &demo->load;
    if (!demo->terminal && !last)
        return;
    printf("%s  orders +%s   customers %s upserts, %s deletes   %.0f s, %s rows/s%s", demo->terminal ? "\r" : "",
           demo_number(&numbers, load->orders), demo_number(&numbers, load->upserts),
           demo_number(&numbers, load->deletes), seconds,
           demo_number(&numbers, (int64_t)((double)(load->orders + load->upserts + load->deletes) / seconds)),
           last             ? "\n\n"
           : demo->terminal ? "\033[K"
                            : "");
    fflush(stdout);
}

/* Writes until the time is over (0: no end) or Ctrl-C. */
static enum err_code write_rows(struct demo *demo, double seconds_max, double orders_per_second, struct err *err)
{
    int64_t started = os_mono_ns(demo->os), before = started;
    double seconds = 0;
    while (seconds_max <= 0 || seconds < seconds_max) {
        if (stopped_before(demo, before + TICK_NS))
            break;
        int64_t now = os_mono_ns(demo->os);
        TRY(demo_load_run(&demo->load, MIN((double)(now - before) / 1e9, 1.0), orders_per_second, err));
        before = now;
        seconds = cmd_seconds_since(demo->os, started);
        show_load(demo, seconds, false);
    }
    show_load(demo, MAX(seconds, 0.001), true);
    return OK;
}

static void try_next(const struct demo *demo)
{
    static const char *const commands[] = {"tables",
                                           "tail customers --changes",
                                           "get customers 42",
                                           "put customers '{\"id\": 42, \"name\": \"Ada\"}'",
                                           "scan 'orders$lake' --limit 5",
                                           "verify customers"};
    char option[sizeof demo->address + 16] = "";
    if (strcmp(demo->address, "127.0.0.1:9123") != 0)
        snprintf(option, sizeof option, " --bootstrap %s", demo->address);
    if (!demo->once)
        puts("try, in another terminal:");
    else
        printf("try, once a server is up (weir server --data-dir %s):\n", conf_str(demo->conf, CONF_DATA_DIR));
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        printf("  weir %s%s\n", commands[i], demo->once ? "" : option);
    puts("and the files of the lake, by any reader of Paimon:");
    printf("  from pypaimon import CatalogFactory  # pip install pypaimon\n"
           "  lake = CatalogFactory.create({'warehouse': '%s/lake'})\n"
           "  read = lake.get_table('fluss.customers').new_read_builder()\n"
           "  print(read.new_read().to_arrow(read.new_scan().plan().splits()))\n\n",
           conf_str(demo->conf, CONF_DATA_DIR));
}

static enum err_code serve_on(struct demo *demo, struct err *err)
{
    printf("serving, with %d more orders a second, until Ctrl-C\n", LATER_ORDERS_PER_SECOND);
    demo->load.orders = demo->load.upserts = demo->load.deletes = 0;
    TRY(write_rows(demo, 0, LATER_ORDERS_PER_SECOND, err));
    puts("stopped: every row is on disk; the lake gets the rest at the next start");
    return OK;
}

/* result: out, the exit code; as it was where Ctrl-C came before the proof. */
static enum err_code play(struct demo *demo, int *result, struct err *err)
{
    bool equal;
    TRY(demo_load_open(&demo->load, demo->client, err));
    puts("two tables of 4 buckets, brought to the lake within a second:\n"
         "  orders     log            every order as it came\n"
         "  customers  primary key    the latest row of each customer\n");
    printf("writing for %d s; every row is on disk before the next ones are sent\n", LOAD_SECONDS);
    TRY(write_rows(demo, LOAD_SECONDS, LOAD_ORDERS_PER_SECOND, err));
    if (is_stopped(demo))
        return stopped_early();
    int64_t written_ns = os_mono_ns(demo->os);
    puts("rows as they are read now, the lake being about a second behind:");
    TRY(demo_show_reads(&demo->load, err));
    fflush(stdout);
    TRY(demo_show_wait(&demo->load, written_ns, is_stopped, demo, err));
    if (is_stopped(demo))
        return stopped_early();
    puts("and now:");
    TRY(demo_show_reads(&demo->load, err));
    puts("\nverify: what the stream comes to, against what the lake holds, row by row");
    TRY(demo_show_verify(&demo->load, &equal, err));
    *result = equal ? EXIT_YES : EXIT_NO;
    puts("");
    try_next(demo);
    fflush(stdout);
    return demo->once || !equal ? OK : serve_on(demo, err);
}

/* ---- the verb ---- */

static int finish(struct demo *demo, enum err_code code, int result, const struct err *err)
{
    demo_load_close(&demo->load);
    client_close(demo->client);
    cmd_service_stop(&demo->service);
    conf_destroy(demo->conf);
    os_cond_deinit(&demo->stopped);
    os_mutex_deinit(&demo->mutex);
    if (code == OK)
        return result;
    cmd_error("demo", err);
    return cmd_exit_code(code);
}

int cmd_demo(struct os *os, int argc, char **argv)
{
    struct err err = {0};
    struct demo demo = {.os = os, .conf = conf_create(), .terminal = os_is_terminal(os, 1)};
    int result = EXIT_UNKNOWN;
    if (argc == 1 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
        fputs(help, stdout);
        conf_destroy(demo.conf);
        return EXIT_YES;
    }
    demo.once = !demo.terminal;
    os_mutex_init(&demo.mutex, os);
    os_cond_init(&demo.stopped, os);
    enum err_code code = read_args(&demo, argc, argv, &err);
    if (code == OK)
        code = os_on_stop(os, on_stop, &demo, &err);
    if (code == OK)
        code = start(&demo, &err);
    if (code == OK)
        code = play(&demo, &result, &err);
    return finish(&demo, code, result, &err);
}
