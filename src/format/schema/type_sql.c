/* Types as SQL text: written as Fluss prints them, read as Flink SQL spells them. */
#include "format/schema/schema_int.h"

/* ---- writing ---- */

static void put_quoted(struct buf *out, struct slice text, char quote)
{
    buf_put_u8(out, (uint8_t)quote);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == (uint8_t)quote)
            buf_put_u8(out, (uint8_t)quote);
        buf_put_u8(out, text.ptr[i]);
    }
    buf_put_u8(out, (uint8_t)quote);
}

static void put_row(const struct type *row, struct buf *out)
{
    buf_put_slice(out, SLICE("ROW<"));
    for (uint32_t i = 0; i < row->field_count; i++) {
        const struct field *field = &row->fields[i];
        if (i > 0)
            buf_put_slice(out, SLICE(", "));
        put_quoted(out, field->name, '`');
        buf_put_u8(out, ' ');
        type_to_sql(field->type, out);
        if (field->description.ptr) {
            buf_put_u8(out, ' ');
            put_quoted(out, field->description, '\'');
        }
    }
    buf_put_u8(out, '>');
}

static void put_bare(const struct type *type, struct buf *out)
{
    switch (type->kind) {
    case TYPE_INTEGER:
        buf_put_slice(out, SLICE("INT"));
        break;
    case TYPE_CHAR:
    case TYPE_BINARY:
        buf_printf(out, "%s(%d)", type_kind_json_name(type->kind), type->length);
        break;
    case TYPE_DECIMAL:
        buf_printf(out, "DECIMAL(%d, %d)", type->precision, type->scale);
        break;
    case TYPE_TIME:
        buf_printf(out, "TIME(%d)", type->precision);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        buf_printf(out, "TIMESTAMP(%d)%s", type->precision,
                   type->kind == TYPE_TIMESTAMP ? "" : " WITH LOCAL TIME ZONE");
        break;
    case TYPE_ARRAY:
        buf_put_slice(out, SLICE("ARRAY<"));
        type_to_sql(type->fields[0].type, out);
        buf_put_u8(out, '>');
        break;
    case TYPE_MAP:
        buf_put_slice(out, SLICE("MAP<"));
        type_to_sql(type->fields[0].type, out);
        buf_put_slice(out, SLICE(", "));
        type_to_sql(type->fields[1].type, out);
        buf_put_u8(out, '>');
        break;
    case TYPE_ROW:
        put_row(type, out);
        break;
    default:
        buf_put_slice(out, slice_str(type_kind_json_name(type->kind)));
    }
}

void type_to_sql(const struct type *type, struct buf *out)
{
    put_bare(type, out);
    if (!type->nullable)
        buf_put_slice(out, SLICE(" NOT NULL"));
}
