/* proto/ against what the Java classes say: every message, field, call and error of the golden lists, and none beside
 * them but weir's own. */
#include "lib/test.h"
#include "wire/wire.h"

#include <jansson.h>

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static bool knows(const json_t *line, const char *version)
{
    size_t i;
    json_t *known;
    json_array_foreach(json_object_get(line, "versions"), i,
                       known) if (!strcmp(json_string_value(known), version)) return true;
    return false;
}

static const char *label_name(const struct wire_field *field)
{
    static const char *const names[] = {"required", "optional", "repeated", "repeated"};
    return names[field->label];
}

static const char *type_name(const struct wire_field *field)
{
    static const char *const names[] = {"int32", "int64", "bool", "float", "double", "string", "bytes", "bytes"};
    return field->type == WIRE_MESSAGE ? field->message->name : names[field->type];
}

static const struct wire_field *field_by_number(const struct wire_desc *desc, int64_t number)
{
    for (size_t i = 0; i < desc->field_count; i++)
        if (desc->fields[i].number == number)
            return &desc->fields[i];
    return NULL;
}

/* What 0.9.1 knows is a part of what 1.0.0 knows, so each line may be checked by itself, and the count by the second.
 */
static void check_message(void *arg, struct slice text)
{
    json_t *line = json_loadb((const char *)text.ptr, text.len, 0, NULL);
    const struct wire_desc *desc = wire_desc_find(slice_str(text_of(line, "id")));
    assert_non_null(desc);
    size_t i;
    json_t *want;
    json_array_foreach(json_object_get(line, "fields"), i, want)
    {
        const struct wire_field *field = field_by_number(desc, json_integer_value(json_object_get(want, "number")));
        assert_non_null(field);
        assert_string_equal(field->name, text_of(want, "name"));
        assert_string_equal(label_name(field), text_of(want, "label"));
        assert_string_equal(type_name(field), text_of(want, "type"));
    }
    if (knows(line, "1.0.0")) {
        size_t own = 0; /* weir's numbers are from 1000 */
        for (size_t k = 0; k < desc->field_count; k++)
            own += desc->fields[k].number >= 1000;
        assert_int_equal(desc->field_count, i + own);
        ++*(size_t *)arg;
    }
    json_decref(line);
}

static void messages_are_those_of_the_protocol(void **state)
{
    (void)state;
    size_t count = 0;
    test_each_line("messages", check_message, &count);
    assert_int_equal(wire_desc_count, count);
}

static void fields_of_our_own_are_optional_and_these(void **state)
{
    (void)state;
    struct buf own = {0};
    for (size_t i = 0; i < wire_desc_count; i++)
        for (size_t k = 0; k < wire_descs[i]->field_count; k++) {
            const struct wire_field *field = &wire_descs[i]->fields[k];
            if (field->number < 1000)
                continue;
            assert_int_equal(field->label, WIRE_OPTIONAL);
            buf_printf(&own, "%s.%s ", wire_descs[i]->name, field->name);
        }
    assert_string_equal(buf_cstr(&own), "GetTableInfoResponse.tiering_state GetTableInfoResponse.tiering_error "
                                        "GetTableInfoResponse.lake_row_count GetTableInfoResponse.lake_lag_ms "
                                        "GetTableInfoResponse.tiering_due_ms LakeTieringHeartbeatRequest.max_wait_ms "
                                        "PbHeartbeatReqForTable.failed_text PbPartitionInfo.lake_has_earlier ");
    buf_deinit(&own);
}

static void check_api(void *arg, struct slice text)
{
    json_t *line = json_loadb((const char *)text.ptr, text.len, 0, NULL);
    const struct wire_api *api = wire_api_find((int16_t)json_integer_value(json_object_get(line, "api_key")));
    assert_non_null(api);
    assert_string_equal(api->name, text_of(line, "id"));
    assert_string_equal(api->request->name, text_of(line, "request"));
    assert_string_equal(api->response->name, text_of(line, "response"));
    unsigned role = (json_boolean_value(json_object_get(line, "coordinator")) ? WIRE_ROLE_C : 0) |
                    (json_boolean_value(json_object_get(line, "tablet_server")) ? WIRE_ROLE_T : 0);
    assert_int_equal(api->role, role);
    char range[32];
    snprintf(range, sizeof range, "%d-%d", (int)json_integer_value(json_object_get(line, "min_version")),
             (int)json_integer_value(json_object_get(line, "max_version")));
    char ours[32];
    snprintf(ours, sizeof ours, "%d-%d", api->version_min, api->version_max);
    bool in_new = knows(line, "1.0.0");
    bool in_old = knows(line, "0.9.1-incubating");
    if (in_new) {
        assert_string_equal(ours, range);
        ++*(size_t *)arg;
    }
    if (in_new && in_old)
        assert_string_equal(api->note, "");
    else if (in_old)
        assert_string_equal(api->note + strlen("0.9.1: "), range);
    else
        assert_memory_equal(api->note, "0.9.1: ", strlen("0.9.1: "));
    json_decref(line);
}

static void calls_are_those_of_the_protocol(void **state)
{
    (void)state;
    size_t count = 0;
    test_each_line("api_keys", check_api, &count);
    assert_int_equal(wire_api_count, count);
    for (size_t i = 0; i < wire_api_count; i++)
        assert_int_equal(wire_apis[i].key, WIRE_API_VERSIONS + (int)i);
}

static void unknown_keys_are_not_found(void **state)
{
    (void)state;
    static const int keys[] = {INT16_MIN, -1, 0, 999, 1067, INT16_MAX};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        assert_null(wire_api_find((int16_t)keys[i]));
    assert_string_equal(wire_api_name(999), "UNKNOWN");
    assert_string_equal(wire_api_name(WIRE_FETCH_LOG), "FETCH_LOG");
}

static void check_error(void *arg, struct slice text)
{
    json_t *line = json_loadb((const char *)text.ptr, text.len, 0, NULL);
    int32_t number = (int32_t)json_integer_value(json_object_get(line, "code"));
    enum err_code code = err_from_wire(number);
    assert_int_equal(err_wire(code), number);
    if (code != OK)
        assert_string_equal(err_name(code), text_of(line, "id"));
    else
        assert_string_equal(text_of(line, "id"), "NONE");
    assert_int_equal(code != OK && err_retriable(code), json_boolean_value(json_object_get(line, "retriable")));
    json_decref(line);
    ++*(size_t *)arg;
}

static void errors_are_those_of_the_protocol(void **state)
{
    (void)state;
    size_t lines = 0;
    test_each_line("errors", check_error, &lines);
    size_t ours = 0; /* codes that a number of the protocol leads to, OK among them */
    for (int code = OK; code < ERR_COUNT; code++)
        ours += err_from_wire(err_wire((enum err_code)code)) == (enum err_code)code;
    assert_int_equal(ours, lines);
    assert_int_equal(err_from_wire(75), ERR_UNKNOWN_SERVER_ERROR);
}

TESTS("wire.catalogue", TEST(messages_are_those_of_the_protocol), TEST(fields_of_our_own_are_optional_and_these),
      TEST(calls_are_those_of_the_protocol), TEST(unknown_keys_are_not_found), TEST(errors_are_those_of_the_protocol))
