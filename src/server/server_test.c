/* The server as a whole, over its sockets. */
#include "server/server.h"

#include "lib/raw_client.h"
#include "lib/server_bed.h"

static struct err err;

#define TABLE_JSON                                                                               \
    "{\"version\":1,\"schema\":{\"version\":1,\"columns\":["                                     \
    "{\"name\":\"id\",\"data_type\":{\"type\":\"INTEGER\",\"nullable\":false},\"id\":0},"        \
    "{\"name\":\"name\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}],\"highest_field_id\":1}," \
    "\"partition_key\":[],\"bucket_key\":[],\"bucket_count\":3,\"properties\":{},\"custom_properties\":{}}"

#define SASL_OPTIONS                                                                                           \
    "bind.listeners=FLUSS://127.0.0.1:0,CLIENT://127.0.0.1:0", "security.protocol.map=CLIENT:SASL",            \
        "security.sasl.enabled.mechanisms=PLAIN",                                                              \
        "security.sasl.plain.jaas.config=org.apache.fluss.security.auth.sasl.plain.PlainLoginModule required " \
        "user_admin=\"admin-secret\" user_alice=\"alice-secret\";"

/* One request to the HTTP listener; the whole answer. */
static void http_get(struct server_bed *bed, const char *path, struct buf *out)
{
    struct raw raw;
    struct buf request = {0};
    raw_dial(&raw, server_bed_port(bed, "HTTP"));
    buf_printf(&request, "GET %s HTTP/1.1\r\nHost: weir\r\nConnection: close\r\n\r\n", path);
    raw_send_bytes(&raw, buf_view(&request));
    raw_receive_rest(&raw, out);
    buf_deinit(&request);
    raw_close(&raw);
}

static void expect_metric(struct server_bed *bed, const char *line)
{
    struct buf out = {0};
    http_get(bed, "/metrics", &out);
    if (!strstr(buf_cstr(&out), line))
        fail_msg("no line %s in\n%s", line, buf_cstr(&out));
    buf_deinit(&out);
}

static enum err_code database_exists(struct raw *raw)
{
    struct wire_database_exists_request request = {.database_name = SLICE("fluss")};
    struct wire_database_exists_response response;
    return raw_call(raw, WIRE_DATABASE_EXISTS, &request, &response, &err);
}

static enum err_code authenticate(struct raw *raw, const char *protocol, struct slice token)
{
    struct wire_authenticate_request request = {.protocol = slice_str(protocol), .token = token};
    struct wire_authenticate_response response = {0};
    enum err_code code = raw_call(raw, WIRE_AUTHENTICATE, &request, &response, &err);
    if (code == OK)
        assert_false(response.has_challenge);
    return code;
}

static int64_t create_table(struct raw *raw, const char *name)
{
    struct wire_create_table_request create = {.table_path = {SLICE("fluss"), slice_str(name)},
                                               .table_json = SLICE(TABLE_JSON)};
    struct wire_create_table_response created;
    struct wire_get_table_info_request get = {.table_path = create.table_path};
    struct wire_get_table_info_response info;
    MUST(raw_call(raw, WIRE_CREATE_TABLE, &create, &created, &err));
    MUST(raw_call(raw, WIRE_GET_TABLE_INFO, &get, &info, &err));
    return info.table_id;
}

/* A fetch of an empty bucket that waits for a minute. */
static void send_long_poll(struct raw *raw, int64_t table_id)
{
    struct wire_pb_fetch_log_req_for_bucket bucket = {.bucket_id = 1, .max_fetch_bytes = 1 << 20};
    struct wire_pb_fetch_log_req_for_table table = {
        .table_id = table_id, .buckets_req = &bucket, .buckets_req_count = 1};
    struct wire_fetch_log_request request = {.follower_server_id = -1,
                                             .max_bytes = 1 << 20,
                                             .tables_req = &table,
                                             .tables_req_count = 1,
                                             .max_wait_ms = 60000,
                                             .has_max_wait_ms = true,
                                             .min_bytes = 1,
                                             .has_min_bytes = true};
    raw_send(raw, WIRE_FETCH_LOG, &request);
}

static void every_listener_is_told_and_answers(void **state)
{
    (void)state;
    struct server_bed bed;
    struct raw raw;
    struct buf out = {0};
    const char *const options[] = {"bind.listeners=FLUSS://127.0.0.1:0,OTHER://127.0.0.1:0", NULL};
    server_bed_start(&bed, options);
    static const char *const names[] = {"FLUSS", "OTHER"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        raw_dial(&raw, server_bed_port(&bed, names[i]));
        MUST(database_exists(&raw));
        raw_close(&raw);
    }
    http_get(&bed, "/readyz", &out);
    assert_true(slice_ends_with(buf_view(&out), SLICE("ready\n")));
    buf_deinit(&out);
    server_bed_stop(&bed);
}

static void http_can_be_left_away(void **state)
{
    (void)state;
    struct server_bed bed;
    const char *const options[] = {"weir.http.listen=", NULL};
    server_bed_start(&bed, options);
    assert_null(strstr(buf_cstr(&bed.addresses), "HTTP"));
    server_bed_stop(&bed);
}

static void a_taken_http_port_is_refused_by_its_name(void **state)
{
    (void)state;
    struct server_bed first, second;
    char option[64];
    const char *const options[] = {option, NULL};
    server_bed_start(&first, NULL);
    snprintf(option, sizeof option, "weir.http.listen=127.0.0.1:%u", server_bed_port(&first, "HTTP"));
    MUST_FAIL(ERR_PORT_TAKEN, server_bed_try(&second, options, &err));
    assert_non_null(strstr(err.text, "weir.http.listen"));
    conf_destroy(second.conf);
    server_bed_stop(&first);
}

static void requests_and_tables_are_counted(void **state)
{
    (void)state;
    struct server_bed bed;
    struct raw raw;
    struct wire_get_table_info_request get = {.table_path = {SLICE("fluss"), SLICE("none")}};
    struct wire_get_table_info_response info;
    server_bed_start(&bed, NULL);
    raw_dial(&raw, server_bed_port(&bed, "FLUSS"));
    create_table(&raw, "t");
    MUST_FAIL(ERR_TABLE_NOT_EXIST, raw_call(&raw, WIRE_GET_TABLE_INFO, &get, &info, &err));
    expect_metric(&bed, "\nfluss_tabletserver_request_totalTimeMs_count{request=\"createTable\"} 1\n");
    expect_metric(&bed, "\nfluss_tabletserver_request_totalTimeMs_count{request=\"getTableInfo\"} 2\n");
    expect_metric(&bed, "\nfluss_tabletserver_request_errorsPerSecond{request=\"createTable\"} 0.000\n");
    expect_metric(&bed, "\nfluss_coordinator_tableCount 1\n");
    expect_metric(&bed, "\nfluss_tabletserver_leaderCount 3\n");
    expect_metric(&bed, "\nweir_network_connections 1\n");
    expect_metric(&bed, "_log_endOffset{database=\"fluss\",table=\"t\",bucket=\"2\"} 0\n");
    struct wire_drop_table_request drop = {.table_path = {SLICE("fluss"), SLICE("t")}};
    struct wire_drop_table_response dropped;
    MUST(raw_call(&raw, WIRE_DROP_TABLE, &drop, &dropped, &err));
    expect_metric(&bed, "\nfluss_coordinator_tableCount 0\n");
    struct buf out = {0};
    http_get(&bed, "/metrics", &out);
    assert_null(strstr(buf_cstr(&out), "table=\"t\""));
    assert_null(strstr(buf_cstr(&out), "errorsPerSecond{request=\"getTableInfo\"} 0.000\n"));
    buf_deinit(&out);
    raw_close(&raw);
    server_bed_stop(&bed);
}

static void a_sasl_listener_serves_nobody_before_the_login(void **state)
{
    (void)state;
    struct server_bed bed;
    struct raw raw;
    const char *const options[] = {SASL_OPTIONS, NULL};
    server_bed_start(&bed, options);
    raw_dial(&raw, server_bed_port(&bed, "CLIENT"));
    struct wire_api_versions_request ask = {.client_software_name = SLICE("test"),
                                            .client_software_version = SLICE("1")};
    struct wire_api_versions_response versions;
    MUST(raw_call(&raw, WIRE_API_VERSIONS, &ask, &versions, &err));
    bool listed = false;
    for (size_t i = 0; i < versions.api_versions_count; i++)
        listed |= versions.api_versions[i].api_key == WIRE_AUTHENTICATE;
    assert_true(listed);
    MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, database_exists(&raw));
    MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, authenticate(&raw, "PLAIN", SLICE("\0admin\0wrong")));
    MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, authenticate(&raw, "PLAIN", SLICE("\0nobody\0admin-secret")));
    MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, authenticate(&raw, "PLAIN", SLICE("")));
    MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, authenticate(&raw, "PLAINTEXT", SLICE("\0admin\0admin-secret")));
    MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, authenticate(&raw, "SCRAM-SHA-256", SLICE("\0admin\0admin-secret")));
    MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, database_exists(&raw));
    MUST(authenticate(&raw, "PLAIN", SLICE("\0admin\0admin-secret")));
    MUST(database_exists(&raw));
    MUST(authenticate(&raw, "PLAIN", SLICE(""))); /* the Rust client echoes a challenge */
    MUST(database_exists(&raw));
    raw_close(&raw);
    raw_dial(&raw, server_bed_port(&bed, "CLIENT")); /* the login was that connection's */
    MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, database_exists(&raw));
    raw_close(&raw);
    server_bed_stop(&bed);
}

static void a_plaintext_listener_knows_no_login(void **state)
{
    (void)state;
    struct server_bed bed;
    struct raw raw;
    const char *const options[] = {SASL_OPTIONS, NULL};
    server_bed_start(&bed, options);
    raw_dial(&raw, server_bed_port(&bed, "FLUSS"));
    MUST(database_exists(&raw));
    MUST(authenticate(&raw, "PLAINTEXT", SLICE("")));
    MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, authenticate(&raw, "PLAIN", SLICE("\0admin\0admin-secret")));
    MUST(database_exists(&raw));
    raw_close(&raw);
    server_bed_stop(&bed);
}

static void secrets_are_in_no_answer_and_no_trace(void **state)
{
    (void)state;
    struct server_bed bed;
    struct raw raw;
    struct buf traced = {0};
    const char *const options[] = {SASL_OPTIONS, NULL};
    test_captured_take(&traced);
    buf_reset(&traced);
    server_bed_start(&bed, options);
    raw_dial(&raw, server_bed_port(&bed, "CLIENT"));
    static const struct slice tokens[] = {SLICE("\0admin\0my-secret"), SLICE("my-secret"), SLICE("\0my-secret\0x")};
    for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
        MUST_FAIL(ERR_AUTHENTICATE_EXCEPTION, authenticate(&raw, "PLAIN", tokens[i]));
        assert_null(strstr(err.text, "secret"));
    }
    raw_send_bytes(&raw, SLICE("\0\0\0\x13\x04\x0e\0\0\0\0\0\x07\x0a\x7fmy-secret")); /* no message */
    struct wire_authenticate_response response;
    int32_t request_id;
    MUST_FAIL(ERR_CORRUPT_MESSAGE, raw_receive(&raw, WIRE_AUTHENTICATE, &request_id, &response, &err));
    assert_null(strstr(err.text, "secret"));
    MUST(authenticate(&raw, "PLAIN", SLICE("\0alice\0alice-secret")));
    raw_close(&raw);
    server_bed_stop(&bed);
    test_captured_take(&traced);
    assert_non_null(strstr(buf_cstr(&traced), "login_refused"));
    assert_non_null(strstr(buf_cstr(&traced), "user=alice"));
    assert_null(strstr(buf_cstr(&traced), "secret"));
    buf_deinit(&traced);
}

static void a_stop_ends_long_polls_and_silent_connections_at_once(void **state)
{
    (void)state;
    struct server_bed bed;
    struct raw polls[8], silent[8];
    server_bed_start(&bed, NULL);
    raw_dial(&silent[0], server_bed_port(&bed, "FLUSS"));
    int64_t table_id = create_table(&silent[0], "t");
    raw_send_bytes(&silent[0], SLICE("\0\0\1")); /* half a length */
    for (size_t i = 1; i < ARRAY_LEN(silent); i++)
        raw_dial(&silent[i], server_bed_port(&bed, "FLUSS"));
    for (size_t i = 0; i < ARRAY_LEN(polls); i++) {
        raw_dial(&polls[i], server_bed_port(&bed, "FLUSS"));
        MUST(database_exists(&polls[i]));
        send_long_poll(&polls[i], table_id);
    }
    os_sleep_ns(os_real(), 50000000);
    int64_t begun_ns = os_mono_ns(os_real());
    server_bed_stop(&bed);
    assert_true(os_mono_ns(os_real()) - begun_ns < 2500000000);
    for (size_t i = 0; i < ARRAY_LEN(polls); i++) {
        struct wire_fetch_log_response response;
        int32_t request_id;
        MUST(raw_receive(&polls[i], WIRE_FETCH_LOG, &request_id, &response, &err));
        assert_true(raw_is_closed(&polls[i]));
        assert_true(raw_is_closed(&silent[i]));
        raw_close(&polls[i]);
        raw_close(&silent[i]);
    }
}

TESTS("server", TEST(every_listener_is_told_and_answers), TEST(http_can_be_left_away),
      TEST(a_taken_http_port_is_refused_by_its_name), TEST(requests_and_tables_are_counted),
      TEST(a_sasl_listener_serves_nobody_before_the_login), TEST(a_plaintext_listener_knows_no_login),
      TEST(secrets_are_in_no_answer_and_no_trace), TEST(a_stop_ends_long_polls_and_silent_connections_at_once))
