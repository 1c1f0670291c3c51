#include "wire/wire_int.h"

/* Sent bytes and pieces are given up when they are this many and at least half of what is kept. */
#define DROP_BYTES_MIN (64u << 10)
#define DROP_PIECES_MIN 64

static bool is_encoded(const struct wire_piece *piece)
{
    return !piece->ptr && !piece->file;
}

static void piece_release(struct wire_piece *piece)
{
    if (piece->release)
        piece->release(piece->owner);
}

void wire_out_reset(struct wire_out *out)
{
    for (size_t i = out->head; i < out->pieces.len; i++)
        piece_release(&out->pieces.ptr[i]);
    buf_reset(&out->bytes);
    if (out->bytes.cap > WIRE_OUT_KEEP_BYTES_MAX)
        buf_deinit(&out->bytes);
    vec_reset(&out->pieces);
    vec_reset(&out->sizes);
    out->bytes_start = out->bytes_flushed = 0;
    out->head = out->head_sent = 0;
    out->len = out->file_len = 0;
}

void wire_out_deinit(struct wire_out *out)
{
    wire_out_reset(out);
    buf_deinit(&out->bytes);
    vec_deinit(&out->pieces);
    vec_deinit(&out->sizes);
}

void wire_out_push(struct wire_out *out, struct wire_piece piece)
{
    ASSERT(out->bytes_flushed == out->bytes_start + out->bytes.len);
    if (piece.len == 0) {
        piece_release(&piece);
        return;
    }
    ASSERT(!is_encoded(&piece));
    vec_push(&out->pieces, piece);
    out->len += piece.len;
    out->file_len += piece.file ? piece.len : 0;
}

void wire_out_flush(struct wire_out *out)
{
    uint64_t end = out->bytes_start + out->bytes.len;
    size_t added = (size_t)(end - out->bytes_flushed);
    if (added == 0)
        return;
    struct wire_piece *last = out->pieces.len > out->head ? &out->pieces.ptr[out->pieces.len - 1] : NULL;
    if (last && is_encoded(last))
        last->len += added;
    else
        vec_push(&out->pieces, ((struct wire_piece){.offset = out->bytes_flushed, .len = added}));
    out->bytes_flushed = end;
    out->len += added;
}

static struct slice memory_of(const struct wire_out *out, const struct wire_piece *piece)
{
    if (is_encoded(piece))
        return slice_of(out->bytes.ptr + (piece->offset - out->bytes_start), piece->len);
    return slice_of(piece->ptr, piece->len);
}

size_t wire_out_slices(const struct wire_out *out, struct slice *slices, size_t slice_max)
{
    size_t count = 0;
    size_t sent = out->head_sent;
    for (size_t i = out->head; i < out->pieces.len && count < slice_max && !out->pieces.ptr[i].file; i++) {
        struct slice memory = memory_of(out, &out->pieces.ptr[i]);
        slices[count++] = slice_of(memory.ptr + sent, memory.len - sent);
        sent = 0;
    }
    return count;
}

bool wire_out_file(const struct wire_out *out, struct os_file **file, uint64_t *offset, size_t *len)
{
    if (out->head == out->pieces.len || !out->pieces.ptr[out->head].file)
        return false;
    const struct wire_piece *piece = &out->pieces.ptr[out->head];
    *file = piece->file;
    *offset = piece->offset + out->head_sent;
    *len = piece->len - out->head_sent;
    return true;
}

/* Gives up the sent front of the encoded bytes and of the list, so that an out that is never quite empty stays small.
 */
static void front_drop(struct wire_out *out)
{
    if (out->head >= DROP_PIECES_MIN && out->head >= out->pieces.len / 2) {
        out->pieces.len -= out->head;
        memmove(out->pieces.ptr, out->pieces.ptr + out->head, out->pieces.len * sizeof *out->pieces.ptr);
        out->head = 0;
    }
    struct wire_piece *first = &out->pieces.ptr[out->head];
    if (is_encoded(first)) { /* one stretch may grow for ever */
        first->offset += out->head_sent;
        first->len -= out->head_sent;
        out->head_sent = 0;
    }
    const struct wire_piece *last = &out->pieces.ptr[out->pieces.len - 1];
    while (first < last && !is_encoded(first))
        first++;
    uint64_t unsent = is_encoded(first) ? first->offset : out->bytes_flushed;
    size_t sent = (size_t)(unsent - out->bytes_start);
    if (sent < DROP_BYTES_MIN || sent < out->bytes.len / 2)
        return;
    out->bytes.len -= sent;
    memmove(out->bytes.ptr, out->bytes.ptr + sent, out->bytes.len);
    out->bytes_start = unsent;
}

void wire_out_advance(struct wire_out *out, uint64_t len)
{
    ASSERT(len <= out->len);
    out->len -= len;
    while (len) {
        struct wire_piece *head = &out->pieces.ptr[out->head];
        size_t part = (size_t)MIN(len, head->len - out->head_sent);
        len -= part;
        out->head_sent += part;
        out->file_len -= head->file ? part : 0;
        if (out->head_sent < head->len)
            break;
        piece_release(head);
        out->head++;
        out->head_sent = 0;
    }
    if (out->len)
        front_drop(out);
    else
        wire_out_reset(out);
}

void wire_out_append(struct wire_out *out, struct wire_out *from)
{
    if (out->len == 0) {
        struct wire_out empty = *out;
        *out = *from;
        *from = empty;
        wire_out_reset(from);
        return;
    }
    for (size_t i = from->head; i < from->pieces.len; i++) {
        struct wire_piece piece = from->pieces.ptr[i];
        size_t sent = i == from->head ? from->head_sent : 0;
        if (is_encoded(&piece)) {
            struct slice memory = memory_of(from, &piece);
            buf_put(&out->bytes, memory.ptr + sent, memory.len - sent);
            continue;
        }
        piece.ptr = piece.ptr ? piece.ptr + sent : NULL;
        piece.offset += sent;
        piece.len -= sent;
        wire_out_flush(out);
        wire_out_push(out, piece);
    }
    wire_out_flush(out);
    from->head = from->pieces.len; /* what it had is not its own any more */
    wire_out_reset(from);
}
