/* What several requests say of a table. */
#include "api/api_int.h"

/* Clients of a lake-enabled table find the lake's catalog in its properties, as `table.datalake.<format>.<option>`. */
struct slice api_table_json(struct api_call *call, const struct table_info *table)
{
    const struct properties *lake = call->api->config.lake_options;
    if (!table->settings.lake_enabled || !lake || lake->count == 0)
        return arena_dup(&call->arena, table->json);
    struct table_descriptor shown = *table->descriptor;
    struct properties merged = {0};
    for (uint32_t i = 0; i < shown.properties.count; i++)
        properties_set(&call->arena, &merged, shown.properties.items[i].key, shown.properties.items[i].value);
    for (uint32_t i = 0; i < lake->count; i++)
        properties_set(&call->arena, &merged, arena_printf(&call->arena, "table.%.*s", SLICE_ARGS(lake->items[i].key)),
                       lake->items[i].value);
    shown.properties = merged;
    struct buf json = {0};
    table_descriptor_to_json(&shown, &json);
    struct slice text = arena_dup(&call->arena, buf_view(&json));
    buf_deinit(&json);
    return text;
}

struct tiering_table *api_tiering_add(struct api *api, const struct table_info *table)
{
    int64_t freshness_ms = table->settings.lake_freshness_ms;
    if (freshness_ms < 0)
        freshness_ms = api->config.freshness_ms_default;
    return tiering_add(api->config.tiering, table->table_id, table->database, table->name,
                       table->descriptor->bucket_count, freshness_ms);
}
