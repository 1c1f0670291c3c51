/* Private to zone. */
#ifndef WEIR_ZONE_ZONE_INT_H
#define WEIR_ZONE_ZONE_INT_H

#include "zone/zone.h"

#define ZONE_OFFSET_S_MAX (26 * 3600) /* RFC 8536: -89999..93599 */
#define ZONE_TYPES_MAX 256

/* A day of the year on which clocks change, and when on it. */
struct zone_day {
    char kind; /* 'M': a weekday of a month; 'J': 1..365 without 29 February; '0': 0..365 with it */
    int month, week, day;
    int32_t time_s;
};

/* The rule for times after the last transition of a file: POSIX's form of TZ. */
struct zone_rule {
    int32_t standard_s, daylight_s; /* added to UTC */
    bool has_daylight;
    struct zone_day start, end;
};

struct zone {
    int64_t *at;   /* instants at which the offset changes, ascending */
    uint8_t *type; /* and to which of types */
    size_t count;
    int32_t types[ZONE_TYPES_MAX];
    bool has_rule;
    struct zone_rule rule;
};

/* A zone of one offset. */
struct zone *zone_fixed(int32_t offset_s);
/* "CET-1CEST,M3.5.0,M10.5.0/3", whole. False where it is none. */
MUST_CHECK bool zone_rule_parse(struct slice text, struct zone_rule *rule);
int32_t zone_rule_offset_s(const struct zone_rule *rule, int64_t utc_s);

#endif
