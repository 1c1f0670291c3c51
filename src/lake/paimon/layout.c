/* The columns of data files, their Parquet schema, and which of them have statistics. */
#include "lake/paimon/write_int.h"

/* The given type with the lake's ids in its ROWs. */
static const struct type *with_ids(struct arena *arena, const struct type *given, const struct type *lake)
{
    if (!given->field_count)
        return given;
    struct type *copy = ARENA_NEW(arena, struct type);
    struct field *fields = ARENA_NEW_ARRAY(arena, struct field, given->field_count);
    *copy = *given;
    for (uint32_t i = 0; i < given->field_count; i++) {
        fields[i] = given->fields[i];
        fields[i].id = lake->fields[i].id;
        fields[i].type = with_ids(arena, given->fields[i].type, lake->fields[i].type);
    }
    copy->fields = fields;
    return copy;
}

static void add_keys(struct arena *arena, const struct paimon_schema *schema, struct layout *l)
{
    struct type *row = ARENA_NEW(arena, struct type);
    struct field *fields = ARENA_NEW_ARRAY(arena, struct field, schema->trimmed_key_count);
    for (uint32_t i = 0; i < schema->trimmed_key_count; i++) {
        const struct schema_column *column = &schema->columns[schema->trimmed_key[i]];
        const struct type *type = type_with_nullable(arena, column->type, false);
        l->columns[l->column_count++] =
            (struct schema_column){.name = arena_printf(arena, KEY_PREFIX "%.*s", SLICE_ARGS(column->name)),
                                   .type = type,
                                   .id = column->id > INT32_MAX - KEY_ID_BASE ? -1 : KEY_ID_BASE + column->id};
        fields[i] = (struct field){.name = column->name, .type = type, .id = -1};
    }
    l->key_count = schema->trimmed_key_count;
    *row = (struct type){.kind = TYPE_ROW, .fields = fields, .field_count = l->key_count};
    l->key_row = row;
    if (!l->key_count)
        return;
    l->columns[l->column_count++] =
        (struct schema_column){.name = SLICE(SEQUENCE_COLUMN),
                               .type = type_with_nullable(arena, type_simple(TYPE_BIGINT), false),
                               .id = SEQUENCE_ID};
    l->columns[l->column_count++] = (struct schema_column){
        .name = SLICE(KIND_COLUMN), .type = type_with_nullable(arena, type_simple(TYPE_TINYINT), false), .id = KIND_ID};
}

static void add_stats(struct arena *arena, struct layout *l)
{
    uint32_t most = l->column_count - l->value_first;
    struct type *row = ARENA_NEW(arena, struct type);
    struct field *fields = ARENA_NEW_ARRAY(arena, struct field, most);
    l->stat_names = ARENA_NEW_ARRAY(arena, struct slice, most + 1);
    l->stat_places = ARENA_NEW_ARRAY(arena, uint32_t, most);
    for (uint32_t i = l->value_first; i < l->column_count; i++) {
        if (type_is_nested(l->columns[i].type))
            continue;
        fields[l->stat_count] = (struct field){.name = l->columns[i].name, .type = l->columns[i].type, .id = -1};
        l->stat_names[l->stat_count] = l->columns[i].name;
        l->stat_places[l->stat_count++] = i;
    }
    *row = (struct type){.kind = TYPE_ROW, .fields = fields, .field_count = l->stat_count};
    l->stat_row = row;
}

enum err_code paimon_layout_make(struct arena *arena, const struct paimon_schema *schema,
                                 const struct type *const *types, struct layout *layout, struct err *err)
{
    struct layout l = {.schema = schema};
    l.columns = ARENA_NEW_ARRAY(arena, struct schema_column, schema->column_count + schema->trimmed_key_count + 2);
    add_keys(arena, schema, &l);
    l.value_first = l.column_count;
    for (uint32_t i = 0; i < schema->column_count; i++) {
        struct schema_column column = schema->columns[i];
        if (types && types[i])
            column.type = with_ids(arena, types[i], column.type);
        l.columns[l.column_count++] = column;
    }
    add_stats(arena, &l);
    TRY(parquet_schema_build(arena, PARQUET_PAIMON, l.columns, l.column_count, &l.parquet, err));
    *layout = l;
    return OK;
}

void paimon_layout_fill(const struct layout *l, struct column *views, struct slice sequences, struct slice kinds,
                        uint32_t row_count)
{
    for (uint32_t i = 0; i < l->key_count; i++) {
        views[i] = views[l->value_first + l->schema->trimmed_key[i]];
        views[i].type = l->columns[i].type;
    }
    views[l->key_count] = (struct column){
        .type = l->columns[l->key_count].type, .length = row_count, .data = sequences.ptr, .data_len = sequences.len};
    views[l->key_count + 1] = (struct column){
        .type = l->columns[l->key_count + 1].type, .length = row_count, .data = kinds.ptr, .data_len = kinds.len};
}
