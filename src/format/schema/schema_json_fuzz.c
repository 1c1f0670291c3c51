/* Any bytes as the JSON of a schema, a table, a database and a type: refused, or written as a text that reads back to
 * the same text. The first byte picks which. */
#include "format/schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_schema(struct arena *arena, struct slice json)
{
    struct schema schema, again;
    struct buf first = {0}, second = {0};
    if (schema_from_json(arena, json, &schema, NULL) == OK) {
        schema_to_json(&schema, &first);
        ASSERT(schema_from_json(arena, buf_view(&first), &again, NULL) == OK);
        schema_to_json(&again, &second);
        ASSERT(slice_equal(buf_view(&first), buf_view(&second)));
    }
    buf_deinit(&first);
    buf_deinit(&second);
}

static void check_table(struct arena *arena, struct slice json)
{
    struct table_descriptor table, again;
    struct buf first = {0}, second = {0};
    if (table_descriptor_from_json(arena, json, &table, NULL) == OK &&
        table_descriptor_normalize(arena, &table, NULL) == OK) {
        table_descriptor_to_json(&table, &first);
        ASSERT(table_descriptor_from_json(arena, buf_view(&first), &again, NULL) == OK);
        table_descriptor_to_json(&again, &second);
        ASSERT(slice_equal(buf_view(&first), buf_view(&second)));
    }
    buf_deinit(&first);
    buf_deinit(&second);
}

static void check_type(struct arena *arena, struct slice json)
{
    const struct type *type, *again;
    struct buf text = {0};
    if (type_from_json(arena, json, &type, NULL) == OK) {
        type_to_json(type, &text);
        ASSERT(type_from_json(arena, buf_view(&text), &again, NULL) == OK && type_equal(type, again, true));
    }
    buf_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct arena arena = {0};
    struct slice json = slice_of(data + 1, size - 1);
    struct database_descriptor database;
    if (*data == 's')
        check_schema(&arena, json);
    else if (*data == 't')
        check_table(&arena, json);
    else if (*data == 'y')
        check_type(&arena, json);
    else if (database_descriptor_from_json(&arena, json, &database, NULL) == OK)
        ASSERT(json.len == 0 || database.custom_properties.items);
    arena_deinit(&arena);
    return 0;
}
