/* Prometheus's text form, version 0.0.4. */
#include "metric/metric_int.h"

#define SECOND_NS 1000000000

static const char *const type_names[] = {[KIND_COUNTER] = "counter",
                                         [KIND_GAUGE] = "gauge",
                                         [KIND_RATE] = "gauge",
                                         [KIND_HISTOGRAM] = "summary",
                                         [KIND_TIMES] = "summary"};

/* name{labels} and a blank; extra is one more label or "". */
static void put_name(struct buf *out, const struct series *series, const char *suffix, const char *extra)
{
    buf_printf(out, "%s%s", metric_family(series->id)->name, suffix);
    if (series->labels.len || *extra) {
        buf_put_u8(out, '{');
        buf_put_slice(out, buf_view(&series->labels));
        buf_printf(out, "%s%s}", series->labels.len && *extra ? "," : "", extra);
    }
    buf_put_u8(out, ' ');
}

/* A second, from the oldest sample, or from the birth of the series, to now; in the first second as if it were over. */
static double rate(const struct metrics *metrics, const struct series *series, int64_t now)
{
    size_t oldest = (metrics->newest + 1) % SAMPLES;
    int64_t since = MAX(metrics->sample_mono_ns[oldest], series->born_mono_ns);
    int64_t passed = MAX(now - since, SECOND_NS);
    return (double)(metric_value(&series->head) - series->samples[oldest]) * SECOND_NS / (double)passed;
}

/* Times are observed in microseconds and printed in milliseconds. */
static void put_observed(struct buf *out, const struct series *series, int64_t value)
{
    if (metric_family(series->id)->kind == KIND_TIMES)
        buf_printf(out, "%.3f\n", (double)value / 1000);
    else
        buf_printf(out, "%lld\n", (long long)value);
}

static void put_summary(struct buf *out, const struct series *series)
{
    static const struct {
        double share;
        const char *label;
    } quantiles[] = {{.5, "quantile=\"0.5\""},
                     {.75, "quantile=\"0.75\""},
                     {.95, "quantile=\"0.95\""},
                     {.99, "quantile=\"0.99\""},
                     {.999, "quantile=\"0.999\""}};
    for (size_t i = 0; i < ARRAY_LEN(quantiles); i++) {
        put_name(out, series, "", quantiles[i].label);
        put_observed(out, series, metric_quantile(&series->head, quantiles[i].share));
    }
    put_name(out, series, "_sum", "");
    put_observed(out, series, metric_value(&series->head));
    put_name(out, series, "_count", "");
    buf_printf(out, "%llu\n", (unsigned long long)metric_observations(&series->head));
}

static void put_series(struct buf *out, const struct metrics *metrics, const struct series *series, int64_t now)
{
    switch (metric_family(series->id)->kind) {
    case KIND_HISTOGRAM:
    case KIND_TIMES:
        put_summary(out, series);
        break;
    case KIND_RATE:
        put_name(out, series, "", "");
        buf_printf(out, "%.3f\n", rate(metrics, series, now));
        break;
    case KIND_COUNTER:
    case KIND_GAUGE:
        put_name(out, series, "", "");
        buf_printf(out, "%lld\n", (long long)metric_value(&series->head));
        break;
    }
}

static void print_locked(const struct metrics *metrics, struct buf *out)
{
    int64_t now = os_mono_ns(metrics->os);
    for (size_t i = 0; i < metrics->series.len; i++) {
        const struct series *series = metrics->series.ptr[i];
        const struct family *family = metric_family(series->id);
        if (i == 0 || metrics->series.ptr[i - 1]->id != series->id)
            buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->text, family->name,
                       type_names[family->kind]);
        put_series(out, metrics, series, now);
    }
}

void metrics_print(struct metrics *metrics, struct buf *out)
{
    for (size_t i = 0; i < metrics->hooks.len; i++)
        metrics->hooks.ptr[i].fn(metrics->hooks.ptr[i].arg);
    metrics_tick(metrics);
    os_mutex_lock(&metrics->mutex);
    print_locked(metrics, out);
    os_mutex_unlock(&metrics->mutex);
}
