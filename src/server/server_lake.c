/* The lake side of the server: where it is, its table of each new table, and the way in for the tiering service. */
#include "lake/paimon/paimon.h"
#include "server/server_int.h"

#define CATALOG "datalake.paimon."

static enum err_code check_known(const char *key, struct err *err)
{
    if (!strcmp(key, "metastore") || !strcmp(key, "warehouse"))
        return OK;
    return err_set(err, ERR_NOT_SUPPORTED, CATALOG "%s: weir knows only metastore and warehouse of a Paimon catalog",
                   key);
}

enum err_code server_lake_open(struct server *server, struct err *err)
{
    struct arena *arena = &server->arena;
    struct properties *options = &server->lake_options;
    size_t at = 0;
    const char *key, *value;
    if (!conf_is(server->conf, CONF_DATALAKE_FORMAT, "paimon"))
        return OK;
    properties_set(arena, options, SLICE(CATALOG "metastore"), SLICE("filesystem"));
    properties_set(arena, options, SLICE(CATALOG "warehouse"), arena_printf(arena, "%s/lake", server->data_dir));
    while (conf_prefix(server->conf, CONF_DATALAKE_PAIMON, &at, &key, &value)) {
        TRY(check_known(key, err));
        properties_set(arena, options, arena_printf(arena, CATALOG "%s", key), arena_dup(arena, slice_str(value)));
    }
    return paimon_warehouse(options, CATALOG, &server->warehouse, err);
}

/* A directory that refuses has a remedy of its own. */
static enum err_code refusal(enum err_code code, const struct err *why, struct err *err)
{
    if (code == ERR_IO)
        return err_set(err, ERR_LAKE_DIR, "%.*s; %s", 160, why->text, err_remedy(ERR_LAKE_DIR));
    if (code != OK && err)
        *err = *why;
    return code;
}

enum err_code server_lake_create(void *arg, struct slice database, struct slice name,
                                 const struct table_descriptor *table, struct err *err)
{
    struct server *server = arg;
    struct paimon_place place = {server->warehouse, database, name};
    struct err why = {0};
    return refusal(paimon_table_create(server->os, &place, table, PAIMON_MUST_BE_EMPTY, &why), &why, err);
}

enum err_code server_lake_alter(void *arg, struct slice database, struct slice name,
                                const struct table_descriptor *table, bool just_enabled, struct err *err)
{
    struct server *server = arg;
    struct paimon_place place = {server->warehouse, database, name};
    struct err why = {0};
    enum err_code code = just_enabled ? paimon_table_create(server->os, &place, table, PAIMON_MAY_HOLD_ROWS, &why)
                                      : paimon_table_alter(server->os, &place, table, &why);
    return refusal(code, &why, err);
}

enum err_code server_lake_check_snapshot(void *arg, struct slice database, struct slice name, int64_t snapshot_id,
                                         struct err *err)
{
    struct server *server = arg;
    struct paimon_place place = {server->warehouse, database, name};
    struct err why = {0};
    bool made = false;
    enum err_code code = paimon_snapshot_was_made(server->os, &place, snapshot_id, &made, &why);
    if (code == OK && !made)
        return err_set(err, ERR_LAKE_SNAPSHOT_NOT_EXIST, "the lake table %.*s.%.*s has no snapshot %lld",
                       SLICE_ARGS(database), SLICE_ARGS(name), (long long)snapshot_id);
    return refusal(code, &why, err);
}

enum err_code server_connect(void *arg, struct os_socket **out, struct err *err)
{
    struct server *server = arg;
    struct os_socket *pair[2];
    TRY(os_socket_pair(server->os, pair, err));
    enum err_code code = net_adopt(server->net, pair[0], &server->internal, err);
    if (code != OK) {
        os_socket_close(pair[0]);
        os_socket_close(pair[1]);
        return code;
    }
    *out = pair[1];
    return OK;
}
