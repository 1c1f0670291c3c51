#include "format/schema/schema.h"

static const char *const lake_names[LAKE_FORMAT_COUNT] = {NULL, "paimon", "iceberg", "lance", "hudi"};

const char *lake_format_name(enum lake_format format)
{
    ASSERT((unsigned)format < LAKE_FORMAT_COUNT);
    return lake_names[format];
}

bool lake_format_find(struct slice name, enum lake_format *format)
{
    for (int i = LAKE_PAIMON; i < LAKE_FORMAT_COUNT; i++) {
        if (slice_equal_nocase(name, slice_str(lake_names[i]))) {
            *format = (enum lake_format)i;
            return true;
        }
    }
    return false;
}
