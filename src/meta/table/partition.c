/* The names of partitions, from the values that a request gives (docs/formats/rows.md). */
#include "meta/table/table_int.h"

static const struct schema_column *key_column(const struct table_descriptor *table, uint32_t i)
{
    return &table->schema.columns[table->partition_keys[i]];
}

static enum err_code check_partitioned(const struct table_descriptor *table, struct err *err)
{
    if (table->partition_key_count > 0)
        return OK;
    return err_set(err, ERR_TABLE_NOT_PARTITIONED_EXCEPTION, "The table is not partitioned.");
}

/* Position of a partition key, or -1. */
static int32_t key_find(const struct table_descriptor *table, struct slice key)
{
    for (uint32_t i = 0; i < table->partition_key_count; i++)
        if (slice_equal(key_column(table, i)->name, key))
            return (int32_t)i;
    return -1;
}

/* The values in the order of the keys; ptr NULL where none is given. */
static enum err_code values_place(const struct table_descriptor *table, const struct properties *spec,
                                  struct slice *values, struct err *err)
{
    for (uint32_t i = 0; i < spec->count; i++) {
        const struct key_value *pair = &spec->items[i];
        int32_t at = key_find(table, pair->key);
        if (at < 0)
            return err_set(err, ERR_PARTITION_SPEC_INVALID_EXCEPTION, "'%.*s' is not a partition key of the table.",
                           (int)MIN(pair->key.len, 100), (const char *)pair->key.ptr);
        if (values[at].ptr)
            return err_set(err, ERR_PARTITION_SPEC_INVALID_EXCEPTION, "Partition key '%.*s' is given twice.",
                           (int)MIN(pair->key.len, 100), (const char *)pair->key.ptr);
        values[at] = pair->value.ptr ? pair->value : SLICE("");
    }
    return OK;
}

static enum err_code values_complete(const struct table_descriptor *table, const struct slice *values, struct err *err)
{
    for (uint32_t i = 0; i < table->partition_key_count; i++) {
        struct slice key = key_column(table, i)->name;
        if (!values[i].ptr)
            return err_set(err, ERR_PARTITION_SPEC_INVALID_EXCEPTION, "Partition key '%.*s' has no value.",
                           (int)MIN(key.len, 100), (const char *)key.ptr);
    }
    return OK;
}

enum err_code partition_value_check(const struct schema_column *column, struct slice value, struct arena *arena,
                                    struct err *err)
{
    struct datum datum;
    if (!name_is_valid(value))
        return err_set(err, ERR_PARTITION_SPEC_INVALID_EXCEPTION,
                       "'%.*s' can't be the value of a partition: 1 to %d of the characters a-z A-Z 0-9 _ -, not "
                       "beginning with __.",
                       (int)MIN(value.len, 60), (const char *)value.ptr, NAME_BYTES_MAX);
    return partition_value_parse(column->type, value, arena, &datum, err);
}

enum err_code table_partition_check_new(const struct table_descriptor *table, const struct properties *spec,
                                        struct arena *arena, struct slice *name, struct err *err)
{
    TRY(check_partitioned(table, err));
    struct slice *values = ARENA_NEW_ARRAY(arena, struct slice, table->partition_key_count);
    TRY(values_place(table, spec, values, err));
    TRY(values_complete(table, values, err));
    for (uint32_t i = 0; i < table->partition_key_count; i++)
        TRY(partition_value_check(key_column(table, i), values[i], arena, err));
    TRY(table_partition_name(table, spec, arena, name, err));
    if (name->len > PARTITION_NAME_BYTES_MAX)
        return err_set(err, ERR_PARTITION_SPEC_INVALID_EXCEPTION,
                       "The partition's name has %zu letters; at most %d fit into a directory's name.", name->len,
                       PARTITION_NAME_BYTES_MAX);
    return OK;
}

enum err_code table_partition_name(const struct table_descriptor *table, const struct properties *spec,
                                   struct arena *arena, struct slice *name, struct err *err)
{
    TRY(check_partitioned(table, err));
    struct slice *values = ARENA_NEW_ARRAY(arena, struct slice, table->partition_key_count);
    TRY(values_place(table, spec, values, err));
    TRY(values_complete(table, values, err));
    struct buf text = {0};
    partition_name_put(values, table->partition_key_count, &text);
    *name = arena_dup(arena, buf_view(&text));
    buf_deinit(&text);
    return OK;
}

enum err_code table_partition_values(const struct table_descriptor *table, struct slice name, struct arena *arena,
                                     struct properties *spec, struct err *err)
{
    TRY(check_partitioned(table, err));
    uint32_t count = table->partition_key_count;
    struct slice *values = ARENA_NEW_ARRAY(arena, struct slice, count);
    TRY(partition_name_split(name, count, values, err));
    spec->items = ARENA_NEW_ARRAY(arena, struct key_value, count);
    spec->count = count;
    for (uint32_t i = 0; i < count; i++)
        spec->items[i] = (struct key_value){key_column(table, i)->name, values[i]};
    return OK;
}

enum err_code table_partition_filter(const struct table_descriptor *table, const struct properties *spec,
                                     struct arena *arena, struct slice **filter, struct err *err)
{
    TRY(check_partitioned(table, err));
    *filter = ARENA_NEW_ARRAY(arena, struct slice, table->partition_key_count);
    return values_place(table, spec, *filter, err);
}

bool table_partition_matches(const struct slice *filter, const struct properties *values)
{
    for (uint32_t i = 0; i < values->count; i++)
        if (filter[i].ptr && !slice_equal(filter[i], values->items[i].value))
            return false;
    return true;
}
