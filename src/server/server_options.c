/* Options that clients alter while the server runs: kept in the metadata, laid over those that it was started with, and
 * put to work at once. */
#include "server/server_int.h"

#define ALTERED "ALTER_CLUSTER_CONFIGS"
/* Of users and passwords: as many as there may be, of usual lengths. */
#define LIST_BYTES_MAX (AUTH_USERS_MAX * 512)

/* ---- lists of name:password ---- */

static struct slice name_of(struct slice item)
{
    const uint8_t *colon = item.len ? memchr(item.ptr, ':', item.len) : NULL;
    return slice_of(item.ptr, colon ? (size_t)(colon - item.ptr) : item.len);
}

static bool list_names(struct slice list, struct slice name)
{
    struct slice item;
    while (conf_list_next(&list, &item))
        if (slice_equal(name_of(item), name))
            return true;
    return false;
}

static enum err_code list_append(struct arena *arena, struct slice list, struct slice more, struct slice *out,
                                 struct err *err)
{
    struct slice rest = more, item;
    if (list.len + more.len > LIST_BYTES_MAX)
        return err_set(err, ERR_CONFIG_EXCEPTION, "the list of users would have %zu bytes, more than %d",
                       list.len + more.len, LIST_BYTES_MAX);
    while (conf_list_next(&rest, &item))
        if (list_names(list, name_of(item)))
            return err_set(err, ERR_CONFIG_EXCEPTION, "the user %.*s is there already", (int)MIN(name_of(item).len, 60),
                           (const char *)item.ptr);
    *out = arena_printf(arena, "%.*s%s%.*s", SLICE_ARGS(list), list.len ? "," : "", SLICE_ARGS(more));
    return OK;
}

static struct slice list_subtract(struct arena *arena, struct slice list, struct slice less)
{
    struct slice out = SLICE(""), item;
    while (conf_list_next(&list, &item))
        if (!list_names(less, name_of(item)))
            out = arena_printf(arena, "%.*s%s%.*s", SLICE_ARGS(out), out.len ? "," : "", SLICE_ARGS(item));
    return out;
}

/* ---- what is set ---- */

static void overlay_read(struct server *server, struct arena *arena, struct properties *set)
{
    struct meta_option *options;
    size_t count;
    *set = (struct properties){0};
    meta_options(server->meta, arena, &options, &count);
    for (size_t i = 0; i < count; i++)
        properties_set(arena, set, options[i].name, options[i].value);
}

static enum err_code change_apply(struct server *server, struct arena *arena, struct properties *set,
                                  const struct api_option_change *change, struct err *err)
{
    const char *name = arena_cstr(arena, change->name);
    struct slice value = change->value;
    TRY(conf_check_live(change->name, err));
    if (change->op == API_OPTION_DELETE) {
        properties_remove(set, name);
        return OK;
    }
    if (!value.ptr)
        return err_set(err, ERR_CONFIG_EXCEPTION, "%.80s: no value is given", name);
    if (change->op != API_OPTION_SET) {
        if (!slice_is(change->name, "security.sasl.plain.credentials"))
            return err_set(err, ERR_CONFIG_EXCEPTION, "%.80s is no list: set it", name);
        const struct slice *now = properties_get(set, name);
        struct slice list = now ? *now : slice_str(conf_str(server->conf, CONF_SASL_CREDENTIALS));
        if (change->op == API_OPTION_APPEND)
            TRY(list_append(arena, list, value, &value, err));
        else
            value = list_subtract(arena, list, value);
    }
    properties_set(arena, set, change->name, value);
    return OK;
}

static enum err_code overlay_make(struct server *server, const struct properties *set, struct conf **out,
                                  struct err *err)
{
    struct conf *conf = conf_overlay(server->conf);
    enum err_code code = OK;
    for (uint32_t i = 0; i < set->count && code == OK; i++)
        code = conf_set(conf, CONF_FROM_LIVE, set->items[i].key, set->items[i].value, ALTERED, err);
    if (code == OK)
        code = conf_check(conf, err);
    if (code == OK)
        *out = conf;
    else
        conf_destroy(conf);
    return code;
}

/* ---- putting it to work ---- */

static void trace_level_apply(struct server *server)
{
    enum trace_level level;
    if (trace_level_parse(slice_str(conf_str(server->live, CONF_TRACE_LEVEL)), &level))
        trace_set_level(server->trace, level);
}

/* Connections borrow names from the users that they came in with, and a login may be under way: these stay. */
static void users_apply(struct server *server)
{
    for (size_t i = 0; i < server->listeners.count; i++) {
        const struct conf_listener *listener = &server->listeners.list[i];
        struct auth_users *users;
        if (!listener->sasl || conf_listener_users(server->live, listener, &users, NULL) != OK)
            continue; /* conf_check has seen to it that they can be read */
        if (server->users[i])
            vec_push(&server->users_before, server->users[i]);
        server->users[i] = users;
        __atomic_store_n(&server->addresses[i].users, users, __ATOMIC_RELEASE);
    }
}

static enum err_code store(struct server *server, struct arena *arena, const struct properties *set, struct err *err)
{
    struct meta_option *options = ARENA_NEW_ARRAY(arena, struct meta_option, set->count);
    for (uint32_t i = 0; i < set->count; i++)
        options[i] = (struct meta_option){set->items[i].key, set->items[i].value};
    return meta_options_set(server->meta, options, set->count, err);
}

static enum err_code alter_locked(struct server *server, struct arena *arena, const struct api_option_change *changes,
                                  size_t count, struct err *err)
{
    struct properties set;
    struct conf *conf = NULL;
    overlay_read(server, arena, &set);
    for (size_t i = 0; i < count; i++)
        TRY(change_apply(server, arena, &set, &changes[i], err));
    struct err cause;
    if (overlay_make(server, &set, &conf, &cause) != OK)
        return err_set(err, ERR_CONFIG_EXCEPTION, "%s", cause.text);
    enum err_code code = store(server, arena, &set, err);
    if (code != OK) {
        conf_destroy(conf);
        return code;
    }
    bool users = strcmp(conf_str(server->live, CONF_SASL_CREDENTIALS), conf_str(conf, CONF_SASL_CREDENTIALS)) != 0;
    conf_destroy(server->live);
    server->live = conf;
    trace_level_apply(server);
    if (users)
        users_apply(server);
    api_set_freshness_default(server->api, conf_duration_ms(conf, CONF_DATALAKE_FRESHNESS));
    return OK;
}

enum err_code server_options_alter(void *arg, const struct api_option_change *changes, size_t count, struct err *err)
{
    struct server *server = arg;
    struct arena arena = {0};
    os_mutex_lock(&server->options_mutex);
    enum err_code code = alter_locked(server, &arena, changes, count, err);
    os_mutex_unlock(&server->options_mutex);
    arena_deinit(&arena);
    return code;
}

void server_options_list(void *arg, struct arena *arena, struct api_option **items, size_t *count)
{
    struct server *server = arg;
    struct conf_entry entry;
    VEC(struct api_option) found = {0};
    os_mutex_lock(&server->options_mutex);
    for (size_t at = 0; conf_next(server->live, &at, &entry);)
        if (*entry.value || entry.source != CONF_FROM_DEFAULT)
            vec_push(&found,
                     ((struct api_option){arena_dup(arena, slice_str(entry.name)),
                                          arena_dup(arena, slice_str(entry.value)), entry.source == CONF_FROM_LIVE}));
    os_mutex_unlock(&server->options_mutex);
    *count = found.len;
    *items = ARENA_NEW_ARRAY(arena, struct api_option, found.len);
    if (found.len)
        memcpy(*items, found.ptr, found.len * sizeof **items);
    vec_deinit(&found);
}

void server_options_open(struct server *server)
{
    struct arena arena = {0};
    struct properties set;
    struct err err;
    overlay_read(server, &arena, &set);
    if (overlay_make(server, &set, &server->live, &err) != OK) {
        trace_warn(server->trace, "server", "altered_options_left_out", trace_err(&err));
        server->live = conf_overlay(server->conf);
    }
    if (conf_source(server->live, CONF_TRACE_LEVEL) == CONF_FROM_LIVE) /* else the trace was made with it */
        trace_level_apply(server);
    arena_deinit(&arena);
}
