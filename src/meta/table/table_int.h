/* Private to meta/table: checking one option's value. */
#ifndef WEIR_META_TABLE_TABLE_INT_H
#define WEIR_META_TABLE_TABLE_INT_H

#include "meta/table/table.h"

/* Position of the word in "A|B|C", any letter case, or -1. */
int option_word(const char *words, struct slice word);
/* The forms that Java's parsers take: "true" in any case; decimal digits with an optional sign. */
bool option_bool(struct slice text, bool *value);
bool option_int(struct slice text, int64_t least, int64_t most, int64_t *value);
/* Is the value of the option's form, and does weir serve it? errors: INVALID_CONFIG_EXCEPTION. */
MUST_CHECK enum err_code option_check(enum table_option option, struct slice value, struct err *err);

#endif
