/* A distribution is counts by slot: values 0 to 7 have one each, then each power of two is cut into 8 equal slots, up
 * to 2^36; larger values fall into the last slot. */
#include "metric/metric_int.h"

#define EXACT 8     /* values with a slot of their own; also slots a power of two */
#define EXACT_LOG 3 /* 2^3 */
#define TOP_LOG 36

_Static_assert(EXACT == 1 << EXACT_LOG, "so that the slots meet");
_Static_assert(METRIC_HISTOGRAM_SLOTS == EXACT + (TOP_LOG - EXACT_LOG) * EXACT, "one row of slots a power");

static size_t slot_of(uint64_t value)
{
    if (value < EXACT)
        return value;
    unsigned log = 63 - (unsigned)__builtin_clzll(value);
    if (log >= TOP_LOG)
        return METRIC_HISTOGRAM_SLOTS - 1;
    return EXACT + (log - EXACT_LOG) * EXACT + ((value >> (log - EXACT_LOG)) & (EXACT - 1));
}

static int64_t slot_most(size_t slot)
{
    if (slot < EXACT)
        return (int64_t)slot;
    size_t row = (slot - EXACT) / EXACT, in_row = (slot - EXACT) % EXACT;
    return ((int64_t)(EXACT + in_row + 1) << row) - 1;
}

void metric_observe(struct metric *metric, int64_t value)
{
    if (!metric)
        return;
    value = MAX(value, 0);
    atomic_fetch_add_explicit(&metric->value, value, memory_order_relaxed);
    atomic_fetch_add_explicit(&metric->histogram[slot_of((uint64_t)value)], 1, memory_order_relaxed);
}

uint64_t metric_observations(const struct metric *metric)
{
    uint64_t count = 0;
    for (size_t i = 0; metric && i < METRIC_HISTOGRAM_SLOTS; i++)
        count += atomic_load_explicit(&metric->histogram[i], memory_order_relaxed);
    return count;
}

int64_t metric_quantile(const struct metric *metric, double share)
{
    uint64_t count = metric_observations(metric), seen = 0;
    double wanted = share * (double)count;
    size_t slot = 0;
    if (count == 0)
        return 0;
    for (; slot < METRIC_HISTOGRAM_SLOTS - 1; slot++) {
        seen += atomic_load_explicit(&metric->histogram[slot], memory_order_relaxed);
        if (seen && (double)seen >= wanted)
            break;
    }
    return slot_most(slot);
}
