/* Room for a start on a full disk. Opening metadata and engines writes a little before anything can be read. So a file
 * of SERVER_RESERVE_BYTES lies in the data directory; it gives its room away while a start opens what is there, and
 * takes it again before anybody may write. */
#include "server/server_int.h"

#include <stdio.h>

#define STEP_BYTES (64u << 10)

static enum err_code reserve_path(const struct server *server, char path[OS_PATH_MAX], struct err *err)
{
    if (snprintf(path, OS_PATH_MAX, "%s/weir.reserve", server->data_dir) >= OS_PATH_MAX)
        return err_set(err, ERR_LIMIT, "the path is too long: %s/weir.reserve", server->data_dir);
    return OK;
}

enum err_code server_reserve_give(struct server *server, struct err *err)
{
    char path[OS_PATH_MAX];
    TRY(reserve_path(server, path, err));
    enum err_code code = os_unlink(server->os, path, err);
    return code == ERR_NOT_FOUND ? OK : code;
}

/* As much of it as there is room for: a start on a full disk needs a little, and more may follow. */
static enum err_code take(struct server *server, const char *path, uint64_t *taken, struct err *err)
{
    struct os_file *file;
    enum err_code code = OK;
    TRY(os_file_open(server->os, path, OS_WRITE | OS_CREATE | OS_TRUNC, &file, err));
    for (; *taken < SERVER_RESERVE_BYTES && code == OK; *taken += code == OK ? STEP_BYTES : 0)
        code = os_file_allocate(file, *taken, STEP_BYTES, err);
    os_file_close(file);
    return code;
}

/* Without it the server goes on as well: the next start will be tried with what there is. */
void server_reserve_take(struct server *server)
{
    char path[OS_PATH_MAX];
    uint64_t taken = 0;
    struct err err;
    if (reserve_path(server, path, NULL) == OK && take(server, path, &taken, &err) != OK)
        trace_warn(server->trace, "server", "small_reserve", trace_err(&err), trace_i64("bytes", (int64_t)taken),
                   trace_str("remedy", "free some megabytes on the data disk, or the next start may fail"));
}
