/* Which sorted runs, or which small files, go together: size-tiered, so that each row is rewritten a logarithmic number
 * of times. Pure. Source: Apache Paimon, UniversalCompaction. */
#include "lake/paimon/compact_int.h"

#define AMPLIFICATION_PERCENT 200 /* the oldest run may be outweighed this far by the others */
#define RATIO_PERCENT 1
#define TAIL_RATIO 4

/* From the newest run on: the next one is taken as long as it is no larger than what is taken already. */
static size_t pick_by_ratio(const struct run_size *runs, size_t count, size_t at_least)
{
    uint64_t bytes = 0;
    size_t taken = at_least;
    for (size_t i = 0; i < taken; i++)
        bytes += runs[i].bytes;
    while (taken < count && bytes + bytes * RATIO_PERCENT / 100 >= runs[taken].bytes)
        bytes += runs[taken++].bytes;
    return taken;
}

size_t paimon_universal_pick(const struct run_size *runs, size_t count, uint32_t run_count_max)
{
    uint64_t newer = 0;
    if (count <= run_count_max || count < 2)
        return 0;
    for (size_t i = 0; i + 1 < count; i++)
        newer += runs[i].bytes;
    if (newer * 100 > (uint64_t)AMPLIFICATION_PERCENT * runs[count - 1].bytes)
        return count;
    size_t taken = pick_by_ratio(runs, count, 1);
    if (taken == 1)
        taken = pick_by_ratio(runs, count, count - run_count_max + 1);
    /* Nothing is written to level 0: the first run above it is taken along. */
    while (taken < count && runs[taken].level <= 1)
        taken++;
    return taken;
}

/* Newer files are small and many, older ones joined before: one is taken along that is no larger than what is taken
 * already, or not much larger than those before it. */
size_t paimon_tail_pick(const uint64_t *sizes, size_t count, uint64_t file_bytes, uint32_t small_count, bool full)
{
    uint64_t bytes = 0;
    size_t taken = 0;
    while (taken < count) {
        uint64_t size = sizes[count - 1 - taken];
        bool larger = taken && size > bytes && size > TAIL_RATIO * (bytes / taken);
        if (size >= file_bytes / 2 || (larger && !full))
            break;
        bytes += size;
        taken++;
    }
    return taken >= (full ? 2 : small_count) ? taken : 0;
}
