/* Names of the simulated disk. A change of a name is seen at once and durable after the sync of a directory it is in.
 */
#include "sim/sim_int.h"

static char *text_dup(const char *text, size_t len)
{
    char *copy = mem_alloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

static struct sim_node *lookup(const struct sim_node *dir, const char *name, size_t len)
{
    if (!dir->is_dir)
        return NULL;
    for (size_t i = 0; i < dir->names.len; i++) {
        if (strlen(dir->names.ptr[i].name) == len && !memcmp(dir->names.ptr[i].name, name, len))
            return dir->names.ptr[i].node;
    }
    return NULL;
}

struct sim_node *sim_name_get(const struct sim_node *dir, const char *name)
{
    return lookup(dir, name, strlen(name));
}

/* Relative paths begin at the root too; "." and empty parts are passed over. */
static struct sim_node *walk(struct sim_disk *disk, const char *path, size_t len)
{
    struct sim_node *node = disk->root;
    for (size_t at = 0; node && at < len;) {
        const char *slash = memchr(path + at, '/', len - at);
        size_t part = slash ? (size_t)(slash - path) - at : len - at;
        if (part && !(part == 1 && path[at] == '.'))
            node = lookup(node, path + at, part);
        at += part + 1;
    }
    return node;
}

struct sim_node *sim_find(struct sim_disk *disk, const char *path)
{
    return walk(disk, path, strlen(path));
}

struct sim_node *sim_find_dir(struct sim_disk *disk, const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    ASSERT(**name);
    struct sim_node *dir = walk(disk, path, (size_t)(*name - path));
    return dir && dir->is_dir ? dir : NULL;
}

/* One name on one of the two sides; gives the node that had it. */
static struct sim_node *entry_set(struct sim_node *dir, bool durable, const char *name, struct sim_node *node)
{
    struct sim_entry *entries = durable ? dir->durable_names.ptr : dir->names.ptr;
    size_t count = durable ? dir->durable_names.len : dir->names.len;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(entries[i].name, name))
            continue;
        struct sim_node *old = entries[i].node;
        entries[i].node = node;
        if (!node) {
            mem_free(entries[i].name);
            if (durable)
                vec_remove(&dir->durable_names, i);
            else
                vec_remove(&dir->names, i);
        }
        return old;
    }
    struct sim_entry entry = {.node = node};
    if (!node)
        return NULL;
    entry.name = text_dup(name, strlen(name));
    if (durable)
        vec_push(&dir->durable_names, entry);
    else
        vec_push(&dir->names, entry);
    return NULL;
}

void sim_name_set(struct sim_disk *disk, struct sim_naming naming)
{
    for (unsigned i = 0; i < naming.set_count; i++) {
        struct sim_node *node = naming.set[i].node;
        struct sim_node *old = entry_set(naming.set[i].dir, false, naming.set[i].name, node);
        if (node)
            node->links++;
        if (old)
            old->links--;
        naming.set[i].name = text_dup(naming.set[i].name, strlen(naming.set[i].name));
    }
    vec_push(&disk->namings, naming);
}

void sim_naming_apply(struct sim_naming *naming)
{
    for (unsigned i = 0; i < naming->set_count; i++)
        entry_set(naming->set[i].dir, true, naming->set[i].name, naming->set[i].node);
}

void sim_naming_free(struct sim_naming *naming)
{
    for (unsigned i = 0; i < naming->set_count; i++)
        mem_free(naming->set[i].name);
}

static void set_one(struct sim_disk *disk, struct sim_node *dir, const char *name, struct sim_node *node)
{
    struct sim_naming naming = {.set_count = 1};
    naming.set[0].dir = dir;
    naming.set[0].name = (char *)(uintptr_t)name;
    naming.set[0].node = node;
    sim_name_set(disk, naming);
}

static enum err_code sim_stat(struct os *os, const char *path, struct os_stat *stat, struct err *err)
{
    TRY(sim_enter(os, false, err));
    struct sim_node *node = sim_find(sim_disk_of(os), path);
    if (!node)
        return err_set(err, ERR_NOT_FOUND, "stat %s", path);
    *stat = (struct os_stat){node->is_dir, node->seen.len, node->modified_ms};
    return OK;
}

static enum err_code rename_any(struct os *os, const char *from, const char *to, bool replaces, struct err *err)
{
    TRY(sim_enter(os, true, err));
    struct sim_disk *disk = sim_disk_of(os);
    const char *from_name;
    const char *to_name;
    struct sim_node *from_dir = sim_find_dir(disk, from, &from_name);
    struct sim_node *to_dir = sim_find_dir(disk, to, &to_name);
    struct sim_node *node = from_dir ? sim_name_get(from_dir, from_name) : NULL;
    if (!node || !to_dir)
        return err_set(err, ERR_NOT_FOUND, "rename %s to %s", from, to);
    struct sim_node *target = sim_name_get(to_dir, to_name);
    if (target == node)
        return OK;
    if (target && !replaces)
        return err_set(err, ERR_ALREADY_EXISTS, "rename %s to %s", from, to);
    if (target && (target->is_dir != node->is_dir || target->names.len))
        return err_set(err, ERR_IO, "rename %s to %s: not of one kind, or not empty", from, to);
    struct sim_naming naming = {.set_count = 2};
    naming.set[0].dir = to_dir;
    naming.set[0].name = (char *)(uintptr_t)to_name;
    naming.set[0].node = node;
    naming.set[1].dir = from_dir;
    naming.set[1].name = (char *)(uintptr_t)from_name;
    sim_name_set(disk, naming);
    return OK;
}

static enum err_code sim_rename(struct os *os, const char *from, const char *to, struct err *err)
{
    return rename_any(os, from, to, true, err);
}

static enum err_code sim_rename_noreplace(struct os *os, const char *from, const char *to, struct err *err)
{
    return rename_any(os, from, to, false, err);
}

static enum err_code remove_any(struct os *os, const char *path, bool is_dir, struct err *err)
{
    TRY(sim_enter(os, true, err));
    const char *name;
    struct sim_node *dir = sim_find_dir(sim_disk_of(os), path, &name);
    struct sim_node *node = dir ? sim_name_get(dir, name) : NULL;
    if (!node)
        return err_set(err, ERR_NOT_FOUND, "remove %s", path);
    if (node->is_dir != is_dir || node->names.len)
        return err_set(err, ERR_IO, "remove %s: not of this kind, or not empty", path);
    set_one(sim_disk_of(os), dir, name, NULL);
    return OK;
}

static enum err_code sim_unlink(struct os *os, const char *path, struct err *err)
{
    return remove_any(os, path, false, err);
}

static enum err_code sim_rmdir(struct os *os, const char *path, struct err *err)
{
    return remove_any(os, path, true, err);
}

static enum err_code sim_mkdir(struct os *os, const char *path, struct err *err)
{
    TRY(sim_enter(os, true, err));
    struct sim_disk *disk = sim_disk_of(os);
    if (sim_find(disk, path))
        return err_set(err, ERR_ALREADY_EXISTS, "mkdir %s", path);
    const char *name;
    struct sim_node *dir = sim_find_dir(disk, path, &name);
    if (!dir)
        return err_set(err, ERR_NOT_FOUND, "mkdir %s", path);
    set_one(disk, dir, name, sim_node_add(disk, true));
    return OK;
}

/* Over a copy of the names, since the callback may remove them. */
static enum err_code sim_dir_list(struct os *os, const char *path, os_dir_fn *fn, void *arg, struct err *err)
{
    TRY(sim_enter(os, false, err));
    struct sim_node *dir = sim_find(sim_disk_of(os), path);
    if (!dir || !dir->is_dir)
        return err_set(err, ERR_NOT_FOUND, "list %s", path);
    VEC(struct sim_entry) copy = {0};
    for (size_t i = 0; i < dir->names.len; i++) {
        struct sim_entry entry = dir->names.ptr[i];
        vec_push(&copy, ((struct sim_entry){text_dup(entry.name, strlen(entry.name)), entry.node}));
    }
    enum err_code code = OK;
    for (size_t i = 0; i < copy.len && code == OK; i++)
        code = fn(arg, copy.ptr[i].name, copy.ptr[i].node->is_dir, err);
    for (size_t i = 0; i < copy.len; i++)
        mem_free(copy.ptr[i].name);
    vec_deinit(&copy);
    return code;
}

static enum err_code sim_dir_sync(struct os *os, const char *path, struct err *err)
{
    TRY(sim_enter(os, true, err));
    struct sim_disk *disk = sim_disk_of(os);
    struct sim_node *dir = sim_find(disk, path);
    if (!dir || !dir->is_dir)
        return err_set(err, ERR_NOT_FOUND, "sync %s", path);
    size_t kept = 0;
    for (size_t i = 0; i < disk->namings.len; i++) {
        struct sim_naming *naming = &disk->namings.ptr[i];
        if (naming->set[0].dir == dir || naming->set[1].dir == dir) {
            sim_naming_apply(naming);
            sim_naming_free(naming);
        } else {
            disk->namings.ptr[kept++] = *naming;
        }
    }
    disk->namings.len = kept;
    return OK;
}

static enum err_code sim_disk_free(struct os *os, const char *path, uint64_t *free_bytes, uint64_t *total_bytes,
                                   struct err *err)
{
    TRY(sim_enter(os, false, err));
    struct sim_disk *disk = sim_disk_of(os);
    if (!sim_find(disk, path))
        return err_set(err, ERR_NOT_FOUND, "disk of %s", path);
    uint64_t used = sim_used_bytes(disk);
    *free_bytes = disk->capacity > used ? disk->capacity - used : 0;
    *total_bytes = disk->capacity;
    return OK;
}

static enum err_code sim_realpath(struct os *os, const char *path, char *out, struct err *err)
{
    TRY(sim_enter(os, false, err));
    if (!sim_find(sim_disk_of(os), path))
        return err_set(err, ERR_NOT_FOUND, "realpath %s", path);
    while (*path == '/')
        path++;
    size_t len = strlen(path);
    if (len + 2 > OS_PATH_MAX)
        return err_set(err, ERR_LIMIT, "realpath: %zu bytes", len);
    out[0] = '/';
    memcpy(out + 1, path, len + 1);
    return OK;
}

const struct os_name_ops sim_name_ops = {
    .stat = sim_stat,
    .rename = sim_rename,
    .rename_noreplace = sim_rename_noreplace,
    .unlink = sim_unlink,
    .mkdir = sim_mkdir,
    .rmdir = sim_rmdir,
    .dir_list = sim_dir_list,
    .dir_sync = sim_dir_sync,
    .disk_free = sim_disk_free,
    .realpath = sim_realpath,
};
