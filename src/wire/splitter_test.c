#include "lib/test.h"
#include "wire/wire.h"

/* Frames of these lengths, one behind the other; the bytes of a frame tell its length and place. */
static const size_t lengths[] = {0,     1,     5,     8,     4095,  4096,   0,     100, 32767,
                                 32768, 32769, 65532, 65536, 65537, 300000, 70000, 1,   0};

static uint8_t byte_of(size_t frame, size_t i)
{
    return (uint8_t)(frame * 31 + i * 7 + i / 256);
}

static void put_stream(struct buf *stream)
{
    for (size_t f = 0; f < ARRAY_LEN(lengths); f++) {
        buf_put_u32_be(stream, (uint32_t)lengths[f]);
        for (size_t i = 0; i < lengths[f]; i++)
            buf_put_u8(stream, byte_of(f, i));
    }
}

static void assert_frame(size_t f, const struct buf *frame)
{
    assert_true(f < ARRAY_LEN(lengths));
    assert_int_equal(frame->len, lengths[f]);
    for (size_t i = 0; i < frame->len; i++)
        if (frame->ptr[i] != byte_of(f, i))
            fail_msg("frame %zu differs at %zu", f, i);
}

static size_t feed(struct wire_splitter *s, struct slice bytes)
{
    size_t len;
    uint8_t *room = wire_splitter_room(s, &len);
    assert_true(len > 0);
    len = MIN(len, bytes.len);
    memcpy(room, bytes.ptr, len);
    wire_splitter_filled(s, len);
    return len;
}

static void assert_stream_is_split(struct slice stream, size_t step)
{
    struct err err = {0};
    struct wire_splitter s;
    wire_splitter_init(&s, 300000);
    struct buf frame = {0};
    size_t frames = 0;
    for (size_t at = 0; at < stream.len;) {
        at += feed(&s, slice_of(stream.ptr + at, MIN(step, stream.len - at)));
        bool have = true;
        while (have) {
            MUST(wire_splitter_next(&s, &frame, &have, &err));
            if (have)
                assert_frame(frames++, &frame);
        }
    }
    assert_int_equal(frames, ARRAY_LEN(lengths));
    assert_true(wire_splitter_idle(&s));
    wire_splitter_deinit(&s);
    wire_splitter_deinit(&s);
    buf_deinit(&frame);
}

static void frames_come_whole_however_the_bytes_come(void **state)
{
    (void)state;
    struct buf stream = {0};
    put_stream(&stream);
    static const size_t steps[] = {1, 2, 3, 7, 1000, 4096, 32768, 65536, SIZE_MAX};
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        assert_stream_is_split(buf_view(&stream), steps[i]);
    buf_deinit(&stream);
}

static void the_caller_keeps_its_frame(void **state)
{
    (void)state;
    struct err err = {0};
    struct buf stream = {0};
    put_stream(&stream);
    struct wire_splitter s;
    wire_splitter_init(&s, 300000);
    struct buf kept[ARRAY_LEN(lengths)] = {0};
    size_t frames = 0;
    for (size_t at = 0; at < stream.len;) {
        at += feed(&s, slice_of(stream.ptr + at, stream.len - at));
        bool have = true;
        while (have) {
            struct buf frame = {0};
            MUST(wire_splitter_next(&s, &frame, &have, &err));
            if (have)
                kept[frames++] = frame;
        }
    }
    for (size_t f = 0; f < ARRAY_LEN(lengths); f++) {
        assert_frame(f, &kept[f]);
        buf_deinit(&kept[f]);
    }
    wire_splitter_deinit(&s);
    buf_deinit(&stream);
}

static void a_large_frame_leaves_no_memory_behind(void **state)
{
    (void)state;
    struct err err = {0};
    struct wire_splitter s;
    struct buf frame = {0};
    static const uint8_t bytes[WIRE_LENGTH_BYTES + 0x10000] = {0, 1};
    wire_splitter_init(&s, 1 << 20);
    for (int round = 0; round < 2; round++) {
        bool have;
        for (size_t at = 0; at < sizeof bytes;) {
            at += feed(&s, slice_of(bytes + at, sizeof bytes - at));
            MUST(wire_splitter_next(&s, &frame, &have, &err));
            assert_int_equal(have, at == sizeof bytes);
        }
        assert_int_equal(frame.len, 0x10000);
        assert_int_equal(s.frame.cap, 0);
    }
    buf_deinit(&frame);
    wire_splitter_deinit(&s);
}

static void bad_lengths_are_refused_before_memory_is_taken(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        enum err_code want;
    } cases[] = {
        {"\x00\x00\x03\xe8", OK},
        {"\x00\x00\x03\xe9", ERR_LIMIT},
        {"\x7f\xff\xff\xff", ERR_LIMIT},
        {"\x80\x00\x00\x00", ERR_CORRUPT_MESSAGE},
        {"\xff\xff\xff\xff", ERR_CORRUPT_MESSAGE},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        struct wire_splitter s;
        struct buf frame = {0};
        bool have = true;
        wire_splitter_init(&s, 1000);
        feed(&s, slice_of(cases[i].bytes, 3));
        MUST(wire_splitter_next(&s, &frame, &have, &err));
        assert_false(have);
        feed(&s, slice_of(cases[i].bytes + 3, 1));
        assert_int_equal(wire_splitter_next(&s, &frame, &have, &err), cases[i].want);
        assert_false(have);
        assert_int_equal(frame.cap + s.frame.cap, 0);
        wire_splitter_deinit(&s);
    }
}

static void a_length_alone_takes_no_memory(void **state)
{
    (void)state;
    struct err err = {0};
    struct wire_splitter s;
    struct buf frame = {0};
    bool have;
    size_t len;
    wire_splitter_init(&s, WIRE_REQUEST_BYTES_MAX);
    feed(&s, SLICE("\x06\x40\x00\x00"));
    MUST(wire_splitter_next(&s, &frame, &have, &err));
    wire_splitter_room(&s, &len);
    assert_true(s.frame.cap <= WIRE_SPLITTER_ROOM_BYTES);
    assert_true(len <= WIRE_SPLITTER_ROOM_BYTES);
    assert_false(wire_splitter_idle(&s));
    wire_splitter_deinit(&s);
}

static void a_quiet_connection_has_a_small_room(void **state)
{
    (void)state;
    struct err err = {0};
    struct wire_splitter s;
    struct buf frame = {0};
    wire_splitter_init(&s, WIRE_REQUEST_BYTES_MAX);
    for (int i = 0; i < 1000; i++) {
        bool have;
        feed(&s, SLICE("\0\0\0\x05hello"));
        MUST(wire_splitter_next(&s, &frame, &have, &err));
        assert_true(have);
        assert_slice_equal(buf_view(&frame), SLICE("hello"));
    }
    assert_true(s.room.cap <= 4096);
    buf_deinit(&frame);
    wire_splitter_deinit(&s);
}

TESTS("wire.splitter", TEST(frames_come_whole_however_the_bytes_come), TEST(the_caller_keeps_its_frame),
      TEST(a_large_frame_leaves_no_memory_behind), TEST(bad_lengths_are_refused_before_memory_is_taken),
      TEST(a_length_alone_takes_no_memory), TEST(a_quiet_connection_has_a_small_room))
