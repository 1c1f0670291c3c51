#include "format/arrow/message_int.h"

struct decoder {
    struct arrow_codec *codec;
    enum arrow_compression compression;
    struct reader nodes;
    struct reader buffers;
    struct slice body;
    struct arena *arena;
    size_t budget;
    struct err *err;
};

static const uint8_t zeros[8];

/* As it lies in the body. */
static enum err_code next_stored(struct decoder *d, struct slice *out)
{
    int64_t offset, len;
    arrow_pair_next(&d->buffers, &offset, &len);
    struct reader body = reader_of(d->body);
    if (offset < 0 || len < 0)
        reader_fail(&body);
    reader_slice(&body, (size_t)offset);
    struct slice buffer = reader_slice(&body, (size_t)len);
    if (!reader_ok(&body))
        return err_set(d->err, ERR_CORRUPT, "Arrow buffer at %lld of %lld bytes is outside the body", (long long)offset,
                       (long long)len);
    *out = buffer;
    return OK;
}

static enum err_code next_buffer(struct decoder *d, struct slice *out)
{
    struct slice buffer = {0};
    TRY(next_stored(d, &buffer));
    if (d->compression != ARROW_NONE && buffer.len)
        TRY(arrow_decompress(d->codec, d->compression, buffer, d->arena, &d->budget, &buffer, d->err));
    *out = buffer.len ? buffer : slice_of(zeros, 0);
    return OK;
}

static uint32_t count_nulls(const uint8_t *bits, uint32_t length)
{
    uint32_t set = 0, i = 0;
    for (; i + 64 <= length; i += 64)
        set += (uint32_t)__builtin_popcountll(load_u64(bits + i / 8));
    for (; i < length; i++)
        set += bits[i >> 3] >> (i & 7) & 1;
    return length - set;
}

static enum err_code next_counts(struct decoder *d, int64_t *length, int64_t *null_count)
{
    arrow_pair_next(&d->nodes, length, null_count);
    if (*length < 0 || *length > ARROW_ROWS_MAX || *null_count < 0 || *null_count > *length)
        return err_set(d->err, ERR_CORRUPT, "Arrow node of %lld values, %lld of them null", (long long)*length,
                       (long long)*null_count);
    return OK;
}

/* A node's length and validity. A null count of 0 means that validity need not be there, nor be looked at. */
static enum err_code next_node(struct decoder *d, struct column *c)
{
    int64_t length, null_count;
    TRY(next_counts(d, &length, &null_count));
    struct slice validity = {0};
    TRY(next_buffer(d, &validity));
    c->length = (uint32_t)length;
    if (!null_count)
        return OK;
    if (validity.len < ((size_t)length + 7) / 8)
        return err_set(d->err, ERR_CORRUPT, "Arrow validity of %zu bytes for %lld values", validity.len,
                       (long long)length);
    c->validity = validity.ptr;
    c->null_count = count_nulls(validity.ptr, c->length);
    return OK;
}

static enum err_code next_data(struct decoder *d, struct column *c, size_t need)
{
    struct slice data = {0};
    TRY(next_buffer(d, &data));
    if (data.len < need)
        return err_set(d->err, ERR_CORRUPT, "Arrow buffer of %zu bytes for %u values of %zu", data.len, c->length,
                       need);
    c->data = data.ptr;
    c->data_len = data.len;
    return OK;
}

/* Offsets never fall, and the last one (out: end) is what the caller checks against the bytes or elements. */
static enum err_code next_offsets(struct decoder *d, struct column *c, uint32_t *end)
{
    struct slice offsets = {0};
    TRY(next_buffer(d, &offsets));
    if (c->length == 0) {
        c->offsets = zeros; /* of no values they may be missing */
        *end = 0;
        return OK;
    }
    if (offsets.len < 4 * ((size_t)c->length + 1))
        return err_set(d->err, ERR_CORRUPT, "Arrow offsets of %zu bytes for %u values", offsets.len, c->length);
    bool falls = (int32_t)load_u32(offsets.ptr) < 0;
    for (size_t i = 0; i < c->length; i++)
        falls |= (int32_t)load_u32(offsets.ptr + 4 * i) > (int32_t)load_u32(offsets.ptr + 4 * i + 4);
    if (falls)
        return err_set(d->err, ERR_CORRUPT, "Arrow offsets fall");
    c->offsets = offsets.ptr;
    *end = load_u32(offsets.ptr + 4 * (size_t)c->length);
    return OK;
}

static enum err_code next_column(struct decoder *d, const struct type *type, struct column *c);

static enum err_code next_text(struct decoder *d, struct column *c)
{
    uint32_t end = 0;
    TRY(next_offsets(d, c, &end));
    return next_data(d, c, end);
}

/* The entries of a MAP: a struct without nulls, whose fields become the column's children. */
static enum err_code next_entries(struct decoder *d, uint32_t end)
{
    struct column entries = {0};
    TRY(next_node(d, &entries));
    if (entries.null_count || entries.length < end)
        return err_set(d->err, ERR_CORRUPT, "Arrow map of %u entries has %u, %u of them null", end, entries.length,
                       entries.null_count);
    return OK;
}

static enum err_code next_list(struct decoder *d, struct column *c)
{
    uint32_t end = 0;
    TRY(next_offsets(d, c, &end));
    if (c->type->kind == TYPE_MAP)
        TRY(next_entries(d, end));
    for (uint32_t f = 0; f < c->type->field_count; f++) {
        TRY(next_column(d, c->type->fields[f].type, &c->children[f]));
        if (c->children[f].length < end)
            return err_set(d->err, ERR_CORRUPT, "Arrow offsets reach element %u of %u", end, c->children[f].length);
    }
    return OK;
}

static enum err_code next_row(struct decoder *d, struct column *c)
{
    for (uint32_t f = 0; f < c->type->field_count; f++) {
        TRY(next_column(d, c->type->fields[f].type, &c->children[f]));
        if (c->children[f].length != c->length)
            return err_set(d->err, ERR_CORRUPT, "Arrow struct of %u rows has a field of %u", c->length,
                           c->children[f].length);
    }
    return OK;
}

static enum err_code next_column(struct decoder *d, const struct type *type, struct column *c)
{
    *c = (struct column){.type = type, .data = zeros};
    TRY(next_node(d, c));
    if (type->field_count)
        c->children = ARENA_NEW_ARRAY(d->arena, struct column, type->field_count);
    switch (type->kind) {
    case TYPE_BOOLEAN:
        return next_data(d, c, ((size_t)c->length + 7) / 8);
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BYTES:
        return next_text(d, c);
    case TYPE_ARRAY:
    case TYPE_MAP:
        return next_list(d, c);
    case TYPE_ROW:
        return next_row(d, c);
    default:
        return next_data(d, c, c->length * column_width(type));
    }
}

static enum err_code decoder_start(struct slice message, const struct type *row, struct decoder *d,
                                   struct arrow_message *m, struct err *err)
{
    TRY(arrow_message_read(message, message.len, m, err));
    TRY(arrow_message_matches(m, row, err));
    struct reader r = reader_of(message);
    reader_slice(&r, (size_t)m->body_offset);
    *d = (struct decoder){.compression = m->compression,
                          .nodes = reader_of(m->nodes),
                          .buffers = reader_of(m->buffers),
                          .body = reader_slice(&r, (size_t)m->body_len),
                          .budget = ARROW_DECODED_BYTES_MAX,
                          .err = err};
    return OK;
}

static enum err_code check_length(const struct arrow_message *m, uint64_t length, struct err *err)
{
    if (length == m->row_count)
        return OK;
    return err_set(err, ERR_CORRUPT, "Arrow batch of %llu rows has a column of %llu", (unsigned long long)m->row_count,
                   (unsigned long long)length);
}

enum err_code arrow_decode(struct arrow_codec *codec, struct slice message, const struct type *row, struct arena *arena,
                           struct column *columns, uint32_t *row_count, struct err *err)
{
    struct arrow_message m = {0};
    struct decoder d;
    TRY(decoder_start(message, row, &d, &m, err));
    d.codec = codec;
    d.arena = arena;
    for (uint32_t i = 0; i < row->field_count; i++) {
        TRY(next_column(&d, row->fields[i].type, &columns[i]));
        TRY(check_length(&m, columns[i].length, err));
    }
    *row_count = (uint32_t)m.row_count;
    return OK;
}

static enum err_code check_nulls(const struct type *row, uint32_t i, int64_t null_count, struct err *err)
{
    if (row->fields[i].type->nullable || null_count == 0)
        return OK;
    return err_set(err, ERR_INVALID_ARGUMENT, "a null in the column '%.*s', which is NOT NULL",
                   SLICE_ARGS(row->fields[i].name));
}

static enum err_code check_text(const struct type *row, uint32_t i, const struct column *column, struct err *err)
{
    if (column_text_is_valid(column))
        return OK;
    return err_set(err, ERR_INVALID_ARGUMENT, "a text in the column '%.*s' is not UTF-8",
                   SLICE_ARGS(row->fields[i].name));
}

/* What can be said without decompressing: where buffers lie, and what the nodes of whole columns say. */
static enum err_code check_metadata(struct decoder *d, const struct arrow_message *m, const struct type *row)
{
    struct slice stored;
    for (size_t left = m->buffers.len / ARROW_PAIR_BYTES; left > 0; left--)
        TRY(next_stored(d, &stored));
    for (uint32_t i = 0; i < row->field_count; i++) {
        int64_t length, null_count;
        size_t nodes = 0, buffers = 0;
        TRY(next_counts(d, &length, &null_count));
        TRY(check_length(m, (uint64_t)length, d->err));
        TRY(check_nulls(row, i, null_count, d->err));
        arrow_type_count(row->fields[i].type, &nodes, &buffers);
        while (--nodes > 0)
            TRY(next_counts(d, &length, &null_count));
    }
    return OK;
}

enum err_code arrow_check(struct slice message, const struct type *row, struct arena *arena, uint32_t *row_count,
                          struct err *err)
{
    struct arrow_message m = {0};
    struct decoder d;
    TRY(decoder_start(message, row, &d, &m, err));
    d.arena = arena;
    *row_count = (uint32_t)MIN(m.row_count, UINT32_MAX);
    if (m.compression != ARROW_NONE)
        return check_metadata(&d, &m, row);
    for (uint32_t i = 0; i < row->field_count; i++) {
        struct column column;
        TRY(next_column(&d, row->fields[i].type, &column));
        TRY(check_length(&m, column.length, err));
        TRY(check_nulls(row, i, column.null_count, err));
        TRY(check_text(row, i, &column, err));
    }
    return OK;
}
