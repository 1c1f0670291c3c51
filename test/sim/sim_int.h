#ifndef WEIR_TEST_SIM_SIM_INT_H
#define WEIR_TEST_SIM_SIM_INT_H

#include "base/buf.h"
#include "base/vec.h"
#include "os/os_ops.h"
#include "sim/sim.h"

enum { SIM_SECTOR_BYTES = 512, SIM_STEP_NS = 1000 };

/* A write, or (bytes empty) a change of the size to offset. */
struct sim_write {
    uint64_t offset;
    struct buf bytes;
    bool is_size;
};

struct sim_entry {
    char *name;
    struct sim_node *node;
};

/* A file or a directory. The two sides of each: what processes see, and what a power cut leaves. */
struct sim_node {
    bool is_dir;
    bool reached; /* scratch of the sweep */
    unsigned links;
    unsigned opens;
    int64_t modified_ms;
    struct sim_file *lock;
    struct buf seen;
    struct buf durable;
    VEC(struct sim_write) pending; /* what seen has beyond durable, in order */
    VEC(struct sim_entry) names;
    VEC(struct sim_entry) durable_names;
};

/* Up to two names set at once: a rename takes one away and sets the other. node NULL: no such name. */
struct sim_naming {
    struct {
        struct sim_node *dir;
        char *name;
        struct sim_node *node;
    } set[2];
    unsigned set_count;
};

struct sim_machine {
    struct os head;
    struct sim_disk *disk;
    bool dead;
};

struct sim_file {
    struct os_file head;
    struct sim_node *node;
    unsigned flags;
};

struct sim_disk {
    uint64_t random[2]; /* faults and tests; what os_random gives */
    struct sim_node *root;
    VEC(struct sim_node *) nodes;
    VEC(struct sim_naming) namings; /* not durable yet, in order */
    VEC(struct sim_machine *) machines;
    struct sim_faults faults;
    uint64_t capacity;
    uint64_t sync_fails_at; /* counts down; UINT64_MAX: never */
    uint64_t stops_at;      /* in steps; UINT64_MAX: never */
    uint64_t steps;
    int64_t mono_ns;
    int64_t wall_shift_ms;
};

#define SIM_EPOCH_MS ((int64_t)1767225600 * 1000) /* 2026-01-01 */

static inline int64_t sim_disk_wall_ms(const struct sim_disk *disk)
{
    return SIM_EPOCH_MS + disk->mono_ns / 1000000 + disk->wall_shift_ms;
}

static inline struct sim_machine *sim_machine_of(struct os *os)
{
    return CONTAINER_OF(os, struct sim_machine, head);
}

static inline struct sim_disk *sim_disk_of(struct os *os)
{
    return sim_machine_of(os)->disk;
}

uint64_t sim_next(uint64_t *state);
bool sim_chance(struct sim_disk *disk, uint32_t ppm);

struct sim_node *sim_node_add(struct sim_disk *disk, bool is_dir);
/* The bytes as they are after the write; both sides of a file go through it. */
void sim_apply(struct buf *bytes, uint64_t offset, struct slice piece);
void sim_resize(struct buf *bytes, uint64_t size);
void sim_pending_clear(struct sim_node *node);

struct sim_node *sim_find(struct sim_disk *disk, const char *path);
/* The directory of path and, in *name, its last part (borrowed from path); NULL if there is no such directory. */
struct sim_node *sim_find_dir(struct sim_disk *disk, const char *path, const char **name);
struct sim_node *sim_name_get(const struct sim_node *dir, const char *name);
/* Sets the names at once, and remembers that they are not durable. */
void sim_name_set(struct sim_disk *disk, struct sim_naming naming);
/* On the durable side. */
void sim_naming_apply(struct sim_naming *naming);
void sim_naming_free(struct sim_naming *naming);

/* Dead, or stopped: ERR_IO. Changes count as steps. */
enum err_code sim_enter(struct os *os, bool changes, struct err *err);

extern const struct os_file_ops sim_file_ops;
extern const struct os_name_ops sim_name_ops;
extern const struct os_clock_ops sim_clock_ops;
extern const struct os_lock_ops sim_lock_ops;
extern const struct os_thread_ops sim_thread_ops;
extern const struct os_socket_ops sim_socket_ops;
extern const struct os_poller_ops sim_poller_ops;

#endif
