/* POSIX's TZ with the extensions of RFC 8536: std offset [dst [offset] , start[/time] , end[/time]]. */
#include "zone/zone_int.h"

#include "base/civil.h"
#include "base/reader.h"

#define DAY_S 86400

static int peek(const struct reader *r)
{
    return reader_left(r) ? *r->ptr : -1;
}

static bool accept(struct reader *r, char c)
{
    if (peek(r) != c)
        return false;
    reader_u8(r);
    return true;
}

static bool is_letter(int c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* Names tell nothing here. */
static bool skip_name(struct reader *r)
{
    size_t len = 0;
    bool quoted = accept(r, '<');
    for (int c = peek(r); is_letter(c) || (quoted && (is_digit(c) || c == '+' || c == '-')); c = peek(r), len++)
        reader_u8(r);
    return len >= 3 && (!quoted || accept(r, '>'));
}

static bool number(struct reader *r, int least, int most, int *value)
{
    int n = 0, digits = 0;
    for (; is_digit(peek(r)) && digits < 4; digits++)
        n = n * 10 + reader_u8(r) - '0';
    *value = n;
    return digits > 0 && n >= least && n <= most;
}

/* [+-]hh[:mm[:ss]] */
static bool time_of(struct reader *r, int hours_max, int32_t *seconds)
{
    int h = 0, m = 0, s = 0;
    bool minus = accept(r, '-');
    if (!minus)
        accept(r, '+');
    if (!number(r, 0, hours_max, &h) || (accept(r, ':') && !number(r, 0, 59, &m)) ||
        (accept(r, ':') && !number(r, 0, 59, &s)))
        return false;
    *seconds = (minus ? -1 : 1) * (h * 3600 + m * 60 + s);
    return true;
}

static bool day_of(struct reader *r, struct zone_day *day)
{
    *day = (struct zone_day){.time_s = 2 * 3600};
    if (accept(r, 'M')) {
        day->kind = 'M';
        if (!number(r, 1, 12, &day->month) || !accept(r, '.') || !number(r, 1, 5, &day->week) || !accept(r, '.') ||
            !number(r, 0, 6, &day->day))
            return false;
    } else if (accept(r, 'J')) {
        day->kind = 'J';
        if (!number(r, 1, 365, &day->day))
            return false;
    } else {
        day->kind = '0';
        if (!number(r, 0, 365, &day->day))
            return false;
    }
    return !accept(r, '/') || time_of(r, 167, &day->time_s);
}

bool zone_rule_parse(struct slice text, struct zone_rule *rule)
{
    struct reader r = reader_of(text);
    int32_t west;
    *rule = (struct zone_rule){0};
    if (!skip_name(&r) || !time_of(&r, 24, &west))
        return false;
    rule->standard_s = -west;
    if (reader_done(&r))
        return true;
    rule->has_daylight = true;
    rule->daylight_s = rule->standard_s + 3600;
    if (!skip_name(&r))
        return false;
    if (peek(&r) != ',') {
        if (!time_of(&r, 24, &west))
            return false;
        rule->daylight_s = -west;
    }
    return accept(&r, ',') && day_of(&r, &rule->start) && accept(&r, ',') && day_of(&r, &rule->end) && reader_done(&r);
}

/* Days since 1970 of the day in this year. */
static int64_t day_in_year(const struct zone_day *day, int64_t year)
{
    int64_t first = civil_to_days((struct civil){year, 1, 1});
    if (day->kind == '0')
        return first + day->day;
    if (day->kind == 'J') {
        bool leap = civil_to_days((struct civil){year + 1, 1, 1}) - first == 366;
        return first + day->day - 1 + (leap && day->day >= 60);
    }
    int64_t month = civil_to_days((struct civil){year, day->month, 1});
    int64_t next = day->month == 12 ? civil_to_days((struct civil){year + 1, 1, 1})
                                    : civil_to_days((struct civil){year, day->month + 1, 1});
    int64_t weekday = ((month + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */
    int64_t found = month + ((day->day - weekday) % 7 + 7) % 7 + (day->week - 1) * 7;
    return found < next ? found : found - 7;
}

int32_t zone_rule_offset_s(const struct zone_rule *rule, int64_t utc_s)
{
    if (!rule->has_daylight)
        return rule->standard_s;
    int64_t local = utc_s + rule->standard_s;
    int64_t day = local / DAY_S - (local % DAY_S < 0);
    int64_t year = civil_of_days(day).year;
    int64_t start = day_in_year(&rule->start, year) * DAY_S + rule->start.time_s - rule->standard_s;
    int64_t end = day_in_year(&rule->end, year) * DAY_S + rule->end.time_s - rule->daylight_s;
    bool daylight = start < end ? utc_s >= start && utc_s < end : utc_s >= start || utc_s < end;
    return daylight ? rule->daylight_s : rule->standard_s;
}
