/* Statements and places as text. */
#include "sql/sql_int.h"

static bool is_bare(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i] | 0x20;
        bool letter = (c >= 'a' && c <= 'z') || name.ptr[i] == '_';
        if (!letter && (i == 0 || name.ptr[i] < '0' || name.ptr[i] > '9'))
            return false;
    }
    return name.len > 0;
}

static void put_quoted(struct buf *out, struct slice s, char quote)
{
    buf_put_u8(out, (uint8_t)quote);
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == (uint8_t)quote)
            buf_put_u8(out, (uint8_t)quote);
        buf_put_u8(out, s.ptr[i]);
    }
    buf_put_u8(out, (uint8_t)quote);
}

void sql_put_name(struct buf *out, struct slice name)
{
    if (is_bare(name))
        buf_put_slice(out, name);
    else
        put_quoted(out, name, '`');
}

static void put_columns(struct buf *out, const struct schema *schema, const uint32_t *positions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        buf_printf(out, "%s", i ? ", " : "(");
        put_quoted(out, schema->columns[positions[i]].name, '`');
    }
    buf_printf(out, ")");
}

static void put_schema(struct buf *out, const struct schema *schema)
{
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const struct schema_column *column = &schema->columns[i];
        buf_printf(out, "%s  ", i ? ",\n" : "");
        put_quoted(out, column->name, '`');
        buf_printf(out, " ");
        type_to_sql(column->type, out);
        if (column->comment.ptr) {
            buf_printf(out, " COMMENT ");
            put_quoted(out, column->comment, '\'');
        }
    }
    if (schema->primary_key_count) {
        buf_printf(out, ",\n  PRIMARY KEY ");
        put_columns(out, schema, schema->primary_key, schema->primary_key_count);
        buf_printf(out, " NOT ENFORCED");
    }
}

static void put_option(struct buf *out, bool *first, struct slice key, struct slice value)
{
    buf_printf(out, *first ? "\nWITH (\n  " : ",\n  ");
    *first = false;
    put_quoted(out, key, '\'');
    buf_printf(out, " = ");
    put_quoted(out, value, '\'');
}

static void put_functions(struct buf *out, bool *first, const struct schema *schema)
{
    struct buf key = {0};
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const struct schema_column *column = &schema->columns[i];
        if (!column->agg_function.ptr)
            continue;
        buf_reset(&key);
        buf_printf(&key, "fields.%.*s.agg", SLICE_ARGS(column->name));
        put_option(out, first, buf_view(&key), column->agg_function);
        for (uint32_t k = 0; k < column->agg_parameters.count; k++) {
            const struct key_value *parameter = &column->agg_parameters.items[k];
            buf_reset(&key);
            buf_printf(&key, "fields.%.*s.%.*s.%.*s", SLICE_ARGS(column->name), SLICE_ARGS(column->agg_function),
                       SLICE_ARGS(parameter->key));
            put_option(out, first, buf_view(&key), parameter->value);
        }
    }
    if (schema->auto_increment >= 0)
        put_option(out, first, SLICE("auto-increment.fields"), schema->columns[schema->auto_increment].name);
    buf_deinit(&key);
}

static void put_options(struct buf *out, const struct table_descriptor *d)
{
    bool first = true;
    struct buf value = {0};
    if (d->bucket_count > 0) {
        buf_printf(&value, "%d", d->bucket_count);
        put_option(out, &first, SLICE("bucket.num"), buf_view(&value));
    }
    buf_reset(&value);
    for (uint32_t i = 0; i < d->bucket_key_count; i++) {
        buf_printf(&value, "%s", i ? "," : "");
        buf_put_slice(&value, d->schema.columns[d->bucket_keys[i]].name);
    }
    if (d->bucket_key_count)
        put_option(out, &first, SLICE("bucket.key"), buf_view(&value));
    put_functions(out, &first, &d->schema);
    for (uint32_t i = 0; i < d->properties.count; i++)
        put_option(out, &first, d->properties.items[i].key, d->properties.items[i].value);
    for (uint32_t i = 0; i < d->custom_properties.count; i++)
        put_option(out, &first, d->custom_properties.items[i].key, d->custom_properties.items[i].value);
    if (!first)
        buf_printf(out, "\n)");
    buf_deinit(&value);
}

void sql_put_create_table(struct buf *out, struct slice database, struct slice table,
                          const struct table_descriptor *descriptor)
{
    buf_printf(out, "CREATE TABLE ");
    put_quoted(out, database, '`');
    buf_printf(out, ".");
    put_quoted(out, table, '`');
    buf_printf(out, " (\n");
    put_schema(out, &descriptor->schema);
    buf_printf(out, "\n)");
    if (descriptor->comment.ptr) {
        buf_printf(out, "\nCOMMENT ");
        put_quoted(out, descriptor->comment, '\'');
    }
    if (descriptor->partition_key_count) {
        buf_printf(out, "\nPARTITIONED BY ");
        put_columns(out, &descriptor->schema, descriptor->partition_keys, descriptor->partition_key_count);
    }
    put_options(out, descriptor);
}

void sql_show_place(struct slice text, size_t at, struct buf *out)
{
    size_t start = MIN(at, text.len), end = MIN(at, text.len);
    while (start && text.ptr[start - 1] != '\n')
        start--;
    while (end < text.len && text.ptr[end] != '\n' && text.ptr[end] != '\r')
        end++;
    buf_printf(out, "  ");
    for (size_t i = start; i < end; i++)
        buf_put_u8(out, text.ptr[i] < 0x20 ? ' ' : text.ptr[i]);
    buf_printf(out, "\n  ");
    for (size_t i = start; i < MIN(at, text.len); i++)
        if ((text.ptr[i] & 0xc0) != 0x80)
            buf_put_u8(out, ' ');
    buf_printf(out, "^\n");
}
