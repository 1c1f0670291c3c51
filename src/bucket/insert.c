/* Look-ups that insert what is not there: rows with nothing but their keys, as a write of the key's columns. */
#include "bucket/bucket_int.h"

struct insert {
    struct bucket *bucket;
    const struct table_info *table;
    struct table_keys keys;
    const struct type *row_type;
    struct arena arena;
    struct datum *row;
    struct datum *key; /* the fields of one key */
    struct kv_batch_builder builder;
    struct buf bytes;
};

/* Keys do not hold the columns that the partition's name does. */
static enum err_code partition_columns_set(struct insert *insert, struct slice name, struct err *err)
{
    const struct table_descriptor *table = insert->table->descriptor;
    if (table->partition_key_count == 0)
        return OK;
    struct slice *values = ARENA_NEW_ARRAY(&insert->arena, struct slice, table->partition_key_count);
    TRY(partition_name_split(name, table->partition_key_count, values, err));
    for (uint32_t i = 0; i < table->partition_key_count; i++)
        TRY(partition_value_parse(table->schema.columns[table->partition_keys[i]].type, values[i], &insert->arena,
                                  &insert->row[table->partition_keys[i]], err));
    return OK;
}

static enum err_code key_add(struct insert *insert, struct slice key, struct err *err)
{
    const struct table_keys *keys = &insert->keys;
    struct slice value;
    TRY(bucket_lookup(insert->bucket, key, true, &insert->arena, &value, err));
    if (value.ptr)
        return OK;
    if (key_decode(keys->primary_encoder, keys->primary_type, key, &insert->arena, insert->key, NULL) != OK)
        return err_set(err, ERR_INVALID_ARGUMENT, "a key of %zu bytes is none of this table", key.len);
    for (uint32_t i = 0; i < keys->primary_count; i++)
        insert->row[keys->primary[i]] = insert->key[i];
    buf_reset(&insert->bytes);
    TRY(row_encode(insert->table->settings.kv_format, insert->row_type, insert->row, &insert->bytes, err));
    return kv_batch_builder_put(&insert->builder, key, buf_view(&insert->bytes), err);
}

static enum err_code rows_put(struct insert *insert, struct bucket_append *append, struct err *err)
{
    const struct schema *schema = &insert->table->descriptor->schema;
    struct buf batch = {0};
    if (insert->builder.count == 0)
        return OK;
    kv_batch_builder_finish(&insert->builder, -1, -1, &batch);
    struct bucket_put put = {.records = buf_view(&batch),
                             .target_columns = schema->primary_key,
                             .target_column_count = schema->primary_key_count};
    enum err_code code = bucket_put(insert->bucket, &put, append, err);
    buf_deinit(&batch);
    return code;
}

static enum err_code keys_put(struct insert *insert, const struct bucket_insert *what, struct bucket_append *append,
                              struct err *err)
{
    const struct table_descriptor *table = insert->table->descriptor;
    TRY(table_keys_init(&insert->keys, &insert->arena, table, err));
    insert->row_type = row_type(&insert->arena, &table->schema);
    insert->row = ARENA_NEW_ARRAY(&insert->arena, struct datum, table->schema.column_count);
    insert->key = ARENA_NEW_ARRAY(&insert->arena, struct datum, insert->keys.primary_count);
    for (uint32_t i = 0; i < table->schema.column_count; i++)
        insert->row[i] = (struct datum){.is_null = true};
    TRY(partition_columns_set(insert, what->partition_name, err));
    for (size_t i = 0; i < what->key_count; i++)
        TRY(key_add(insert, what->keys[i], err));
    return rows_put(insert, append, err);
}

enum err_code bucket_insert(struct bucket *bucket, const struct bucket_insert *what, struct bucket_append *append,
                            struct err *err)
{
    struct insert insert = {.bucket = bucket};
    if (!bucket->state)
        return err_set(err, ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION, "table %.*s.%.*s has no primary key",
                       SLICE_ARGS(bucket->table->database), SLICE_ARGS(bucket->table->name));
    insert.table = bucket_table(bucket);
    *append = (struct bucket_append){0, 0};
    kv_batch_builder_init(&insert.builder, (int16_t)insert.table->schema_id);
    enum err_code code = keys_put(&insert, what, append, err);
    kv_batch_builder_deinit(&insert.builder);
    buf_deinit(&insert.bytes);
    arena_deinit(&insert.arena);
    table_unref(insert.table);
    return code;
}
