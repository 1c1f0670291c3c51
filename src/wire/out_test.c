#include "lib/test.h"
#include "wire/wire.h"

/* Pieces of files are only pointed at by wire. */
static char some_file;
#define FILE_1 ((struct os_file *)(void *)&some_file)

static void count_release(void *owner)
{
    ++*(int *)owner;
}

static struct wire_piece file_piece(uint64_t offset, size_t len, int *released)
{
    return (struct wire_piece){
        .file = FILE_1, .offset = offset, .len = len, .release = count_release, .owner = released};
}

static struct wire_piece memory_piece(struct slice s, int *released)
{
    return (struct wire_piece){.ptr = s.ptr, .len = s.len, .release = count_release, .owner = released};
}

/* One good bucket whose records are the pieces, as an answer to FETCH_LOG. */
struct fetch {
    struct wire_pb_fetch_log_resp_for_bucket bucket;
    struct wire_pb_fetch_log_resp_for_table table;
    struct wire_fetch_log_response response;
};

static void *fetch_init(struct fetch *f, struct wire_piece *pieces, size_t piece_count)
{
    *f = (struct fetch){.bucket = {.bucket_id = 1}};
    WIRE_SET(&f->bucket, high_watermark, 5);
    WIRE_SET(&f->bucket, records, ((struct wire_bytes){.pieces = pieces, .piece_count = piece_count}));
    f->table.table_id = 7;
    f->table.buckets_resp = &f->bucket;
    f->table.buckets_resp_count = 1;
    f->response.tables_resp = &f->table;
    f->response.tables_resp_count = 1;
    return &f->response;
}

static void put_fetch(struct wire_out *out, struct wire_piece *pieces, size_t piece_count)
{
    struct err err = {0};
    struct fetch f;
    void *response = fetch_init(&f, pieces, piece_count);
    MUST(wire_response_encode(out, 9, &wire_fetch_log_response_desc, response, &err));
    assert_int_equal(f.bucket.records.piece_count, 0);
}

/* Sends step bytes at a time; file ranges are spelled as letters by their offset. */
static void drain(struct wire_out *out, size_t step, struct buf *all)
{
    while (wire_out_len(out)) {
        struct os_file *file;
        uint64_t offset;
        size_t len;
        struct slice slice;
        if (wire_out_file(out, &file, &offset, &len)) {
            assert_ptr_equal(file, FILE_1);
            len = MIN(len, step);
            for (size_t i = 0; i < len; i++)
                buf_put_u8(all, (uint8_t)('a' + (offset + i) % 26));
        } else {
            assert_int_equal(wire_out_slices(out, &slice, 1), 1);
            len = MIN(slice.len, step);
            buf_put(all, slice.ptr, len);
        }
        wire_out_advance(out, len);
    }
}

static void pieces_go_out_in_their_place(void **state)
{
    (void)state;
    struct err err = {0};
    static uint8_t large[WIRE_PIECE_COPY_BYTES_MAX + 1];
    memset(large, 'L', sizeof large);
    for (size_t step = 1; step < 3000; step = step * 3 + 1) {
        int released = 0;
        struct wire_piece pieces[] = {file_piece(2, 4, &released), memory_piece(SLICE("small"), &released),
                                      memory_piece(slice_of(large, sizeof large), &released),
                                      file_piece(0, 3, &released), file_piece(0, 0, &released)};
        struct wire_out out = {0};
        put_fetch(&out, pieces, ARRAY_LEN(pieces));
        assert_int_equal(released, 2); /* the small one is copied, the empty one is nothing */
        struct buf all = {0};
        drain(&out, step, &all);
        assert_int_equal(released, ARRAY_LEN(pieces));
        struct wire_response_header header;
        struct slice body;
        struct arena arena = {0};
        MUST(wire_response_split(slice_of(all.ptr + WIRE_LENGTH_BYTES, all.len - WIRE_LENGTH_BYTES), &header, &body,
                                 &err));
        assert_int_equal(header.request_id, 9);
        struct wire_fetch_log_response got;
        MUST(wire_decode(&wire_fetch_log_response_desc, body, &arena, &got, &err));
        struct slice records = got.tables_resp[0].buckets_resp[0].records.bytes;
        assert_int_equal(records.len, 4 + 5 + sizeof large + 3);
        assert_slice_equal(slice_of(records.ptr, 10), SLICE("cdefsmallL"));
        assert_slice_equal(slice_of(records.ptr + records.len - 4, 4), SLICE("Labc"));
        buf_deinit(&all);
        arena_deinit(&arena);
        wire_out_deinit(&out);
    }
}

static void memory_before_a_file_is_offered_in_one_go(void **state)
{
    (void)state;
    int released = 0;
    static uint8_t large[WIRE_PIECE_COPY_BYTES_MAX + 1];
    struct wire_piece pieces[] = {memory_piece(slice_of(large, sizeof large), &released), file_piece(0, 3, &released)};
    struct wire_out out = {0};
    put_fetch(&out, pieces, ARRAY_LEN(pieces));
    struct slice slices[8];
    struct os_file *file;
    uint64_t offset;
    size_t len;
    assert_int_equal(wire_out_slices(&out, slices, ARRAY_LEN(slices)), 2); /* the frame's front, the memory piece */
    assert_false(wire_out_file(&out, &file, &offset, &len));
    assert_int_equal(wire_out_slices(&out, slices, 1), 1);
    wire_out_advance(&out, slices[0].len + sizeof large + 1);
    assert_int_equal(wire_out_slices(&out, slices, ARRAY_LEN(slices)), 0);
    assert_true(wire_out_file(&out, &file, &offset, &len));
    assert_int_equal(offset, 1);
    assert_int_equal(len, 2);
    wire_out_deinit(&out);
    assert_int_equal(released, 2);
}

static void what_is_not_sent_is_released(void **state)
{
    (void)state;
    int released = 0;
    struct wire_piece pieces[] = {file_piece(0, 4, &released), file_piece(8, 4, &released)};
    struct wire_out out = {0};
    put_fetch(&out, pieces, ARRAY_LEN(pieces));
    struct slice front;
    wire_out_slices(&out, &front, 1);
    wire_out_advance(&out, front.len + 4);
    assert_int_equal(released, 1);
    wire_out_deinit(&out);
    wire_out_deinit(&out);
    assert_int_equal(released, 2);
}

static void a_message_that_is_not_sent_can_be_released(void **state)
{
    (void)state;
    int released = 0;
    struct wire_piece pieces[] = {file_piece(0, 4, &released), file_piece(8, 4, &released)};
    struct fetch f;
    void *response = fetch_init(&f, pieces, ARRAY_LEN(pieces));
    wire_message_release(&wire_fetch_log_response_desc, response);
    assert_int_equal(released, 2);
    wire_message_release(&wire_fetch_log_response_desc, response);
    assert_int_equal(released, 2);
}

static void a_frame_beyond_the_length_field_is_refused_and_leaves_no_trace(void **state)
{
    (void)state;
    struct err err = {0};
    int released = 0;
    struct wire_out out = {0};
    wire_error_encode(&out, 1, &(struct err){.code = ERR_TABLE_NOT_EXIST});
    uint64_t len = wire_out_len(&out);
    struct wire_piece pieces[] = {file_piece(0, (size_t)1 << 30, &released), file_piece(0, (size_t)1 << 30, &released)};
    struct fetch f;
    void *response = fetch_init(&f, pieces, 2);
    MUST_FAIL(ERR_LIMIT, wire_response_encode(&out, 2, &wire_fetch_log_response_desc, response, &err));
    assert_int_equal(wire_out_len(&out), len);
    assert_int_equal(released, 0);
    assert_int_equal(f.bucket.records.piece_count, 2);
    pieces[1].len -= 64; /* and just below it goes */
    MUST(wire_response_encode(&out, 2, &wire_fetch_log_response_desc, response, &err));
    assert_true(wire_out_len(&out) > ((uint64_t)1 << 31) - 64);
    wire_out_deinit(&out);
    assert_int_equal(released, 2);
}

static void outs_can_be_joined(void **state)
{
    (void)state;
    for (size_t sent = 0; sent < 60; sent += 7) {
        int released = 0;
        struct wire_piece first[] = {file_piece(0, 12, &released)};
        struct wire_piece second[] = {file_piece(3, 12, &released)};
        struct wire_out out = {0};
        struct wire_out from = {0};
        struct buf want = {0};
        struct buf got = {0};
        put_fetch(&out, first, 1);
        drain(&out, SIZE_MAX, &want);
        size_t frame_len = want.len;
        put_fetch(&from, second, 1);
        drain(&from, SIZE_MAX, &want);
        put_fetch(&out, first, 1);
        put_fetch(&from, second, 1);
        size_t skip = MIN(sent, frame_len - 1); /* a part of the second one is gone when it is appended */
        wire_out_advance(&from, skip);
        wire_out_append(&out, &from);
        assert_int_equal(wire_out_len(&from), 0);
        drain(&out, 5, &got);
        assert_slice_equal(slice_of(got.ptr, frame_len), slice_of(want.ptr, frame_len));
        assert_slice_equal(slice_of(got.ptr + frame_len, got.len - frame_len),
                           slice_of(want.ptr + frame_len + skip, frame_len - skip));
        assert_int_equal(released, 4);
        wire_out_append(&out, &from); /* nothing to nothing */
        wire_out_deinit(&out);
        wire_out_deinit(&from);
        buf_deinit(&want);
        buf_deinit(&got);
    }
}

static void an_out_that_is_never_empty_stays_small(void **state)
{
    (void)state;
    int released = 0;
    struct wire_out out = {0};
    struct wire_piece piece = file_piece(0, 10, &released);
    put_fetch(&out, &piece, 1);
    uint64_t frame_len = wire_out_len(&out);
    int put = 1;
    while (out.bytes_start < (1u << 20)) {
        put_fetch(&out, &piece, 1);
        put_fetch(&out, &piece, 1);
        put += 2;
        /* by turns the front of a frame is next, and the half of a file's range before another frame */
        wire_out_advance(&out, wire_out_len(&out) - frame_len - (put % 4 == 1 ? 5 : 0));
        assert_true(out.bytes.len <= 256u << 10);
        assert_true(out.pieces.len <= 1024);
    }
    wire_out_advance(&out, wire_out_len(&out) - frame_len);
    struct buf rest = {0};
    struct buf want = {0};
    drain(&out, SIZE_MAX, &rest);
    put_fetch(&out, &piece, 1);
    drain(&out, SIZE_MAX, &want);
    assert_slice_equal(buf_view(&rest), buf_view(&want));
    assert_int_equal(released, put + 1);
    buf_deinit(&rest);
    buf_deinit(&want);
    wire_out_deinit(&out);
}

static void put_number(struct wire_out *out, uint32_t number)
{
    struct err err = {0};
    struct wire_database_exists_response response = {.exists = number % 3 == 0};
    MUST(wire_response_encode(out, (int32_t)number, &wire_database_exists_response_desc, &response, &err));
}

static void small_answers_without_end_stay_small_and_in_order(void **state)
{
    (void)state;
    struct wire_out out = {0};
    struct buf got = {0};
    struct wire_out whole = {0};
    struct buf want = {0};
    enum { ANSWERS = 30000 };
    for (uint32_t i = 0; i < ANSWERS; i++) {
        put_number(&out, i);
        put_number(&whole, i);
        struct slice slice;
        while (wire_out_len(&out) > 7) { /* never to the end, and mostly into the middle of an answer */
            assert_int_equal(wire_out_slices(&out, &slice, 1), 1);
            size_t len = MIN(slice.len, wire_out_len(&out) - 7);
            buf_put(&got, slice.ptr, len);
            wire_out_advance(&out, len);
        }
        assert_true(out.bytes.len <= 256u << 10);
    }
    drain(&out, SIZE_MAX, &got);
    drain(&whole, SIZE_MAX, &want);
    assert_true(slice_equal(buf_view(&got), buf_view(&want)));
    buf_deinit(&got);
    buf_deinit(&want);
    wire_out_deinit(&out);
    wire_out_deinit(&whole);
}

static void an_empty_out_gives_large_memory_back(void **state)
{
    (void)state;
    struct err err = {0};
    struct wire_out out = {0};
    struct slice large = slice_of(mem_zalloc(1 << 20), 1 << 20);
    static const struct {
        size_t bytes;
        bool kept;
    } cases[] = {{WIRE_OUT_KEEP_BYTES_MAX / 2, true}, {1 << 20, false}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct wire_limit_scan_response response = {0};
        WIRE_SET(&response, records, wire_bytes_of(slice_of(large.ptr, cases[i].bytes)));
        MUST(wire_response_encode(&out, 1, &wire_limit_scan_response_desc, &response, &err));
        wire_out_advance(&out, wire_out_len(&out));
        assert_int_equal(out.bytes.cap > 0, cases[i].kept);
    }
    wire_out_deinit(&out);
    mem_free((void *)(uintptr_t)large.ptr);
}

TESTS("wire.out", TEST(pieces_go_out_in_their_place), TEST(memory_before_a_file_is_offered_in_one_go),
      TEST(what_is_not_sent_is_released), TEST(a_message_that_is_not_sent_can_be_released),
      TEST(a_frame_beyond_the_length_field_is_refused_and_leaves_no_trace), TEST(outs_can_be_joined),
      TEST(an_out_that_is_never_empty_stays_small), TEST(small_answers_without_end_stay_small_and_in_order),
      TEST(an_empty_out_gives_large_memory_back))
