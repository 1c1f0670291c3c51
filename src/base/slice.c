#include "base/slice.h"

int slice_compare(struct slice a, struct slice b)
{
    size_t common = MIN(a.len, b.len);
    int order = common ? memcmp(a.ptr, b.ptr, common) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

bool slice_starts_with(struct slice s, struct slice prefix)
{
    return s.len >= prefix.len && slice_equal(slice_of(s.ptr, prefix.len), prefix);
}

bool slice_ends_with(struct slice s, struct slice suffix)
{
    return s.len >= suffix.len && slice_equal(slice_of(s.ptr + s.len - suffix.len, suffix.len), suffix);
}

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

bool slice_equal_nocase(struct slice a, struct slice b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.ptr[i]) != lower(b.ptr[i]))
            return false;
    return true;
}

bool slice_to_i64(struct slice s, int64_t *out)
{
    bool negative = s.len > 0 && s.ptr[0] == '-';
    uint64_t value = 0, most = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    size_t i = negative;
    if (i == s.len)
        return false;
    for (; i < s.len; i++) {
        unsigned digit = (unsigned)s.ptr[i] - '0';
        if (digit > 9 || value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

size_t slice_distance(struct slice a, struct slice b)
{
    size_t row[SLICE_DISTANCE_MAX + 1];
    if (a.len > SLICE_DISTANCE_MAX || b.len > SLICE_DISTANCE_MAX)
        return MAX(a.len, b.len);
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t replaced = diagonal + (a.ptr[i - 1] != b.ptr[j - 1]);
            diagonal = row[j];
            row[j] = MIN(replaced, MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[b.len];
}

size_t slice_utf8_sequence(struct slice s)
{
    if (s.len == 0)
        return 0;
    const uint8_t *p = s.ptr;
    uint8_t c = p[0];
    size_t len = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (len == 0 || len > s.len)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if (len == 3 && ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] >= 0xa0)))
        return 0;
    if (len == 4 && ((c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] >= 0x90)))
        return 0;
    return len;
}

#define HIGH_BITS UINT64_C(0x8080808080808080)

static uint64_t eight_at(struct slice s, size_t i)
{
    uint64_t eight;
    memcpy(&eight, s.ptr + i, 8);
    return eight;
}

bool slice_is_ascii(struct slice s)
{
    uint64_t all = 0;
    size_t i = 0;
    for (; i + 8 <= s.len; i += 8)
        all |= eight_at(s, i);
    for (; i < s.len; i++)
        all |= s.ptr[i];
    return !(all & HIGH_BITS);
}

bool slice_is_utf8(struct slice s)
{
    for (size_t i = 0; i < s.len;) {
        if (i + 8 <= s.len && !(eight_at(s, i) & HIGH_BITS)) {
            i += 8;
            continue;
        }
        size_t len = slice_utf8_sequence(slice_of(s.ptr + i, s.len - i));
        if (len == 0)
            return false;
        i += len;
    }
    return true;
}

size_t slice_utf8_length(struct slice s)
{
    size_t count = 0;
    for (size_t i = 0; i < s.len; i++)
        count += (s.ptr[i] & 0xc0) != 0x80;
    return count;
}

struct slice slice_trim(struct slice s)
{
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

bool slice_list_next(struct slice *rest, struct slice *item)
{
    if (!rest->len)
        return false;
    const uint8_t *comma = memchr(rest->ptr, ',', rest->len);
    size_t len = comma ? (size_t)(comma - rest->ptr) : rest->len, step = comma ? len + 1 : len;
    *item = slice_trim(slice_of(rest->ptr, len));
    *rest = slice_of(rest->ptr + step, rest->len - step);
    return true;
}
