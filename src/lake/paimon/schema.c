/* schema/schema-N: one version of a table's schema, whole.
 *
 *   {"version":3, "id":N, "fields":[{"id","name","type","description"?}], "highestFieldId", "partitionKeys":[],
 *    "primaryKeys":[], "options":{}, "comment"?, "timeMillis"}
 *
 * Field ids are unique over the whole schema: a column takes its id, then the ROW fields inside it.
 * Source: Apache Paimon, paimon-api, SchemaSerializer; golden: paimon-by-fluss/.../schema/schema-0. */
#include "base/json.h"
#include "lake/paimon/paimon_int.h"

#define SCHEMA_VERSION 3

int32_t paimon_schema_column_find(const struct paimon_schema *schema, struct slice name)
{
    for (uint32_t i = 0; i < schema->column_count; i++)
        if (slice_equal(schema->columns[i].name, name))
            return (int32_t)i;
    return -1;
}

/* ---- writing ---- */

static void put_names(struct buf *out, const struct paimon_schema *schema, const uint32_t *positions, uint32_t count)
{
    buf_put_slice(out, SLICE("[ "));
    for (uint32_t i = 0; i < count; i++) {
        buf_put_slice(out, i ? SLICE(", ") : SLICE(""));
        json_put_string(out, schema->columns[positions[i]].name);
    }
    buf_put_slice(out, count ? SLICE(" ]") : SLICE("]"));
}

static void put_column(struct buf *out, const struct schema_column *column)
{
    buf_printf(out, "{\n    \"id\" : %d,\n    \"name\" : ", column->id);
    json_put_string(out, column->name);
    buf_put_slice(out, SLICE(",\n    \"type\" : "));
    paimon_type_put(out, column->type);
    if (column->comment.ptr) {
        buf_put_slice(out, SLICE(",\n    \"description\" : "));
        json_put_string(out, column->comment);
    }
    buf_put_slice(out, SLICE("\n  }"));
}

void paimon_schema_put(struct buf *out, const struct paimon_schema *schema, int64_t time_ms)
{
    buf_printf(out, "{\n  \"version\" : %d,\n  \"id\" : %" PRId64 ",\n  \"fields\" : [ ", SCHEMA_VERSION, schema->id);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        buf_put_slice(out, i ? SLICE(", ") : SLICE(""));
        put_column(out, &schema->columns[i]);
    }
    buf_printf(out, " ],\n  \"highestFieldId\" : %d,\n  \"partitionKeys\" : ", schema->highest_field_id);
    put_names(out, schema, schema->partition_keys, schema->partition_key_count);
    buf_put_slice(out, SLICE(",\n  \"primaryKeys\" : "));
    put_names(out, schema, schema->primary_key, schema->primary_key_count);
    buf_put_slice(out, SLICE(",\n  \"options\" : "));
    paimon_text_put_properties(out, &schema->options, "  ");
    if (schema->comment.ptr) {
        buf_put_slice(out, SLICE(",\n  \"comment\" : "));
        json_put_string(out, schema->comment);
    }
    buf_printf(out, ",\n  \"timeMillis\" : %" PRId64 "\n}", time_ms);
}

/* ---- reading ---- */

static enum err_code read_columns(struct arena *arena, json_t *root, struct paimon_schema *schema, struct err *err)
{
    json_t *list = json_object_get(root, "fields");
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count == 0 || count > SCHEMA_COLUMNS_MAX + SYSTEM_COLUMN_COUNT)
        return err_set(err, ERR_CORRUPT, "a schema of the lake has no columns, or more than %d", SCHEMA_COLUMNS_MAX);
    schema->columns = ARENA_NEW_ARRAY(arena, struct schema_column, count);
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(list, i);
        struct schema_column *column = &schema->columns[i];
        int64_t id = -1;
        *column = (struct schema_column){0};
        TRY(paimon_text_i64(item, "id", &id, err));
        if (id < 0 || id > INT32_MAX)
            return err_set(err, ERR_CORRUPT, "a column of the lake table has the id %" PRId64, id);
        column->id = (int32_t)id;
        TRY(paimon_text_string(item, "name", arena, &column->name, err));
        TRY(paimon_text_optional_string(item, "description", arena, &column->comment, err));
        TRY(paimon_type_read(arena, json_object_get(item, "type"), &column->type, err));
        if (paimon_schema_column_find(schema, column->name) >= 0)
            return err_set(err, ERR_CORRUPT, "a schema of the lake has a column twice");
        schema->column_count++;
    }
    return OK;
}

static enum err_code read_keys(struct arena *arena, json_t *root, const char *name, const struct paimon_schema *schema,
                               uint32_t **positions, uint32_t *count, struct err *err)
{
    json_t *list = json_object_get(root, name);
    size_t len = json_array_size(list);
    if (!json_is_array(list) || len > schema->column_count)
        return err_set(err, ERR_CORRUPT, "\"%s\" is not a list of columns", name);
    *positions = ARENA_NEW_ARRAY(arena, uint32_t, len);
    for (size_t i = 0; i < len; i++) {
        json_t *item = json_array_get(list, i);
        int32_t at =
            json_is_string(item)
                ? paimon_schema_column_find(schema, slice_of(json_string_value(item), json_string_length(item)))
                : -1;
        if (at < 0 || type_is_nested(schema->columns[at].type))
            return err_set(err, ERR_CORRUPT, "\"%s\" names a column that is not there, or is nested", name);
        (*positions)[i] = (uint32_t)at;
    }
    *count = (uint32_t)len;
    return OK;
}

static void find_trimmed_key(struct arena *arena, struct paimon_schema *schema)
{
    schema->trimmed_key = ARENA_NEW_ARRAY(arena, uint32_t, schema->primary_key_count);
    for (uint32_t i = 0; i < schema->primary_key_count; i++) {
        bool partition = false;
        for (uint32_t k = 0; k < schema->partition_key_count; k++)
            partition |= schema->partition_keys[k] == schema->primary_key[i];
        if (!partition)
            schema->trimmed_key[schema->trimmed_key_count++] = schema->primary_key[i];
    }
}

static void find_partition_row(struct arena *arena, struct paimon_schema *schema)
{
    struct type *row = ARENA_NEW(arena, struct type);
    struct field *fields = ARENA_NEW_ARRAY(arena, struct field, schema->partition_key_count);
    for (uint32_t i = 0; i < schema->partition_key_count; i++) {
        const struct schema_column *column = &schema->columns[schema->partition_keys[i]];
        fields[i] = (struct field){.name = column->name, .type = column->type, .id = -1};
    }
    *row = (struct type){.kind = TYPE_ROW, .fields = fields, .field_count = schema->partition_key_count};
    schema->partition_row = row;
}

static bool find_system_columns(const struct paimon_schema *schema)
{
    static const char *const names[SYSTEM_COLUMN_COUNT] = {SYSTEM_BUCKET, SYSTEM_OFFSET, SYSTEM_TIMESTAMP};
    if (schema->column_count <= SYSTEM_COLUMN_COUNT)
        return false;
    const struct schema_column *last = &schema->columns[schema->column_count - SYSTEM_COLUMN_COUNT];
    for (int i = 0; i < SYSTEM_COLUMN_COUNT; i++)
        if (!slice_is(last[i].name, names[i]))
            return false;
    return last[0].type->kind == TYPE_INTEGER && last[1].type->kind == TYPE_BIGINT &&
           last[2].type->kind == TYPE_TIMESTAMP_LTZ;
}

static enum err_code read_rest(struct arena *arena, json_t *root, struct paimon_schema *schema, struct err *err)
{
    int64_t highest = 0, buckets = -1;
    TRY(paimon_text_i64(root, "id", &schema->id, err));
    TRY(paimon_text_i64(root, "highestFieldId", &highest, err));
    TRY(read_keys(arena, root, "partitionKeys", schema, &schema->partition_keys, &schema->partition_key_count, err));
    TRY(read_keys(arena, root, "primaryKeys", schema, &schema->primary_key, &schema->primary_key_count, err));
    TRY(paimon_text_properties(root, "options", arena, &schema->options, err));
    TRY(paimon_text_optional_string(root, "comment", arena, &schema->comment, err));
    const struct slice *option = properties_get(&schema->options, "bucket");
    if (option && (!slice_to_i64(*option, &buckets) || buckets < -2 || buckets > INT32_MAX))
        return err_set(err, ERR_CORRUPT, "the lake table's option bucket is none");
    if (highest < 0 || highest > INT32_MAX - 1)
        return err_set(err, ERR_CORRUPT, "highestFieldId is %" PRId64, highest);
    schema->bucket_count = (int32_t)buckets;
    schema->highest_field_id = (int32_t)highest;
    find_trimmed_key(arena, schema);
    find_partition_row(arena, schema);
    if (schema->primary_key_count && !schema->trimmed_key_count)
        return err_set(err, ERR_CORRUPT, "all columns of the primary key are partition keys");
    schema->has_system_columns = find_system_columns(schema);
    return OK;
}

enum err_code paimon_schema_read(struct arena *arena, struct slice text, struct paimon_schema *schema, struct err *err)
{
    json_t *root;
    struct paimon_schema read = {0};
    if (text.len > PAIMON_JSON_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "a schema of the lake has %zu bytes", text.len);
    TRY(paimon_text_parse(text, "a schema of the lake", &root, err));
    enum err_code code = read_columns(arena, root, &read, err);
    if (code == OK)
        code = read_rest(arena, root, &read, err);
    json_decref(root);
    if (code == OK)
        *schema = read;
    return code;
}

void paimon_schema_in_memory(struct arena *arena, const struct paimon_schema *disk, struct paimon_schema *schema)
{
    *schema = *disk;
    schema->columns = ARENA_NEW_ARRAY(arena, struct schema_column, disk->column_count);
    for (uint32_t i = 0; i < disk->column_count; i++) {
        schema->columns[i] = disk->columns[i];
        schema->columns[i].type = paimon_type_in_memory(arena, disk->columns[i].type);
    }
}
