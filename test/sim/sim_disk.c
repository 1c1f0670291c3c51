/* The disk: nodes, what a crash leaves of them, and the knobs. */
#include "sim/sim_int.h"

uint64_t sim_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t sim_random(struct sim_disk *disk)
{
    return sim_next(&disk->random[0]);
}

uint64_t sim_random_below(struct sim_disk *disk, uint64_t bound)
{
    ASSERT(bound > 0);
    return sim_random(disk) % bound;
}

bool sim_chance(struct sim_disk *disk, uint32_t ppm)
{
    return ppm && sim_random_below(disk, 1000000) < ppm;
}

struct sim_node *sim_node_add(struct sim_disk *disk, bool is_dir)
{
    struct sim_node *node = mem_zalloc(sizeof *node);
    node->is_dir = is_dir;
    vec_push(&disk->nodes, node);
    return node;
}

struct sim_disk *sim_disk_create(uint64_t seed)
{
    struct sim_disk *disk = mem_zalloc(sizeof *disk);
    disk->random[0] = seed;
    disk->random[1] = seed ^ 0x5deece66du;
    disk->capacity = disk->sync_fails_at = disk->stops_at = UINT64_MAX;
    disk->root = sim_node_add(disk, true);
    disk->root->links = 1;
    return disk;
}

static void names_free(struct sim_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mem_free(entries[i].name);
}

static void node_free(struct sim_node *node)
{
    sim_pending_clear(node);
    names_free(node->names.ptr, node->names.len);
    names_free(node->durable_names.ptr, node->durable_names.len);
    vec_deinit(&node->pending);
    vec_deinit(&node->names);
    vec_deinit(&node->durable_names);
    buf_deinit(&node->seen);
    buf_deinit(&node->durable);
    mem_free(node);
}

void sim_disk_destroy(struct sim_disk *disk)
{
    if (!disk)
        return;
    for (size_t i = 0; i < disk->namings.len; i++)
        sim_naming_free(&disk->namings.ptr[i]);
    for (size_t i = 0; i < disk->nodes.len; i++)
        node_free(disk->nodes.ptr[i]);
    for (size_t i = 0; i < disk->machines.len; i++)
        mem_free(disk->machines.ptr[i]);
    vec_deinit(&disk->namings);
    vec_deinit(&disk->nodes);
    vec_deinit(&disk->machines);
    mem_free(disk);
}

struct os *sim_boot(struct sim_disk *disk)
{
    for (size_t i = 0; i < disk->machines.len; i++)
        ASSERT(disk->machines.ptr[i]->dead);
    struct sim_machine *machine = mem_zalloc(sizeof *machine);
    machine->head = (struct os){
        .file = &sim_file_ops,
        .name = &sim_name_ops,
        .clock = &sim_clock_ops,
        .lock = &sim_lock_ops,
        .thread = &sim_thread_ops,
        .socket = &sim_socket_ops,
        .poller = &sim_poller_ops,
        .process = os_real()->process,
    };
    machine->disk = disk;
    vec_push(&disk->machines, machine);
    return &machine->head;
}

void sim_kill(struct os *os)
{
    struct sim_machine *machine = sim_machine_of(os);
    ASSERT(!machine->dead);
    machine->dead = true;
    for (size_t i = 0; i < machine->disk->nodes.len; i++) {
        machine->disk->nodes.ptr[i]->lock = NULL;
        machine->disk->nodes.ptr[i]->opens = 0;
    }
}

/* A piece of a write that is on its way when the power goes: there, not there, or there up to a byte. */
static void crash_sector(struct sim_disk *disk, struct sim_node *node, uint64_t offset, struct slice piece,
                         uint32_t kept_ppm)
{
    if (!sim_chance(disk, kept_ppm))
        return;
    if (sim_chance(disk, 50000))
        piece.len = sim_random_below(disk, piece.len + 1);
    if (piece.len)
        sim_apply(&node->durable, offset, piece);
}

static void crash_file(struct sim_disk *disk, struct sim_node *node)
{
    static const uint32_t chances[] = {0, 500000, 900000, 990000, 1000000};
    uint32_t kept_ppm = chances[sim_random_below(disk, ARRAY_LEN(chances))];
    for (size_t i = 0; i < node->pending.len; i++) {
        struct sim_write *write = &node->pending.ptr[i];
        if (write->is_size && sim_chance(disk, kept_ppm))
            sim_resize(&node->durable, write->offset);
        for (size_t at = 0; at < write->bytes.len;) {
            size_t room = SIM_SECTOR_BYTES - (write->offset + at) % SIM_SECTOR_BYTES;
            size_t len = MIN(room, write->bytes.len - at);
            crash_sector(disk, node, write->offset + at, slice_of(write->bytes.ptr + at, len), kept_ppm);
            at += len;
        }
    }
    sim_pending_clear(node);
    buf_reset(&node->seen);
    buf_put_slice(&node->seen, buf_view(&node->durable));
}

static void crash_dir(struct sim_node *dir)
{
    names_free(dir->names.ptr, dir->names.len);
    vec_reset(&dir->names);
    for (size_t i = 0; i < dir->durable_names.len; i++) {
        struct sim_entry entry = dir->durable_names.ptr[i];
        size_t size = strlen(entry.name) + 1;
        char *name = mem_alloc(size);
        memcpy(name, entry.name, size);
        vec_push(&dir->names, ((struct sim_entry){name, entry.node}));
    }
}

static void mark_reached(struct sim_node *node)
{
    node->links++;
    if (node->reached)
        return;
    node->reached = true;
    for (size_t i = 0; i < node->names.len; i++)
        mark_reached(node->names.ptr[i].node);
}

/* Frees what no name leads to any more. */
static void sweep(struct sim_disk *disk)
{
    for (size_t i = 0; i < disk->nodes.len; i++) {
        disk->nodes.ptr[i]->reached = false;
        disk->nodes.ptr[i]->links = 0;
    }
    mark_reached(disk->root);
    size_t kept = 0;
    for (size_t i = 0; i < disk->nodes.len; i++) {
        if (disk->nodes.ptr[i]->reached)
            disk->nodes.ptr[kept++] = disk->nodes.ptr[i];
        else
            node_free(disk->nodes.ptr[i]);
    }
    disk->nodes.len = kept;
}

void sim_crash(struct os *os)
{
    struct sim_disk *disk = sim_disk_of(os);
    static const uint32_t chances[] = {0, 500000, 1000000};
    uint32_t kept_ppm = chances[sim_random_below(disk, ARRAY_LEN(chances))];
    sim_kill(os);
    for (size_t i = 0; i < disk->namings.len; i++) {
        if (sim_chance(disk, kept_ppm))
            sim_naming_apply(&disk->namings.ptr[i]);
        sim_naming_free(&disk->namings.ptr[i]);
    }
    vec_reset(&disk->namings);
    for (size_t i = 0; i < disk->nodes.len; i++) {
        if (disk->nodes.ptr[i]->is_dir)
            crash_dir(disk->nodes.ptr[i]);
        else
            crash_file(disk, disk->nodes.ptr[i]);
    }
    sweep(disk);
}

void sim_set_faults(struct sim_disk *disk, struct sim_faults faults)
{
    disk->faults = faults;
}

void sim_set_capacity(struct sim_disk *disk, uint64_t bytes)
{
    disk->capacity = bytes;
}

uint64_t sim_used_bytes(const struct sim_disk *disk)
{
    uint64_t used = 0;
    for (size_t i = 0; i < disk->nodes.len; i++) {
        if (disk->nodes.ptr[i]->links || disk->nodes.ptr[i]->opens)
            used += disk->nodes.ptr[i]->seen.len;
    }
    return used;
}

void sim_fail_sync(struct sim_disk *disk, uint64_t nth)
{
    disk->sync_fails_at = nth;
}

void sim_stop_after(struct sim_disk *disk, uint64_t nth)
{
    disk->stops_at = nth == UINT64_MAX ? nth : disk->steps + nth;
}

uint64_t sim_step_count(const struct sim_disk *disk)
{
    return disk->steps;
}

void sim_advance(struct sim_disk *disk, int64_t ns)
{
    ASSERT(ns >= 0);
    disk->mono_ns += ns;
}

void sim_shift_wall(struct sim_disk *disk, int64_t ms)
{
    disk->wall_shift_ms += ms;
}

enum err_code sim_enter(struct os *os, bool changes, struct err *err)
{
    struct sim_machine *machine = sim_machine_of(os);
    struct sim_disk *disk = machine->disk;
    if (machine->dead)
        return err_set(err, ERR_IO, "the simulated machine is dead");
    disk->mono_ns += SIM_STEP_NS;
    if (!changes)
        return OK;
    if (disk->steps++ >= disk->stops_at)
        return err_set(err, ERR_IO, "the simulated disk was stopped at step %llu", (unsigned long long)disk->stops_at);
    return OK;
}
