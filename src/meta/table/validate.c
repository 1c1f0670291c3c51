/* What CREATE TABLE refuses. Codes are those of Fluss's TableDescriptorValidation; the texts are ours. */
#include "format/agg/agg.h"
#include "format/row/row.h"
#include "meta/table/table_int.h"

#define KV_FORMAT_VERSION_MAX 2
#define ZSTD_LEVEL_MAX 22
#define CONFIG ERR_INVALID_CONFIG_EXCEPTION
#define TABLE ERR_INVALID_TABLE_EXCEPTION

static enum err_code unknown_option(struct slice key, struct err *err)
{
    int shown = (int)MIN(key.len, 120);
    const char *nearest = table_option_nearest(key);
    if (!slice_starts_with(key, SLICE("table.")))
        return err_set(err, CONFIG, "'%.*s' is not a table property; set it as a custom property.", shown,
                       (const char *)key.ptr);
    if (nearest)
        return err_set(err, CONFIG, "'%.*s' is not a table property; did you mean '%s'?", shown, (const char *)key.ptr,
                       nearest);
    return err_set(err, CONFIG, "'%.*s' is not a table property that this server knows.", shown, (const char *)key.ptr);
}

static enum err_code check_properties(const struct table_descriptor *table, struct err *err)
{
    if (table->properties.count > PROPERTIES_MAX || table->custom_properties.count > PROPERTIES_MAX)
        return err_set(err, TABLE, "The table has %u properties and %u custom properties; at most %d of each fit.",
                       table->properties.count, table->custom_properties.count, PROPERTIES_MAX);
    for (uint32_t i = 0; i < table->properties.count; i++) {
        const struct key_value *pair = &table->properties.items[i];
        enum table_option option;
        if (!table_option_find(pair->key, &option))
            return unknown_option(pair->key, err);
        TRY(option_check(option, pair->value, err));
    }
    return OK;
}

static enum err_code check_kind(const struct table_cluster *cluster, const struct table_descriptor *table,
                                struct err *err)
{
    bool has_key = table->schema.primary_key_count > 0;
    if (has_key && !cluster->kv_tables_allowed)
        return err_set(err, TABLE, "Primary-key tables are not allowed here (allow.create.kv.tables is false).");
    if (!has_key && !cluster->log_tables_allowed)
        return err_set(err, TABLE, "Log tables are not allowed here (allow.create.log.tables is false).");
    if (has_key && !table->bucket_key_count)
        return err_set(err, TABLE, "A primary-key table needs a bucket key.");
    return OK;
}

static enum err_code check_distribution(const struct table_cluster *cluster, const struct table_descriptor *table,
                                        struct err *err)
{
    if (!table->has_distribution || table->bucket_count == -1)
        return err_set(err, TABLE, "The number of buckets must be set.");
    if (table->bucket_count < 1)
        return err_set(err, TABLE, "The number of buckets must be greater than 0, not %d.", table->bucket_count);
    if (table->bucket_count > cluster->bucket_count_max)
        return err_set(err, ERR_BUCKET_MAX_NUM_EXCEPTION,
                       "%d buckets are more than a table may have: %d (max.bucket.num).", table->bucket_count,
                       cluster->bucket_count_max);
    return OK;
}

/* The option's number; the form was checked before. */
static int64_t number_of(const struct table_descriptor *table, enum table_option option, int64_t missing)
{
    int64_t number = missing;
    struct slice text = table_option_get(table, option);
    return text.ptr && option_int(text, INT32_MIN, INT32_MAX, &number) ? number : missing;
}

static enum err_code check_replication(const struct table_cluster *cluster, const struct table_descriptor *table,
                                       struct err *err)
{
    const char *key = table_option_info(TABLE_OPTION_REPLICATION_FACTOR)->key;
    if (!table_option_get(table, TABLE_OPTION_REPLICATION_FACTOR).ptr)
        return err_set(err, CONFIG, "Missing required table property '%s'.", key);
    int64_t factor = number_of(table, TABLE_OPTION_REPLICATION_FACTOR, 0);
    if (factor <= 0)
        return err_set(err, CONFIG, "'%s' must be greater than 0, not %lld.", key, (long long)factor);
    if (factor > cluster->tablet_server_count)
        return err_set(err, ERR_INVALID_REPLICATION_FACTOR,
                       "Replication factor %lld is larger than the number of tablet servers: %d.", (long long)factor,
                       cluster->tablet_server_count);
    return OK;
}

static enum err_code check_numbers(const struct table_descriptor *table, struct err *err)
{
    int64_t level = number_of(table, TABLE_OPTION_LOG_ZSTD_LEVEL, 0);
    if (level < 1 || level > ZSTD_LEVEL_MAX)
        return err_set(err, CONFIG, "ZSTD compression level %lld is not between 1 and %d.", (long long)level,
                       ZSTD_LEVEL_MAX);
    if (number_of(table, TABLE_OPTION_LOG_LOCAL_SEGMENTS, 0) <= 0)
        return err_set(err, CONFIG, "'%s' must be greater than 0.",
                       table_option_info(TABLE_OPTION_LOG_LOCAL_SEGMENTS)->key);
    int64_t version = number_of(table, TABLE_OPTION_KV_FORMAT_VERSION, 1);
    if (version < 1 || version > KV_FORMAT_VERSION_MAX)
        return err_set(err, CONFIG, "Kv format version %lld is not served; 1 to %d are.", (long long)version,
                       KV_FORMAT_VERSION_MAX);
    return OK;
}

static enum err_code check_no_merge(const struct table_descriptor *table, struct err *err)
{
    static const enum table_option of_keys[] = {TABLE_OPTION_DELETE_BEHAVIOR, TABLE_OPTION_MERGE_ENGINE};
    for (size_t i = 0; i < ARRAY_LEN(of_keys); i++) {
        const char *key = table_option_info(of_keys[i])->key;
        if (properties_get(&table->properties, key))
            return err_set(err, CONFIG, "'%s' is only for primary-key tables.", key);
    }
    return OK;
}

static enum err_code check_version(const struct table_descriptor *table, struct slice name, struct err *err)
{
    const char *key = table_option_info(TABLE_OPTION_MERGE_VERSION_COLUMN)->key;
    int32_t column = name.ptr ? schema_find(&table->schema, name) : -1;
    if (column < 0)
        return err_set(err, CONFIG, "The merge engine VERSIONED needs '%s' to name a column of the table.", key);
    enum type_kind kind = table->schema.columns[column].type->kind;
    if (kind != TYPE_INTEGER && kind != TYPE_BIGINT && kind != TYPE_TIMESTAMP && kind != TYPE_TIMESTAMP_LTZ)
        return err_set(err, CONFIG, "'%s' must name a column of INT, BIGINT, TIMESTAMP or TIMESTAMP_LTZ.", key);
    return OK;
}

static enum err_code check_formats(const struct table_descriptor *table, struct err *err)
{
    struct table_settings settings;
    TRY(table_settings_read(table, &settings, err));
    if (table->schema.primary_key_count && settings.kv_format == ROW_COMPACTED &&
        settings.log_format == LOG_FORMAT_INDEXED)
        return err_set(
            err, CONFIG,
            "A primary-key table with 'table.kv.format' COMPACTED has a log of ARROW or COMPACTED, not INDEXED.");
    return OK;
}

/* What a column of the primary key says is not looked at, as Fluss has it. */
static enum err_code check_functions(const struct schema *schema, bool aggregates, struct err *err)
{
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const struct schema_column *column = &schema->columns[i];
        if (column->agg_function.ptr && !aggregates)
            return err_set(err, CONFIG,
                           "Column '%.*s' has the aggregation function '%.*s', which needs a table with "
                           "'table.merge-engine' AGGREGATION.",
                           SLICE_ARGS(column->name), SLICE_ARGS(column->agg_function));
        if (!schema_in_key(schema, i))
            TRY(agg_check(column, err));
    }
    return OK;
}

static enum err_code check_merge(const struct table_descriptor *table, struct err *err)
{
    struct table_settings settings;
    TRY(table_settings_read(table, &settings, err));
    bool has_key = table->schema.primary_key_count > 0;
    TRY(check_functions(&table->schema, has_key && settings.merge_engine == MERGE_AGGREGATION, err));
    if (!has_key)
        return check_no_merge(table, err);
    if ((settings.merge_engine == MERGE_FIRST_ROW || settings.merge_engine == MERGE_VERSIONED) &&
        settings.delete_behavior == DELETE_ALLOW)
        return err_set(err, CONFIG, "Deletes can't be allowed with this merge engine: set '%s' to IGNORE or DISABLE.",
                       table_option_info(TABLE_OPTION_DELETE_BEHAVIOR)->key);
    if (settings.merge_engine == MERGE_AGGREGATION && settings.changelog_image == IMAGE_WAL)
        return err_set(err, CONFIG, "The merge engine AGGREGATION needs '%s' FULL, so that writers can take rows back.",
                       table_option_info(TABLE_OPTION_CHANGELOG_IMAGE)->key);
    return settings.merge_engine == MERGE_VERSIONED ? check_version(table, settings.version_column, err) : OK;
}

static enum err_code check_statistics_column(const struct schema *schema, struct slice name, struct err *err)
{
    int32_t column = schema_find(schema, name);
    if (column < 0)
        return err_set(err, CONFIG, "Column '%.*s' of 'table.statistics.columns' does not exist.", SLICE_ARGS(name));
    if (!log_batch_has_bounds(schema->columns[column].type->kind))
        return err_set(err, CONFIG, "Column '%.*s' of 'table.statistics.columns' has a type without an order.",
                       SLICE_ARGS(name));
    return OK;
}

static enum err_code check_statistics(const struct table_descriptor *table, struct err *err)
{
    struct slice rest = table_option_get(table, TABLE_OPTION_STATISTICS_COLUMNS), name;
    if (!rest.ptr)
        return OK;
    if (table->schema.primary_key_count)
        return err_set(err, CONFIG, "'table.statistics.columns' is only for log tables.");
    uint32_t count = 0;
    while (slice_list_next(&rest, &name)) {
        if (!name.len)
            continue;
        count++;
        if (slice_is(name, "*") && count == 1 && !rest.len)
            break;
        TRY(check_statistics_column(&table->schema, name, err));
    }
    return count ? OK : err_set(err, CONFIG, "'table.statistics.columns' names no column; leave it out, or set '*'.");
}

static enum err_code check_lake(const struct table_cluster *cluster, const struct table_descriptor *table,
                                struct err *err)
{
    struct table_settings settings;
    TRY(table_settings_read(table, &settings, err));
    if (settings.lake_freshness_ms < 0 && table_option_get(table, TABLE_OPTION_LAKE_FRESHNESS).ptr)
        return err_set(err, CONFIG, "'table.datalake.freshness' can't be negative.");
    if (!settings.lake_enabled)
        return OK;
    if (cluster->lake_format == LAKE_NONE || !cluster->lake_enabled)
        return err_set(err, TABLE,
                       "'table.datalake.enabled' needs a server with a lake; start it with "
                       "datalake.format set.");
    if (settings.lake_format != cluster->lake_format)
        return err_set(err, CONFIG,
                       "'table.datalake.format' ('%s') must match the server's 'datalake.format' ('%s') "
                       "when 'table.datalake.enabled' is true.",
                       lake_format_name(settings.lake_format), lake_format_name(cluster->lake_format));
    return OK;
}

/* Any time will do: all have the same form. */
#define SAMPLE_S 1731322800 /* 2024-11-11 11:00 */

/* The values that the server will make must be such as a client can write rows for. */
static enum err_code check_time_value(const struct table_descriptor *table, const struct time_partitions *time,
                                      struct err *err)
{
    struct arena arena = {0};
    struct slice value;
    struct zone *zone = zone_utc();
    struct err why = {0};
    const struct schema_column *column = &table->schema.columns[table->partition_keys[time->key]];
    enum err_code code = OK;
    bool there = time_partition_value(time, zone, SAMPLE_S, 0, &arena, &value);
    ASSERT(there);
    if (partition_value_check(column, value, &arena, &why) != OK)
        code = err_set(err, TABLE, "Partitions by time would have values like '%.*s' in column '%.*s': %s",
                       (int)MIN(value.len, 60), (const char *)value.ptr, (int)MIN(column->name.len, 60),
                       (const char *)column->name.ptr, why.text);
    zone_close(zone);
    arena_deinit(&arena);
    return code;
}

static enum err_code check_time(const struct table_descriptor *table, struct err *err)
{
    struct table_settings settings;
    TRY(table_settings_read(table, &settings, err));
    const struct time_partitions *time = &settings.time;
    if (time->enabled && table->partition_key_count == 0)
        return err_set(err, CONFIG, "'%s' is only for partitioned tables.",
                       table_option_info(TABLE_OPTION_AUTO_PARTITION_ENABLED)->key);
    if (table->partition_key_count == 0)
        return OK;
    if (time->format.ptr)
        TRY(time_format_check(time->format, time->unit, err));
    if (table->partition_key_count > 1 && time->enabled) {
        if (!table_option_get(table, TABLE_OPTION_AUTO_PARTITION_KEY).len)
            return err_set(err, TABLE, "With several partition keys '%s' must say which of them holds the time.",
                           table_option_info(TABLE_OPTION_AUTO_PARTITION_KEY)->key);
        if (time->precreate > 0)
            return err_set(err, TABLE, "With several partition keys none are made ahead of time: '%s' must be 0.",
                           table_option_info(TABLE_OPTION_AUTO_PARTITION_PRECREATE)->key);
    }
    return time->enabled || time->format.ptr ? check_time_value(table, time, err) : OK;
}

/* Iceberg has single values only, of these types: a key of others could never be written. */
static bool iceberg_takes(const struct type *key)
{
    for (uint32_t i = 0; i < key->field_count; i++)
        switch (key->fields[i].type->kind) {
        case TYPE_BOOLEAN:
        case TYPE_TINYINT:
        case TYPE_SMALLINT:
        case TYPE_TIMESTAMP_LTZ:
            return false;
        default:
            break;
        }
    return true;
}

static enum err_code check_keys(const struct table_descriptor *table, struct err *err)
{
    struct arena arena = {0};
    struct table_keys keys;
    enum err_code code = table_keys_init(&keys, &arena, table, err);
    if (code == OK && ((keys.primary_encoder == KEY_ICEBERG && !iceberg_takes(keys.primary_type)) ||
                       (keys.bucket_encoder == KEY_ICEBERG && !iceberg_takes(keys.bucket_type))))
        code = err_set(err, TABLE,
                       "The key of a table with 'table.datalake.format' ICEBERG can't be BOOLEAN, TINYINT, SMALLINT or "
                       "TIMESTAMP_LTZ.");
    arena_deinit(&arena);
    return code;
}

enum err_code table_validate(const struct table_cluster *cluster, const struct table_descriptor *table, struct err *err)
{
    TRY(check_properties(table, err));
    TRY(check_kind(cluster, table, err));
    TRY(check_distribution(cluster, table, err));
    TRY(check_replication(cluster, table, err));
    TRY(check_numbers(table, err));
    TRY(check_merge(table, err));
    TRY(check_formats(table, err));
    TRY(check_time(table, err));
    TRY(check_statistics(table, err));
    TRY(check_keys(table, err));
    return check_lake(cluster, table, err);
}
