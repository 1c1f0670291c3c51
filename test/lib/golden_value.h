/* Values of the golden vectors (test/golden/README.md, "Canonical form of values") as datums, and back. */
#ifndef WEIR_TEST_LIB_GOLDEN_VALUE_H
#define WEIR_TEST_LIB_GOLDEN_VALUE_H

#include "format/value/value.h"
#include "lib/test.h"

#include <jansson.h>

/* One line of a golden file; release with json_decref. */
json_t *golden_parse(struct slice line);
/* A member that must be there, as text. */
const char *golden_text(json_t *object, const char *name);
/* The bytes of a member in hex; in the arena. An absent member gives ptr NULL. */
struct slice golden_hex(struct arena *arena, json_t *object, const char *name);
struct slice golden_unhex(struct arena *arena, const char *hex);

/* "types": SQL texts, as columns f0, f1, ... of a schema with ids by position. Paimon's VARCHAR(n) counts as STRING. */
void golden_schema(struct arena *arena, json_t *types, struct schema *schema);
const struct type *golden_type(struct arena *arena, const char *sql);

/* A canonical value as a datum, all of it in the arena. */
void golden_datum(struct arena *arena, const struct type *type, json_t *value, struct datum *out);
/* "values", one a column. */
struct datum *golden_row(struct arena *arena, const struct schema *schema, json_t *values);

/* Fails with both texts unless the datum is the canonical value. */
void golden_assert_datum(const struct type *type, const struct datum *got, json_t *want);
void golden_assert_row(const struct schema *schema, const struct datum *got, json_t *values);
/* A datum as people read it in a failed test. */
void golden_print(const struct type *type, const struct datum *value, struct buf *out);

#endif
