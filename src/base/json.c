#include "base/json.h"

static void put_control(struct buf *out, uint8_t c)
{
    static const char names[] = "btn\0fr"; /* from 8 on; 11 has none */
    char name = c >= 8 && c <= 13 ? names[c - 8] : 0;
    if (name)
        buf_printf(out, "\\%c", name);
    else
        buf_printf(out, "\\u%04X", c);
}

void json_put_string(struct buf *out, struct slice s)
{
    buf_put_u8(out, '"');
    for (size_t i = 0; i < s.len;) {
        struct slice rest = slice_of(s.ptr + i, s.len - i);
        size_t len = slice_utf8_sequence(rest);
        uint8_t c = *rest.ptr;
        if (len == 0) {
            buf_put_slice(out, SLICE("\xef\xbf\xbd"));
            len = 1;
        } else if (c < 0x20) {
            put_control(out, c);
        } else {
            if (c == '"' || c == '\\')
                buf_put_u8(out, '\\');
            buf_put(out, rest.ptr, len);
        }
        i += len;
    }
    buf_put_u8(out, '"');
}
