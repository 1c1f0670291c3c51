#include "meta/vfs_int.h"

#include <stdio.h>

#define SECTOR_BYTES 4096 /* what a torn write may tear; SQLite pads its commits to it */

struct vfs_file {
    sqlite3_file head;
    struct meta_vfs *vfs;
    struct os_file *file;
    const char *path; /* SQLite's; lives as long as the file is open */
    int lock;
    bool locked;        /* the os holds the lock; kept until close */
    bool name_unsynced; /* its directory entry is to be made durable at the next sync */
};

static struct vfs_file *of(sqlite3_file *file)
{
    return CONTAINER_OF(file, struct vfs_file, head);
}

static struct meta_vfs *vfs_of(sqlite3_vfs *vfs)
{
    return CONTAINER_OF(vfs, struct meta_vfs, head);
}

/* Keeps the os's text and gives SQLite its number. */
static int refuse(struct meta_vfs *vfs, const struct err *err, int number)
{
    vfs->last = *err;
    if (err->code == ERR_DISK_FULL)
        return SQLITE_FULL;
    return err->code == ERR_LOCKED ? SQLITE_BUSY : number;
}

static int refuse_after_failed_sync(struct meta_vfs *vfs)
{
    struct err err;
    err_set(&err, ERR_FAILED_STORAGE, "an earlier sync of the metadata failed; restart the server");
    return refuse(vfs, &err, SQLITE_IOERR);
}

static void parent_of(const char *path, char parent[OS_PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(parent, OS_PATH_MAX, ".");
    else
        snprintf(parent, OS_PATH_MAX, "%.*s", (int)(slash == path ? 1 : slash - path), path);
}

static int sync_parent(struct meta_vfs *vfs, const char *path, int number)
{
    struct err err;
    char parent[OS_PATH_MAX];
    parent_of(path, parent);
    if (os_dir_sync(vfs->os, parent, &err) == OK)
        return SQLITE_OK;
    vfs->sync_failed = true;
    return refuse(vfs, &err, number);
}

static int file_close(sqlite3_file *file)
{
    os_file_close(of(file)->file);
    of(file)->file = NULL;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *ptr, int len, sqlite3_int64 offset)
{
    struct err err;
    size_t got;
    if (os_file_read(of(file)->file, (uint64_t)offset, ptr, (size_t)len, &got, &err) != OK)
        return refuse(of(file)->vfs, &err, SQLITE_IOERR_READ);
    if (got == (size_t)len)
        return SQLITE_OK;
    memset((uint8_t *)ptr + got, 0, (size_t)len - got);
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *file, const void *ptr, int len, sqlite3_int64 offset)
{
    struct err err;
    if (of(file)->vfs->sync_failed)
        return refuse_after_failed_sync(of(file)->vfs);
    if (os_file_write(of(file)->file, (uint64_t)offset, slice_of(ptr, (size_t)len), &err) != OK)
        return refuse(of(file)->vfs, &err, SQLITE_IOERR_WRITE);
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct err err;
    if (os_file_truncate(of(file)->file, (uint64_t)size, &err) != OK)
        return refuse(of(file)->vfs, &err, SQLITE_IOERR_TRUNCATE);
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *file, int flags)
{
    (void)flags;
    struct err err;
    struct vfs_file *f = of(file);
    if (f->vfs->sync_failed)
        return refuse_after_failed_sync(f->vfs);
    if (os_file_sync(f->file, &err) != OK) {
        f->vfs->sync_failed = true;
        return refuse(f->vfs, &err, SQLITE_IOERR_FSYNC);
    }
    if (!f->name_unsynced)
        return SQLITE_OK;
    f->name_unsynced = false;
    return sync_parent(f->vfs, f->path, SQLITE_IOERR_DIR_FSYNC);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    struct err err;
    uint64_t bytes;
    if (os_file_size(of(file)->file, &bytes, &err) != OK)
        return refuse(of(file)->vfs, &err, SQLITE_IOERR_FSTAT);
    *size = (sqlite3_int64)bytes;
    return SQLITE_OK;
}

/* The os knows one kind of lock, the exclusive one: whoever has it may do all that SQLite asks for. */
static int file_lock(sqlite3_file *file, int lock)
{
    struct vfs_file *f = of(file);
    struct err err;
    if (!f->locked && os_file_lock(f->file, &err) != OK)
        return refuse(f->vfs, &err, SQLITE_IOERR_LOCK);
    f->locked = true;
    f->lock = MAX(f->lock, lock);
    return SQLITE_OK;
}

static int file_unlock(sqlite3_file *file, int lock)
{
    of(file)->lock = MIN(of(file)->lock, lock);
    return SQLITE_OK;
}

static int file_check_reserved(sqlite3_file *file, int *reserved)
{
    *reserved = of(file)->lock >= SQLITE_LOCK_RESERVED;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
    (void)file, (void)op, (void)arg;
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *file)
{
    (void)file;
    return SECTOR_BYTES;
}

static int file_traits(sqlite3_file *file)
{
    (void)file;
    return 0;
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
};

static int vfs_open(sqlite3_vfs *sqlite_vfs, const char *path, sqlite3_file *file, int flags, int *out_flags)
{
    struct meta_vfs *vfs = vfs_of(sqlite_vfs);
    struct vfs_file *f = of(file);
    *f = (struct vfs_file){.vfs = vfs};
    if (!path) /* a temporary file: temp_store=MEMORY asks for none */
        return SQLITE_CANTOPEN;
    struct err err;
    unsigned os_flags = flags & SQLITE_OPEN_READWRITE ? OS_WRITE : OS_READ;
    if (flags & SQLITE_OPEN_CREATE)
        os_flags |= OS_CREATE;
    if (flags & SQLITE_OPEN_EXCLUSIVE)
        os_flags |= OS_EXCL;
    if (os_file_open(vfs->os, path, os_flags, &f->file, &err) != OK)
        return refuse(vfs, &err, SQLITE_CANTOPEN);
    f->path = path;
    f->name_unsynced = flags & SQLITE_OPEN_CREATE; /* it may be new, or made by a process that was killed */
    f->head.pMethods = &file_methods;
    if (out_flags)
        *out_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *sqlite_vfs, const char *path, int sync_dir)
{
    struct meta_vfs *vfs = vfs_of(sqlite_vfs);
    struct err err;
    enum err_code code = os_unlink(vfs->os, path, &err);
    if (code == ERR_NOT_FOUND)
        return SQLITE_IOERR_DELETE_NOENT;
    if (code != OK)
        return refuse(vfs, &err, SQLITE_IOERR_DELETE);
    return sync_dir ? sync_parent(vfs, path, SQLITE_IOERR_DIR_FSYNC) : SQLITE_OK;
}

/* An empty file counts as none, as in SQLite's own VFS: it may be what a crash left of a journal. */
static int vfs_access(sqlite3_vfs *sqlite_vfs, const char *path, int flags, int *yes)
{
    struct os_stat stat;
    enum err_code code = os_stat(vfs_of(sqlite_vfs)->os, path, &stat, NULL);
    *yes = code == OK && (flags != SQLITE_ACCESS_EXISTS || stat.size > 0);
    return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *sqlite_vfs, const char *path, int room, char *out)
{
    (void)sqlite_vfs;
    return snprintf(out, (size_t)room, "%s", path) < room ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_random(sqlite3_vfs *sqlite_vfs, int len, char *out)
{
    os_random(vfs_of(sqlite_vfs)->os, out, (size_t)len);
    return len;
}

static int vfs_sleep(sqlite3_vfs *sqlite_vfs, int microseconds)
{
    os_sleep_ns(vfs_of(sqlite_vfs)->os, (int64_t)microseconds * 1000);
    return microseconds;
}

#define JULIAN_MS_AT_1970 210866760000000 /* SQLite counts from noon of 24 November 4714 BC */

static int vfs_time_ms(sqlite3_vfs *sqlite_vfs, sqlite3_int64 *ms)
{
    *ms = os_wall_ms(vfs_of(sqlite_vfs)->os) + JULIAN_MS_AT_1970;
    return SQLITE_OK;
}

static int vfs_time_days(sqlite3_vfs *sqlite_vfs, double *days)
{
    sqlite3_int64 ms;
    vfs_time_ms(sqlite_vfs, &ms);
    *days = (double)ms / 86400000.0;
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *sqlite_vfs, int room, char *out)
{
    const struct meta_vfs *vfs = vfs_of(sqlite_vfs);
    if (room > 0)
        snprintf(out, (size_t)room, "%s", vfs->last.text);
    return vfs->last.os_errno;
}

enum err_code meta_vfs_init(struct meta_vfs *vfs, struct os *os, struct err *err)
{
    *vfs = (struct meta_vfs){.os = os};
    snprintf(vfs->name, sizeof vfs->name, "weir-%p", (void *)vfs);
    vfs->head = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = sizeof(struct vfs_file),
        .mxPathname = OS_PATH_MAX,
        .zName = vfs->name,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_random,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time_days,
        .xCurrentTimeInt64 = vfs_time_ms,
        .xGetLastError = vfs_last_error,
    };
    int number = sqlite3_vfs_register(&vfs->head, 0);
    if (number == SQLITE_OK)
        return OK;
    vfs->name[0] = 0;
    return err_set(err, ERR_INTERNAL, "SQLite took no VFS: %s", sqlite3_errstr(number));
}

void meta_vfs_deinit(struct meta_vfs *vfs)
{
    if (vfs->name[0])
        sqlite3_vfs_unregister(&vfs->head);
    vfs->name[0] = 0;
}
