/* Users of the listeners with SASL. */
#include "conf/conf_int.h"

#include <stdio.h>

#define JAAS_KEY ".plain.jaas.config"

/* Puts the option's name before what auth says. */
static enum err_code named(const char *option, enum err_code code, const struct err *cause, struct err *err)
{
    return code == OK ? OK : err_set(err, code, "%s: %s", option, cause->text);
}

/* security.sasl.listener.name.NAME.plain.jaas.config in lower case; empty: not set. */
static struct slice listener_jaas(const struct conf *conf, const struct conf_listener *listener)
{
    char key[CONF_LISTENER_NAME_MAX + sizeof JAAS_KEY];
    snprintf(key, sizeof key, "%s" JAAS_KEY, listener->name);
    for (char *c = key; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c + ('a' - 'A'));
    const char *text = conf_prefix_get(conf, CONF_SASL_LISTENER, key);
    return slice_str(text ? text : "");
}

static enum err_code users_read(const struct conf *conf, const struct conf_listener *listener, struct auth_users *users,
                                struct err *err)
{
    struct err cause;
    struct slice own = listener_jaas(conf, listener), jaas = slice_str(conf_str(conf, CONF_SASL_JAAS));
    if (own.len)
        return named("security.sasl.listener.name.*" JAAS_KEY, auth_users_add_jaas(users, own, &cause), &cause, err);
    if (jaas.len)
        TRY(named(option_of(CONF_SASL_JAAS)->name, auth_users_add_jaas(users, jaas, &cause), &cause, err));
    return named(option_of(CONF_SASL_CREDENTIALS)->name,
                 auth_users_add_list(users, slice_str(conf_str(conf, CONF_SASL_CREDENTIALS)), &cause), &cause, err);
}

enum err_code conf_listener_users(const struct conf *conf, const struct conf_listener *listener,
                                  struct auth_users **out, struct err *err)
{
    ASSERT(listener->sasl);
    struct auth_users *users = auth_users_create();
    enum err_code code = users_read(conf, listener, users, err);
    if (code == OK && auth_users_count(users) == 0)
        code = err_set(err, ERR_INVALID_CONFIG_EXCEPTION,
                       "listener %s is SASL but has no users; see security.sasl.plain.jaas.config", listener->name);
    if (code != OK) {
        auth_users_destroy(users);
        return code;
    }
    *out = users;
    return OK;
}

static enum err_code mechanisms_check(const struct conf *conf, bool needed, struct err *err)
{
    struct slice rest = slice_str(conf_str(conf, CONF_SASL_MECHANISMS)), item;
    bool any = false;
    for (; conf_list_next(&rest, &item); any = true)
        if (!slice_equal_nocase(item, SLICE("PLAIN")))
            return err_set(err, ERR_NOT_SUPPORTED, "security.sasl.enabled.mechanisms: weir knows PLAIN only, not %.*s",
                           (int)MIN(item.len, 40), (const char *)item.ptr);
    if (needed && !any)
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION,
                       "security.sasl.enabled.mechanisms: a listener with SASL needs PLAIN here");
    return OK;
}

/* Each key must belong to a listener, else somebody thinks that users are set which are not. */
static enum err_code keys_check(const struct conf *conf, const struct conf_listeners *listeners, struct err *err)
{
    size_t at = 0;
    const char *key, *value;
    while (conf_prefix(conf, CONF_SASL_LISTENER, &at, &key, &value)) {
        bool known = false;
        for (size_t i = 0; i < listeners->count && !known; i++)
            known = (const char *)listener_jaas(conf, &listeners->list[i]).ptr == value;
        if (!known)
            return err_set(err, ERR_INVALID_CONFIG_EXCEPTION,
                           "security.sasl.listener.name.%.60s: not a listener's name in lower case with " JAAS_KEY,
                           key);
    }
    return OK;
}

enum err_code sasl_check(const struct conf *conf, const struct conf_listeners *listeners, struct err *err)
{
    bool needed = false;
    for (size_t i = 0; i < listeners->count; i++)
        needed |= listeners->list[i].sasl;
    TRY(mechanisms_check(conf, needed, err));
    TRY(keys_check(conf, listeners, err));
    for (size_t i = 0; i < listeners->count; i++) {
        struct auth_users *users;
        if (!listeners->list[i].sasl)
            continue;
        TRY(conf_listener_users(conf, &listeners->list[i], &users, err));
        auth_users_destroy(users);
    }
    return OK;
}
