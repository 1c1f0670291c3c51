/* Options that can be changed while the server runs. */
#include "conf/conf_int.h"

static const enum conf_id live[] = {CONF_SASL_CREDENTIALS, CONF_TRACE_LEVEL, CONF_DATALAKE_FRESHNESS};

static bool is_live(const struct option *option)
{
    for (size_t i = 0; i < ARRAY_LEN(live); i++)
        if (option->class == SERVED && option->id == live[i])
            return true;
    return false;
}

enum err_code conf_check_live(struct slice name, struct err *err)
{
    const struct option *option = option_find(name);
    int shown = (int)MIN(name.len, 80);
    if (!option)
        return err_set(err, ERR_CONFIG_EXCEPTION, "there is no option %.*s", shown, (const char *)name.ptr);
    if (option->class != SERVED)
        return err_set(err, ERR_CONFIG_EXCEPTION, "%.*s: %s", shown, (const char *)name.ptr, option->why);
    if (!is_live(option))
        return err_set(err, ERR_CONFIG_EXCEPTION,
                       "%.*s can't be changed while the server runs: set it in server.yaml and restart", shown,
                       (const char *)name.ptr);
    return OK;
}

struct conf *conf_overlay(const struct conf *base)
{
    struct conf *conf = mem_zalloc(sizeof *conf);
    memcpy(conf->settings, base->settings, sizeof conf->settings);
    for (size_t i = 0; i < base->keys.v.len; i++)
        vec_push(&conf->keys.v, base->keys.v.ptr[i]);
    for (size_t i = 0; i < base->ignored.v.len; i++)
        vec_push(&conf->ignored.v, base->ignored.v.ptr[i]);
    return conf;
}
