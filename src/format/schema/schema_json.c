/* Schemas as JSON, version 1:
 *
 *   {"version":1, "columns":[{"name", "data_type", "comment"?, "agg_function"?:{"type", "parameters"?}, "id"}],
 *    "primary_key"?:[names], "auto_increment_column"?:[name], "highest_field_id"}
 *
 * Golden: schemas.jsonl schema/... */
#include "base/map.h"
#include "format/schema/schema_int.h"

/* Columns that a client asks for with projections of its own; a table must not have them. */
static const char *const reserved_names[] = {"__offset",     "__timestamp", "__bucket",
                                             "_change_type", "_log_offset", "_commit_timestamp"};

static const char *const agg_functions[] = {
#define AGG(name, kinds, fold) name,
#include "agg_functions.def"
#undef AGG
};

static enum err_code decode_agg_function(struct doc *doc, json_t *node, struct schema_column *column)
{
    json_t *agg = doc_member(node, "agg_function");
    if (!agg)
        return OK;
    if (!json_is_object(agg))
        return doc_refuse(doc, "\"agg_function\" is not an object");
    struct slice given = {0};
    TRY(doc_text(doc, agg, "type", &given));
    char *name = arena_cstr(doc->arena, given);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c >= 'A' && *c <= 'Z' ? (char)(*c | 0x20) : *c;
    column->agg_function = slice_of(name, given.len);
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(agg_functions); i++)
        known |= slice_is(column->agg_function, agg_functions[i]);
    if (!known)
        return doc_refuse(doc, "there is no aggregation function \"%.*s\"", SLICE_ARGS(given));
    return doc_member(agg, "parameters") ? doc_properties(doc, agg, "parameters", &column->agg_parameters) : OK;
}

static enum err_code decode_column(struct doc *doc, json_t *node, struct schema_column *column)
{
    if (!json_is_object(node))
        return doc_refuse(doc, "a column is not an object");
    TRY(doc_text(doc, node, "name", &column->name));
    if (column->name.len == 0)
        return doc_refuse(doc, "a column has no name");
    for (size_t i = 0; i < ARRAY_LEN(reserved_names); i++)
        if (slice_is(column->name, reserved_names[i]))
            return doc_refuse(doc, "the column name \"%s\" is reserved", reserved_names[i]);
    json_t *type = doc_member(node, "data_type");
    if (!type)
        return doc_refuse(doc, "the column \"%.*s\" has no \"data_type\"", SLICE_ARGS(column->name));
    TRY(type_decode(doc, type, &column->type));
    TRY(doc_optional_text(doc, node, "comment", &column->comment));
    TRY(decode_agg_function(doc, node, column));
    TRY(doc_optional_i32(doc, node, "id", -1, &column->id));
    return column->id >= -1 ? OK : doc_refuse(doc, "a column id is negative: %d", column->id);
}

static enum err_code decode_columns(struct doc *doc, json_t *node, struct schema *schema)
{
    json_t *array = NULL;
    TRY(doc_array(doc, node, "columns", &array));
    size_t count = json_array_size(array);
    if (count > SCHEMA_COLUMNS_MAX)
        return doc_refuse(doc, "the table has %zu columns, more than %d", count, SCHEMA_COLUMNS_MAX);
    schema->columns = ARENA_NEW_ARRAY(doc->arena, struct schema_column, count);
    for (size_t i = 0; i < count; i++)
        TRY(decode_column(doc, json_array_get(array, i), &schema->columns[i]));
    schema->column_count = (uint32_t)count;
    return OK;
}

static enum err_code check_names(struct doc *doc, const struct schema *schema)
{
    struct map names = {0};
    enum err_code code = OK;
    for (uint32_t i = 0; i < schema->column_count && code == OK; i++) {
        struct slice name = schema->columns[i].name;
        if (map_put(&names, name, &names))
            code = doc_refuse(doc, "the table has the column \"%.*s\" twice", SLICE_ARGS(name));
    }
    map_deinit(&names);
    return code;
}

/* Texts written before 0.9 have no ids: the position is the id then. */
static enum err_code give_ids(struct doc *doc, struct schema *schema)
{
    uint32_t given = 0;
    for (uint32_t i = 0; i < schema->column_count; i++)
        given += schema->columns[i].id >= 0;
    if (given != 0 && given != schema->column_count)
        return doc_refuse(doc, "some columns have an id and some have none");
    for (uint32_t i = 0; i < schema->column_count && given == 0; i++)
        schema->columns[i].id = (int32_t)i;
    return OK;
}

static enum err_code take_id(struct doc *doc, struct map *ids, int32_t id, int32_t *highest)
{
    *highest = MAX(*highest, id);
    return id >= 0 && map_put_i64(ids, id, ids) ? doc_refuse(doc, "two columns or fields have the id %d", id) : OK;
}

static enum err_code take_nested_ids(struct doc *doc, struct map *ids, const struct type *type, int32_t *highest)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        TRY(take_id(doc, ids, type->fields[i].id, highest));
        TRY(take_nested_ids(doc, ids, type->fields[i].type, highest));
    }
    return OK;
}

static enum err_code check_ids(struct doc *doc, json_t *node, struct schema *schema)
{
    struct map ids = {0};
    int32_t highest = -1;
    enum err_code code = OK;
    for (uint32_t i = 0; i < schema->column_count && code == OK; i++) {
        code = take_id(doc, &ids, schema->columns[i].id, &highest);
        if (code == OK)
            code = take_nested_ids(doc, &ids, schema->columns[i].type, &highest);
    }
    map_deinit(&ids);
    TRY(code);
    TRY(doc_optional_i32(doc, node, "highest_field_id", highest, &schema->highest_field_id));
    if (highest > schema->highest_field_id)
        return doc_refuse(doc, "the id %d is above \"highest_field_id\", %d", highest, schema->highest_field_id);
    return OK;
}

static enum err_code decode_primary_key(struct doc *doc, json_t *node, struct schema *schema)
{
    if (!doc_member(node, "primary_key"))
        return OK;
    TRY(doc_columns(doc, node, "primary_key", schema, &schema->primary_key, &schema->primary_key_count));
    for (uint32_t i = 0; i < schema->primary_key_count; i++) {
        struct schema_column *column = &schema->columns[schema->primary_key[i]];
        if (type_is_nested(column->type))
            return doc_refuse(doc, "the primary key column \"%.*s\" is of a nested type", SLICE_ARGS(column->name));
        column->type = type_with_nullable(doc->arena, column->type, false);
    }
    return OK;
}

static enum err_code decode_auto_increment(struct doc *doc, json_t *node, struct schema *schema)
{
    uint32_t *positions = NULL;
    uint32_t count = 0;
    schema->auto_increment = -1;
    if (doc_member(node, "auto_increment_column"))
        TRY(doc_columns(doc, node, "auto_increment_column", schema, &positions, &count));
    if (count == 0)
        return OK;
    if (count > 1)
        return doc_refuse(doc, "more than one column is auto-increment");
    if (schema->primary_key_count == 0)
        return doc_refuse(doc, "only primary-key tables have an auto-increment column");
    if (schema_in_key(schema, positions[0]))
        return doc_refuse(doc, "the auto-increment column is part of the primary key");
    enum type_kind kind = schema->columns[positions[0]].type->kind;
    if (kind != TYPE_INTEGER && kind != TYPE_BIGINT)
        return doc_refuse(doc, "the auto-increment column is neither INT nor BIGINT");
    schema->auto_increment = (int32_t)positions[0];
    return OK;
}

enum err_code schema_decode(struct doc *doc, json_t *node, struct schema *schema)
{
    struct schema read = {0};
    TRY(doc_version(doc, node));
    TRY(decode_columns(doc, node, &read));
    TRY(check_names(doc, &read));
    TRY(give_ids(doc, &read));
    TRY(check_ids(doc, node, &read));
    TRY(decode_primary_key(doc, node, &read));
    TRY(decode_auto_increment(doc, node, &read));
    *schema = read;
    return OK;
}

enum err_code schema_from_json(struct arena *arena, struct slice json, struct schema *schema, struct err *err)
{
    struct doc doc = {arena, ERR_INVALID_TABLE_EXCEPTION, err, NULL};
    TRY(doc_open(&doc, json));
    enum err_code code = schema_decode(&doc, doc.root, schema);
    doc_close(&doc);
    return code;
}

static void put_agg_function(const struct schema_column *column, struct buf *out)
{
    put_key(out, false, "agg_function");
    put_key(out, true, "type");
    json_put_string(out, column->agg_function);
    if (column->agg_parameters.count) {
        put_key(out, false, "parameters");
        put_properties(out, &column->agg_parameters);
    }
    buf_put_u8(out, '}');
}

static void put_column(const struct schema_column *column, struct buf *out)
{
    put_key(out, true, "name");
    json_put_string(out, column->name);
    put_key(out, false, "data_type");
    type_to_json(column->type, out);
    if (column->comment.ptr) {
        put_key(out, false, "comment");
        json_put_string(out, column->comment);
    }
    if (column->agg_function.ptr)
        put_agg_function(column, out);
    buf_printf(out, ",\"id\":%d}", column->id);
}

void schema_to_json(const struct schema *schema, struct buf *out)
{
    buf_put_slice(out, SLICE("{\"version\":1,\"columns\":["));
    for (uint32_t i = 0; i < schema->column_count; i++) {
        if (i > 0)
            buf_put_u8(out, ',');
        put_column(&schema->columns[i], out);
    }
    buf_put_u8(out, ']');
    if (schema->primary_key_count) {
        put_key(out, false, "primary_key");
        put_column_names(out, schema, schema->primary_key, schema->primary_key_count);
    }
    if (schema->auto_increment >= 0) {
        uint32_t position = (uint32_t)schema->auto_increment;
        put_key(out, false, "auto_increment_column");
        put_column_names(out, schema, &position, 1);
    }
    buf_printf(out, ",\"highest_field_id\":%d}", schema->highest_field_id);
}
