/* How a type lies in a column; for the files of this folder. */
#ifndef WEIR_FORMAT_VALUE_COLUMN_INT_H
#define WEIR_FORMAT_VALUE_COLUMN_INT_H

#include "format/value/value.h"

enum column_shape {
    SHAPE_BITS,  /* BOOLEAN */
    SHAPE_FIXED, /* column_width() bytes each */
    SHAPE_BYTES, /* offsets and bytes */
    SHAPE_LIST,  /* offsets into one child (ARRAY) or two (MAP) */
    SHAPE_ROW    /* children only */
};

enum column_shape column_shape(const struct type *type);
/* Units in a second of TIME and TIMESTAMP columns: 1, 1000, 1000000 or 1000000000 by precision. */
int64_t column_time_scale(const struct type *type);

static inline int64_t div_floor(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

#endif
