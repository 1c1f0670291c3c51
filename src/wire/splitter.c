#include "wire/wire_int.h"

#include "base/reader.h"

#define ROOM_BYTES_MIN (4u << 10)
/* Frames longer than this are received in their own memory. */
#define SMALL_FRAME_BYTES_MAX (WIRE_SPLITTER_ROOM_BYTES / 2)
_Static_assert(WIRE_LENGTH_BYTES + SMALL_FRAME_BYTES_MAX < WIRE_SPLITTER_ROOM_BYTES, "a small frame fits");

void wire_splitter_init(struct wire_splitter *s, uint32_t frame_bytes_max)
{
    ASSERT(frame_bytes_max <= WIRE_FRAME_BYTES_MAX);
    *s = (struct wire_splitter){.frame_bytes_max = frame_bytes_max};
}

void wire_splitter_deinit(struct wire_splitter *s)
{
    buf_deinit(&s->room);
    buf_deinit(&s->frame);
    *s = (struct wire_splitter){.frame_bytes_max = s->frame_bytes_max};
}

/* Memory of a large frame doubles with what has come, so that a length alone costs nothing. */
static uint8_t *large_room(struct wire_splitter *s, size_t *len)
{
    size_t left = s->frame_want - s->frame.len;
    if (s->frame.cap == s->frame.len)
        buf_reserve(&s->frame, MIN(left, MAX(s->frame.len, WIRE_SPLITTER_ROOM_BYTES)));
    *len = MIN(left, s->frame.cap - s->frame.len);
    return s->frame.ptr + s->frame.len;
}

/* A connection that says little keeps little: the room grows when what came filled it, or half a frame does. */
static void room_grow(struct wire_splitter *s)
{
    size_t cap = s->room.cap < ROOM_BYTES_MIN ? ROOM_BYTES_MIN : s->room.cap * 4;
    cap = MIN(cap, WIRE_SPLITTER_ROOM_BYTES);
    if (cap > s->room.cap)
        buf_reserve(&s->room, cap - s->room.len);
    s->room_was_full = false;
}

uint8_t *wire_splitter_room(struct wire_splitter *s, size_t *len)
{
    if (s->frame_want && s->frame.len < s->frame_want)
        return large_room(s, len);
    if (s->room_at) {
        s->room.len -= s->room_at;
        memmove(s->room.ptr, s->room.ptr + s->room_at, s->room.len);
        s->room_at = 0;
    }
    if (s->room_was_full || s->room.len >= s->room.cap / 2)
        room_grow(s);
    *len = s->room.cap - s->room.len;
    ASSERT(*len > 0);
    return s->room.ptr + s->room.len;
}

void wire_splitter_filled(struct wire_splitter *s, size_t len)
{
    struct buf *buf = s->frame_want && s->frame.len < s->frame_want ? &s->frame : &s->room;
    ASSERT(len <= buf->cap - buf->len);
    buf->len += len;
    s->room_was_full = buf == &s->room && buf->len == buf->cap;
}

static enum err_code length_check(struct wire_splitter *s, int32_t length, struct err *err)
{
    s->failed = true;
    if (length < 0)
        return err_set(err, ERR_CORRUPT_MESSAGE, "a frame of negative length %d", length);
    if ((uint32_t)length > s->frame_bytes_max)
        return err_set(err, ERR_LIMIT, "a frame of %d bytes, where %u are the most", length, s->frame_bytes_max);
    s->failed = false;
    return OK;
}

static bool large_take(struct wire_splitter *s, struct buf *frame)
{
    if (s->frame.len < s->frame_want)
        return false;
    buf_deinit(frame);
    *frame = s->frame;
    s->frame = (struct buf){0};
    s->frame_want = 0;
    return true;
}

enum err_code wire_splitter_next(struct wire_splitter *s, struct buf *frame, bool *have, struct err *err)
{
    ASSERT(!s->failed);
    *have = false;
    if (s->frame_want) {
        *have = large_take(s, frame);
        return OK;
    }
    struct reader r = reader_of(slice_of(s->room.ptr, s->room.len));
    reader_take(&r, s->room_at);
    int32_t length = (int32_t)reader_u32_be(&r);
    if (!reader_ok(&r))
        return OK;
    TRY(length_check(s, length, err));
    size_t want = (size_t)length;
    struct slice bytes = reader_slice(&r, MIN(want, reader_left(&r)));
    if (bytes.len < want && want <= SMALL_FRAME_BYTES_MAX)
        return OK;
    *have = bytes.len == want;
    if (!*have)
        s->frame_want = (uint32_t)length;
    struct buf *to = *have ? frame : &s->frame;
    buf_reset(to);
    buf_put_slice(to, bytes);
    s->room_at += WIRE_LENGTH_BYTES + bytes.len;
    return OK;
}

bool wire_splitter_idle(const struct wire_splitter *s)
{
    return !s->frame_want && s->room_at == s->room.len;
}
