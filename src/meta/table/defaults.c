#include "meta/table/table_int.h"

struct table_cluster table_cluster_default(void)
{
    return (struct table_cluster){
        .bucket_count_default = 1,
        .bucket_count_max = 4096,
        .replication_factor_default = 1,
        .tablet_server_count = 1,
        .log_tables_allowed = true,
        .kv_tables_allowed = true,
    };
}

static bool is_set(const struct table_descriptor *table, enum table_option option)
{
    return properties_get(&table->properties, table_option_info(option)->key) != NULL;
}

static void set_if_missing(struct arena *arena, struct table_descriptor *table, enum table_option option,
                           struct slice value)
{
    if (!is_set(table, option))
        properties_set(arena, &table->properties, slice_str(table_option_info(option)->key), value);
}

void table_defaults_apply(struct arena *arena, const struct table_cluster *cluster, struct table_descriptor *table)
{
    bool has_key = table->schema.primary_key_count > 0;
    table->has_distribution = true;
    if (table->bucket_count == -1)
        table->bucket_count = cluster->bucket_count_default;
    set_if_missing(arena, table, TABLE_OPTION_REPLICATION_FACTOR,
                   arena_printf(arena, "%d", cluster->replication_factor_default));
    /* Of several keys only one is known ahead. Fluss looks for exactly this word. */
    const struct slice *by_time =
        properties_get(&table->properties, table_option_info(TABLE_OPTION_AUTO_PARTITION_ENABLED)->key);
    if (table->partition_key_count > 1 && by_time && slice_is(*by_time, "true"))
        set_if_missing(arena, table, TABLE_OPTION_AUTO_PARTITION_PRECREATE, SLICE("0"));
    if (cluster->lake_format != LAKE_NONE)
        set_if_missing(arena, table, TABLE_OPTION_LAKE_FORMAT, slice_str(lake_format_name(cluster->lake_format)));
    if (has_key && is_set(table, TABLE_OPTION_MERGE_ENGINE))
        set_if_missing(arena, table, TABLE_OPTION_DELETE_BEHAVIOR, SLICE("IGNORE"));
    if (has_key)
        set_if_missing(arena, table, TABLE_OPTION_KV_FORMAT_VERSION, SLICE("2"));
}
