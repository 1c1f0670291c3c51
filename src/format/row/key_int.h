/* For src/format/row alone: the key encoders. */
#ifndef WEIR_FORMAT_ROW_KEY_INT_H
#define WEIR_FORMAT_ROW_KEY_INT_H

#include "format/row/row_int.h"

static inline const struct datum *key_value(const struct datum *values, const uint32_t *positions, uint32_t i)
{
    return &values[positions ? positions[i] : i];
}

bool hudi_key_encode(struct sink *s, const struct type *key, const struct datum *values, const uint32_t *positions);

#endif
