/* Any bytes as a format of partitions by time, an instant and a name: refused, or names that are of the format and sort
 * like their times, none of them past that the retention keeps.
 * byte 0: unit and zone; 8 bytes: the instant; 2: units away from it; 1: retention; 1: length of the format; the rest
 * is format and name. */
#include "meta/table/table_int.h"

#include "base/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const zones[] = {"UTC", "Europe/Berlin", "America/St_Johns", "GMT-11:30"};

static void names_check(const struct time_partitions *time, const struct zone *zone, int64_t utc_s, int64_t count,
                        struct arena *arena)
{
    struct slice one, next;
    if (!time_partition_value(time, zone, utc_s, count, arena, &one) ||
        !time_partition_value(time, zone, utc_s, count + 1, arena, &next))
        return;
    ASSERT(time_partition_matches(time, one) && time_partition_matches(time, next));
    /* An hour comes twice where clocks are put back. */
    ASSERT(slice_compare(one, next) < 0 || time->unit == TIME_UNIT_HOUR);
    ASSERT(count < -time->retention || time->unit == TIME_UNIT_HOUR ||
           !time_partition_is_past(time, zone, utc_s, one, arena));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct zone *open[ARRAY_LEN(zones)];
    struct reader r = reader_of(slice_of(data, size));
    uint8_t head = reader_u8(&r);
    int64_t utc_s = (int64_t)reader_u64(&r) >> 20; /* +-278000 years */
    int64_t count = (int16_t)reader_u16(&r);
    struct time_partitions time = {.enabled = true, .unit = head % 5, .retention = (int8_t)reader_u8(&r)};
    struct slice format = reader_slice(&r, reader_u8(&r));
    struct slice name = reader_slice(&r, reader_left(&r));
    struct zone **zone = &open[head / 5 % ARRAY_LEN(zones)];
    struct arena arena = {0};
    if (!reader_ok(&r))
        return 0;
    if (!*zone && zone_open(os_real(), slice_str(zones[head / 5 % ARRAY_LEN(zones)]), zone, NULL) != OK)
        *zone = zone_utc();
    if (format.len && time_format_check(format, time.unit, NULL) == OK)
        time.format = format;
    names_check(&time, *zone, utc_s, count, &arena);
    if (time_partition_is_past(&time, *zone, utc_s, name, &arena))
        ASSERT(time_partition_matches(&time, name));
    (void)!time_partition_check_new(&time, *zone, utc_s, name, &arena, NULL);
    arena_deinit(&arena);
    return 0;
}
