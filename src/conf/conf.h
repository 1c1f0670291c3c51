/* Options of a server: one table (options.def), given on the command line, in server.yaml or not at all.
 *
 * Names are Apache Fluss's; own ones begin with weir. Order of power: altered while it ran, -D, flags, file, default;
 * within one source the last word counts. An unknown name is refused with the nearest one; a name known to Fluss but
 * without meaning here is accepted and kept for one warning (conf_trace_ignored); what weir cannot do yet is refused
 * with a sentence.
 *
 *   struct conf *conf = conf_create();
 *   conf_load_yaml(conf, os, "server.yaml", &err)
 *   conf_set(conf, CONF_FROM_FLAG, "data.dir", dir, "--data-dir", &err)
 *   conf_check(conf, &err)
 *   conf_i64(conf, CONF_TIER_WORKERS)
 *
 * errors  ERR_INVALID_CONFIG_EXCEPTION (unknown, malformed, out of range, contradicting), ERR_NOT_SUPPORTED (not yet);
 *         the text begins with the place: "server.yaml:12: ...".
 * thread  any may read once nobody sets any more. */
#ifndef WEIR_CONF_CONF_H
#define WEIR_CONF_CONF_H

#include "acl/acl.h"
#include "auth/auth.h"
#include "os/os.h"
#include "trace/trace.h"

enum conf_id {
#define OPTION(id, name, type, default_, range, text) CONF_##id,
#define OPTION_IGNORED(name, why)
#define OPTION_NOT_YET(name, off, why)
#include "conf/options.def"
#undef OPTION
#undef OPTION_IGNORED
#undef OPTION_NOT_YET
    CONF_COUNT
};

enum conf_source { CONF_FROM_DEFAULT, CONF_FROM_FILE, CONF_FROM_FLAG, CONF_FROM_D, CONF_FROM_LIVE };

#define CONF_NAME_MAX 200
#define CONF_VALUE_MAX 16384
#define CONF_FILE_MAX (1 << 20)
#define CONF_KEYS_MAX 1000 /* of all maps, and of options without meaning; beyond it ERR_LIMIT */
#define CONF_DEPTH_MAX 16  /* of nested mappings in the file */

struct conf;

struct conf *conf_create(void);
void conf_destroy(struct conf *conf); /* NULL is fine */

/* Sets one option by its name; all are copied. where is told in errors and kept ("server.yaml:12", "-D"). A value of a
 * weaker source than the present one is checked and otherwise has no effect. With CONF_FROM_DEFAULT the program gives a
 * default of its own, say one that depends on the working directory. */
MUST_CHECK enum err_code conf_set(struct conf *conf, enum conf_source source, struct slice name, struct slice value,
                                  const char *where, struct err *err);
/* "name=value", as after -D. */
MUST_CHECK enum err_code conf_set_assignment(struct conf *conf, struct slice assignment, struct err *err);
/* "host:port", as after --listen: one listener, FLUSS. */
MUST_CHECK enum err_code conf_set_listen(struct conf *conf, struct slice address, struct err *err);

/* server.yaml: a mapping from names to scalars. Nested mappings are joined with dots, sequences of scalars with commas;
 * aliases, a second document and a name given twice are refused. The first form reads the file; errors name its last
 * part and the line. */
MUST_CHECK enum err_code conf_load_yaml(struct conf *conf, struct os *os, const char *path, struct err *err);
MUST_CHECK enum err_code conf_parse_yaml(struct conf *conf, struct slice text, const char *file_name, struct err *err);

/* What no option alone can tell: listeners, protocols, ratios against each other. After the last conf_set. */
MUST_CHECK enum err_code conf_check(const struct conf *conf, struct err *err);

/* The getters assert the type; every value was checked when it was set, so none can fail. Strings live until the next
 * conf_set of that option. */
bool conf_bool(const struct conf *conf, enum conf_id id);
int64_t conf_i64(const struct conf *conf, enum conf_id id);         /* INT */
int64_t conf_bytes(const struct conf *conf, enum conf_id id);       /* SIZE */
int64_t conf_duration_ms(const struct conf *conf, enum conf_id id); /* DURATION */
double conf_ratio(const struct conf *conf, enum conf_id id);
const char *conf_str(const struct conf *conf, enum conf_id id); /* STRING, LIST; ENUM as written in the table */
bool conf_is(const struct conf *conf, enum conf_id id, const char *value); /* ENUM */
enum conf_source conf_source(const struct conf *conf, enum conf_id id);

/* Walks over a MAP: start with *at = 0; key is what follows the prefix. Later settings have replaced earlier ones; the
 * order is that of the first setting. False at the end. */
bool conf_prefix(const struct conf *conf, enum conf_id id, size_t *at, const char **key, const char **value);
/* One key of a MAP; NULL where it is not set. */
const char *conf_prefix_get(const struct conf *conf, enum conf_id id, const char *key);

struct conf_entry {
    const char *name;
    const char *value; /* of one that holds secrets: "***" */
    enum conf_source source;
    const char *where; /* NULL for a default of the table */
};
/* Walks over all served options, whether set or not, and the keys of maps. */
bool conf_next(const struct conf *conf, size_t *at, struct conf_entry *entry);
const char *conf_source_name(enum conf_source source); /* "default", "file", "flag", "-D", "altered" */

/* Whether an option can be altered while the server runs. errors: CONFIG_EXCEPTION, with the reason. */
MUST_CHECK enum err_code conf_check_live(struct slice name, struct err *err);
/* A copy that other settings can be laid over (CONF_FROM_LIVE), for another conf_check; base must outlive it. */
struct conf *conf_overlay(const struct conf *base);

/* One warning for each option that was accepted without meaning. */
void conf_trace_ignored(const struct conf *conf, struct trace *trace);

/* ---- the small forms, for others too ---- */

/* "true", "FALSE". */
MUST_CHECK bool conf_parse_bool(struct slice text, bool *value);
/* "16mb", "4 kb", "1g", "100 bytes" (the units of Fluss, 1024 each, any case); a number alone is bytes. */
MUST_CHECK bool conf_parse_bytes(struct slice text, int64_t *bytes);
/* "10 min", "30s", "500 ms", "7 d", "2 hours" (the units of Fluss); a unit must be there; whole milliseconds. */
MUST_CHECK bool conf_parse_duration_ms(struct slice text, int64_t *ms);
/* The next item of a list with commas or semicolons, without blanks around it; empty items are left out. */
bool conf_list_next(struct slice *rest, struct slice *item);

#define CONF_HOST_MAX 256
/* "host:port" or "[ipv6]:port"; host without brackets, NUL-terminated; it may be empty. */
MUST_CHECK enum err_code conf_parse_endpoint(struct slice text, char host[CONF_HOST_MAX], uint16_t *port,
                                             struct err *err);

#define CONF_LISTENERS_MAX 8
#define CONF_LISTENER_NAME_MAX 64

struct conf_listener {
    char name[CONF_LISTENER_NAME_MAX];
    char host[CONF_HOST_MAX];
    uint16_t port; /* 0: a free one */
    char advertised_host[CONF_HOST_MAX];
    uint16_t advertised_port; /* 0: the one that was bound */
    bool sasl;                /* else PLAINTEXT */
};

struct conf_listeners {
    struct conf_listener list[CONF_LISTENERS_MAX];
    size_t count;
    size_t internal; /* index of the internal one */
};

/* bind.listeners, advertised.listeners, internal.listener.name and security.protocol.map together. */
MUST_CHECK enum err_code conf_listeners(const struct conf *conf, struct conf_listeners *listeners, struct err *err);
/* Who may come in at a listener with SASL; the caller destroys them. Errors name options and positions, never values.
 */
MUST_CHECK enum err_code conf_listener_users(const struct conf *conf, const struct conf_listener *listener,
                                             struct auth_users **users, struct err *err);
/* super.users; the caller deinits them. */
MUST_CHECK enum err_code conf_super_users(const struct conf *conf, struct acl_supers *supers, struct err *err);

#endif
