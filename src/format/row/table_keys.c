/* Which encoders a table's keys go through. Golden: keys.jsonl kvformat/... */
#include "format/row/row.h"

static enum err_code read_lake(const struct table_descriptor *table, enum lake_format *lake, struct err *err)
{
    const struct slice *name = properties_get(&table->properties, "table.datalake.format");
    *lake = LAKE_NONE;
    if (name && !lake_format_find(*name, lake))
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "table.datalake.format \"%.*s\" is not known",
                       SLICE_ARGS(*name));
    return OK;
}

static enum key_encoder encoder_of(enum lake_format lake)
{
    switch (lake) {
    case LAKE_PAIMON:
        return KEY_PAIMON;
    case LAKE_ICEBERG:
        return KEY_ICEBERG;
    case LAKE_HUDI:
        return KEY_HUDI;
    default:
        return KEY_COMPACTED;
    }
}

/* Version 1 encodes keys as the lake does. Then a prefix of the key is not a prefix of its bytes, so version 2 keeps to
 * compacted keys wherever buckets are made by fewer columns than the key has. */
static enum err_code read_primary_encoder(const struct table_descriptor *table, enum lake_format lake,
                                          enum key_encoder *encoder, struct err *err)
{
    const struct slice *text = properties_get(&table->properties, "table.kv.format-version");
    int64_t version = 1;
    *encoder = KEY_COMPACTED;
    if (lake == LAKE_HUDI)
        return OK;
    if ((text && !slice_to_i64(*text, &version)) || version < 1 || version > 2)
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "table.kv.format-version \"%.*s\" is not known: 1 and 2 are",
                       SLICE_ARGS(*text));
    if (version == 1 || table_default_bucket_key(table))
        *encoder = encoder_of(lake);
    return OK;
}

static bool is_proper_prefix(const struct table_keys *keys)
{
    if (keys->bucket_count == 0 || keys->bucket_count >= keys->primary_count)
        return false;
    return memcmp(keys->bucket, keys->primary, keys->bucket_count * sizeof *keys->bucket) == 0;
}

enum err_code table_keys_init(struct table_keys *keys, struct arena *arena, const struct table_descriptor *table,
                              struct err *err)
{
    struct table_keys made = {.bucket = table->bucket_keys, .bucket_count = table->bucket_key_count};
    uint32_t *primary = ARENA_NEW_ARRAY(arena, uint32_t, table->schema.primary_key_count);
    TRY(read_lake(table, &made.lake, err));
    made.bucket_encoder = encoder_of(made.lake);
    made.primary_encoder = KEY_COMPACTED;
    if (table->schema.primary_key_count > 0)
        TRY(read_primary_encoder(table, made.lake, &made.primary_encoder, err));
    made.primary = primary;
    made.primary_count = table_physical_key(table, primary);
    bool primary_fits = made.primary_encoder != KEY_ICEBERG || made.primary_count == 1;
    bool bucket_fits = made.bucket_encoder != KEY_ICEBERG || made.bucket_count <= 1;
    if (!primary_fits || !bucket_fits)
        return err_set(err, ERR_INVALID_TABLE_EXCEPTION,
                       "the %s key of a table with lake format iceberg must have exactly one column",
                       primary_fits ? "bucket" : "primary");
    made.primary_type = row_type_of(arena, &table->schema, made.primary, made.primary_count);
    made.bucket_type = row_type_of(arena, &table->schema, made.bucket, made.bucket_count);
    made.bucket_is_primary =
        made.primary_count > 0 && made.primary_encoder == made.bucket_encoder && table_default_bucket_key(table);
    made.prefix_lookup = is_proper_prefix(&made);
    *keys = made;
    return OK;
}
