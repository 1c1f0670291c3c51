#include "meta/table/table_int.h"

static enum err_code bad(enum table_option option, struct err *err)
{
    return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "The value of '%s' is not of its form.",
                   table_option_info(option)->key);
}

static enum err_code read_word(const struct table_descriptor *table, enum table_option option, int *word,
                               struct err *err)
{
    int found = option_word(table_option_info(option)->values, table_option_get(table, option));
    if (found < 0)
        return bad(option, err);
    *word = found;
    return OK;
}

static enum err_code read_bool(const struct table_descriptor *table, enum table_option option, bool *value,
                               struct err *err)
{
    return option_bool(table_option_get(table, option), value) ? OK : bad(option, err);
}

static enum err_code read_duration(const struct table_descriptor *table, enum table_option option, int64_t *ms,
                                   struct err *err)
{
    struct slice text = table_option_get(table, option);
    *ms = -1;
    return !text.ptr || duration_from_text(text, ms) ? OK : bad(option, err);
}

static enum err_code read_int(const struct table_descriptor *table, enum table_option option, int32_t missing,
                              int32_t *value, struct err *err)
{
    struct slice text = table_option_get(table, option);
    int64_t number = missing;
    if (text.ptr && !option_int(text, INT32_MIN, INT32_MAX, &number))
        return bad(option, err);
    *value = (int32_t)number;
    return OK;
}

static enum err_code read_merge(const struct table_descriptor *table, struct table_settings *settings, struct err *err)
{
    int word = -1;
    if (table_option_get(table, TABLE_OPTION_MERGE_ENGINE).ptr)
        TRY(read_word(table, TABLE_OPTION_MERGE_ENGINE, &word, err));
    settings->merge_engine = (enum table_merge)(word + 1); /* the words in the order of the enum, none before them */
    if (!option_int(table_option_get(table, TABLE_OPTION_AUTO_INCREMENT_CACHE), 1, INT64_MAX,
                    &settings->auto_increment_cache))
        return bad(TABLE_OPTION_AUTO_INCREMENT_CACHE, err);
    settings->version_column = table_option_get(table, TABLE_OPTION_MERGE_VERSION_COLUMN);
    return OK;
}

static enum err_code read_log(const struct table_descriptor *table, struct table_settings *settings, struct err *err)
{
    int word = 0;
    TRY(read_word(table, TABLE_OPTION_LOG_FORMAT, &word, err));
    settings->log_format = (enum log_format)word;
    TRY(read_word(table, TABLE_OPTION_KV_FORMAT, &word, err));
    settings->kv_format = word == 0 ? ROW_COMPACTED : ROW_INDEXED;
    TRY(read_word(table, TABLE_OPTION_LOG_COMPRESSION, &word, err));
    settings->log_compression = (enum table_compression)word;
    TRY(read_int(table, TABLE_OPTION_LOG_ZSTD_LEVEL, 3, &settings->zstd_level, err));
    TRY(read_duration(table, TABLE_OPTION_LOG_TTL, &settings->log_ttl_ms, err));
    TRY(read_int(table, TABLE_OPTION_KV_FORMAT_VERSION, 1, &settings->kv_format_version, err));
    TRY(read_word(table, TABLE_OPTION_DELETE_BEHAVIOR, &word, err));
    settings->delete_behavior = (enum table_delete)word;
    TRY(read_word(table, TABLE_OPTION_CHANGELOG_IMAGE, &word, err));
    settings->changelog_image = (enum table_image)word;
    return read_merge(table, settings, err);
}

static enum err_code read_lake(const struct table_descriptor *table, struct table_settings *settings, struct err *err)
{
    TRY(read_bool(table, TABLE_OPTION_LAKE_ENABLED, &settings->lake_enabled, err));
    TRY(read_bool(table, TABLE_OPTION_LAKE_AUTO_COMPACTION, &settings->lake_auto_compaction, err));
    TRY(read_duration(table, TABLE_OPTION_LAKE_FRESHNESS, &settings->lake_freshness_ms, err));
    settings->lake_auto_expire = CHOICE_UNSET;
    if (table_option_get(table, TABLE_OPTION_LAKE_AUTO_EXPIRE).ptr) {
        bool expire;
        TRY(read_bool(table, TABLE_OPTION_LAKE_AUTO_EXPIRE, &expire, err));
        settings->lake_auto_expire = expire ? CHOICE_ON : CHOICE_OFF;
    }
    struct slice format = table_option_get(table, TABLE_OPTION_LAKE_FORMAT);
    settings->lake_format = LAKE_NONE;
    if (format.ptr && !lake_format_find(format, &settings->lake_format))
        return bad(TABLE_OPTION_LAKE_FORMAT, err);
    return OK;
}

/* Position among the partition keys; -1: none of them. */
static int32_t partition_key_find(const struct table_descriptor *table, struct slice name)
{
    for (uint32_t i = 0; i < table->partition_key_count; i++)
        if (slice_equal(table->schema.columns[table->partition_keys[i]].name, name))
            return (int32_t)i;
    return -1;
}

static enum err_code read_time(const struct table_descriptor *table, struct time_partitions *time, struct err *err)
{
    int unit = 0;
    TRY(read_bool(table, TABLE_OPTION_AUTO_PARTITION_ENABLED, &time->enabled, err));
    TRY(read_word(table, TABLE_OPTION_AUTO_PARTITION_TIME_UNIT, &unit, err));
    time->unit = (enum time_unit)unit;
    time->format = table_option_get(table, TABLE_OPTION_AUTO_PARTITION_TIME_FORMAT);
    time->zone = table_option_get(table, TABLE_OPTION_AUTO_PARTITION_TIME_ZONE);
    TRY(read_int(table, TABLE_OPTION_AUTO_PARTITION_PRECREATE, 2, &time->precreate, err));
    TRY(read_int(table, TABLE_OPTION_AUTO_PARTITION_RETENTION, 7, &time->retention, err));
    struct slice key = table_option_get(table, TABLE_OPTION_AUTO_PARTITION_KEY);
    int32_t at = key.len ? partition_key_find(table, key) : 0;
    if (time->enabled && table->partition_key_count && at < 0)
        return err_set(err, ERR_INVALID_TABLE_EXCEPTION, "'%.*s' ('%s') is not a partition key of the table.",
                       (int)MIN(key.len, 100), (const char *)key.ptr,
                       table_option_info(TABLE_OPTION_AUTO_PARTITION_KEY)->key);
    time->key = (uint32_t)MAX(at, 0);
    return OK;
}

enum err_code table_settings_read(const struct table_descriptor *table, struct table_settings *settings,
                                  struct err *err)
{
    struct table_settings read = {0};
    TRY(read_log(table, &read, err));
    TRY(read_lake(table, &read, err));
    TRY(read_time(table, &read.time, err));
    *settings = read;
    return OK;
}
