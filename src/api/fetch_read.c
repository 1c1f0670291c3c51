/* One bucket's part of a fetch: ranges of its log, whole or some columns of it, as pieces of the answer. Fluss reads no
 * further than the segment it begins in; here small segments cost no round trips. */
#include "api/fetch_log_int.h"

/* Ranges up to this size are read and copied: cheaper than a system call of their own. */
#define READ_BYTES_MAX (16u << 10)
/* Of one bucket's log in one answer, so in as many segments at most: each may be held open until the answer is sent. */
#define FETCH_RANGES_MAX 64
/* First bytes of a batch that are read in the hope that header and metadata are in them. */
#define HEAD_BYTES_GUESS 4096

struct held_view {
    struct log_view view;
    unsigned users; /* atomic: pieces not yet released, and the reader itself */
};

static void view_release(void *owner)
{
    struct held_view *held = owner;
    if (__atomic_sub_fetch(&held->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    log_view_release(&held->view);
    mem_free(held);
}

/* Gathers the pieces of one answer: memory that was read, and ranges of the file. */
struct gather {
    struct api_call *call;
    struct held_view *held;
    VEC(struct wire_piece) pieces;
    struct arena head; /* of the batch that is looked at */
    size_t bytes;
    int64_t read_end;     /* behind the last batch that was looked at */
    int64_t kept_end;     /* behind the last one in it */
    size_t skipped_count; /* batches that the filter left away */
};

/* Room in the answer; it outlives the call, so it is not the arena's. */
static enum err_code gather_room(struct gather *g, size_t len, uint8_t **room, struct err *err)
{
    TRY(api_answer_room(g->call, len, err));
    *room = mem_alloc(len);
    vec_push(&g->pieces, ((struct wire_piece){.ptr = *room, .len = len, .release = mem_free, .owner = *room}));
    return OK;
}

/* Drops what came since it was as in `to`. */
static void gather_back(struct gather *g, const struct gather *to)
{
    size_t count = to->pieces.len;
    struct wire_bytes dropped = {.piece_count = g->pieces.len - count};
    dropped.pieces = dropped.piece_count ? g->pieces.ptr + count : NULL;
    wire_bytes_release(&dropped);
    g->pieces.len = count;
    g->bytes = to->bytes;
    g->read_end = to->read_end;
    g->kept_end = to->kept_end;
    g->skipped_count = to->skipped_count;
}

static enum err_code gather_memory(struct gather *g, struct slice bytes, struct err *err)
{
    uint8_t *room;
    if (!bytes.len)
        return OK;
    TRY(gather_room(g, bytes.len, &room, err));
    memcpy(room, bytes.ptr, bytes.len);
    g->bytes += bytes.len;
    return OK;
}

static enum err_code gather_file(struct gather *g, uint64_t offset, size_t len, struct err *err)
{
    g->bytes += len;
    if (len > READ_BYTES_MAX) {
        __atomic_add_fetch(&g->held->users, 1, __ATOMIC_RELAXED);
        vec_push(
            &g->pieces,
            ((struct wire_piece){
                .file = g->held->view.file, .offset = offset, .len = len, .release = view_release, .owner = g->held}));
        return OK;
    }
    size_t got;
    uint8_t *room;
    TRY(gather_room(g, len, &room, err));
    TRY(os_file_read(g->held->view.file, offset, room, len, &got, err));
    if (got != len)
        return err_set(err, ERR_LOG_STORAGE_EXCEPTION, "a segment ends within a batch");
    return OK;
}

/* The first bytes of the batch at offset, as many as projecting it needs. */
static enum err_code head_read(struct gather *g, uint64_t offset, uint64_t left, struct slice *head, struct err *err)
{
    size_t want = MIN(left, (uint64_t)HEAD_BYTES_GUESS), got;
    arena_reset(&g->head);
    for (;;) {
        uint8_t *bytes = arena_alloc(&g->head, want);
        TRY(os_file_read(g->held->view.file, offset, bytes, want, &got, err));
        *head = slice_of(bytes, got);
        size_t need;
        TRY(log_batch_head_bytes(*head, &need, err));
        if (need <= got)
            return OK;
        if (need > left || got < want)
            return err_set(err, ERR_LOG_STORAGE_EXCEPTION, "a segment ends within a batch");
        want = need;
    }
}

static enum err_code batch_project(struct gather *g, struct fetch_projection *projection, uint64_t offset,
                                   struct slice head, const struct log_batch *batch, struct err *err)
{
    const struct type *row = fetch_projection_row(projection, batch->schema_id);
    if (!row)
        return err_set(err, ERR_SCHEMA_NOT_EXIST, "the table has no schema %d", batch->schema_id);
    struct buf out = {0};
    arrow_ranges ranges = {0};
    enum err_code code = log_batch_project(head, row, &projection->selection, &out, &ranges, err);
    if (code == OK)
        code = gather_memory(g, buf_view(&out), err);
    for (size_t i = 0; code == OK && i < ranges.len; i++)
        code = gather_file(g, offset + ranges.ptr[i].offset, ranges.ptr[i].len, err);
    buf_deinit(&out);
    vec_deinit(&ranges);
    return code;
}

/* Whole batches that lie side by side and go as one piece. */
struct run {
    uint64_t offset;
    size_t len;
};

static enum err_code run_end(struct gather *g, struct run *run, struct err *err)
{
    if (run->len)
        TRY(gather_file(g, run->offset, run->len, err));
    run->len = 0;
    return OK;
}

static enum err_code batch_keep(struct gather *g, const struct fetch_wanted *wanted, struct run *run, uint64_t offset,
                                struct slice head, const struct log_batch *batch, struct err *err)
{
    if (wanted->projection)
        return batch_project(g, wanted->projection, offset, head, batch, err);
    if (!run->len)
        run->offset = offset;
    run->len += batch->size;
    return OK;
}

/* One batch more is looked at. False: for this answer it is enough. */
static bool effort_take(const struct fetch_wanted *wanted)
{
    size_t effort = 1 + (wanted->filter ? wanted->filter->parts / FETCH_FILTER_PARTS : 0);
    if (*wanted->effort_left == 0)
        return false;
    *wanted->effort_left -= MIN(effort, *wanted->effort_left);
    return true;
}

static enum err_code gather_batches(struct gather *g, const struct fetch_wanted *wanted, struct err *err)
{
    const struct log_view *view = &g->held->view;
    struct run run = {0};
    for (uint64_t at = 0; at < view->length && effort_take(wanted);) {
        uint64_t offset = view->position + at;
        struct slice head;
        struct log_batch batch;
        TRY(head_read(g, offset, view->length - at, &head, err));
        TRY(log_batch_read(head, &batch, err));
        at += batch.size;
        g->read_end = log_batch_next_offset(&batch);
        if (wanted->filter && !fetch_filter_keeps(wanted->filter, &batch)) {
            g->skipped_count++;
            TRY(run_end(g, &run, err));
            continue;
        }
        g->kept_end = g->read_end;
        TRY(batch_keep(g, wanted, &run, offset, head, &batch, err));
    }
    return run_end(g, &run, err);
}

/* The view is taken. */
static enum err_code gather_view(struct gather *g, struct log_view *view, const struct fetch_wanted *wanted,
                                 struct err *err)
{
    g->held = mem_alloc(sizeof *g->held);
    *g->held = (struct held_view){.view = *view, .users = 1};
    bool by_batch = wanted->projection || wanted->filter;
    enum err_code code = by_batch ? gather_batches(g, wanted, err) : gather_file(g, view->position, view->length, err);
    view_release(g->held);
    return code;
}

/* The next range of the bucket, from part->next_offset on. *more: there may be another one that fits. */
static enum err_code gather_next(struct gather *g, struct bucket *bucket, const struct fetch_wanted *wanted,
                                 struct fetch_part *part, bool *more, struct err *err)
{
    struct bucket_range range;
    size_t left = wanted->bytes_max - MIN(wanted->bytes_max, g->bytes);
    *more = false;
    TRY(bucket_fetch(bucket, part->next_offset, left, wanted->force_one && g->bytes == 0, &range, err));
    part->high_watermark = range.high_watermark;
    part->start_offset = range.start_offset;
    part->next_offset = range.next_offset;
    if (range.view.length == 0) {
        log_view_release(&range.view);
        return OK;
    }
    bool in_part = !log_view_is_whole(&range.view);
    TRY(gather_view(g, &range.view, wanted, err));
    bool smaller = wanted->projection || wanted->filter; /* so there may be room for more of this segment */
    if (smaller)
        part->next_offset = g->read_end;
    *more = part->next_offset < part->high_watermark && g->bytes < wanted->bytes_max && (smaller || !in_part) &&
            *wanted->effort_left > 0;
    return OK;
}

static void records_take(struct gather *g, struct wire_bytes *records)
{
    *records = (struct wire_bytes){.piece_count = g->pieces.len};
    records->pieces = arena_array(&g->call->arena, g->pieces.len, sizeof *records->pieces);
    if (g->pieces.len)
        memcpy(records->pieces, g->pieces.ptr, g->pieces.len * sizeof *records->pieces);
    vec_deinit(&g->pieces);
}

enum err_code fetch_part_read(struct api_call *call, struct bucket *bucket, const struct fetch_wanted *wanted,
                              struct fetch_part *part, struct err *err)
{
    struct gather g = {.call = call};
    *part = (struct fetch_part){.next_offset = wanted->offset};
    bool more;
    enum err_code code = gather_next(&g, bucket, wanted, part, &more, err);
    /* What fails further on is told to the fetch that begins there. */
    for (unsigned i = 1; code == OK && more && i < FETCH_RANGES_MAX; i++) {
        struct fetch_part before = *part;
        struct gather reached = g;
        if (gather_next(&g, bucket, wanted, part, &more, NULL) == OK)
            continue;
        gather_back(&g, &reached);
        *part = before;
        more = false;
    }
    arena_deinit(&g.head);
    records_take(&g, &part->records);
    part->bytes = g.bytes;
    part->skipped = g.skipped_count && part->next_offset > g.kept_end;
    if (code != OK)
        wire_bytes_release(&part->records);
    return code;
}
