/* The list of table.* options and how a value is found in a descriptor. */
#include "meta/table/table_int.h"

static const struct table_option_info infos[TABLE_OPTION_COUNT] = {
#define OPTION(name, key, type, fallback, values, served, alterable, text) \
    {key, type, fallback, values, served, alterable, text},
#include "meta/table/table_options.def"
#undef OPTION
};

const struct table_option_info *table_option_info(enum table_option option)
{
    ASSERT((unsigned)option < TABLE_OPTION_COUNT);
    return &infos[option];
}

bool table_option_find(struct slice key, enum table_option *option)
{
    for (int i = 0; i < TABLE_OPTION_COUNT; i++) {
        if (slice_is(key, infos[i].key)) {
            *option = (enum table_option)i;
            return true;
        }
    }
    return false;
}

const char *table_option_nearest(struct slice key)
{
    const char *nearest = NULL;
    size_t best = 4; /* further away is another word: they all begin alike */
    for (int i = 0; i < TABLE_OPTION_COUNT; i++) {
        size_t far = slice_distance(slice_str(infos[i].key), key);
        if (far < best) {
            best = far;
            nearest = infos[i].key;
        }
    }
    return nearest;
}

struct slice table_option_get(const struct table_descriptor *table, enum table_option option)
{
    const struct table_option_info *info = table_option_info(option);
    const struct slice *set = properties_get(&table->properties, info->key);
    if (set)
        return *set;
    return info->fallback ? slice_str(info->fallback) : (struct slice){0};
}
