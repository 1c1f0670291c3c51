/* The golden frames: each is decoded, compared with its fields in JSON, encoded again to the same bytes, and cut off at
 * every place. */
#include "base/reader.h"
#include "lib/test.h"
#include "wire/wire.h"

#include <jansson.h>

static struct slice unhex(struct arena *arena, const char *hex)
{
    size_t len = strlen(hex) / 2;
    uint8_t *bytes = arena_alloc(arena, len);
    for (size_t i = 0; i < len; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        bytes[i] = (uint8_t)byte;
    }
    return slice_of(bytes, len);
}

/* Everything in the out, in one piece. */
static struct slice flat(struct arena *arena, struct wire_out *out)
{
    struct buf all = {0};
    while (wire_out_len(out)) {
        struct slice slices[2];
        size_t count = wire_out_slices(out, slices, ARRAY_LEN(slices));
        assert_true(count > 0);
        for (size_t i = 0; i < count; i++) {
            buf_put_slice(&all, slices[i]);
            wire_out_advance(out, slices[i].len);
        }
    }
    struct slice copy = arena_dup(arena, buf_view(&all));
    buf_deinit(&all);
    return copy;
}

/* The golden form of a float is its bits and a text. */
static bool same_float(const json_t *got, const json_t *want)
{
    const char *text = json_string_value(json_object_get(want, "bits"));
    unsigned long long bits = strtoull(text, NULL, 16);
    double value = json_number_value(got);
    if (strlen(text) == 8) {
        float narrow = (float)value;
        return load_u32((const uint8_t *)&narrow) == bits;
    }
    return load_u64((const uint8_t *)&value) == bits;
}

static bool same_json(const json_t *got, const json_t *want)
{
    if (json_is_object(want) && json_object_get(want, "bits"))
        return json_is_number(got) && same_float(got, want);
    if (json_is_array(want)) {
        bool same = json_is_array(got) && json_array_size(got) == json_array_size(want);
        for (size_t i = 0; same && i < json_array_size(want); i++)
            same = same_json(json_array_get(got, i), json_array_get(want, i));
        return same;
    }
    if (!json_is_object(want))
        return json_equal(got, want);
    const char *name;
    json_t *value;
    bool same = json_is_object(got) && json_object_size(got) == json_object_size(want);
    json_object_foreach((json_t *)(uintptr_t)want, name, value) same =
        same && json_object_get(got, name) && same_json(json_object_get(got, name), value);
    return same;
}

static void assert_fields(const struct wire_desc *desc, const void *message, const json_t *want)
{
    struct buf text = {0};
    wire_dump(&text, desc, message, SIZE_MAX);
    json_error_t error;
    json_t *got = json_loadb((const char *)text.ptr, text.len, 0, &error);
    if (!got || !same_json(got, want))
        fail_msg("%s: got %s, want %s", desc->name, buf_cstr(&text), json_dumps(want, JSON_COMPACT));
    json_decref(got);
    buf_deinit(&text);
}

/* Every prefix of a body is refused or is a message of its own: what it decodes to encodes to nothing but its bytes. A
 * prefix can be one where the cut lies between two fields and what is required stands before it. */
static void assert_prefixes_not_misread(const struct wire_desc *desc, struct slice body, struct arena *arena)
{
    struct err err = {0};
    for (size_t cut = 0; cut < body.len; cut++) {
        struct slice prefix = arena_dup(arena, slice_of(body.ptr, cut));
        void *message = arena_alloc(arena, desc->size);
        if (wire_decode(desc, prefix, arena, message, &err) != OK)
            continue;
        struct wire_out out = {0};
        MUST(wire_message_encode(&out, desc, message, &err));
        assert_slice_equal(flat(arena, &out), prefix);
        wire_out_deinit(&out);
    }
}

struct answer {
    bool is_request;
    struct wire_request_header request;
    struct wire_response_header response;
    const struct wire_desc *desc;
    struct slice body;
};

static void encode(struct wire_out *out, const struct answer *a, void *message)
{
    struct err err = {0};
    if (a->is_request)
        MUST(wire_request_encode(out, &a->request, a->desc, message, &err));
    else
        MUST(wire_response_encode(out, a->response.request_id, a->desc, message, &err));
}

static void assert_round_trip(const struct answer *a, struct slice frame, const json_t *fields, struct arena *arena)
{
    struct err err = {0};
    void *message = arena_alloc(arena, a->desc->size);
    MUST(wire_decode(a->desc, a->body, arena, message, &err));
    if (fields)
        assert_fields(a->desc, message, fields);
    struct wire_out out = {0};
    if (a->is_request || a->response.status == WIRE_SUCCESS) {
        encode(&out, a, message);
        assert_slice_equal(flat(arena, &out), frame);
    } else {
        MUST(wire_message_encode(&out, a->desc, message, &err));
        assert_slice_equal(flat(arena, &out), a->body);
    }
    wire_out_deinit(&out);
    assert_prefixes_not_misread(a->desc, a->body, arena);
}

static struct slice without_length(struct slice frame)
{
    struct reader r = reader_of(frame);
    assert_int_equal(reader_u32_be(&r), frame.len - WIRE_LENGTH_BYTES);
    return reader_rest(&r);
}

static void split(struct answer *a, struct slice frame)
{
    struct err err = {0};
    struct slice inner = without_length(frame);
    size_t header_bytes = a->is_request ? WIRE_REQUEST_HEADER_BYTES : 5;
    if (a->is_request)
        MUST(wire_request_split(inner, &a->request, &a->body, &err));
    else
        MUST(wire_response_split(inner, &a->response, &a->body, &err));
    if (!a->is_request && a->response.status == WIRE_SERVER_FAILURE)
        header_bytes = 1;
    assert_int_equal(a->body.len, inner.len - header_bytes);
    for (size_t cut = 0; cut < header_bytes; cut++) {
        struct answer none;
        struct slice prefix = slice_of(inner.ptr, cut);
        if (a->is_request)
            MUST_FAIL(ERR_CORRUPT_MESSAGE, wire_request_split(prefix, &none.request, &none.body, &err));
        else
            MUST_FAIL(ERR_CORRUPT_MESSAGE, wire_response_split(prefix, &none.response, &none.body, &err));
    }
}

static int64_t number(const json_t *line, const char *name)
{
    return json_integer_value(json_object_get(line, name));
}

static void check_golden(void *arg, struct slice text)
{
    struct arena arena = {0};
    json_t *line = json_loadb((const char *)text.ptr, text.len, 0, NULL);
    const char *name = json_string_value(json_object_get(line, "message"));
    struct slice frame = unhex(&arena, json_string_value(json_object_get(line, "hex")));
    assert_int_equal(frame.len, number(line, "size"));
    struct answer a = {.is_request = json_object_get(line, "api_version") != NULL};
    split(&a, frame);
    a.desc = wire_desc_find(slice_str(name));
    assert_non_null(a.desc);
    const struct wire_api *api = wire_api_find((int16_t)number(line, "api_key"));
    if (a.is_request) {
        assert_int_equal(a.request.key, number(line, "api_key"));
        assert_int_equal(a.request.version, number(line, "api_version"));
        assert_int_equal(a.request.request_id, number(line, "request_id"));
        assert_ptr_equal(api->request, a.desc);
    } else {
        assert_int_equal(a.response.status, number(line, "response_type"));
        assert_int_equal(a.response.request_id, number(line, "request_id"));
        assert_ptr_equal(api ? api->response : &wire_error_response_desc, a.desc);
    }
    assert_round_trip(&a, frame, json_object_get(line, "fields"), &arena);
    json_decref(line);
    arena_deinit(&arena);
    ++*(size_t *)arg;
}

static void golden_frames_come_back(void **state)
{
    (void)state;
    size_t count = 0;
    test_each_line("frames", check_golden, &count);
    assert_int_equal(count, 445);
}

/* A frame as it was recorded, without its length field; gives it back with one. */
static struct slice recorded(struct arena *arena, const json_t *line, const char *name)
{
    struct buf frame = {0};
    struct slice inner = unhex(arena, json_string_value(json_object_get(line, name)));
    buf_put_u32_be(&frame, (uint32_t)inner.len);
    buf_put_slice(&frame, inner);
    struct slice copy = arena_dup(arena, buf_view(&frame));
    buf_deinit(&frame);
    return copy;
}

static void check_recorded(void *arg, struct slice text)
{
    struct arena arena = {0};
    json_t *line = json_loadb((const char *)text.ptr, text.len, 0, NULL);
    const struct wire_api *api = wire_api_find((int16_t)number(line, "key"));
    assert_string_equal(api->name, json_string_value(json_object_get(line, "api")));
    struct answer request = {.is_request = true, .desc = api->request};
    struct slice frame = recorded(&arena, line, "request");
    split(&request, frame);
    assert_int_equal(request.request.key, api->key);
    assert_int_equal(request.request.version, number(line, "version"));
    assert_round_trip(&request, frame, NULL, &arena);
    struct answer answer = {.is_request = false};
    frame = recorded(&arena, line, "response");
    split(&answer, frame);
    assert_int_equal(answer.response.status, number(line, "response_type"));
    assert_int_equal(answer.response.request_id, request.request.request_id);
    answer.desc = answer.response.status == WIRE_SUCCESS ? api->response : &wire_error_response_desc;
    assert_round_trip(&answer, frame, NULL, &arena);
    json_decref(line);
    arena_deinit(&arena);
    ++*(size_t *)arg;
}

static void recorded_frames_come_back(void **state)
{
    (void)state;
    size_t count = 0;
    test_each_line("wire/frames", check_recorded, &count);
    assert_int_equal(count, 78);
}

static struct slice one_frame(struct arena *arena, struct wire_out *out)
{
    struct slice frame = flat(arena, out);
    wire_out_deinit(out);
    return without_length(frame);
}

static enum err_code through_the_wire(const struct err *error, struct err *got)
{
    struct err err = {0};
    struct arena arena = {0};
    struct wire_out out = {0};
    struct wire_response_header header;
    struct slice body;
    wire_error_encode(&out, -3, error);
    MUST(wire_response_split(one_frame(&arena, &out), &header, &body, &err));
    assert_int_equal(header.status, WIRE_ERROR);
    assert_int_equal(header.request_id, -3);
    enum err_code code = wire_error_decode(body, got);
    arena_deinit(&arena);
    return code;
}

static void errors_keep_code_and_text(void **state)
{
    (void)state;
    struct err got;
    struct err error = {.code = ERR_TABLE_NOT_EXIST, .text = "no table db.t"};
    MUST_FAIL(ERR_TABLE_NOT_EXIST, through_the_wire(&error, &got));
    assert_int_equal(got.code, ERR_TABLE_NOT_EXIST);
    assert_string_equal(got.text, "no table db.t");
    error = (struct err){.code = ERR_DISK_FULL}; /* ours goes out under a number of the protocol, with a text */
    MUST_FAIL(err_from_wire(err_wire(ERR_DISK_FULL)), through_the_wire(&error, &got));
    assert_string_equal(got.text, err_text(ERR_DISK_FULL));
}

static void texts_of_other_servers_become_one_line(void **state)
{
    (void)state;
    struct err err = {0};
    MUST_FAIL(ERR_NOT_LEADER_OR_FOLLOWER, wire_error_decode(SLICE("\x08\x0c\x12\x05"
                                                                  "a\nb\tc"),
                                                            &err));
    assert_string_equal(err.text, "a b c");
    MUST_FAIL(ERR_NOT_LEADER_OR_FOLLOWER, wire_error_decode(SLICE("\x08\x0c"), &err));
    assert_string_equal(err.text, err_text(ERR_NOT_LEADER_OR_FOLLOWER));
    struct buf body = {0};
    buf_put_slice(&body, SLICE("\x08\x0c\x12\xe8\x07"));
    for (int i = 0; i < 1000; i++)
        buf_put_u8(&body, 'x');
    MUST_FAIL(ERR_NOT_LEADER_OR_FOLLOWER, wire_error_decode(buf_view(&body), &err));
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    buf_deinit(&body);
}

static void an_error_that_cannot_be_read_is_still_an_error(void **state)
{
    (void)state;
    struct err err = {0};
    MUST_FAIL(ERR_CORRUPT_MESSAGE, wire_error_decode(SLICE("\x08\x00"), &err));
    MUST_FAIL(ERR_CORRUPT_MESSAGE, wire_error_decode(SLICE(""), &err));
    MUST_FAIL(ERR_CORRUPT_MESSAGE, wire_error_decode(SLICE("\x08"), &err));
    MUST_FAIL(ERR_UNKNOWN_SERVER_ERROR, wire_error_decode(SLICE("\x08\xe7\x07"), &err)); /* 999 */
}

static void an_unknown_status_is_refused(void **state)
{
    (void)state;
    struct err err = {0};
    struct wire_response_header header;
    struct slice body;
    MUST_FAIL(ERR_CORRUPT_MESSAGE, wire_response_split(SLICE("\x03\0\0\0\0"), &header, &body, &err));
    MUST(wire_response_split(SLICE("\x02"), &header, &body, &err));
    assert_int_equal(body.len, 0);
}

TESTS("wire.frame", TEST(golden_frames_come_back), TEST(recorded_frames_come_back), TEST(errors_keep_code_and_text),
      TEST(texts_of_other_servers_become_one_line), TEST(an_error_that_cannot_be_read_is_still_an_error),
      TEST(an_unknown_status_is_refused))
