#include "metric/metric_int.h"

#include <stdio.h>

static const struct family families[METRIC_COUNT] = {
#define METRIC(id, name, kind, labels, text) [METRIC_##id] = {name, KIND_##kind, labels, text},
#include "metric/metric.def"
#undef METRIC
};

const struct family *metric_family(enum metric_id id)
{
    ASSERT((unsigned)id < METRIC_COUNT);
    return &families[id];
}

struct metrics *metrics_create(struct os *os)
{
    struct metrics *metrics = mem_zalloc(sizeof *metrics);
    metrics->os = os;
    os_mutex_init(&metrics->mutex, os);
    int64_t now = os_mono_ns(os);
    for (size_t i = 0; i < SAMPLES; i++)
        metrics->sample_mono_ns[i] = now;
    return metrics;
}

void metrics_destroy(struct metrics *metrics)
{
    if (!metrics)
        return;
    ASSERT(metrics->series.len == 0); /* all were released */
    vec_deinit(&metrics->series);
    vec_deinit(&metrics->hooks);
    os_mutex_deinit(&metrics->mutex);
    mem_free(metrics);
}

static void put_label_value(struct buf *out, struct slice value)
{
    for (size_t i = 0; i < value.len; i++) {
        uint8_t c = value.ptr[i];
        if (c == '"' || c == '\\')
            buf_put_u8(out, '\\');
        if (c == '\n')
            buf_put_slice(out, SLICE("\\n"));
        else
            buf_put_u8(out, c);
    }
}

/* database="d",table="t"; the family says the names. */
static void put_labels(struct buf *out, const struct family *family, const struct slice *values, size_t value_count)
{
    struct slice names = slice_str(family->labels), name;
    size_t count = 0;
    while (slice_list_next(&names, &name)) {
        ASSERT(count < value_count);
        buf_printf(out, "%s%.*s=\"", count ? "," : "", SLICE_ARGS(name));
        put_label_value(out, values[count++]);
        buf_put_u8(out, '"');
    }
    ASSERT(count == value_count && count <= METRIC_LABELS_MAX);
}

/* By name, then by labels: the order of printing. */
static int compare(const struct series *series, enum metric_id id, struct slice labels)
{
    int order = series->id == id ? 0 : strcmp(families[series->id].name, families[id].name);
    return order ? order : slice_compare(buf_view(&series->labels), labels);
}

/* Where it is, or where it belongs. */
static size_t place_of(const struct metrics *metrics, enum metric_id id, struct slice labels)
{
    size_t low = 0, high = metrics->series.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(metrics->series.ptr[middle], id, labels) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct series *insert(struct metrics *metrics, size_t at, enum metric_id id, struct slice labels)
{
    struct series *series = mem_zalloc(sizeof *series);
    series->id = id;
    series->born_mono_ns = os_mono_ns(metrics->os);
    buf_put_slice(&series->labels, labels);
    if (families[id].kind == KIND_HISTOGRAM || families[id].kind == KIND_TIMES)
        series->head.histogram = mem_zalloc(METRIC_HISTOGRAM_SLOTS * sizeof *series->head.histogram);
    (void)vec_add(&metrics->series);
    struct series **place = metrics->series.ptr + at;
    memmove(place + 1, place, (metrics->series.len - 1 - at) * sizeof *place);
    *place = series;
    return series;
}

static struct series *take_locked(struct metrics *metrics, enum metric_id id, struct slice labels)
{
    size_t at = place_of(metrics, id, labels);
    if (at < metrics->series.len && compare(metrics->series.ptr[at], id, labels) == 0)
        return metrics->series.ptr[at];
    return metrics->series.len < METRIC_SERIES_MAX ? insert(metrics, at, id, labels) : NULL;
}

struct metric *metrics_take(struct metrics *metrics, enum metric_id id, const struct slice *values, size_t value_count)
{
    if (!metrics)
        return NULL;
    struct buf labels = {0};
    put_labels(&labels, metric_family(id), values, value_count);
    os_mutex_lock(&metrics->mutex);
    struct series *series = take_locked(metrics, id, buf_view(&labels));
    if (series)
        series->refs++;
    os_mutex_unlock(&metrics->mutex);
    buf_deinit(&labels);
    return series ? &series->head : NULL;
}

void metrics_release(struct metrics *metrics, struct metric *metric)
{
    if (!metric)
        return;
    struct series *series = CONTAINER_OF(metric, struct series, head);
    os_mutex_lock(&metrics->mutex);
    bool last = --series->refs == 0;
    if (last)
        vec_remove(&metrics->series, place_of(metrics, series->id, buf_view(&series->labels)));
    os_mutex_unlock(&metrics->mutex);
    if (!last)
        return;
    mem_free(series->head.histogram);
    buf_deinit(&series->labels);
    mem_free(series);
}

static void tick_locked(struct metrics *metrics)
{
    int64_t now = os_mono_ns(metrics->os);
    if (now - metrics->sample_mono_ns[metrics->newest] < METRIC_TICK_NS)
        return;
    metrics->newest = (metrics->newest + 1) % SAMPLES;
    metrics->sample_mono_ns[metrics->newest] = now;
    for (size_t i = 0; i < metrics->series.len; i++) {
        struct series *series = metrics->series.ptr[i];
        series->samples[metrics->newest] = metric_value(&series->head);
    }
}

void metrics_tick(struct metrics *metrics)
{
    os_mutex_lock(&metrics->mutex);
    tick_locked(metrics);
    os_mutex_unlock(&metrics->mutex);
}

void metrics_on_print(struct metrics *metrics, metrics_refresh_fn *fn, void *arg)
{
    vec_push(&metrics->hooks, ((struct hook){fn, arg}));
}
