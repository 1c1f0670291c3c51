#include "net/net.h"

#include "lib/raw_client.h"
#include "lib/test.h"

static struct err err;
static char tag[] = "tag";

/* What the owner does with a frame. */
enum mode {
    ANSWER, /* at once */
    HOLD    /* keeps it until bed_release */
};

#define HELD_MAX 100

struct bed {
    struct net *net;
    uint16_t port;
    enum mode mode;
    size_t answer_bytes;   /* of an answer's text */
    struct os_mutex mutex; /* guards what follows */
    struct os_cond changed;
    int frames, closes, rooms;
    size_t frame_bytes; /* of all */
    struct net_work held[HELD_MAX];
    int32_t held_ids[HELD_MAX];
    int held_count;
};

static void answer_send(const struct bed *bed, struct net_work *work, int32_t request_id)
{
    struct wire_out out = {0};
    struct wire_authenticate_response response = {.has_challenge = true};
    struct buf text = {0};
    memset(buf_extend(&text, bed->answer_bytes), 'x', bed->answer_bytes);
    response.challenge = buf_view(&text);
    enum err_code code = wire_response_encode(&out, request_id, &wire_authenticate_response_desc, &response, NULL);
    ASSERT(code == OK);
    buf_deinit(&text);
    net_work_send(work, &out);
}

static enum err_code on_frame(void *arg, const struct net_work *given, struct slice frame, struct err *error)
{
    struct net_work work = *given;
    struct bed *bed = arg;
    struct wire_request_header header;
    struct slice body;
    TRY(wire_request_split(frame, &header, &body, error));
    ASSERT(net_conn_tag(work.conn) == tag); /* not cmocka's, which only the main thread may leave by */
    os_mutex_lock(&bed->mutex);
    bed->frames++;
    bed->frame_bytes += frame.len;
    if (bed->mode == HOLD) {
        ASSERT(bed->held_count < HELD_MAX);
        bed->held_ids[bed->held_count] = header.request_id;
        net_conn_ref(work.conn);
        bed->held[bed->held_count++] = work;
    }
    os_cond_broadcast(&bed->changed);
    os_mutex_unlock(&bed->mutex);
    if (bed->mode == ANSWER)
        answer_send(bed, &work, header.request_id);
    return OK;
}

static void on_close(void *arg, struct net_conn *conn)
{
    struct bed *bed = arg;
    ASSERT(net_conn_closed(conn));
    os_mutex_lock(&bed->mutex);
    bed->closes++;
    os_cond_broadcast(&bed->changed);
    os_mutex_unlock(&bed->mutex);
}

static void on_room(void *arg)
{
    struct bed *bed = arg;
    bed->rooms++;
}

/* The first of the held ones goes, answered or not. */
static void bed_release(struct bed *bed, bool answered)
{
    os_mutex_lock(&bed->mutex);
    assert_true(bed->held_count > 0);
    struct net_work work = bed->held[0];
    int32_t id = bed->held_ids[0];
    bed->held_count--;
    memmove(bed->held, bed->held + 1, (size_t)bed->held_count * sizeof *bed->held);
    memmove(bed->held_ids, bed->held_ids + 1, (size_t)bed->held_count * sizeof *bed->held_ids);
    os_mutex_unlock(&bed->mutex);
    if (answered)
        answer_send(bed, &work, id);
    else
        net_work_drop(&work);
    net_conn_unref(work.conn);
}

/* Waits until *count is want. */
static void bed_wait(struct bed *bed, const int *count, int want)
{
    int64_t deadline = os_mono_ns(os_real()) + 20000000000;
    os_mutex_lock(&bed->mutex);
    while (*count < want && os_cond_wait_until(&bed->changed, &bed->mutex, deadline))
        ;
    int got = *count;
    os_mutex_unlock(&bed->mutex);
    assert_int_equal(got, want);
}

static struct net_options options_default(void)
{
    return (struct net_options){.loop_count = 2,
                                .frame_bytes_max = 1 << 20,
                                .in_work_max = 50,
                                .answer_bytes_max = 512u << 20,
                                .stall_ms = 100,
                                .connections_max = 100,
                                .idle_ms_max = 60000};
}

static void bed_start(struct bed *bed, const struct net_options *options)
{
    *bed = (struct bed){0};
    struct net_owner owner = {.arg = bed, .on_frame = on_frame, .on_close = on_close, .on_room = on_room};
    os_mutex_init(&bed->mutex, os_real());
    os_cond_init(&bed->changed, os_real());
    MUST(net_create(os_real(), options, &owner, &bed->net, &err));
    MUST(net_listen(bed->net, "127.0.0.1", 0, tag, &bed->port, &err));
}

static void bed_stop(struct bed *bed)
{
    net_stop(bed->net, 2000);
    assert_int_equal(net_connection_count(bed->net), 0);
    while (net_answer_bytes(bed->net) > 0) /* an answer to a connection that is gone is on its way */
        os_sleep_ns(os_real(), 100000);
    net_destroy(bed->net);
    os_cond_deinit(&bed->changed);
    os_mutex_deinit(&bed->mutex);
}

/* A connection without the loopback between. */
static void bed_adopt(struct bed *bed, struct raw *raw)
{
    struct os_socket *pair[2];
    MUST(os_socket_pair(os_real(), pair, &err));
    MUST(net_adopt(bed->net, pair[0], tag, &err));
    raw_take(raw, pair[1]);
}

/* A request of 8 bytes of header and a body that nobody looks at. */
static void send_request(struct raw *raw)
{
    struct wire_list_tables_request request = {.database_name = SLICE("fluss")};
    raw_send(raw, WIRE_LIST_TABLES, &request);
}

static void expect_answer(struct raw *raw, int32_t want_id, size_t want_bytes)
{
    struct wire_authenticate_response response;
    int32_t request_id;
    MUST(raw_receive(raw, WIRE_AUTHENTICATE, &request_id, &response, &err));
    assert_int_equal(request_id, want_id);
    assert_int_equal(response.challenge.len, want_bytes);
}

static void frames_come_whole_wherever_they_are_cut(void **state)
{
    (void)state;
    struct bed bed;
    struct raw raw;
    struct buf frame = {0};
    struct wire_list_tables_request request = {.database_name = SLICE("fluss")};
    struct net_options options = options_default();
    bed_start(&bed, &options);
    bed_adopt(&bed, &raw);
    raw_frame(&frame, WIRE_LIST_TABLES, 7, &request);
    for (size_t cut = 1; cut < frame.len; cut++) {
        raw_send_bytes(&raw, slice_of(frame.ptr, cut));
        os_sleep_ns(os_real(), 300000);
        raw_send_bytes(&raw, slice_of(frame.ptr + cut, frame.len - cut));
        expect_answer(&raw, 7, 0);
    }
    assert_int_equal(bed.frame_bytes, bed.frames * (frame.len - WIRE_LENGTH_BYTES));
    buf_deinit(&frame);
    raw_close(&raw);
    bed_stop(&bed);
}

static void a_peer_may_close_at_every_byte(void **state)
{
    (void)state;
    struct bed bed;
    struct buf frame = {0};
    struct wire_list_tables_request request = {.database_name = SLICE("fluss")};
    struct net_options options = options_default();
    bed_start(&bed, &options);
    raw_frame(&frame, WIRE_LIST_TABLES, 7, &request);
    for (size_t cut = 0; cut <= frame.len; cut++) {
        struct raw raw;
        raw_dial(&raw, bed.port);
        raw_send_bytes(&raw, slice_of(frame.ptr, cut));
        raw_close(&raw);
    }
    bed_wait(&bed, &bed.closes, (int)frame.len + 1);
    assert_int_equal(bed.frames, 1);
    buf_deinit(&frame);
    bed_stop(&bed);
}

static void a_bad_length_closes_the_connection_at_once(void **state)
{
    (void)state;
    struct bed bed;
    struct net_options options = options_default();
    static const struct slice heads[] = {
        SLICE("\x7f\xff\xff\xff\x03\xf0"), /* 2 GiB */
        SLICE("\xff\xff\xff\xff"),         /* -1 */
        SLICE("\x80\x00\x00\x00"),         /* the least number */
        SLICE("\x00\x10\x00\x01\x03\xf0"), /* one more than the longest */
        SLICE("\x00\x00\x00\x07"
              "\x03\xf0\x00\x00\x00\x00\x00"), /* too short for a header */
    };
    bed_start(&bed, &options);
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        struct raw raw;
        raw_dial(&raw, bed.port);
        raw_send_bytes(&raw, heads[i]);
        assert_true(raw_is_closed(&raw));
        raw_close(&raw);
    }
    assert_int_equal(bed.frames, 0);
    bed_stop(&bed);
}

static void a_frame_that_never_comes_reserves_no_memory(void **state)
{
    (void)state;
    struct bed bed;
    struct raw raws[20];
    struct net_options options = options_default();
    options.frame_bytes_max = 1 << 30;
    bed_start(&bed, &options);
    uint64_t before = os_resident_bytes(os_real());
    for (size_t i = 0; i < ARRAY_LEN(raws); i++) {
        raw_dial(&raws[i], bed.port);
        raw_send_bytes(&raws[i], SLICE("\x3f\xff\xff\xff\x03\xf0\x00\x00\x00\x00\x00\x01"));
    }
    struct raw other;
    raw_dial(&other, bed.port);
    send_request(&other);
    expect_answer(&other, 1, 0);
    assert_true(os_resident_bytes(os_real()) < before + (64u << 20));
    raw_close(&other);
    for (size_t i = 0; i < ARRAY_LEN(raws); i++)
        raw_close(&raws[i]);
    bed_stop(&bed);
}

static void a_slow_sender_holds_up_nobody(void **state)
{
    (void)state;
    struct bed bed;
    struct raw slow, fast;
    struct buf frame = {0};
    struct wire_list_tables_request request = {.database_name = SLICE("fluss")};
    struct net_options options = options_default();
    options.loop_count = 1;
    bed_start(&bed, &options);
    bed_adopt(&bed, &slow);
    bed_adopt(&bed, &fast);
    raw_frame(&frame, WIRE_LIST_TABLES, 7, &request);
    for (size_t i = 0; i < frame.len; i++) {
        raw_send_bytes(&slow, slice_of(frame.ptr + i, 1));
        send_request(&fast);
        expect_answer(&fast, (int32_t)i + 1, 0);
    }
    expect_answer(&slow, 7, 0);
    buf_deinit(&frame);
    raw_close(&slow);
    raw_close(&fast);
    bed_stop(&bed);
}

static void no_more_is_read_than_may_be_in_work(void **state)
{
    (void)state;
    struct bed bed;
    struct raw raw;
    struct net_options options = options_default();
    options.in_work_max = 4;
    bed_start(&bed, &options);
    bed.mode = HOLD;
    bed_adopt(&bed, &raw);
    for (int i = 0; i < 20; i++)
        send_request(&raw);
    bed_wait(&bed, &bed.frames, 4);
    os_sleep_ns(os_real(), 20000000);
    bed_wait(&bed, &bed.frames, 4);
    for (int i = 0; i < 20; i++) {
        bed_wait(&bed, &bed.frames, MIN(i + 4, 20));
        bed_release(&bed, i % 3 != 2); /* some end without an answer */
        if (i % 3 != 2)
            expect_answer(&raw, i + 1, 0);
    }
    raw_close(&raw);
    bed_stop(&bed);
}

#define ANSWERS 40
#define ANSWER_BYTES (4u << 20)

static void a_peer_that_takes_no_answers_is_not_served_without_end(void **state)
{
    (void)state;
    struct bed bed;
    struct raw raw;
    struct net_options options = options_default();
    bed_start(&bed, &options);
    bed.answer_bytes = ANSWER_BYTES;
    bed_adopt(&bed, &raw);
    for (int i = 0; i < ANSWERS; i++) /* together they fit into one read */
        send_request(&raw);
    os_sleep_ns(os_real(), 300000000);
    os_mutex_lock(&bed.mutex);
    int frames = bed.frames;
    os_mutex_unlock(&bed.mutex);
    assert_true(frames > 0 && (size_t)frames <= NET_OUT_BYTES_MAX / ANSWER_BYTES + 2);
    for (int i = 0; i < ANSWERS; i++)
        expect_answer(&raw, i + 1, ANSWER_BYTES);
    raw_close(&raw);
    bed_stop(&bed);
}

/* A connection with one request whose work the test holds. */
static struct net_work *work_of(struct bed *bed, struct raw *raw)
{
    int frames = bed->frames;
    bed_adopt(bed, raw);
    send_request(raw);
    bed_wait(bed, &bed->frames, frames + 1);
    return &bed->held[frames];
}

static void bed_hold(struct bed *bed, size_t answer_bytes_max)
{
    struct net_options options = options_default();
    options.answer_bytes_max = answer_bytes_max;
    bed_start(bed, &options);
    bed->mode = HOLD;
}

#define MIB ((size_t)1 << 20)

static void a_connection_may_have_half_of_the_room_that_is_left(void **state)
{
    (void)state;
    struct bed bed;
    struct raw raws[3];
    bed_hold(&bed, 16 * MIB);
    struct net_work *a = work_of(&bed, &raws[0]), *b = work_of(&bed, &raws[1]), *c = work_of(&bed, &raws[2]);
    assert_true(net_work_room(a, 10 * MIB)); /* a single answer may have all of it */
    assert_false(net_work_room(b, 7 * MIB));
    assert_true(net_work_room(b, 5 * MIB));
    assert_true(net_work_room(c, NET_ANSWER_FREE_BYTES)); /* a small one always */
    assert_false(net_work_room(c, 2 * MIB));
    assert_int_equal(net_answer_bytes(bed.net), 15 * MIB);
    net_work_wait(a);
    assert_int_equal(net_answer_bytes(bed.net), 5 * MIB);
    assert_int_equal(bed.rooms, 1);
    assert_true(net_work_room(c, 2 * MIB));
    assert_true(net_work_go_on(a, 9 * MIB));
    for (int i = 0; i < 3; i++)
        bed_release(&bed, true);
    for (int i = 0; i < 3; i++) {
        expect_answer(&raws[i], 1, 0);
        raw_close(&raws[i]);
    }
    bed_stop(&bed);
}

static void a_peer_that_takes_nothing_is_closed_where_room_is_needed(void **state)
{
    (void)state;
    struct bed bed;
    struct raw hog, idle;
    struct net_options options = options_default();
    options.answer_bytes_max = 6 * MIB;
    options.stall_ms = 1000;
    bed_start(&bed, &options);
    bed.answer_bytes = ANSWER_BYTES;
    bed_adopt(&bed, &idle);
    int64_t begun_ns = os_mono_ns(os_real());
    bed_adopt(&bed, &hog);
    send_request(&hog);
    while (net_answer_bytes(bed.net) < ANSWER_BYTES / 2)
        os_sleep_ns(os_real(), 1000000);
    net_stalled_close(bed.net);
    os_sleep_ns(os_real(), 50000000);
    if (os_mono_ns(os_real()) - begun_ns < 1000000000)
        assert_int_equal(bed.closes, 0); /* it was too early */
    os_sleep_ns(os_real(), 1100000000);
    net_stalled_close(bed.net);
    bed_wait(&bed, &bed.closes, 1);
    send_request(&idle); /* which had nothing to take */
    expect_answer(&idle, 1, ANSWER_BYTES);
    raw_close(&hog);
    raw_close(&idle);
    bed_stop(&bed);
}

static void no_request_is_taken_beside_one_that_waits_for_room(void **state)
{
    (void)state;
    struct bed bed;
    struct raw raw;
    bed_hold(&bed, 16 * MIB);
    struct net_work *work = work_of(&bed, &raw);
    net_work_wait(work);
    send_request(&raw);
    os_sleep_ns(os_real(), 20000000);
    assert_int_equal(bed.frames, 1);
    assert_true(net_work_go_on(work, 20 * MIB)); /* larger than all the room, but alone */
    bed_release(&bed, true);
    expect_answer(&raw, 1, 0);
    bed_wait(&bed, &bed.frames, 2);
    bed_release(&bed, true);
    expect_answer(&raw, 2, 0);
    raw_close(&raw);
    bed_stop(&bed);
}

static void large_requests_in_work_pause_the_reading(void **state)
{
    (void)state;
    struct bed bed;
    struct raw raw;
    struct buf text = {0};
    struct net_options options = options_default();
    options.frame_bytes_max = 41 * MIB;
    bed_start(&bed, &options);
    bed.mode = HOLD;
    bed_adopt(&bed, &raw);
    memset(buf_extend(&text, 40 * MIB), 'x', 40 * MIB);
    struct wire_list_tables_request request = {.database_name = buf_view(&text)};
    for (int i = 0; i < 2; i++)
        raw_send(&raw, WIRE_LIST_TABLES, &request);
    send_request(&raw);
    bed_wait(&bed, &bed.frames, 2);
    os_sleep_ns(os_real(), 20000000);
    bed_wait(&bed, &bed.frames, 2);
    bed_release(&bed, true);
    bed_wait(&bed, &bed.frames, 3);
    bed_release(&bed, true);
    bed_release(&bed, true);
    for (int i = 0; i < 3; i++)
        expect_answer(&raw, i + 1, 0);
    buf_deinit(&text);
    raw_close(&raw);
    bed_stop(&bed);
}

static void connections_beyond_the_limit_are_closed(void **state)
{
    (void)state;
    struct bed bed;
    struct raw raws[30], extra;
    struct net_options options = options_default();
    options.connections_max = ARRAY_LEN(raws);
    bed_start(&bed, &options);
    for (size_t i = 0; i < ARRAY_LEN(raws); i++) {
        raw_dial(&raws[i], bed.port);
        send_request(&raws[i]);
        expect_answer(&raws[i], 1, 0);
    }
    assert_int_equal(net_connection_count(bed.net), ARRAY_LEN(raws));
    raw_dial(&extra, bed.port);
    assert_true(raw_is_closed(&extra));
    raw_close(&extra);
    raw_close(&raws[0]);
    bed_wait(&bed, &bed.closes, 1);
    while (net_connection_count(bed.net) == ARRAY_LEN(raws))
        os_sleep_ns(os_real(), 100000);
    raw_dial(&raws[0], bed.port);
    for (size_t i = 0; i < ARRAY_LEN(raws); i++) {
        send_request(&raws[i]);
        expect_answer(&raws[i], i ? 2 : 1, 0);
        raw_close(&raws[i]);
    }
    bed_stop(&bed);
}

static void connections_come_and_go_without_a_trace(void **state)
{
    (void)state;
    struct bed bed;
    struct net_options options = options_default();
    bed_start(&bed, &options);
    for (int i = 0; i < 500; i++) {
        struct raw raw;
        raw_dial(&raw, bed.port);
        if (i % 2)
            send_request(&raw);
        raw_close(&raw);
        bed_wait(&bed, &bed.closes, i + 1);
    }
    bed_stop(&bed);
}

static void a_silent_connection_is_closed_and_one_in_work_is_not(void **state)
{
    (void)state;
    struct bed bed;
    struct raw silent, half, working;
    struct net_options options = options_default();
    options.idle_ms_max = 100;
    bed_start(&bed, &options);
    bed.mode = HOLD;
    bed_adopt(&bed, &working);
    send_request(&working);
    bed_wait(&bed, &bed.frames, 1);
    bed_adopt(&bed, &silent);
    bed_adopt(&bed, &half);
    raw_send_bytes(&half, SLICE("\x00\x00"));
    assert_true(raw_is_closed(&silent));
    bed_wait(&bed, &bed.closes, 2);
    bed_release(&bed, true);
    expect_answer(&working, 1, 0);
    raw_close(&silent);
    raw_close(&half);
    raw_close(&working);
    bed_stop(&bed);
}

static void an_answer_to_a_connection_that_is_gone_is_dropped(void **state)
{
    (void)state;
    struct bed bed;
    struct raw raw;
    struct net_options options = options_default();
    bed_start(&bed, &options);
    bed.mode = HOLD;
    bed_adopt(&bed, &raw);
    send_request(&raw);
    send_request(&raw);
    bed_wait(&bed, &bed.frames, 2);
    raw_close(&raw);
    bed_wait(&bed, &bed.closes, 1);
    bed_release(&bed, true);
    bed_release(&bed, false);
    bed_stop(&bed);
}

static void a_stop_does_not_wait_for_silent_connections(void **state)
{
    (void)state;
    struct bed bed;
    struct raw raws[20];
    struct net_options options = options_default();
    bed_start(&bed, &options);
    for (size_t i = 0; i < ARRAY_LEN(raws); i++) {
        raw_dial(&raws[i], bed.port);
        send_request(&raws[i]);
        expect_answer(&raws[i], 1, 0);
    }
    raw_send_bytes(&raws[0], SLICE("\x00\x00\x00\x10\x03"));
    int64_t begun_ns = os_mono_ns(os_real());
    bed_stop(&bed);
    assert_true(os_mono_ns(os_real()) - begun_ns < 1500000000);
    for (size_t i = 0; i < ARRAY_LEN(raws); i++) {
        assert_true(raw_is_closed(&raws[i]));
        raw_close(&raws[i]);
    }
}

static void stop_on_a_thread(void *arg)
{
    net_stop(((struct bed *)arg)->net, 10000);
}

static void a_stop_still_writes_what_was_in_work(void **state)
{
    (void)state;
    struct bed bed;
    struct raw raw;
    struct os_thread *thread;
    struct net_options options = options_default();
    bed_start(&bed, &options);
    bed.mode = HOLD;
    bed.answer_bytes = ANSWER_BYTES;
    bed_adopt(&bed, &raw);
    send_request(&raw);
    bed_wait(&bed, &bed.frames, 1);
    MUST(os_thread_start(os_real(), "stop", stop_on_a_thread, &bed, &thread, &err));
    os_sleep_ns(os_real(), 20000000);
    send_request(&raw); /* too late to be read */
    bed_release(&bed, true);
    expect_answer(&raw, 1, ANSWER_BYTES);
    assert_true(raw_is_closed(&raw));
    os_thread_join(thread);
    assert_int_equal(bed.frames, 1);
    raw_close(&raw);
    bed_stop(&bed);
}

static void a_stop_gives_up_on_work_that_does_not_end(void **state)
{
    (void)state;
    struct bed bed;
    struct raw raw;
    struct net_options options = options_default();
    bed_start(&bed, &options);
    bed.mode = HOLD;
    bed_adopt(&bed, &raw);
    send_request(&raw);
    bed_wait(&bed, &bed.frames, 1);
    int64_t begun_ns = os_mono_ns(os_real());
    net_stop(bed.net, 100);
    assert_true(os_mono_ns(os_real()) - begun_ns >= 100000000);
    assert_true(raw_is_closed(&raw));
    bed_release(&bed, true);
    raw_close(&raw);
    bed_stop(&bed);
}

static void nothing_comes_in_after_a_stop(void **state)
{
    (void)state;
    struct bed bed;
    struct os_socket *pair[2], *late;
    struct net_options options = options_default();
    bed_start(&bed, &options);
    net_stop(bed.net, 1000);
    MUST(os_socket_pair(os_real(), pair, &err));
    MUST_FAIL(ERR_SHUTTING_DOWN, net_adopt(bed.net, pair[0], tag, &err));
    MUST_FAIL(ERR_UNREACHABLE,
              os_connect(os_real(), "127.0.0.1", bed.port, os_mono_ns(os_real()) + 5000000000, &late, &err));
    os_socket_close(pair[0]);
    os_socket_close(pair[1]);
    bed_stop(&bed);
}

TESTS("net", TEST(frames_come_whole_wherever_they_are_cut), TEST(a_peer_may_close_at_every_byte),
      TEST(a_bad_length_closes_the_connection_at_once), TEST(a_frame_that_never_comes_reserves_no_memory),
      TEST(a_slow_sender_holds_up_nobody), TEST(no_more_is_read_than_may_be_in_work),
      TEST(a_peer_that_takes_no_answers_is_not_served_without_end),
      TEST(a_connection_may_have_half_of_the_room_that_is_left),
      TEST(a_peer_that_takes_nothing_is_closed_where_room_is_needed),
      TEST(no_request_is_taken_beside_one_that_waits_for_room), TEST(large_requests_in_work_pause_the_reading),
      TEST(connections_beyond_the_limit_are_closed), TEST(connections_come_and_go_without_a_trace),
      TEST(a_silent_connection_is_closed_and_one_in_work_is_not),
      TEST(an_answer_to_a_connection_that_is_gone_is_dropped), TEST(a_stop_does_not_wait_for_silent_connections),
      TEST(a_stop_still_writes_what_was_in_work), TEST(a_stop_gives_up_on_work_that_does_not_end),
      TEST(nothing_comes_in_after_a_stop))
