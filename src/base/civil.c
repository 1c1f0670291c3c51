#include "base/civil.h"

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Years here begin in March, so that a leap day is the last day of its year; an era has 400 years, 146097 days. */
struct civil civil_of_days(int64_t days)
{
    int64_t shifted = days + 719468;
    int64_t era = floor_div(shifted, 146097);
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    struct civil date = {.year = year_of_era + era * 400,
                         .month = (int)(month < 10 ? month + 3 : month - 9),
                         .day = (int)(day_of_year - (153 * month + 2) / 5 + 1)};
    date.year += date.month <= 2;
    return date;
}

int64_t civil_to_days(struct civil date)
{
    int64_t year = date.year - (date.month <= 2);
    int64_t era = floor_div(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t month = date.month > 2 ? date.month - 3 : date.month + 9;
    int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

int64_t civil_day_of_millis(int64_t millis, int32_t *millis_of_day)
{
    int64_t days = floor_div(millis, CIVIL_DAY_MS);
    *millis_of_day = (int32_t)(millis - days * CIVIL_DAY_MS);
    return days;
}

void civil_put_date(struct buf *out, int64_t days)
{
    struct civil date = civil_of_days(days);
    long long year = date.year;
    if (year < 0 || year > 9999)
        buf_put_u8(out, year < 0 ? '-' : '+');
    buf_printf(out, "%04lld-%02d-%02d", year < 0 ? -year : year, date.month, date.day);
}

void civil_put_time(struct buf *out, int32_t millis_of_day, int32_t nanos_of_milli)
{
    int32_t seconds = millis_of_day / 1000, millis = millis_of_day % 1000;
    buf_printf(out, "%02d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if (nanos_of_milli % 1000)
        buf_printf(out, ".%03d%06d", millis, nanos_of_milli);
    else if (nanos_of_milli)
        buf_printf(out, ".%03d%03d", millis, nanos_of_milli / 1000);
    else if (millis)
        buf_printf(out, ".%03d", millis);
}

/* Digits at the front of *text, between least and most of them. */
static bool take_digits(struct slice *text, size_t least, size_t most, int64_t *value, size_t *count)
{
    size_t len = 0;
    *value = 0;
    while (len < text->len && len < most && text->ptr[len] >= '0' && text->ptr[len] <= '9')
        *value = *value * 10 + (text->ptr[len++] - '0');
    *text = slice_of(text->ptr + len, text->len - len);
    if (count)
        *count = len;
    return len >= least;
}

static bool take_byte(struct slice *text, uint8_t byte)
{
    if (text->len == 0 || *text->ptr != byte)
        return false;
    *text = slice_of(text->ptr + 1, text->len - 1);
    return true;
}

bool civil_parse_date(struct slice text, int64_t *days)
{
    int64_t year, month, day;
    bool negative = take_byte(&text, '-');
    if (!negative)
        (void)take_byte(&text, '+');
    if (!take_digits(&text, 4, 9, &year, NULL) || !take_byte(&text, '-') || !take_digits(&text, 2, 2, &month, NULL) ||
        !take_byte(&text, '-') || !take_digits(&text, 2, 2, &day, NULL) || text.len)
        return false;
    if (month < 1 || month > 12 || day < 1 || day > 31)
        return false;
    struct civil date = {negative ? -year : year, (int)month, (int)day};
    int64_t found = civil_to_days(date);
    if (civil_of_days(found).day != date.day)
        return false; /* ran over into the next month */
    *days = found;
    return true;
}

bool civil_parse_time(struct slice text, int32_t *millis_of_day, int32_t *nanos_of_milli)
{
    int64_t hour, minute, second = 0, fraction = 0;
    size_t digits = 0;
    if (!take_digits(&text, 2, 2, &hour, NULL) || !take_byte(&text, ':') || !take_digits(&text, 2, 2, &minute, NULL))
        return false;
    if (take_byte(&text, ':') && !take_digits(&text, 2, 2, &second, NULL))
        return false;
    if (take_byte(&text, '.') && !take_digits(&text, 1, 9, &fraction, &digits))
        return false;
    if (text.len || hour > 23 || minute > 59 || second > 59)
        return false;
    for (; digits < 9; digits++)
        fraction *= 10;
    *millis_of_day = (int32_t)(((hour * 60 + minute) * 60 + second) * 1000 + fraction / 1000000);
    *nanos_of_milli = (int32_t)(fraction % 1000000);
    return true;
}
