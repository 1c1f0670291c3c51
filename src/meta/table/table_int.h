/* Private to meta/table: checking one option's value. */
#ifndef WEIR_META_TABLE_TABLE_INT_H
#define WEIR_META_TABLE_TABLE_INT_H

#include "meta/table/table.h"

/* Position of the word in "A|B|C", any letter case, or -1. */
int option_word(const char *words, struct slice word);
/* The forms that Java's parsers take: "true" in any case; decimal digits with an optional sign. */
bool option_bool(struct slice text, bool *value);
bool option_int(struct slice text, int64_t least, int64_t most, int64_t *value);
/* The option that is likest a misspelt one, or NULL where none is near. */
const char *table_option_nearest(struct slice key);
/* Is the value of the option's form, and does weir serve it? errors: INVALID_CONFIG_EXCEPTION. */
MUST_CHECK enum err_code option_check(enum table_option option, struct slice value, struct err *err);
/* Is it a pattern whose values sort like the times of this unit? errors: INVALID_TABLE_EXCEPTION. */
MUST_CHECK enum err_code time_format_check(struct slice format, enum time_unit unit, struct err *err);
/* Can such a text be a value of a partition column? errors: PARTITION_SPEC_INVALID_EXCEPTION. */
MUST_CHECK enum err_code partition_value_check(const struct schema_column *column, struct slice value,
                                               struct arena *arena, struct err *err);

#endif
