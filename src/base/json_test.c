#include "base/json.h"
#include "lib/test.h"

static void strings_are_escaped_as_jackson_does(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *json;
    } cases[] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
        {"\b\t\n\v\f\r\x1f\x7f", "\"\\b\\t\\n\\u000B\\f\\r\\u001F\x7f\""},
        {"\xe4\xb8\xad\xf0\x9f\x98\x80", "\"\xe4\xb8\xad\xf0\x9f\x98\x80\""},
        {"a\xff\xc3", "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = {0};
        json_put_string(&out, slice_str(cases[i].text));
        assert_slice_equal(buf_view(&out), slice_str(cases[i].json));
        buf_deinit(&out);
    }
    struct buf out = {0};
    json_put_string(&out, slice_of("\0x", 2));
    assert_slice_equal(buf_view(&out), SLICE("\"\\u0000x\""));
    buf_deinit(&out);
}

TESTS("base.json", TEST(strings_are_escaped_as_jackson_does))
