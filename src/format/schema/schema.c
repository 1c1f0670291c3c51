/* Looking things up in schemas and properties, and copying them. */
#include "format/schema/schema_int.h"

int32_t schema_find(const struct schema *schema, struct slice name)
{
    for (uint32_t i = 0; i < schema->column_count; i++)
        if (slice_equal(schema->columns[i].name, name))
            return (int32_t)i;
    return -1;
}

int32_t schema_find_id(const struct schema *schema, int32_t id)
{
    for (uint32_t i = 0; i < schema->column_count; i++)
        if (schema->columns[i].id == id)
            return (int32_t)i;
    return -1;
}

bool schema_in_key(const struct schema *schema, uint32_t column)
{
    for (uint32_t i = 0; i < schema->primary_key_count; i++)
        if (schema->primary_key[i] == column)
            return true;
    return false;
}

static struct key_value *find(const struct properties *props, struct slice key)
{
    for (uint32_t i = 0; i < props->count; i++)
        if (slice_equal(props->items[i].key, key))
            return &props->items[i];
    return NULL;
}

const struct slice *properties_get(const struct properties *props, const char *key)
{
    const struct key_value *item = find(props, slice_str(key));
    return item ? &item->value : NULL;
}

static void grow(struct arena *arena, struct properties *props)
{
    props->cap = MAX(props->count * 2, 8);
    struct key_value *items = ARENA_NEW_ARRAY(arena, struct key_value, props->cap);
    if (props->count)
        memcpy(items, props->items, props->count * sizeof *items);
    props->items = items;
}

void properties_set(struct arena *arena, struct properties *props, struct slice key, struct slice value)
{
    struct key_value *item = find(props, key);
    if (item) {
        item->value = arena_dup(arena, value);
        return;
    }
    if (props->count >= props->cap)
        grow(arena, props);
    props->items[props->count++] = (struct key_value){arena_dup(arena, key), arena_dup(arena, value)};
}

void properties_remove(struct properties *props, const char *key)
{
    struct key_value *item = find(props, slice_str(key));
    if (!item)
        return;
    struct key_value *end = props->items + props->count;
    memmove(item, item + 1, (size_t)(end - item - 1) * sizeof *item);
    props->count--;
}

bool name_is_valid(struct slice name)
{
    if (name.len < 1 || name.len > NAME_BYTES_MAX || slice_is(name, ".") || slice_is(name, "..") ||
        slice_starts_with(name, SLICE("__")))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i], folded = c | 0x20;
        if (!(folded >= 'a' && folded <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '-')
            return false;
    }
    return true;
}

static struct slice dup_optional(struct arena *arena, struct slice text)
{
    return text.ptr ? arena_dup(arena, text) : text;
}

static struct properties dup_properties(struct arena *arena, const struct properties *from)
{
    struct properties copy = {.items = ARENA_NEW_ARRAY(arena, struct key_value, from->count), .count = from->count};
    for (uint32_t i = 0; i < from->count; i++)
        copy.items[i] =
            (struct key_value){arena_dup(arena, from->items[i].key), arena_dup(arena, from->items[i].value)};
    return copy;
}

static uint32_t *dup_positions(struct arena *arena, const uint32_t *from, uint32_t count)
{
    uint32_t *copy = ARENA_NEW_ARRAY(arena, uint32_t, count);
    if (count)
        memcpy(copy, from, count * sizeof *copy);
    return copy;
}

void schema_dup(struct arena *arena, const struct schema *schema, struct schema *copy)
{
    struct schema made = *schema;
    made.columns = ARENA_NEW_ARRAY(arena, struct schema_column, schema->column_count);
    made.primary_key = dup_positions(arena, schema->primary_key, schema->primary_key_count);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const struct schema_column *from = &schema->columns[i];
        made.columns[i] = (struct schema_column){arena_dup(arena, from->name),
                                                 type_dup(arena, from->type),
                                                 dup_optional(arena, from->comment),
                                                 from->id,
                                                 dup_optional(arena, from->agg_function),
                                                 dup_properties(arena, &from->agg_parameters)};
    }
    *copy = made;
}

void table_descriptor_dup(struct arena *arena, const struct table_descriptor *table, struct table_descriptor *copy)
{
    struct table_descriptor made = *table;
    schema_dup(arena, &table->schema, &made.schema);
    made.comment = dup_optional(arena, table->comment);
    made.partition_keys = dup_positions(arena, table->partition_keys, table->partition_key_count);
    made.bucket_keys = dup_positions(arena, table->bucket_keys, table->bucket_key_count);
    made.properties = dup_properties(arena, &table->properties);
    made.custom_properties = dup_properties(arena, &table->custom_properties);
    *copy = made;
}
