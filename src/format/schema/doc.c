#include "base/map.h"
#include "format/schema/schema_int.h"

enum err_code doc_open(struct doc *doc, struct slice json)
{
    if (json.len > SCHEMA_JSON_BYTES_MAX)
        return doc_refuse(doc, "the JSON text has %zu bytes, more than %u", json.len, SCHEMA_JSON_BYTES_MAX);
    json_error_t error;
    doc->root = json_loadb((const char *)json.ptr, json.len, JSON_ALLOW_NUL, &error);
    if (!doc->root)
        return doc_refuse(doc, "the text is not JSON: %s at byte %d", error.text, error.position);
    if (!json_is_object(doc->root)) {
        doc_close(doc);
        return doc_refuse(doc, "the JSON text is not an object");
    }
    return OK;
}

void doc_close(struct doc *doc)
{
    json_decref(doc->root);
    doc->root = NULL;
}

json_t *doc_member(json_t *object, const char *name)
{
    json_t *member = json_object_get(object, name);
    return json_is_null(member) ? NULL : member;
}

enum err_code doc_array(struct doc *doc, json_t *object, const char *name, json_t **array)
{
    json_t *member = doc_member(object, name);
    if (!json_is_array(member))
        return doc_refuse(doc, "\"%s\" is %s", name, member ? "not an array" : "missing");
    *array = member;
    return OK;
}

static struct slice text_of(struct doc *doc, json_t *string)
{
    return arena_dup(doc->arena, slice_of(json_string_value(string), json_string_length(string)));
}

enum err_code doc_optional_text(struct doc *doc, json_t *object, const char *name, struct slice *text)
{
    json_t *member = doc_member(object, name);
    if (member && !json_is_string(member))
        return doc_refuse(doc, "\"%s\" is not a string", name);
    *text = member ? text_of(doc, member) : (struct slice){0};
    return OK;
}

enum err_code doc_text(struct doc *doc, json_t *object, const char *name, struct slice *text)
{
    TRY(doc_optional_text(doc, object, name, text));
    return text->ptr ? OK : doc_refuse(doc, "\"%s\" is missing", name);
}

enum err_code doc_i32(struct doc *doc, json_t *object, const char *name, int32_t *value)
{
    json_t *member = doc_member(object, name);
    if (!json_is_integer(member))
        return doc_refuse(doc, "\"%s\" is %s", name, member ? "not an integer" : "missing");
    json_int_t wide = json_integer_value(member);
    if (wide < INT32_MIN || wide > INT32_MAX)
        return doc_refuse(doc, "\"%s\" is beyond 32 bits: %lld", name, (long long)wide);
    *value = (int32_t)wide;
    return OK;
}

enum err_code doc_optional_i32(struct doc *doc, json_t *object, const char *name, int32_t absent, int32_t *value)
{
    *value = absent;
    return doc_member(object, name) ? doc_i32(doc, object, name, value) : OK;
}

enum err_code doc_version(struct doc *doc, json_t *object)
{
    int32_t version = 0;
    TRY(doc_i32(doc, object, "version", &version));
    return version == 1 ? OK : doc_refuse(doc, "version %d of the text is not known, 1 is", version);
}

enum err_code doc_properties(struct doc *doc, json_t *object, const char *name, struct properties *props)
{
    json_t *member = doc_member(object, name);
    if (!json_is_object(member))
        return doc_refuse(doc, "\"%s\" is %s", name, member ? "not an object" : "missing");
    struct properties read = {.items = ARENA_NEW_ARRAY(doc->arena, struct key_value, json_object_size(member))};
    const char *key;
    json_t *value;
    json_object_foreach(member, key, value)
    {
        if (!json_is_string(value))
            return doc_refuse(doc, "\"%s\" of \"%s\" is not a string", key, name);
        read.items[read.count++] = (struct key_value){arena_dup(doc->arena, slice_str(key)), text_of(doc, value)};
    }
    *props = read;
    return OK;
}

static enum err_code column_of(struct doc *doc, json_t *node, const char *name, const struct schema *schema,
                               uint32_t *position)
{
    if (!json_is_string(node))
        return doc_refuse(doc, "\"%s\" holds something that is not a string", name);
    struct slice column = slice_of(json_string_value(node), json_string_length(node));
    int32_t found = schema_find(schema, column);
    if (found < 0)
        return doc_refuse(doc, "\"%s\" names the column \"%.*s\", which the table does not have", name,
                          SLICE_ARGS(column));
    *position = (uint32_t)found;
    return OK;
}

enum err_code doc_columns(struct doc *doc, json_t *object, const char *name, const struct schema *schema,
                          uint32_t **positions, uint32_t *count)
{
    json_t *array = NULL;
    TRY(doc_array(doc, object, name, &array));
    size_t len = json_array_size(array);
    if (len > schema->column_count)
        return doc_refuse(doc, "\"%s\" names a column twice, or one that is not there", name);
    uint32_t *read = ARENA_NEW_ARRAY(doc->arena, uint32_t, len);
    bool *seen = ARENA_NEW_ARRAY(doc->arena, bool, schema->column_count);
    for (size_t i = 0; i < len; i++) {
        TRY(column_of(doc, json_array_get(array, i), name, schema, &read[i]));
        if (seen[read[i]])
            return doc_refuse(doc, "\"%s\" names the column \"%.*s\" twice", name,
                              SLICE_ARGS(schema->columns[read[i]].name));
        seen[read[i]] = true;
    }
    *positions = read;
    *count = (uint32_t)len;
    return OK;
}

void put_key(struct buf *out, bool first, const char *name)
{
    buf_put_u8(out, first ? '{' : ',');
    json_put_string(out, slice_str(name));
    buf_put_u8(out, ':');
}

void put_column_names(struct buf *out, const struct schema *schema, const uint32_t *positions, uint32_t count)
{
    buf_put_u8(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buf_put_u8(out, ',');
        json_put_string(out, schema->columns[positions[i]].name);
    }
    buf_put_u8(out, ']');
}

void put_properties(struct buf *out, const struct properties *props)
{
    buf_put_u8(out, '{');
    for (uint32_t i = 0; i < props->count; i++) {
        if (i > 0)
            buf_put_u8(out, ',');
        json_put_string(out, props->items[i].key);
        buf_put_u8(out, ':');
        json_put_string(out, props->items[i].value);
    }
    buf_put_u8(out, '}');
}
