/* Metrics of requests, by kind, under the names that Apache Fluss gives the kinds. */
#include "api/api_int.h"

static size_t served_count(void)
{
    size_t count = 0;
    while (api_served[count].fn)
        count++;
    return count;
}

/* PUT_KV -> putKv */
static struct slice kind_of(const struct api_served *served, char name[64])
{
    size_t len = 0;
    bool upper = false;
    if (served->key == WIRE_FETCH_LOG)
        return SLICE("fetchLogClient"); /* Fluss tells clients' fetches from those of followers */
    for (const char *at = wire_api_name(served->key); *at && len < 64; at++) {
        bool letter = *at >= 'A' && *at <= 'Z';
        if (*at != '_')
            name[len++] = (char)(letter && !upper ? *at + ('a' - 'A') : *at);
        upper = *at == '_';
    }
    return slice_of(name, len);
}

void api_meters_create(struct api *api)
{
    size_t count = served_count();
    api->meters = mem_zalloc(count * sizeof *api->meters);
    for (size_t i = 0; i < count; i++) {
        char name[64];
        struct slice kind = kind_of(&api_served[i], name);
        api->meters[i].requests = metrics_take(api->config.metrics, METRIC_REQUESTS, METRIC_LABELS(kind));
        api->meters[i].errors = metrics_take(api->config.metrics, METRIC_REQUEST_ERRORS, METRIC_LABELS(kind));
        api->meters[i].time = metrics_take(api->config.metrics, METRIC_REQUEST_TIME, METRIC_LABELS(kind));
    }
}

void api_meters_destroy(struct api *api)
{
    for (size_t i = 0; i < served_count(); i++) {
        metrics_release(api->config.metrics, api->meters[i].requests);
        metrics_release(api->config.metrics, api->meters[i].errors);
        metrics_release(api->config.metrics, api->meters[i].time);
    }
    mem_free(api->meters);
}

struct api_meter *api_meter_of(struct api *api, const struct api_served *served)
{
    return &api->meters[served - api_served];
}
