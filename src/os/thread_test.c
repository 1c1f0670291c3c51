#include "lib/test.h"
#include "os/os.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct err err;

static int64_t in_ms(int64_t ms)
{
    return os_mono_ns(os_real()) + ms * 1000000;
}

struct counter {
    struct os_mutex mutex;
    struct os_cond changed;
    int value;
};

static void counter_init(struct counter *counter)
{
    os_mutex_init(&counter->mutex, os_real());
    os_cond_init(&counter->changed, os_real());
    counter->value = 0;
}

static void counter_deinit(struct counter *counter)
{
    os_cond_deinit(&counter->changed);
    os_mutex_deinit(&counter->mutex);
}

static void add_many(void *arg)
{
    struct counter *counter = arg;
    for (int i = 0; i < 10000; i++) {
        os_mutex_lock(&counter->mutex);
        counter->value++;
        os_mutex_unlock(&counter->mutex);
    }
    os_mutex_lock(&counter->mutex);
    os_cond_broadcast(&counter->changed);
    os_mutex_unlock(&counter->mutex);
}

static void a_mutex_keeps_others_out_and_a_condition_wakes(void **state)
{
    (void)state;
    struct counter counter;
    struct os_thread *threads[3];
    counter_init(&counter);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        MUST(os_thread_start(os_real(), "a name longer than the kernel takes", add_many, &counter, &threads[i], &err));
    os_mutex_lock(&counter.mutex);
    while (counter.value < 30000)
        os_cond_wait(&counter.changed, &counter.mutex);
    os_mutex_unlock(&counter.mutex);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        os_thread_join(threads[i]);
    assert_int_equal(counter.value, 30000);
    counter_deinit(&counter);
}

static void a_wait_ends_at_its_deadline(void **state)
{
    (void)state;
    struct counter counter;
    counter_init(&counter);
    int64_t deadline = in_ms(20);
    os_mutex_lock(&counter.mutex);
    while (os_cond_wait_until(&counter.changed, &counter.mutex, deadline))
        continue;
    os_mutex_unlock(&counter.mutex);
    assert_true(os_mono_ns(os_real()) >= deadline);
    counter_deinit(&counter);
}

static void signal_soon(void *arg)
{
    struct counter *counter = arg;
    os_sleep_ns(os_real(), 5000000);
    os_mutex_lock(&counter->mutex);
    counter->value = 1;
    os_cond_signal(&counter->changed);
    os_mutex_unlock(&counter->mutex);
}

static void a_signal_before_the_deadline_is_told_from_it(void **state)
{
    (void)state;
    struct counter counter;
    struct os_thread *thread;
    counter_init(&counter);
    MUST(os_thread_start(os_real(), "signaller", signal_soon, &counter, &thread, &err));
    bool in_time = true;
    os_mutex_lock(&counter.mutex);
    while (in_time && !counter.value)
        in_time = os_cond_wait_until(&counter.changed, &counter.mutex, in_ms(60000));
    os_mutex_unlock(&counter.mutex);
    assert_true(in_time);
    os_thread_join(thread);
    counter_deinit(&counter);
}

static void clocks_go_forward_and_sleep_sleeps(void **state)
{
    (void)state;
    int64_t before = os_mono_ns(os_real());
    os_sleep_ns(os_real(), 3000000);
    assert_true(os_mono_ns(os_real()) - before >= 3000000);
    assert_true(os_wall_ms(os_real()) > 1700000000000);
    os_sleep_ns(os_real(), -1);
}

static void random_bytes_and_uuids_differ(void **state)
{
    (void)state;
    uint8_t a[64] = {0}, b[64] = {0}, zeros[64] = {0};
    os_random(os_real(), a, sizeof a);
    os_random(os_real(), b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
    assert_memory_not_equal(a, zeros, sizeof a);
    char one[37], two[37];
    os_uuid(os_real(), one);
    os_uuid(os_real(), two);
    assert_string_not_equal(one, two);
    assert_int_equal(strlen(one), 36);
    assert_int_equal(one[14], '4');
    assert_non_null(strchr("89ab", one[19]));
    assert_int_equal(strspn(one, "0123456789abcdef-"), 36);
}

static void stop_asked(void *arg)
{
    os_write_fd(os_real(), *(int *)arg, SLICE("s"), NULL) == OK ? (void)0 : _exit(3);
}

static void idle(void *arg)
{
    (void)arg;
    os_sleep_ns(os_real(), 60000000000);
}

/* In a child, whose signals may be touched: tells each stop signal through the pipe and lives on. */
static void run_until_two_signals(int out, int ready)
{
    struct os_thread *thread;
    if (os_thread_start(os_real(), "idle", idle, NULL, &thread, NULL) != OK ||
        os_on_stop(os_real(), stop_asked, &out, NULL) != OK || write(ready, "r", 1) != 1)
        _exit(2);
    for (;;)
        pause();
}

static void stop_signals_go_to_the_callback_and_end_nothing(void **state)
{
    (void)state;
    int out[2], ready[2], status;
    char c;
    assert_int_equal(pipe(out), 0);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0)
        run_until_two_signals(out[1], ready[1]);
    close(out[1]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    kill(child, SIGTERM);
    assert_int_equal(read(out[0], &c, 1), 1);
    kill(child, SIGINT);
    assert_int_equal(read(out[0], &c, 1), 1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(out[0]);
    close(ready[0]);
    close(ready[1]);
}

static void standard_output_takes_all_and_says_when_nobody_reads(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_false(os_is_terminal(os_real(), fds[1]));
    MUST(os_write_fd(os_real(), fds[1], SLICE("hello"), &err));
    char bytes[8];
    assert_int_equal(read(fds[0], bytes, sizeof bytes), 5);
    close(fds[0]);
    struct os_socket *pair[2];
    MUST(os_socket_pair(os_real(), pair, &err)); /* from here on SIGPIPE is ignored */
    MUST_FAIL(ERR_UNREAD, os_write_fd(os_real(), fds[1], SLICE("hello"), &err));
    os_socket_close(pair[0]);
    os_socket_close(pair[1]);
    close(fds[1]);
}

static void standard_input_is_read_to_its_end(void **state)
{
    (void)state;
    int fds[2], kept = dup(0);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "abc", 3), 3);
    close(fds[1]);
    assert_int_equal(dup2(fds[0], 0), 0);
    char bytes[8];
    size_t got;
    MUST(os_read_stdin(os_real(), bytes, sizeof bytes, &got, &err));
    assert_slice_equal(slice_of(bytes, got), SLICE("abc"));
    MUST(os_read_stdin(os_real(), bytes, sizeof bytes, &got, &err));
    assert_int_equal(got, 0);
    dup2(kept, 0);
    close(kept);
    close(fds[0]);
}

static void the_process_knows_what_it_costs(void **state)
{
    (void)state;
    assert_int_equal(os_pid(os_real()), getpid());
    assert_true(os_resident_bytes(os_real()) > 100000);
    assert_true(os_cpu_ns(os_real()) > 0);
    assert_true(os_open_files_max(os_real()) >= 64);
}

/* How a process that passes a step three times ends. */
static int status_of_three_steps(const char *at)
{
    pid_t child = fork();
    if (child == 0) {
        struct os *os;
        if (os_real_until_step(at, &os, NULL) != OK)
            _exit(99);
        for (int i = 0; i < 3; i++) {
            os_step(os, "test.here");
            os_step(os, "test.elsewhere");
        }
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void a_process_ends_at_the_step_that_was_asked_for(void **state)
{
    (void)state;
    assert_int_equal(status_of_three_steps("test.here"), -SIGKILL);
    assert_int_equal(status_of_three_steps("test.here:3"), -SIGKILL);
    assert_int_equal(status_of_three_steps("test.here:4"), 0);
    assert_int_equal(status_of_three_steps("test.her"), 0);
    struct os *os;
    MUST_FAIL(ERR_INVALID_ARGUMENT, os_real_until_step("", &os, &err));
    MUST_FAIL(ERR_INVALID_ARGUMENT, os_real_until_step(":1", &os, &err));
    MUST_FAIL(ERR_INVALID_ARGUMENT, os_real_until_step("a:0", &os, &err));
    os_step(os_real(), "test.here");
}

TESTS("os.thread", TEST(a_mutex_keeps_others_out_and_a_condition_wakes), TEST(a_wait_ends_at_its_deadline),
      TEST(a_signal_before_the_deadline_is_told_from_it), TEST(clocks_go_forward_and_sleep_sleeps),
      TEST(random_bytes_and_uuids_differ), TEST(stop_signals_go_to_the_callback_and_end_nothing),
      TEST(standard_output_takes_all_and_says_when_nobody_reads), TEST(standard_input_is_read_to_its_end),
      TEST(the_process_knows_what_it_costs), TEST(a_process_ends_at_the_step_that_was_asked_for))
