#include "zone/zone.h"

/* Any bytes as a TZif file: refused, or a zone whose offsets stay in bounds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zone *zone;
    if (zone_parse(slice_of(data, size), &zone, NULL) != OK)
        return 0;
    for (int64_t t = -10000000000; t < 10000000000; t += 123456789) {
        int32_t offset = zone_offset_s(zone, t);
        ASSERT(offset >= -26 * 3600 && offset <= 26 * 3600);
        (void)zone_resolve_local_s(zone, t);
    }
    zone_close(zone);
    return 0;
}
