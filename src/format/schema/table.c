/* Table and database descriptors: their JSON, version 1, and the rules that clients and server share.
 *
 *   {"version":1, "schema":{..}, "comment"?, "partition_key":[names], "bucket_key"?:[names], "bucket_count"?,
 *    "properties":{..}, "custom_properties":{..}}
 *   {"version":1, "comment"?, "custom_properties":{..}}
 *
 * Golden: schemas.jsonl table_descriptor/..., database_descriptor/... */
#include "format/schema/schema_int.h"

static enum err_code decode_distribution(struct doc *doc, json_t *node, struct table_descriptor *table)
{
    table->bucket_count = -1;
    table->has_distribution = doc_member(node, "bucket_key") != NULL;
    if (!table->has_distribution)
        return doc_member(node, "bucket_count") ? doc_refuse(doc, "\"bucket_count\" without \"bucket_key\"") : OK;
    TRY(doc_columns(doc, node, "bucket_key", &table->schema, &table->bucket_keys, &table->bucket_key_count));
    if (!doc_member(node, "bucket_count"))
        return OK;
    TRY(doc_i32(doc, node, "bucket_count", &table->bucket_count));
    return table->bucket_count > 0 ? OK : doc_refuse(doc, "the bucket count is %d", table->bucket_count);
}

static enum err_code decode_table(struct doc *doc, json_t *node, struct table_descriptor *table)
{
    struct table_descriptor read = {0};
    TRY(doc_version(doc, node));
    json_t *schema = doc_member(node, "schema");
    if (!json_is_object(schema))
        return doc_refuse(doc, "\"schema\" is %s", schema ? "not an object" : "missing");
    TRY(schema_decode(doc, schema, &read.schema));
    TRY(doc_optional_text(doc, node, "comment", &read.comment));
    TRY(doc_columns(doc, node, "partition_key", &read.schema, &read.partition_keys, &read.partition_key_count));
    /* Later clients can partition by an expression; a table made without it would not be the table asked for. */
    if (json_array_size(doc_member(node, "partition_expressions")) > 0)
        return doc_refuse(doc, "partitioning by an expression is not supported");
    TRY(decode_distribution(doc, node, &read));
    TRY(doc_properties(doc, node, "properties", &read.properties));
    TRY(doc_properties(doc, node, "custom_properties", &read.custom_properties));
    *table = read;
    return OK;
}

enum err_code table_descriptor_from_json(struct arena *arena, struct slice json, struct table_descriptor *table,
                                         struct err *err)
{
    struct doc doc = {arena, ERR_INVALID_TABLE_EXCEPTION, err, NULL};
    TRY(doc_open(&doc, json));
    enum err_code code = decode_table(&doc, doc.root, table);
    doc_close(&doc);
    return code;
}

void table_descriptor_to_json(const struct table_descriptor *table, struct buf *out)
{
    buf_put_slice(out, SLICE("{\"version\":1,\"schema\":"));
    schema_to_json(&table->schema, out);
    if (table->comment.ptr) {
        put_key(out, false, "comment");
        json_put_string(out, table->comment);
    }
    put_key(out, false, "partition_key");
    put_column_names(out, &table->schema, table->partition_keys, table->partition_key_count);
    if (table->has_distribution) {
        put_key(out, false, "bucket_key");
        put_column_names(out, &table->schema, table->bucket_keys, table->bucket_key_count);
        if (table->bucket_count >= 0)
            buf_printf(out, ",\"bucket_count\":%d", table->bucket_count);
    }
    put_key(out, false, "properties");
    put_properties(out, &table->properties);
    put_key(out, false, "custom_properties");
    put_properties(out, &table->custom_properties);
    buf_put_u8(out, '}');
}

static enum err_code decode_database(struct doc *doc, json_t *node, struct database_descriptor *database)
{
    struct database_descriptor read = {0};
    TRY(doc_version(doc, node));
    TRY(doc_optional_text(doc, node, "comment", &read.comment));
    TRY(doc_properties(doc, node, "custom_properties", &read.custom_properties));
    *database = read;
    return OK;
}

enum err_code database_descriptor_from_json(struct arena *arena, struct slice json,
                                            struct database_descriptor *database, struct err *err)
{
    struct doc doc = {arena, ERR_INVALID_DATABASE_EXCEPTION, err, NULL};
    if (json.len == 0) {
        *database = (struct database_descriptor){0};
        return OK;
    }
    TRY(doc_open(&doc, json));
    enum err_code code = decode_database(&doc, doc.root, database);
    doc_close(&doc);
    return code;
}

void database_descriptor_to_json(const struct database_descriptor *database, struct buf *out)
{
    buf_put_slice(out, SLICE("{\"version\":1"));
    if (database->comment.ptr) {
        put_key(out, false, "comment");
        json_put_string(out, database->comment);
    }
    put_key(out, false, "custom_properties");
    put_properties(out, &database->custom_properties);
    buf_put_u8(out, '}');
}

static bool holds(const uint32_t *positions, uint32_t count, uint32_t position)
{
    for (uint32_t i = 0; i < count; i++)
        if (positions[i] == position)
            return true;
    return false;
}

uint32_t table_physical_key(const struct table_descriptor *table, uint32_t *positions)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->schema.primary_key_count; i++)
        if (!holds(table->partition_keys, table->partition_key_count, table->schema.primary_key[i]))
            positions[count++] = table->schema.primary_key[i];
    return count;
}

bool table_default_bucket_key(const struct table_descriptor *table)
{
    uint32_t key[SCHEMA_COLUMNS_MAX];
    uint32_t count = table_physical_key(table, key);
    return count == table->bucket_key_count &&
           (count == 0 || memcmp(key, table->bucket_keys, count * sizeof *key) == 0);
}

static enum err_code check_partition_keys(const struct table_descriptor *table, struct err *err)
{
    const struct schema *schema = &table->schema;
    for (uint32_t i = 0; i < table->partition_key_count; i++) {
        uint32_t key = table->partition_keys[i];
        const struct schema_column *column = &schema->columns[key];
        if (type_is_nested(column->type) || column->type->kind == TYPE_DECIMAL)
            return err_set(err, ERR_INVALID_TABLE_EXCEPTION, "the partition key \"%.*s\" can not be of its type",
                           SLICE_ARGS(column->name));
        if (schema->primary_key_count > 0 && !holds(schema->primary_key, schema->primary_key_count, key))
            return err_set(err, ERR_INVALID_TABLE_EXCEPTION,
                           "the partition key \"%.*s\" is not part of the primary key", SLICE_ARGS(column->name));
    }
    return OK;
}

static enum err_code check_bucket_keys(const struct table_descriptor *table, struct err *err)
{
    const struct schema *schema = &table->schema;
    for (uint32_t i = 0; i < table->bucket_key_count; i++) {
        uint32_t key = table->bucket_keys[i];
        const struct schema_column *column = &schema->columns[key];
        const char *fault = NULL;
        if (holds(table->partition_keys, table->partition_key_count, key))
            fault = "is a partition key";
        else if (schema->primary_key_count > 0 && !holds(schema->primary_key, schema->primary_key_count, key))
            fault = "is not part of the primary key";
        else if (type_is_nested(column->type))
            fault = "is of a nested type";
        if (fault)
            return err_set(err, ERR_INVALID_TABLE_EXCEPTION, "the bucket key \"%.*s\" %s", SLICE_ARGS(column->name),
                           fault);
    }
    return OK;
}

enum err_code table_descriptor_normalize(struct arena *arena, struct table_descriptor *table, struct err *err)
{
    TRY(check_partition_keys(table, err));
    TRY(check_bucket_keys(table, err));
    uint32_t primary_key_count = table->schema.primary_key_count;
    if (primary_key_count == 0 || table->bucket_key_count > 0)
        return OK;
    uint32_t *key = ARENA_NEW_ARRAY(arena, uint32_t, primary_key_count);
    uint32_t count = table_physical_key(table, key);
    if (count == 0)
        return err_set(err, ERR_INVALID_TABLE_EXCEPTION,
                       "the primary key holds only partition keys: nothing is left to spread rows by");
    table->has_distribution = true;
    table->bucket_keys = key;
    table->bucket_key_count = count;
    return OK;
}
