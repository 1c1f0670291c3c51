#include "os/real_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECES_MAX 64 /* of one pwritev */

struct real_file {
    struct os_file head;
    int fd;
    char path[]; /* for the text of errors */
};

static struct real_file *real(struct os_file *file)
{
    return CONTAINER_OF(file, struct real_file, head);
}

int real_file_fd(struct os_file *file)
{
    return real(file)->fd;
}

static enum err_code file_open(struct os *os, const char *path, unsigned flags, struct os_file **file, struct err *err)
{
    int how = O_CLOEXEC | (flags & OS_WRITE ? O_RDWR : O_RDONLY);
    how |= (flags & OS_CREATE ? O_CREAT : 0) | (flags & OS_EXCL ? O_EXCL : 0) | (flags & OS_TRUNC ? O_TRUNC : 0);
    int fd;
    do
        fd = open(path, how, 0644);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return err_set_errno(err, errno, "open of %s", path);
    size_t path_len = strlen(path);
    struct real_file *f = mem_alloc(sizeof *f + path_len + 1);
    f->head.os = os;
    f->fd = fd;
    memcpy(f->path, path, path_len + 1);
    *file = &f->head;
    return OK;
}

static void file_close(struct os_file *file)
{
    close(real(file)->fd);
    mem_free(real(file));
}

static enum err_code file_read(struct os_file *file, uint64_t offset, void *ptr, size_t len, size_t *got,
                               struct err *err)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = pread(real(file)->fd, (char *)ptr + done, len - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(err, errno, "read of %zu bytes at %llu of %s", len, (unsigned long long)offset,
                                 real(file)->path);
        if (n == 0)
            break;
        done += (size_t)n;
    }
    *got = done;
    return OK;
}

/* Fills vec with what is left of the pieces, of which the first `skip` bytes are written already. */
static int fill_vec(struct iovec *vec, const struct slice *pieces, size_t piece_count, size_t skip)
{
    int count = 0;
    for (size_t i = 0; i < piece_count && count < PIECES_MAX; i++) {
        size_t cut = MIN(skip, pieces[i].len);
        skip -= cut;
        if (pieces[i].len > cut)
            vec[count++] = (struct iovec){(void *)(uintptr_t)(pieces[i].ptr + cut), pieces[i].len - cut};
    }
    return count;
}

static enum err_code file_writev(struct os_file *file, uint64_t offset, const struct slice *pieces, size_t piece_count,
                                 struct err *err)
{
    size_t first_written = 0; /* of pieces[0], which moves on as pieces are done */
    for (;;) {
        struct iovec vec[PIECES_MAX];
        int count = fill_vec(vec, pieces, piece_count, first_written);
        if (count == 0)
            return OK;
        ssize_t n = pwritev(real(file)->fd, vec, count, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_set_errno(err, n < 0 ? errno : EIO, "write at %llu of %s", (unsigned long long)offset,
                                 real(file)->path);
        offset += (uint64_t)n;
        first_written += (size_t)n;
        while (piece_count && first_written >= pieces->len) {
            first_written -= pieces->len;
            pieces++;
            piece_count--;
        }
    }
}

static enum err_code file_sync(struct os_file *file, struct err *err)
{
    if (fdatasync(real(file)->fd) != 0)
        return err_set_errno(err, errno, "sync of %s", real(file)->path);
    return OK;
}

static enum err_code file_size(struct os_file *file, uint64_t *size, struct err *err)
{
    struct stat st;
    if (fstat(real(file)->fd, &st) != 0)
        return err_set_errno(err, errno, "size of %s", real(file)->path);
    *size = (uint64_t)st.st_size;
    return OK;
}

static enum err_code file_truncate(struct os_file *file, uint64_t size, struct err *err)
{
    int rc;
    do
        rc = ftruncate(real(file)->fd, (off_t)size);
    while (rc != 0 && errno == EINTR);
    if (rc != 0)
        return err_set_errno(err, errno, "truncation of %s to %llu bytes", real(file)->path, (unsigned long long)size);
    return OK;
}

/* Zeros behind the end take the room as well. Holes before it stay holes. */
enum err_code real_allocate_zeros(struct os_file *file, uint64_t end, struct err *err)
{
    static const uint8_t zeros[65536];
    uint64_t at = 0;
    TRY(file_size(file, &at, err));
    while (at < end) {
        struct slice piece = slice_of(zeros, MIN(sizeof zeros, end - at));
        TRY(file_writev(file, at, &piece, 1, err));
        at += piece.len;
    }
    return OK;
}

static enum err_code file_allocate(struct os_file *file, uint64_t offset, uint64_t len, struct err *err)
{
    int rc;
    do
        rc = fallocate(real(file)->fd, 0, (off_t)offset, (off_t)len);
    while (rc != 0 && errno == EINTR);
    if (rc != 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        return real_allocate_zeros(file, offset + len, err);
    if (rc != 0)
        return err_set_errno(err, errno, "reserving %llu bytes at %llu of %s", (unsigned long long)len,
                             (unsigned long long)offset, real(file)->path);
    return OK;
}

/* An open-file-description lock over the whole file: it ends with the close or the process like flock's, and other
 * programs that take POSIX locks see it: sqlite3 finds meta.db locked instead of working on it beside the server. */
static enum err_code file_lock(struct os_file *file, struct err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(real(file)->fd, F_OFD_SETLK, &whole) == 0)
        return OK;
    if (errno == EAGAIN || errno == EACCES)
        return err_set(err, ERR_LOCKED, "%s is locked by another process", real(file)->path);
    return err_set_errno(err, errno, "lock of %s", real(file)->path);
}

const struct os_file_ops real_file_ops = {
    .open = file_open,
    .close = file_close,
    .read = file_read,
    .writev = file_writev,
    .sync = file_sync,
    .size = file_size,
    .truncate = file_truncate,
    .lock = file_lock,
    .allocate = file_allocate,
};
