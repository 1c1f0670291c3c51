/* CHAR and STRING are UTF-8: telling whether they are, and making them so. */
#include "format/value/column_int.h"

static bool is_text(const struct type *type)
{
    return type->kind == TYPE_CHAR || type->kind == TYPE_STRING;
}

static bool all_valid(const struct type *type, const struct datum *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!datum_text_is_valid(type, &items[i]))
            return false;
    return true;
}

bool datum_text_is_valid(const struct type *type, const struct datum *value)
{
    if (value->is_null)
        return true;
    switch (type->kind) {
    case TYPE_CHAR:
    case TYPE_STRING:
        return slice_is_utf8(value->bytes);
    case TYPE_ARRAY:
        return all_valid(type->fields[0].type, value->list.items, value->list.count);
    case TYPE_MAP:
        return all_valid(type->fields[0].type, value->map.keys, value->map.count) &&
               all_valid(type->fields[1].type, value->map.values, value->map.count);
    case TYPE_ROW:
        for (uint32_t f = 0; f < type->field_count; f++)
            if (!datum_text_is_valid(type->fields[f].type, &value->list.items[f]))
                return false;
        return true;
    default:
        return true;
    }
}

enum err_code datum_row_check(const struct type *row, const struct datum *values, struct err *err)
{
    for (uint32_t i = 0; i < row->field_count; i++) {
        if (values[i].is_null && !row->fields[i].type->nullable)
            return err_set(err, ERR_INVALID_ARGUMENT, "a null in the column '%.*s', which is NOT NULL",
                           SLICE_ARGS(row->fields[i].name));
        if (!datum_text_is_valid(row->fields[i].type, &values[i]))
            return err_set(err, ERR_INVALID_ARGUMENT, "a text in the column '%.*s' is not UTF-8",
                           SLICE_ARGS(row->fields[i].name));
    }
    return OK;
}

static uint32_t offset_of(const struct column *column, uint32_t i)
{
    return load_u32(column->offsets + 4 * (size_t)i);
}

static struct slice text_of(const struct column *column, uint32_t i)
{
    uint32_t start = offset_of(column, i);
    return slice_of(column->data + start, offset_of(column, i + 1) - start);
}

/* Texts of ASCII alone, nearly all that there are, take one look at all of them. */
static bool texts_are_valid(const struct column *column)
{
    if (!column->length)
        return true;
    uint32_t start = offset_of(column, 0);
    if (slice_is_ascii(slice_of(column->data + start, offset_of(column, column->length) - start)))
        return true;
    for (uint32_t i = 0; i < column->length; i++)
        if (!column_is_null(column, i) && !slice_is_utf8(text_of(column, i)))
            return false;
    return true;
}

bool column_text_is_valid(const struct column *column)
{
    if (is_text(column->type))
        return texts_are_valid(column);
    for (uint32_t f = 0; f < column->type->field_count; f++)
        if (!column_text_is_valid(&column->children[f]))
            return false;
    return true;
}

static void repair(struct arena *arena, struct column *column)
{
    struct buf data = {0};
    uint8_t *offsets = arena_alloc(arena, 4 * ((size_t)column->length + 1));
    store_u32(offsets, 0);
    for (uint32_t i = 0; i < column->length; i++) {
        if (!column_is_null(column, i))
            buf_put_text(&data, text_of(column, i));
        store_u32(offsets + 4 * (size_t)i + 4, (uint32_t)data.len);
    }
    struct slice kept = arena_dup(arena, buf_view(&data));
    column->offsets = offsets;
    column->data = kept.ptr;
    column->data_len = kept.len;
    buf_deinit(&data);
}

void column_text_repair(struct arena *arena, struct column *column)
{
    if (is_text(column->type)) {
        if (!texts_are_valid(column))
            repair(arena, column);
        return;
    }
    for (uint32_t f = 0; f < column->type->field_count; f++)
        column_text_repair(arena, &column->children[f]);
}
