/* Names in directories. */
#include "os/real_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static enum err_code name_stat(struct os *os, const char *path, struct os_stat *stat_out, struct err *err)
{
    (void)os;
    struct stat st;
    if (stat(path, &st) != 0)
        return err_set_errno(err, errno, "stat of %s", path);
    stat_out->is_dir = S_ISDIR(st.st_mode);
    stat_out->size = (uint64_t)st.st_size;
    stat_out->modified_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    return OK;
}

static enum err_code name_rename(struct os *os, const char *from, const char *to, struct err *err)
{
    (void)os;
    if (rename(from, to) != 0)
        return err_set_errno(err, errno, "rename of %s to %s", from, to);
    return OK;
}

/* A crash between the two leaves both names, which the
 * contract of the caller (a commit file that is whole under its new name) allows. */
enum err_code real_rename_by_link(const char *from, const char *to, struct err *err)
{
    if (link(from, to) != 0)
        return err_set_errno(err, errno, "link of %s to %s", from, to);
    if (unlink(from) != 0)
        return err_set_errno(err, errno, "removal of %s", from);
    return OK;
}

static enum err_code name_rename_noreplace(struct os *os, const char *from, const char *to, struct err *err)
{
    (void)os;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return OK;
    if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
        return real_rename_by_link(from, to, err);
    return err_set_errno(err, errno, "rename of %s to %s", from, to);
}

static enum err_code name_unlink(struct os *os, const char *path, struct err *err)
{
    (void)os;
    if (unlink(path) != 0)
        return err_set_errno(err, errno, "removal of %s", path);
    return OK;
}

static enum err_code name_mkdir(struct os *os, const char *path, struct err *err)
{
    (void)os;
    if (mkdir(path, 0755) != 0)
        return err_set_errno(err, errno, "making of directory %s", path);
    return OK;
}

static enum err_code name_rmdir(struct os *os, const char *path, struct err *err)
{
    (void)os;
    if (rmdir(path) != 0)
        return err_set_errno(err, errno, "removal of directory %s", path);
    return OK;
}

static bool entry_is_dir(DIR *dir, const struct dirent *entry)
{
    struct stat st;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static enum err_code list_entries(DIR *dir, const char *path, os_dir_fn *fn, void *arg, struct err *err)
{
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (!entry)
            return errno ? err_set_errno(err, errno, "listing of %s", path) : OK;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            TRY(fn(arg, entry->d_name, entry_is_dir(dir, entry), err));
    }
}

static enum err_code name_dir_list(struct os *os, const char *path, os_dir_fn *fn, void *arg, struct err *err)
{
    (void)os;
    DIR *dir = opendir(path);
    if (!dir)
        return err_set_errno(err, errno, "listing of %s", path);
    enum err_code code = list_entries(dir, path, fn, arg, err);
    closedir(dir);
    return code;
}

static enum err_code name_dir_sync(struct os *os, const char *path, struct err *err)
{
    (void)os;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "opening of directory %s", path);
    int os_errno = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return os_errno ? err_set_errno(err, os_errno, "sync of directory %s", path) : OK;
}

static enum err_code name_disk_free(struct os *os, const char *path, uint64_t *free_bytes, uint64_t *total_bytes,
                                    struct err *err)
{
    (void)os;
    struct statvfs st;
    if (statvfs(path, &st) != 0)
        return err_set_errno(err, errno, "free room of %s", path);
    *free_bytes = (uint64_t)st.f_bavail * st.f_frsize;
    *total_bytes = (uint64_t)st.f_blocks * st.f_frsize;
    return OK;
}

static enum err_code name_realpath(struct os *os, const char *path, char *out, struct err *err)
{
    (void)os;
    char *whole = realpath(path, NULL);
    if (!whole)
        return err_set_errno(err, errno, "path of %s", path);
    size_t len = strlen(whole);
    if (len < OS_PATH_MAX)
        memcpy(out, whole, len + 1);
    free(whole);
    return len < OS_PATH_MAX ? OK : err_set(err, ERR_LIMIT, "path of %s is longer than %d bytes", path, OS_PATH_MAX);
}

const struct os_name_ops real_name_ops = {
    .stat = name_stat,
    .rename = name_rename,
    .rename_noreplace = name_rename_noreplace,
    .unlink = name_unlink,
    .mkdir = name_mkdir,
    .rmdir = name_rmdir,
    .dir_list = name_dir_list,
    .dir_sync = name_dir_sync,
    .disk_free = name_disk_free,
    .realpath = name_realpath,
};
