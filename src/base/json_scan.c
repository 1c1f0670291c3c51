#include "base/json_scan.h"

static bool refuse(struct json_scan *scan, const char *fault)
{
    if (!scan->fault)
        scan->fault = fault;
    return false;
}

static int peek_byte(struct json_scan *scan)
{
    while (scan->at < scan->text.len) {
        uint8_t c = scan->text.ptr[scan->at];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
            return scan->fault ? -1 : c;
        scan->at++;
    }
    return -1;
}

enum json_piece json_scan_peek(struct json_scan *scan)
{
    int c = peek_byte(scan);
    switch (c) {
    case 'n':
        return JSON_NULL;
    case 't':
        return JSON_TRUE;
    case 'f':
        return JSON_FALSE;
    case '"':
        return JSON_STRING;
    case '[':
        return JSON_ARRAY;
    case '{':
        return JSON_OBJECT;
    default:
        return c == '-' || (c >= '0' && c <= '9') ? JSON_NUMBER : JSON_END;
    }
}

static struct slice rest_of(const struct json_scan *scan)
{
    return slice_of(scan->text.ptr + scan->at, scan->text.len - scan->at);
}

bool json_scan_word(struct json_scan *scan)
{
    static const char *const words[] = {"null", "true", "false"};
    (void)peek_byte(scan);
    for (size_t i = 0; i < ARRAY_LEN(words) && !scan->fault; i++) {
        if (slice_starts_with(rest_of(scan), slice_str(words[i]))) {
            scan->at += strlen(words[i]);
            return true;
        }
    }
    return refuse(scan, "null, true or false is expected");
}

static size_t take_digits(struct json_scan *scan)
{
    size_t start = scan->at;
    while (scan->at < scan->text.len && scan->text.ptr[scan->at] >= '0' && scan->text.ptr[scan->at] <= '9')
        scan->at++;
    return scan->at - start;
}

static bool take_if(struct json_scan *scan, const char *any_of)
{
    if (scan->at >= scan->text.len || !scan->text.ptr[scan->at] || !strchr(any_of, scan->text.ptr[scan->at]))
        return false;
    scan->at++;
    return true;
}

bool json_scan_number(struct json_scan *scan, struct slice *text)
{
    if (json_scan_peek(scan) != JSON_NUMBER)
        return refuse(scan, "a number is expected");
    size_t start = scan->at;
    (void)take_if(scan, "-");
    bool zero = scan->at < scan->text.len && scan->text.ptr[scan->at] == '0';
    size_t whole = take_digits(scan);
    bool valid = whole > 0 && (!zero || whole == 1);
    if (take_if(scan, "."))
        valid &= take_digits(scan) > 0;
    if (take_if(scan, "eE")) {
        (void)take_if(scan, "+-");
        valid &= take_digits(scan) > 0;
    }
    if (!valid)
        return refuse(scan, "a number is not of JSON's form");
    *text = slice_of(scan->text.ptr + start, scan->at - start);
    return true;
}

/* ---- strings ---- */

static bool take_hex4(struct json_scan *scan, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t c = scan->at < scan->text.len ? scan->text.ptr[scan->at] : 0, folded = c | 0x20;
        if (c >= '0' && c <= '9')
            *unit = *unit << 4 | (uint32_t)(c - '0');
        else if (folded >= 'a' && folded <= 'f')
            *unit = *unit << 4 | (uint32_t)(folded - 'a' + 10);
        else
            return refuse(scan, "\\u without four hexadecimal digits");
        scan->at++;
    }
    return true;
}

static void put_utf8(struct buf *out, uint32_t point)
{
    if (point < 0x80) {
        buf_put_u8(out, (uint8_t)point);
        return;
    }
    if (point < 0x800) {
        buf_put_u8(out, (uint8_t)(0xc0 | point >> 6));
    } else if (point < 0x10000) {
        buf_put_u8(out, (uint8_t)(0xe0 | point >> 12));
        buf_put_u8(out, (uint8_t)(0x80 | (point >> 6 & 0x3f)));
    } else {
        buf_put_u8(out, (uint8_t)(0xf0 | point >> 18));
        buf_put_u8(out, (uint8_t)(0x80 | (point >> 12 & 0x3f)));
        buf_put_u8(out, (uint8_t)(0x80 | (point >> 6 & 0x3f)));
    }
    buf_put_u8(out, (uint8_t)(0x80 | (point & 0x3f)));
}

static bool take_code_point(struct json_scan *scan, struct buf *out)
{
    uint32_t unit, low;
    if (!take_hex4(scan, &unit))
        return false;
    if (unit >= 0xd800 && unit < 0xe000) {
        if (unit >= 0xdc00 || !take_if(scan, "\\") || !take_if(scan, "u") || !take_hex4(scan, &low) || low < 0xdc00 ||
            low > 0xdfff)
            return refuse(scan, "half a surrogate pair");
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
    put_utf8(out, unit);
    return true;
}

static bool take_escape(struct json_scan *scan, struct buf *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    uint8_t c = scan->at < scan->text.len ? scan->text.ptr[scan->at++] : 0;
    const char *found = c ? strchr(from, c) : NULL;
    if (found) {
        buf_put_u8(out, (uint8_t)to[found - from]);
        return true;
    }
    return c == 'u' ? take_code_point(scan, out) : refuse(scan, "an unknown escape in a string");
}

/* Moves to the end of the plain bytes here; true at the closing quote or a backslash. */
static bool pass_plain(struct json_scan *scan)
{
    for (; scan->at < scan->text.len; scan->at++) {
        uint8_t c = scan->text.ptr[scan->at];
        if (c == '"' || c == '\\')
            return true;
        if (c < 0x20)
            return refuse(scan, "a control character in a string");
    }
    return refuse(scan, "a string without its closing quote");
}

static bool take_escaped(struct json_scan *scan, struct buf *out)
{
    for (;;) {
        size_t start = scan->at;
        if (!pass_plain(scan))
            return false;
        buf_put(out, scan->text.ptr + start, scan->at - start);
        if (scan->text.ptr[scan->at++] == '"')
            return true;
        if (!take_escape(scan, out))
            return false;
    }
}

bool json_scan_string(struct json_scan *scan, struct arena *arena, struct slice *text)
{
    if (json_scan_peek(scan) != JSON_STRING)
        return refuse(scan, "a string is expected");
    size_t start = ++scan->at;
    if (!pass_plain(scan))
        return false;
    struct slice taken = slice_of(scan->text.ptr + start, scan->at - start);
    if (scan->text.ptr[scan->at] == '\\') {
        struct buf out = {0};
        buf_put_slice(&out, taken);
        bool whole = take_escaped(scan, &out);
        taken = whole ? arena_dup(arena, buf_view(&out)) : (struct slice){0};
        buf_deinit(&out);
        if (!whole)
            return false;
    } else {
        scan->at++;
    }
    if (!slice_is_utf8(taken))
        return refuse(scan, "a string is not UTF-8");
    *text = taken;
    return true;
}

/* ---- structure ---- */

bool json_scan_byte(struct json_scan *scan, char byte)
{
    if (peek_byte(scan) != byte)
        return refuse(scan, "a bracket, comma or colon is missing");
    scan->at++;
    return true;
}

bool json_scan_more(struct json_scan *scan, char close, bool *first)
{
    if (peek_byte(scan) == close) {
        scan->at++;
        return false;
    }
    bool started = *first;
    *first = false;
    return started ? !scan->fault : json_scan_byte(scan, ',');
}

bool json_scan_done(struct json_scan *scan)
{
    return peek_byte(scan) == -1 && !scan->fault && scan->at == scan->text.len;
}
