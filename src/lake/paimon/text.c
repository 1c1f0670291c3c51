/* The JSON of schemas and snapshots: members by name, checked. */
#include "base/json.h"
#include "lake/paimon/paimon_int.h"

enum err_code paimon_text_parse(struct slice text, const char *what, json_t **object, struct err *err)
{
    json_error_t error;
    json_t *root = json_loadb((const char *)text.ptr, text.len, JSON_ALLOW_NUL, &error);
    if (!root)
        return err_set(err, ERR_CORRUPT, "%s is not JSON: %s at byte %d", what, error.text, error.position);
    if (!json_is_object(root)) {
        json_decref(root);
        return err_set(err, ERR_CORRUPT, "%s is not a JSON object", what);
    }
    *object = root;
    return OK;
}

enum err_code paimon_text_i64(json_t *object, const char *name, int64_t *value, struct err *err)
{
    json_t *member = json_object_get(object, name);
    if (!json_is_integer(member))
        return err_set(err, ERR_CORRUPT, "\"%s\" is missing or not a whole number", name);
    *value = json_integer_value(member);
    return OK;
}

enum err_code paimon_text_optional_string(json_t *object, const char *name, struct arena *arena, struct slice *value,
                                          struct err *err)
{
    json_t *member = json_object_get(object, name);
    if (!member || json_is_null(member))
        return OK;
    if (!json_is_string(member))
        return err_set(err, ERR_CORRUPT, "\"%s\" is not a string", name);
    *value = arena_dup(arena, slice_of(json_string_value(member), json_string_length(member)));
    return OK;
}

enum err_code paimon_text_string(json_t *object, const char *name, struct arena *arena, struct slice *value,
                                 struct err *err)
{
    struct slice got = {0};
    TRY(paimon_text_optional_string(object, name, arena, &got, err));
    if (!got.ptr)
        return err_set(err, ERR_CORRUPT, "\"%s\" is missing", name);
    *value = got;
    return OK;
}

enum err_code paimon_text_properties(json_t *object, const char *name, struct arena *arena, struct properties *out,
                                     struct err *err)
{
    json_t *member = json_object_get(object, name);
    struct properties props = {0};
    if (member && !json_is_null(member)) {
        if (!json_is_object(member))
            return err_set(err, ERR_CORRUPT, "\"%s\" is not an object", name);
        props.items = ARENA_NEW_ARRAY(arena, struct key_value, json_object_size(member));
        const char *key;
        json_t *value;
        json_object_foreach(member, key, value)
        {
            if (!json_is_string(value))
                return err_set(err, ERR_CORRUPT, "\"%s\" of \"%s\" is not a string", key, name);
            props.items[props.count++] =
                (struct key_value){arena_dup(arena, slice_str(key)),
                                   arena_dup(arena, slice_of(json_string_value(value), json_string_length(value)))};
        }
    }
    *out = props;
    return OK;
}

const struct slice *paimon_properties_find(const struct properties *props, struct slice key)
{
    for (uint32_t i = 0; i < props->count; i++)
        if (slice_equal(props->items[i].key, key))
            return &props->items[i].value;
    return NULL;
}

void paimon_text_put_properties(struct buf *out, const struct properties *props, const char *indent)
{
    buf_put_slice(out, SLICE("{"));
    for (uint32_t i = 0; i < props->count; i++) {
        buf_printf(out, "%s\n%s  ", i ? "," : "", indent);
        json_put_string(out, props->items[i].key);
        buf_put_slice(out, SLICE(" : "));
        json_put_string(out, props->items[i].value);
    }
    if (props->count)
        buf_printf(out, "\n%s}", indent);
    else
        buf_put_slice(out, SLICE(" }"));
}
