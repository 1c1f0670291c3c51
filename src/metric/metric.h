/* Counters, gauges, rates and distributions, for Prometheus and for weir's own pages.
 *
 * The families (name, kind, label names, text) are one table, metric.def; a series is a family with label values. main
 * makes the registry and hands it down; a part takes its series once and keeps the pointer:
 *
 *   struct metric *in = metrics_take(metrics, METRIC_TABLE_BYTES_IN, METRIC_LABELS(database, table));
 *   metric_add(in, batch.len);
 *   metrics_release(metrics, in);
 *
 * An add is one atomic addition; an observation is two. A NULL registry gives NULL series, and adding to NULL does
 * nothing, so that a part can be tested without. Names are those of Apache Fluss where it has one, so that its
 * dashboards work; like there, rates are exported as gauges and distributions as summaries. */
#ifndef WEIR_METRIC_METRIC_H
#define WEIR_METRIC_METRIC_H

#include "base/buf.h"
#include "os/os.h"

#include <stdatomic.h>

enum metric_id {
#define METRIC(id, name, kind, labels, text) METRIC_##id,
#include "metric/metric.def"
#undef METRIC
    METRIC_COUNT
};

#define METRIC_LABELS_MAX 4
#define METRIC_SERIES_MAX 100000 /* of all families; a series beyond is counted nowhere (metrics_take gives NULL) */
#define METRIC_TICK_NS INT64_C(5000000000)
#define METRIC_RATE_TICKS 12 /* a rate is taken over this many ticks: a minute */
#define METRIC_HISTOGRAM_SLOTS 272

struct metrics;

/* The hot head of a series. */
struct metric {
    _Atomic int64_t value;       /* counter, gauge, rate: what was added or set; distribution: the sum */
    _Atomic uint64_t *histogram; /* distribution: METRIC_HISTOGRAM_SLOTS counts; else NULL */
};

struct metrics *metrics_create(struct os *os);
void metrics_destroy(struct metrics *metrics); /* NULL is fine; all series were released */

/* The series of these label values, in the order of the family's label names and exactly as many; made if it is not
 * there, counted if it is. The values are copied. thread: any; takes the registry's mutex, so not once a request. */
struct metric *metrics_take(struct metrics *metrics, enum metric_id id, const struct slice *values, size_t value_count);
/* For who took it; the last release ends the series. NULL is fine. thread: any. */
void metrics_release(struct metrics *metrics, struct metric *metric);

#define METRIC_LABELS(...) \
    ((struct slice[]){__VA_ARGS__}), (sizeof((struct slice[]){__VA_ARGS__}) / sizeof(struct slice))
#define METRIC_NO_LABELS NULL, 0

/* Counters, rates: what happened. Gauges: up or down. thread: any. */
static inline void metric_add(struct metric *metric, int64_t delta)
{
    if (metric)
        atomic_fetch_add_explicit(&metric->value, delta, memory_order_relaxed);
}

/* Gauges, and counters that something else counts. thread: any. */
static inline void metric_set(struct metric *metric, int64_t value)
{
    if (metric)
        atomic_store_explicit(&metric->value, value, memory_order_relaxed);
}

static inline int64_t metric_value(const struct metric *metric)
{
    return metric ? atomic_load_explicit(&metric->value, memory_order_relaxed) : 0;
}

/* Distributions: one observation of value >= 0; negative ones count as 0. thread: any. */
void metric_observe(struct metric *metric, int64_t value);
/* The value below or at which this share (0 to 1) of the observations lie, at most 1/8 too high; 0 without any. */
int64_t metric_quantile(const struct metric *metric, double share);
uint64_t metric_observations(const struct metric *metric);

/* A function that sets gauges which are costly to keep current; called at the start of each metrics_print, with no lock
 * held. Registered at start, before any print. */
typedef void metrics_refresh_fn(void *arg);
void metrics_on_print(struct metrics *metrics, metrics_refresh_fn *fn, void *arg);

/* Takes the samples that rates are made of; does nothing where less than METRIC_TICK_NS passed since the last. Called
 * by a timer about as often; metrics_print calls it too. thread: any. */
void metrics_tick(struct metrics *metrics);

/* Appends all series in Prometheus's text form, version 0.0.4, families in the order of their names. thread: any. */
void metrics_print(struct metrics *metrics, struct buf *out);

#endif
