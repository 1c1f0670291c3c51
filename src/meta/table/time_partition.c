/* The names of partitions that stand for a stretch of time (docs/formats/rows.md).
 *
 * A format is a pattern of Java's DateTimeFormatter, as far as names in it sort like the times they stand for: the
 * fields of the unit from the year down, each at its full width, once, with letters between that a name may hold. */
#include "meta/table/table_int.h"

#include "base/civil.h"

#define DAY_S 86400

/* Fields of a pattern, in the order in which they must come. */
enum time_field { FIELD_YEAR, FIELD_QUARTER, FIELD_MONTH, FIELD_DAY, FIELD_HOUR, FIELD_LITERAL };

static const struct {
    const char *letters;
    size_t width;
    int least, most;
} fields[] = {
    [FIELD_YEAR] = {"yu", 4, 1, 9999}, [FIELD_QUARTER] = {"Qq", 1, 1, 4}, [FIELD_MONTH] = {"ML", 2, 1, 12},
    [FIELD_DAY] = {"d", 2, 1, 31},     [FIELD_HOUR] = {"H", 2, 0, 23},
};

static const struct {
    const char *format;
    enum time_field fields[4];
    size_t field_count;
} units[] = {
    [TIME_UNIT_YEAR] = {"yyyy", {FIELD_YEAR}, 1},
    [TIME_UNIT_QUARTER] = {"yyyyQ", {FIELD_YEAR, FIELD_QUARTER}, 2},
    [TIME_UNIT_MONTH] = {"yyyyMM", {FIELD_YEAR, FIELD_MONTH}, 2},
    [TIME_UNIT_DAY] = {"yyyyMMdd", {FIELD_YEAR, FIELD_MONTH, FIELD_DAY}, 3},
    [TIME_UNIT_HOUR] = {"yyyyMMddHH", {FIELD_YEAR, FIELD_MONTH, FIELD_DAY, FIELD_HOUR}, 4},
};

/* ---- patterns ---- */

struct pattern {
    struct slice text;
    size_t at;
    bool quoted;
};

struct item {
    enum time_field field;
    size_t width;   /* letters of the field in the pattern */
    uint8_t letter; /* of a literal; or the pattern's for a field */
};

static bool is_letter(uint8_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static enum time_field field_of(uint8_t letter)
{
    for (int f = FIELD_YEAR; f < FIELD_LITERAL; f++)
        if (strchr(fields[f].letters, letter))
            return (enum time_field)f;
    return FIELD_LITERAL;
}

/* The next field or literal letter; false at the end, or where the pattern is none: then at is not at its end. */
static bool pattern_next(struct pattern *p, struct item *item)
{
    while (p->at < p->text.len) {
        uint8_t c = p->text.ptr[p->at];
        if (c == '\'' && p->at + 1 < p->text.len && p->text.ptr[p->at + 1] == '\'') {
            p->at += 2;
            *item = (struct item){FIELD_LITERAL, 1, c};
            return true;
        }
        if (c == '\'') {
            p->quoted = !p->quoted;
            p->at++;
            continue;
        }
        if (!p->quoted && strchr("[]{}#", c))
            return false;
        if (p->quoted || !is_letter(c)) {
            p->at++;
            *item = (struct item){FIELD_LITERAL, 1, c};
            return true;
        }
        size_t begin = p->at;
        while (p->at < p->text.len && p->text.ptr[p->at] == c)
            p->at++;
        *item = (struct item){field_of(c), p->at - begin, c};
        return true;
    }
    return false;
}

static enum err_code bad_format(struct slice format, const char *why, struct err *err)
{
    return err_set(err, ERR_INVALID_TABLE_EXCEPTION,
                   "'%.*s' can't be the value of 'table.auto-partition.time-format': %s", (int)MIN(format.len, 60),
                   (const char *)format.ptr, why);
}

enum err_code time_format_check(struct slice format, enum time_unit unit, struct err *err)
{
    struct pattern p = {.text = format};
    struct item item;
    size_t count = 0;
    while (pattern_next(&p, &item)) {
        if (item.field == FIELD_LITERAL && is_letter(item.letter) && !p.quoted)
            return bad_format(format, "it has a letter that stands for no field: yyyy, Q, MM, dd and HH do", err);
        if (item.field == FIELD_LITERAL)
            continue;
        if (item.width != fields[item.field].width)
            return bad_format(format, "its fields must be of full width: yyyy, Q, MM, dd, HH", err);
        if (count == units[unit].field_count || units[unit].fields[count] != item.field)
            return bad_format(format, "it must have the fields of the time unit, the year first, each once", err);
        count++;
    }
    if (p.at < format.len || p.quoted)
        return bad_format(format, "it is no pattern: [ ] { } # stand only within quotes, and quotes come in pairs",
                          err);
    if (count < units[unit].field_count)
        return bad_format(format, "it must have all fields of the time unit", err);
    return OK;
}

static struct slice format_of(const struct time_partitions *time)
{
    return time->format.ptr ? time->format : slice_str(units[time->unit].format);
}

/* ---- values ---- */

static int64_t month_days(int64_t year, int month)
{
    struct civil next = month == 12 ? (struct civil){year + 1, 1, 1} : (struct civil){year, month + 1, 1};
    return civil_to_days(next) - civil_to_days((struct civil){year, month, 1});
}

/* As Java's plusMonths: a day that the month lacks becomes its last. */
static int64_t days_add_months(int64_t days, int64_t months)
{
    struct civil date = civil_of_days(days);
    int64_t month = date.year * 12 + date.month - 1 + months;
    date.year = month / 12 - (month % 12 < 0);
    date.month = (int)(month - date.year * 12) + 1;
    date.day = (int)MIN(date.day, month_days(date.year, date.month));
    return civil_to_days(date);
}

/* The local time `count` units after an instant, as Java's ZonedDateTime counts: hours on the instant, the others on
 * the calendar. */
static int64_t local_after(const struct time_partitions *time, const struct zone *zone, int64_t utc_s, int64_t count)
{
    static const int64_t months[] = {[TIME_UNIT_YEAR] = 12, [TIME_UNIT_QUARTER] = 3, [TIME_UNIT_MONTH] = 1};
    if (time->unit == TIME_UNIT_HOUR)
        return zone_local_s(zone, utc_s + count * 3600);
    int64_t local = zone_local_s(zone, utc_s);
    int64_t day = local / DAY_S - (local % DAY_S < 0), second = local - day * DAY_S;
    day = time->unit == TIME_UNIT_DAY ? day + count : days_add_months(day, months[time->unit] * count);
    return zone_resolve_local_s(zone, day * DAY_S + second);
}

bool time_partition_value(const struct time_partitions *time, const struct zone *zone, int64_t utc_s, int64_t count,
                          struct arena *arena, struct slice *value)
{
    int64_t local = local_after(time, zone, utc_s, count);
    int64_t day = local / DAY_S - (local % DAY_S < 0);
    struct civil date = civil_of_days(day);
    const int64_t numbers[] = {
        [FIELD_YEAR] = date.year, [FIELD_QUARTER] = (date.month + 2) / 3,      [FIELD_MONTH] = date.month,
        [FIELD_DAY] = date.day,   [FIELD_HOUR] = (local - day * DAY_S) / 3600,
    };
    if (date.year < 1 || date.year > 9999)
        return false;
    struct pattern p = {.text = format_of(time)};
    struct item item;
    struct buf text = {0};
    while (pattern_next(&p, &item)) {
        if (item.field == FIELD_LITERAL)
            buf_put_u8(&text, item.letter);
        else
            buf_printf(&text, "%0*lld", (int)fields[item.field].width, (long long)numbers[item.field]);
    }
    *value = arena_dup(arena, buf_view(&text));
    buf_deinit(&text);
    return true;
}

static bool field_matches(enum time_field field, struct slice value, size_t *at)
{
    int number = 0;
    for (size_t i = 0; i < fields[field].width; i++, (*at)++) {
        if (*at >= value.len || value.ptr[*at] < '0' || value.ptr[*at] > '9')
            return false;
        number = number * 10 + value.ptr[*at] - '0';
    }
    return number >= fields[field].least && number <= fields[field].most;
}

bool time_partition_matches(const struct time_partitions *time, struct slice value)
{
    struct pattern p = {.text = format_of(time)};
    struct item item;
    size_t at = 0;
    while (pattern_next(&p, &item)) {
        if (item.field != FIELD_LITERAL) {
            if (!field_matches(item.field, value, &at))
                return false;
        } else if (at >= value.len || value.ptr[at++] != item.letter) {
            return false;
        }
    }
    return at == value.len;
}

bool time_partition_is_past(const struct time_partitions *time, const struct zone *zone, int64_t utc_s,
                            struct slice value, struct arena *arena)
{
    struct slice earliest;
    return time->retention >= 0 && time_partition_matches(time, value) &&
           time_partition_value(time, zone, utc_s, -(int64_t)time->retention, arena, &earliest) &&
           slice_compare(value, earliest) < 0;
}

enum err_code time_partition_check_new(const struct time_partitions *time, const struct zone *zone, int64_t utc_s,
                                       struct slice value, struct arena *arena, struct err *err)
{
    struct slice format = format_of(time);
    if (!time->enabled && !time->format.ptr)
        return OK;
    if (!time_partition_matches(time, value))
        return err_set(err, ERR_PARTITION_SPEC_INVALID_EXCEPTION,
                       "'%.*s' is not of the form %.*s that this table's partitions have.", (int)MIN(value.len, 60),
                       (const char *)value.ptr, (int)MIN(format.len, 60), (const char *)format.ptr);
    if (time->enabled && time_partition_is_past(time, zone, utc_s, value, arena))
        return err_set(err, ERR_PARTITION_SPEC_INVALID_EXCEPTION,
                       "The partition of '%.*s' would be dropped at once: the table keeps %d past ones "
                       "(table.auto-partition.num-retention).",
                       (int)MIN(value.len, 60), (const char *)value.ptr, time->retention);
    return OK;
}
