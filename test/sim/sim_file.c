/* Files of the simulated disk: every change is kept until a sync makes it durable or a crash decides about it. */
#include "sim/sim_int.h"

static struct sim_file *file_of(struct os_file *file)
{
    return CONTAINER_OF(file, struct sim_file, head);
}

void sim_resize(struct buf *bytes, uint64_t size)
{
    if (size > bytes->len)
        buf_put_zeros(bytes, size - bytes->len);
    bytes->len = size;
}

void sim_apply(struct buf *bytes, uint64_t offset, struct slice piece)
{
    if (offset + piece.len > bytes->len)
        sim_resize(bytes, offset + piece.len);
    memcpy(bytes->ptr + offset, piece.ptr, piece.len);
}

void sim_pending_clear(struct sim_node *node)
{
    for (size_t i = 0; i < node->pending.len; i++)
        buf_deinit(&node->pending.ptr[i].bytes);
    vec_reset(&node->pending);
}

static void change_size(struct sim_disk *disk, struct sim_node *node, uint64_t size)
{
    sim_resize(&node->seen, size);
    vec_push(&node->pending, ((struct sim_write){.offset = size, .is_size = true}));
    node->modified_ms = sim_disk_wall_ms(disk);
}

static void change_bytes(struct sim_disk *disk, struct sim_node *node, uint64_t offset, struct slice piece)
{
    if (!piece.len)
        return;
    sim_apply(&node->seen, offset, piece);
    struct sim_write *write = vec_add(&node->pending);
    *write = (struct sim_write){.offset = offset};
    buf_put_slice(&write->bytes, piece);
    node->modified_ms = sim_disk_wall_ms(disk);
}

/* Bytes of a growth to size that the disk has room for. */
static uint64_t room_for(const struct sim_disk *disk, const struct sim_node *node, uint64_t size)
{
    uint64_t used = sim_used_bytes(disk);
    uint64_t wanted = size > node->seen.len ? size - node->seen.len : 0;
    uint64_t room = disk->capacity > used ? disk->capacity - used : 0;
    return MIN(wanted, room);
}

static enum err_code sim_open(struct os *os, const char *path, unsigned flags, struct os_file **file, struct err *err)
{
    struct sim_disk *disk = sim_disk_of(os);
    struct sim_node *node = sim_find(disk, path);
    bool creates = !node && (flags & OS_CREATE);
    TRY(sim_enter(os, creates, err));
    if (node && (flags & OS_EXCL))
        return err_set(err, ERR_ALREADY_EXISTS, "open %s", path);
    if (node && node->is_dir)
        return err_set(err, ERR_IO, "open %s: is a directory", path);
    if (creates) {
        const char *name;
        struct sim_node *dir = sim_find_dir(disk, path, &name);
        if (!dir)
            return err_set(err, ERR_NOT_FOUND, "open %s: no such directory", path);
        node = sim_node_add(disk, false);
        struct sim_naming naming = {.set_count = 1};
        naming.set[0].dir = dir;
        naming.set[0].name = (char *)(uintptr_t)name;
        naming.set[0].node = node;
        sim_name_set(disk, naming);
    }
    if (!node)
        return err_set(err, ERR_NOT_FOUND, "open %s", path);
    if ((flags & OS_TRUNC) && node->seen.len)
        change_size(disk, node, 0);
    struct sim_file *opened = mem_zalloc(sizeof *opened);
    *opened = (struct sim_file){{os}, node, flags};
    node->opens++;
    *file = &opened->head;
    return OK;
}

static void sim_close(struct os_file *file)
{
    struct sim_file *closed = file_of(file);
    if (!sim_machine_of(file->os)->dead) {
        ASSERT(closed->node->opens > 0);
        closed->node->opens--;
        if (closed->node->lock == closed)
            closed->node->lock = NULL;
    }
    mem_free(closed);
}

static enum err_code sim_read(struct os_file *file, uint64_t offset, void *ptr, size_t len, size_t *got,
                              struct err *err)
{
    TRY(sim_enter(file->os, false, err));
    struct buf *seen = &file_of(file)->node->seen;
    size_t n = offset < seen->len ? MIN(len, seen->len - offset) : 0;
    if (n)
        memcpy(ptr, seen->ptr + offset, n);
    *got = n;
    return OK;
}

/* A prefix of the pieces, as a write that failed half-way leaves it. */
static void write_prefix(struct sim_disk *disk, struct sim_node *node, uint64_t offset, struct slice all, uint64_t most)
{
    all.len = sim_random_below(disk, MIN(most, all.len) + 1);
    change_bytes(disk, node, offset, all);
}

static enum err_code write_all(struct sim_disk *disk, struct sim_node *node, uint64_t offset, struct slice all,
                               struct err *err)
{
    if (sim_chance(disk, disk->faults.write_fails_ppm)) {
        write_prefix(disk, node, offset, all, MIN(all.len, node->seen.len > offset ? node->seen.len - offset : 0));
        return err_set(err, ERR_IO, "write: simulated failure");
    }
    uint64_t end = offset + all.len;
    uint64_t growth = end > node->seen.len ? end - node->seen.len : 0;
    uint64_t room = room_for(disk, node, end);
    if (room < growth) {
        write_prefix(disk, node, offset, all, all.len - (growth - room));
        return err_set(err, ERR_DISK_FULL, "write: simulated disk full");
    }
    change_bytes(disk, node, offset, all);
    return OK;
}

static enum err_code sim_writev(struct os_file *file, uint64_t offset, const struct slice *pieces, size_t piece_count,
                                struct err *err)
{
    TRY(sim_enter(file->os, true, err));
    ASSERT(file_of(file)->flags & OS_WRITE);
    struct buf all = {0};
    for (size_t i = 0; i < piece_count; i++)
        buf_put_slice(&all, pieces[i]);
    enum err_code code = write_all(sim_disk_of(file->os), file_of(file)->node, offset, buf_view(&all), err);
    buf_deinit(&all);
    return code;
}

static bool sync_fails(struct sim_disk *disk)
{
    if (disk->sync_fails_at != UINT64_MAX && disk->sync_fails_at-- == 0)
        return true;
    return sim_chance(disk, disk->faults.sync_fails_ppm);
}

static enum err_code sim_sync(struct os_file *file, struct err *err)
{
    TRY(sim_enter(file->os, true, err));
    struct sim_node *node = file_of(file)->node;
    bool fails = sync_fails(sim_disk_of(file->os));
    for (size_t i = 0; !fails && i < node->pending.len; i++) {
        struct sim_write *write = &node->pending.ptr[i];
        if (write->is_size)
            sim_resize(&node->durable, write->offset);
        else
            sim_apply(&node->durable, write->offset, buf_view(&write->bytes));
    }
    sim_pending_clear(node);
    return fails ? err_set(err, ERR_IO, "sync: simulated failure") : OK;
}

static enum err_code sim_size(struct os_file *file, uint64_t *size, struct err *err)
{
    TRY(sim_enter(file->os, false, err));
    *size = file_of(file)->node->seen.len;
    return OK;
}

static enum err_code sim_truncate(struct os_file *file, uint64_t size, struct err *err)
{
    TRY(sim_enter(file->os, true, err));
    struct sim_disk *disk = sim_disk_of(file->os);
    struct sim_node *node = file_of(file)->node;
    if (size > node->seen.len && room_for(disk, node, size) < size - node->seen.len)
        return err_set(err, ERR_DISK_FULL, "truncate: simulated disk full");
    change_size(disk, node, size);
    return OK;
}

static enum err_code sim_allocate(struct os_file *file, uint64_t offset, uint64_t len, struct err *err)
{
    uint64_t size;
    TRY(sim_size(file, &size, err));
    return offset + len > size ? sim_truncate(file, offset + len, err) : sim_enter(file->os, true, err);
}

static enum err_code sim_lock(struct os_file *file, struct err *err)
{
    TRY(sim_enter(file->os, false, err));
    struct sim_file *self = file_of(file);
    if (self->node->lock && self->node->lock != self)
        return err_set(err, ERR_LOCKED, "lock: another has it");
    self->node->lock = self;
    return OK;
}

const struct os_file_ops sim_file_ops = {
    .open = sim_open,
    .close = sim_close,
    .read = sim_read,
    .writev = sim_writev,
    .sync = sim_sync,
    .size = sim_size,
    .truncate = sim_truncate,
    .allocate = sim_allocate,
    .lock = sim_lock,
};
