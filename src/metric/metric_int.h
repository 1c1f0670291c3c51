#ifndef WEIR_METRIC_METRIC_INT_H
#define WEIR_METRIC_METRIC_INT_H

#include "base/vec.h"
#include "metric/metric.h"

#define SAMPLES (METRIC_RATE_TICKS + 1) /* the ends of that many ticks */

enum kind { KIND_COUNTER, KIND_GAUGE, KIND_RATE, KIND_HISTOGRAM, KIND_TIMES };

struct family {
    const char *name;
    enum kind kind;
    const char *labels; /* names, with commas between */
    const char *text;
};

struct series {
    struct metric head;
    enum metric_id id;
    uint32_t refs;     /* under the mutex, as everything below */
    struct buf labels; /* as printed, without the braces */
    int64_t born_mono_ns;
    int64_t samples[SAMPLES]; /* rates: the value at sample_mono_ns of the registry; 0 before it was born */
};

struct hook {
    metrics_refresh_fn *fn;
    void *arg;
};

struct metrics {
    struct os *os;
    struct os_mutex mutex;
    VEC(struct series *) series; /* in the order of printing */
    VEC(struct hook) hooks;
    int64_t sample_mono_ns[SAMPLES]; /* a ring; the one after newest is the oldest */
    size_t newest;
};

const struct family *metric_family(enum metric_id id);

#endif
