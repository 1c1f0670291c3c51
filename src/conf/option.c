/* The table, and how a name finds its row. */
#include "conf/conf_int.h"

#include <stdio.h>

const struct option option_table[] = {
#define OPTION(id, name, type, default_, range, text) {SERVED, CONF_##id, name, TYPE_##type, default_, range, NULL},
#define OPTION_IGNORED(name, why) {IGNORED, CONF_COUNT, name, TYPE_STRING, NULL, NULL, why},
#define OPTION_NOT_YET(name, off, why) {NOT_YET, CONF_COUNT, name, TYPE_STRING, off, NULL, why},
#include "conf/options.def"
#undef OPTION
#undef OPTION_IGNORED
#undef OPTION_NOT_YET
};
const size_t option_table_len = ARRAY_LEN(option_table);

/* "a.b." of "a.b.*"; empty where the name stands for itself. */
static struct slice stem_of(const struct option *option)
{
    struct slice name = slice_str(option->name);
    return slice_ends_with(name, SLICE(".*")) ? slice_of(name.ptr, name.len - 1) : (struct slice){0};
}

const struct option *option_find(struct slice name)
{
    const struct option *best = NULL;
    size_t best_len = 0;
    for (size_t i = 0; i < option_table_len; i++) {
        const struct option *option = &option_table[i];
        struct slice stem = stem_of(option);
        if (!stem.len && slice_is(name, option->name))
            return option;
        if (stem.len > best_len && name.len > stem.len && slice_starts_with(name, stem)) {
            best = option;
            best_len = stem.len;
        }
    }
    return best;
}

const struct option *option_of(enum conf_id id)
{
    ASSERT((unsigned)id < CONF_COUNT);
    const struct option *option = &option_table[id]; /* served ones come first, in the order of the enum */
    ASSERT(option->id == id);
    return option;
}

/* As many dotted parts of name as the stem has, the last dot included; all of it where there are not so many. */
static struct slice head_like(struct slice name, struct slice stem)
{
    size_t dots = 0, len = 0;
    for (size_t i = 0; i < stem.len; i++)
        dots += stem.ptr[i] == '.';
    while (len < name.len && dots)
        dots -= name.ptr[len++] == '.';
    return slice_of(name.ptr, len);
}

_Static_assert(CONF_NAME_MAX <= SLICE_DISTANCE_MAX, "names are compared whole");

void option_nearest(struct slice name, char out[CONF_NAME_MAX + 1])
{
    size_t best = name.len / 3 + 1; /* further away is another word */
    *out = 0;
    if (name.len > CONF_NAME_MAX)
        return;
    for (size_t i = 0; i < CONF_COUNT; i++) { /* a served one, for that is what is of use */
        struct slice stem = stem_of(&option_table[i]), head = stem.len ? head_like(name, stem) : name;
        struct slice rest = slice_of(name.ptr + head.len, name.len - head.len);
        struct slice candidate = stem.len ? stem : slice_str(option_table[i].name);
        if ((stem.len && !rest.len) || candidate.len + rest.len > CONF_NAME_MAX)
            continue; /* a stem alone names nothing */
        size_t far = slice_distance(candidate, head);
        if (far < best) {
            best = far;
            snprintf(out, CONF_NAME_MAX + 1, "%.*s%.*s", SLICE_ARGS(candidate), SLICE_ARGS(rest));
        }
    }
}
