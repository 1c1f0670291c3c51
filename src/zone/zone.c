/* A TZif file (RFC 8536), big-endian: for version 2 and later the 32-bit part is skipped.
 *
 *   offset size  field
 *   0      4     "TZif"
 *   4      1     version: 0, '2', '3', '4'
 *   5      15    unused
 *   20     6 x 4 counts: UT marks, standard marks, leap seconds, transitions, types, letters of names
 *   44           transitions (4 or 8 bytes each), their types (1), types (4 offset, 1 daylight, 1 name), names,
 *                leap seconds (4 + 4 or 8 + 4), standard marks, UT marks
 *   then         version 2 and later: the same again with 8-byte times, and a rule between two newlines */
#include "zone/zone_int.h"

#include "base/reader.h"

#define HEADER_UNUSED 15
#define DAY_S 86400

struct header {
    uint8_t version;
    uint32_t ut_count, standard_count, leap_count, transition_count, type_count, letter_count;
};

static bool header_read(struct reader *r, struct header *h)
{
    struct slice magic = reader_slice(r, 4);
    h->version = reader_u8(r);
    reader_take(r, HEADER_UNUSED);
    h->ut_count = reader_u32_be(r);
    h->standard_count = reader_u32_be(r);
    h->leap_count = reader_u32_be(r);
    h->transition_count = reader_u32_be(r);
    h->type_count = reader_u32_be(r);
    h->letter_count = reader_u32_be(r);
    return reader_ok(r) && slice_is(magic, "TZif");
}

static void skip(struct reader *r, uint32_t count, size_t size)
{
    if (count > reader_left(r) / size)
        reader_fail(r);
    else
        reader_take(r, count * size);
}

static void body_skip(struct reader *r, const struct header *h, size_t time_size)
{
    skip(r, h->transition_count, time_size + 1);
    skip(r, h->type_count, 6);
    skip(r, h->letter_count, 1);
    skip(r, h->leap_count, time_size + 4);
    skip(r, h->standard_count, 1);
    skip(r, h->ut_count, 1);
}

static bool transitions_read(struct reader *r, const struct header *h, size_t time_size, struct zone *zone)
{
    if (h->type_count == 0 || h->type_count > ZONE_TYPES_MAX || h->transition_count > reader_left(r) / (time_size + 1))
        return false;
    zone->count = h->transition_count;
    zone->at = mem_alloc(MAX(zone->count, 1) * sizeof *zone->at);
    zone->type = mem_alloc(MAX(zone->count, 1));
    for (size_t i = 0; i < zone->count; i++) {
        zone->at[i] = time_size == 8 ? (int64_t)reader_u64_be(r) : (int32_t)reader_u32_be(r);
        if (i && zone->at[i] <= zone->at[i - 1])
            return false;
    }
    for (size_t i = 0; i < zone->count; i++) {
        zone->type[i] = reader_u8(r);
        if (zone->type[i] >= h->type_count)
            return false;
    }
    return reader_ok(r);
}

static bool types_read(struct reader *r, const struct header *h, struct zone *zone)
{
    for (uint32_t i = 0; i < h->type_count; i++) {
        int32_t offset = (int32_t)reader_u32_be(r);
        reader_take(r, 2);
        if (offset < -ZONE_OFFSET_S_MAX || offset > ZONE_OFFSET_S_MAX)
            return false;
        zone->types[i] = offset;
    }
    return reader_ok(r);
}

static bool rule_read(struct reader *r, struct zone *zone)
{
    struct slice rest = reader_rest(r);
    if (rest.len < 2 || rest.ptr[0] != '\n' || rest.ptr[rest.len - 1] != '\n')
        return false;
    zone->has_rule = rest.len > 2;
    return !zone->has_rule || zone_rule_parse(slice_of(rest.ptr + 1, rest.len - 2), &zone->rule);
}

static bool file_read(struct reader *r, struct zone *zone)
{
    struct header h;
    size_t time_size = 4;
    if (!header_read(r, &h))
        return false;
    if (h.version >= '2') {
        body_skip(r, &h, 4);
        time_size = 8;
        if (!header_read(r, &h))
            return false;
    }
    if (!transitions_read(r, &h, time_size, zone) || !types_read(r, &h, zone))
        return false;
    skip(r, h.letter_count, 1);
    skip(r, h.leap_count, time_size + 4);
    skip(r, h.standard_count, 1);
    skip(r, h.ut_count, 1);
    return reader_ok(r) && (time_size == 4 || rule_read(r, zone));
}

enum err_code zone_parse(struct slice tzif, struct zone **out, struct err *err)
{
    struct reader r = reader_of(tzif);
    struct zone *zone = mem_zalloc(sizeof *zone);
    if (!file_read(&r, zone)) {
        zone_close(zone);
        return err_set(err, ERR_CORRUPT, "not a TZif file of a time zone");
    }
    *out = zone;
    return OK;
}

struct zone *zone_fixed(int32_t offset_s)
{
    struct zone *zone = mem_zalloc(sizeof *zone);
    zone->types[0] = offset_s;
    return zone;
}

struct zone *zone_utc(void)
{
    return zone_fixed(0);
}

void zone_close(struct zone *zone)
{
    if (!zone)
        return;
    mem_free(zone->at);
    mem_free(zone->type);
    mem_free(zone);
}

int32_t zone_offset_s(const struct zone *zone, int64_t utc_s)
{
    size_t low = 0, high = zone->count; /* the first transition after the instant */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->at[middle] <= utc_s)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == zone->count && zone->has_rule)
        return zone_rule_offset_s(&zone->rule, utc_s);
    return low ? zone->types[zone->type[low - 1]] : zone->types[0];
}

int64_t zone_local_s(const struct zone *zone, int64_t utc_s)
{
    return utc_s + zone_offset_s(zone, utc_s);
}

/* Clocks are a day off UTC at most, so a day before and after lie on the two sides of a change near the time. */
int64_t zone_resolve_local_s(const struct zone *zone, int64_t local_s)
{
    int32_t before = zone_offset_s(zone, local_s - DAY_S), after = zone_offset_s(zone, local_s + DAY_S);
    bool skipped = zone_offset_s(zone, local_s - before) != before && zone_offset_s(zone, local_s - after) != after;
    return skipped ? local_s + after - before : local_s;
}
