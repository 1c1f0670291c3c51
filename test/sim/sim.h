/* The second struct os: an in-memory disk with virtual time that does to a program what the world may do to it, from a
 * seed. The same seed and the same calls give the same run.
 *
 * A disk outlives the machine on it. sim_boot() starts a machine (a struct os); sim_kill() ends it as kill -9 does,
 * what was written stays; sim_crash() ends it as a power cut does: of what was not synced any part may be lost, sector
 * by sector, torn inside a sector, files and names in no order. A dead machine refuses every call with ERR_IO, so what
 * ran on it can still be closed; it is freed with the disk.
 *
 * What is modelled: os_file_sync makes a file's bytes and size durable, never its name; os_dir_sync makes the names in
 * a directory durable; a rename is whole or not there; a failed sync drops what it should have written from the way to
 * the disk though reads still show it and the next sync says OK (that is what Linux does); a full disk may write a
 * prefix. One thread: starting another is refused, locks are checked, and waiting for a signal that nobody can send
 * aborts. There are no sockets: they answer ERR_NOT_SUPPORTED. */
#ifndef WEIR_TEST_SIM_SIM_H
#define WEIR_TEST_SIM_SIM_H

#include "os/os.h"

struct sim_disk;

struct sim_disk *sim_disk_create(uint64_t seed);
void sim_disk_destroy(struct sim_disk *disk); /* its machines too; handles must be closed */

struct os *sim_boot(struct sim_disk *disk); /* the machine before it must be dead */
void sim_kill(struct os *os);
void sim_crash(struct os *os);

/* Chances in millionths, 0 at first. A failed write may leave a prefix. */
struct sim_faults {
    uint32_t sync_fails_ppm;
    uint32_t write_fails_ppm;
};

void sim_set_faults(struct sim_disk *disk, struct sim_faults faults);
/* Bytes the disk holds; less than what is on it means full. At first without end. */
void sim_set_capacity(struct sim_disk *disk, uint64_t bytes);
uint64_t sim_used_bytes(const struct sim_disk *disk);
/* The nth sync from now (0: the next) fails, whatever the chances. */
void sim_fail_sync(struct sim_disk *disk, uint64_t nth);

/* The nth call from now that changes a file, a name or their durability (0: the next) and all after it fail with ERR_IO
 * and do nothing: the place to stop a program at each of its steps. UINT64_MAX lifts it. */
void sim_stop_after(struct sim_disk *disk, uint64_t nth);
uint64_t sim_step_count(const struct sim_disk *disk); /* such calls so far */

void sim_advance(struct sim_disk *disk, int64_t ns);    /* both clocks */
void sim_shift_wall(struct sim_disk *disk, int64_t ms); /* the wall clock alone, forth or back */

/* The disk's own source of chance, for the programs of a test. */
uint64_t sim_random(struct sim_disk *disk);
uint64_t sim_random_below(struct sim_disk *disk, uint64_t bound); /* bound > 0 */

#endif
