/* A server with its tiering service. Only here do the two sides know each other. */
#include "cmd/cmd_int.h"
#include "server/server.h"
#include "tier/tier.h"

#include <stdio.h>

/* The tiering service inside the server: a client like any other, only its way in is shorter. */
static enum err_code tiering_start(struct cmd_service *service, struct os *os, const struct conf *conf,
                                   struct trace *trace, struct err *err)
{
    char *dir = service->tier_dir;
    const char *set = conf_str(conf, CONF_TIER_DIR);
    if (!conf_bool(conf, CONF_TIER_ENABLED) || !conf_bool(conf, CONF_DATALAKE_ENABLED) ||
        conf_is(conf, CONF_DATALAKE_FORMAT, "none"))
        return OK;
    int len = *set ? snprintf(dir, OS_PATH_MAX, "%s", set)
                   : snprintf(dir, OS_PATH_MAX, "%s/tier", server_data_dir(service->server));
    if (len >= OS_PATH_MAX)
        return err_set(err, ERR_LIMIT, "the path of weir.tier.dir is too long");
    struct tier_config config = {
        .os = os,
        .trace = trace,
        .connect = server_connect,
        .connect_arg = service->server,
        .dir = dir,
        .worker_count = (unsigned)conf_i64(conf, CONF_TIER_WORKERS),
        .sort_bytes = (size_t)conf_bytes(conf, CONF_TIER_SORT_BYTES),
        .round_bytes_max = (uint64_t)conf_bytes(conf, CONF_TIER_ROUND_BYTES),
        .expire_ms = conf_duration_ms(conf, CONF_TIER_EXPIRE_TIME),
        .expire_count_max = (uint32_t)conf_i64(conf, CONF_TIER_EXPIRE_MAX_SNAPSHOTS),
    };
    return tier_start(&config, &service->tier, err);
}

enum err_code cmd_service_start(struct cmd_service *service, struct os *os, struct conf *conf, struct trace *trace,
                                struct err *err)
{
    *service = (struct cmd_service){0};
    TRY(server_start(os, conf, trace, &service->server, err));
    enum err_code code = tiering_start(service, os, conf, trace, err);
    if (code != OK)
        cmd_service_stop(service);
    return code;
}

void cmd_service_stop(struct cmd_service *service)
{
    tier_stop(service->tier);
    server_stop(service->server);
    service->tier = NULL;
    service->server = NULL;
}
