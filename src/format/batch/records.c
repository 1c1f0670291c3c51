/* The body of an INDEXED or COMPACTED batch (log.md 2): for each record i32 length of what follows, u8 change type,
 * row. */
#include "format/batch/header_int.h"

#include "base/reader.h"
#include "format/row/row.h"

static enum row_format row_format_of(enum log_format format)
{
    ASSERT(format != LOG_FORMAT_ARROW);
    return format == LOG_FORMAT_INDEXED ? ROW_INDEXED : ROW_COMPACTED;
}

enum err_code log_batch_record_next(struct slice *rest, struct log_record *record, struct err *err)
{
    struct reader r = reader_of(*rest);
    struct reader inside = reader_of(reader_slice(&r, reader_u32(&r)));
    uint8_t change = reader_u8(&inside);
    struct slice row = reader_rest(&inside);
    if (!reader_ok(&r) || !reader_ok(&inside) || change >= CHANGE_TYPE_COUNT)
        return err_set(err, ERR_CORRUPT, "log batch holds a record that is cut off, or of change type %u", change);
    *record = (struct log_record){(enum change_type)change, row};
    *rest = reader_rest(&r);
    return OK;
}

/* INDEXED rows lose the zeros at the end of a BINARY(n), COMPACTED ones may be written short: a column has all n bytes.
 */
static void pad_binary(const struct type *type, struct arena *arena, struct datum *value)
{
    if (type->kind != TYPE_BINARY || value->is_null || value->bytes.len >= (size_t)type->length)
        return;
    uint8_t *whole = arena_zalloc(arena, (size_t)type->length);
    if (value->bytes.len)
        memcpy(whole, value->bytes.ptr, value->bytes.len);
    value->bytes = slice_of(whole, (size_t)type->length);
}

/* Rows on their way from records to columns. */
struct unfolding {
    enum row_format format;
    const struct type *type;
    struct column_builder *columns;
    struct arena scratch; /* of one row */
    bool arriving;        /* a server asks more of them */
};

static void unfolding_init(struct unfolding *u, enum log_format format, const struct type *type)
{
    *u = (struct unfolding){.format = row_format_of(format), .type = type};
    u->columns = mem_alloc(type->field_count * sizeof *u->columns);
    for (uint32_t i = 0; i < type->field_count; i++)
        column_builder_init(&u->columns[i], type->fields[i].type);
}

static void unfolding_deinit(struct unfolding *u)
{
    for (uint32_t i = 0; i < u->type->field_count; i++)
        column_builder_deinit(&u->columns[i]);
    mem_free(u->columns);
    arena_deinit(&u->scratch);
}

static enum err_code append_record(struct unfolding *u, struct slice *rest, uint8_t *change, struct err *err)
{
    struct log_record record = {0};
    const struct type *type = u->type;
    TRY(log_batch_record_next(rest, &record, err));
    *change = (uint8_t)record.change;
    arena_reset(&u->scratch);
    struct datum *values = ARENA_NEW_ARRAY(&u->scratch, struct datum, type->field_count);
    TRY(row_decode(u->format, type, record.row, &u->scratch, values, err));
    if (u->arriving)
        TRY(datum_row_check(type, values, err));
    for (uint32_t i = 0; i < type->field_count; i++) {
        pad_binary(type->fields[i].type, &u->scratch, &values[i]);
        TRY(column_builder_append(&u->columns[i], &values[i], err));
    }
    return OK;
}

/* What a row takes in columns if all its values are null or of fixed width. */
static size_t fixed_bytes(const struct type *type)
{
    size_t bytes = column_width(type);
    for (uint32_t f = 0; type->kind == TYPE_ROW && f < type->field_count; f++)
        bytes += fixed_bytes(type->fields[f].type);
    return bytes;
}

/* A null takes a bit of a row, but the full width of a column: small batches must not unfold to any size. */
static enum err_code check_unfolded(const struct unfolding *u, size_t more, struct err *err)
{
    size_t bytes = more;
    for (uint32_t i = 0; i < u->type->field_count; i++)
        bytes += column_builder_bytes(&u->columns[i]);
    if (bytes > ARROW_DECODED_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "the rows of a log batch would take more than %u bytes",
                       ARROW_DECODED_BYTES_MAX);
    return OK;
}

static enum err_code check_count(const struct log_batch *batch, struct err *err)
{
    if (batch->record_count <= batch->body.len)
        return OK;
    return err_set(err, ERR_CORRUPT, "log batch of %zu bytes says it holds %u records", batch->size,
                   batch->record_count);
}

static enum err_code append_records(struct unfolding *u, const struct log_batch *batch, uint8_t *change_types,
                                    struct err *err)
{
    struct slice rest = batch->body;
    size_t fixed = fixed_bytes(u->type);
    for (uint32_t i = 0; i < batch->record_count; i++) {
        TRY(check_unfolded(u, fixed, err));
        TRY(append_record(u, &rest, &change_types[i], err));
    }
    if (rest.len)
        return err_set(err, ERR_CORRUPT, "log batch holds %zu bytes behind its records", rest.len);
    return OK;
}

enum err_code batch_decode_rows(const struct log_batch *batch, enum log_format format, const struct type *type,
                                struct arena *arena, struct log_batch_rows *rows, struct err *err)
{
    struct unfolding u;
    TRY(check_count(batch, err)); /* before memory is taken for them */
    unfolding_init(&u, format, type);
    uint8_t *change_types = arena_alloc(arena, batch->record_count);
    enum err_code code = append_records(&u, batch, change_types, err);
    for (uint32_t i = 0; code == OK && i < type->field_count; i++) {
        struct column view;
        column_builder_view(&u.columns[i], &u.scratch, &view);
        column_dup(arena, &view, &rows->columns[i]);
    }
    rows->change_types = change_types;
    rows->count = batch->record_count;
    unfolding_deinit(&u);
    return code;
}

enum err_code log_batch_check_rows(const struct log_batch *batch, enum log_format format, const struct type *type,
                                   struct err *err)
{
    struct unfolding u;
    TRY(check_count(batch, err));
    unfolding_init(&u, format, type);
    u.arriving = true;
    uint8_t *change_types = mem_alloc(batch->record_count + 1);
    enum err_code code = append_records(&u, batch, change_types, err);
    mem_free(change_types);
    unfolding_deinit(&u);
    return code;
}

enum err_code batch_put_row(struct log_batch_builder *builder, enum change_type change, const struct datum *row,
                            struct err *err)
{
    struct buf *rows = &builder->rows;
    size_t start = rows->len;
    buf_put_u32(rows, 0);
    buf_put_u8(rows, (uint8_t)change);
    enum err_code code = row_encode(row_format_of(builder->options.format), builder->type, row, rows, err);
    if (code != OK) {
        rows->len = start;
        return code;
    }
    store_u32(rows->ptr + start, (uint32_t)(rows->len - start - 4));
    return OK;
}
