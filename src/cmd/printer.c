/* Rows on standard output: a table with aligned columns, JSON, JSON lines, CSV. A cell is kept in two texts: what a
 * table and CSV show, and its JSON. */
#include "base/json.h"
#include "cmd/cmd_int.h"

#include <stdio.h>

#define FLUSH_BYTES (64u << 10)
#define CELL_WIDTH_MAX 60 /* of a table; longer text runs over in its own row */

void printer_init(struct printer *printer, const struct cmd *cmd, const struct printer_column *columns, size_t count)
{
    *printer = (struct printer){.os = cmd->os, .format = cmd->format, .column_count = count};
    ASSERT(count > 0 && count <= PRINTER_COLUMNS_MAX);
    printer->columns = mem_alloc(count * sizeof *printer->columns);
    memcpy(printer->columns, columns, count * sizeof *columns);
    printer->widths = mem_zalloc(count * sizeof *printer->widths);
    for (size_t i = 0; i < count; i++)
        printer->has_types |= columns[i].type.ptr != NULL;
}

void printer_deinit(struct printer *printer)
{
    mem_free(printer->columns);
    mem_free(printer->widths);
    buf_deinit(&printer->out);
    vec_deinit(&printer->cells);
    arena_deinit(&printer->kept);
    *printer = (struct printer){0};
}

static void write_out(struct printer *printer)
{
    if (printer->out.len && printer->failed.code == OK)
        (void)(os_write_fd(printer->os, 1, buf_view(&printer->out), &printer->failed) == OK);
    buf_reset(&printer->out);
}

/* ---- tables ---- */

static size_t text_width(struct slice text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.len; i++)
        width += (text.ptr[i] & 0xc0) != 0x80;
    return width;
}

static void put_padded(struct buf *out, struct slice text, size_t width, bool right, bool last)
{
    size_t own = text_width(text);
    size_t pad = own < width ? width - own : 0;
    for (size_t i = 0; right && i < pad; i++)
        buf_put_u8(out, ' ');
    for (size_t i = 0; i < text.len; i++)
        buf_put_u8(out, text.ptr[i] < 0x20 ? ' ' : text.ptr[i]);
    for (size_t i = 0; !right && !last && i < pad; i++)
        buf_put_u8(out, ' ');
    if (!last)
        buf_put(out, "  ", 2);
}

static void put_line(struct printer *printer, const struct slice *cells)
{
    for (size_t i = 0; i < printer->column_count; i++)
        put_padded(&printer->out, cells[i], printer->widths[i], printer->columns[i].right,
                   i + 1 == printer->column_count);
    buf_put_u8(&printer->out, '\n');
}

/* The widths are known now: head, and the rows that waited. */
static void start_streaming(struct printer *printer)
{
    struct slice *head = mem_alloc(printer->column_count * sizeof *head);
    for (size_t i = 0; i < printer->column_count; i++) {
        head[i] = printer->columns[i].name;
        printer->widths[i] = MAX(printer->widths[i], text_width(head[i]));
        printer->widths[i] = MAX(printer->widths[i], text_width(printer->columns[i].type));
    }
    put_line(printer, head);
    for (size_t i = 0; i < printer->column_count; i++)
        head[i] = printer->columns[i].type;
    if (printer->has_types)
        put_line(printer, head);
    for (size_t at = 0; at + printer->column_count <= printer->cells.len; at += printer->column_count)
        put_line(printer, printer->cells.ptr + at);
    vec_reset(&printer->cells);
    arena_reset(&printer->kept);
    printer->streaming = true;
    mem_free(head);
}

static void table_cell(struct printer *printer, struct slice text)
{
    size_t width = MIN(text_width(text), CELL_WIDTH_MAX);
    if (!printer->streaming)
        printer->widths[printer->at] = MAX(printer->widths[printer->at], width);
    vec_push(&printer->cells, arena_dup(&printer->kept, text));
}

static void table_row_end(struct printer *printer)
{
    if (!printer->streaming) {
        if (printer->row_count >= PRINTER_ROWS_MAX)
            start_streaming(printer);
        return;
    }
    put_line(printer, printer->cells.ptr);
    vec_reset(&printer->cells);
    arena_reset(&printer->kept);
}

/* ---- the other forms ---- */

static void put_csv(struct buf *out, struct slice text)
{
    bool plain = true;
    for (size_t i = 0; i < text.len; i++)
        plain &= !strchr(",\"\r\n", text.ptr[i]) || !text.ptr[i];
    if (plain) {
        buf_put_slice(out, text);
        return;
    }
    buf_put_u8(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            buf_put_u8(out, '"');
        buf_put_u8(out, text.ptr[i]);
    }
    buf_put_u8(out, '"');
}

static void csv_head(struct printer *printer)
{
    for (size_t i = 0; i < printer->column_count; i++) {
        if (i)
            buf_put_u8(&printer->out, ',');
        put_csv(&printer->out, printer->columns[i].name);
    }
    buf_put_u8(&printer->out, '\n');
}

static void row_start(struct printer *printer)
{
    if (printer->format == FORMAT_CSV && !printer->row_count)
        csv_head(printer);
    if (printer->format == FORMAT_JSON)
        buf_printf(&printer->out, printer->row_count ? ",\n{" : "[\n{");
    if (printer->format == FORMAT_JSONL)
        buf_put_u8(&printer->out, '{');
}

static void row_end(struct printer *printer)
{
    printer->row_count++;
    if (printer->format == FORMAT_TABLE)
        table_row_end(printer);
    else if (printer->format == FORMAT_CSV)
        buf_put_u8(&printer->out, '\n');
    else
        buf_printf(&printer->out, printer->format == FORMAT_JSONL ? "}\n" : "}");
    if (printer->out.len >= FLUSH_BYTES)
        write_out(printer);
}

static void cell(struct printer *printer, struct slice text, struct slice json)
{
    if (printer->at == 0)
        row_start(printer);
    if (printer->format == FORMAT_TABLE) {
        table_cell(printer, text);
    } else {
        if (printer->at)
            buf_put_u8(&printer->out, ',');
        if (printer->format == FORMAT_CSV) {
            put_csv(&printer->out, text);
        } else {
            json_put_string(&printer->out, printer->columns[printer->at].name);
            buf_put_u8(&printer->out, ':');
            buf_put_slice(&printer->out, json);
        }
    }
    if (++printer->at == printer->column_count) {
        printer->at = 0;
        row_end(printer);
    }
}

void printer_text(struct printer *printer, struct slice text)
{
    struct buf json = {0};
    json_put_string(&json, text);
    cell(printer, text, buf_view(&json));
    buf_deinit(&json);
}

void printer_i64(struct printer *printer, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    cell(printer, slice_str(text), slice_str(text));
}

void printer_decimal(struct printer *printer, double value, int digits)
{
    char text[48];
    snprintf(text, sizeof text, "%.*f", digits, value);
    cell(printer, slice_str(text), slice_str(text));
}

void printer_bool(struct printer *printer, bool value)
{
    struct slice text = value ? SLICE("true") : SLICE("false");
    cell(printer, text, text);
}

void printer_null(struct printer *printer)
{
    cell(printer, printer->format == FORMAT_TABLE ? SLICE("-") : SLICE(""), SLICE("null"));
}

void printer_datum(struct printer *printer, const struct type *type, const struct datum *value)
{
    struct buf json = {0};
    if (value->is_null) {
        cell(printer, printer->format == FORMAT_TABLE ? SLICE("null") : SLICE(""), SLICE("null"));
        return;
    }
    datum_to_json(type, value, &json);
    struct slice text = buf_view(&json);
    if (type->kind == TYPE_STRING || type->kind == TYPE_CHAR)
        text = value->bytes;
    else if (text.len >= 2 && text.ptr[0] == '"') /* dates, times, bytes: nothing in them is escaped */
        text = slice_of(text.ptr + 1, text.len - 2);
    cell(printer, text, buf_view(&json));
    buf_deinit(&json);
}

void printer_schema_columns(const struct schema *schema, struct arena *arena, struct printer_column *columns)
{
    for (uint32_t i = 0; i < schema->column_count; i++) {
        enum type_kind kind = schema->columns[i].type->kind;
        struct buf type = {0};
        type_to_sql(type_with_nullable(arena, schema->columns[i].type, true), &type);
        columns[i] = (struct printer_column){schema->columns[i].name, arena_dup(arena, buf_view(&type)), false};
        columns[i].right = (kind >= TYPE_TINYINT && kind <= TYPE_DOUBLE) || kind == TYPE_DECIMAL;
        buf_deinit(&type);
    }
}

enum err_code printer_flush(struct printer *printer, struct err *err)
{
    if (printer->format == FORMAT_TABLE && !printer->streaming && printer->row_count)
        start_streaming(printer);
    write_out(printer);
    if (printer->failed.code != OK && err)
        *err = printer->failed;
    return printer->failed.code;
}

enum err_code printer_finish(struct printer *printer, struct err *err)
{
    if (printer->format == FORMAT_TABLE && !printer->streaming)
        start_streaming(printer);
    if (printer->format == FORMAT_CSV && !printer->row_count)
        csv_head(printer);
    if (printer->format == FORMAT_JSON)
        buf_printf(&printer->out, printer->row_count ? "\n]\n" : "[]\n");
    return printer_flush(printer, err);
}
