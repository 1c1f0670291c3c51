/* What a caller waits for, by weir's own client: look-ups one after the other, rows appended and awaited one after the
 * other, and, to compare, an echo over the same loopback: what the kernel takes for two messages. Prints one JSON line
 * each, microseconds.
 *
 *   bench_latency PORT [KEYS [COUNT]]       makes the tables fluss.latency_keyed, filled, and fluss.latency_log */
#include "client/client.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WARM_UP = 500, MESSAGE_BYTES = 100, COLUMNS = 2 };

static void must(enum err_code code, const struct err *err)
{
    if (code == OK)
        return;
    fprintf(stderr, "%s: %s\n", err_name(code), err->text);
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double percentile_us(int64_t *times, size_t count, size_t percent)
{
    qsort(times, count, sizeof *times, by_value);
    return (double)times[count * percent / 100] / 1000;
}

/* ---- echo ---- */

static void echo(void *arg)
{
    int listener = *(int *)arg, on = 1;
    char bytes[MESSAGE_BYTES];
    int socket = accept(listener, NULL, NULL);
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (ssize_t got; (got = recv(socket, bytes, sizeof bytes, 0)) > 0;)
        if (send(socket, bytes, (size_t)got, 0) != got)
            break;
    close(socket);
}

static void measure_echo(struct os *os, int64_t *times, size_t count)
{
    struct err err;
    struct os_thread *thread;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    char bytes[MESSAGE_BYTES] = {0};
    int listener = socket(AF_INET, SOCK_STREAM, 0), peer = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &len))
        exit(1);
    must(os_thread_start(os, "echo", echo, &listener, &thread, &err), &err);
    if (connect(peer, (struct sockaddr *)&address, len))
        exit(1);
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (size_t i = 0; i < count + WARM_UP; i++) {
        int64_t began = os_mono_ns(os);
        if (send(peer, bytes, sizeof bytes, 0) != sizeof bytes || recv(peer, bytes, sizeof bytes, MSG_WAITALL) <= 0)
            exit(1);
        if (i >= WARM_UP)
            times[i - WARM_UP] = os_mono_ns(os) - began;
    }
    close(peer);
    os_thread_join(thread);
    close(listener);
}

/* ---- the server ---- */

static struct client_table *table_make(struct client *client, const char *name, bool keyed)
{
    struct err err;
    struct arena arena = {0};
    struct table_descriptor descriptor;
    struct client_table *table;
    struct client_path path = client_path(SLICE("fluss"), slice_str(name));
    struct slice json = arena_printf(
        &arena,
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[{\"name\":\"id\",\"data_type\":{\"type\":\"BIGINT\","
        "\"nullable\":false},\"id\":0},{\"name\":\"v\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}]%s,"
        "\"highest_field_id\":1},\"partition_key\":[],\"bucket_key\":[],\"bucket_count\":1,\"properties\":{},"
        "\"custom_properties\":{}}",
        keyed ? ",\"primary_key\":[\"id\"]" : "");
    must(table_descriptor_from_json(&arena, json, &descriptor, &err), &err);
    must(client_table_drop(client, path, true, &err), &err);
    must(client_table_create(client, path, &descriptor, false, &err), &err);
    must(client_table_open(client, path, &table, &err), &err);
    arena_deinit(&arena);
    return table;
}

static void fill(struct client_table *table, int64_t keys)
{
    struct err err;
    struct client_writer *writer;
    must(client_writer_create(table, &(struct client_writer_options){0}, &writer, &err), &err);
    for (int64_t i = 0; i < keys; i++) {
        struct datum row[] = {{.i64 = i}, {.bytes = SLICE("a value of some length, as rows have it")}};
        must(client_writer_put(writer, row, &err), &err);
    }
    must(client_writer_flush(writer, &err), &err);
    client_writer_destroy(writer);
}

static void measure_lookups(struct os *os, struct client_table *table, int64_t keys, int64_t *times, size_t count)
{
    struct err err;
    struct arena arena = {0};
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < count + WARM_UP; i++) {
        struct datum key[COLUMNS] = {{.i64 = (int64_t)(random % (uint64_t)keys)}};
        const struct datum *const wanted = key;
        struct datum *row;
        int64_t began = os_mono_ns(os);
        must(client_lookup(table, &wanted, 1, &arena, &row, &err), &err);
        if (i >= WARM_UP)
            times[i - WARM_UP] = os_mono_ns(os) - began;
        if (!row)
            exit(1);
        arena_reset(&arena);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
    }
    arena_deinit(&arena);
}

static void measure_appends(struct os *os, struct client_table *table, int64_t *times, size_t count)
{
    struct err err;
    struct client_writer *writer;
    must(client_writer_create(table, &(struct client_writer_options){0}, &writer, &err), &err);
    for (size_t i = 0; i < count + WARM_UP; i++) {
        struct datum row[COLUMNS] = {{.i64 = (int64_t)i}, {.bytes = SLICE("a value")}};
        int64_t began = os_mono_ns(os);
        must(client_writer_put(writer, row, &err), &err);
        must(client_writer_flush(writer, &err), &err);
        if (i >= WARM_UP)
            times[i - WARM_UP] = os_mono_ns(os) - began;
    }
    client_writer_destroy(writer);
}

static void print(const char *what, int64_t *times, size_t count)
{
    double p50 = percentile_us(times, count, 50), p99 = percentile_us(times, count, 99);
    printf("{\"what\":\"%s\",\"p50_us\":%.1f,\"p99_us\":%.1f}\n", what, p50, p99);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct err err;
    struct client *client;
    if (argc < 2)
        return 64;
    int64_t keys = argc > 2 ? strtoll(argv[2], NULL, 10) : 100000;
    size_t count = argc > 3 ? strtoul(argv[3], NULL, 10) : 5000;
    struct os *os = os_real();
    struct client_options options = {.os = os, .host = "127.0.0.1", .port = (uint16_t)strtoul(argv[1], NULL, 10)};
    must(client_open(&options, &client, &err), &err);
    struct client_table *keyed = table_make(client, "latency_keyed", true);
    struct client_table *log = table_make(client, "latency_log", false);
    fill(keyed, keys);
    int64_t *times = mem_alloc(count * sizeof *times);
    measure_echo(os, times, count);
    print("echo", times, count);
    measure_lookups(os, keyed, keys, times, count);
    print("look-up", times, count);
    measure_appends(os, log, times, count);
    print("append", times, count);
    client_table_unref(keyed);
    client_table_unref(log);
    client_close(client);
    mem_free(times);
    return 0;
}
