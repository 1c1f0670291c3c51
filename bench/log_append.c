/* Durable appends of N writers to N buckets: the log with a pool of syncers beside plain pwrite + fdatasync, one file a
 * writer, which is what the disk can do. Prints one JSON line a round: durable appends per second of both, and their
 * ratio.
 *
 *   bench_log_append DIR [WRITERS [SYNCERS [BYTES [SECONDS [ROUNDS]]]]] */
#include "base/vec.h"
#include "lib/log_batch.h"
#include "log/log.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define WRITERS_MAX 1024

enum { LOOPS = 2 };

struct bucket {
    struct bench *bench;
    struct loop *loop;
    struct os_mutex mutex;
    struct log *log;
    int64_t waits_for; /* the durable offset that answers its writer */
    bool queued;       /* waits for a syncer, or is with one */
    uint64_t count;
    uint32_t number;
};

struct loop {
    struct os_mutex mutex;
    struct os_cond answered;
    VEC(struct bucket *) ready; /* whose writers got their answer */
    VEC(struct bucket *) taken;
    struct bench *bench;
    uint32_t number;
};

struct bench {
    struct os *os;
    const char *dir;
    struct buf batch;
    struct os_mutex mutex; /* of the queue; taken after a bucket's, never before */
    struct os_cond work;
    VEC(struct bucket *) queue;
    atomic_bool stops;
    bool ends;
    uint32_t writers;
    struct loop loops[LOOPS];
    struct bucket buckets[WRITERS_MAX];
};

static void must(enum err_code code, const struct err *err)
{
    if (code == OK)
        return;
    fprintf(stderr, "%s: %s\n", err_name(code), err->text);
    exit(1);
}

/* ---- plain ---- */

static void plain_writer(void *arg)
{
    struct bucket *bucket = arg;
    struct bench *bench = bucket->bench;
    struct err err;
    struct os_file *file;
    char path[OS_PATH_MAX];
    snprintf(path, sizeof path, "%s/plain-%u", bench->dir, bucket->number);
    must(os_file_open(bench->os, path, OS_WRITE | OS_CREATE | OS_TRUNC, &file, &err), &err);
    for (uint64_t at = 0; !atomic_load(&bench->stops); at += bench->batch.len, bucket->count++) {
        must(os_file_write(file, at, buf_view(&bench->batch), &err), &err);
        must(os_file_sync(file, &err), &err);
    }
    os_file_close(file);
}

/* ---- log ---- */

static void ask_for_flush(struct bucket *bucket)
{
    struct bench *bench = bucket->bench;
    if (bucket->queued)
        return;
    bucket->queued = true;
    os_mutex_lock(&bench->mutex);
    vec_push(&bench->queue, bucket);
    os_cond_signal(&bench->work);
    os_mutex_unlock(&bench->mutex);
}

static void send_next(struct bucket *bucket)
{
    struct err err;
    struct log_appended appended;
    os_mutex_lock(&bucket->mutex);
    must(log_append(bucket->log, buf_view(&bucket->bench->batch), &appended, &err), &err);
    bucket->waits_for = appended.next_offset;
    ask_for_flush(bucket);
    os_mutex_unlock(&bucket->mutex);
}

/* Ends when its writers have all stopped. */
static void run_loop(void *arg)
{
    struct loop *loop = arg;
    struct bench *bench = loop->bench;
    uint32_t running = 0;
    for (uint32_t i = loop->number; i < bench->writers; i += LOOPS, running++)
        send_next(&bench->buckets[i]);
    while (running) {
        os_mutex_lock(&loop->mutex);
        while (!loop->ready.len)
            os_cond_wait(&loop->answered, &loop->mutex);
        vec_reset(&loop->taken);
        for (size_t i = 0; i < loop->ready.len; i++)
            vec_push(&loop->taken, loop->ready.ptr[i]);
        vec_reset(&loop->ready);
        os_mutex_unlock(&loop->mutex);
        for (size_t i = 0; i < loop->taken.len; i++) {
            loop->taken.ptr[i]->count++;
            if (atomic_load(&bench->stops))
                running--;
            else
                send_next(loop->taken.ptr[i]);
        }
    }
}

static void answer(struct bucket *bucket)
{
    struct loop *loop = bucket->loop;
    os_mutex_lock(&loop->mutex);
    vec_push(&loop->ready, bucket);
    bool wakes = loop->ready.len == 1;
    os_mutex_unlock(&loop->mutex);
    if (wakes)
        os_cond_signal(&loop->answered);
}

static void flush_bucket(struct bucket *bucket)
{
    struct err err;
    os_mutex_lock(&bucket->mutex);
    bucket->queued = false;
    struct log_flush *flush = log_flush_begin(bucket->log);
    os_mutex_unlock(&bucket->mutex);
    ASSERT(flush);
    log_flush_run(flush);
    os_mutex_lock(&bucket->mutex);
    must(log_flush_end(bucket->log, flush, &err), &err);
    ASSERT(log_durable_offset(bucket->log) >= bucket->waits_for);
    os_mutex_unlock(&bucket->mutex);
    answer(bucket);
}

static void syncer(void *arg)
{
    struct bench *bench = arg;
    for (;;) {
        os_mutex_lock(&bench->mutex);
        while (!bench->queue.len && !bench->ends)
            os_cond_wait(&bench->work, &bench->mutex);
        struct bucket *bucket = bench->queue.len ? bench->queue.ptr[0] : NULL;
        if (bucket)
            vec_remove(&bench->queue, 0);
        os_mutex_unlock(&bench->mutex);
        if (!bucket)
            return;
        flush_bucket(bucket);
    }
}

/* ---- rounds ---- */

/* Threads with the given function for the time; durable appends per second of all buckets. */
static double run_threads(struct bench *bench, os_thread_fn *fn, char *args, size_t arg_size, uint32_t thread_count,
                          int64_t ns)
{
    struct os_thread *threads[WRITERS_MAX];
    struct err err;
    uint64_t count = 0;
    atomic_store(&bench->stops, false);
    for (uint32_t i = 0; i < bench->writers; i++)
        bench->buckets[i].count = 0;
    int64_t started = os_mono_ns(bench->os);
    for (uint32_t i = 0; i < thread_count; i++)
        must(os_thread_start(bench->os, "bench", fn, args + i * arg_size, &threads[i], &err), &err);
    os_sleep_ns(bench->os, ns);
    atomic_store(&bench->stops, true);
    for (uint32_t i = 0; i < thread_count; i++)
        os_thread_join(threads[i]);
    for (uint32_t i = 0; i < bench->writers; i++)
        count += bench->buckets[i].count;
    return (double)count / ((double)(os_mono_ns(bench->os) - started) / 1e9);
}

static void open_logs(struct bench *bench)
{
    struct err err;
    struct log_options options = log_options_default();
    struct log_recovery found;
    for (uint32_t i = 0; i < bench->writers; i++) {
        char dir[OS_PATH_MAX];
        snprintf(dir, sizeof dir, "%s/log-%u", bench->dir, i);
        must(os_mkdirs(bench->os, dir, &err), &err);
        must(log_open(bench->os, dir, &options, 0, &bench->buckets[i].log, &found, &err), &err);
    }
}

static double run_logs(struct bench *bench, uint32_t syncers, int64_t ns)
{
    struct os_thread *threads[WRITERS_MAX];
    struct err err;
    bench->ends = false;
    open_logs(bench);
    for (uint32_t i = 0; i < syncers; i++)
        must(os_thread_start(bench->os, "syncer", syncer, bench, &threads[i], &err), &err);
    double rate = run_threads(bench, run_loop, (char *)bench->loops, sizeof *bench->loops, LOOPS, ns);
    os_mutex_lock(&bench->mutex);
    bench->ends = true;
    os_cond_broadcast(&bench->work);
    os_mutex_unlock(&bench->mutex);
    for (uint32_t i = 0; i < syncers; i++)
        os_thread_join(threads[i]);
    for (uint32_t i = 0; i < bench->writers; i++)
        must(log_close(bench->buckets[i].log, &err), &err);
    return rate;
}

static uint32_t number_of(int argc, char **argv, int i, uint32_t otherwise)
{
    return argc > i ? (uint32_t)strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    if (argc < 2)
        return 64;
    uint32_t writers = MIN(number_of(argc, argv, 2, 64), WRITERS_MAX);
    uint32_t syncers = MIN(number_of(argc, argv, 3, 32), WRITERS_MAX);
    uint32_t bytes = MAX(number_of(argc, argv, 4, 1024), 64);
    int64_t ns = (int64_t)number_of(argc, argv, 5, 3) * 1000000000;
    bench.os = os_real();
    bench.dir = argv[1];
    test_batch_put(&bench.batch, &(struct test_batch){-1, -1, 1, 1, bytes - 48});
    os_mutex_init(&bench.mutex, bench.os);
    os_cond_init(&bench.work, bench.os);
    bench.writers = writers;
    for (uint32_t i = 0; i < LOOPS; i++) {
        bench.loops[i].bench = &bench;
        bench.loops[i].number = i;
        os_mutex_init(&bench.loops[i].mutex, bench.os);
        os_cond_init(&bench.loops[i].answered, bench.os);
    }
    for (uint32_t i = 0; i < writers; i++) {
        bench.buckets[i].bench = &bench;
        bench.buckets[i].number = i;
        os_mutex_init(&bench.buckets[i].mutex, bench.os);
        bench.buckets[i].loop = &bench.loops[i % LOOPS];
    }
    for (uint32_t round = 0; round < number_of(argc, argv, 6, 3); round++) {
        double plain = run_threads(&bench, plain_writer, (char *)bench.buckets, sizeof *bench.buckets, writers, ns);
        double log = run_logs(&bench, syncers, ns);
        printf("{\"writers\":%u,\"syncers\":%u,\"bytes\":%u,\"plain_per_s\":%.0f,\"log_per_s\":%.0f,\"ratio\":%.2f}\n",
               writers, syncers, bytes, plain, log, log / plain);
        fflush(stdout);
    }
    return 0;
}
