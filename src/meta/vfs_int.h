/* Private to meta: SQLite's files through struct os, so that metadata obeys the same door, and the same simulator, as
 * everything else.
 *
 * Only what weir's use needs: one database in WAL mode with exclusive locking, so no shared memory; no temporary files.
 * A failed sync is final: from then on every write and sync through this VFS fails (design: what fdatasync once refused
 * is never believed to be on disk later). */
#ifndef WEIR_META_VFS_INT_H
#define WEIR_META_VFS_INT_H

#include "os/os.h"

#include <sqlite3.h>

struct meta_vfs {
    sqlite3_vfs head;
    struct os *os;
    char name[40]; /* "weir-" and its own address: SQLite's list of VFSs is one for the process */
    bool sync_failed;
    struct err last; /* the last refusal of the os; SQLite itself hands on only a number */
};

/* Registers it under its name until meta_vfs_deinit. errors: INTERNAL. */
MUST_CHECK enum err_code meta_vfs_init(struct meta_vfs *vfs, struct os *os, struct err *err);
void meta_vfs_deinit(struct meta_vfs *vfs); /* no file is open through it */

#endif
