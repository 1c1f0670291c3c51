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

static void count_selected(const struct type *row, const uint32_t *selected, uint32_t selected_count, size_t *nodes,
                           size_t *buffers)
{
    for (uint32_t i = 0; i < selected_count; i++) {
        ASSERT(selected[i] < row->field_count && (i == 0 || selected[i] > selected[i - 1]));
        arrow_type_count(row->fields[selected[i]].type, nodes, buffers);
    }
}

static enum err_code project(const struct arrow_message *m, const struct type *row, const uint32_t *selected,
                             uint32_t selected_count, struct buf *out, arrow_ranges *ranges, struct err *err)
{
    size_t nodes = 0, buffers = 0;
    count_selected(row, selected, selected_count, &nodes, &buffers);
    struct projector p = {.message = m,
                          .nodes = reader_of(m->nodes),
                          .buffers = reader_of(m->buffers),
                          .head = arrow_head_start(out, m->compression, (uint32_t)m->row_count, nodes, buffers),
                          .ranges = ranges,
                          .first_range = ranges->len,
                          .err = err};
    uint32_t at = 0;
    for (uint32_t i = 0; i < row->field_count; i++) {
        bool keep = at < selected_count && selected[at] == i;
        TRY(keep_column(&p, row->fields[i].type, keep));
        at += keep;
    }
    arrow_head_finish(&p.head, p.body_len);
    return OK;
}

enum err_code arrow_project(struct slice head, uint64_t message_len, const struct type *row, const uint32_t *selected,
                            uint32_t selected_count, struct buf *out, arrow_ranges *ranges, struct err *err)
{
    struct arrow_message m = {0};
    TRY(arrow_message_read(head, message_len, &m, err));
    TRY(arrow_message_matches(&m, row, err));
    size_t out_len = out->len, range_count = ranges->len;
    enum err_code code = project(&m, row, selected, selected_count, out, ranges, err);
    if (code != OK) {
        out->len = out_len;
        ranges->len = range_count;
    }
    return code;
}
