/* Dates and times as people write them: the proleptic Gregorian calendar, no leap seconds, no zones.
 * Years are written with four digits or more, those above 9999 with '+', those below 0 with '-', as ISO 8601 and Java
 * do. */
#ifndef WEIR_BASE_CIVIL_H
#define WEIR_BASE_CIVIL_H

#include "base/buf.h"

#define CIVIL_DAY_MS 86400000
#define CIVIL_YEAR_MAX 999999999 /* and -999999999: what is read; Java's limits */

struct civil {
    int64_t year;
    int month; /* 1..12 */
    int day;   /* 1..31 */
};

/* Days since 1970-01-01. Any number of days within +-3e14. */
struct civil civil_of_days(int64_t days);
int64_t civil_to_days(struct civil date);

/* Milliseconds since 1970 as days and milliseconds of the day, also below 0. */
int64_t civil_day_of_millis(int64_t millis, int32_t *millis_of_day);

void civil_put_date(struct buf *out, int64_t days);
/* "12:34:56", then a fraction of a second of 3, 6 or 9 digits unless all of it is 0. */
void civil_put_time(struct buf *out, int32_t millis_of_day, int32_t nanos_of_milli);

/* "2024-02-29" whole; a day that the calendar lacks gives false, as anything else does. */
MUST_CHECK bool civil_parse_date(struct slice text, int64_t *days);
/* "12:34", "12:34:56", "12:34:56.123456789" whole. */
MUST_CHECK bool civil_parse_time(struct slice text, int32_t *millis_of_day, int32_t *nanos_of_milli);

#endif
