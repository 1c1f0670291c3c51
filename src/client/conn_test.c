/* Handshake, answers, errors and cut connections, against a scripted peer. */
#include "client/client_int.h"
#include "lib/peer.h"
#include "lib/test.h"

static struct err err;

static void tell_nodes(struct peer *peer, const struct wire_request_header *header)
{
    struct wire_pb_server_node node = {.node_id = 0, .host = SLICE("nowhere"), .port = 1};
    struct wire_metadata_response response = {
        .coordinator_server = &node, .tablet_servers = &node, .tablet_servers_count = 1};
    peer_reply(peer, header, &response);
}

static struct client *open_client(struct peer *peer)
{
    struct client *client = NULL;
    peer_start(peer);
    struct client_options options = {.os = os_real(), .socket = peer->client, .timeout_ms = 15000};
    MUST(client_open(&options, &client, &err));
    return client;
}

static void done(struct client *client, struct peer *peer)
{
    client_close(client);
    peer_stop(peer);
}

static void serve_exists(struct peer *peer, const struct wire_request_header *header, struct slice body)
{
    if (header->key == WIRE_GET_METADATA) {
        tell_nodes(peer, header);
        return;
    }
    struct wire_database_exists_request request;
    peer_decode(peer, header, body, &request);
    struct wire_database_exists_response response = {.exists = slice_is(request.database_name, "fluss")};
    peer_reply(peer, header, &response);
}

static void a_call_brings_its_answer(void **state)
{
    (void)state;
    struct peer peer = {.handle = serve_exists};
    struct client *client = open_client(&peer);
    bool exists = false;
    MUST(client_database_exists(client, SLICE("fluss"), &exists, &err));
    assert_true(exists);
    MUST(client_database_exists(client, SLICE("other"), &exists, &err));
    assert_false(exists);
    done(client, &peer);
}

static void the_highest_common_version_is_taken(void **state)
{
    (void)state;
    const struct wire_pb_api_version theirs[] = {{WIRE_GET_METADATA, 0, 0},
                                                 {WIRE_PUT_KV, 0, 1},
                                                 {WIRE_LOOKUP, 1, 9},
                                                 {WIRE_PRODUCE_LOG, 7, 9},
                                                 {4711, 0, 0},
                                                 {-5, 0, 0},
                                                 {WIRE_FETCH_LOG, -3, 0},
                                                 {WIRE_API_VERSIONS, 0, 0}};
    struct peer peer = {.handle = serve_exists, .versions = theirs, .version_count = ARRAY_LEN(theirs)};
    struct client *client = open_client(&peer);
    struct conn *conn = client->nodes.ptr[0]->conn;
#define VERSION(key) conn->versions[wire_api_find(key) - wire_apis]
    assert_int_equal(VERSION(WIRE_PUT_KV), 1);
    assert_int_equal(VERSION(WIRE_LOOKUP), 1);
    assert_int_equal(VERSION(WIRE_FETCH_LOG), 0);
    assert_int_equal(VERSION(WIRE_PRODUCE_LOG), -1); /* nothing in common */
    assert_int_equal(VERSION(WIRE_SCAN_KV), -1);
#undef VERSION
    bool serves = true;
    MUST(client_serves(client, CLIENT_TABLET, WIRE_SCAN_KV, &serves, &err));
    assert_false(serves);
    done(client, &peer);
}

/* Lets in alice with "secret" and nobody else, and serves nobody who is not in. */
static void let_in(struct peer *peer, const struct wire_request_header *header, struct slice body)
{
    bool *in = peer->arg;
    if (header->key == WIRE_AUTHENTICATE) {
        struct wire_authenticate_request request;
        struct wire_authenticate_response response = {.has_challenge = true};
        peer_decode(peer, header, body, &request);
        *in = slice_is(request.protocol, "PLAIN") && slice_equal(request.token, SLICE("\0alice\0secret"));
        if (*in)
            peer_reply(peer, header, &response);
        else
            peer_error(peer, header, ERR_AUTHENTICATE_EXCEPTION, "no");
    } else if (!*in) {
        peer_error(peer, header, ERR_AUTHENTICATE_EXCEPTION, "first log in");
    } else {
        tell_nodes(peer, header);
    }
}

static void the_client_logs_in_before_all_else(void **state)
{
    (void)state;
    static const struct {
        const char *user, *password;
        enum err_code code;
    } cases[] = {{"alice", "secret", OK},
                 {"alice", "wrong", ERR_AUTHENTICATE_EXCEPTION},
                 {"alice", NULL, ERR_AUTHENTICATE_EXCEPTION},
                 {NULL, NULL, ERR_AUTHENTICATE_EXCEPTION}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool in = false;
        struct peer peer = {.handle = let_in, .arg = &in};
        struct client *client = NULL;
        peer_start(&peer);
        struct client_options options = {.os = os_real(),
                                         .socket = peer.client,
                                         .timeout_ms = 15000,
                                         .user = cases[i].user,
                                         .password = cases[i].password};
        if (client_open(&options, &client, &err) != cases[i].code)
            fail_msg("case %zu: %s", i, err.text);
        done(client, &peer);
    }
}

static void a_call_that_is_not_listed_is_refused_by_name(void **state)
{
    (void)state;
    const struct wire_pb_api_version theirs[] = {{WIRE_GET_METADATA, 0, 0}};
    struct peer peer = {.handle = serve_exists, .versions = theirs, .version_count = 1};
    struct client *client = open_client(&peer);
    bool exists;
    MUST_FAIL(ERR_UNSUPPORTED_VERSION, client_database_exists(client, SLICE("fluss"), &exists, &err));
    assert_non_null(strstr(err.text, "does not support DATABASE_EXISTS"));
    done(client, &peer);
}

static void refuse(struct peer *peer, const struct wire_request_header *header, struct slice body)
{
    (void)body;
    if (header->key == WIRE_GET_METADATA)
        tell_nodes(peer, header);
    else
        peer_error(peer, header, ERR_TABLE_NOT_EXIST, "Table 'a.b' does not exist.");
}

static void the_servers_error_keeps_its_code_and_text(void **state)
{
    (void)state;
    struct peer peer = {.handle = refuse};
    struct client *client = open_client(&peer);
    struct client_table *table = NULL;
    MUST_FAIL(ERR_TABLE_NOT_EXIST, client_table_open(client, client_path(SLICE("a"), SLICE("b")), &table, &err));
    assert_string_equal(err.text, "Table 'a.b' does not exist.");
    done(client, &peer);
}

/* Answers the second request of each pair first. */
static void serve_in_pairs(struct peer *peer, const struct wire_request_header *header, struct slice body)
{
    struct wire_request_header *held = peer->arg;
    (void)body;
    if (header->key == WIRE_GET_METADATA) {
        tell_nodes(peer, header);
        return;
    }
    if (!held->key) {
        *held = *header;
        return;
    }
    struct wire_database_exists_response second = {.exists = true};
    struct wire_database_exists_response first = {.exists = false};
    peer_reply(peer, header, &second);
    peer_reply(peer, held, &first);
    held->key = 0;
}

static void answers_out_of_order_find_their_calls(void **state)
{
    (void)state;
    struct wire_request_header held = {0};
    struct peer peer = {.handle = serve_in_pairs, .arg = &held};
    struct client *client = open_client(&peer);
    struct conn *conn = client->nodes.ptr[0]->conn;
    struct call calls[2] = {0};
    struct arena arena = {0};
    for (int i = 0; i < 2; i++) {
        struct wire_database_exists_request request = {SLICE("x")};
        MUST(call_start(&calls[i], conn, WIRE_DATABASE_EXISTS, &request, &err));
    }
    for (int i = 0; i < 2; i++) {
        struct wire_database_exists_response response;
        MUST(call_wait(client, &calls[i], client_limit(client), &err));
        MUST(call_decode(&calls[i], &arena, &response, &err));
        assert_int_equal(response.exists, i);
        call_deinit(&calls[i]);
    }
    arena_deinit(&arena);
    done(client, &peer);
}

static void an_answer_that_nobody_waits_for_is_dropped(void **state)
{
    (void)state;
    struct wire_request_header held = {0};
    struct peer peer = {.handle = serve_in_pairs, .arg = &held};
    struct client *client = open_client(&peer);
    struct conn *conn = client->nodes.ptr[0]->conn;
    struct call late = {0};
    struct wire_database_exists_request request = {SLICE("x")};
    MUST(call_start(&late, conn, WIRE_DATABASE_EXISTS, &request, &err));
    MUST_FAIL(ERR_DEADLINE, call_wait(client, &late, os_mono_ns(os_real()) + 1000000, &err));
    assert_non_null(strstr(err.text, "DATABASE_EXISTS"));
    call_deinit(&late);
    bool exists = false;
    MUST(client_database_exists(client, SLICE("y"), &exists, &err));
    assert_true(exists);
    done(client, &peer);
}

static void the_clients_deadline_bounds_a_call(void **state)
{
    (void)state;
    struct wire_request_header held = {0};
    struct peer peer = {.handle = serve_in_pairs, .arg = &held};
    struct client *client = open_client(&peer);
    (void)client_deadline(client, os_mono_ns(os_real()) + 2000000);
    bool exists;
    MUST_FAIL(ERR_DEADLINE, client_database_exists(client, SLICE("x"), &exists, &err));
    done(client, &peer);
}

static void raw_answer(struct peer *peer, const struct wire_request_header *header, struct slice body)
{
    (void)body;
    if (header->key == WIRE_GET_METADATA)
        tell_nodes(peer, header);
    else
        peer_raw(peer, *(const struct slice *)peer->arg);
}

/* What the peer sends in place of an answer, and the error that the caller and all later calls get. */
static void bytes_that_are_no_answer_end_the_connection(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct slice bytes;
        enum err_code want;
    } cases[] = {
        {"a request id that was never sent", SLICE("\0\0\0\x05\0\x7f\0\0\0"), ERR_CORRUPT_MESSAGE},
        {"a negative request id", SLICE("\0\0\0\x05\0\xff\xff\xff\xff"), ERR_CORRUPT_MESSAGE},
        {"an unknown status", SLICE("\0\0\0\x05\x09\0\0\0\x02"), ERR_CORRUPT_MESSAGE},
        {"a negative length", SLICE("\xff\xff\xff\xff"), ERR_CORRUPT_MESSAGE},
        {"a length beyond the limit", SLICE("\x7f\xff\xff\xff"), ERR_LIMIT},
        {"too short", SLICE("\0\0\0\x02\0\0"), ERR_CORRUPT_MESSAGE},
        {"a failure of the server", SLICE("\0\0\0\x0b\x02\x08\x0c\x12\x06going "), ERR_NOT_LEADER_OR_FOLLOWER},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice bytes = cases[i].bytes;
        struct peer peer = {.handle = raw_answer, .arg = &bytes};
        struct client *client = open_client(&peer);
        bool exists;
        for (int k = 0; k < 2; k++) {
            enum err_code code = client_database_exists(client, SLICE("x"), &exists, &err);
            if (code != cases[i].want)
                fail_msg("%s: %s", cases[i].name, err_name(code));
        }
        done(client, &peer);
    }
}

static void a_body_that_is_no_message_fails_the_call_alone(void **state)
{
    (void)state;
    struct slice bytes = SLICE("\0\0\0\x05\0\0\0\0\x02"); /* the required field is not there */
    struct peer peer = {.handle = raw_answer, .arg = &bytes};
    struct client *client = open_client(&peer);
    bool exists = false;
    MUST_FAIL(ERR_CORRUPT_MESSAGE, client_database_exists(client, SLICE("x"), &exists, &err));
    assert_false(client->nodes.ptr[0]->conn->closed);
    done(client, &peer);
}

struct cut {
    size_t at;
    bool whole;
};

static void cut_answer(struct peer *peer, const struct wire_request_header *header, struct slice body)
{
    static const uint8_t answer[] = {0, 0, 0, 7, 0, 0, 0, 0, 2, 8, 1};
    struct cut *cut = peer->arg;
    (void)body;
    if (header->key == WIRE_GET_METADATA) {
        tell_nodes(peer, header);
        return;
    }
    __atomic_store_n(&cut->whole, cut->at == sizeof answer, __ATOMIC_RELAXED);
    peer_raw(peer, slice_of(answer, cut->at));
    peer_close(peer);
}

static void a_connection_cut_at_any_byte_is_closed_or_answered(void **state)
{
    (void)state;
    struct cut cut = {0};
    for (; !cut.whole; cut.at++) {
        struct peer peer = {.handle = cut_answer, .arg = &cut};
        struct client *client = open_client(&peer);
        bool exists = false;
        enum err_code code = client_database_exists(client, SLICE("x"), &exists, &err);
        bool whole = __atomic_load_n(&cut.whole, __ATOMIC_RELAXED);
        assert_int_equal(code, whole ? OK : ERR_CLOSED);
        assert_int_equal(exists, whole);
        MUST_FAIL(ERR_CLOSED, client_database_exists(client, SLICE("x"), &exists, &err));
        done(client, &peer);
    }
    assert_int_equal(cut.at, 12);
}

static void a_peer_that_closes_at_once_is_an_error_of_open(void **state)
{
    (void)state;
    struct os_socket *pair[2];
    struct client *client = NULL;
    MUST(os_socket_pair(os_real(), pair, &err));
    os_socket_close(pair[1]);
    struct client_options options = {.os = os_real(), .socket = pair[0]};
    MUST_FAIL(ERR_CLOSED, client_open(&options, &client, &err));
    assert_null(client);
}

static void nobody_listening_is_unreachable(void **state)
{
    (void)state;
    struct os_socket *listener;
    uint16_t port;
    struct client *client = NULL;
    MUST(os_listen(os_real(), "127.0.0.1", 0, &listener, &port, &err));
    os_socket_close(listener);
    struct client_options options = {.os = os_real(), .host = "127.0.0.1", .port = port};
    MUST_FAIL(ERR_UNREACHABLE, client_open(&options, &client, &err));
}

static void tell_nodes_only(struct peer *peer, const struct wire_request_header *header, struct slice body)
{
    (void)body;
    if (header->key == WIRE_GET_METADATA)
        tell_nodes(peer, header);
}

static void cancel_soon(void *arg)
{
    os_sleep_ns(os_real(), 20000000);
    client_cancel(arg, true);
}

static void a_wait_ends_when_another_thread_cancels_it(void **state)
{
    (void)state;
    struct peer peer = {.handle = tell_nodes_only};
    struct client *client = open_client(&peer);
    struct os_thread *thread;
    bool exists;
    MUST(os_thread_start(os_real(), "cancel", cancel_soon, client, &thread, &err));
    MUST_FAIL(ERR_SHUTTING_DOWN, client_database_exists(client, SLICE("fluss"), &exists, &err));
    os_thread_join(thread);
    MUST_FAIL(ERR_SHUTTING_DOWN, client_database_exists(client, SLICE("fluss"), &exists, &err));
    client_cancel(client, false);
    (void)client_deadline(client, os_mono_ns(os_real()) + 20000000);
    MUST_FAIL(ERR_DEADLINE, client_database_exists(client, SLICE("fluss"), &exists, &err));
    done(client, &peer);
}

TESTS("client.conn", TEST(a_call_brings_its_answer), TEST(a_wait_ends_when_another_thread_cancels_it),
      TEST(the_highest_common_version_is_taken), TEST(the_client_logs_in_before_all_else),
      TEST(a_call_that_is_not_listed_is_refused_by_name), TEST(the_servers_error_keeps_its_code_and_text),
      TEST(answers_out_of_order_find_their_calls), TEST(an_answer_that_nobody_waits_for_is_dropped),
      TEST(the_clients_deadline_bounds_a_call), TEST(bytes_that_are_no_answer_end_the_connection),
      TEST(a_body_that_is_no_message_fails_the_call_alone), TEST(a_connection_cut_at_any_byte_is_closed_or_answered),
      TEST(a_peer_that_closes_at_once_is_an_error_of_open), TEST(nobody_listening_is_unreachable))
