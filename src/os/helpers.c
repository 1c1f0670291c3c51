/* What is built of single steps and so is the same on every os. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "os/os.h"

#include <stdio.h>

#define TREE_DEPTH_MAX 64

static enum err_code path_too_long(const char *path, struct err *err)
{
    return err_set(err, ERR_LIMIT, "path longer than %d bytes: %.100s...", OS_PATH_MAX, path);
}

/* The directory that holds path: "a/b" -> "a", "a" -> ".", "/a" -> "/". */
static void parent_of(const char *path, char out[OS_PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(out, OS_PATH_MAX, ".");
    else
        snprintf(out, OS_PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

static enum err_code mkdir_or_there(struct os *os, const char *path, struct err *err)
{
    struct err first = {0};
    enum err_code code = os_mkdir(os, path, &first);
    if (code == OK)
        return OK;
    struct os_stat stat;
    if (code == ERR_ALREADY_EXISTS && os_stat(os, path, &stat, NULL) == OK && stat.is_dir)
        return OK;
    if (err)
        *err = first;
    return code;
}

enum err_code os_mkdirs(struct os *os, const char *path, struct err *err)
{
    char prefix[OS_PATH_MAX];
    size_t len = strlen(path);
    if (len >= sizeof prefix)
        return path_too_long(path, err);
    memcpy(prefix, path, len + 1);
    for (size_t i = 1; i < len; i++)
        if (prefix[i] == '/') {
            prefix[i] = 0;
            TRY(mkdir_or_there(os, prefix, err));
            prefix[i] = '/';
        }
    return mkdir_or_there(os, prefix, err);
}

static enum err_code read_all(struct os_file *file, const char *path, size_t bytes_max, struct buf *out,
                              struct err *err)
{
    uint64_t size;
    TRY(os_file_size(file, &size, err));
    if (size > bytes_max)
        return err_set(err, ERR_LIMIT, "%s has %llu bytes, at most %zu are read", path, (unsigned long long)size,
                       bytes_max);
    size_t before = out->len, got = 0;
    enum err_code code = os_file_read(file, 0, buf_extend(out, (size_t)size), (size_t)size, &got, err);
    out->len = before + (code == OK ? got : 0);
    return code;
}

enum err_code os_read_whole(struct os *os, const char *path, size_t bytes_max, struct buf *out, struct err *err)
{
    struct os_file *file;
    TRY(os_file_open(os, path, OS_READ, &file, err));
    enum err_code code = read_all(file, path, bytes_max, out, err);
    os_file_close(file);
    return code;
}

static enum err_code write_synced(struct os *os, const char *path, struct slice bytes, struct err *err)
{
    struct os_file *file;
    TRY(os_file_open(os, path, OS_WRITE | OS_CREATE | OS_TRUNC, &file, err));
    enum err_code code = os_file_write(file, 0, bytes, err);
    if (code == OK)
        code = os_file_sync(file, err);
    os_file_close(file);
    return code;
}

enum err_code os_write_durable(struct os *os, const char *path, struct slice bytes, struct err *err)
{
    enum err_code code = OK;
    char temporary[OS_PATH_MAX], parent[OS_PATH_MAX];
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.tmp", path) >= sizeof temporary)
        return path_too_long(path, err);
    parent_of(path, parent);
    TRY_OR_FAIL(write_synced(os, temporary, bytes, err));
    TRY_OR_FAIL(os_rename(os, temporary, path, err));
    return os_dir_sync(os, parent, err);
fail:
    (void)!os_unlink(os, temporary, NULL);
    return code;
}

/* Names are collected first: removing while a directory is read may hide entries on some file systems. */
struct listing {
    struct arena arena;
    VEC(const char *) files;
    VEC(const char *) dirs;
};

static enum err_code add_entry(void *arg, const char *name, bool is_dir, struct err *err)
{
    (void)err;
    struct listing *listing = arg;
    const char *copy = arena_cstr(&listing->arena, slice_str(name));
    if (is_dir)
        vec_push(&listing->dirs, copy);
    else
        vec_push(&listing->files, copy);
    return OK;
}

static enum err_code not_found_is_fine(enum err_code code)
{
    return code == ERR_NOT_FOUND ? OK : code;
}

static enum err_code join(char out[OS_PATH_MAX], const char *dir, const char *name, struct err *err)
{
    if ((size_t)snprintf(out, OS_PATH_MAX, "%s/%s", dir, name) >= OS_PATH_MAX)
        return path_too_long(dir, err);
    return OK;
}

static enum err_code remove_tree(struct os *os, const char *path, unsigned depth, struct err *err);

static enum err_code remove_entries(struct os *os, const char *path, const struct listing *listing, unsigned depth,
                                    struct err *err)
{
    char entry[OS_PATH_MAX];
    for (size_t i = 0; i < listing->files.len; i++) {
        TRY(join(entry, path, listing->files.ptr[i], err));
        TRY(not_found_is_fine(os_unlink(os, entry, err)));
    }
    for (size_t i = 0; i < listing->dirs.len; i++) {
        TRY(join(entry, path, listing->dirs.ptr[i], err));
        TRY(remove_tree(os, entry, depth + 1, err));
    }
    return OK;
}

static enum err_code remove_tree(struct os *os, const char *path, unsigned depth, struct err *err)
{
    if (depth > TREE_DEPTH_MAX)
        return err_set(err, ERR_LIMIT, "directories nested deeper than %d: %s", TREE_DEPTH_MAX, path);
    struct listing listing = {0};
    enum err_code code = os_dir_list(os, path, add_entry, &listing, err);
    if (code == OK)
        code = remove_entries(os, path, &listing, depth, err);
    vec_deinit(&listing.files);
    vec_deinit(&listing.dirs);
    arena_deinit(&listing.arena);
    if (code == OK)
        code = os_rmdir(os, path, err);
    return not_found_is_fine(code);
}

enum err_code os_remove_tree(struct os *os, const char *path, struct err *err)
{
    return remove_tree(os, path, 0, err);
}

void os_uuid(struct os *os, char out[37])
{
    uint8_t bytes[16];
    os_random(os, bytes, sizeof bytes);
    bytes[6] = (bytes[6] & 0x0f) | 0x40; /* version 4: random */
    bytes[8] = (bytes[8] & 0x3f) | 0x80; /* variant of RFC 9562 */
    char *p = out;
    for (size_t i = 0; i < sizeof bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        p += snprintf(p, 3, "%02x", bytes[i]);
    }
}

static enum err_code count_entry(void *arg, const char *name, bool is_dir, struct err *err)
{
    (void)name, (void)is_dir, (void)err;
    ++*(size_t *)arg;
    return OK;
}

size_t os_open_files(struct os *os)
{
    size_t count = 0;
    /* One of them is the listing's own. */
    return os_dir_list(os, "/proc/self/fd", count_entry, &count, NULL) == OK && count > 0 ? count - 1 : 0;
}

/* ---- the clock ---- */

int64_t os_clock_jump_ms(struct os *os, const struct os_clock_watch *watch)
{
    if (!watch->mono_ns)
        return 0;
    int64_t jump_ms = (os_wall_ms(os) - watch->wall_ms) - (os_mono_ns(os) - watch->mono_ns) / 1000000;
    return jump_ms <= OS_CLOCK_JUMP_MS_MAX && jump_ms >= -OS_CLOCK_JUMP_MS_MAX ? 0 : jump_ms;
}

void os_clock_believe(struct os *os, struct os_clock_watch *watch)
{
    *watch = (struct os_clock_watch){os_wall_ms(os), os_mono_ns(os)};
}
