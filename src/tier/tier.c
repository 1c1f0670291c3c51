/* Start, stop, and the ways to the server. */
#include "tier/tier_int.h"

#include <stdio.h>

/* ---- links ---- */

enum err_code link_open(struct link *link, struct err *err)
{
    struct tier *tier = link->tier;
    const struct tier_config *config = &tier->config;
    struct client_options options = {
        .os = config->os, .host = config->host, .port = config->port, .software = "weir tier"};
    struct client *client;
    if (link->client)
        return OK;
    if (config->connect)
        TRY(config->connect(config->connect_arg, &options.socket, err));
    TRY(client_open(&options, &client, err));
    os_mutex_lock(&tier->mutex);
    link->client = client;
    os_mutex_unlock(&tier->mutex);
    return OK;
}

void link_close(struct link *link)
{
    struct client *client = link->client;
    os_mutex_lock(&link->tier->mutex);
    link->client = NULL;
    os_mutex_unlock(&link->tier->mutex);
    client_close(client);
}

bool link_is_cut(enum err_code code)
{
    return code == ERR_CLOSED || code == ERR_UNREACHABLE || code == ERR_DEADLINE || code == ERR_CORRUPT_MESSAGE ||
           code == ERR_NETWORK_EXCEPTION;
}

static void link_cancel_locked(struct link *link)
{
    if (link->client)
        client_cancel(link->client, true);
}

void tier_pause(struct tier *tier, int64_t ns)
{
    int64_t until = os_mono_ns(tier->config.os) + ns;
    os_mutex_lock(&tier->mutex);
    while (!tier_stopping(tier) && os_cond_wait_until(&tier->changed, &tier->mutex, until))
        continue;
    os_mutex_unlock(&tier->mutex);
}

/* ---- start ---- */

static enum err_code directory_take(struct tier *tier, struct err *err)
{
    const struct tier_config *config = &tier->config;
    char path[OS_PATH_MAX];
    if (snprintf(path, sizeof path, "%s/tier.lock", config->dir) >= (int)sizeof path)
        return err_set(err, ERR_LIMIT, "the path is too long: %s", config->dir);
    snprintf(tier->rounds_dir, sizeof tier->rounds_dir, "%.*s/rounds", OS_PATH_MAX - 16, config->dir);
    snprintf(tier->sort_dir, sizeof tier->sort_dir, "%.*s/sort", OS_PATH_MAX - 16, config->dir);
    TRY(os_mkdirs(config->os, tier->rounds_dir, err));
    TRY(os_file_open(config->os, path, OS_READ | OS_WRITE | OS_CREATE, &tier->lock, err));
    if (os_file_lock(tier->lock, err) != OK)
        return err_set(err, ERR_LOCKED, "another tiering service uses %s", config->dir);
    return os_remove_tree(config->os, tier->sort_dir, err);
}

static void sweep(struct tier *tier)
{
    struct err err = {0};
    uint32_t swept = 0;
    struct trace *trace = tier->config.trace;
    if (paimon_sweep(tier->config.os, slice_str(tier->rounds_dir), &swept, &err) != OK)
        trace_warn(trace, "tier", "sweep_failed", trace_str("dir", tier->rounds_dir), trace_err(&err));
    else if (swept)
        trace_info(trace, "tier", "swept", trace_i64("files", swept));
}

static enum err_code threads_start(struct tier *tier, struct err *err)
{
    struct os *os = tier->config.os;
    tier->keeper.link.tier = tier;
    TRY(os_thread_start(os, "keeper", keeper_run, &tier->keeper, &tier->keeper.thread, err));
    for (unsigned i = 0; i < tier->config.worker_count; i++) {
        struct worker *worker = &tier->workers[i];
        *worker = (struct worker){.link.tier = tier, .number = i};
        TRY(os_thread_start(os, "tier", worker_run, worker, &worker->thread, err));
        tier->worker_count++;
    }
    return OK;
}

enum err_code tier_start(const struct tier_config *config, struct tier **out, struct err *err)
{
    enum err_code code;
    struct tier *tier = mem_zalloc(sizeof *tier);
    ASSERT(config->worker_count >= 1 && config->worker_count <= TIER_WORKERS_MAX);
    tier->config = *config;
    os_mutex_init(&tier->mutex, config->os);
    os_cond_init(&tier->changed, config->os);
    tier->workers = mem_zalloc(config->worker_count * sizeof *tier->workers);
    TRY_OR_FAIL(directory_take(tier, err));
    sweep(tier);
    TRY_OR_FAIL(threads_start(tier, err));
    *out = tier;
    return OK;
fail:
    tier_stop(tier);
    return code;
}

/* ---- stop ---- */

static void ask_to_stop(struct tier *tier)
{
    os_mutex_lock(&tier->mutex);
    __atomic_store_n(&tier->stopping, 1, __ATOMIC_RELEASE);
    os_cond_broadcast(&tier->changed);
    for (unsigned i = 0; i < tier->worker_count; i++)
        link_cancel_locked(&tier->workers[i].link);
    link_cancel_locked(&tier->keeper.link);
    os_mutex_unlock(&tier->mutex);
}

void tier_stop(struct tier *tier)
{
    if (!tier)
        return;
    ask_to_stop(tier);
    for (unsigned i = 0; i < tier->worker_count; i++)
        os_thread_join(tier->workers[i].thread);
    if (tier->keeper.thread)
        os_thread_join(tier->keeper.thread);
    keeper_deinit(&tier->keeper);
    os_file_close(tier->lock);
    os_cond_deinit(&tier->changed);
    os_mutex_deinit(&tier->mutex);
    mem_free(tier->workers);
    mem_free(tier);
}
