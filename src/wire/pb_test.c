#include "lib/test.h"
#include "wire/wire.h"

#define BODY(literal) SLICE(literal)

static enum err_code decode(const struct wire_desc *desc, struct slice body, void *message, struct arena *arena)
{
    struct err err = {0};
    return wire_decode(desc, body, arena, message, &err);
}

static void lists_of_integers_are_read_packed_and_unpacked(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena arena = {0};
    struct wire_put_kv_request put;
    /* acks, table_id, timeout_ms; then target_columns: {1, 300} packed, 5 alone, {} packed, {7} packed */
    MUST(wire_decode(&wire_put_kv_request_desc,
                     BODY("\x08\x01\x10\x02\x18\x03\x22\x03\x01\xac\x02\x20\x05\x22\x00\x22\x01\x07"), &arena, &put,
                     &err));
    static const int32_t want[] = {1, 300, 5, 7};
    assert_int_equal(put.target_columns_count, ARRAY_LEN(want));
    assert_memory_equal(put.target_columns, want, sizeof want);
    struct wire_lake_tiering_heartbeat_request beat; /* declared unpacked: {9} packed, 8 alone */
    MUST(wire_decode(&wire_lake_tiering_heartbeat_request_desc, BODY("\x2a\x01\x09\x28\x08"), &arena, &beat, &err));
    assert_int_equal(beat.force_finished_tables_count, 2);
    assert_int_equal(beat.force_finished_tables[0], 9);
    assert_int_equal(beat.force_finished_tables[1], 8);
    arena_deinit(&arena);
}

static void an_empty_packed_list_differs_from_an_absent_one(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena arena = {0};
    struct wire_out out = {0};
    struct wire_metadata_request request;
    MUST(wire_decode(&wire_metadata_request_desc, BODY("\x1a\x00"), &arena, &request, &err));
    assert_non_null(request.partitions_id);
    assert_int_equal(request.partitions_id_count, 0);
    MUST(wire_message_encode(&out, &wire_metadata_request_desc, &request, &err));
    assert_int_equal(wire_out_len(&out), 2);
    wire_out_reset(&out);
    MUST(wire_decode(&wire_metadata_request_desc, BODY(""), &arena, &request, &err));
    assert_null(request.partitions_id);
    MUST(wire_message_encode(&out, &wire_metadata_request_desc, &request, &err));
    assert_int_equal(wire_out_len(&out), 0);
    wire_out_deinit(&out);
    arena_deinit(&arena);
}

static void unknown_fields_of_every_wire_type_are_skipped(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena arena = {0};
    struct wire_database_exists_response response;
    /* field 99 as a varint, 8 bytes, a length of 3, 4 bytes; then exists */
    MUST(wire_decode(&wire_database_exists_response_desc,
                     BODY("\x98\x06\xff\x01\x99\x06"
                          "12345678\x9a\x06\x03"
                          "abc\x9d\x06"
                          "1234\x08\x01"),
                     &arena, &response, &err));
    assert_true(response.exists);
    arena_deinit(&arena);
}

static void malformed_bodies_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const struct wire_desc *desc;
        struct slice body;
    } cases[] = {
        {"required field missing", &wire_pb_table_path_desc, BODY("\x0a\x01\x61")},
        {"required field of an inner message missing", &wire_get_table_info_request_desc, BODY("\x0a\x00")},
        {"group", &wire_metadata_response_desc, BODY("\x9b\x06\x9c\x06")},
        {"wire type 6", &wire_metadata_response_desc, BODY("\x9e\x06")},
        {"field number 0", &wire_metadata_response_desc, BODY("\x00\x00")},
        {"tag beyond 32 bits", &wire_metadata_response_desc, BODY("\x88\x80\x80\x80\x80\x01\x00")},
        {"varint of 11 bytes", &wire_database_exists_response_desc,
         BODY("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01")},
        {"wrong wire type", &wire_database_exists_response_desc, BODY("\x0d\x01\x02\x03\x04")},
        {"string as a varint", &wire_database_exists_request_desc, BODY("\x08\x01")},
        {"list of strings as a varint", &wire_list_databases_response_desc, BODY("\x08\x01")},
        {"length beyond the end", &wire_database_exists_request_desc, BODY("\x0a\x02\x61")},
        {"length of 64 bits", &wire_database_exists_request_desc,
         BODY("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x61")},
        {"packed list that ends in a varint", &wire_metadata_request_desc, BODY("\x1a\x02\x01\x80")},
        {"packed list of half a varint", &wire_metadata_request_desc, BODY("\x1a\x01\x80")},
        {"string that is not UTF-8", &wire_database_exists_request_desc, BODY("\x0a\x01\xff")},
    };
    struct arena arena = {0};
    _Alignas(16) char message[512];
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (decode(cases[i].desc, cases[i].body, message, &arena) != ERR_CORRUPT_MESSAGE)
            fail_msg("%s: not refused", cases[i].name);
    arena_deinit(&arena);
}

static void the_text_of_a_refusal_names_the_field(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena arena = {0};
    struct wire_pb_table_path path;
    MUST_FAIL(ERR_CORRUPT_MESSAGE, wire_decode(&wire_pb_table_path_desc, BODY("\x0a\x01\x61"), &arena, &path, &err));
    assert_string_equal(err.text, "PbTablePath.table_name is required and missing");
    arena_deinit(&arena);
}

static void the_last_of_two_values_counts(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena arena = {0};
    struct wire_database_exists_request name;
    MUST(wire_decode(&wire_database_exists_request_desc, BODY("\x0a\x01\x61\x0a\x01\x62"), &arena, &name, &err));
    assert_slice_equal(name.database_name, SLICE("b"));
    /* A message too: nothing of the first PbTablePath is left, so the second one lacks its database. */
    struct wire_get_table_info_request info;
    MUST_FAIL(ERR_CORRUPT_MESSAGE,
              wire_decode(&wire_get_table_info_request_desc,
                          BODY("\x0a\x06\x0a\x01\x61\x12\x01\x62\x0a\x03\x12\x01\x63"), &arena, &info, &err));
    arena_deinit(&arena);
}

static void records_are_borrowed_from_the_frame(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena arena = {0};
    struct slice records = slice_of(mem_zalloc(1 << 20), 1 << 20);
    struct wire_pb_produce_log_req_for_bucket bucket = {.bucket_id = 3, .records = wire_bytes_of(records)};
    struct wire_produce_log_request request = {.acks = -1, .buckets_req = &bucket, .buckets_req_count = 1};
    struct wire_out out = {0};
    MUST(wire_message_encode(&out, &wire_produce_log_request_desc, &request, &err));
    struct slice body;
    assert_int_equal(wire_out_slices(&out, &body, 1), 1);
    struct wire_produce_log_request got;
    MUST(wire_decode(&wire_produce_log_request_desc, body, &arena, &got, &err));
    assert_int_equal(got.acks, -1);
    struct slice borrowed = got.buckets_req[0].records.bytes;
    assert_int_equal(borrowed.len, records.len);
    assert_true(borrowed.ptr > body.ptr && borrowed.ptr + borrowed.len <= body.ptr + body.len);
    assert_true(arena.total_bytes <= ARENA_BLOCK_BYTES);
    wire_out_deinit(&out);
    mem_free((void *)(uintptr_t)records.ptr);
    arena_deinit(&arena);
}

static void depth_is_bounded(void **state)
{
    (void)state;
    struct err err = {0};
    enum { PREDICATES = WIRE_DEPTH_MAX / 2 + 2 }; /* each is two messages deep: the predicate and its compound */
    struct wire_pb_predicate predicates[PREDICATES];
    struct wire_pb_compound_predicate compounds[PREDICATES];
    memset(predicates, 0, sizeof predicates);
    memset(compounds, 0, sizeof compounds);
    for (size_t i = 1; i < PREDICATES; i++) {
        compounds[i] = (struct wire_pb_compound_predicate){.children = &predicates[i - 1], .children_count = 1};
        predicates[i].compound = &compounds[i];
    }
    struct wire_pb_leaf_predicate leaf = {0};
    for (size_t depth = 0; depth < 2 * PREDICATES; depth++) {
        predicates[0].leaf = depth % 2 ? &leaf : NULL;
        struct arena arena = {0};
        struct wire_out out = {0};
        struct slice body;
        MUST(wire_message_encode(&out, &wire_pb_predicate_desc, &predicates[depth / 2], &err));
        assert_int_equal(wire_out_slices(&out, &body, 1), 1);
        struct wire_pb_predicate got;
        enum err_code want = depth <= WIRE_DEPTH_MAX ? OK : ERR_LIMIT;
        assert_int_equal(wire_decode(&wire_pb_predicate_desc, body, &arena, &got, &err), want);
        wire_out_deinit(&out);
        arena_deinit(&arena);
    }
}

/* A body of count times the two bytes of an empty element. */
static enum err_code decode_empty_elements(const struct wire_desc *desc, char tag, size_t count, size_t *memory)
{
    struct arena arena = {0};
    uint8_t *bytes = mem_zalloc(count * 2);
    for (size_t i = 0; i < count; i++)
        bytes[2 * i] = (uint8_t)tag;
    _Alignas(16) char message[512];
    enum err_code code = decode(desc, slice_of(bytes, count * 2), message, &arena);
    *memory = arena.total_bytes;
    mem_free(bytes);
    arena_deinit(&arena);
    return code;
}

static void a_small_body_cannot_take_much_memory(void **state)
{
    (void)state;
    size_t memory;
    size_t fit = WIRE_DECODE_BYTES_BASE / (sizeof(struct wire_pb_table_metadata) - 2 * WIRE_DECODE_BYTES_FACTOR);
    assert_int_equal(decode_empty_elements(&wire_metadata_response_desc, 0x1a, fit, &memory), ERR_CORRUPT_MESSAGE);
    assert_true(memory > 0);
    assert_int_equal(decode_empty_elements(&wire_metadata_response_desc, 0x1a, fit + 1, &memory), ERR_LIMIT);
    assert_int_equal(memory, 0);
    assert_int_equal(decode_empty_elements(&wire_metadata_response_desc, 0x1a, 1 << 20, &memory), ERR_LIMIT);
    assert_int_equal(memory, 0);
}

static void no_body_takes_more_than_the_bound(void **state)
{
    (void)state;
    size_t memory;
    size_t most = WIRE_DECODE_BYTES_MAX / sizeof(struct slice);
    assert_int_equal(decode_empty_elements(&wire_list_databases_response_desc, 0x0a, most + 1, &memory), ERR_LIMIT);
    assert_int_equal(memory, 0);
}

static void an_inner_message_that_comes_again_takes_the_place_of_the_first(void **state)
{
    (void)state;
    size_t memory; /* PbHeartbeatReqForTable.lake_tiering_stats, empty; what is required is missing behind it */
    assert_int_equal(decode_empty_elements(&wire_pb_heartbeat_req_for_table_desc, 0x22, 100000, &memory),
                     ERR_CORRUPT_MESSAGE);
    assert_true(memory == ARENA_BLOCK_BYTES);
}

static void a_dump_is_one_line_of_json(void **state)
{
    (void)state;
    struct wire_pb_produce_log_req_for_bucket bucket = {.bucket_id = 3,
                                                        .records = wire_bytes_of(SLICE("\x01\x02\xff"))};
    WIRE_SET(&bucket, partition_id, INT64_MIN);
    WIRE_SET(&bucket, original_partition_name, SLICE("a\"\\\n\xc3\xa9"));
    struct buf text = {0};
    wire_dump(&text, &wire_pb_produce_log_req_for_bucket_desc, &bucket, 2);
    assert_slice_equal(buf_view(&text),
                       SLICE("{\"partition_id\":\"-9223372036854775808\",\"bucket_id\":3,\"records\":\"0102...\","
                             "\"original_partition_name\":\"a\\\"\\\\\\n\xc3\xa9\"}"));
    buf_deinit(&text);
}

TESTS("wire.pb", TEST(lists_of_integers_are_read_packed_and_unpacked),
      TEST(an_empty_packed_list_differs_from_an_absent_one), TEST(unknown_fields_of_every_wire_type_are_skipped),
      TEST(malformed_bodies_are_refused), TEST(the_text_of_a_refusal_names_the_field),
      TEST(the_last_of_two_values_counts), TEST(records_are_borrowed_from_the_frame), TEST(depth_is_bounded),
      TEST(a_small_body_cannot_take_much_memory), TEST(no_body_takes_more_than_the_bound),
      TEST(an_inner_message_that_comes_again_takes_the_place_of_the_first), TEST(a_dump_is_one_line_of_json))
