/* Addresses: what to listen on, what clients are told, and which protocol a listener speaks. */
#include "conf/conf_int.h"

#include <stdio.h>

static bool is_letter_or_digit(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool all_of(struct slice s, const char *others)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_letter_or_digit(s.ptr[i]) && (!s.ptr[i] || !strchr(others, s.ptr[i])))
            return false;
    return true;
}

/* Splits at the last colon; brackets around an IPv6 address are taken off, and needed. */
static bool split_endpoint(struct slice text, struct slice *host, int64_t *port)
{
    const uint8_t *colon = text.len ? memrchr(text.ptr, ':', text.len) : NULL;
    if (!colon)
        return false;
    *host = slice_of(text.ptr, (size_t)(colon - text.ptr));
    struct slice digits = slice_of(colon + 1, text.len - host->len - 1);
    bool bracket = host->len >= 2 && host->ptr[0] == '[' && host->ptr[host->len - 1] == ']';
    if (bracket)
        *host = slice_of(host->ptr + 1, host->len - 2);
    return host->len < CONF_HOST_MAX && all_of(*host, bracket ? ":%.-" : "%.-_") && digits.len <= 5 &&
           all_of(digits, "") && slice_to_i64(digits, port) && *port <= 65535;
}

enum err_code conf_parse_endpoint(struct slice text, char host[CONF_HOST_MAX], uint16_t *port, struct err *err)
{
    struct slice host_part;
    int64_t number;
    if (!split_endpoint(text, &host_part, &number))
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "\"%.*s\" is not of the form host:port",
                       (int)MIN(text.len, 80), (const char *)text.ptr);
    memcpy(host, host_part.ptr, host_part.len);
    host[host_part.len] = 0;
    *port = (uint16_t)number;
    return OK;
}

enum err_code conf_set_listen(struct conf *conf, struct slice address, struct err *err)
{
    char host[CONF_HOST_MAX], listener[CONF_HOST_MAX + 32];
    uint16_t port;
    TRY(conf_parse_endpoint(address, host, &port, err));
    int len = snprintf(listener, sizeof listener, "FLUSS://%.*s", SLICE_ARGS(address));
    return conf_set(conf, CONF_FROM_FLAG, SLICE("bind.listeners"), slice_of(listener, (size_t)len), "--listen", err);
}

static struct conf_listener *find(struct conf_listeners *listeners, struct slice name)
{
    for (size_t i = 0; i < listeners->count; i++)
        if (slice_is(name, listeners->list[i].name))
            return &listeners->list[i];
    return NULL;
}

/* NAME://host:port; host and port are left unread in rest. */
static bool split_name(struct slice item, struct slice *name, struct slice *rest)
{
    for (size_t i = 0; i + 3 <= item.len; i++)
        if (memcmp(item.ptr + i, "://", 3) == 0) {
            *name = slice_of(item.ptr, i);
            *rest = slice_of(item.ptr + i + 3, item.len - i - 3);
            return i > 0 && i < CONF_LISTENER_NAME_MAX && all_of(*name, "_-");
        }
    return false;
}

static enum err_code bad(enum conf_id id, const char *what, struct slice item, struct err *err)
{
    return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "%s: %s: %.*s", option_of(id)->name, what, (int)MIN(item.len, 80),
                   (const char *)item.ptr);
}

static enum err_code add_bound(struct conf_listeners *out, struct slice item, struct err *err)
{
    struct slice name, address;
    if (out->count == CONF_LISTENERS_MAX)
        return bad(CONF_BIND_LISTENERS, "more than 8 listeners", item, err);
    struct conf_listener *listener = &out->list[out->count];
    if (!split_name(item, &name, &address) || conf_parse_endpoint(address, listener->host, &listener->port, NULL))
        return bad(CONF_BIND_LISTENERS, "not of the form NAME://host:port", item, err);
    if (find(out, name))
        return bad(CONF_BIND_LISTENERS, "two listeners have one name", name, err);
    for (size_t i = 0; i < out->count; i++)
        if (listener->port && out->list[i].port == listener->port)
            return bad(CONF_BIND_LISTENERS, "two listeners have one port", item, err);
    snprintf(listener->name, sizeof listener->name, "%.*s", SLICE_ARGS(name));
    memcpy(listener->advertised_host, listener->host, sizeof listener->host);
    listener->advertised_port = listener->port;
    out->count++;
    return OK;
}

static enum err_code set_advertised(struct conf_listeners *out, struct slice item, struct err *err)
{
    struct slice name, address;
    char host[CONF_HOST_MAX] = "";
    uint16_t port = 0;
    if (!split_name(item, &name, &address) || conf_parse_endpoint(address, host, &port, NULL) || !*host)
        return bad(CONF_ADVERTISED_LISTENERS, "not of the form NAME://host:port", item, err);
    struct conf_listener *listener = find(out, name);
    if (!listener)
        return bad(CONF_ADVERTISED_LISTENERS, "bind.listeners has no listener of this name", name, err);
    memcpy(listener->advertised_host, host, sizeof host);
    listener->advertised_port = port;
    return OK;
}

static enum err_code find_internal(const struct conf *conf, struct conf_listeners *out, struct err *err)
{
    struct slice name = slice_str(conf_str(conf, CONF_INTERNAL_LISTENER_NAME));
    struct conf_listener *listener = find(out, name);
    if (!listener && conf_source(conf, CONF_INTERNAL_LISTENER_NAME) != CONF_FROM_DEFAULT)
        return bad(CONF_INTERNAL_LISTENER_NAME, "bind.listeners has no listener of this name", name, err);
    out->internal = listener ? (size_t)(listener - out->list) : 0;
    return OK;
}

/* NAME:PROTOCOL */
static enum err_code check_protocol(struct conf_listeners *out, struct slice item, struct err *err)
{
    const uint8_t *colon = memchr(item.ptr, ':', item.len);
    if (!colon)
        return bad(CONF_SECURITY_PROTOCOL_MAP, "not of the form NAME:PROTOCOL", item, err);
    struct slice name = slice_of(item.ptr, (size_t)(colon - item.ptr));
    struct slice protocol = slice_of(colon + 1, item.len - name.len - 1);
    struct conf_listener *listener = find(out, name);
    if (!listener)
        return bad(CONF_SECURITY_PROTOCOL_MAP, "bind.listeners has no listener of this name", name, err);
    listener->sasl = slice_equal_nocase(protocol, SLICE("SASL"));
    if (listener->sasl || slice_equal_nocase(protocol, SLICE("PLAINTEXT")))
        return OK;
    return err_set(err, ERR_NOT_SUPPORTED, "security.protocol.map: weir serves PLAINTEXT and SASL, not %.*s",
                   (int)MIN(protocol.len, 40), (const char *)protocol.ptr);
}

typedef enum err_code item_fn(struct conf_listeners *out, struct slice item, struct err *err);

static enum err_code each_item(const struct conf *conf, enum conf_id id, struct conf_listeners *out, item_fn *fn,
                               struct err *err)
{
    struct slice rest = slice_str(conf_str(conf, id)), item;
    while (conf_list_next(&rest, &item))
        TRY(fn(out, item, err));
    return OK;
}

enum err_code conf_listeners(const struct conf *conf, struct conf_listeners *listeners, struct err *err)
{
    struct conf_listeners out = {0};
    TRY(each_item(conf, CONF_BIND_LISTENERS, &out, add_bound, err));
    if (out.count == 0)
        return err_set(err, ERR_INVALID_CONFIG_EXCEPTION, "bind.listeners: no listener");
    TRY(each_item(conf, CONF_ADVERTISED_LISTENERS, &out, set_advertised, err));
    TRY(find_internal(conf, &out, err));
    TRY(each_item(conf, CONF_SECURITY_PROTOCOL_MAP, &out, check_protocol, err));
    *listeners = out;
    return OK;
}

static enum err_code check_http(const struct conf *conf, struct err *err)
{
    char host[CONF_HOST_MAX];
    uint16_t port;
    struct slice address = slice_str(conf_str(conf, CONF_HTTP_LISTEN));
    if (address.len && conf_parse_endpoint(address, host, &port, NULL) != OK)
        return bad(CONF_HTTP_LISTEN, "not of the form host:port", address, err);
    return OK;
}

/* A server.yaml of a cluster often names an object store here. */
static enum err_code check_directories(const struct conf *conf, struct err *err)
{
    static const enum conf_id directories[] = {CONF_DATA_DIR, CONF_REMOTE_DATA_DIR, CONF_TIER_DIR};
    for (size_t i = 0; i < ARRAY_LEN(directories); i++) {
        struct slice path = slice_str(conf_str(conf, directories[i]));
        if (path.len && memmem(path.ptr, path.len, "://", 3) &&
            !(directories[i] == CONF_REMOTE_DATA_DIR && slice_starts_with(path, SLICE("file://"))))
            return err_set(err, ERR_NOT_SUPPORTED, "%s: weir keeps its files on local disks, not at %.*s",
                           option_table[directories[i]].name, (int)MIN(path.len, 80), (const char *)path.ptr);
    }
    return OK;
}

enum err_code conf_check(const struct conf *conf, struct err *err)
{
    struct conf_listeners listeners;
    TRY(conf_listeners(conf, &listeners, err));
    TRY(sasl_check(conf, &listeners, err));
    TRY(access_check(conf, err));
    TRY(check_directories(conf, err));
    return check_http(conf, err);
}
