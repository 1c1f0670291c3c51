#include "format/arrow/head_int.h"
#include "format/arrow/message_int.h"

struct projector {
    const struct arrow_message *message;
    struct reader nodes;
    struct reader buffers;
    struct arrow_head head;
    arrow_ranges *ranges;
    size_t first_range; /* those before it are the caller's */
    uint64_t body_len;  /* kept so far */
    struct err *err;
};

static void keep_range(struct projector *p, uint64_t offset, uint64_t len)
{
    arrow_ranges *ranges = p->ranges;
    if (!len)
        return;
    if (ranges->len > p->first_range) {
        struct arrow_range *last = &ranges->ptr[ranges->len - 1];
        if (last->offset + last->len == offset) {
            last->len += len;
            return;
        }
    }
    struct arrow_range *added = vec_add(ranges);
    *added = (struct arrow_range){offset, len};
}

/* A buffer's padded length goes to the start of the next one, or to the end of the body. */
static enum err_code keep_buffers(struct projector *p, size_t count, bool keep)
{
    for (size_t i = 0; i < count; i++) {
        int64_t offset, len, next = (int64_t)p->message->body_len, next_len;
        arrow_pair_next(&p->buffers, &offset, &len);
        struct reader ahead = p->buffers;
        if (reader_left(&ahead))
            arrow_pair_next(&ahead, &next, &next_len);
        if (offset < 0 || len < 0 || next < offset || len > next - offset || next > (int64_t)p->message->body_len)
            return err_set(p->err, ERR_CORRUPT, "Arrow buffer at %lld of %lld bytes is outside its place",
                           (long long)offset, (long long)len);
        if (!keep)
            continue;
        arrow_head_buffer(&p->head, p->body_len, (uint64_t)len);
        keep_range(p, p->message->body_offset + (uint64_t)offset, (uint64_t)(next - offset));
        p->body_len += (uint64_t)(next - offset);
    }
    return OK;
}

static enum err_code keep_column(struct projector *p, const struct type *type, bool keep)
{
    size_t nodes = 0, buffers = 0;
    arrow_type_count(type, &nodes, &buffers);
    for (size_t i = 0; i < nodes; i++) {
        int64_t length, null_count;
        arrow_pair_next(&p->nodes, &length, &null_count);
        if (keep)
            arrow_head_node(&p->head, (uint64_t)length, (uint64_t)null_count);
    }
    return keep_buffers(p, buffers, keep);
}

/* ---- columns that the message does not have ---- */

/* Every buffer of a column of nulls is zeros. They all share one run of them, at the start of the body: behind a mark
 * that says "raw" where buffers are compressed. */
struct nulls {
    struct arrow_head *head; /* NULL: only the longest buffer is looked for */
    size_t mark_len;
    uint64_t longest;
};

static void null_buffer(struct nulls *nulls, uint64_t len)
{
    nulls->longest = MAX(nulls->longest, len);
    if (nulls->head)
        arrow_head_buffer(nulls->head, 0, len ? nulls->mark_len + len : 0);
}

static void null_node(struct nulls *nulls, uint64_t length, uint64_t null_count)
{
    if (nulls->head)
        arrow_head_node(nulls->head, length, null_count);
    null_buffer(nulls, (length + 7) / 8);
}

static void null_column(struct nulls *nulls, const struct type *type, uint64_t length)
{
    uint64_t child_length = type->kind == TYPE_ROW ? length : 0;
    null_node(nulls, length, length);
    switch (type->kind) {
    case TYPE_BOOLEAN:
        null_buffer(nulls, (length + 7) / 8);
        return;
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BYTES:
        null_buffer(nulls, 4 * (length + 1));
        null_buffer(nulls, 0);
        return;
    case TYPE_MAP:
        null_buffer(nulls, 4 * (length + 1));
        null_node(nulls, 0, 0);
        break;
    case TYPE_ARRAY:
        null_buffer(nulls, 4 * (length + 1));
        break;
    case TYPE_ROW:
        break;
    default:
        null_buffer(nulls, length * column_width(type));
        return;
    }
    for (uint32_t f = 0; f < type->field_count; f++)
        null_column(nulls, type->fields[f].type, child_length);
}

static void null_columns(struct nulls *nulls, const struct arrow_selection *selection, uint32_t from, uint64_t length)
{
    for (uint32_t i = from; i < selection->count; i++)
        null_column(nulls, selection->row->fields[selection->positions[i]].type, length);
}

static void put_zeros(const struct nulls *nulls, struct projector *p)
{
    struct buf *out = p->head.out;
    size_t start = out->len;
    if (nulls->mark_len)
        buf_put_u64(out, UINT64_MAX);
    buf_put_zeros(out, nulls->longest);
    buf_align(out, start, 8);
    p->body_len = out->len - start;
}

/* ---- all columns ---- */

static void count_selected(const struct type *row, const uint32_t *selected, uint32_t selected_count, size_t *nodes,
                           size_t *buffers)
{
    for (uint32_t i = 0; i < selected_count; i++) {
        ASSERT(selected[i] < row->field_count && (i == 0 || selected[i] > selected[i - 1]));
        arrow_type_count(row->fields[selected[i]].type, nodes, buffers);
    }
}

static uint32_t count_present(const struct arrow_selection *selection, const struct type *row)
{
    uint32_t count = 0;
    while (count < selection->count && selection->positions[count] < row->field_count)
        count++;
    return count;
}

static enum err_code project(const struct arrow_message *m, const struct type *row,
                             const struct arrow_selection *selection, struct buf *out, arrow_ranges *ranges,
                             struct err *err)
{
    size_t nodes = 0, buffers = 0;
    uint32_t present = count_present(selection, row);
    struct nulls nulls = {.mark_len = m->compression == ARROW_NONE ? 0 : 8};
    if (m->row_count <= ARROW_NULLS_BYTES_MAX)
        null_columns(&nulls, selection, present, m->row_count);
    if (present < selection->count && (m->row_count > ARROW_NULLS_BYTES_MAX || nulls.longest > ARROW_NULLS_BYTES_MAX))
        return err_set(err, ERR_LIMIT, "an Arrow batch of %llu rows is too long for columns that it does not have",
                       (unsigned long long)m->row_count);
    count_selected(selection->row, selection->positions, selection->count, &nodes, &buffers);
    struct projector p = {.message = m,
                          .nodes = reader_of(m->nodes),
                          .buffers = reader_of(m->buffers),
                          .head = arrow_head_start(out, m->compression, (uint32_t)m->row_count, nodes, buffers),
                          .ranges = ranges,
                          .first_range = ranges->len,
                          .err = err};
    if (present < selection->count)
        put_zeros(&nulls, &p);
    uint32_t at = 0;
    for (uint32_t i = 0; i < row->field_count; i++) {
        bool keep = at < present && selection->positions[at] == i;
        TRY(keep_column(&p, row->fields[i].type, keep));
        at += keep;
    }
    nulls.head = &p.head;
    null_columns(&nulls, selection, present, m->row_count);
    arrow_head_finish(&p.head, p.body_len);
    return OK;
}

enum err_code arrow_project(struct slice head, uint64_t message_len, const struct type *row,
                            const struct arrow_selection *selection, struct buf *out, arrow_ranges *ranges,
                            struct err *err)
{
    struct arrow_message m = {0};
    TRY(arrow_message_read(head, message_len, &m, err));
    TRY(arrow_message_matches(&m, row, err));
    size_t out_len = out->len, range_count = ranges->len;
    enum err_code code = project(&m, row, selection, out, ranges, err);
    if (code != OK) {
        out->len = out_len;
        ranges->len = range_count;
    }
    return code;
}
