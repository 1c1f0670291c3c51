#include "lib/test.h"
#include "os/os.h"

static struct err err;

static int64_t in_ms(int64_t ms)
{
    return os_mono_ns(os_real()) + ms * 1000000;
}

static void send_byte(struct os_socket *socket)
{
    struct slice piece = SLICE("x");
    size_t sent;
    MUST(os_send(socket, &piece, 1, &sent, &err));
    assert_int_equal(sent, 1);
}

static void ready_sockets_come_with_their_tag(void **state)
{
    (void)state;
    struct os_poller *poller;
    struct os_socket *pair[2];
    struct os_event events[4];
    int tag = 0;
    MUST(os_poller_create(os_real(), &poller, &err));
    MUST(os_socket_pair(os_real(), pair, &err));
    MUST(os_poller_add(poller, pair[0], OS_READABLE, &tag, &err));
    assert_int_equal(os_poller_wait(poller, in_ms(1), events, 4), 0);
    send_byte(pair[1]);
    for (int i = 0; i < 2; i++) { /* level-triggered: again and again */
        assert_int_equal(os_poller_wait(poller, in_ms(20000), events, 4), 1);
        assert_ptr_equal(events[0].tag, &tag);
        assert_int_equal(events[0].ready, OS_READABLE);
    }
    MUST(os_poller_change(poller, pair[0], OS_WRITABLE, NULL, &err));
    assert_int_equal(os_poller_wait(poller, INT64_MAX, events, 4), 1);
    assert_null(events[0].tag);
    assert_int_equal(events[0].ready, OS_WRITABLE);
    os_poller_remove(poller, pair[0]);
    assert_int_equal(os_poller_wait(poller, in_ms(1), events, 4), 0);
    os_poller_destroy(poller);
    os_socket_close(pair[0]);
    os_socket_close(pair[1]);
}

static void a_peer_that_left_is_a_hangup(void **state)
{
    (void)state;
    struct os_poller *poller;
    struct os_socket *pair[2];
    struct os_event events[1];
    MUST(os_poller_create(os_real(), &poller, &err));
    MUST(os_socket_pair(os_real(), pair, &err));
    MUST(os_poller_add(poller, pair[0], OS_READABLE | OS_HANGUP, pair, &err));
    os_socket_close(pair[1]);
    assert_int_equal(os_poller_wait(poller, in_ms(20000), events, 1), 1);
    assert_true(events[0].ready & OS_HANGUP);
    os_poller_destroy(poller);
    os_socket_close(pair[0]);
    os_poller_destroy(NULL);
}

static void a_deadline_ends_the_wait_and_not_before(void **state)
{
    (void)state;
    struct os_poller *poller;
    struct os_event events[1];
    MUST(os_poller_create(os_real(), &poller, &err));
    int64_t deadline = in_ms(15);
    assert_int_equal(os_poller_wait(poller, deadline, events, 1), 0);
    assert_true(os_mono_ns(os_real()) >= deadline);
    assert_int_equal(os_poller_wait(poller, 0, events, 1), 0);
    os_poller_destroy(poller);
}

static void wake_soon(void *arg)
{
    os_sleep_ns(os_real(), 5000000);
    os_poller_wake(arg);
}

static void another_thread_wakes_a_wait_without_end(void **state)
{
    (void)state;
    struct os_poller *poller;
    struct os_thread *thread;
    struct os_event events[1];
    MUST(os_poller_create(os_real(), &poller, &err));
    MUST(os_thread_start(os_real(), "waker", wake_soon, poller, &thread, &err));
    assert_int_equal(os_poller_wait(poller, INT64_MAX, events, 1), 0);
    os_thread_join(thread);
    os_poller_destroy(poller);
}

static void a_wake_before_the_wait_is_not_lost_and_counts_once(void **state)
{
    (void)state;
    struct os_poller *poller;
    struct os_event events[1];
    MUST(os_poller_create(os_real(), &poller, &err));
    os_poller_wake(poller);
    os_poller_wake(poller);
    assert_int_equal(os_poller_wait(poller, INT64_MAX, events, 1), 0);
    int64_t deadline = in_ms(5);
    assert_int_equal(os_poller_wait(poller, deadline, events, 1), 0);
    assert_true(os_mono_ns(os_real()) >= deadline);
    os_poller_destroy(poller);
}

static void more_ready_sockets_than_places_come_in_turns(void **state)
{
    (void)state;
    enum { COUNT = 5 };
    struct os_poller *poller;
    struct os_socket *pairs[COUNT][2];
    struct os_event events[2];
    bool seen[COUNT] = {0};
    MUST(os_poller_create(os_real(), &poller, &err));
    for (int i = 0; i < COUNT; i++) {
        MUST(os_socket_pair(os_real(), pairs[i], &err));
        MUST(os_poller_add(poller, pairs[i][0], OS_READABLE, &seen[i], &err));
        send_byte(pairs[i][1]);
    }
    os_poller_wake(poller);
    for (int round = 0; round < 20; round++) {
        size_t count = os_poller_wait(poller, in_ms(20000), events, 2);
        assert_true(count <= 2);
        for (size_t i = 0; i < count; i++)
            *(bool *)events[i].tag = true;
    }
    for (int i = 0; i < COUNT; i++) {
        assert_true(seen[i]);
        os_socket_close(pairs[i][0]);
        os_socket_close(pairs[i][1]);
    }
    os_poller_destroy(poller);
}

TESTS("os.poller", TEST(ready_sockets_come_with_their_tag), TEST(a_peer_that_left_is_a_hangup),
      TEST(a_deadline_ends_the_wait_and_not_before), TEST(another_thread_wakes_a_wait_without_end),
      TEST(a_wake_before_the_wait_is_not_lost_and_counts_once), TEST(more_ready_sockets_than_places_come_in_turns))
