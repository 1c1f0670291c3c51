#include "conf/conf_int.h"

#include <stdio.h>

/* Texts go into errors with at most so many bytes, since err.text is one line. */
#define SHOWN_MAX 80

struct conf *conf_create(void)
{
    struct conf *conf = mem_zalloc(sizeof *conf);
    char why[160];
    for (size_t i = 0; i < CONF_COUNT; i++) {
        const struct option *option = option_of((enum conf_id)i);
        bool valid = value_parse(option, slice_str(option->value), &conf->settings[i].value, why);
        ASSERT(valid); /* the defaults of options.def lie in their own ranges */
        conf->settings[i].value.text = slice_str(arena_cstr(&conf->arena, conf->settings[i].value.text));
    }
    return conf;
}

void conf_destroy(struct conf *conf)
{
    if (!conf)
        return;
    vec_deinit(&conf->keys.v);
    vec_deinit(&conf->ignored.v);
    arena_deinit(&conf->arena);
    mem_free(conf);
}

static enum err_code unknown(struct slice name, const char *where, struct err *err)
{
    char nearest[CONF_NAME_MAX + 1];
    option_nearest(name, nearest);
    int shown = (int)MIN(name.len, SHOWN_MAX);
    if (*nearest)
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "%s: unknown option %.*s; did you mean %.80s?", where, shown,
                       (const char *)name.ptr, nearest);
    return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "%s: unknown option %.*s; docs/manual/options.md lists all",
                   where, shown, (const char *)name.ptr);
}

static void store(struct conf *conf, struct setting *setting, const struct value *value, enum conf_source source,
                  const char *where)
{
    if (source < setting->source)
        return;
    setting->value = *value;
    setting->value.text = slice_str(arena_cstr(&conf->arena, value->text));
    setting->source = source;
    setting->where = arena_cstr(&conf->arena, slice_str(where));
}

/* Of a name that stands for itself in the list; made where it is not there. */
static enum err_code store_pair(struct conf *conf, struct pair_list *list, const struct option *option,
                                struct slice name, const struct value *value, enum conf_source source,
                                const char *where, struct err *err)
{
    for (size_t i = 0; i < list->v.len; i++)
        if (slice_is(name, list->v.ptr[i].name)) {
            store(conf, &list->v.ptr[i].setting, value, source, where);
            return OK;
        }
    if (list->v.len >= CONF_KEYS_MAX)
        return err_set(err, ERR_LIMIT, "%s: more than %d options of this kind", where, CONF_KEYS_MAX);
    struct pair *pair = vec_add(&list->v);
    *pair = (struct pair){.option = option, .name = arena_cstr(&conf->arena, name)};
    store(conf, &pair->setting, value, source, where);
    return OK;
}

static enum err_code set_served(struct conf *conf, const struct option *option, enum conf_source source,
                                struct slice name, struct slice text, const char *where, struct err *err)
{
    struct value value = {.text = text};
    char why[160];
    if (option->type == TYPE_MAP)
        return store_pair(conf, &conf->keys, option, name, &value, source, where, err);
    if (!value_parse(option, text, &value, why))
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "%s: %s: %s", where, option->name, why);
    store(conf, &conf->settings[option->id], &value, source, where);
    return OK;
}

static bool is_text(struct slice s)
{
    return s.len == 0 || (!memchr(s.ptr, 0, s.len) && slice_is_utf8(s));
}

enum err_code conf_set(struct conf *conf, enum conf_source source, struct slice name, struct slice text,
                       const char *where, struct err *err)
{
    if (name.len > CONF_NAME_MAX || text.len > CONF_VALUE_MAX)
        return err_set(err, ERR_LIMIT, "%s: a name has at most %d bytes, a value %d", where, CONF_NAME_MAX,
                       CONF_VALUE_MAX);
    if (!is_text(name) || !is_text(text))
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "%s: a name or value is not UTF-8 text", where);
    const struct option *option = option_find(name);
    if (!option)
        return unknown(name, where, err);
    if (option->class == SERVED)
        return set_served(conf, option, source, name, text, where, err);
    if (option->class == NOT_YET && option->value && slice_equal_nocase(text, slice_str(option->value)))
        return OK;
    if (option->class == NOT_YET)
        return err_set(err, ERR_NOT_SUPPORTED, "%s: %.*s: %s", where, (int)MIN(name.len, SHOWN_MAX),
                       (const char *)name.ptr, option->why);
    struct value value = {.text = text};
    return store_pair(conf, &conf->ignored, option, name, &value, source, where, err);
}

/* What may be a name; what follows may be a secret. */
static size_t name_part(struct slice text)
{
    size_t len = 0;
    while (len < text.len && text.ptr[len] > ' ' && text.ptr[len] != ':')
        len++;
    return len;
}

enum err_code conf_set_assignment(struct conf *conf, struct slice assignment, struct err *err)
{
    const uint8_t *equals = assignment.len ? memchr(assignment.ptr, '=', assignment.len) : NULL;
    if (!equals)
        return err_set(err, ERR_INVALID_ARGUMENT, "-D: \"%.*s\" is not of the form option=value",
                       (int)MIN(name_part(assignment), SHOWN_MAX), (const char *)assignment.ptr);
    size_t name_len = (size_t)(equals - assignment.ptr);
    return conf_set(conf, CONF_FROM_D, slice_of(assignment.ptr, name_len),
                    slice_of(equals + 1, assignment.len - name_len - 1), "-D", err);
}

/* ---- reading ---- */

static const struct setting *setting_of(const struct conf *conf, enum conf_id id, enum type type)
{
    ASSERT(option_of(id)->type == type);
    return &conf->settings[id];
}

bool conf_bool(const struct conf *conf, enum conf_id id)
{
    return setting_of(conf, id, TYPE_BOOL)->value.i64;
}

int64_t conf_i64(const struct conf *conf, enum conf_id id)
{
    return setting_of(conf, id, TYPE_INT)->value.i64;
}

int64_t conf_bytes(const struct conf *conf, enum conf_id id)
{
    return setting_of(conf, id, TYPE_SIZE)->value.i64;
}

int64_t conf_duration_ms(const struct conf *conf, enum conf_id id)
{
    return setting_of(conf, id, TYPE_DURATION)->value.i64;
}

double conf_ratio(const struct conf *conf, enum conf_id id)
{
    return setting_of(conf, id, TYPE_RATIO)->value.ratio;
}

const char *conf_str(const struct conf *conf, enum conf_id id)
{
    enum type type = option_of(id)->type;
    ASSERT(type == TYPE_STRING || type == TYPE_LIST || type == TYPE_ENUM);
    return (const char *)conf->settings[id].value.text.ptr;
}

bool conf_is(const struct conf *conf, enum conf_id id, const char *value)
{
    return slice_is(setting_of(conf, id, TYPE_ENUM)->value.text, value);
}

enum conf_source conf_source(const struct conf *conf, enum conf_id id)
{
    return conf->settings[id].source;
}

const char *conf_source_name(enum conf_source source)
{
    static const char *const names[] = {"default", "file", "flag", "-D", "altered"};
    return names[source];
}

/* The row's name without the star. */
static size_t stem_len(const struct option *option)
{
    ASSERT(option->type == TYPE_MAP);
    return strlen(option->name) - 1;
}

bool conf_prefix(const struct conf *conf, enum conf_id id, size_t *at, const char **key, const char **value)
{
    const struct option *option = option_of(id);
    while (*at < conf->keys.v.len) {
        const struct pair *pair = &conf->keys.v.ptr[(*at)++];
        if (pair->option == option) {
            *key = pair->name + stem_len(option);
            *value = (const char *)pair->setting.value.text.ptr;
            return true;
        }
    }
    return false;
}

const char *conf_prefix_get(const struct conf *conf, enum conf_id id, const char *key)
{
    const char *name, *value;
    for (size_t at = 0; conf_prefix(conf, id, &at, &name, &value);)
        if (strcmp(name, key) == 0)
            return value;
    return NULL;
}

/* By the words in its name: entries of the lake's catalog are of others. */
static bool is_secret(const char *name)
{
    static const char *const words[] = {"jaas.config", "credential", "password",   "secret",
                                        "token",       "access-key", "access.key", "accesskey"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasestr(name, words[i]))
            return true;
    return false;
}

static struct conf_entry entry_of(const char *name, const struct setting *setting)
{
    const char *text = (const char *)setting->value.text.ptr;
    return (struct conf_entry){name, *text && is_secret(name) ? "***" : text, setting->source, setting->where};
}

bool conf_next(const struct conf *conf, size_t *at, struct conf_entry *entry)
{
    while (*at < CONF_COUNT && option_of((enum conf_id) * at)->type == TYPE_MAP)
        (*at)++;
    size_t i = (*at)++;
    if (i < CONF_COUNT) {
        *entry = entry_of(option_of((enum conf_id)i)->name, &conf->settings[i]);
        return true;
    }
    if (i - CONF_COUNT >= conf->keys.v.len)
        return false;
    const struct pair *pair = &conf->keys.v.ptr[i - CONF_COUNT];
    *entry = entry_of(pair->name, &pair->setting);
    return true;
}

void conf_trace_ignored(const struct conf *conf, struct trace *trace)
{
    for (size_t i = 0; i < conf->ignored.v.len; i++) {
        const struct pair *pair = &conf->ignored.v.ptr[i];
        trace_warn(trace, "conf", "option_without_meaning", trace_str("option", pair->name),
                   trace_str("where", pair->setting.where), trace_str("why", pair->option->why));
    }
}
