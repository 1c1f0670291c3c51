/* A row to try a new table with, as `weir put` takes it. */
#include "base/json.h"
#include "cmd/cmd_int.h"

#define SAMPLE_COLUMNS 3 /* columns that may be null are left out beyond it */

/* NULL: none for this type. */
static const char *sample_of(enum type_kind kind)
{
    switch (kind) {
    case TYPE_BOOLEAN:
        return "true";
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INTEGER:
    case TYPE_BIGINT:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return "1";
    case TYPE_STRING:
        return "\"a\"";
    case TYPE_DATE:
        return "\"2026-01-31\"";
    case TYPE_TIME:
        return "\"12:30:00\"";
    case TYPE_TIMESTAMP:
        return "\"2026-01-31 12:30:00\"";
    case TYPE_TIMESTAMP_LTZ:
        return "\"2026-01-31 12:30:00Z\"";
    default:
        return NULL;
    }
}

bool cmd_sample_row(const struct schema *schema, struct buf *out)
{
    uint32_t count = 0;
    buf_put_u8(out, '{');
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const struct schema_column *column = &schema->columns[i];
        const char *value = sample_of(column->type->kind);
        bool can_be_left_out = column->type->nullable || schema->auto_increment == (int32_t)i;
        if (can_be_left_out && (!value || count >= SAMPLE_COLUMNS || schema->auto_increment == (int32_t)i))
            continue;
        if (!value || memchr(column->name.ptr, '\'', column->name.len)) /* it stands between quotes of the shell */
            return false;
        buf_printf(out, count++ ? ", " : "");
        json_put_string(out, column->name);
        buf_printf(out, ": %s", value);
    }
    buf_put_u8(out, '}');
    return count > 0;
}
