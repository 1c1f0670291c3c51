/* Time zones: what a clock on the wall shows at an instant, and which times it never shows.
 *
 * Names and rules are those of the system's tz database (TZif files, RFC 8536), read through the os door: the C
 * library's own way is one environment variable for the whole process. A zone is read-only once it is open.
 *
 * Seconds throughout: utc_s since 1970-01-01 UTC, local_s the same count as a clock in the zone shows it.
 * thread   any. */
#ifndef WEIR_ZONE_ZONE_H
#define WEIR_ZONE_ZONE_H

#include "os/os.h"

#define ZONE_DIR "/usr/share/zoneinfo"
#define ZONE_ID_BYTES_MAX 64
#define ZONE_BYTES_MAX (1u << 20) /* of a TZif file; the largest has about 4 KB */

struct zone;

/* A zone by its id as Java's TimeZone knows it: "Europe/Berlin", "UTC", "GMT+8", "GMT-05:30", the old three letters of
 * Java ("PST", "CTT") (blocks). Java takes any other text for GMT; here it is refused.
 * errors   INVALID_ARGUMENT: no such zone; CORRUPT: its file; IO. */
MUST_CHECK enum err_code zone_open(struct os *os, struct slice id, struct zone **zone, struct err *err);
/* The zone of the machine: TZ in the environment if it names one, else /etc/localtime, else UTC (blocks). */
struct zone *zone_open_system(struct os *os);
struct zone *zone_utc(void);
/* The contents of a TZif file. errors: CORRUPT. */
MUST_CHECK enum err_code zone_parse(struct slice tzif, struct zone **zone, struct err *err);
void zone_close(struct zone *zone); /* NULL is fine */

/* What is added to UTC at this instant. */
int32_t zone_offset_s(const struct zone *zone, int64_t utc_s);
int64_t zone_local_s(const struct zone *zone, int64_t utc_s);
/* A local time as Java's ZonedDateTime resolves it: one that clocks skip is moved on by the length of the gap, any
 * other stays as it is. */
int64_t zone_resolve_local_s(const struct zone *zone, int64_t local_s);

#endif
