/* Durations as Java's side of Fluss writes them: a number, perhaps blanks, a unit; without one it is milliseconds. */
#include "meta/table/table.h"

struct unit {
    const char *names; /* '|' between and around them */
    int64_t numerator; /* of a millisecond */
    int64_t divisor;
};

static const struct unit units[] = {
    {"||ms|milli|millis|millisecond|milliseconds|", 1, 1},
    {"|s|sec|secs|second|seconds|", 1000, 1},
    {"|m|min|minute|minutes|", 60000, 1},
    {"|h|hour|hours|", 3600000, 1},
    {"|d|day|days|", 86400000, 1},
    {"|us|\xc2\xb5s|micro|micros|microsecond|microseconds|", 1, 1000},
    {"|ns|nano|nanos|nanosecond|nanoseconds|", 1, 1000000},
};

#define UNIT_BYTES_MAX 16

static struct slice trim(struct slice text)
{
    while (text.len && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = slice_of(text.ptr + 1, text.len - 1);
    while (text.len && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

static const struct unit *find_unit(struct slice name)
{
    char quoted[UNIT_BYTES_MAX + 3] = "|";
    if (name.len > UNIT_BYTES_MAX || memchr(name.ptr, '|', name.len))
        return NULL;
    for (size_t i = 0; i < name.len; i++)
        quoted[1 + i] = (char)(name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? name.ptr[i] + 32 : name.ptr[i]);
    quoted[1 + name.len] = '|';
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (strstr(units[i].names, quoted))
            return &units[i];
    return NULL;
}

bool duration_from_text(struct slice text, int64_t *ms)
{
    text = trim(text);
    if (slice_is(text, "-1")) { /* "never", in the options that know it */
        *ms = -1;
        return true;
    }
    size_t digits = 0;
    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9')
        digits++;
    int64_t number;
    if (!digits || !slice_to_i64(slice_of(text.ptr, digits), &number))
        return false;
    const struct unit *unit = find_unit(trim(slice_of(text.ptr + digits, text.len - digits)));
    int64_t product;
    if (!unit || __builtin_mul_overflow(number, unit->numerator, &product))
        return false;
    *ms = product / unit->divisor;
    return true;
}
