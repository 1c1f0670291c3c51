/* One schema becomes the next: a column more. */
#include "format/schema/schema_int.h"

const struct type *type_with_ids(struct arena *arena, const struct type *type, int32_t *next_id)
{
    if (!type->field_count)
        return type;
    struct type *copy = ARENA_NEW(arena, struct type);
    struct field *fields = ARENA_NEW_ARRAY(arena, struct field, type->field_count);
    *copy = *type;
    for (uint32_t i = 0; i < type->field_count; i++) {
        fields[i] = type->fields[i];
        if (type->kind == TYPE_ROW)
            fields[i].id = (*next_id)++;
        fields[i].type = type_with_ids(arena, fields[i].type, next_id);
    }
    copy->fields = fields;
    return copy;
}

static enum err_code check_new(const struct schema *schema, const struct schema_column *column, struct err *err)
{
    int shown = (int)MIN(column->name.len, 100);
    if (schema_find(schema, column->name) >= 0)
        return err_set(err, ERR_INVALID_ALTER_TABLE_EXCEPTION, "the table has a column \"%.*s\" already", shown,
                       (const char *)column->name.ptr);
    if (!column->type->nullable)
        return err_set(err, ERR_INVALID_ARGUMENT,
                       "the new column \"%.*s\" must be nullable: the rows that are there have no value for it", shown,
                       (const char *)column->name.ptr);
    if (schema->column_count >= SCHEMA_COLUMNS_MAX)
        return err_set(err, ERR_INVALID_TABLE_EXCEPTION, "the table has %u columns, and %d is the most",
                       schema->column_count, SCHEMA_COLUMNS_MAX);
    return OK;
}

enum err_code schema_add_column(struct arena *arena, struct schema *schema, const struct schema_column *column,
                                struct err *err)
{
    TRY(check_new(schema, column, err));
    struct schema_column *columns = ARENA_NEW_ARRAY(arena, struct schema_column, (size_t)schema->column_count + 1);
    if (schema->column_count)
        memcpy(columns, schema->columns, schema->column_count * sizeof *columns);
    struct schema_column *added = &columns[schema->column_count];
    int32_t next_id = schema->highest_field_id + 1;
    *added = *column;
    added->id = next_id++;
    added->type = type_with_ids(arena, column->type, &next_id);
    schema->columns = columns;
    schema->column_count++;
    schema->highest_field_id = next_id - 1;
    return OK;
}
