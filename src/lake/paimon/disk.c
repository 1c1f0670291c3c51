/* Paths and small files: whole when they appear, on disk when the call comes back. */
#include "lake/paimon/paimon_int.h"

#include <stdarg.h>
#include <stdio.h>

enum err_code paimon_path_set(struct path *path, struct err *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(path->text, sizeof path->text, fmt, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof path->text)
        return err_set(err, ERR_LIMIT, "a path in the lake is longer than %zu bytes", sizeof path->text - 1);
    return OK;
}

/* The parent of a path, cut at its last slash; "." and "/" have themselves. */
static void parent_of(const char *path, struct path *parent)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    while (len > 0 && path[len - 1] != '/')
        len--;
    while (len > 1 && path[len - 1] == '/')
        len--;
    if (len == 0)
        memcpy(parent->text, ".", 2);
    else {
        memcpy(parent->text, path, len);
        parent->text[len] = 0;
    }
}

enum err_code paimon_dir_make(struct os *os, const char *path, struct err *err)
{
    struct os_stat stat;
    struct path parent;
    if (strlen(path) >= sizeof parent.text)
        return err_set(err, ERR_LIMIT, "a path in the lake is longer than %zu bytes", sizeof parent.text - 1);
    enum err_code code = os_stat(os, path, &stat, err);
    if (code != ERR_NOT_FOUND)
        return code;
    parent_of(path, &parent);
    TRY(paimon_dir_make(os, parent.text, err));
    code = os_mkdir(os, path, err);
    if (code != OK && code != ERR_ALREADY_EXISTS)
        return code;
    return os_dir_sync(os, parent.text, err);
}

enum err_code paimon_file_put_new(struct os *os, const char *path, struct slice bytes, struct err *err)
{
    struct os_file *file;
    TRY(os_file_open(os, path, OS_WRITE | OS_CREATE | OS_EXCL, &file, err));
    enum err_code code = os_file_write(file, 0, bytes, err);
    if (code == OK)
        code = os_file_sync(file, err);
    os_file_close(file);
    if (code != OK)
        (void)!os_unlink(os, path, NULL);
    return code;
}

enum err_code paimon_file_publish(struct os *os, const char *dir, const char *tmp, const char *path, struct slice bytes,
                                  struct err *err)
{
    TRY(paimon_file_put_new(os, tmp, bytes, err));
    enum err_code code = os_rename_noreplace(os, tmp, path, err);
    if (code != OK) {
        (void)!os_unlink(os, tmp, NULL);
        return code;
    }
    return os_dir_sync(os, dir, err);
}

enum err_code paimon_file_remove(struct os *os, const char *path, struct err *err)
{
    enum err_code code = os_unlink(os, path, err);
    return code == ERR_NOT_FOUND ? OK : code;
}

enum err_code paimon_file_read(struct os *os, const char *path, size_t bytes_max, struct buf *out, struct err *err)
{
    buf_reset(out);
    return os_read_whole(os, path, bytes_max, out, err);
}

struct numbered_walk {
    struct numbered *out;
    size_t prefix_len;
};

static enum err_code numbered_see(void *arg, const char *name, bool is_dir, struct err *err)
{
    (void)err;
    struct numbered_walk *walk = arg;
    struct numbered *out = walk->out;
    int64_t number;
    if (is_dir || strncmp(name, out->prefix, walk->prefix_len) != 0 ||
        !slice_to_i64(slice_str(name + walk->prefix_len), &number) || number < 0)
        return OK;
    out->least = out->any ? MIN(out->least, number) : number;
    out->greatest = out->any ? MAX(out->greatest, number) : number;
    out->any = true;
    return OK;
}

enum err_code paimon_numbered_find(struct os *os, const char *dir, struct numbered *out, struct err *err)
{
    struct numbered_walk walk = {out, strlen(out->prefix)};
    out->any = false;
    enum err_code code = os_dir_list(os, dir, numbered_see, &walk, err);
    return code == ERR_NOT_FOUND ? OK : code;
}
