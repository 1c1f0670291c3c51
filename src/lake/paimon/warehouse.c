/* Where a catalog's tables are, from its options. */
#include "lake/paimon/paimon.h"

#include <stdio.h>

static const struct slice *option(const struct properties *options, const char *prefix, const char *name)
{
    char key[128];
    snprintf(key, sizeof key, "%s%s", prefix, name);
    return properties_get(options, key);
}

/* "file:/a", "file:///a" and "/a" are one directory. */
static bool local_path(struct slice uri, struct slice *path)
{
    if (slice_starts_with(uri, SLICE("file:")))
        uri = slice_of(uri.ptr + 5, uri.len - 5);
    while (slice_starts_with(uri, SLICE("//")))
        uri = slice_of(uri.ptr + 1, uri.len - 1);
    while (uri.len > 1 && uri.ptr[uri.len - 1] == '/')
        uri.len--;
    *path = uri;
    return slice_starts_with(uri, SLICE("/"));
}

static bool has_scheme(struct slice uri)
{
    const uint8_t *colon = uri.len ? memchr(uri.ptr, ':', uri.len) : NULL;
    return colon && (size_t)(colon - uri.ptr) + 1 < uri.len && colon[1] == '/';
}

enum err_code paimon_warehouse(const struct properties *options, const char *prefix, struct slice *directory,
                               struct err *err)
{
    const struct slice *metastore = option(options, prefix, "metastore");
    const struct slice *warehouse = option(options, prefix, "warehouse");
    struct slice path;
    if (metastore && !slice_equal_nocase(*metastore, SLICE("filesystem")))
        return err_set(err, ERR_NOT_SUPPORTED, "%smetastore=%.*s: weir keeps Paimon tables in a file system", prefix,
                       SLICE_ARGS(*metastore));
    if (!warehouse)
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "%swarehouse is not set", prefix);
    if (local_path(*warehouse, &path)) {
        *directory = path;
        return OK;
    }
    if (has_scheme(*warehouse) && !slice_starts_with(*warehouse, SLICE("file:")))
        return err_set(err, ERR_NOT_SUPPORTED, "%swarehouse=%.*s: weir keeps Paimon tables on local disks", prefix,
                       SLICE_ARGS(*warehouse));
    return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "%swarehouse=%.*s: a path from the root is needed", prefix,
                   SLICE_ARGS(*warehouse));
}
