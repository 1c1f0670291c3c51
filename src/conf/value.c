/* The forms of values, and whether one lies in its range. */
#include "conf/conf_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct slice trim(struct slice s)
{
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

struct unit {
    const char *names; /* with a blank before and behind each */
    int64_t factor;
};

static const struct unit size_units[] = {{" b bytes ", 1},
                                         {" k kb kibibytes ", 1 << 10},
                                         {" m mb mebibytes ", 1 << 20},
                                         {" g gb gibibytes ", 1 << 30},
                                         {" t tb tebibytes ", INT64_C(1) << 40}};

/* In nanoseconds, so that "1000000 ns" is a millisecond. */
static const struct unit time_units[] = {{" ns nano nanos nanosecond nanoseconds ", 1},
                                         {" \xc2\xb5s micro micros microsecond microseconds ", 1000},
                                         {" ms milli millis millisecond milliseconds ", 1000000},
                                         {" s sec secs second seconds ", 1000000000},
                                         {" min m minute minutes ", INT64_C(60000000000)},
                                         {" h hour hours ", INT64_C(3600000000000)},
                                         {" d day days ", INT64_C(86400000000000)}};

/* 0 where the unit is none of these. */
static int64_t factor_of(struct slice unit, const struct unit *units, size_t unit_count)
{
    char word[20];
    if (unit.len == 0 || unit.len > 16 || memchr(unit.ptr, ' ', unit.len) || memchr(unit.ptr, 0, unit.len))
        return 0;
    word[0] = ' ';
    for (size_t i = 0; i < unit.len; i++)
        word[1 + i] = (char)(unit.ptr[i] | (unit.ptr[i] >= 'A' && unit.ptr[i] <= 'Z' ? 0x20 : 0));
    memcpy(word + 1 + unit.len, " ", 2);
    for (size_t i = 0; i < unit_count; i++)
        if (strstr(units[i].names, word))
            return units[i].factor;
    return 0;
}

/* Digits, blanks, a unit. */
static bool parse_with_unit(struct slice text, const struct unit *units, size_t unit_count, int64_t without,
                            int64_t *number, int64_t *factor)
{
    text = trim(text);
    size_t digits = 0;
    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9')
        digits++;
    struct slice unit = trim(slice_of(text.ptr + digits, text.len - digits));
    *factor = unit.len ? factor_of(unit, units, unit_count) : without;
    return *factor && slice_to_i64(slice_of(text.ptr, digits), number);
}

bool conf_parse_bytes(struct slice text, int64_t *bytes)
{
    int64_t number, factor, product;
    if (!parse_with_unit(text, size_units, ARRAY_LEN(size_units), 1, &number, &factor) ||
        __builtin_mul_overflow(number, factor, &product))
        return false;
    *bytes = product;
    return true;
}

bool conf_parse_duration_ms(struct slice text, int64_t *ms)
{
    int64_t number, factor, product;
    if (!parse_with_unit(text, time_units, ARRAY_LEN(time_units), 0, &number, &factor))
        return false;
    if (factor < 1000000) {
        if (number % (1000000 / factor))
            return false;
        product = number / (1000000 / factor);
    } else if (__builtin_mul_overflow(number, factor / 1000000, &product)) {
        return false;
    }
    *ms = product;
    return true;
}

bool conf_parse_bool(struct slice text, bool *value)
{
    text = trim(text);
    if (!slice_equal_nocase(text, SLICE("true")) && !slice_equal_nocase(text, SLICE("false")))
        return false;
    *value = text.len == 4;
    return true;
}

/* Digits with one point; no exponent, no hexadecimal. */
static bool parse_ratio(struct slice text, double *ratio)
{
    char copy[32];
    text = trim(text);
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!strchr("0123456789.", text.ptr[i]) || !text.ptr[i])
            return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    char *end;
    double parsed = strtod(copy, &end);
    if (*end || end == copy || !isfinite(parsed))
        return false;
    *ratio = parsed;
    return true;
}

bool conf_list_next(struct slice *rest, struct slice *item)
{
    while (rest->len) {
        size_t len = 0;
        while (len < rest->len && rest->ptr[len] != ',' && rest->ptr[len] != ';')
            len++;
        *item = trim(slice_of(rest->ptr, len));
        size_t step = MIN(len + 1, rest->len);
        *rest = slice_of(rest->ptr + step, rest->len - step);
        if (item->len)
            return true;
    }
    return false;
}

/* ---- against a row of the table ---- */

static bool parse_number(enum type type, struct slice text, struct value *value)
{
    bool b;
    switch (type) {
    case TYPE_BOOL:
        if (!conf_parse_bool(text, &b))
            return false;
        value->i64 = b;
        return true;
    case TYPE_INT:
        return slice_to_i64(trim(text), &value->i64);
    case TYPE_SIZE:
        return conf_parse_bytes(text, &value->i64);
    case TYPE_DURATION:
        return conf_parse_duration_ms(text, &value->i64);
    case TYPE_RATIO:
        return parse_ratio(text, &value->ratio);
    default:
        return true;
    }
}

static const char *form_of(enum type type)
{
    switch (type) {
    case TYPE_BOOL:
        return "true or false";
    case TYPE_INT:
        return "a whole number";
    case TYPE_SIZE:
        return "a size such as 16mb";
    case TYPE_DURATION:
        return "a duration with its unit, such as 10 min or 500 ms";
    case TYPE_RATIO:
        return "a number such as 0.85";
    default:
        return "a string";
    }
}

/* Of the bounds "least..most". */
static bool outside(enum type type, const char *range, const struct value *value)
{
    const char *dots = strstr(range, "..");
    if (!dots)
        return false;
    struct value bound = {0};
    struct slice least = slice_of(range, (size_t)(dots - range)), most = slice_str(dots + 2);
    bool real = type == TYPE_RATIO;
    if (least.len && parse_number(type, least, &bound) && (real ? value->ratio < bound.ratio : value->i64 < bound.i64))
        return true;
    return most.len && parse_number(type, most, &bound) && (real ? value->ratio > bound.ratio : value->i64 > bound.i64);
}

/* The choice of "a|b|c" that text is, in any case; as the table has it. */
static bool parse_choice(const char *range, struct slice text, struct slice *choice)
{
    text = trim(text);
    for (const char *at = range; *at;) {
        size_t len = strcspn(at, "|");
        *choice = slice_of(at, len);
        if (slice_equal_nocase(text, *choice))
            return true;
        at += len + (at[len] == '|');
    }
    return false;
}

bool value_parse(const struct option *option, struct slice text, struct value *value, char why[160])
{
    struct value parsed = {.text = text};
    int shown = (int)MIN(text.len, 60);
    if (option->type == TYPE_ENUM && !parse_choice(option->range, text, &parsed.text))
        snprintf(why, 160, "\"%.*s\" is none of %s", shown, (const char *)text.ptr, option->range);
    else if (!parse_number(option->type, text, &parsed))
        snprintf(why, 160, "\"%.*s\" is not %s", shown, (const char *)text.ptr, form_of(option->type));
    else if (option->type != TYPE_ENUM && outside(option->type, option->range, &parsed))
        snprintf(why, 160, "%.*s is outside of %s", shown, (const char *)text.ptr, option->range);
    else {
        *value = parsed;
        return true;
    }
    return false;
}
