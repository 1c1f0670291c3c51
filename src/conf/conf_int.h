#ifndef WEIR_CONF_CONF_INT_H
#define WEIR_CONF_CONF_INT_H

#include "base/arena.h"
#include "base/vec.h"
#include "conf/conf.h"

enum type { TYPE_BOOL, TYPE_INT, TYPE_SIZE, TYPE_DURATION, TYPE_RATIO, TYPE_STRING, TYPE_LIST, TYPE_ENUM, TYPE_MAP };
enum class { SERVED, IGNORED, NOT_YET };

/* A row of options.def. */
struct option {
    enum class class;
    enum conf_id id;   /* served only */
    const char *name;  /* may end in .* */
    enum type type;    /* served only */
    const char *value; /* served: the default; not yet: the value that asks for nothing, or NULL */
    const char *range; /* served only */
    const char *why;   /* ignored, not yet */
};

extern const struct option option_table[];
extern const size_t option_table_len;

/* The row of a name, or NULL. */
const struct option *option_find(struct slice name);
const struct option *option_of(enum conf_id id);
/* The name that was probably meant, with NUL, or "" where none is near. */
void option_nearest(struct slice name, char out[CONF_NAME_MAX + 1]);

/* A value in the form of its type. */
struct value {
    struct slice text; /* as given; of an ENUM as the table has it */
    int64_t i64;       /* BOOL, INT, SIZE, DURATION */
    double ratio;
};

/* Checks text against type and range of the row; value->text points into text or the table. why says what is wrong, to
 * stand behind "NAME: ". */
MUST_CHECK bool value_parse(const struct option *option, struct slice text, struct value *value, char why[160]);

struct setting {
    struct value value; /* its text lies in the arena and has a NUL behind it */
    enum conf_source source;
    const char *where;
};

/* What security.sasl.* says: mechanisms, and users of each listener that needs some. */
MUST_CHECK enum err_code sasl_check(const struct conf *conf, const struct conf_listeners *listeners, struct err *err);

/* What is said of access lists. */
MUST_CHECK enum err_code access_check(const struct conf *conf, struct err *err);

struct pair { /* a key of a map */
    const struct option *option;
    const char *name; /* whole */
    struct setting setting;
};

struct pair_list {
    VEC(struct pair) v;
};

struct conf {
    struct arena arena; /* all texts; replaced ones stay to the end, for options are few */
    struct setting settings[CONF_COUNT];
    struct pair_list keys;    /* of maps */
    struct pair_list ignored; /* the option says why */
};

#endif
